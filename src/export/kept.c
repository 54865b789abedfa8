/* SPDX-License-Identifier: MIT */
/* kept.c - encoded texts by number, in bounded memory */
#include "export/kept.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

enum { KEPT_MAX = 4 << 20, SIZE_BITS = 20, FIRST = 4096 };

static struct kept_recent *recent_of(struct kept *k, uint64_t key)
{
	/* ids are dense: those of a process, and two halves that are */
	return &k->recent[(key ^ key >> 32) & ((1u << KEPT_RECENT_BITS) - 1)];
}

static void point_to(const struct kept *k, uint64_t location, struct kept_part *part)
{
	part->bytes = k->bytes + (location >> SIZE_BITS);
	part->size = location & ((UINT64_C(1) << SIZE_BITS) - 1);
}

bool kept_get(struct kept *k, uint64_t key, struct kept_part *part)
{
	struct kept_recent *r = recent_of(k, key);

	if (!r->is_set || r->key != key) {
		uint64_t location;

		if (!map_get(&k->index, key, &location))
			return false;
		*r = (struct kept_recent){ key, location, true };
	}
	point_to(k, r->location, part);
	return true;
}

/* Space for `size` bytes; false: out of memory. */
static bool make_space(struct kept *k, size_t size)
{
	size_t cap = k->cap ? k->cap : FIRST;
	char *grown;

	if (k->used + size > KEPT_MAX) {
		map_clear(&k->index);
		memset(k->recent, 0, sizeof(k->recent));
		k->used = 0;
	}
	while (cap < k->used + size)
		cap *= 2;
	if (cap == k->cap)
		return true;
	grown = alloc_resize(k->bytes, cap, 1);
	if (!grown)
		return false;
	k->bytes = grown;
	k->cap = cap;
	return true;
}

int kept_put(struct kept *k, uint64_t key, struct kept_part *part)
{
	uint64_t location;

	if (part->size >> SIZE_BITS) {
		char *large = alloc_resize(k->large, part->size, 1);

		if (!large)
			return -ENOMEM;
		memcpy(large, part->bytes, part->size);
		part->bytes = k->large = large;
		return 0;
	}
	if (!make_space(k, part->size))
		return -ENOMEM;
	location = (uint64_t)k->used << SIZE_BITS | part->size;
	if (map_put(&k->index, key, location))
		return -ENOMEM;
	if (part->size)
		memcpy(k->bytes + k->used, part->bytes, part->size);
	k->used += part->size;
	*recent_of(k, key) = (struct kept_recent){ key, location, true };
	point_to(k, location, part);
	return 0;
}

void kept_fini(struct kept *k)
{
	map_fini(&k->index);
	alloc_free(k->bytes);
	alloc_free(k->large);
}
