/* SPDX-License-Identifier: MIT */
/* submit.c - instruments each packet before the hardware sees it
 *
 * Owns:     nothing; the state is the queue's.
 * Threads:  the holder of the queue's turn.
 * Hot path: everything not marked cold: no lock, no malloc, no system call but in the wait below.
 *
 * A DISPATCH WITHOUT A SIGNAL gets one of librtl's. ONE WITH ITS OWNER'S keeps it; librtl takes the
 * times from that signal before the owner can use it again (signal_map.h). The owner's waits,
 * signal values and hsa_amd_profiling_get_dispatch_time() are unchanged. This does not work when
 * several operations share a signal, since each overwrites the times of the previous one: those
 * dispatches get librtl's signal, and a barrier packet that waits for it completes the owner's on
 * the GPU.
 */
#include "source/hsa/queue/submit.h"

#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/sys.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/filter.h"
#include "event/join.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/special.h"
#include "source/hsa/code/code_object.h"
#include "source/hsa/completion/collect.h"
#include "source/hsa/completion/shared_times.h"
#include "source/hsa/completion/signal_map.h"
#include "source/hsa/mode.h"
#include "source/hsa/queue/back_pressure.h"
#include "source/hsa/queue/completer.h"
#include "source/hsa/queue/origin.h"
#include "source/hsa/queue/shared_calls.h"

/* Rounds, not a time: this thread may be the one that is not scheduled. About 200 ms at full speed.
 */
#define FULL_WAIT_ROUNDS 800u

static _Atomic submit_listener_fn listeners[SUBMIT_MAX_LISTENERS];
static _Atomic submit_taken_fn takers[SUBMIT_MAX_TAKERS];

bool submit_listen(submit_listener_fn fn)
{
	for (uint32_t i = 0; i < SUBMIT_MAX_LISTENERS; i++) {
		submit_listener_fn none = NULL;

		/* release: pairs with submit_notify() */
		if (!atomic_compare_exchange_strong_explicit(&listeners[i], &none, fn,
							     memory_order_release,
							     memory_order_relaxed))
			continue;
		special_set(SPECIAL_LISTENED, true);
		return true;
	}
	return false;
}

bool submit_listen_taken(submit_taken_fn fn)
{
	for (uint32_t i = 0; i < SUBMIT_MAX_TAKERS; i++) {
		submit_taken_fn none = NULL;

		/* release: pairs with notify_taken() */
		if (!atomic_compare_exchange_strong_explicit(&takers[i], &none, fn,
							     memory_order_release,
							     memory_order_relaxed))
			continue;
		special_set(SPECIAL_LISTENED, true);
		return true;
	}
	return false;
}

/* `e` is filled, but for its state. */
static RTL_COLD void notify_taken(const struct queue *q, const struct inflight *e)
{
	struct event_dispatch d = { .packet = e->packet,
				    .correlation = e->correlation,
				    .marker = e->marker,
				    .queue = q->index,
				    .tid = (uint32_t)e->submitter,
				    .flags = e->flags };

	if (e->kind != INFLIGHT_DISPATCH || !atomic_load_explicit(&takers[0], memory_order_relaxed))
		return;
	d.kernel = code_object_kernel(collect_describe(&d, &e->head), e->epoch, q->agent, false);
	sys_cancel_off(); /* under the turn */
	for (uint32_t i = 0; i < SUBMIT_MAX_TAKERS; i++) {
		/* acquire: pairs with submit_listen_taken() */
		submit_taken_fn fn = atomic_load_explicit(&takers[i], memory_order_acquire);

		if (fn)
			fn(&d);
	}
	sys_cancel_on();
}

/* The largest ring holds twice as many entries as the hardware's ring, so if it is full the
 * harvester is behind: this thread harvests instead. NULL: no entry became free in FULL_WAIT_ROUNDS
 * rounds, because an old operation stays pending while later ones complete. That operation is
 * waited for once. */
static RTL_COLD struct inflight *wait_for_entry(struct queue *q)
{
	struct inflight_ring *r = inflight_current(&q->inflight);
	uint64_t oldest = atomic_load_explicit(&r->tail, memory_order_relaxed);
	unsigned rounds = q->gave_up == oldest + 1 ? 1 : FULL_WAIT_ROUNDS;
	struct inflight *e;

	for (unsigned i = 0; i < rounds; i++) {
		if (queue_try_lock(q)) {
			collect_queue(q, clock_now_ns());
			queue_unlock(q);
		}
		e = inflight_next(r);
		if (e)
			return e;
		if (rounds > 1)
			back_pressure_pause(i);
	}
	q->gave_up = oldest + 1;
	return NULL;
}

/* Arms `e` for packet `p`, which keeps its owner's signal. false: its times can't be read this way.
 */
