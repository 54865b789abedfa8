/* SPDX-License-Identifier: MIT */
/* inflight.h - operations that were handed to the GPU and have not been recorded yet
 *
 * Each queue has entries for them, in the order of submission. An entry's life:
 *
 *   DONE -> FREE        who submits packets fills it again, `tail` having gone over it
 *   FREE -> OURS        it is whole and has its own signal: only the harvester looks at that
 *   FREE -> ARMED       it is whole and has its owner's signal
 *   FREE -> CALLING -> ARMED   a copy, while the runtime's function runs: it may complete in there
 *   ARMED, CALLING <-> BUSY    a thread looks at the owner's signal
 *   BUSY -> CAPTURED    the times were taken because the owner's signal ends its life now
 *   OURS -> HELD        recorded, and a barrier packet may still read its signal
 *   OURS, HELD, ARMED, CAPTURED -> DONE   recorded by the holder of the harvest lock
 * and `head` moves over an entry once it is OURS or ARMED.
 *
 * A queue begins with a small ring of entries, which stay in the caches of both processors. When it is full,
 * the next one is twice as large (inflight_grow()); the one before it drains and stays empty until a quiet
 * moment (inflight_trim()). Each entry has a completion signal of its own, made when it is first needed, and used again
 * with it.
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
#include "source/hsa/queue/packet.h"

enum inflight_state {
	INFLIGHT_FREE,
	INFLIGHT_CALLING,
	INFLIGHT_ARMED,
	INFLIGHT_BUSY,
	INFLIGHT_CAPTURED,
	INFLIGHT_OURS,
	INFLIGHT_HELD,
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
	uint8_t nr_looks;	/* times that the value had dropped and no times were there */
	uint16_t flags;		/* enum rec_flags */
	uint32_t epoch;		/* code_object_now() at submission */
	uint8_t result;		/* enum inflight_result; CAPTURED */
	_Atomic bool tainted;	/* another operation shares the owner's signal */
	uint64_t correlation;	/* 0: it has none yet; one is made when it is recorded */
	uint64_t marker;
	uint64_t submitter; /* as in struct thread */
	uint64_t packet;    /* index in the queue that the program sees */
	/* Relaxed stores: it is set before the state; late lookers compare it with theirs. */
	_Atomic(amd_signal_t *) signal;
	/* This entry's own, with value 1 and times 0 until it is submitted; NULL: not made yet. */
	_Atomic(amd_signal_t *) ours;
	union {
		struct packet_head head; /* of a packet */
		int64_t start_value;	 /* of a copy's signal, when submitted */
	};
	uint64_t hw; /* intercept queues: index in the hardware's ring; HELD: in the completer's */
	union {
		struct { /* CAPTURED; ns of system time for a copy */
			uint64_t begin_ticks, end_ticks;
		};
		amd_signal_t *owner; /* REC_F_SHARED: the signal that a barrier packet completes */
	};
};
_Static_assert(sizeof(struct inflight) == 128, "two cache lines");
_Static_assert(offsetof(struct inflight, head) == 64, "the second line begins with the packet");

struct inflight_ring {
	/* made when it is first needed; kept for ever: what was found by a signal may be an entry of any time */
	struct inflight *entry;
	uint32_t mask;

	/* owner: the holder of the turn */
	_Alignas(64) _Atomic uint64_t head;
	uint64_t room; /* entries before this are known to be free */
	uint64_t peek; /* entries before this were seen completed */

	/* owner: the holder of the harvest lock */
	_Alignas(64) _Atomic uint64_t tail;
	uint32_t prepared; /* entries before this have had a signal */
};

#define INFLIGHT_FIRST 64u /* entries of the first ring */
#define INFLIGHT_MAX_RINGS 12u
#define INFLIGHT_KEEP_IDLE 4096u /* signals, in all queues together, when nothing is in flight */

/* The rings of a queue, smallest first. */
struct inflight_rings {
	uint32_t most; /* entries of the largest; 0: not made yet */
	uint32_t nr;
	/* The one that is filled; those before it drain, those behind it are empty. Atomic, written by the holder of the
	 * turn. */
	struct inflight_ring *_Atomic current;
	struct inflight_ring ring[INFLIGHT_MAX_RINGS];
};

static inline amd_signal_t *inflight_signal(const struct inflight *e)
{
	return atomic_load_explicit(&e->signal, memory_order_relaxed);
}

static inline void inflight_set_signal(struct inflight *e, amd_signal_t *s)
{
	atomic_store_explicit(&e->signal, s, memory_order_relaxed);
}

/* Room for `most` operations, a power of two, in rings that grow. 0 or -ENOMEM.
 * Rings that are there must be for as many, and are kept. */
int inflight_init(struct inflight_rings *r, uint32_t most);

/* HOT: the ring that is filled. Owner of the turn. */
static inline struct inflight_ring *inflight_current(const struct inflight_rings *r)
{
	/* relaxed: the owner's; for the harvester acquire, below */
	return atomic_load_explicit(&r->current, memory_order_relaxed);
}

/* The current ring is full: goes on to a larger one. false: there is none, or no memory. Owner of the turn. */
bool inflight_grow(struct inflight_rings *r);

/* Begins with the smallest ring again and destroys all signals but `keep`. Nothing may be in flight. Holder of both
 * locks. */
void inflight_trim(struct inflight_rings *r, uint32_t keep);

/* Makes signals ahead of need, some at a time. Holder of the harvest lock. */
void inflight_prepare(struct inflight_rings *r);

/* HOT: the signal of `e`; NULL: none could be made. Owner of the turn. */
amd_signal_t *inflight_make_signal(struct inflight *e);
static inline amd_signal_t *inflight_own_signal(struct inflight *e)
{
	/* acquire: pairs with inflight_prepare(), which has written to it */
	amd_signal_t *s = atomic_load_explicit(&e->ours, memory_order_acquire);

	return RTL_LIKELY(s != NULL) ? s : inflight_make_signal(e);
}

/* For inflight_next(). */
bool inflight_look_for_room(struct inflight_ring *r);

/* HOT: the entry to fill next, NULL when the ring is full. Owner of the ring's head. */
static inline struct inflight *inflight_next(struct inflight_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* owner */

	if (RTL_UNLIKELY(head == r->room) && !inflight_look_for_room(r))
		return NULL;
	return &r->entry[head & r->mask];
}

/* HOT: publishes `e`, the entry of inflight_next(). */
static inline void inflight_push(struct inflight_ring *r, const struct inflight *e)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed); /* owner */
	/* at the ring's end nothing is there, which does no harm */
	const char *soon = (const char *)e + 2 * sizeof(*e);

	/* pairs with the acquire in collect_ring(): the entry is whole before head is past it */
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	/* the harvester wrote to it last, on another processor */
	RTL_PREFETCH_WRITE(soon);
	RTL_PREFETCH_WRITE(soon + 64);
}

/* Operations in flight, an estimate: the caller looks again. Any thread. */
uint64_t inflight_count(const struct inflight_rings *r);

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
	e->hw = 0;
	if (RTL_LIKELY(atomic_load_explicit(&e->state, memory_order_relaxed) >= INFLIGHT_OURS))
		atomic_store_explicit(&e->state, INFLIGHT_DONE, memory_order_release);
	else
		inflight_done_owners(e);
}

/* HOT: the entry's own signal, completed and read by nobody any more, is as new. Holder of the harvest lock. */
static inline void inflight_reset_signal(struct inflight *e)
{
	amd_signal_t *s = inflight_signal(e);

	signal_clear_ticks(s);
	__atomic_store_n(&s->value, 1, __ATOMIC_RELAXED);
}

#endif
