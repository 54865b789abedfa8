/* SPDX-License-Identifier: MIT */
/* copy_table.c - the copies in flight: groups of 64, and a bit for each used entry
 *
 * Owns:     the groups, which are blocks of the memory half (event/block.h), made when first
 *           needed.
 * Threads:  any.
 */
#include "source/hsa/memory/copy_table.h"

#include <stddef.h>

#include "event/block.h"

#define GROUP 64u
#define MAX_GROUPS 256u

static void *_Atomic groups[MAX_GROUPS]; /* NULL: not made yet */
static _Atomic uint64_t used[MAX_GROUPS];
static _Atomic uint32_t nr_groups; /* made, from the first on */
static _Atomic uint32_t nr_used;
static bool is_held[MAX_GROUPS]; /* the thread that holds */

static struct copy *copy_at(uint32_t i)
{
	struct copy *group =
		block_get(&groups[i / GROUP], SPOOL_BLOCK_COPIES, GROUP, sizeof(*group));

	return group ? &group[i % GROUP] : NULL;
}

struct copy *copy_table_next(uint32_t *i)
{
	/* relaxed: a copy that is claimed meanwhile may be left out */
	uint32_t end = atomic_load_explicit(&nr_groups, memory_order_relaxed) * GROUP;

	while (*i < end) {
		/* pairs with the release in copy_table_claim() */
		uint64_t word = atomic_load_explicit(&used[*i / GROUP], memory_order_acquire);

		word &= ~UINT64_C(0) << *i % GROUP;
		if (word) {
			*i = *i / GROUP * GROUP + (uint32_t)__builtin_ctzll(word);
			return copy_at((*i)++);
		}
		*i = (*i / GROUP + 1) * GROUP;
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

/* The entry of a bit that this thread has set. */
static struct copy *take(uint32_t g, uint32_t bit)
{
	struct copy *c = copy_at(g * GROUP + bit);
	uint32_t nr = atomic_load_explicit(&nr_groups, memory_order_relaxed);

	if (!c) {
		atomic_fetch_and_explicit(&used[g], ~(UINT64_C(1) << bit), memory_order_release);
		return NULL;
	}
	c->index = g * GROUP + bit;
	/* relaxed: a reader that misses the new group misses a copy that is submitted now */
	while (nr <= g &&
	       !atomic_compare_exchange_weak_explicit(&nr_groups, &nr, g + 1, memory_order_relaxed,
						      memory_order_relaxed))
		;
	atomic_fetch_add_explicit(&nr_used, 1, memory_order_relaxed);
	return c;
}

/* Few entries are used, so the search for the lowest free one is short. */
struct copy *copy_table_claim(void)
{
	for (uint32_t g = 0; g < MAX_GROUPS; g++) {
		uint64_t word = atomic_load_explicit(&used[g], memory_order_relaxed);

		while (~word) {
			uint32_t bit = (uint32_t)__builtin_ctzll(~word);
			uint64_t with = word | UINT64_C(1) << bit;

			/* acquire: pairs with copy_table_release(); release: with
			 * copy_table_next() */
			if (!atomic_compare_exchange_weak_explicit(&used[g], &word, with,
								   memory_order_acq_rel,
								   memory_order_relaxed))
				continue;
			return take(g, bit);
		}
	}
	return NULL;
}

void copy_table_hold(bool on)
{
	for (uint32_t g = 0; g < MAX_GROUPS; g++) {
		/* acquire: pairs with block_get() */
		struct copy *group = atomic_load_explicit(&groups[g], memory_order_acquire);
		uint64_t none = 0;

		if (!group || is_held[g] == on)
			continue;
		/* acquire, release: pair with copy_table_release() and copy_table_claim() */
		if (on && !atomic_compare_exchange_strong_explicit(&used[g], &none, ~UINT64_C(0),
								   memory_order_acq_rel,
								   memory_order_relaxed))
			continue;
		is_held[g] = on;
		atomic_store_explicit(&block_of(group)->held, on, memory_order_relaxed);
		if (!on)
			atomic_store_explicit(&used[g], 0, memory_order_release);
	}
}

void copy_table_submitted(struct copy *c, uint32_t engine, int count)
{
	struct spool_block *b = block_of(c - c->index % GROUP);

	if (engine > SPOOL_MAX_ENGINES)
		engine = SPOOL_MAX_ENGINES;
	/* relaxed: read when the process is over */
	atomic_fetch_add_explicit(&b->copies[engine], (uint64_t)count, memory_order_relaxed);
}

void copy_table_release(struct copy *c)
{
	inflight_done(&c->times.entry);
	atomic_store_explicit(&c->phase, COPY_IN_CALL, memory_order_relaxed); /* for the next use */
	atomic_store_explicit(&c->signal, NULL, memory_order_relaxed);
	atomic_fetch_sub_explicit(&nr_used, 1, memory_order_relaxed);
	/* pairs with the acquire in copy_table_claim() */
	atomic_fetch_and_explicit(&used[c->index / GROUP], ~(UINT64_C(1) << c->index % GROUP),
				  memory_order_release);
}
