/* SPDX-License-Identifier: MIT */
/* ids.c - a set of numbers in pages of bits; a full page frees its bits */
#include "store/ids.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

#define PAGE 4096u
#define FULL UINT32_MAX

struct ids_page {
	uint32_t nr; /* numbers in the page; in a free page the next free one */
	uint32_t reserved;
	uint64_t bits[PAGE / 64];
};

void ids_fini(struct ids *ids)
{
	map_fini(&ids->pages);
	alloc_free(ids->bits);
	memset(ids, 0, sizeof(*ids));
}

/* The index of a cleared page; UINT32_MAX: out of memory. */
static uint32_t new_page(struct ids *ids)
{
	uint32_t at;

	if (ids->free) {
		at = ids->free - 1;
		ids->free = ids->bits[at].nr;
	} else {
		struct ids_page *bits =
			alloc_grow(ids->bits, ids->nr_bits, &ids->cap_bits, 16, sizeof(*bits));

		if (!bits)
			return UINT32_MAX;
		ids->bits = bits;
		at = (uint32_t)ids->nr_bits++;
	}
	memset(&ids->bits[at], 0, sizeof(ids->bits[at]));
	return at;
}

int ids_add(struct ids *ids, uint64_t id)
{
	uint64_t mask = UINT64_C(1) << id % 64;
	struct ids_page *page;
	uint64_t at;

	if (!map_get(&ids->pages, id / PAGE, &at)) {
		at = new_page(ids);
		if (at == UINT32_MAX || map_put(&ids->pages, id / PAGE, at) < 0)
			return -ENOMEM;
	}
	if (at == FULL)
		return 0;
	page = &ids->bits[at];
	if (page->bits[id % PAGE / 64] & mask)
		return 0;
	page->nr++;
	ids->nr++;
	page->bits[id % PAGE / 64] |= mask;
	if (page->nr < PAGE)
		return 0;
	page->nr = ids->free;
	ids->free = (uint32_t)at + 1;
	return map_put(&ids->pages, id / PAGE, FULL);
}

bool ids_has(const struct ids *ids, uint64_t id)
{
	uint64_t at;

	return map_get(&ids->pages, id / PAGE, &at) &&
	       (at == FULL || ids->bits[at].bits[id % PAGE / 64] >> id % 64 & 1);
}
