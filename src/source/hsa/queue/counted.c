/* SPDX-License-Identifier: MIT */
/* counted.c - queues whose dispatches wait until the GPU is theirs alone, to be counted */
#include "source/hsa/queue/counted.h"

#include "source/hsa/completion/collect.h"
#include "source/hsa/counter/client.h"
#include "source/hsa/queue/interpose.h"
#include "source/hsa/queue/real_index.h"

bool counted_waits(struct queue *q, uint32_t agent, uint64_t *index, struct client_answers *answers)
{
	const union packet *p;
	bool waits;

	if (!queue_turn_try(q))
		return false;
	*index = atomic_load_explicit(&q->published, memory_order_relaxed);
	p = queue_packet(q, *index);
	/* a slot that the processor has not freed contains an older packet */
	waits = atomic_load_explicit(&q->live, memory_order_relaxed) && q->agent == agent &&
		!atomic_load_explicit(&q->bypassed, memory_order_relaxed) &&
		real_index_write(q) == *index && real_index_read(q) == *index &&
		atomic_load_explicit(&q->reserved, memory_order_acquire) > *index &&
		packet_type(__atomic_load_n(&p->header, __ATOMIC_ACQUIRE)) !=
			HSA_PACKET_TYPE_INVALID &&
		client_is_waiting(q, *index);
	if (waits && answers)
		client_copy(q, *index, answers);
	interpose_end_turn(q);
	return waits;
}

enum counted_granted counted_grant(struct queue *q, uint32_t queue_index, uint64_t index,
				   bool waits)
{
	enum counted_granted granted = GRANT_GONE;
	const struct inflight_ring *ring;
	uint64_t head;

	if (waits ? !queue_turn_wait(q) : !queue_turn_soon(q))
		return waits ? GRANT_GONE : GRANT_BUSY;
	if (q->index == queue_index) {
		ring = inflight_current(&q->inflight);
		head = atomic_load_explicit(&ring->head, memory_order_relaxed);
		atomic_store_explicit(&q->counting, index + 1, memory_order_relaxed);
		atomic_store_explicit(&q->granted, index + 1, memory_order_relaxed);
		client_consume(q, index);
		interpose_submit(q);
		granted = GRANT_RECORDED;
		if (ring == inflight_current(&q->inflight) &&
		    head == atomic_load_explicit(&ring->head, memory_order_relaxed))
			granted = GRANT_UNRECORDED;
	}
	interpose_end_turn(q);
	return granted;
}

void counted_grant_all(struct queue *q, uint32_t agent, const char *why)
{
	uint64_t from, asked;

	if (!queue_turn_wait(q))
		return;
	if (q->agent != agent) {
		interpose_end_turn(q);
		return;
	}
	from = atomic_load_explicit(&q->published, memory_order_relaxed);
	asked = q->asked;
	q->not_counted = why;
	atomic_store_explicit(&q->granted, UINT64_MAX, memory_order_relaxed);
	client_release(q->agent, from, asked);
	interpose_submit(q);
	if (q->answers)
		client_fail(q, from, asked, why);
	interpose_end_turn(q);
}

bool counted_is_quiet(struct queue *q, uint64_t *later)
{
	bool quiet;

	/* even if nothing is in flight: a thread that submits now may not know yet that it has to
	 * hold */
	if (!queue_turn_try(q))
		return false;
	quiet = collect_is_quiet(q, real_index_read(q), later);
	interpose_end_turn(q);
	return quiet;
}
