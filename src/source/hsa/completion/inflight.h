/* SPDX-License-Identifier: MIT */
/* inflight.h - operations that were submitted to the GPU and have not been recorded yet
 *
 * Each queue has entries for them, in the order of submission. An entry's life:
 *
 *   DONE -> FREE        `tail` has passed it; the submitting thread fills it again
 *   FREE -> OURS        complete, with its own signal: only the harvester polls that
 *   FREE -> ARMED       complete, with its owner's signal
 *   FREE -> CALLING -> ARMED   a copy while the runtime's function runs; it may complete meanwhile
 *   ARMED, CALLING <-> BUSY    a thread polls the owner's signal
 *   BUSY -> CAPTURED    the times were taken because the owner reuses or destroys its signal
 *   OURS -> HELD        recorded, and a barrier packet may still read its signal
 *   OURS, HELD, ARMED, CAPTURED -> DONE   recorded by the holder of the harvest lock
 * `head` passes an entry once it is OURS or ARMED.
 *
 * A queue begins with a small ring of entries, which fits the caches of both processors. When it is
 * full, the queue switches to a ring twice as large (inflight_grow()); the smaller one drains and
 * is used again after an idle period (inflight_trim()). Each entry has a completion signal of its
 * own, made when first needed and reused with the entry.
 *
 *   operation         | inflight_push | poll_entry    | poll_capture
 *   ------------------+---------------+---------------+-----------------
 *   inflight_push     | turn          | any           | any
 *   poll_entry        |               | harvest lock  | any
 *   poll_capture      |               |               | any
 * (poll.h declares the latter two; "turn": the right to submit the queue's packets, queue.h.)
 */
#ifndef RTL_SOURCE_HSA_INFLIGHT_H
#define RTL_SOURCE_HSA_INFLIGHT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/block.h"
#include "source/hsa/completion/signal.h"
#include "source/hsa/queue/packet.h"

enum inflight_result {
	INFLIGHT_PENDING,  /* not completed */
	INFLIGHT_TIMED,	   /* completed, its times are the GPU's */
	INFLIGHT_UNTIMED,  /* completed, the GPU wrote no times */
	INFLIGHT_REPLACED, /* completed, but the times were gone before they could be read */
};

struct inflight {
	_Atomic uint32_t state; /* enum inflight_state */
	uint8_t kind;		/* enum inflight_kind */
	/* polls that found the value dropped and no times; or INFLIGHT_RECORDING */
	uint8_t nr_looks;
	uint16_t flags;	      /* enum rec_flags */
	uint32_t epoch;	      /* code_object_now() at submission */
	uint8_t result;	      /* enum inflight_result; CAPTURED */
	_Atomic bool tainted; /* another operation shares the owner's signal */
	uint64_t correlation; /* 0: none yet; assigned when the operation is recorded */
	uint64_t marker;
	uint64_t submitter; /* as in struct thread */
	uint64_t packet;    /* index in the queue that the program sees */
	/* Relaxed: stored before the state; a thread that looks late compares it with its own
	 * signal. */
	_Atomic(amd_signal_t *) signal;
	/* The entry's own signal, with value 1 and times 0 until it is submitted; NULL: not made
	 * yet. */
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
/* `rtl` reads entries after a sudden end of the process (spool/rest.c) */
#define SAME(member)                                                                               \
	(offsetof(struct inflight, member) == offsetof(struct spool_inflight, member) &&           \
	 sizeof(((struct inflight *)0)->member) == sizeof(((struct spool_inflight *)0)->member))
_Static_assert(SAME(state) && SAME(kind) && SAME(nr_looks) && SAME(flags) && SAME(correlation) &&
		       SAME(marker) && SAME(submitter) && SAME(packet) && SAME(head),
	       "as in format.h");
#undef SAME

struct inflight_ring {
	/* Allocated when first needed and never freed: the signal map may lead to an entry of any
	 * age. */
	struct inflight *entry;
	uint32_t mask;

	/* owner: the holder of the turn */
	_Alignas(64) _Atomic uint64_t head;
	uint64_t free_end; /* entries before this index are known to be free */
	uint64_t peek;	   /* entries before this index were seen completed */

