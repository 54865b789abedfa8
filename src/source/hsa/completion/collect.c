/* SPDX-License-Identifier: MIT */
/* collect.c - records the operations of one queue that the GPU has completed
 *
 * Threads:  the holder of the queue's harvest lock: the harvester; a thread that waits for an
 *           operation, submits to a full ring of entries, destroys the queue or ends the process.
 * Hot path: collect_completed(): a program that synchronises waits for it.
 */
#include "source/hsa/completion/collect.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/sys.h"
#include "event/block.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/thread.h"
#include "source/hsa/agent.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/poll.h"
#include "source/hsa/completion/shared_times.h"
#include "source/hsa/counter/counter.h"
#include "source/hsa/queue/back_pressure.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/queue/queue.h"

/* Packets of a queue without barrier bits may complete out of order. The scan goes on past the
 * first pending entry, for a few entries each time and for all of them now and then. */
#define LOOK_AHEAD 64u
#define FULL_SCAN_NS UINT64_C(20000000)
#define GIVE_UP_ROUNDS 500u /* of 0.1 ms */

/* Consecutive dispatches mostly have the same kernel: the last look-up is cached. */
static inline uint32_t kernel_of(struct queue *q, uint64_t object, uint32_t epoch)
{
	if (RTL_UNLIKELY(q->last_object != object || q->last_epoch != epoch)) {
		q->last_kernel = code_object_kernel(object, epoch, q->agent, false);
		q->last_object = object;
		q->last_epoch = epoch;
	}
	return q->last_kernel;
}

/* gfx1250's packet has its kernel and memory fields at other offsets, and its grid in clusters. */
static RTL_COLD void describe_ext(struct event_dispatch *d, const struct packet_ext_dispatch *p)
{
	uint32_t clusters[3] = { p->cluster_count_x, p->cluster_count_y, p->cluster_count_z };

	for (int i = 0; i < 3; i++) {
		d->grid[i] = clusters[i] * p->cluster_size[i] * p->workgroup_size[i];
		d->group[i] = p->workgroup_size[i];
	}
	d->private_size = p->private_segment_size;
	d->group_size = p->group_segment_size;
}

/* Returns the kernel object. */
static inline uint64_t describe(struct event_dispatch *d, const struct packet_head *head)
{
	union packet p;

	packet_of_head(&p, head);
	if (RTL_UNLIKELY(packet_type(p.header) != HSA_PACKET_TYPE_KERNEL_DISPATCH)) {
		describe_ext(d, &p.ext);
		return p.ext.kernel_object;
	}
	d->grid[0] = p.dispatch.grid_size_x;
	d->grid[1] = p.dispatch.grid_size_y;
	d->grid[2] = p.dispatch.grid_size_z;
	d->group[0] = p.dispatch.workgroup_size_x;
	d->group[1] = p.dispatch.workgroup_size_y;
	d->group[2] = p.dispatch.workgroup_size_z;
	d->private_size = p.dispatch.private_segment_size;
	d->group_size = p.dispatch.group_segment_size;
	return p.dispatch.kernel_object;
}

static _Thread_local uint32_t collect_epoch; /* of the dispatch whose event is being emitted */

uint32_t collect_epoch_of_event(void)
{
	return collect_epoch;
}

uint64_t collect_describe(struct event_dispatch *d, const struct packet_head *head)
{
	return describe(d, head);
}

static void emit_dispatch(struct queue *q, const struct inflight *e, uint64_t begin, uint64_t end,
			  uint64_t begin_ns, uint64_t end_ns, uint16_t flags)
{
	struct event ev;
	struct event_dispatch *d = &ev.dispatch; /* every field is set */

	if (RTL_UNLIKELY(!bus_wants(EVENT_DISPATCH)))
		return;
	collect_epoch = e->epoch;
	ev.kind = EVENT_DISPATCH;
	d->begin_ticks = begin;
	d->end_ticks = end;
	d->begin_ns = begin_ns;
	d->end_ns = end_ns;
	d->packet = e->packet;
	d->correlation = e->correlation;
	d->marker = e->marker;
	d->kernel = kernel_of(q, describe(d, &e->head), e->epoch);
	d->queue = q->index;
	d->reserved = 0;
	d->tid = (uint32_t)e->submitter;
	d->flags = flags;
	bus_emit_wanted(&ev);
}

