/* SPDX-License-Identifier: MIT */
/* intern.c - strings to ids, by an open-addressed table in pages of librtl's own
 *
 * Owns:     the table and the text of its strings.
 * Threads:  one at a time, under the bus's lock; intern_new_id() any.
 * Fails:    without memory strings are not stored: they get a new id each time.
 */
#include "event/intern.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_SIZE 1024u /* entries, a power of two */
#define BLOCK_SIZE ((size_t)256 << 10)

struct entry {
	uint64_t hash;
	const char *text; /* NULL: empty */
	uint32_t size;
	uint32_t id;
};

/* under the bus's lock */
static struct entry *table;
static uint32_t table_size;
static uint32_t nr_entries;
static char *block;
static size_t block_left;
/* atomic */
static _Atomic uint32_t last_id;

uint32_t intern_new_id(void)
{
	/* relaxed: the id need only be unique */
	return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

/* FNV-1a, folded: names differ mostly at their ends. */
static uint64_t hash_of(const char *text, size_t size)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 29;
}

/* The entry of the string, or the empty entry for it. */
static struct entry *find(uint64_t hash, const char *text, size_t size)
{
	for (uint32_t i = (uint32_t)hash;; i++) {
		struct entry *e = &table[i & (table_size - 1)];

		if (!e->text)
			return e;
		if (e->hash == hash && e->size == size && memcmp(e->text, text, size) == 0)
			return e;
	}
}

static bool grow(void)
{
	struct entry *old = table;
	uint32_t old_size = table_size;
	uint32_t size = old_size ? old_size * 2 : FIRST_SIZE;
	struct entry *bigger;

	if (nr_entries < old_size - old_size / 4)
		return true;
	bigger = alloc_pages(size * sizeof(*bigger));
	/* a search in a table without an empty entry would not end */
	if (!bigger)
		return nr_entries + 1 < old_size;
	table = bigger;
	table_size = size;
	for (uint32_t i = 0; i < old_size; i++) {
		if (old[i].text)
			*find(old[i].hash, old[i].text, old[i].size) = old[i];
	}
	alloc_pages_free(old, old_size * sizeof(*old));
	return true;
}

static const char *keep(const char *text, size_t size)
{
	char *copy;

	if (size + 1 > BLOCK_SIZE / 4) {
		copy = alloc_pages(size + 1);
		if (!copy)
			return NULL;
	} else {
		if (size + 1 > block_left) {
			copy = alloc_pages(BLOCK_SIZE);
			if (!copy)
				return NULL;
			block = copy;
			block_left = BLOCK_SIZE;
		}
		copy = block;
		block += size + 1;
		block_left -= size + 1;
	}
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

uint32_t intern_id(const char *text, size_t size, bool *fresh)
{
	uint64_t hash = hash_of(text, size);
	struct entry *e;
	const char *copy;
	uint32_t id;

	*fresh = true;
	if (!grow())
		return intern_new_id();
	e = find(hash, text, size);
	if (e->text) {
		*fresh = false;
		id = e->id;
	} else {
		id = intern_new_id();
		copy = keep(text, size);
		if (copy) {
			*e = (struct entry){ hash, copy, (uint32_t)size, id };
			nr_entries++;
		}
	}
	return id;
}

void intern_each(void (*fn)(void *arg, uint32_t id, const char *text, size_t size), void *arg)
{
	for (uint32_t i = 0; i < table_size; i++) {
		if (table[i].text)
			fn(arg, table[i].id, table[i].text, table[i].size);
	}
}
