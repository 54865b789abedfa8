/* SPDX-License-Identifier: MIT */
/* ids.h - a set of mostly consecutive numbers, as ids are
 *
 * Pages of 4096 numbers: a full page takes 16 bytes, one with gaps 512 more. Numbers may be added
 * in any order. Single-threaded.
 */
#ifndef RTL_STORE_IDS_H
#define RTL_STORE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/map.h"

struct ids {
	uint64_t nr;
	struct map pages; /* number of the page to its index in `bits`, or to FULL */
	struct ids_page *bits;
	size_t nr_bits, cap_bits;
	uint32_t free; /* 1 + index of the first free page in `bits`, linked by `nr`; 0: none */
};

/* A zeroed set is an empty one. */
void ids_fini(struct ids *ids);
/* 0 or -ENOMEM. */
int ids_add(struct ids *ids, uint64_t id);
bool ids_has(const struct ids *ids, uint64_t id);

#endif
