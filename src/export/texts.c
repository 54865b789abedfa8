/* SPDX-License-Identifier: MIT */
/* texts.c - texts by number, each once
 *
 * Owns:     a copy of each text.
 * Fails:    without memory a text has no number, and nothing changes.
 */
#include "export/texts.h"

#include <string.h>

#include "base/alloc.h"

static uint64_t add(struct texts *t, uint64_t key, const char *text, size_t size)
{
	struct texts_text *all = alloc_grow(t->all, t->nr, &t->cap, 64, sizeof(*all));
	char *copy;

	if (!all)
		return 0;
	t->all = all;
	copy = alloc_heap(size + 1);
	if (!copy)
		return 0;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (map_put(&t->numbers, key, t->nr + 1)) {
		alloc_free(copy);
		return 0;
	}
	t->all[t->nr++] = (struct texts_text){ copy, size };
	return t->nr;
}

uint64_t texts_number_by(struct texts *t, uint64_t hash, const char *text, size_t size,
			 bool *is_new)
{
	uint64_t key = hash, number;

	*is_new = false;
	for (; map_get(&t->numbers, key, &number); key++) {
		const struct texts_text *there = &t->all[number - 1];

		if (there->size == size && memcmp(there->text, text, size) == 0)
			return number;
	}
	*is_new = true;
	return add(t, key, text, size);
}

uint64_t texts_number(struct texts *t, const char *text, size_t size, bool *is_new)
{
	return texts_number_by(t, map_hash(text, size), text, size, is_new);
}

void texts_fini(struct texts *t)
{
	for (size_t i = 0; i < t->nr; i++)
		alloc_free(t->all[i].text);
	alloc_free(t->all);
	map_fini(&t->numbers);
	*t = (struct texts){ 0 };
}
