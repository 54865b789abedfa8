/* SPDX-License-Identifier: MIT */
/* buffer_aside.c - entries that were written while a buffer's halves were full, with their data */
#include "base/alloc.h"
#include "buffer_aside.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)65536)

struct buffer_block {
	struct buffer_block *next;
	size_t used, size;
	char bytes[];
};

static bool reserve_space(struct buffer_aside *a, uint32_t nr, size_t entry_size)
{
	size_t size = (a->nr + nr) * 2;
	char *larger;

	if (a->nr + nr <= a->size)
		return true;
	larger = alloc_resize(a->entries, size, entry_size);
	if (!larger)
		return false;
	a->entries = larger;
	a->size = size;
	return true;
}

static char *copy(struct buffer_aside *a, const void *data, size_t size)
{
	size_t rounded = (size + 7) / 8 * 8, more = rounded > BLOCK_SIZE ? rounded : BLOCK_SIZE;
	struct buffer_block *block = a->blocks;
	char *to;

	if (!block || block->size - block->used < rounded) {
		block = alloc_heap(sizeof(*block) + more);
		if (!block)
			return NULL;
		*block = (struct buffer_block){ .next = a->blocks, .size = more };
		a->blocks = block;
	}
	to = block->bytes + block->used;
	block->used += rounded;
	return memcpy(to, data, size);
}

bool buffer_aside_add(struct buffer_aside *a, const void *entries, uint32_t nr, size_t entry_size,
		      size_t link, const void *data, size_t size)
{
	char *kept = NULL, *to;

	if (!reserve_space(a, nr, entry_size))
		return false;
	if (data) {
		kept = copy(a, data, size);
		if (!kept)
			return false;
	}
	to = memcpy(a->entries + a->nr * entry_size, entries, nr * entry_size);
	if (kept)
		memcpy(to + (nr - 1) * entry_size + link, &kept, sizeof(kept));
	a->nr += nr;
	a->bytes += nr * entry_size + (data ? size : 0);
	return true;
}

void buffer_aside_free(struct buffer_aside *a)
{
	struct buffer_block *block = a->blocks, *next;

	alloc_free(a->entries);
	for (; block; block = next) {
		next = block->next;
		alloc_free(block);
	}
	*a = (struct buffer_aside){ 0 };
}