static RTL_INLINE bool arm_owner(struct inflight *e, const union packet *p,
				 const struct inflight_ring *r)
{
	amd_signal_t *s = signal_of(packet_signal(p));

	if (signal_value(s) != 1) /* a counting signal is shared by the operations that it counts */
		return false;
	inflight_set_signal(e, s);
	atomic_store_explicit(&e->tainted, false, memory_order_relaxed);
	/* pairs with inflight_uses() and lock_any(): a thread that has an earlier signal of this
	 * entry sees that the signal has changed */
	atomic_store_explicit(&e->state, INFLIGHT_FREE, memory_order_release);
	if (signal_map_add(s, e, r) != 0)
		return false;
	signal_clear_ticks(s);
	shared_times_forget(s);
	return true;
}

/* A packet that is not timed may still reuse a signal that is in the signal map. */
static RTL_NOINLINE void pass_signal(const union packet *p)
{
	if (packet_type(p->header) == HSA_PACKET_TYPE_INVALID)
		return;
	signal_map_reuse(signal_of(packet_signal(p)));
	shared_times_forget(signal_of(packet_signal(p)));
}

static inline void pass_untimed(const union packet *p)
{
	if (packet_signal(p).handle)
		pass_signal(p);
}

/* A packet of one of HIP's own threads: from 5.4 on it carries the correlation id of its call;
 * before that, join.h finds the call later. */
static RTL_COLD void join_packet(const union packet *p, uint64_t owner, struct origin *o)
{
	struct join_call call;

	if (packet_type(p->header) == HSA_PACKET_TYPE_KERNEL_DISPATCH &&
	    join_begun(p->dispatch.reserved2, &call)) {
		o->correlation = call.correlation;
		o->marker = call.marker;
		o->submitter = call.tid;
	} else if (owner) {
		join_wanted(owner, o->correlation);
	}
}

/* Whether a completer is available for the shared signal `owner`. */
static RTL_COLD bool can_complete(struct queue *q, amd_signal_t *owner)
{
	bool is_ready = q->intercepted;

	if (!is_ready) {
		sys_cancel_off(); /* a hardware queue is made under the turn */
		is_ready = completer_ready(q);
		sys_cancel_on();
	}
	if (!is_ready)
		return false;
	signal_map_reuse(owner);
	shared_times_expect(owner);
	if (!q->intercepted)
		shared_calls_arm();
	return true;
}

/* Gives `p` a signal of librtl's. false: none could be made. */
static RTL_INLINE bool take_signal(struct inflight *e, union packet *p)
{
	amd_signal_t *ours = inflight_own_signal(e);

	if (RTL_UNLIKELY(!ours))
		return false;
	inflight_set_signal(e, ours);
	p->dispatch.completion_signal = signal_handle(ours);
	return true;
}

static RTL_COLD struct inflight *count_untimed(const union packet *p, enum spool_reason why)
{
	bus_loss(why, 1);
	pass_untimed(p);
	return NULL;
}

static RTL_INLINE struct inflight *next_entry(struct queue *q)
{
	struct inflight *e = inflight_next(inflight_current(&q->inflight));

	if (RTL_LIKELY(e != NULL))
		return e;
	if (inflight_grow(&q->inflight))
		return inflight_next(inflight_current(&q->inflight));
	return wait_for_entry(q);
}

/* The origin of a packet that is not is_usual(). `owner`: its signal; `left_out`: as for
 * instrument(). */
static RTL_COLD void adjust_origin(const union packet *p, hsa_signal_t owner, uint64_t left_out,
				   struct origin *o)
{
	if (RTL_UNLIKELY(left_out))
		o->correlation = (o->correlation & ~EVENT_MISSED) | left_out;
	else if (RTL_UNLIKELY(join_is_on()) && !o->in_call)
		join_packet(p, owner.handle, o);
}

/* Records `p` as an operation in flight. `left_out`: bits for its correlation id, of filtered();
 * `usual`: is_usual(), constant. */
