/* SPDX-License-Identifier: MIT */
/* origin.c - packet origin: the thread, call and range of each packet
 *
 * Owns:     the notes of each queue.
 * Threads:  any.
 * Hot path: all but origin_init(): no lock, no allocation, no system call.
 */
#include "source/hsa/queue/origin.h"

#include <errno.h>

#include "base/alloc.h"

int origin_init(struct queue *q, uint32_t entries)
{
	if (!q->origin)
		q->origin = alloc_pages(entries * sizeof(*q->origin));
	q->origin_mask = entries - 1;
	q->origin_salt = ((uint64_t)q->index + 1) << 40;
	return q->origin ? 0 : -ENOMEM;
}

RTL_NOINLINE void origin_note_any(struct queue *q, uint64_t index, uint64_t end)
{
	struct thread *t;

	if (!life_enter(&t))
		return;
	if (RTL_UNLIKELY(join_is_on()))
		join_submits(t->tid);
	if (end - index <= q->origin_mask + 1)
		for (; index != end; index++)
			origin_put(q, t, index);
	life_leave(t);
}

struct origin origin_of_submitter(struct thread *t)
{
	return (struct origin){ .in_call = t->corr_current != 0,
				.correlation = corr_take(t),
				.marker = t->marker,
				.submitter = t->submitter };
}

uint64_t origin_id(const struct queue *q, struct thread *t, uint64_t index)
{
	struct origin_note *n = origin_at(q, index);
	uint64_t id = atomic_load_explicit(&n->correlation, memory_order_relaxed);

	if (id || join_is_on())
		return id;
	id = origin_of(q, index, t).correlation;
	/* relaxed: the thread that submits has the turn, or takes it after this one */
	atomic_store_explicit(&n->correlation, id, memory_order_relaxed);
	return id;
}

uint32_t origin_tid(const struct queue *q, uint64_t index)
{
	const struct origin_note *n = origin_find(q, index);

	return n ? (uint32_t)atomic_load_explicit(&n->submitter, memory_order_relaxed) : 0;
}
