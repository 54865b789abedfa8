/* SPDX-License-Identifier: MIT */
/* signal_map.c - the signal map: from a signal of the program to the in-flight entry that uses it
 *
 * Owns:     a fixed hash table of (signal, entry), open addressing within a window of WINDOW slots;
 *           when that is full, within a second window.
 * Hot path: all; reusing a signal costs one compare-exchange on a cache line that the harvester
 *           does not touch.
 * Fails:    both windows are full: the caller times the operation another way.
 *
 * A slot keeps its signal after the operation has been recorded: the next use of the signal finds
 * it, and finds the entry done. If the harvester freed the slot, the launching thread would fetch
 * the cache line from the harvester's processor for each dispatch. Such slots are freed when the
 * signal is destroyed or another signal needs the slot.
 */
#include "source/hsa/completion/signal_map.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/compiler.h"
#include "base/testpoint.h"
#include "source/hsa/completion/poll.h"

#define SIZE 65536u
#define WINDOW 8u

/* Life of a slot: (0, none) free -> (0, e) -> (s, e) in use -> (s, LEAVING) -> (0, LEAVING) ->
 * free; and (s, e) -> (s, e2) when the owner uses `s` again. */
struct map_slot {
	_Atomic uint64_t signal;
	/* The entry's address << 16 | version. Each change increments the version, so that a
	 * compare-exchange fails if the slot had another use in between. */
	_Atomic uint64_t use;
};

static _Alignas(128) struct map_slot table[SIZE];
/* Whether a slot was ever used. A count would be written by both sides for each dispatch. */
static _Atomic bool any_used;
/* Whether a first window was ever full. */
static _Atomic bool any_second;
static struct inflight leaving;
#define LEAVING (&leaving)

/* The first slot to try for a signal; the rest of its window follows in a circle. Signals adjacent
 * in memory have adjacent slots: the runtime makes signals by the page, and spread over the whole
 * table each would need a page of the table in the processor's address cache. */
static inline uint32_t first_window(const amd_signal_t *s)
{
	return (uint32_t)((uintptr_t)s >> 6);
}

/* The first slot of the second window, at a hashed position. */
static uint32_t second_window(const amd_signal_t *s)
{
	uint64_t h = ((uint64_t)(uintptr_t)s >> 6) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 40);
}

/* Slot `i` of the window whose first slot is `first`. */
static inline struct map_slot *slot_at(uint32_t first, uint32_t i)
{
	return &table[(first & (SIZE - WINDOW)) | ((first + i) & (WINDOW - 1))];
}

static struct inflight *entry_of(uint64_t use)
{
	return (struct inflight *)(uintptr_t)(use >> 16);
}

/* The value that follows `use` in its slot, with the entry `e`. */
static uint64_t next_use(uint64_t use, const struct inflight *e)
{
	return (uint64_t)(uintptr_t)e << 16 | (uint16_t)(use + 1);
}

/* Whether `p` maps `s`; *use: to what. */
static inline bool maps(struct map_slot *p, const amd_signal_t *s, uint64_t *use)
{
	struct inflight *e;

	if (atomic_load_explicit(&p->signal, memory_order_acquire) != (uint64_t)(uintptr_t)s)
		return false;
	/* pairs with claim() and clear(): a later entry is not seen with this signal */
	*use = atomic_load_explicit(&p->use, memory_order_acquire);
	e = entry_of(*use);
	return e && e != LEAVING &&
	       atomic_load_explicit(&p->signal, memory_order_relaxed) == (uint64_t)(uintptr_t)s;
}

static inline struct map_slot *find_in(uint32_t first, const amd_signal_t *s,
				       const struct map_slot *but, uint64_t *use)
{
	for (uint32_t i = 0; i < WINDOW; i++) {
		struct map_slot *p = slot_at(first, i);

		if (maps(p, s, use) && p != but)
			return p;
	}
	return NULL;
}

/* The slot that maps `s`, and its value; `but`: a slot to skip. */
static RTL_NOINLINE struct map_slot *find(const amd_signal_t *s, const struct map_slot *but,
					  uint64_t *use)
{
	struct map_slot *p;

	/* relaxed: if `s` is in use, the caller learned of it through a stronger ordering */
	if (!atomic_load_explicit(&any_used, memory_order_relaxed))
		return NULL;
	p = find_in(first_window(s), s, but, use);
	/* seq_cst: pairs with claim(), as the slots' accesses do */
	if (!p && RTL_UNLIKELY(atomic_load(&any_second)))
		p = find_in(second_window(s), s, but, use);
	return p;
}

