/* SPDX-License-Identifier: MIT */
/* origin.h - which thread, call and range each packet comes from
 *
 * A packet is submitted by whatever thread rings the doorbell, and that thread may find packets
 * of others in the ring: HIP's streams share hardware queues. So a packet's origin is noted when its
 * index is reserved, which every thread does for itself, and looked up by the index.
 *
 *  operation   | origin_note              | origin_of
 *  ------------+--------------------------+---------------------------------------
 *  origin_note | any: indices are apart   | the packet's header is stored after the note and loaded
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

/* Room for `entries` notes, a power of two, and always the same for the same `q`. More than the queue has
 * packets: HIP reserves an index first and waits for its slot to be free after that, so at times as many more are
 * reserved as threads wait. 0 or -ENOMEM. */
int origin_init(struct queue *q, uint32_t entries);

/* Never 0, and never that of a queue which had this memory before. */
static inline uint64_t origin_key(const struct queue *q, uint64_t index)
{
	return q->origin_salt + index;
}

/* As origin_note(), for all that is not one packet. */
void origin_note_any(struct queue *q, uint64_t index, uint64_t end);

/* Packet `index` of `q` is that of thread `t`. */
static inline void origin_put(struct queue *q, const struct thread *t, uint64_t index)
{
	struct origin_note *n = &q->origin[index & q->origin_mask];

	/* relaxed: the packet's header publishes it; see the table above. Correlation 0: no call; it may be a
	 * barrier that nobody asks about. */
	atomic_store_explicit(&n->correlation, t->corr_current, memory_order_relaxed);
	atomic_store_explicit(&n->marker, t->marker, memory_order_relaxed);
	atomic_store_explicit(&n->submitter, t->submitter, memory_order_relaxed);
	atomic_store_explicit(&n->key, origin_key(q, index), memory_order_release);
}

/* HOT: packets [index, end) of `q` are this thread's. One packet calls nothing: nothing can come back here. */
static inline void origin_note(struct queue *q, uint64_t index, uint64_t end)
{
	const struct thread *t = &thread_self;

	if (RTL_LIKELY(end - index == 1 && !special_any(SPECIAL_FOR_PACKETS) &&
		       !thread_kept_out(t)))
		origin_put(q, t, index);
	else
		origin_note_any(q, index, end);
}

/* HOT: the note of packet `index`; NULL: nobody noted it. */
static inline const struct origin_note *origin_find(const struct queue *q, uint64_t index)
{
	const struct origin_note *n = &q->origin[index & q->origin_mask];

	/* acquire: pairs with the release of who notes it */
	return RTL_LIKELY(atomic_load_explicit(&n->key, memory_order_acquire) ==
			  origin_key(q, index)) ?
		       n :
		       NULL;
}

/* Where an operation of `t` comes from that nobody noted. */
struct origin origin_of_submitter(struct thread *t);

/* HOT: where packet `index` comes from; from `t`, which submits it, where nobody noted it. */
static inline struct origin origin_of(const struct queue *q, uint64_t index, struct thread *t)
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

/* Its thread alone, 0 where nobody noted it. */
uint32_t origin_tid(const struct queue *q, uint64_t index);

#endif
