/* SPDX-License-Identifier: MIT */
/* inflight.h - operations that were handed to the GPU and have not been recorded yet
 *
 * Each queue has a ring of them in the order of submission. An entry's life:
 *
 *   DONE -> FREE        the packet callback fills it again, `tail` having gone over it
 *   FREE -> ARMED       it is whole, and `head` moves over it
 *   FREE -> CALLING -> ARMED   a copy, while the runtime's function runs: it may complete in there
 *   ARMED, CALLING <-> BUSY    somebody looks at the owner's signal (entries with one of ours: never)
 *   BUSY -> CAPTURED    the times were taken because the owner's signal ends its life now
 *   ARMED, CAPTURED -> DONE   recorded by the holder of the harvest lock
 *
 *   operation         | inflight_push | inflight_poll | inflight_capture
 *   ------------------+---------------+---------------+-----------------
 *   inflight_push     | caller excl.  | any           | any
 *   inflight_poll     |               | harvest lock  | any
 *   inflight_capture  |               |               | any
 */
#ifndef RTL_SOURCE_HSA_INFLIGHT_H
#define RTL_SOURCE_HSA_INFLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "source/hsa/signal.h"

enum inflight_state {
	INFLIGHT_FREE,
	INFLIGHT_CALLING,
	INFLIGHT_ARMED,
	INFLIGHT_BUSY,
	INFLIGHT_CAPTURED,
	INFLIGHT_DONE,
};

enum inflight_kind { INFLIGHT_DISPATCH, INFLIGHT_BARRIER, INFLIGHT_COPY };

struct inflight {
	_Atomic uint32_t state; /* enum inflight_state */
	uint8_t kind;		/* enum inflight_kind */
	bool owned;		/* the signal is ours, out of the queue's pool */
	_Atomic bool tainted;	/* another operation shares the owner's signal */
	uint8_t nr_looks;	/* times that the value had dropped and no times were there */
	uint8_t result;		/* enum inflight_result; CAPTURED */
	uint32_t epoch;		/* codeobj_now() at submission */
	/* Relaxed stores: it is set before the state; late lookers compare it with theirs. */
	_Atomic(amd_signal_t *) signal;
	amd_signal_t *owner;  /* REC_F_SHARED: the signal that a barrier packet completes */
	int64_t start_value;  /* of the signal, when submitted */
	uint64_t begin_ticks; /* CAPTURED; ns of system time for a copy */
	uint64_t end_ticks;
	uint64_t object; /* kernel object; barrier: packet type */
	uint64_t correlation, marker;
	uint64_t packet; /* index in the queue that the program sees */
	uint64_t hw;	 /* index in the hardware's ring */
	uint32_t grid[3];
	uint32_t private_size, group_size;
	uint32_t tid;
	uint16_t group[3];
	uint16_t flags; /* enum rec_flags */
};
_Static_assert(sizeof(struct inflight) == 128, "two cache lines");

struct inflight_ring {
	/* set in init, constant after */
	struct inflight *entry;
	uint32_t mask;

	/* owner: the packet callback */
	_Alignas(64) _Atomic uint64_t head;
	uint64_t peek; /* entries before this were seen completed */

	/* owner: the holder of the harvest lock */
	_Alignas(64) _Atomic uint64_t tail;
};

static inline amd_signal_t *inflight_signal(const struct inflight *e)
{
	return atomic_load_explicit(&e->signal, memory_order_relaxed);
}

static inline void inflight_set_signal(struct inflight *e, amd_signal_t *s)
{
	atomic_store_explicit(&e->signal, s, memory_order_relaxed);
}

/* `size`: a power of two. 0 or -ENOMEM. A ring that has memory of that size keeps it. */
int inflight_init(struct inflight_ring *r, uint32_t size);

/* HOT: the entry to fill next, NULL when the ring is full. Owner of the ring's head. */
static inline struct inflight *inflight_next(struct inflight_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* owner */

	/* pairs with the release in harvest's advance: the entry is free before tail is past it */
	if (RTL_UNLIKELY(head - atomic_load_explicit(&r->tail, memory_order_acquire) > r->mask))
		return NULL;
	return &r->entry[head & r->mask];
}

/* HOT: publishes the entry of inflight_next(). */
static inline void inflight_push(struct inflight_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* owner */
	const char *soon = (const char *)&r->entry[(head + 2) & r->mask];

	/* pairs with the acquire in harvest_queue(): the entry is whole before head is past it */
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	/* the harvester wrote to it last, on another processor */
	RTL_PREFETCH_WRITE(soon);
	RTL_PREFETCH_WRITE(soon + 64);
}

static inline uint64_t inflight_count(const struct inflight_ring *r)
{
	/* relaxed: an estimate, the caller looks again */
	return atomic_load_explicit(&r->head, memory_order_relaxed) -
	       atomic_load_explicit(&r->tail, memory_order_relaxed);
}

/* HOT: is `e` an entry of `r` that nobody has anything to do with any more? Looks at the ring only, not at
 * the entry, which another processor wrote to. false: look. Owner of the ring's head; `r` may be NULL. */
static inline bool inflight_recorded(const struct inflight_ring *r, const struct inflight *e)
{
	uint64_t idx, tail;

	if (!r || e < r->entry || e > r->entry + r->mask)
		return false;
	idx = (uint64_t)(e - r->entry);
	/* pairs with the release in harvest's advance */
	tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	return ((idx - tail) & r->mask) >=
	       atomic_load_explicit(&r->head, memory_order_relaxed) - tail;
}

enum inflight_result {
	INFLIGHT_PENDING, /* not completed */
	INFLIGHT_TIMED,	  /* completed, *begin and *end are the GPU's */
	INFLIGHT_UNTIMED, /* completed, the GPU wrote no times */
	INFLIGHT_LOST,	  /* completed, but the times were gone before they could be read */
};

/* Whether `e` has completed, and its ticks. Holder of the harvest lock. */
enum inflight_result inflight_poll(struct inflight *e, uint64_t *begin, uint64_t *end);

enum inflight_use {
	INFLIGHT_OVER,	 /* its times are known, or never will be */
	INFLIGHT_IN_USE, /* it has not completed */
	INFLIGHT_GONE,	 /* the entry is another operation's by now */
};

/* The owner of `s` destroys it, or uses it anew: takes the times, if `e` is still the operation on
 * it, which this finds out. One that has not completed is given up when `s` is destroyed, else it
 * shares `s` from now on, so that the times in there are not taken for its own. */
enum inflight_use inflight_capture(struct inflight *e, amd_signal_t *s, bool destroyed);

/* May `e` still be an operation on `s` whose times are not known? */
bool inflight_uses(const struct inflight *e, const amd_signal_t *s);

/* Recorded: the entry is nobody's. Waits for a late looker, who stays for a few loads. */
void inflight_done(struct inflight *e);

/* HOT: has the GPU completed `e`? Only looks; for the back-pressure of the packet callback. */
bool inflight_completed(struct inflight *e);

#endif
