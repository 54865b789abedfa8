/* SPDX-License-Identifier: MIT */
/* signal_map.c - signals of the program whose operation is in flight
 *
 * Owns:     a fixed table of (signal, entry), open addressing within a window of WINDOW places; when that is
 *           full, within another one.
 * Hot path: all; a signal that is used again costs one compare-exchange on a cache line that the
 *           harvester does not touch.
 * Fails:    two full windows: the caller times the operation another way.
 *
 * A place stays with its signal when the operation has been recorded: the next use of the signal finds it,
 * and that the entry is over. Were the harvester to free it, the launching thread would fetch
 * the line from the harvester's processor for each dispatch. What lies about in this way is
 * freed when the signal is destroyed, or when another one needs the place.
 */
#include "source/hsa/completion/signal_map.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/compiler.h"
#include "source/hsa/completion/poll.h"

#define SIZE 65536u
#define WINDOW 8u

/* One place: (0, none) free -> (0, e) -> (s, e) watched -> (s, LEAVING) -> (0, LEAVING) -> free; and
 * (s, e) -> (s, e2) when the owner uses `s` again. */
struct place {
	_Atomic uint64_t signal;
	/* The entry's address << 16 | version. Each change counts the version up, so that who decides
	 * by what it read does not change a place that has been somebody else's in between. */
	_Atomic uint64_t use;
};

static _Alignas(128) struct place table[SIZE];
/* Whether there ever was one. A count would be written by both sides for each dispatch. */
static _Atomic bool any_used;
/* Whether a window ever was full. */
static _Atomic bool any_far;
static struct inflight leaving;
#define LEAVING (&leaving)

/* The place where a signal is looked for first; the rest of its window follows in a circle.
 * Neighbours in memory are neighbours here: the runtime makes signals by the page, and spread over the whole table
 * each would need a page of it in the processor's address cache. */
static inline uint32_t near(const amd_signal_t *s)
{
	return (uint32_t)((uintptr_t)s >> 6);
}

/* Where it goes when there is no place near its neighbours. */
static uint32_t far(const amd_signal_t *s)
{
	uint64_t h = ((uint64_t)(uintptr_t)s >> 6) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 40);
}

/* Place `i` of the window in which `first` is the first. */
static inline struct place *place(uint32_t first, uint32_t i)
{
	return &table[(first & (SIZE - WINDOW)) | ((first + i) & (WINDOW - 1))];
}

static struct inflight *entry_of(uint64_t use)
{
	return (struct inflight *)(uintptr_t)(use >> 16);
}

/* What follows `use` in its place, with the entry `e`. */
static uint64_t next_use(uint64_t use, const struct inflight *e)
{
	return (uint64_t)(uintptr_t)e << 16 | (uint16_t)(use + 1);
}

/* Whether `p` watches `s`; for what: *use. */
static inline bool watches(struct place *p, const amd_signal_t *s, uint64_t *use)
{
	struct inflight *e;

	if (atomic_load_explicit(&p->signal, memory_order_acquire) != (uint64_t)(uintptr_t)s)
		return false;
	/* pairs with claim() and clear(): an entry that came later is not seen with this signal */
	*use = atomic_load_explicit(&p->use, memory_order_acquire);
	e = entry_of(*use);
	return e && e != LEAVING &&
	       atomic_load_explicit(&p->signal, memory_order_relaxed) == (uint64_t)(uintptr_t)s;
}

static inline struct place *find_in(uint32_t first, const amd_signal_t *s, const struct place *but,
				    uint64_t *use)
{
	for (uint32_t i = 0; i < WINDOW; i++) {
		struct place *p = place(first, i);

		if (watches(p, s, use) && p != but)
			return p;
	}
	return NULL;
}

/* The place that watches `s`, and for what; `but`: another one than this. */
static RTL_NOINLINE struct place *find(const amd_signal_t *s, const struct place *but,
				       uint64_t *use)
{
	struct place *p;

	/* relaxed: who knows that `s` is in use knows it by more than this */
	if (!atomic_load_explicit(&any_used, memory_order_relaxed))
		return NULL;
	p = find_in(near(s), s, but, use);
	/* seq_cst: pairs with claim(), as its places do */
	if (!p && RTL_UNLIKELY(atomic_load(&any_far)))
		p = find_in(far(s), s, but, use);
	return p;
}

/* The place goes from `use` to `e`. false: it is no longer what it was. */
static inline bool change(struct place *p, uint64_t use, const struct inflight *e)
{
	/* release: who finds the entry here sees its signal and its state; acquire: what they were */
	return atomic_compare_exchange_strong_explicit(&p->use, &use, next_use(use, e),
						       memory_order_acq_rel, memory_order_relaxed);
}

