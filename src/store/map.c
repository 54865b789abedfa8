/* SPDX-License-Identifier: MIT */
/* map.c - a hash table from numbers to numbers: linear probing, at most three quarters full
 *
 * Keys come from files: they are mixed, so that ids a power of two apart don't collide.
 */
#include "base/alloc.h"
#include "store/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix_key(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

uint64_t map_hash(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t hash = size;
	uint64_t word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		hash = mix_key(hash ^ word) + UINT64_C(0x9e3779b97f4a7c15);
	}
	word = 0;
	if (size)
		memcpy(&word, p, size);
	return mix_key(hash ^ word);
}

void map_fini(struct map *map)
{
	alloc_free(map->entries);
	memset(map, 0, sizeof(*map));
}

void map_clear(struct map *map)
{
	if (map->entries)
		memset(map->entries, 0, map->cap * sizeof(*map->entries));
	map->nr = 0;
}

/* The entry of key, or the empty entry where it would be put. cap > 0. */
static struct map_entry *find_entry(const struct map *map, uint64_t key)
{
	size_t mask = map->cap - 1;
	size_t at = mix_key(key) & mask;

	while (map->entries[at].value_plus_1 && map->entries[at].key != key)
		at = (at + 1) & mask;
	return &map->entries[at];
}

static int grow_table(struct map *map)
{
	struct map bigger = { .cap = map->cap ? map->cap * 2 : 64, .nr = map->nr };

	bigger.entries = alloc_zero(bigger.cap, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (size_t i = 0; i < map->cap; i++) {
		if (map->entries[i].value_plus_1)
			*find_entry(&bigger, map->entries[i].key) = map->entries[i];
	}
	alloc_free(map->entries);
	*map = bigger;
	return 0;
}

int map_put(struct map *map, uint64_t key, uint64_t value)
{
	struct map_entry *entry;

	/* the largest value would look like an empty entry */
	if (value == UINT64_MAX)
		value--;
	if ((map->nr + 1) * 4 > map->cap * 3 && grow_table(map) < 0)
		return -ENOMEM;
	entry = find_entry(map, key);
	if (!entry->value_plus_1)
		map->nr++;
	entry->key = key;
	entry->value_plus_1 = value + 1;
	return 0;
}

bool map_get(const struct map *map, uint64_t key, uint64_t *value)
{
	const struct map_entry *entry;

	if (!map->nr)
		return false;
	entry = find_entry(map, key);
	if (!entry->value_plus_1)
		return false;
	*value = entry->value_plus_1 - 1;
	return true;
}

bool map_del(struct map *map, uint64_t key)
{
	size_t mask = map->cap - 1;
	struct map_entry *hole;
	size_t at;

	if (!map->nr)
		return false;
	hole = find_entry(map, key);
	if (!hole->value_plus_1)
		return false;
	/* close the gap: move entries into it that a search would no longer reach */
	at = (size_t)(hole - map->entries);
	for (size_t next = (at + 1) & mask; map->entries[next].value_plus_1;
	     next = (next + 1) & mask) {
		size_t home = mix_key(map->entries[next].key) & mask;

		if (((next - home) & mask) >= ((next - at) & mask)) {
			map->entries[at] = map->entries[next];
			at = next;
		}
	}
	map->entries[at].value_plus_1 = 0;
	map->nr--;
	return true;
}
