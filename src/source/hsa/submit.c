/* SPDX-License-Identifier: MIT */
/* submit.c - what happens to each packet before the hardware sees it
 *
 * Owns:     nothing; what it changes is the queue's.
 * Threads:  whatever thread rings the doorbell, one at a time for each queue (InterceptQueue's lock in
 *           ROCr 5.2 to 7.0).
 * Hot path: all but what is marked cold: no lock, no malloc, no system call but in the waits below.
 *
 * A DISPATCH WITHOUT A SIGNAL gets one of ours. ONE WITH ITS OWNER'S keeps it; the times are taken
 * from that signal before the owner can use it again (watch.h). That leaves the owner's waits, its
 * values and its hsa_amd_profiling_get_dispatch_time() as they are. It does not work when several
 * operations share a signal, since each overwrites the times of the one before: those dispatches get
 * our signal, and a barrier packet behind them, which waits for ours, completes the owner's on the
 * GPU.
 *
 * Before the hardware's ring can overflow the callback waits (room.c).
 */
#include "source/hsa/submit.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/join.h"
#include "event/life.h"
#include "event/pause.h"
#include "source/hsa/author.h"
#include "source/hsa/codeobj.h"
#include "source/hsa/harvest.h"
#include "source/hsa/queue.h"
#include "source/hsa/room.h"
#include "source/hsa/table.h"
#include "source/hsa/watch.h"

/* Not a time: this thread may be the one that does not run. About 200 ms where all do. */
#define FULL_WAIT_ROUNDS 800u

/* The ring holds twice what the hardware's does, so when it is full the harvester is behind: this
 * thread does its work. NULL: even that got nowhere in FULL_WAIT_ROUNDS looks, because an old
 * operation goes on and on while those behind it complete. It is waited for once. */
static RTL_COLD struct inflight *wait_for_entry(struct queue *q)
{
	uint64_t oldest = atomic_load_explicit(&q->ring.tail, memory_order_relaxed);
	unsigned rounds = q->gave_up == oldest + 1 ? 1 : FULL_WAIT_ROUNDS;
	struct inflight *e;

	for (unsigned i = 0; i < rounds; i++) {
		if (queue_try_lock(q)) {
			harvest_queue(q, clock_now_ns());
			queue_unlock(q);
		}
		e = inflight_next(&q->ring);
		if (e)
			return e;
		if (rounds > 1)
			room_pause(i);
	}
	q->gave_up = oldest + 1;
	return NULL;
}

/* Arms `e` for packet `p`, whose owner's signal stays on it. false: it can't be timed this way. */
static RTL_INLINE bool arm_owner(struct inflight *e, const union packet *p,
				 const struct inflight_ring *r)
{
	amd_signal_t *s = signal_of(p->dispatch.completion_signal);

	if (signal_value(s) != 1) /* a counting signal is shared by those that it counts */
		return false;
	inflight_set_signal(e, s);
	e->owned = false;
	e->start_value = 1;
	e->nr_looks = 0;
	atomic_store_explicit(&e->tainted, false, memory_order_relaxed);
	/* pairs with inflight_uses() and lock_any(): who comes from a signal that this entry had
	 * before sees that it is not the same */
	atomic_store_explicit(&e->state, INFLIGHT_FREE, memory_order_release);
	if (watch_add(s, e, r) != 0)
		return false;
	signal_clear_ticks(s);
	harvest_forget(s);
	return true;
}

static void describe_dispatch(struct inflight *e, const hsa_kernel_dispatch_packet_t *p)
{
	e->kind = INFLIGHT_DISPATCH;
	e->object = p->kernel_object;
	e->grid[0] = p->grid_size_x;
	e->grid[1] = p->grid_size_y;
	e->grid[2] = p->grid_size_z;
	e->group[0] = p->workgroup_size_x;
	e->group[1] = p->workgroup_size_y;
	e->group[2] = p->workgroup_size_z;
	e->private_size = p->private_segment_size;
	e->group_size = p->group_segment_size;
	e->epoch = codeobj_now();
}

/* A packet that is not timed may still end the life of a signal that we watch. */
static void pass(const union packet *p)
{
	uint32_t type = p->header & 0xff;

	if (type == HSA_PACKET_TYPE_VENDOR_SPECIFIC || type == HSA_PACKET_TYPE_INVALID ||
	    !p->dispatch.completion_signal.handle)
		return;
	watch_reuse(signal_of(p->dispatch.completion_signal));
	harvest_forget(signal_of(p->dispatch.completion_signal));
}

