/* SPDX-License-Identifier: MIT */
/* watch.c - signals of the program whose operation is in flight
 *
 * Owns:     a fixed table of (signal, entry), open addressing within a window of WINDOW places.
 * Hot path: all; at most WINDOW loads of two cache lines.
 * Fails:    a full window: the caller times the operation another way.
 */
#include "source/hsa/watch.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/compiler.h"
#include "source/hsa/inflight.h"

#define SIZE 32768u
#define WINDOW 8u

/* One place: (0, NULL) free -> (0, e) -> (s, e) watched -> (s, LEAVING) -> (0, LEAVING) -> free; and
 * (s, e) -> (s, e2) when the owner uses `s` again. */
struct place {
	_Atomic uint64_t signal;
	_Atomic(struct inflight *) entry;
};

static struct place table[SIZE];
/* Whether there ever was one. A count would be written by both sides for each dispatch. */
static _Atomic bool any_used;
static struct inflight leaving;
#define LEAVING (&leaving)

static struct place *first(const amd_signal_t *s)
{
	uint64_t h = ((uint64_t)(uintptr_t)s >> 6) * UINT64_C(0x9e3779b97f4a7c15);

	return &table[(uint32_t)(h >> 40) & (SIZE - WINDOW)];
}

/* What `p` watches `s` for, or NULL. */
static struct inflight *entry_at(struct place *p, const amd_signal_t *s)
{
	struct inflight *e;

	if (atomic_load_explicit(&p->signal, memory_order_acquire) != (uint64_t)(uintptr_t)s)
		return NULL;
	/* pairs with claim() and clear(): an entry that came later is not seen with this signal */
	e = atomic_load_explicit(&p->entry, memory_order_acquire);
	if (e == LEAVING ||
	    atomic_load_explicit(&p->signal, memory_order_relaxed) != (uint64_t)(uintptr_t)s)
		return NULL;
	return e;
}

/* The place that watches `s`, and for what; `but`: another one than this. */
static inline struct place *find(struct place *p, const amd_signal_t *s, const struct place *but,
				 struct inflight **e)
{
	/* relaxed: who knows that `s` is in use knows it by more than this */
	if (!atomic_load_explicit(&any_used, memory_order_relaxed))
		return NULL;
#pragma GCC unroll 8
	for (uint32_t i = 0; i < WINDOW; i++)
		if ((*e = entry_at(p + i, s)) != NULL && p + i != but)
			return p + i;
	return NULL;
}

/* Of two that want to free a place, one does: it may be somebody else's right after. */
static void clear(struct place *p, struct inflight *e)
{
	if (!atomic_compare_exchange_strong_explicit(&p->entry, &e, LEAVING, memory_order_acq_rel,
						     memory_order_relaxed))
		return;
	/* pairs with entry_at(): an owner that finds nothing may destroy the signal, which was read */
	atomic_store_explicit(&p->signal, 0, memory_order_release);
	/* pairs with the compare-exchange in claim(): the signal is gone before the place is free */
	atomic_store_explicit(&p->entry, NULL, memory_order_release);
}

static struct place *claim(struct place *p, const amd_signal_t *s, struct inflight *e)
{
	if (!atomic_load_explicit(&any_used, memory_order_relaxed))
		atomic_store_explicit(&any_used, true, memory_order_relaxed);
#pragma GCC unroll 8
	for (uint32_t i = 0; i < WINDOW; i++) {
		struct inflight *none = NULL;

		if (atomic_load_explicit(&p[i].entry, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong_explicit(&p[i].entry, &none, e,
							     memory_order_acq_rel,
							     memory_order_relaxed))
			continue;
		/* pairs with entry_at(); seq_cst: of two threads with one signal at least one finds
		 * the other in watch_add() */
		atomic_store_explicit(&p[i].signal, (uint64_t)(uintptr_t)s, memory_order_seq_cst);
		return p + i;
	}
	return NULL;
}

/* Takes the times of the operation on `s`, if it has completed, and frees its place. false: it is
 * in flight. */
static bool retire(struct place *window, amd_signal_t *s, bool destroyed)
{
	struct inflight *e;
	struct place *p = find(window, s, NULL, &e);
	enum inflight_use use = p ? inflight_capture(e, s, destroyed) : INFLIGHT_GONE;

	if (use == INFLIGHT_OVER)
		clear(p, e);
	return use != INFLIGHT_IN_USE;
}

void watch_expect(amd_signal_t *s)
{
	struct place *p = first(s);

	RTL_PREFETCH_WRITE(s);
	RTL_PREFETCH_WRITE(p);
	RTL_PREFETCH_WRITE(p + WINDOW / 2);
}

/* Claims a place where there is none for `s` yet. */
static int add(struct place *window, amd_signal_t *s, struct inflight *e)
{
	struct place *p = claim(window, s, e);
	struct inflight *other;

	if (!p)
		return -ENOSPC;
	if (find(window, s, p, &other)) { /* two threads at once with one signal */
		clear(p, e);
		return -EBUSY;
	}
	return 0;
}

int watch_add(amd_signal_t *s, struct inflight *e)
{
	struct place *window = first(s);
	struct inflight *old;
	struct place *p = find(window, s, NULL, &old);
	enum inflight_use use = p ? inflight_capture(old, s, false) : INFLIGHT_GONE;

	if (use == INFLIGHT_IN_USE)
		return -EBUSY;
	/* The place goes from one use to the next. If not, the harvester was about to free it, or
	 * another thread uses `s` too. pairs with entry_at() and clear() */
	if (use == INFLIGHT_OVER &&
	    atomic_compare_exchange_strong_explicit(&p->entry, &old, e, memory_order_acq_rel,
						    memory_order_relaxed))
		return 0;
	return add(window, s, e);
}

void watch_remove(const amd_signal_t *s, struct inflight *e)
{
	struct place *p = first(s);

	for (uint32_t i = 0; i < WINDOW; i++, p++)
		if (entry_at(p, s) == e)
			clear(p, e);
}

void watch_reuse(amd_signal_t *s)
{
	retire(first(s), s, false);
}

void watch_destroy(amd_signal_t *s)
{
	retire(first(s), s, true);
}

void watch_reset(void)
{
	for (uint32_t i = 0; i < SIZE; i++) {
		struct inflight *e = atomic_load_explicit(&table[i].entry, memory_order_relaxed);

		if (e && e != LEAVING)
			clear(&table[i], e);
	}
}
