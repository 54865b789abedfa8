/* SPDX-License-Identifier: MIT */
/* alloc.h - memory whose Nth allocation a test can make fail
 *
 * librtl uses only alloc_pages(): the program's own malloc may be instrumented, interposed, or
 * running when a signal handler interrupts it. The libraries with AMD's names use the heap, as
 * AMD's do, since clients free some of their results; so do counter, store, query, analysis and
 * export. tools/check_banned.py refuses direct calls in these; the command line itself, which ends
 * with a message when memory runs out, and fleet, which is of the command line alone, make some.
 * Tests use alloc_fail_at().
 */
#ifndef RTL_BASE_ALLOC_H
#define RTL_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed pages from the kernel, `size` bytes rounded up to pages; NULL if there are none. */
void *alloc_pages(size_t size);
void alloc_pages_free(void *p, size_t size);

/* Heap; zeroed by alloc_zero(). NULL if out of memory, or if nr * size overflows. */
void *alloc_heap(size_t size);
void *alloc_zero(size_t nr, size_t size);
/* As realloc: on failure NULL, and `p` is unchanged. */
void *alloc_resize(void *p, size_t nr, size_t size);
/* For an array of nr items with space for *cap: makes space for one more (`first` items at first).
 * Returns the array, which may have moved; on failure NULL, and `array` stays as it was. */
void *alloc_grow(void *array, size_t nr, size_t *cap, size_t first, size_t size);
char *alloc_string(const char *text);
/* Of at most `size` bytes of it. */
char *alloc_string_n(const char *text, size_t size);
void alloc_free(void *p);

/* Tests: the nth call from now (1 = the next) and all later ones fail; 0 ends that. */
void alloc_fail_at(uint64_t nth);
/* Calls since the last alloc_fail_at(). */
uint64_t alloc_nr_calls(void);

#endif
