/* SPDX-License-Identifier: MIT */
/* map.h - a hash table from numbers to numbers: open addressing, grows
 *
 * Every key is valid, 0 too. Single-threaded.
 */
#ifndef RTL_STORE_MAP_H
#define RTL_STORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t key;
	uint64_t value_plus_1; /* 0: empty */
};

struct map {
	struct map_entry *entries;
	size_t cap, nr; /* cap: power of two, or 0 */
};

/* A zeroed map is an empty one. */
void map_fini(struct map *map);
void map_clear(struct map *map);
/* Adds or replaces; a value of UINT64_MAX is stored as one less. 0 or -ENOMEM. */
int map_put(struct map *map, uint64_t key, uint64_t value);
bool map_get(const struct map *map, uint64_t key, uint64_t *value);
/* Removes; true if the key was there. */
bool map_del(struct map *map, uint64_t key);

uint64_t map_hash(const void *data, size_t size);
/* Of words, for a cache: several times as fast, and of less quality. */
static inline uint64_t map_hash_words(const uint64_t *words, size_t nr)
{
	uint64_t hash = nr;

	for (size_t i = 0; i < nr; i++) {
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

#endif
