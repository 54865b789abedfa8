/* SPDX-License-Identifier: MIT */
/* sorter.h - puts rows in order, in bounded memory
 *
 * Rows of a trace come nearly in order. What is in order already costs one comparison a row. Rows
 * that do not fit into memory are in a file without a name in TMPDIR. One thread.
 */
#ifndef RTL_QUERY_SORTER_H
#define RTL_QUERY_SORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SORTER_SIZE 256 /* bytes of a row, at most */

/* Of two rows: below 0, 0 or above, as memcmp(). Rows for which it is 0 come as they were added. */
typedef int (*sorter_cmp)(const void *a, const void *b);
/* Returns 0, or -errno, which ends the reading. */
typedef int (*sorter_fn)(void *arg, const void *row);

struct sorter;

/* size: bytes of a row (row.h). rows: those that are kept in memory, 0: as many as is sensible.
 * NULL: out of memory. */
struct sorter *sorter_new(size_t size, sorter_cmp compare, size_t rows);
/* 0 or -errno: of the file, or -ENOMEM. */
int sorter_add(struct sorter *s, const void *row);
/* Passes all rows on, once. 0, -errno, or what `each` returned, which ends it. */
int sorter_read(struct sorter *s, sorter_fn each, void *arg);
void sorter_free(struct sorter *s);

#endif
