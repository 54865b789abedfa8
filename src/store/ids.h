/* SPDX-License-Identifier: MIT */
/* ids.h - a set of numbers that mostly follow one another, as ids do
 *
 * Pages of 4096 numbers: one that is full costs 16 bytes, one that has gaps 512 more. Numbers may come
 * in any order. Single-threaded.
 */
#ifndef RTL_STORE_IDS_H
#define RTL_STORE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/map.h"

struct ids {
	struct map pages; /* number of the page to its place in `bits`, or to FULL */
	struct ids_page *bits;
	uint32_t nr_bits, cap_bits;
	uint32_t free; /* a place that is not used + 1, linked by its `nr`; 0: none */
};

/* A zeroed set is an empty one. */
void ids_fini(struct ids *ids);
/* 0 or -ENOMEM. */
int ids_add(struct ids *ids, uint64_t id);
bool ids_has(const struct ids *ids, uint64_t id);

#endif
