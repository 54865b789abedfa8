/* SPDX-License-Identifier: MIT */
/* intercept.c - intercept queues: the packet callback
 *
 * Owns:     nothing; the state is the queue's.
 * Threads:  the thread that rings the doorbell, one at a time for each queue (InterceptQueue's lock
 *           in ROCr 5.2 and later).
 * Hot path: everything not marked cold: no lock, no malloc, no system call but in the waits of
 *           back_pressure.c.
 * Quirk:    up to 7.0 a callback gets one packet; later ones get all valid packets, up to the whole
 *           ring. The callback calls the writer exactly once, with all of them: more calls may
 *           reorder packets or fail an assertion.
 */
#define LOG_TOPIC "hsa"
#include "source/hsa/queue/intercept.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/sys.h"
#include "event/bus.h"
#include "event/life.h"
#include "source/hsa/queue/back_pressure.h"
#include "source/hsa/queue/submit.h"
#include "source/hsa/table/real.h"

/* Instruments packet `index`, which is in plan->packet. */
static RTL_INLINE void plan_packet(struct queue *q, struct thread *t, struct packet_plan *plan,
				   uint64_t index)
{
	struct inflight *shared;

	plan->nr_before = plan->nr_after = 0;
	shared = submit_packet(q, t, &plan->packet, index);
	if (RTL_UNLIKELY(shared != NULL)) {
		packet_make_completion(&plan->after[plan->nr_after++], &plan->packet,
				       signal_handle(inflight_signal(shared)),
				       signal_handle(shared->owner));
		submit_shared(q, shared, q->pressure->written);
	}
}

/* The harvester is woken first: a system call behind the packets would delay this thread's next
 * one. Packets that are only passed on need no harvest. */
static inline void pass_on(struct queue *q, const union packet *packets, uint64_t n,
			   hsa_amd_queue_intercept_packet_writer writer)
{
	if (inflight_count(&q->inflight))
		life_wake();
	writer(packets, n);
}

static inline void submit_one(struct queue *q, struct thread *t, const union packet *in,
			      uint64_t index, hsa_amd_queue_intercept_packet_writer writer)
{
	union packet out[2 * PACKET_PLAN_SLOTS + 2];
	struct packet_plan plan;
	uint64_t n;

	plan.packet = *in;
	/* Wait first: once the entry is published the harvester waits for its packet. */
	if (!back_pressure_wait(q, ARRAY_SIZE(out)))
		return; /* a failed queue: the hardware would not process the packet */
	plan_packet(q, t, &plan, index);
	n = packet_plan_put(&plan, out);
	if (back_pressure_wants_gate(q))
		n = back_pressure_add_gate(q, out, n);
	q->pressure->written += n;
	pass_on(q, out, n, writer);
}

/* Makes the batch buffer large enough for `count` packets with those added around them. */
static RTL_COLD bool make_batch(struct queue *q, uint64_t count)
{
	uint64_t size = 2 * count;

	if (q->batch_size >= size)
		return true;
	alloc_pages_free(q->batch, q->batch_size * sizeof(*q->batch));
	q->batch = alloc_pages(size * sizeof(*q->batch));
	q->batch_size = q->batch ? size : 0;
	return q->batch != NULL;
}

static RTL_NOINLINE void submit_batch(struct queue *q, struct thread *t, const union packet *in,
				      uint64_t count, uint64_t index,
				      hsa_amd_queue_intercept_packet_writer writer)
{
	uint64_t n = 0;

	if (!make_batch(q, count)) {
		bus_loss(SPOOL_REASON_inflight_full, count);
		log_warn("queue %u: no memory for a batch of %llu packets; they are not traced",
			 q->index, (unsigned long long)count);
		q->pressure->written += count;
		writer(in, count);
		return;
	}
	/* Wait first, as above; packets of the batch itself report no progress until they are
	 * written. */
	if (!back_pressure_wait(q, 2 * count))
		return;
	for (uint64_t i = 0; i < count; i++) {
		struct packet_plan plan;
		uint32_t added;

		plan.packet = in[i];
		plan_packet(q, t, &plan, index + i);
		added = packet_plan_put(&plan, &q->batch[n]);
		q->pressure->written += added;
		n += added;
	}
	pass_on(q, q->batch, n, writer);
}

struct batch {
	struct queue *q;
	struct thread *t; /* NULL: not in a hook */
	const union packet *packets;
	uint64_t count, index;
	hsa_amd_queue_intercept_packet_writer writer;
};

/* Under the turn, which is given back. */
static void submit(const struct batch *b)
{
	if (b->count == 1)
		submit_one(b->q, b->t, b->packets, b->index, b->writer);
	else if (b->count > 1)
		submit_batch(b->q, b->t, b->packets, b->count, b->index, b->writer);
	else
		b->writer(b->packets, 0);
	queue_turn_end(b->q);
}

static void call_listeners(void *arg)
{
	const struct batch *b = arg;

	for (uint64_t i = 0; i < b->count; i++)
		submit_notify(b->q, &b->packets[i], b->index + i);
}

static void on_listener_left(void *arg)
{
	submit(arg);
}

static void on_packets(const void *packets, uint64_t count, uint64_t index, void *data,
		       hsa_amd_queue_intercept_packet_writer writer)
{
	struct batch b = { data, NULL, packets, count, index, writer };
	struct queue *q = data;
	struct thread *t = NULL;

	sys_cancel_off();
	/* the harvester may be destroying signals */
	if (!queue_turn_wait(q)) {
		sys_cancel_on();
		return; /* a failed queue, as in submit_one() */
	}
	/* Not ON (exit, fork): nothing is recorded, but the ring must not overflow. */
	if (!life_enter(&t)) {
		t = NULL;
		submit_count_left_out(q, packets, count);
	}
	b.t = t;
	if (RTL_UNLIKELY(special_any(SPECIAL_LISTENED)))
		life_callout(call_listeners, on_listener_left, &b);
	submit(&b);
	if (t)
		life_leave(t);
	sys_cancel_on();
}

int intercept_prepare(struct queue *q, uint32_t size)
{
	q->intercepted = true;
	return back_pressure_init(q, size);
}

hsa_status_t intercept_attach(struct queue *q, hsa_queue_t *hsa)
{
	hsa_status_t status;

	q->size = hsa->size;
	/* first, so that no other thread finds it: if this fails `q` is used for another queue */
	status = real.hsa_amd_queue_intercept_register(hsa, on_packets, q);
	if (status == HSA_STATUS_SUCCESS && queue_attach(q, hsa) != 0)
		status = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	return status;
}
