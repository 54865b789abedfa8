/* SPDX-License-Identifier: MIT */
/* origin.h - packet origin: the thread, call and range of each packet
 *
 * The thread that rings the doorbell submits packets, and it may find packets of other threads in
 * the ring: HIP's streams share hardware queues. So each thread notes the origin when it reserves a
 * packet's index, and the submitting thread looks the origin up by the index.
 *
 *  operation   | origin_note              | origin_of
 *  ------------+--------------------------+---------------------------------------
 *  origin_note | any: other indices     | the packet's header is stored after the note and loaded
 *              |                          | before the look-up
 */
#ifndef RTL_SOURCE_HSA_ORIGIN_H
#define RTL_SOURCE_HSA_ORIGIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/corr.h"
#include "event/join.h"
#include "event/life.h"
#include "event/special.h"
#include "event/thread.h"
#include "source/hsa/queue/queue.h"

struct origin_note {
	_Atomic uint64_t key; /* of queue and packet, 0: none */
	_Atomic uint64_t correlation, marker;
	_Atomic uint64_t submitter; /* as in struct thread */
};
_Static_assert(sizeof(struct origin_note) == 32, "two in a cache line");

struct origin {
	uint64_t correlation, marker, submitter;
	bool in_call; /* else the correlation id is the packet's own */
};

/* Makes `entries` notes, a power of two, and always the same number for the same `q`. A queue needs
 * more notes than it has packets: HIP reserves an index first and then waits for its slot, so up to
 * one more packet per waiting thread is reserved. 0 or -ENOMEM. */
int origin_init(struct queue *q, uint32_t entries);

/* Never 0, and never equal to a key of a queue that had this memory before. */
static inline uint64_t origin_key(const struct queue *q, uint64_t index)
{
	return q->origin_salt + index;
}

/* HOT: where the note of packet `index` is, if there is one. */
static inline struct origin_note *origin_at(const struct queue *q, uint64_t index)
{
	return &q->origin[index & q->origin_mask];
}

/* As origin_note(), for any number of packets. */
void origin_note_any(struct queue *q, uint64_t index, uint64_t end);

/* Notes that thread `t` reserved packet `index` of `q`. */
static inline void origin_put(struct queue *q, const struct thread *t, uint64_t index)
{
	struct origin_note *n = origin_at(q, index);

	/* relaxed: the packet's header publishes it; see the table above. Correlation 0: outside of
	 * any call; an id is made only if the packet is recorded. */
	atomic_store_explicit(&n->correlation, t->corr_current, memory_order_relaxed);
	atomic_store_explicit(&n->marker, t->marker, memory_order_relaxed);
	atomic_store_explicit(&n->submitter, t->submitter, memory_order_relaxed);
	atomic_store_explicit(&n->key, origin_key(q, index), memory_order_release);
}

/* HOT: notes that this thread reserved packets [index, end) of `q`. The usual single packet takes
 * no function call. */
static inline void origin_note(struct queue *q, uint64_t index, uint64_t end)
{
	const struct thread *t = &thread_self;

	if (RTL_LIKELY(end - index == 1 && !special_any(SPECIAL_FOR_ORIGINS) &&
		       !thread_kept_out(t)))
		origin_put(q, t, index);
	else
		origin_note_any(q, index, end);
}

/* HOT: whether this is the note of packet `index`. */
static inline bool origin_is_of(const struct queue *q, const struct origin_note *n, uint64_t index)
{
	/* acquire: pairs with the release in origin_put() */
	return RTL_LIKELY(atomic_load_explicit(&n->key, memory_order_acquire) ==
			  origin_key(q, index));
}

/* HOT: the note of packet `index`; NULL: there is none. */
static inline const struct origin_note *origin_find(const struct queue *q, uint64_t index)
{
	const struct origin_note *n = origin_at(q, index);

	return origin_is_of(q, n, index) ? n : NULL;
}

/* The origin of an operation without a note: that of its submitting thread `t`. */
struct origin origin_of_submitter(struct thread *t);

/* HOT: the origin of packet `index`; without a note, that of the submitting thread `t`. */
static RTL_INLINE struct origin origin_of(const struct queue *q, uint64_t index, struct thread *t)
{
	const struct origin_note *n = origin_find(q, index);
	struct origin o;

	if (RTL_UNLIKELY(!n))
		return origin_of_submitter(t);
	o.correlation = atomic_load_explicit(&n->correlation, memory_order_relaxed);
	o.marker = atomic_load_explicit(&n->marker, memory_order_relaxed);
	o.submitter = atomic_load_explicit(&n->submitter, memory_order_relaxed);
	o.in_call = o.correlation != 0;
	if (!o.in_call)
		o.correlation = corr_orphaned(t, !(o.submitter & THREAD_LEFT_OUT));
	return o;
}

/* The id that packet `index`, which has a note, will have: one that is of no call gets its own now,
 * and keeps it in the note. 0: it is found later, by join.h. Under the queue's turn; `t`: the
 * caller's. */
uint64_t origin_id(const struct queue *q, struct thread *t, uint64_t index);

/* The thread id of the packet origin, 0 without a note. */
uint32_t origin_tid(const struct queue *q, uint64_t index);

#endif
