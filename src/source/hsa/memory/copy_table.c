/* SPDX-License-Identifier: MIT */
/* copy_table.c - the copies in flight: a fixed table, and a bit for each used entry */
#include "source/hsa/memory/copy_table.h"

#include <stddef.h>

#define MAX_COPIES 16384u
#define WORDS (MAX_COPIES / 64)

static struct copy table[MAX_COPIES];
static _Atomic uint64_t used[WORDS];
static _Atomic uint32_t nr_used;

struct copy *copy_table_next(uint32_t *i)
{
	while (*i < MAX_COPIES) {
		/* pairs with the release in copy_table_claim() */
		uint64_t word = atomic_load_explicit(&used[*i / 64], memory_order_acquire);

		word &= ~UINT64_C(0) << *i % 64;
		if (word) {
			*i = *i / 64 * 64 + (uint32_t)__builtin_ctzll(word);
			return &table[(*i)++];
		}
		*i = (*i / 64 + 1) * 64;
	}
	return NULL;
}

uint32_t copy_table_count(void)
{
	/* relaxed: an estimate */
	return atomic_load_explicit(&nr_used, memory_order_relaxed);
}

bool copy_table_has(const amd_signal_t *s)
{
	const struct copy *c;
	uint32_t i = 0;

	if (copy_table_count() == 0)
		return false;
	while ((c = copy_table_next(&i)) != NULL)
		/* relaxed: the entry may be incomplete while it is being filled; its own thread
		 * sees all of it */
		if (atomic_load_explicit(&c->signal, memory_order_relaxed) == s)
			return true;
	return false;
}

/* Few entries are used, so the search for the lowest free one is short. */
struct copy *copy_table_claim(void)
{
	for (uint32_t w = 0; w < WORDS; w++) {
		uint64_t word = atomic_load_explicit(&used[w], memory_order_relaxed);

		while (~word) {
			uint32_t bit = (uint32_t)__builtin_ctzll(~word);
			uint64_t with = word | UINT64_C(1) << bit;

			/* acquire: pairs with copy_table_release(); release: with copy_table_next() */
			if (!atomic_compare_exchange_weak_explicit(&used[w], &word, with,
								   memory_order_acq_rel,
								   memory_order_relaxed))
				continue;
			atomic_fetch_add_explicit(&nr_used, 1, memory_order_relaxed);
			return &table[w * 64 + bit];
		}
	}
	return NULL;
}

void copy_table_release(struct copy *c)
{
	uint32_t i = (uint32_t)(c - table);

	inflight_done(&c->times.entry);
	atomic_store_explicit(&c->phase, COPY_IN_CALL, memory_order_relaxed); /* for the next use */
	atomic_store_explicit(&c->signal, NULL, memory_order_relaxed);
	atomic_fetch_sub_explicit(&nr_used, 1, memory_order_relaxed);
	/* pairs with the acquire in copy_table_claim() */
	atomic_fetch_and_explicit(&used[i / 64], ~(UINT64_C(1) << i % 64), memory_order_release);
}
