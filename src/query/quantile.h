/* SPDX-License-Identifier: MIT */
/* quantile.h - the values at some positions of an order, without sorting, in bounded memory
 *
 * Values that do not fit into memory are sorted in a file without a name in TMPDIR. One thread.
 */
#ifndef RTL_QUERY_QUANTILE_H
#define RTL_QUERY_QUANTILE_H

#include <stddef.h>
#include <stdint.h>

struct sorter;

/* Zeroed but for `most`: empty. */
struct quantile {
	size_t most; /* values that are kept in memory */
	int64_t *values;
	size_t nr, max;
	struct sorter *sorter; /* NULL: all are in memory */
};

/* 0 or -errno: of the file, or -ENOMEM. HOT. */
int quantile_add(struct quantile *q, int64_t value);
/* Sets found[i] to the value that at[i] values are before, of those that were added; `at` is
 * ascending, and below their number. Then there are none. 0 or -errno. */
int quantile_read(struct quantile *q, const uint64_t *at, size_t nr, int64_t *found);
void quantile_fini(struct quantile *q);

#endif
