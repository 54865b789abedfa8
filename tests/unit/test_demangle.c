/* SPDX-License-Identifier: MIT */
/* test_demangle.c - readable kernel names */
#include "base/demangle.h"

#include <sys/mman.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

static void check(const char *mangled, const char *nice)
{
	char *got = demangle_dup(mangled);

	CHECK_STR_EQ(got, nice);
	free(got);
}

TEST(cxx_name_is_demangled_and_kd_stripped)
{
	check("_Z4vaddPKfS0_Pfi", "vadd(float const*, float const*, float*, int)");
	check("_Z4vaddPKfS0_Pfi.kd", "vadd(float const*, float const*, float*, int)");
	check("_ZN2at6native12_GLOBAL__N_13addIfEEvPT_",
	      "void at::native::(anonymous namespace)::add<float>(float*)");
	check("plain_kernel.kd", "plain_kernel");
	check("Cijk_Ailk_Bljk_SB_MT64x64x8", "Cijk_Ailk_Bljk_SB_MT64x64x8");
}

/* As clang 21 makes them of C++20. The demangler of libstdc++ 12 reads the first two as
 * "add(float*, bool _Accum)". */
TEST(names_of_new_compilers_are_read)
{
	check("_Z3addPfDF16b.kd", "add(float*, std::bfloat16_t)");
	check("_Z3addPfDF16bi.kd", "add(float*, std::bfloat16_t, int)");
	check("_Z3addPfDF16_", "add(float*, _Float16)");
	check("_Z4gemmIDF16bEvPT_S0_",
	      "void gemm<std::bfloat16_t>(std::bfloat16_t*, std::bfloat16_t)");
	check("_Z6launchIZ4mainEUlPiE_EvT_S0_",
	      "void launch<main::'lambda'(int*)>(main::'lambda'(int*), int*)");
	check("_Z8lam_nttpITnDaXtlZ4mainEUlPiE0_EEEvS0_",
	      "void lam_nttp<main::'lambda0'(int*){}>(int*)");
	check("_Z8cls_nttpIXtl1PLi1ELi2EEEEvPi", "void cls_nttp<P{1, 2}>(int*)");
	check("_Z9auto_nttpITnDaLc99EEvPi", "void auto_nttp<(char)99>(int*)");
	check("_Z11constrainedIiQsr3stdE8integralIT_EEvPS0_", "void constrained<int>(T*)");
	check("_Z12constrained2ITkSt8integraliEvPT_", "void constrained2<int>(int*)");
	check("_Z1fDB17_", "f(_BitInt(17))");
	check("_ZNH1S1fEi", "S::f(this int)");
}

TEST(local_types_are_read_by_their_numbers)
{
	check("_ZZ1fvE1k", "f()::k");
	check("_ZZ1fvE1k_7", "f()::k");
	check("_ZZ1fvE1k__17_", "f()::k");
	check("_ZZ1fvE1k__17", "_ZZ1fvE1k__17");
	check("_ZZ1fvE1k_", "_ZZ1fvE1k_");
}

TEST(name_not_mangled_is_unchanged)
{
	check("", "");
	check("_Z", "_Z");
	check("_Z9broken", "_Z9broken");
	check(".kd", ".kd");
	check("_ZZZ", "_ZZZ");
	check("\xff\xfe", "\xff\xfe");
}

/* 34 levels of pair<T, T>, 100 GB of text. */
TEST(exploding_name_stays_mangled)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[1024] = "_Z1fSt4pairIiiE";
	size_t used = strlen(name);
	uint64_t start = test_now_ns();

	for (int i = 1; i < 34; i++)
		used += (size_t)snprintf(name + used, sizeof(name) - used, "S_IS%c_S%c_E",
					 digits[i - 1], digits[i - 1]);
	check(name, name);
	CHECK(demangle_whole(name) == NULL);
	CHECK_LT_UINT(test_now_ns() - start, 2000000000u);
}

TEST(whole_name_keeps_kd_or_is_null)
{
	char *name = demangle_whole("_Z8hk_scalePfi.kd");

	CHECK_STR_EQ(name, "hk_scale(float*, int) [clone .kd]");
	free(name);
	CHECK(demangle_whole("plain_kernel.kd") == NULL);
	CHECK(demangle_whole("_Z9broken") == NULL);
	CHECK(demangle_whole("") == NULL);
}

TEST(demangle_to_fills_what_it_is_given)
{
	char out[16];

	CHECK_EQ_UINT(demangle_to("_Z1fPi", out, sizeof(out)), 7);
	CHECK_STR_EQ(out, "f(int*)");
	CHECK_EQ_UINT(demangle_to("_Z1fPi", out, 8), 7);
	CHECK_EQ_UINT(demangle_to("_Z1fPi", out, 7), 0);
	CHECK_EQ_UINT(demangle_to("f", out, sizeof(out)), 0);
}

/* Every beginning of a name, and a name whose tree is as deep as it is long. */
TEST(what_is_no_name_stays_as_it_is)
{
	static const char whole[] =
		"_ZN2at6native12_GLOBAL__N_13addIZNS0_1fEvEUlPT_E_DF16_XadL_Z1gvEEEEvS3_";
	char name[8200];

	for (size_t n = 0; n < sizeof(whole); n++) {
		snprintf(name, sizeof(name), "%.*s", (int)n, whole);
		free(demangle_dup(name));
	}
	memset(name, 'P', sizeof(name));
	memcpy(name, "_Z1f", 4);
	memcpy(name + 8000, "i", 2);
	free(demangle_dup(name));
	memset(name + 4, 'Z', 7996);
	check(name, name);
}