static RTL_INLINE struct inflight *instrument(struct queue *q, struct thread *t, union packet *p,
					      uint64_t index, uint64_t left_out, bool usual)
{
	hsa_signal_t owner = packet_signal(p);
	struct inflight *e = next_entry(q);
	uint32_t state = INFLIGHT_OURS;
	struct origin origin;
	bool shared = false;

	if (RTL_UNLIKELY(!e))
		return count_untimed(p, SPOOL_REASON_inflight_full);
	e->flags = 0;
	e->nr_looks = 0;
	if (owner.handle && arm_owner(e, p, inflight_current(&q->inflight))) {
		e->flags = REC_F_HAD_SIGNAL;
		state = INFLIGHT_ARMED;
	} else {
		shared = owner.handle != 0;
		if (RTL_UNLIKELY(shared) && !can_complete(q, signal_of(owner)))
			return count_untimed(p, SPOOL_REASON_signal_create);
		if (RTL_UNLIKELY(!take_signal(e, p)))
			return count_untimed(p, SPOOL_REASON_signal_create);
	}
	packet_keep_head(&e->head, p);
	e->kind = usual || packet_is_dispatch(p) ? INFLIGHT_DISPATCH : INFLIGHT_BARRIER;
	e->epoch = code_object_now();
	origin = origin_of(q, index, t);
	if (!usual)
		adjust_origin(p, owner, left_out, &origin);
	e->correlation = origin.correlation;
	e->marker = origin.marker;
	e->submitter = origin.submitter;
	e->packet = index;
	if (q->intercepted)
		e->hw = q->pressure->last_seen = q->pressure->written;
	if (!usual && special_any(SPECIAL_LISTENED))
		notify_taken(q, e);
	/* release: a thread that finds the entry by its signal sees it complete */
	atomic_store_explicit(&e->state, state, memory_order_release);
	if (RTL_UNLIKELY(shared)) {
		e->owner = signal_of(owner);
		e->flags = REC_F_HAD_SIGNAL | REC_F_SHARED;
		return e;
	}
	inflight_push(inflight_current(&q->inflight), e);
	return NULL;
}

void submit_shared(struct queue *q, struct inflight *e, uint64_t hw)
{
	e->hw = hw;
	inflight_push(inflight_current(&q->inflight), e);
}

/* Whether operations that the user leaves out get an in-flight entry all the same: another sink
 * wants them, or the queue's dispatches run one at a time, so that the end of each has to be
 * known. */
static bool has_all(const struct queue *q)
{
	return bus_never_pauses() || atomic_load_explicit(&q->is_counted, memory_order_relaxed);
}

/* Recording is paused and no other sink wants dispatches: only operations of a recorded call are
 * recorded. */
static RTL_COLD bool leave_out(struct queue *q, struct thread *t, const union packet *p,
			       uint64_t index)
{
	if (has_all(q) || !corr_is_left_out(origin_of(q, index, t).correlation))
		return false;
	if (packet_is_dispatch(p))
		bus_loss(SPOOL_REASON_paused, 1);
	return true;
}

/* Whether the user leaves out the dispatch's kernel. */
static bool is_kernel_left_out(struct queue *q, const union packet *p)
{
	uint64_t object = p->dispatch.kernel_object;
	uint32_t epoch = code_object_now();

	if (RTL_UNLIKELY(object != q->filter_object || epoch != q->filter_epoch)) {
		q->filter_result = code_object_is_left_out(object);
		q->filter_object = object;
		q->filter_epoch = epoch;
	}
	return q->filter_result;
}

/* The bits of a left-out operation's correlation id if a filter leaves out `p`, else 0. */
static RTL_NOINLINE uint64_t filtered(struct queue *q, const union packet *p)
{
	if (q->is_left_out)
		return EVENT_LEFT_OUT | EVENT_BY_GPU;
	if (filter_has_kernels && packet_is_dispatch(p) && is_kernel_left_out(q, p))
		return EVENT_LEFT_OUT | EVENT_BY_KERNEL;
	return 0;
}

bool submit_by_choice(struct queue *q, union packet *p, uint64_t index)
{
	const struct origin_note *n = origin_find(q, index);
	enum spool_reason why = SPOOL_REASON_paused;
	uint64_t id;

	if (!n || packet_type(p->header) != HSA_PACKET_TYPE_KERNEL_DISPATCH ||
	    packet_signal(p).handle || special_any(SPECIAL_FOR_PACKETS & ~SPECIAL_CHOICES) ||
	    has_all(q))
		return false;
	if (pause_is_on()) {
		id = atomic_load_explicit(&n->correlation, memory_order_relaxed);
		if (id && !corr_is_left_out(id))
			return false; /* of a call begun before the pause */
	} else if (q->is_left_out) {
		why = SPOOL_REASON_filtered_gpu;
	} else if (filter_has_kernels && is_kernel_left_out(q, p)) {
		why = SPOOL_REASON_filtered_kernel;
	} else {
		return submit_plain(q, p, index, p->header, SPECIAL_NOT_ON);
	}
	bus_loss(why, 1);
	return true;
}

/* Counts a packet that a filter leaves out; false: it gets an entry. */
static bool leave_out_filtered(const struct queue *q, const union packet *p, uint64_t left_out)
{
	if (has_all(q))
		return false;
	if (packet_is_dispatch(p))
		bus_loss(corr_why_left_out(left_out), 1);
	return true;
}