/* The signal that tells when `e` completes, on packet `p`. false: there is none. */
static RTL_INLINE bool choose_signal(struct queue *q, struct inflight *e, union packet *p)
{
	hsa_signal_t owner = p->dispatch.completion_signal;
	amd_signal_t *ours;

	e->owner = NULL;
	if (owner.handle && arm_owner(e, p, &q->ring))
		return true;
	ours = signal_take(&q->pool);
	if (!ours)
		return false;
	inflight_set_signal(e, ours);
	e->owned = true;
	e->owner = signal_of(owner);
	p->dispatch.completion_signal = signal_handle(ours);
	return true;
}

/* Completes the owner's signal behind `p`, which carries ours. */
static RTL_COLD void complete_owner(union packet *b, const union packet *p, amd_signal_t *owner)
{
	watch_reuse(owner);
	harvest_will_share(owner);
	room_empty_barrier(b, p->header & (uint16_t)~0x1ffu); /* fences yes, barrier bit no */
	b->barrier.dep_signal[0] = p->dispatch.completion_signal;
	b->barrier.completion_signal = signal_handle(owner);
}

/* A packet of a thread of HIP's own: from 5.4 on it carries the id of its call, else what the runtime asks and
 * tells names it later. */
static RTL_COLD void join_packet(const union packet *p, uint64_t owner, struct origin *o)
{
	struct join_call call;

	if ((p->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
	    join_begun(p->dispatch.reserved2, &call)) {
		o->correlation = call.correlation;
		o->marker = call.marker;
		o->tid = call.tid;
	} else if (owner) {
		join_wanted(owner, o->correlation);
	}
}

/* Instruments packet out[n]; returns the number of packets after it, n + 1 or n + 2. */
static RTL_INLINE uint64_t instrument(struct queue *q, struct thread *t, union packet *out,
				      uint64_t n, uint64_t index, uint16_t flags)
{
	union packet *p = &out[n];
	uint64_t owner = p->dispatch.completion_signal.handle;
	bool is_dispatch = (p->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
	struct inflight *e = inflight_next(&q->ring);
	struct origin origin;

	if (RTL_UNLIKELY(!e))
		e = wait_for_entry(q);
	if (RTL_UNLIKELY(!e)) {
		bus_loss(SPOOL_REASON_inflight_full, 1);
		pass(p);
		return n + 1;
	}
	if (RTL_UNLIKELY(!choose_signal(q, e, p))) {
		bus_loss(SPOOL_REASON_signal_create, 1);
		pass(p);
		return n + 1;
	}
	e->flags = flags | (owner ? REC_F_HAD_SIGNAL : 0) | (e->owner ? REC_F_SHARED : 0);
	if (is_dispatch) {
		describe_dispatch(e, &p->dispatch);
	} else {
		e->kind = INFLIGHT_BARRIER;
		e->object = p->header & 0xff;
	}
	origin = author_of(q, index, t);
	if (RTL_UNLIKELY(join_is_on()) && !origin.in_call)
		join_packet(p, owner, &origin);
	e->correlation = origin.correlation;
	e->marker = origin.marker;
	e->tid = origin.tid;
	e->packet = index;
	e->hw = q->written + n;
	q->last_seen = e->hw;
	if (e->owner)
		complete_owner(&out[++n], p, e->owner);
	/* release: whoever finds the entry by its signal sees it whole */
	atomic_store_explicit(&e->state, INFLIGHT_ARMED, memory_order_release);
	inflight_push(&q->ring);
	return n + 1;
}

/* Recording is paused, and nobody else wants to know. Only what a recorded call submits goes on. */
static RTL_COLD bool leave_out(struct queue *q, struct thread *t, const union packet *p,
			       uint64_t index)
{
	if (bus_never_pauses() || !corr_is_left_out(author_of(q, index, t).correlation))
		return false;
	if ((p->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH)
		bus_loss(SPOOL_REASON_paused, 1);
	return true;
}

/* A packet that is not a dispatch. */
static RTL_NOINLINE bool wanted_barrier(uint32_t type)
{
	static _Atomic int barriers = -1;
	int b;

	if (type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR)
		return false;
	b = atomic_load_explicit(&barriers, memory_order_relaxed);
	if (b < 0) {
		b = env_bool(ENV_BARRIERS);
		atomic_store_explicit(&barriers, b, memory_order_relaxed);
	}
	return b;
}

static inline bool wanted(struct queue *q, struct thread *t, const union packet *p, uint64_t index)
{
	uint32_t type = p->header & 0xff;

	if (RTL_UNLIKELY(pause_is_on()) && leave_out(q, t, p, index))
		return false;
	if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH)
		return wanted_barrier(type);
	if (RTL_LIKELY(table_mode != TABLE_MODE_LITE || !p->dispatch.completion_signal.handle))
		return true;
	bus_loss(SPOOL_REASON_lite_signal, 1);
	return false;
}

static inline void submit_one(struct queue *q, struct thread *t, const union packet *in,
			      uint64_t index, hsa_amd_queue_intercept_packet_writer writer)
{
	union packet out[3];
	uint64_t n = 1;

	out[0] = *in;
	/* the GPU wrote to it last */
	if (t && in->dispatch.completion_signal.handle)
		RTL_PREFETCH_WRITE(signal_of(in->dispatch.completion_signal));
	/* Room first: once the entry is published the harvester waits for its packet. */
	if (!room_make(q, 3))
		return; /* a dead queue: the hardware would never have looked at it */
	if (t && wanted(q, t, in, index))
		n = instrument(q, t, out, 0, index, 0);
	else
		pass(in);
	if (room_wants_gate(q))
		n = room_add_gate(q, out, n);
	q->written += n;
	writer(out, n);
}

/* Rewrites a batch; returns the new number of packets, at most 2 * count. */
static uint64_t instrument_batch(struct queue *q, struct thread *t, const union packet *in,
				 uint64_t count, uint64_t index)
{
	union packet *out = q->batch;
	uint64_t n = 0;

	for (uint64_t i = 0; i < count; i++) {
		out[n] = in[i];
		if (wanted(q, t, &in[i], index + i)) {
			n = instrument(q, t, out, n, index + i, REC_F_GRAPH);
		} else {
			pass(&in[i]);
			n++;
		}
	}
	return n;
}

static RTL_NOINLINE void submit_batch(struct queue *q, struct thread *t, const union packet *in,
				      uint64_t count, uint64_t index,
				      hsa_amd_queue_intercept_packet_writer writer)
{
	bool full = t && table_mode == TABLE_MODE_FULL && q->batch && 2 * count <= q->ring.mask + 1;
	uint64_t dispatches = 0, room = count;

	for (uint64_t i = 0; full && i < count; i++)
		room += in[i].dispatch.completion_signal.handle !=
			0; /* may need a barrier behind */
	/* Room first, as above; the packets of the batch itself tell nothing until they are written. */
	if (!room_make(q, room))
		return;
	if (full) {
		count = instrument_batch(q, t, in, count, index);
		in = q->batch;
	} else {
		for (uint64_t i = 0; i < count; i++) {
			dispatches += (in[i].header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
			pass(&in[i]);
		}
		if (t && dispatches)
			bus_loss(pause_is_on() ? SPOOL_REASON_paused : SPOOL_REASON_graph_batch,
				 dispatches);
	}
	q->written += count;
	writer(in, count);
}

/* HIP 6.4 dispatches from exit handlers; a signal handler may do so within a hook of ours. The
 * child of a fork is another process, which has no trace. */
static void count_left_out(const union packet *p, uint64_t count)
{
	int state = atomic_load_explicit(&life_state, memory_order_relaxed);
	uint64_t n = 0;

	if (state != LIFE_ON && state != LIFE_STOPPING && state != LIFE_STOPPED)
		return;
	for (uint64_t i = 0; i < count; i++)
		n += (p[i].header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
	if (n)
		bus_loss(pause_is_on()	  ? SPOOL_REASON_paused :
			 state == LIFE_ON ? SPOOL_REASON_reentrant :
					    SPOOL_REASON_late,
			 n);
}

/* For join.h: whatever has a signal that somebody may ask for its times. */
static RTL_COLD void tell_join(const struct queue *q, const union packet *p, uint64_t count,
			       uint64_t index)
{
	for (uint64_t i = 0; i < count; i++) {
		uint32_t type = p[i].header & 0xff;

		if (type != HSA_PACKET_TYPE_VENDOR_SPECIFIC && type != HSA_PACKET_TYPE_INVALID &&
		    p[i].dispatch.completion_signal.handle)
			join_submitted(p[i].dispatch.completion_signal.handle,
				       author_tid(q, index + i));
	}
}

void submit_packets(const void *packets, uint64_t count, uint64_t index, void *data,
		    hsa_amd_queue_intercept_packet_writer writer)
{
	struct queue *q = data;
	struct thread *t = NULL;

	/* Not ON (exit, fork): nothing is recorded, but the ring must not overflow all the same. */
	if (!life_enter(&t)) {
		t = NULL;
		count_left_out(packets, count);
	}
	if (RTL_UNLIKELY(join_is_on()) && t)
		tell_join(q, packets, count, index);
	if (count == 1)
		submit_one(q, t, packets, index, writer);
	else if (count > 1)
		submit_batch(q, t, packets, count, index, writer);
	else
		writer(packets, 0);
	if (t) {
		life_leave(t);
		/* a packet that is passed on leaves the harvester nothing to do */
		if (inflight_count(&q->ring))
			life_wake();
	}
}
