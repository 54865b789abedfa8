/* SPDX-License-Identifier: MIT */
/* collect.c - records what the GPU has completed of one queue
 *
 * Threads:  the holder of the queue's harvest lock: the harvester; a thread that submits to a full ring of
 *           entries; whoever destroys the queue or ends the process.
 * Hot path: collect_queue(): with synchronisation it is what the program waits for.
 */
#include "source/hsa/completion/collect.h"

#include <stdatomic.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "event/bus.h"
#include "source/hsa/agent.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/poll.h"
#include "source/hsa/completion/shared_times.h"
#include "source/hsa/queue/back_pressure.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/table/real.h"

/* Packets of a queue without barrier bits may complete out of order. Looking past the first that
 * has not is cheap for a few, and done for all now and then. */
#define LOOK_AHEAD 64u
#define FULL_SCAN_NS UINT64_C(20000000)
#define GIVE_UP_ROUNDS 500u /* of 0.1 ms */

/* ROCr converts the end first as well (GpuAgent::TranslateTime): a clock update in between then
 * does not lengthen the dispatch. */
static void convert(uint32_t agent, uint64_t begin, uint64_t end, uint64_t *begin_ns,
		    uint64_t *end_ns)
{
	hsa_agent_t a = agent_handle(agent);

	*begin_ns = *end_ns = 0;
	real.hsa_amd_profiling_convert_tick_to_system_domain(a, end, end_ns);
	real.hsa_amd_profiling_convert_tick_to_system_domain(a, begin, begin_ns);
	agent_saw_tick(agent, end);
}

/* The same as the last one's, mostly: no look-up then. */
static inline uint32_t kernel_of(struct queue *q, const struct inflight *e)
{
	if (RTL_UNLIKELY(q->last_object != e->object || q->last_epoch != e->epoch)) {
		q->last_kernel = code_object_kernel(e->object, e->epoch, q->agent, false);
		q->last_object = e->object;
		q->last_epoch = e->epoch;
	}
	return q->last_kernel;
}

static void emit_dispatch(struct queue *q, const struct inflight *e, uint64_t begin, uint64_t end,
			  uint64_t begin_ns, uint64_t end_ns, uint16_t flags)
{
	struct event ev = { .kind = EVENT_DISPATCH };
	struct event_dispatch *d = &ev.dispatch;

	d->begin_ticks = begin;
	d->end_ticks = end;
	d->begin_ns = begin_ns;
	d->end_ns = end_ns;
	d->packet = e->packet;
	d->correlation = e->correlation;
	d->marker = e->marker;
	d->kernel = kernel_of(q, e);
	d->queue = q->index;
	d->tid = e->tid;
	for (int i = 0; i < 3; i++) {
		d->grid[i] = e->grid[i];
		d->group[i] = e->group[i];
	}
	d->private_size = e->private_size;
	d->group_size = e->group_size;
	d->flags = flags;
	bus_emit(&ev);
}

static void emit_barrier(const struct queue *q, const struct inflight *e, uint64_t begin_ns,
			 uint64_t end_ns, uint16_t flags)
{
	struct event ev = { .kind = EVENT_BARRIER };

	ev.barrier.begin_ns = begin_ns;
	ev.barrier.end_ns = end_ns;
	ev.barrier.packet = e->packet;
	ev.barrier.correlation = e->correlation;
	ev.barrier.queue = q->index;
	ev.barrier.kind = (uint32_t)e->object;
	ev.barrier.tid = e->tid;
	ev.barrier.flags = flags;
	bus_emit(&ev);
}

static void record(struct queue *q, struct inflight *e, enum inflight_result r, uint64_t begin,
		   uint64_t end)
{
	uint64_t begin_ns = 0, end_ns = 0;
	uint16_t flags = e->flags;

	if (r == INFLIGHT_TIMED) {
		convert(q->agent, begin, end, &begin_ns, &end_ns);
		if (end < begin) {
			flags |= REC_F_INVERTED;
			bus_loss_of(e->correlation, SPOOL_REASON_inverted);
		}
	} else if (r == INFLIGHT_PENDING) {
		flags |= REC_F_UNFINISHED;
		bus_loss_of(e->correlation, SPOOL_REASON_unfinished);
	} else {
		flags |= REC_F_NO_TIME;
		bus_loss_of(e->correlation, r == INFLIGHT_UNTIMED ? SPOOL_REASON_no_timestamps :
								    SPOOL_REASON_signal_reused);
	}
	if (e->kind == INFLIGHT_BARRIER)
		emit_barrier(q, e, begin_ns, end_ns, flags);
	else
		emit_dispatch(q, e, begin, end, begin_ns, end_ns, flags);
	if (flags & REC_F_SHARED) {
		bus_loss_of(e->correlation, SPOOL_REASON_shared_signal);
		if (r == INFLIGHT_TIMED)
			shared_times_keep(e->owner, begin_ns, end_ns);
	}
}