/* Whether a packet that is not a dispatch is recorded. */
static RTL_NOINLINE bool wanted_barrier(uint32_t type)
{
	static _Atomic int barriers = -1;
	int b;

	if (type != HSA_PACKET_TYPE_BARRIER_AND && type != HSA_PACKET_TYPE_BARRIER_OR)
		return false;
	b = atomic_load_explicit(&barriers, memory_order_relaxed);
	if (b < 0) {
		b = env_bool(ENV_BARRIERS) || mode_packets == MODE_FULL;
		atomic_store_explicit(&barriers, b, memory_order_relaxed);
	}
	return b;
}

static inline bool wanted(struct queue *q, struct thread *t, const union packet *p, uint64_t index,
			  uint64_t *left_out)
{
	if (RTL_UNLIKELY(pause_is_on()) && leave_out(q, t, p, index))
		return false;
	if (RTL_UNLIKELY(special_any(SPECIAL_FILTERED))) {
		*left_out = filtered(q, p);
		if (*left_out && leave_out_filtered(q, p, *left_out))
			return false;
	}
	if (!packet_is_dispatch(p))
		return wanted_barrier(packet_type(p->header));
	if (RTL_LIKELY(mode_packets != MODE_LITE || !packet_signal(p).handle))
		return true;
	bus_loss(SPOOL_REASON_lite_signal, 1);
	return false;
}

/* For join.h: notes each packet whose signal's times the runtime may read. */
static RTL_COLD void note_for_join(const struct queue *q, const union packet *p, uint64_t index)
{
	uint32_t type = packet_type(p->header);

	if (type != HSA_PACKET_TYPE_VENDOR_SPECIFIC && type != HSA_PACKET_TYPE_INVALID &&
	    packet_signal(p).handle)
		join_submitted(packet_signal(p).handle, origin_tid(q, index));
}

void submit_notify(const struct queue *q, const union packet *p, uint64_t index)
{
	for (uint32_t i = 0; i < SUBMIT_MAX_LISTENERS; i++) {
		/* acquire: pairs with submit_listen() */
		submit_listener_fn fn = atomic_load_explicit(&listeners[i], memory_order_acquire);

		if (!fn)
			break;
		fn(atomic_load_explicit(&q->hsa, memory_order_relaxed), p, index);
	}
}

/* Whether it is a dispatch that is recorded, by few comparisons; false: is_wanted() finds out. */
static RTL_INLINE bool is_usual(const struct thread *t, const union packet *p)
{
	return RTL_LIKELY(t && !special_any(SPECIAL_FOR_PACKETS) && mode_packets != MODE_LITE &&
			  packet_type(p->header) == HSA_PACKET_TYPE_KERNEL_DISPATCH);
}

/* Whether the packet is recorded; `*left_out` as for instrument(). */
static bool is_wanted(struct queue *q, struct thread *t, const union packet *p, uint64_t index,
		      uint64_t *left_out)
{
	if (RTL_UNLIKELY(!t)) {
		/* in a forked child, signals may stay locked by a thread that exists only in the
		 * parent */
		if (atomic_load_explicit(&life_state, memory_order_relaxed) != LIFE_FORKED)
			pass_untimed(p);
		return false;
	}
	if (RTL_UNLIKELY(join_is_on()))
		note_for_join(q, p, index);
	if (wanted(q, t, p, index, left_out))
		return true;
	pass_untimed(p);
	return false;
}

/* submit_packet() where !is_usual(). */
static RTL_NOINLINE struct inflight *submit_unusual(struct queue *q, struct thread *t,
						    union packet *p, uint64_t index)
{
	uint64_t left_out = 0;

	return is_wanted(q, t, p, index, &left_out) ? instrument(q, t, p, index, left_out, false) :
						      NULL;
}

struct inflight *submit_packet(struct queue *q, struct thread *t, union packet *p, uint64_t index)
{
	return is_usual(t, p) ? instrument(q, t, p, index, 0, true) :
				submit_unusual(q, t, p, index);
}

/* HIP 6.4 dispatches from exit handlers; a signal handler may interrupt a hook. The child of a fork
 * is another process, which has no trace. */
void submit_count_left_out(struct queue *q, const union packet *p, uint64_t count)
{
	int state = atomic_load_explicit(&life_state, memory_order_relaxed);
	uint64_t n = 0, left_out;

	if (state != LIFE_ON && state != LIFE_STOPPING && state != LIFE_STOPPED)
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (!packet_is_dispatch(&p[i]))
			continue;
		left_out = special_any(SPECIAL_FILTERED) ? filtered(q, &p[i]) : 0;
		if (left_out)
			bus_loss(corr_why_left_out(left_out), 1);
		else
			n++;
	}
	if (n)
		bus_loss(pause_is_on()	  ? SPOOL_REASON_paused :
			 state == LIFE_ON ? SPOOL_REASON_reentrant :
					    SPOOL_REASON_late,
			 n);
}
