/* SPDX-License-Identifier: MIT */
/* inflight.h - operations that were handed to the GPU and have not been recorded yet
 *
 * Each queue has a ring of them in the order of submission. An entry's life:
 *
 *   DONE -> FREE        who submits packets fills it again, `tail` having gone over it
 *   FREE -> OURS        it is whole and has a signal of ours: only the harvester looks at that
 *   FREE -> ARMED       it is whole and has its owner's signal
 *   FREE -> CALLING -> ARMED   a copy, while the runtime's function runs: it may complete in there
 *   ARMED, CALLING <-> BUSY    a thread looks at the owner's signal
 *   BUSY -> CAPTURED    the times were taken because the owner's signal ends its life now
 *   OURS, ARMED, CAPTURED -> DONE   recorded by the holder of the harvest lock
 * and `head` moves over an entry once it is OURS or ARMED.
 *
 *   operation         | inflight_push | poll_entry    | poll_capture
 *   ------------------+---------------+---------------+-----------------
 *   inflight_push     | turn          | any           | any
 *   poll_entry        |               | harvest lock  | any
 *   poll_capture      |               |               | any
 * (poll.h has the latter two; "turn": the right to submit the queue's packets, queue.h.)
 */
#ifndef RTL_SOURCE_HSA_INFLIGHT_H
#define RTL_SOURCE_HSA_INFLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "source/hsa/completion/signal.h"

enum inflight_state {
	INFLIGHT_FREE,
	INFLIGHT_CALLING,
	INFLIGHT_ARMED,
	INFLIGHT_BUSY,
	INFLIGHT_CAPTURED,
	INFLIGHT_OURS,
	INFLIGHT_DONE,
};

enum inflight_result {
	INFLIGHT_PENDING,  /* not completed */
	INFLIGHT_TIMED,	   /* completed, its times are the GPU's */
	INFLIGHT_UNTIMED,  /* completed, the GPU wrote no times */
	INFLIGHT_REPLACED, /* completed, but the times were gone before they could be read */
};

enum inflight_kind { INFLIGHT_DISPATCH, INFLIGHT_BARRIER, INFLIGHT_COPY };

struct inflight {
	_Atomic uint32_t state; /* enum inflight_state */
	uint8_t kind;		/* enum inflight_kind */
	_Atomic bool tainted;	/* another operation shares the owner's signal */
	uint8_t nr_looks;	/* times that the value had dropped and no times were there */
	uint8_t result;		/* enum inflight_result; CAPTURED */
	uint32_t epoch;		/* code_object_now() at submission */
	/* Relaxed stores: it is set before the state; late lookers compare it with theirs. */
	_Atomic(amd_signal_t *) signal;
	amd_signal_t *owner;  /* REC_F_SHARED: the signal that a barrier packet completes */
	int64_t start_value;  /* of the signal, when submitted */
	uint64_t begin_ticks; /* CAPTURED; ns of system time for a copy */
	uint64_t end_ticks;
	uint64_t object; /* kernel object; barrier: packet type */
	uint64_t correlation, marker;
	uint64_t packet; /* index in the queue that the program sees */
	uint64_t hw;	 /* intercept queues: index in the hardware's ring */
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

	/* owner: the holder of the turn */
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

/* For inflight_done(). */
void inflight_done_owners(struct inflight *e);

/* May `e` still be an operation on `s` whose times are not known? */
bool inflight_uses(const struct inflight *e, const amd_signal_t *s);

/* HOT: recorded, the entry may be filled again. Waits for a late looker, who stays for a few loads. */
static inline void inflight_done(struct inflight *e)
{
	/* Both cache lines are written to, not only read. One that was written here moves to the processor that
	 * fills the entry next while that goes on with other things; one that both have for reading stops
	 * it for as long as a line takes there and back (seen on Zen; bench/README.md). */
	e->correlation = 0;
	if (RTL_LIKELY(atomic_load_explicit(&e->state, memory_order_relaxed) == INFLIGHT_OURS))
		atomic_store_explicit(&e->state, INFLIGHT_DONE, memory_order_release);
	else
		inflight_done_owners(e);
}

#endif