TEST(very_long_name_stays_mangled)
{
	char *name = calloc(1000001, 1);

	CHECK_NOT_NULL(name);
	memset(name, 'N', 1000000);
	memcpy(name, "_ZN", 3);
	check(name, name);
	free(name);
}

/* ---- stack ----------------------------------------------------------------------------------- */

#ifdef RTL_SANITIZE_THREAD
/* the sanitizer's own data of a thread is there, too: only the results are looked at */
#define STACK_SIZE (4096u * 1024u)
#define STACK_MAX STACK_SIZE
#else
#define STACK_SIZE (256u * 1024u)
#define STACK_MAX (48u * 1024u) /* demangle.h's bound, and the thread's own */
#endif

static void *demangle_thread(void *name)
{
	return demangle_dup(name);
}

/* Demangles on a thread whose stack was painted before. Returns the bytes of it that were used;
 * *out is the text. */
static size_t stack_used(const char *name, char **out)
{
	unsigned char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	size_t untouched = 0;
	pthread_attr_t attr;
	pthread_t thread;
	void *text;

	CHECK(stack != MAP_FAILED);
	memset(stack, 0xa5, STACK_SIZE);
	pthread_attr_init(&attr);
	CHECK_EQ_INT(pthread_attr_setstack(&attr, stack, STACK_SIZE), 0);
	CHECK_EQ_INT(pthread_create(&thread, &attr, demangle_thread, (void *)(uintptr_t)name), 0);
	CHECK_EQ_INT(pthread_join(thread, &text), 0);
	pthread_attr_destroy(&attr);
	*out = text;
	while (untouched < STACK_SIZE && stack[untouched] == 0xa5)
		untouched++;
	munmap(stack, STACK_SIZE);
	return STACK_SIZE - untouched;
}

/* `begin`, `nr` times `open`, `middle`, `nr` times `close`. To be freed. */
static char *nested(const char *begin, const char *open, unsigned int nr, const char *middle,
		    const char *close)
{
	char *name = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&name, &size);

	CHECK_NOT_NULL(f);
	fputs(begin, f);
	for (unsigned int i = 0; i < nr; i++)
		fputs(open, f);
	fputs(middle, f);
	for (unsigned int i = 0; i < nr; i++)
		fputs(close, f);
	fclose(f);
	return name;
}

/* Each way in which names nest: the depth that fits is readable, a deeper one stays mangled. */
TEST(stack_is_bounded_for_every_name)
{
	static const struct {
		const char *begin, *open, *middle, *close, *end;
	} ways[] = {
		{ "_Z1f", "P", "i", "", "" },
		{ "_Z1f", "1aI", "i", "E", "" },
		{ "_Z1f", "A1_", "i", "", "" },
		{ "_Z1f", "PFv", "i", "E", "" },
		{ "_Z1f", "M1a", "i", "", "" },
		{ "_ZN", "1a", "1fEv", "", "" },
		{ "_Z1f", "Dp", "i", "", "" },
		{ "_Z1fI", "J", "i", "E", "Evv" },
		{ "_Z1fIX", "ng", "Li1E", "", "EEvv" },
		{ "_Z1fIX", "plLi1E", "Li1E", "", "EEvv" },
		{ "_Z1fIX", "ilLi1E", "Li1E", "E", "EEvv" },
		{ "_Z", "Z", "1fvE1a", "E1a", "" },
		{ "_Z1f", "DTng", "Li1E", "E", "" },
		{ "_Z1f", "U3abc", "i", "", "" },
		{ "_Z1f", "Dv1_", "i", "", "" },
		{ "_Z1fIXtl1a", "tl1a", "Li1E", "E", "EEEvv" },
		{ "_Z1f", "KVr", "i", "", "" },
		{ "_Z1f", "NDTtlEE", "i", "E", "" },
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		for (unsigned int nr = 1; nr < 8000; nr = nr * 3 + 1) {
			char *name = nested(ways[i].begin, ways[i].open, nr, ways[i].middle,
					    ways[i].close);
			char *whole = NULL, *text;

			CHECK(asprintf(&whole, "%s%s", name, ways[i].end) > 0);
			CHECK_LT_UINT(stack_used(whole, &text), STACK_MAX);
			CHECK_NOT_NULL(text);
			if (nr > 3000)
				CHECK_STR_EQ(text, whole);
			free(text);
			free(whole);
			free(name);
		}
}

/* As deep as kernels of template libraries are, and more. */
TEST(names_that_are_nested_as_in_template_libraries_are_read)
{
	char *name = nested("_Z6kernelI", "N2ck5TupleIJ", 24, "NS_6NumberILi4EEE", "EEE"),
	     *whole = NULL;
	char *text;

	CHECK(asprintf(&whole, "%sEvPT_", name) > 0);
	CHECK_LT_UINT(stack_used(whole, &text), STACK_MAX);
	CHECK_EQ_UINT(strncmp(text, "void kernel<ck::Tuple<ck::Tuple<", 32), 0);
	free(text);
	free(whole);
	free(name);
}
