/* SPDX-License-Identifier: MIT */
/* origin.c - which thread, call and range each packet comes from
 *
 * Owns:     the notes of each queue.
 * Threads:  any.
 * Hot path: all but origin_init(): no lock, no allocation, no system call.
 */
#include "source/hsa/queue/origin.h"

#include "base/alloc.h"

void origin_init(struct queue *q, uint32_t entries)
{
	if (!q->origin)
		q->origin = alloc_pages(entries * sizeof(*q->origin));
	q->origin_mask = q->origin ? entries - 1 : 0;
}

RTL_NOINLINE void origin_note_any(struct queue *q, uint64_t index, uint64_t end)
{
	struct thread *t;

	if (!life_enter(&t))
		return;
	if (RTL_UNLIKELY(join_is_on()))
		join_submits(t->tid);
	if (q->origin && end - index <= q->origin_mask + 1)
		for (; index != end; index++)
			origin_put(q, t, index);
	life_leave(t);
}

struct origin origin_of_submitter(struct thread *t)
{
	return (struct origin){ .in_call = t->corr_current != 0,
				.correlation = corr_take(t),
				.marker = t->marker,
				.tid = t->tid };
}

uint32_t origin_tid(const struct queue *q, uint64_t index)
{
	const struct origin_note *n = origin_find(q, index);

	return n ? atomic_load_explicit(&n->tid, memory_order_relaxed) : 0;
}
