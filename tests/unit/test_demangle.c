/* SPDX-License-Identifier: MIT */
/* test_demangle.c - readable kernel names */
#include "store/demangle.h"

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

TEST(very_long_name_stays_mangled)
{
	char *name = calloc(1000001, 1);

	CHECK_NOT_NULL(name);
	memset(name, 'N', 1000000);
	memcpy(name, "_ZN", 3);
	check(name, name);
	free(name);
}
