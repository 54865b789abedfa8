/* SPDX-License-Identifier: MIT */
/* alloc.c - pages and heap, with a switch that makes them fail
 *
 * Threads:  any.
 */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* atomic */
static _Atomic uint64_t fail_at;
static _Atomic uint64_t nr_calls;

static bool fails(void)
{
	/* relaxed: only single-threaded tests depend on the order */
	uint64_t n = atomic_fetch_add_explicit(&nr_calls, 1, memory_order_relaxed) + 1;
	uint64_t at = atomic_load_explicit(&fail_at, memory_order_relaxed);

	return at && n >= at;
}

void alloc_fail_at(uint64_t nth)
{
	atomic_store_explicit(&nr_calls, 0, memory_order_relaxed);
	atomic_store_explicit(&fail_at, nth, memory_order_relaxed);
}

uint64_t alloc_nr_calls(void)
{
	return atomic_load_explicit(&nr_calls, memory_order_relaxed);
}

void *alloc_pages(size_t size)
{
	void *p;

	if (fails())
		return NULL;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void alloc_pages_free(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

void *alloc_heap(size_t size)
{
	return fails() ? NULL : malloc(size ? size : 1);
}

void *alloc_zero(size_t nr, size_t size)
{
	size_t total;

	/* calloc() looks at it, too, but a sanitizer's ends the process */
	if (__builtin_mul_overflow(nr, size, &total) || fails())
		return NULL;
	return calloc(1, total ? total : 1);
}

void *alloc_resize(void *p, size_t nr, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(nr, size, &total) || fails())
		return NULL;
	return realloc(p, total ? total : 1);
}

void *alloc_grow(void *array, size_t nr, size_t *cap, size_t first, size_t size)
{
	size_t more = *cap ? *cap * 2 : first;
	void *grown;

	if (nr < *cap)
		return array;
	grown = alloc_resize(array, more, size);
	if (grown)
		*cap = more;
	return grown;
}

char *alloc_string(const char *text)
{
	return alloc_string_n(text, SIZE_MAX);
}

char *alloc_string_n(const char *text, size_t size)
{
	size_t n = strnlen(text, size);
	char *copy = alloc_heap(n + 1);

	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

void alloc_free(void *p)
{
	free(p);
}