/* Signals whose barrier packet the hardware has passed may be used again. */
static RTL_COLD void release_held(struct queue *q)
{
	uint64_t passed = q->intercepted ?
				  atomic_load_explicit(&q->pressure->passed, memory_order_relaxed) :
				  completer_passed(q);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < q->nr_held; i++) {
		if (q->held[i].until < passed)
			signal_pool_put(&q->pool, q->held[i].signal);
		else
			q->held[kept++] = q->held[i];
	}
	q->nr_held = kept;
}

/* A barrier packet may still read it. */
static RTL_COLD void hold(struct queue *q, const struct inflight *e)
{
	if (!q->held)
		q->held = alloc_pages((q->ring.mask + 1) * sizeof(*q->held));
	if (q->nr_held > q->ring.mask / 2)
		release_held(q);
	/* else it is never used again: there is no memory, or as many barriers stand still as the ring has entries */
	if (q->held && q->nr_held <= q->ring.mask)
		q->held[q->nr_held++] =
			(struct queue_held){ inflight_signal(e), e->hw + q->intercepted };
}

static void give_back(struct queue *q, const struct inflight *e, bool completed)
{
	amd_signal_t *s = inflight_signal(e);

	if (atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_OURS)
		return; /* its owner's: see signal_map.c */
	if (RTL_UNLIKELY(!completed)) {
		/* The GPU may still write to it: it is left alone for ever. */
		if (q->intercepted)
			back_pressure_orphaned(q, s, e->hw);
	} else if (RTL_UNLIKELY(e->flags & REC_F_SHARED)) {
		hold(q, e);
	} else {
		signal_pool_put(&q->pool, s);
	}
}

static void advance(struct queue *q, uint64_t head)
{
	uint64_t tail = atomic_load_explicit(&q->ring.tail, memory_order_relaxed); /* owner */

	while (tail < head) {
		struct inflight *e = &q->ring.entry[tail & q->ring.mask];

		if (atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_DONE)
			break;
		tail++;
	}
	/* pairs with the acquire in inflight_next(): the entries are free before tail is past them */
	atomic_store_explicit(&q->ring.tail, tail, memory_order_release);
}

static void settle(struct queue *q, struct inflight *e, enum inflight_result r, uint64_t begin,
		   uint64_t end)
{
	record(q, e, r, begin, end);
	if (q->intercepted && r != INFLIGHT_PENDING)
		back_pressure_saw(q, e->hw);
	give_back(q, e, r != INFLIGHT_PENDING);
	inflight_done(e);
}

uint32_t collect_queue(struct queue *q, uint64_t now_ns)
{
	uint64_t i = atomic_load_explicit(&q->ring.tail, memory_order_relaxed);
	/* pairs with the release in inflight_push() */
	uint64_t head = atomic_load_explicit(&q->ring.head, memory_order_acquire);
	uint64_t ahead = 0, limit = LOOK_AHEAD;
	uint32_t n = 0;

	if (head - i > q->high_water)
		q->high_water = head - i;
	if (now_ns - q->stuck_scan_ns > FULL_SCAN_NS) {
		q->stuck_scan_ns = now_ns;
		limit = UINT64_MAX;
	}
	for (; i < head && ahead < limit; i++) {
		struct inflight *e = &q->ring.entry[i & q->ring.mask];
		uint64_t begin = 0, end = 0;
		enum inflight_result r;

		if (atomic_load_explicit(&e->state, memory_order_relaxed) == INFLIGHT_DONE)
			continue;
		r = poll_entry(e, &begin, &end);
		if (r == INFLIGHT_PENDING) {
			ahead++;
			continue;
		}
		if (r != INFLIGHT_TIMED) /* what was read is not this operation's */
			begin = end = 0;
		settle(q, e, r, begin, end);
		n++;
	}
	if (n)
		advance(q, head);
	if (RTL_UNLIKELY(q->nr_held))
		release_held(q);
	return n;
}

void collect_give_up(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 100000 };

	/* its holder harvests one queue; a thread that is itself inside of that must not wait for ever */
	for (unsigned i = 0; i < GIVE_UP_ROUNDS; i++) {
		if (queue_try_lock(q)) {
			collect_finish(q, clock_now_ns());
			queue_unlock(q);
			return;
		}
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
}

void collect_finish(struct queue *q, uint64_t now_ns)
{
	uint64_t head;

	q->stuck_scan_ns = 0;
	collect_queue(q, now_ns);
	head = atomic_load_explicit(&q->ring.head, memory_order_acquire);
	for (uint64_t i = atomic_load_explicit(&q->ring.tail, memory_order_relaxed); i < head;
	     i++) {
		struct inflight *e = &q->ring.entry[i & q->ring.mask];

		if (atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_DONE)
			settle(q, e, INFLIGHT_PENDING, 0, 0);
	}
	advance(q, head);
}