/* Changes the slot from `use` to `e`. false: another thread changed it first. */
static inline bool change(struct map_slot *p, uint64_t use, const struct inflight *e)
{
	/* release: a thread that finds the entry here sees its signal and state; acquire: the
	 * previous ones */
	return atomic_compare_exchange_strong_explicit(&p->use, &use, next_use(use, e),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* Of two threads that free a slot one succeeds: the slot may have a new use right after. */
static void clear(struct map_slot *p, uint64_t use)
{
	if (!change(p, use, LEAVING))
		return;
	RTL_TESTPOINT("signal_map_leaving");
	/* pairs with maps(): an owner that finds nothing may destroy the signal, which has been
	 * read */
	atomic_store_explicit(&p->signal, 0, memory_order_release);
	/* pairs with change() in claim_slot(): the signal is cleared before the slot is free */
	atomic_store_explicit(&p->use, next_use(use + 1, NULL), memory_order_release);
}

static bool claim_slot(struct map_slot *p, const amd_signal_t *s, struct inflight *e)
{
	uint64_t use = atomic_load_explicit(&p->use, memory_order_relaxed);

	if (entry_of(use) || !change(p, use, e))
		return false;
	/* pairs with maps(); seq_cst: of two threads with one signal at least one finds the other
	 * in signal_map_add() */
	atomic_store_explicit(&p->signal, (uint64_t)(uintptr_t)s, memory_order_seq_cst);
	return true;
}

/* Frees a slot whose operation was recorded. */
static void evict(struct map_slot *p)
{
	/* relaxed: maps() checks it again */
	uint64_t s = atomic_load_explicit(&p->signal, memory_order_relaxed), use;

	if (maps(p, (amd_signal_t *)(uintptr_t)s, &use) &&
	    !inflight_uses(entry_of(use), (amd_signal_t *)(uintptr_t)s))
		clear(p, use);
}

static struct map_slot *claim_in(uint32_t first, const amd_signal_t *s, struct inflight *e)
{
	for (uint32_t i = 0; i < WINDOW; i++)
		if (claim_slot(slot_at(first, i), s, e))
			return slot_at(first, i);
	for (uint32_t i = 0; i < WINDOW; i++) {
		evict(slot_at(first, i));
		if (claim_slot(slot_at(first, i), s, e))
			return slot_at(first, i);
	}
	return NULL;
}

static struct map_slot *claim(const amd_signal_t *s, struct inflight *e)
{
	struct map_slot *p;

	if (!atomic_load_explicit(&any_used, memory_order_relaxed))
		atomic_store_explicit(&any_used, true, memory_order_relaxed);
	p = claim_in(first_window(s), s, e);
	if (p)
		return p;
	/* seq_cst: set before the slot is claimed, so that another thread with `s` tries the second
	 * window, too */
	atomic_store(&any_second, true);
	return claim_in(second_window(s), s, e);
}

/* Takes the times of the operation on `s`, if it has completed, and frees its slot. */
static void capture(amd_signal_t *s, bool destroyed)
{
	uint64_t use;
	struct map_slot *p = find(s, NULL, &use);

	if (p && poll_capture(entry_of(use), s, destroyed) != POLL_IN_USE)
		clear(p, use);
}

/* Claims a slot where `s` has none yet. */
static RTL_NOINLINE int add(amd_signal_t *s, struct inflight *e)
{
	struct map_slot *p = claim(s, e);
	uint64_t use, other;

	if (!p)
		return -ENOSPC;
	if (find(s, p, &other)) { /* two threads with one signal at once */
		if (maps(p, s, &use) && entry_of(use) == e)
			clear(p, use);
		return -EBUSY;
	}
	return 0;
}

static RTL_NOINLINE int add_any(amd_signal_t *s, struct inflight *e, const struct inflight_ring *r)
{
	uint64_t use = 0;
	struct map_slot *p = find(s, NULL, &use);
	struct inflight *old = entry_of(use);

	/* `old` is `e` itself where the entry's previous use was on `s`, too */
	if (p && old != e && !inflight_recorded(r, old) &&
	    poll_capture(old, s, false) == POLL_IN_USE)
		return -EBUSY;
	/* Replaces the slot's use. If that fails, the slot was just freed, or another thread uses
	 * `s` too. */
	if (p && change(p, use, e))
		return 0;
	return add(s, e);
}

int signal_map_add(amd_signal_t *s, struct inflight *e, const struct inflight_ring *r)
{
	struct map_slot *p = slot_at(first_window(s), 0);
	uint64_t use;

	/* usually the signal's previous operation was recorded, and its slot is the first */
	if (RTL_LIKELY(maps(p, s, &use) && inflight_recorded(r, entry_of(use)) &&
		       change(p, use, e)))
		return 0;
	return add_any(s, e, r);
}

void signal_map_remove(const amd_signal_t *s, const struct inflight *e)
{
	uint64_t use;
	struct map_slot *p = find(s, NULL, &use);

	if (p && entry_of(use) == e)
		clear(p, use);
}

void signal_map_reuse(amd_signal_t *s)
{
	capture(s, false);
}

void signal_map_destroy(amd_signal_t *s)
{
	capture(s, true);
}

void signal_map_reset(void)
{
	for (uint32_t i = 0; i < SIZE; i++) {
		uint64_t use = atomic_load_explicit(&table[i].use, memory_order_relaxed);

		if (entry_of(use) && entry_of(use) != LEAVING)
			clear(&table[i], use);
	}
}