static void emit_barrier(const struct queue *q, const struct inflight *e, uint64_t begin_ns,
			 uint64_t end_ns, uint16_t flags)
{
	struct event ev = { .kind = EVENT_BARRIER };
	union packet p;

	if (RTL_UNLIKELY(!bus_wants(EVENT_BARRIER)))
		return;
	packet_of_head(&p, &e->head);
	ev.barrier.begin_ns = begin_ns;
	ev.barrier.end_ns = end_ns;
	ev.barrier.packet = e->packet;
	ev.barrier.correlation = e->correlation;
	ev.barrier.queue = q->index;
	ev.barrier.kind = packet_type(p.header);
	ev.barrier.tid = (uint32_t)e->submitter;
	ev.barrier.flags = flags;
	bus_emit_wanted(&ev);
}

static void record(struct queue *q, struct inflight *e, enum inflight_result r, uint64_t begin,
		   uint64_t end)
{
	uint64_t begin_ns = 0, end_ns = 0;
	uint16_t flags = e->flags;

	e->nr_looks = INFLIGHT_RECORDING;
	if (!e->correlation)
		e->correlation = corr_of_orphan(thread_get(), !(e->submitter & THREAD_LEFT_OUT));
	if (r == INFLIGHT_TIMED) {
		end_ns = agent_piece_ns(&q->clock, q->agent, end);
		begin_ns = RTL_LIKELY(gpu_clock_covers(&q->clock, begin)) ?
				   gpu_clock_ns(&q->clock, begin) :
				   agent_system_ns(q->agent, begin);
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
	counter_recorded(q, e, begin_ns, end_ns);
	if (flags & REC_F_SHARED) {
		bus_loss_of(e->correlation, SPOOL_REASON_shared_signal);
		if (r == INFLIGHT_TIMED)
			shared_times_keep(e->owner, agent_runtime_ns(q->agent, begin),
					  agent_runtime_ns(q->agent, end));
	}
}

/* Number of barrier packets for shared signals that the hardware has passed. */
static RTL_COLD uint64_t passed_barriers(const struct queue *q)
{
	return q->intercepted ? atomic_load_explicit(&q->pressure->passed, memory_order_relaxed) :
				completer_passed(q);
}

/* `e` was recorded. Frees it if the barrier packet that reads its signal is before `passed`. */
static RTL_COLD void settle_held(struct queue *q, struct inflight *e, uint64_t passed)
{
	if (e->hw + q->intercepted >= passed)
		return;
	q->nr_held--;
	inflight_reset_signal(e);
	inflight_done(e);
}

/* Frees the entry. */
static void give_back(struct queue *q, struct inflight *e, bool completed)
{
	if (atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_OURS) {
		; /* its owner's signal: see signal_map.c */
	} else if (RTL_UNLIKELY(!completed)) {
		/* The GPU may still write to the signal: it is never used again. */
		if (q->intercepted)
			back_pressure_orphaned(q, inflight_signal(e), e->hw);
		atomic_store_explicit(&e->ours, NULL, memory_order_relaxed);
	} else if (RTL_UNLIKELY(e->flags & REC_F_SHARED)) {
		q->nr_held++;
		atomic_store_explicit(&e->state, INFLIGHT_HELD, memory_order_relaxed);
		return;
	} else {
		inflight_reset_signal(e);
	}
	inflight_done(e);
}

static void advance(struct inflight_ring *r, uint64_t head)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed); /* owner */

	while (tail < head) {
		struct inflight *e = &r->entry[tail & r->mask];

		if (atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_DONE)
			break;
		tail++;
	}
	/* pairs with the acquire in inflight_next(): the entries are free before tail is past
	 * them */
	atomic_store_explicit(&r->tail, tail, memory_order_release);
}

static void settle(struct queue *q, struct inflight *e, enum inflight_result r, uint64_t begin,
		   uint64_t end)
{
	record(q, e, r, begin, end);
	if (q->intercepted && r != INFLIGHT_PENDING)
		back_pressure_saw(q, e->hw);
	give_back(q, e, r != INFLIGHT_PENDING);
}

/* Whether the packet of `e` begins only when all packets before it have completed. */
static inline bool has_barrier_bit(const struct inflight *e)
{
	union packet p;

	packet_of_head(&p, &e->head);
	return p.header >> HSA_PACKET_HEADER_BARRIER & 1;
}

/* Visits the entries of `r` that are not DONE, until `limit` of them are found pending. `in_order`:
 * stops as well at a packet with the barrier bit behind a pending one. */
