/* SPDX-License-Identifier: MIT */
/* announce.c - reads the packets that a doorbell will submit, while they are held back
 *
 * Threads: that which rings the doorbell, before it does; announce_waiting(): that which closes the
 * trace.
 * Fails:   a dispatch that is not announced is submitted as ever.
 */
#include "source/hsa/queue/announce.h"

#include "event/bus.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/queue/interpose.h"

static void announce(struct queue *q, struct thread *t, const union packet *p, uint64_t index,
		     submit_taken_fn fn)
{
	const struct origin_note *n = origin_find(q, index);
	struct event_dispatch d = { .packet = index, .queue = q->index };
	struct packet_head head;

	if (!n || !packet_is_dispatch(p) ||
	    atomic_load_explicit(&n->submitter, memory_order_relaxed) != t->submitter)
		return;
	d.correlation = origin_id(q, t, index);
	if (!d.correlation)
		return;
	d.marker = atomic_load_explicit(&n->marker, memory_order_relaxed);
	d.tid = (uint32_t)t->submitter;
	packet_keep_head(&head, p);
	d.kernel =
		code_object_kernel(collect_describe(&d, &head), code_object_now(), q->agent, false);
	fn(&d);
}

static void announce_queue(struct queue *q, struct thread *t, uint64_t end, submit_taken_fn fn)
{
	uint64_t i = atomic_load_explicit(&q->published, memory_order_relaxed);
	/* acquire: pairs with the release of the reserving thread */
	uint64_t reserved = atomic_load_explicit(&q->reserved, memory_order_acquire);

	end = interpose_free_end(q, end < reserved ? end : reserved);
	for (; i < end; i++) {
		const union packet *p = &q->packets[i & q->packet_mask];

		/* acquire: pairs with the release by which the program publishes a packet */
		if (packet_type(__atomic_load_n(&p->header, __ATOMIC_ACQUIRE)) ==
		    HSA_PACKET_TYPE_INVALID)
			return;
		announce(q, t, p, i, fn);
	}
}

struct queue *announce_dispatches(hsa_signal_t doorbell, hsa_signal_value_t value,
				  submit_taken_fn fn)
{
	struct queue *q = queue_find_doorbell(doorbell.handle), *announced = NULL;
	struct thread *t;

	if (!q || q->intercepted || atomic_load_explicit(&q->bypassed, memory_order_relaxed) ||
	    !life_enter(&t))
		return NULL;
	if (queue_turn_soon(q)) {
		if (!atomic_load_explicit(&q->bypassed, memory_order_relaxed)) {
			announced = q;
			/* relaxed: read under the turn */
			atomic_fetch_add_explicit(&q->nr_announcing, 1, memory_order_relaxed);
			announce_queue(q, t, (uint64_t)value + 1, fn);
		}
		interpose_end_turn(q);
	}
	life_leave(t);
	return announced;
}

void announce_over(struct queue *q)
{
	/* relaxed: the harvester may look once more in vain */
	if (q)
		atomic_fetch_sub_explicit(&q->nr_announcing, 1, memory_order_relaxed);
}

void announce_left(struct queue *q, uint64_t end)
{
	announce_over(q);
	if (q)
		interpose_expect(q, end);
}

static void note_unfinished(struct queue *q, const union packet *p, uint64_t index)
{
	struct origin_note *n = &q->origin[index & q->origin_mask];
	uint64_t id = origin_find(q, index) ?
			      atomic_load_explicit(&n->correlation, memory_order_relaxed) :
			      0;
	struct event ev = { .kind = EVENT_DISPATCH };
	struct packet_head head;

	/* 0: of no call, and no call in the trace misses it */
	if (!id || id & EVENT_LEFT_OUT)
		return;
	packet_keep_head(&head, p);
	ev.dispatch.kernel = code_object_kernel(collect_describe(&ev.dispatch, &head),
						code_object_now(), q->agent, false);
	ev.dispatch.packet = index;
	ev.dispatch.correlation = id & ~EVENT_MISSED;
	ev.dispatch.marker = atomic_load_explicit(&n->marker, memory_order_relaxed);
	ev.dispatch.queue = q->index;
	ev.dispatch.tid = (uint32_t)atomic_load_explicit(&n->submitter, memory_order_relaxed);
	ev.dispatch.flags = REC_F_UNFINISHED;
	bus_emit(&ev);
	bus_loss(SPOOL_REASON_unfinished, 1);
	/* relaxed: the thread that submits takes the turn after this one */
	atomic_store_explicit(&n->correlation, id | EVENT_LEFT_OUT, memory_order_relaxed);
}

void announce_waiting(struct queue *q)
{
	uint64_t i = atomic_load_explicit(&q->published, memory_order_relaxed);
	/* acquire: pairs with the release of the reserving thread */
	uint64_t end = atomic_load_explicit(&q->reserved, memory_order_acquire);

	if (atomic_load_explicit(&q->bypassed, memory_order_relaxed) || end <= i)
		return;
	end = interpose_free_end(q, end);
	for (; i < end; i++) {
		const union packet *p = &q->packets[i & q->packet_mask];

		/* acquire: pairs with the release by which the program publishes a packet */
		if (packet_type(__atomic_load_n(&p->header, __ATOMIC_ACQUIRE)) !=
			    HSA_PACKET_TYPE_INVALID &&
		    packet_is_dispatch(p))
			note_unfinished(q, p, i);
	}
}