	/* owner: the holder of the harvest lock */
	_Alignas(64) _Atomic uint64_t tail;
	uint32_t prepared; /* entries before this index have a signal */
};

#define INFLIGHT_FIRST 64u /* entries of the first ring */
#define INFLIGHT_MAX_RINGS 12u
#define INFLIGHT_KEEP_IDLE 4096u /* signals, in all queues together, when nothing is in flight */

/* The rings of a queue, smallest first. */
struct inflight_rings {
	uint32_t most;	/* entries of the largest; 0: not made yet */
	uint32_t queue; /* its index in the trace */
	uint32_t nr;
	/* The ring being filled; the ones before it drain, the ones after it are empty. Written by
	 * the holder of the turn. */
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

/* Capacity for `most` operations, a power of two, in rings that grow. 0 or -ENOMEM. Existing rings
 * must have the same `most`, and are kept. `queue`: its index in the trace. */
int inflight_init(struct inflight_rings *r, uint32_t most, uint32_t queue);

/* Operations pushed since inflight_init(), or since the open trace was opened; rings that are not
 * in it are left out. Any thread. */
uint64_t inflight_pushed(const struct inflight_rings *r);

/* The rings belong to no queue until inflight_init(). Nothing may be in flight. */
void inflight_close(struct inflight_rings *r);

/* HOT: the ring being filled. Holder of the turn. */
static inline struct inflight_ring *inflight_current(const struct inflight_rings *r)
{
	/* relaxed: written by the holder of the turn, which is the caller */
	return atomic_load_explicit(&r->current, memory_order_relaxed);
}

/* The current ring is full: switches to the next larger one. false: it is the largest, or no
 * memory. Holder of the turn. */
bool inflight_grow(struct inflight_rings *r);

/* Returns to the smallest ring and destroys all signals but `keep`. Nothing may be in flight.
 * Holder of the turn and of the harvest lock. */
void inflight_trim(struct inflight_rings *r, uint32_t keep);

/* Makes signals ahead of need, a bounded number per call. Holder of the harvest lock. */
void inflight_prepare(struct inflight_rings *r);

/* HOT: the own signal of `e`; NULL: none could be made. Holder of the turn. */
amd_signal_t *inflight_make_signal(struct inflight *e);
static inline amd_signal_t *inflight_own_signal(struct inflight *e)
{
	/* acquire: pairs with inflight_prepare(), which initialised the signal */
	amd_signal_t *s = atomic_load_explicit(&e->ours, memory_order_acquire);

	return RTL_LIKELY(s != NULL) ? s : inflight_make_signal(e);
}

/* For inflight_next(). */
bool inflight_find_free(struct inflight_ring *r);

/* HOT: the number of operations pushed: that of the next one. Holder of the turn. */
static inline uint64_t inflight_head(const struct inflight_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_relaxed); /* owner */
}

/* HOT: the entry to fill next; NULL when the ring is full. Holder of the turn. */
static inline struct inflight *inflight_next(struct inflight_ring *r)
{
	uint64_t head = inflight_head(r);

	if (RTL_UNLIKELY(head == r->free_end) && !inflight_find_free(r))
		return NULL;
	return &r->entry[head & r->mask];
}

/* HOT: publishes `e`, the entry of operation `head`, the next one. */
static inline void inflight_push_at(struct inflight_ring *r, const struct inflight *e,
				    uint64_t head)
{
	/* past the ring's end the prefetch is harmless */
	const char *soon = (const char *)e + 2 * sizeof(*e);

	/* pairs with the acquire in collect_ring(): the entry is complete before head passes it */
	atomic_store_explicit(&r->head, head + 1, memory_order_release);
	/* relaxed: read when the queue or the process is over */
	atomic_store_explicit(&block_of(r->entry)->pushed, head + 1, memory_order_relaxed);
	/* the harvester wrote to it last, on another processor */
	RTL_PREFETCH_WRITE(soon);
	RTL_PREFETCH_WRITE(soon + 64);
}

/* HOT: the same for the entry of inflight_next(). */
static inline void inflight_push(struct inflight_ring *r, const struct inflight *e)
{
	inflight_push_at(r, e, inflight_head(r));
}

/* HOT: false if an operation is in flight that happened before this call. Any thread. */
static inline bool inflight_is_empty(const struct inflight_rings *r)
{
	/* relaxed, all: the order comes from what the caller waited for */
	const struct inflight_ring *current =
		atomic_load_explicit(&r->current, memory_order_relaxed);

	for (const struct inflight_ring *ring = r->ring; ring <= current; ring++)
		if (atomic_load_explicit(&ring->head, memory_order_relaxed) !=
		    atomic_load_explicit(&ring->tail, memory_order_relaxed))
			return false;
	return true;
}

/* Estimated number of operations in flight; the caller checks again. Any thread. */
uint64_t inflight_count(const struct inflight_rings *r);

/* Whether a dispatch runs, or will soon: of the packets before `taken`, which the processor has
 * taken, and those that were granted, [from, end). The other ones are added to *later. Holder of
 * the turn and of the harvest lock. */
bool inflight_has_running(const struct inflight_rings *r, uint64_t taken, uint64_t from,
			  uint64_t end, uint64_t *later);

/* HOT: true if `e` is a recorded entry of `r`. Reads the ring only, since another processor wrote
 * to the entry. false: unknown, check the entry. Holder of the turn; `r` may be NULL. */
static inline bool inflight_recorded(const struct inflight_ring *r, const struct inflight *e)
{
	uint64_t idx, tail;

	if (!r || e < r->entry || e > r->entry + r->mask)
		return false;
	idx = (uint64_t)(e - r->entry);
	/* pairs with the release in collect.c's advance() */
	tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	return ((idx - tail) & r->mask) >=
	       atomic_load_explicit(&r->head, memory_order_relaxed) - tail;
}

/* For inflight_done(). */
void inflight_done_owners(struct inflight *e);

/* Whether `e` may still be an operation on `s` whose times are unknown. */
bool inflight_uses(const struct inflight *e, const amd_signal_t *s);

/* HOT: the entry is recorded and may be filled again. Waits for a thread that polls its signal,
 * which takes a few loads. */
static inline void inflight_done(struct inflight *e)
{
	/* Writes to both cache lines, although one would do. A line that was written here moves to
	 * the processor that fills the entry next while that continues with other work; a line that
	 * both processors only read stalls it for a round trip (seen on Zen; bench/README.md). */
	e->hw = 0;
	if (RTL_LIKELY(atomic_load_explicit(&e->state, memory_order_relaxed) >= INFLIGHT_OURS))
		atomic_store_explicit(&e->state, INFLIGHT_DONE, memory_order_release);
	else
		inflight_done_owners(e);
}

/* HOT: resets the entry's own signal, which has completed and which no packet reads any more.
 * Holder of the harvest lock. */
static inline void inflight_reset_signal(struct inflight *e)
{
	amd_signal_t *s = inflight_signal(e);

	signal_clear_ticks(s);
	__atomic_store_n(&s->value, 1, __ATOMIC_RELAXED);
}

#endif