static uint32_t collect_ring(struct queue *q, struct inflight_ring *r, uint64_t limit,
			     bool in_order)
{
	uint64_t i = atomic_load_explicit(&r->tail, memory_order_relaxed);
	/* pairs with the release in inflight_push() */
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
	uint64_t ahead = 0, passed = RTL_UNLIKELY(q->nr_held) ? passed_barriers(q) : 0;
	uint32_t n = 0, held = q->nr_held;

	for (; i < head && ahead < limit; i++) {
		struct inflight *e = &r->entry[i & r->mask];
		uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);
		uint64_t begin = 0, end = 0;
		enum inflight_result result;

		if (state == INFLIGHT_DONE)
			continue;
		if (RTL_UNLIKELY(state == INFLIGHT_HELD)) {
			settle_held(q, e, passed);
			continue;
		}
		/* neither this packet nor a later one has begun */
		if (in_order && ahead && has_barrier_bit(e))
			break;
		result = poll_entry(e, &begin, &end);
		if (result == INFLIGHT_PENDING) {
			ahead++;
			continue;
		}
		if (result != INFLIGHT_TIMED) /* the values read belong to another operation */
			begin = end = 0;
		settle(q, e, result, begin, end);
		n++;
	}
	if (n || q->nr_held != held)
		advance(r, head);
	return n;
}

static uint32_t collect_rings(struct queue *q, uint64_t limit, bool in_order)
{
	/* acquire: pairs with inflight_grow(); the next call sees entries that are pushed later */
	const struct inflight_ring *current =
		atomic_load_explicit(&q->inflight.current, memory_order_acquire);
	uint32_t n = 0;

	for (struct inflight_ring *r = q->inflight.ring; r <= current; r++)
		n += collect_ring(q, r, limit, in_order);
	return n;
}

uint32_t collect_queue(struct queue *q, uint64_t now_ns)
{
	if (now_ns - q->stuck_scan_ns <= FULL_SCAN_NS)
		return collect_rings(q, LOOK_AHEAD, false);
	q->stuck_scan_ns = now_ns;
	return collect_rings(q, UINT64_MAX, false);
}

uint32_t collect_completed(struct queue *q)
{
	return collect_rings(q, UINT64_MAX, true);
}

void collect_give_up(struct queue *q)
{
	const struct timespec nap = { .tv_nsec = 100000 };

	/* The wait has a bound: this thread may itself be inside the section that holds the
	 * lock. */
	for (unsigned i = 0; i < GIVE_UP_ROUNDS; i++) {
		if (queue_try_lock(q)) {
			collect_finish(q, clock_now_ns());
			queue_unlock(q);
			return;
		}
		sys_nap(&nap);
	}
}

static void finish_ring(struct queue *q, struct inflight_ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);

	for (uint64_t i = atomic_load_explicit(&r->tail, memory_order_relaxed); i < head; i++) {
		struct inflight *e = &r->entry[i & r->mask];
		uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);

		if (state == INFLIGHT_HELD) {
			/* No packet is submitted after this; the completer's queue is destroyed
			 * before the signal. */
			q->nr_held--;
			inflight_done(e);
		} else if (state != INFLIGHT_DONE) {
			settle(q, e, INFLIGHT_PENDING, 0, 0);
		}
	}
	advance(r, head);
}

static void note_unfinished(struct queue *q, struct inflight *e)
{
	uint16_t flags = e->flags | REC_F_UNFINISHED;

	if (!e->correlation)
		e->correlation = corr_of_orphan(thread_get(), !(e->submitter & THREAD_LEFT_OUT));
	bus_loss_of(e->correlation, SPOOL_REASON_unfinished);
	if (e->kind == INFLIGHT_BARRIER)
		emit_barrier(q, e, 0, 0, flags);
	else
		emit_dispatch(q, e, 0, 0, 0, 0, flags);
	e->correlation |= EVENT_LEFT_OUT;
}

void collect_untraced(struct queue *q)
{
	for (uint32_t k = 0; k < q->inflight.nr; k++) {
		struct inflight_ring *r = &q->inflight.ring[k];
		/* relaxed, all: this thread has both locks */
		uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
		uint64_t i = atomic_load_explicit(&r->tail, memory_order_relaxed);

		if (!r->entry || block_is_traced(r->entry))
			continue;
		for (; i < head; i++) {
			struct inflight *e = &r->entry[i & r->mask];
			uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);

			if (state != INFLIGHT_DONE && state != INFLIGHT_HELD &&
			    !(e->correlation & EVENT_LEFT_OUT))
				note_unfinished(q, e);
		}
	}
}

void collect_finish(struct queue *q, uint64_t now_ns)
{
	q->stuck_scan_ns = 0;
	collect_queue(q, now_ns);
	for (uint32_t i = 0; i < q->inflight.nr; i++)
		finish_ring(q, &q->inflight.ring[i]);
}

bool collect_is_quiet(struct queue *q, uint64_t taken, uint64_t *later)
{
	bool quiet;

	if (inflight_is_empty(&q->inflight))
		return true;
	if (!queue_try_lock(q))
		return false;
	collect_queue(q, clock_now_ns());
	quiet = !inflight_has_running(&q->inflight, taken, q->asked_from, q->asked, later);
	queue_unlock(q);
	return quiet;
}
