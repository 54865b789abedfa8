/* SPDX-License-Identifier: MIT */
/* countalloc.c - preloaded: counts the calls of malloc() and its relatives by calling library
 *
 * At exit it writes COUNT_ALLOC_DIR/<program>: a line "LIBRARY CALLS" for each library with calls.
 *
 * Threads: any. Calls are counted by their return address, without a lock; addresses beyond
 * NR_SITES are counted as "others".
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NR_SITES 65536u
#define NR_FILES 256u
#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static struct {
	_Atomic uintptr_t address;
	_Atomic uint64_t calls;
} sites[NR_SITES];
static _Atomic uint64_t others;

static void count(void *address)
{
	uintptr_t a = (uintptr_t)address;
	uint32_t at = (uint32_t)(a * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	for (uint32_t i = 0; i < 64; i++) {
		uintptr_t there = 0;
		uint32_t n = (at + i) % NR_SITES;

		if (atomic_compare_exchange_strong(&sites[n].address, &there, a) || there == a) {
			atomic_fetch_add(&sites[n].calls, 1);
			return;
		}
	}
	atomic_fetch_add(&others, 1);
}

EXPORT void *malloc(size_t size)
{
	count(__builtin_return_address(0));
	return __libc_malloc(size);
}

EXPORT void *calloc(size_t nr, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_calloc(nr, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_realloc(p, size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_memalign(alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	count(__builtin_return_address(0));
	return __libc_memalign(alignment, size);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
	count(__builtin_return_address(0));
	*out = __libc_memalign(alignment, size);
	return *out ? 0 : ENOMEM;
}

static struct {
	const char *name;
	uint64_t calls;
} files[NR_FILES];

static void add(const char *name, uint64_t calls)
{
	uint32_t i = 0;

	while (i < NR_FILES - 1 && files[i].name && strcmp(files[i].name, name) != 0)
		i++;
	files[i].name = name;
	files[i].calls += calls;
}

__attribute__((destructor)) static void write_counts(void)
{
	const char *dir = getenv("COUNT_ALLOC_DIR");
	char path[4096];
	FILE *f;

	if (!dir)
		return;
	for (uint32_t i = 0; i < NR_SITES; i++) {
		void *address = (void *)atomic_load(&sites[i].address);
		uint64_t calls = atomic_load(&sites[i].calls);
		Dl_info info;
		const char *name = "unknown";

		if (!address)
			continue;
		if (dladdr(address, &info) && info.dli_fname)
			name = strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 :
							      info.dli_fname;
		add(name, calls);
	}
	add("others", atomic_load(&others));
	snprintf(path, sizeof(path), "%s/%s", dir, program_invocation_short_name);
	f = fopen(path, "w");
	if (!f)
		return;
	for (uint32_t i = 0; i < NR_FILES && files[i].name; i++)
		fprintf(f, "%s %llu\n", files[i].name, (unsigned long long)files[i].calls);
	fclose(f);
}