/* Of two that want to free a place, one does: it may be somebody else's right after. */
static void clear(struct place *p, uint64_t use)
{
	if (!change(p, use, LEAVING))
		return;
	/* pairs with watches(): an owner that finds nothing may destroy the signal, which was read */
	atomic_store_explicit(&p->signal, 0, memory_order_release);
	/* pairs with change() in claim(): the signal is gone before the place is free */
	atomic_store_explicit(&p->use, next_use(use + 1, NULL), memory_order_release);
}

static bool claim_place(struct place *p, const amd_signal_t *s, struct inflight *e)
{
	uint64_t use = atomic_load_explicit(&p->use, memory_order_relaxed);

	if (entry_of(use) || !change(p, use, e))
		return false;
	/* pairs with watches(); seq_cst: of two threads with one signal at least one finds the other in
	 * signal_map_add() */
	atomic_store_explicit(&p->signal, (uint64_t)(uintptr_t)s, memory_order_seq_cst);
	return true;
}

/* Frees a place whose operation was recorded. */
static void evict(struct place *p)
{
	/* relaxed: watches() looks again */
	uint64_t s = atomic_load_explicit(&p->signal, memory_order_relaxed), use;

	if (watches(p, (amd_signal_t *)(uintptr_t)s, &use) &&
	    !inflight_uses(entry_of(use), (amd_signal_t *)(uintptr_t)s))
		clear(p, use);
}

static struct place *claim_in(uint32_t first, const amd_signal_t *s, struct inflight *e)
{
	for (uint32_t i = 0; i < WINDOW; i++)
		if (claim_place(place(first, i), s, e))
			return place(first, i);
	for (uint32_t i = 0; i < WINDOW; i++) {
		evict(place(first, i));
		if (claim_place(place(first, i), s, e))
			return place(first, i);
	}
	return NULL;
}

static struct place *claim(const amd_signal_t *s, struct inflight *e)
{
	struct place *p;

	if (!atomic_load_explicit(&any_used, memory_order_relaxed))
		atomic_store_explicit(&any_used, true, memory_order_relaxed);
	p = claim_in(near(s), s, e);
	if (p)
		return p;
	/* seq_cst: before the place is taken, so that another thread with `s` looks there as well */
	atomic_store(&any_far, true);
	return claim_in(far(s), s, e);
}

/* Takes the times of the operation on `s`, if it has completed, and frees its place. */
static void retire(amd_signal_t *s, bool destroyed)
{
	uint64_t use;
	struct place *p = find(s, NULL, &use);

	if (p && poll_capture(entry_of(use), s, destroyed) != POLL_IN_USE)
		clear(p, use);
}

/* Claims a place where there is none for `s` yet. */
static RTL_NOINLINE int add(amd_signal_t *s, struct inflight *e)
{
	struct place *p = claim(s, e);
	uint64_t use, other;

	if (!p)
		return -ENOSPC;
	if (find(s, p, &other)) { /* two threads at once with one signal */
		if (watches(p, s, &use) && entry_of(use) == e)
			clear(p, use);
		return -EBUSY;
	}
	return 0;
}

int signal_map_add(amd_signal_t *s, struct inflight *e, const struct inflight_ring *r)
{
	uint64_t use = 0;
	struct place *p = place(near(s), 0);
	struct inflight *old;

	if (!watches(p, s, &use))
		p = find(s, NULL, &use);
	old = entry_of(use);
	/* `old` is `e` itself where this entry was for `s` before */
	if (p && old != e && !inflight_recorded(r, old) &&
	    poll_capture(old, s, false) == POLL_IN_USE)
		return -EBUSY;
	/* The place goes from one use to the next. If not, it was just freed, or another thread uses
	 * `s` too. */
	if (p && change(p, use, e))
		return 0;
	return add(s, e);
}

void signal_map_remove(const amd_signal_t *s, const struct inflight *e)
{
	uint64_t use;
	struct place *p = find(s, NULL, &use);

	if (p && entry_of(use) == e)
		clear(p, use);
}

void signal_map_reuse(amd_signal_t *s)
{
	retire(s, false);
}

void signal_map_destroy(amd_signal_t *s)
{
	retire(s, true);
}

void signal_map_reset(void)
{
	for (uint32_t i = 0; i < SIZE; i++) {
		uint64_t use = atomic_load_explicit(&table[i].use, memory_order_relaxed);

		if (entry_of(use) && entry_of(use) != LEAVING)
			clear(&table[i], use);
	}
}
