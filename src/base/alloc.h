/* SPDX-License-Identifier: MIT */
/* alloc.h - all memory that the product takes, so that a test can make the Nth call fail
 *
 * Code that is loaded into a traced program uses alloc_pages() alone: the program's own malloc may
 * be instrumented, interposed, or in the middle of something. The command line uses the heap.
 * What tests need: alloc_fail_at().
 */
#ifndef RTL_BASE_ALLOC_H
#define RTL_BASE_ALLOC_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed pages of the kernel, `size` bytes rounded up to pages; NULL when there are none. */
void *alloc_pages(size_t size);
void alloc_pages_free(void *p, size_t size);

/* Heap; zeroed by alloc_zero(). NULL when there is none, also when nr * size overflows. */
void *alloc_heap(size_t size);
void *alloc_zero(size_t nr, size_t size);
/* As realloc: on failure NULL, and `p` stays as it was. */
void *alloc_resize(void *p, size_t nr, size_t size);
char *alloc_string(const char *text);
void alloc_free(void *p);

/* Tests: the nth call from now (1 = the next) and every one after it fail; 0 ends that. */
void alloc_fail_at(uint64_t nth);
/* Calls since the last alloc_fail_at(). */
uint64_t alloc_nr_calls(void);

#endif
