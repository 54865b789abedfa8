/* SPDX-License-Identifier: MIT */
/* copy.c - memory copies through the HSA API
 *
 * Threads: the wrappers any; copy_harvest() the thread that sets `busy`.
 * Fails:    a full table: the copy runs, and is counted as not recorded (inflight_full).
 * Not here: whether a copy has completed, and its times (completion/copy_times.c).
 */
#include "source/hsa/memory/copy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <hsa/hsa_ext_amd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/sys.h"
#include "base/testpoint.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/event.h"
#include "event/filter.h"
#include "event/join.h"
#include "event/life.h"
#include "event/special.h"
#include "source/hsa/agent.h"
#include "source/hsa/completion/poll.h"
#include "source/hsa/completion/signal_map.h"
#include "source/hsa/memory/caller.h"
#include "source/hsa/memory/copy_held.h"
#include "source/hsa/memory/copy_table.h"
#include "source/hsa/queue/internal_queue.h"
#include "source/hsa/table/real.h"

static _Atomic bool busy; /* a thread harvests */

static _Atomic copy_listener_fn listeners[COPY_MAX_LISTENERS];

int copy_listen(copy_listener_fn fn)
{
	for (int i = 0; i < COPY_MAX_LISTENERS; i++) {
		copy_listener_fn none = NULL;

		/* release: pairs with notify() */
		if (atomic_compare_exchange_strong_explicit(&listeners[i], &none, fn,
							    memory_order_release,
							    memory_order_relaxed))
			return i;
	}
	return -ENOSPC;
}

static RTL_COLD void notify(struct event_copy *c, enum copy_moment moment)
{
	int saved = errno;

	for (int i = 0; i < COPY_MAX_LISTENERS; i++) {
		/* acquire: pairs with copy_listen() */
		copy_listener_fn fn = atomic_load_explicit(&listeners[i], memory_order_acquire);

		if (fn)
			fn(c, moment);
	}
	errno = saved;
}

static void emit_copy(const struct copy *c, uint64_t begin_ns, uint64_t end_ns, uint16_t flags)
{
	struct event ev = { .kind = EVENT_COPY };

	if (RTL_UNLIKELY(!bus_wants(EVENT_COPY)))
		return;
	ev.copy = (struct event_copy){ .begin_ns = begin_ns,
				       .end_ns = end_ns,
				       .bytes = c->times.what.bytes,
				       .correlation = c->times.entry.correlation,
				       .marker = c->times.entry.marker,
				       .dst = c->times.what.dst,
				       .src = c->times.what.src,
				       .dst_agent = c->times.what.dst_agent,
				       .src_agent = c->times.what.src_agent,
				       .kind = c->times.what.kind,
				       .engine = c->times.what.engine,
				       .own0 = c->own[0],
				       .own1 = c->own[1],
				       .tid = (uint32_t)c->times.entry.submitter,
				       .flags = flags };
	if (end_ns < begin_ns) {
		ev.copy.flags |= REC_F_INVERTED;
		bus_loss_of(c->times.entry.correlation, SPOOL_REASON_inverted);
	}
	bus_emit_wanted(&ev);
}

/* The kernel that executed the copy, if any. */
static void emit_kernel(const struct copy *c, uint64_t begin_ns, uint64_t end_ns, uint16_t flags)
{
	uint64_t correlation = c->times.entry.correlation;
	struct event ev = { .kind = EVENT_DISPATCH };

	if (RTL_UNLIKELY(!bus_wants(EVENT_DISPATCH)))
		return;
	if (RTL_UNLIKELY(special_any(SPECIAL_FILTERED)) && !corr_is_left_out(correlation) &&
	    filter_leaves_out_kernel(NULL)) {
		correlation = (correlation & ~EVENT_MISSED) | EVENT_LEFT_OUT | EVENT_BY_KERNEL;
		if (!bus_never_pauses()) {
			bus_loss(SPOOL_REASON_filtered_kernel, 1);
			return;
		}
	}
	ev.dispatch = c->dispatch;
	ev.dispatch.begin_ticks = flags ? 0 : c->times.begin_ticks;
	ev.dispatch.end_ticks = flags ? 0 : c->times.end_ticks;
	ev.dispatch.begin_ns = begin_ns;
	ev.dispatch.end_ns = end_ns;
	ev.dispatch.correlation = correlation;
	ev.dispatch.marker = c->times.entry.marker;
	ev.dispatch.tid = (uint32_t)c->times.entry.submitter;
	ev.dispatch.flags |= flags;
	bus_emit_wanted(&ev);
}

static enum spool_reason why_no_time(const struct copy *c, enum inflight_result r)
{
	if (r == INFLIGHT_UNTIMED)
		return SPOOL_REASON_no_timestamps;
	return atomic_load_explicit(&c->times.entry.tainted, memory_order_relaxed) ?
		       SPOOL_REASON_copy_shared_signal :
		       SPOOL_REASON_signal_reused;
}

static void emit(struct copy *c, bool with_kernel, uint64_t begin_ns, uint64_t end_ns,
		 uint16_t flags)
{
	if (with_kernel && atomic_load_explicit(&c->times.by_kernel, memory_order_relaxed))
		emit_kernel(c, begin_ns, end_ns, flags);
	emit_copy(c, begin_ns, end_ns, flags);
}

/* Whether the harvester may take `c`; `final`: also while its call still runs. */
static bool may_take(struct copy *c, bool final, bool *returned)
{
	uint32_t phase = COPY_IN_CALL;

	/* pairs with the release in call_is_over() */
	*returned = atomic_load_explicit(&c->phase, memory_order_acquire) == COPY_RETURNED;
	if (*returned || !final)
		return *returned;
	if (!atomic_load_explicit(&c->signal, memory_order_acquire))
		return false; /* being filled; its call will find that the trace has ended */
	if (atomic_compare_exchange_strong_explicit(&c->phase, &phase, COPY_GIVEN_UP,
						    memory_order_acq_rel, memory_order_acquire))
		return true;
	*returned = phase == COPY_RETURNED;
	return *returned;
}

/* The harvester gives up a copy whose call still runs, and no longer accesses it. */
static void leave_to_call(struct copy *c)
{
	uint32_t phase = COPY_GIVEN_UP;

	/* acq_rel: pairs with call_is_over(): the entry is reused after both */
	if (!atomic_compare_exchange_strong_explicit(&c->phase, &phase, COPY_RECORDED,
						     memory_order_acq_rel, memory_order_acquire))
		copy_table_release(c);
}

/* The call has returned and no longer accesses its entry: COPY_RETURNED leaves it to the harvester,
 * COPY_OVER releases it. */
static void call_is_over(struct copy *c, enum copy_phase next)
{
	uint32_t phase = COPY_IN_CALL;

	/* acq_rel, both: pair with may_take() and leave_to_call() */
	if (atomic_compare_exchange_strong_explicit(&c->phase, &phase, next, memory_order_acq_rel,
						    memory_order_acquire)) {
		if (next == COPY_OVER)
			copy_table_release(c);
		return;
	}
	if (phase == COPY_GIVEN_UP &&
	    atomic_compare_exchange_strong_explicit(&c->phase, &phase, COPY_OVER,
						    memory_order_acq_rel, memory_order_acquire))
		return;
	copy_table_release(c);
}

static void harvest_one(struct copy *c, bool final)
{
	enum inflight_result r;
	uint64_t begin = 0, end = 0;
	bool returned;

	if (!may_take(c, final, &returned))
		return;
	if (!returned)
		RTL_TESTPOINT("copy_given_up");
	r = poll_entry(&c->times.entry, &begin, &end);
	if (r == INFLIGHT_PENDING && !final)
		return;
	signal_map_remove(inflight_signal(&c->times.entry), &c->times.entry);
	c->times.entry.nr_looks = INFLIGHT_RECORDING;
	if (r == INFLIGHT_TIMED) {
		emit(c, returned, begin, end, 0);
	} else if (r == INFLIGHT_PENDING) {
		bus_loss_of(c->times.entry.correlation, SPOOL_REASON_unfinished);
		emit(c, returned, 0, 0, REC_F_UNFINISHED);
	} else {
		bus_loss_of(c->times.entry.correlation, why_no_time(c, r));
		emit(c, returned, 0, 0, REC_F_NO_TIME);
	}
	if (returned)
		copy_table_release(c);
	else
		leave_to_call(c);
}

/* Takes `busy`. `rounds` of 20 us at most, 0: without waiting. */
static bool take_busy(uint64_t rounds)
{
	const struct timespec nap = { .tv_nsec = 20000 };

	while (atomic_exchange_explicit(&busy, true, memory_order_acquire)) {
		if (!rounds--)
			return false;
		sys_nap(&nap);
	}
	return true;
}

static void harvest_all(bool final)
{
	uint32_t i = 0;
	struct copy *c;

	while ((c = copy_table_next(&i)) != NULL)
		harvest_one(c, final);
	atomic_store_explicit(&busy, false, memory_order_release);
}

uint32_t copy_harvest(bool final)
{
	if (copy_table_count() && take_busy(final ? UINT64_MAX : 0))
		harvest_all(final);
	return copy_table_count();
}

void copy_harvest_completed(uint32_t naps)
{
	if (copy_table_count() && take_busy(naps))
		harvest_all(false);
}

static uint32_t kind_of(uint32_t dst, uint32_t src)
{
	bool to = agent_is_gpu(dst), from = agent_is_gpu(src);

	if (to && from)
		return dst == src ? REC_COPY_D2D : REC_COPY_P2P;
	return to ? REC_COPY_H2D : from ? REC_COPY_D2H : REC_COPY_H2H;
}

/* The agent that has the memory: where a call names none, or the one that copies. Memory of the
 * host that the runtime does not know, or that a program has locked, is the first CPU's: the
 * runtime names an agent of locked memory that need not have it. */
static RTL_COLD uint32_t owner_of(const void *address)
{
	hsa_amd_pointer_info_t info = { .size = sizeof(info) };
	uint32_t agent = AGENT_NONE;

	if (!address || !real.hsa_amd_pointer_info ||
	    real.hsa_amd_pointer_info(address, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS)
		return AGENT_NONE;
	if (info.type != HSA_EXT_POINTER_TYPE_UNKNOWN && info.type != HSA_EXT_POINTER_TYPE_LOCKED)
		agent = agent_index(info.agentOwner);
	return agent == AGENT_NONE ? agent_host() : agent;
}

struct what {
	uint64_t bytes;
	const void *dst, *src;
	uint32_t dst_agent, src_agent, kind, engine;
};

/* Of a copy whose call names neither: sets the agents, and a kind that they contradict: the
 * runtime's direction does not tell one GPU from two. */
static RTL_COLD void find_owners(struct what *w)
{
	uint32_t dst = owner_of(w->dst), src = owner_of(w->src);

	if (dst == AGENT_NONE || src == AGENT_NONE)
		return;
	w->dst_agent = dst;
	w->src_agent = src;
	if (w->kind == REC_COPY_UNKNOWN || w->kind == REC_COPY_D2D)
		w->kind = kind_of(dst, src);
}

uint64_t copy_agents(const void *dst, const void *src)
{
	uint32_t to = AGENT_NONE, from = AGENT_NONE;

	if (life_on()) {
		to = owner_of(dst);
		from = owner_of(src);
	}
	/* AGENT_NONE + 1 is 0 */
	return (uint64_t)(uint16_t)(to + 1) << 16 | (uint16_t)(from + 1);
}

static void describe(struct copy *c, const struct thread *t, const struct what *w)
{
	c->times.what = (struct spool_copy_what){ .bytes = w->bytes,
						  .dst = (uint64_t)(uintptr_t)w->dst,
						  .src = (uint64_t)(uintptr_t)w->src,
						  .dst_agent = w->dst_agent,
						  .src_agent = w->src_agent,
						  .kind = w->kind,
						  .engine = w->engine };
	c->times.entry.marker = t->marker;
	c->times.entry.submitter = t->submitter;
}

/* The bits of a left-out operation's correlation id if the user leaves out each GPU of the copy,
 * else 0. */
static uint64_t filtered(const struct what *w)
{
	bool dst = agent_is_gpu(w->dst_agent), src = agent_is_gpu(w->src_agent);

	if (!filter_has_gpus || !(dst || src) || (dst && !agent_is_left_out(w->dst_agent)) ||
	    (src && !agent_is_left_out(w->src_agent)))
		return 0;
	return EVENT_LEFT_OUT | EVENT_BY_GPU;
}

/* Makes the entry of an asynchronous copy; the harvester polls it after end() arms it. */
static struct copy *note(struct thread *t, struct copy_call *call, const struct what *w,
			 amd_signal_t *s, uint64_t correlation)
{
	bool is_passed = correlation & EVENT_BY_GPU && !bus_never_pauses();
	struct copy *c = is_passed ? NULL : copy_table_claim();
	struct inflight *e;

	if (join_is_on()) {
		join_submits(t->tid);
		join_submitted(signal_handle(s).handle, t->tid);
		call->is_wanted = c && !t->corr_current;
		if (call->is_wanted)
			join_wanted(signal_handle(s).handle, correlation);
	}
	if (!c) {
		if (is_passed)
			bus_loss(corr_why_left_out(correlation), 1);
		else
			bus_loss_of(correlation, SPOOL_REASON_inflight_full);
		signal_map_reuse(s);
		return NULL;
	}
	e = &c->times.entry;
	atomic_store_explicit(&e->state, INFLIGHT_FREE, memory_order_relaxed);
	atomic_store_explicit(&c->times.by_kernel, false, memory_order_relaxed);
	describe(c, t, w);
	e->correlation = correlation;
	c->own[0] = call->notified.own0;
	c->own[1] = call->notified.own1;
	e->kind = INFLIGHT_COPY;
	inflight_set_signal(e, s);
	e->start_value = signal_value(s);
	e->nr_looks = 0;
	/* a counting signal is shared by the operations that it counts */
	atomic_store_explicit(&e->tainted, e->start_value != 1, memory_order_relaxed);
	if (signal_map_add(s, e, NULL) != 0) /* shared, or its reuse would go undetected */
		atomic_store_explicit(&e->tainted, true, memory_order_relaxed);
	else if (e->start_value == 1)
		signal_clear_ticks(s);
	copy_table_submitted(c, w->engine, 1);
	/* pairs with lock_any() in poll.c, and with may_take() */
	atomic_store_explicit(&e->state, INFLIGHT_CALLING, memory_order_release);
	atomic_store_explicit(&c->signal, s, memory_order_release);
	return c;
}

/* Before the real call, within a hook of `t`. */
static void begin_one(struct thread *t, struct copy_call *call, const struct what *w,
		      hsa_signal_t signal, uint64_t correlation)
{
	if (RTL_UNLIKELY(special_any(SPECIAL_FILTERED)) && !corr_is_left_out(correlation) &&
	    filtered(w))
		correlation = (correlation & ~EVENT_MISSED) | filtered(w);
	call->internal.correlation = correlation;
	call->internal.signal = signal_of(signal);
	call->info = NULL;
	call->is_wanted = false;
	if (signal.handle)
		call->info = note(t, call, w, signal_of(signal), correlation);
	call->internal.dispatch = call->info ? &call->info->dispatch : NULL;
	internal_queue_enter(&call->internal);
}

/* Before the real call, outside of hooks of `t`: the listeners' code is the program's. */
static RTL_COLD void notify_begin(const struct thread *t, struct copy_call *call,
				  const struct what *w, uint64_t correlation)
{
	call->notified = (struct event_copy){
		.bytes = w->bytes,
		.correlation = correlation,
		.marker = t->marker,
		.dst = (uint64_t)(uintptr_t)w->dst,
		.src = (uint64_t)(uintptr_t)w->src,
		.dst_agent = w->dst_agent,
		.src_agent = w->src_agent,
		.kind = w->kind,
		.engine = w->engine,
		.tid = t->tid,
	};
	call->is_notified = true;
	notify(&call->notified, COPY_BEGINS);
}

/* After it. */
static RTL_COLD void notify_end(struct copy_call *call, hsa_status_t status)
{
	notify(&call->notified,
	       status == HSA_STATUS_SUCCESS && call->info ? COPY_IS_TAKEN : COPY_IS_GONE);
}

static bool is_listened(void)
{
	/* relaxed: notify() reads it again */
	return atomic_load_explicit(&listeners[0], memory_order_relaxed) != NULL;
}

static void clear(struct copy_call *call)
{
	call->is_notified = false;
	call->notified = (struct event_copy){ 0 };
	call->info = NULL;
}

/* Before the real call; NULL: not traced. `caller`: as for caller_correlation(). */
static struct thread *begin(struct copy_call *call, const struct what *w, hsa_signal_t signal,
			    const void *caller)
{
	struct thread *t;
	uint64_t correlation;

	clear(call);
	if (!life_enter(&t))
		return NULL;
	correlation = caller_correlation(t, caller);
	if (RTL_UNLIKELY(is_listened()) && signal.handle) {
		life_leave(t);
		notify_begin(t, call, w, correlation);
		if (!life_enter(&t))
			return NULL;
	}
	begin_one(t, call, w, signal, correlation);
	if (call->info)
		life_wake(); /* before the copy is submitted, as for packets (interpose.c) */
	return t;
}

/* The call has returned: the harvester polls the copy's signal from now on. */
static void arm(struct copy *c)
{
	uint32_t state = INFLIGHT_CALLING;

	while (!atomic_compare_exchange_weak_explicit(&c->times.entry.state, &state, INFLIGHT_ARMED,
						      memory_order_release, memory_order_relaxed)) {
		if (state == INFLIGHT_CAPTURED)
			break;		  /* it has completed, and its signal was reused */
		state = INFLIGHT_CALLING; /* BUSY: lasts a few loads */
	}
	call_is_over(c, COPY_RETURNED);
}

static void end_one(struct thread *t, struct copy_call *call, hsa_status_t status)
{
	struct copy *c = call->info;

	internal_queue_leave(&call->internal, t);
	if (c && status != HSA_STATUS_SUCCESS) {
		signal_map_remove(inflight_signal(&c->times.entry), &c->times.entry);
		if (call->is_wanted)
			join_unwanted(signal_handle(call->internal.signal).handle,
				      c->times.entry.correlation);
		copy_table_submitted(c, c->times.what.engine, -1);
		call_is_over(c, COPY_OVER);
	} else if (c) {
		atomic_store_explicit(&c->times.by_kernel, call->internal.found,
				      memory_order_relaxed);
		arm(c);
	}
}

static void end(struct thread *t, struct copy_call *call, hsa_status_t status)
{
	if (t) {
		end_one(t, call, status);
		life_leave(t);
	}
	if (RTL_UNLIKELY(call->is_notified))
		notify_end(call, status);
}

/* A copy that was held was given to the runtime. */
static void end_held(struct copy_call *call, hsa_status_t status)
{
	end_one(thread_get(), call, status);
}

/* Whether the copy is held: then its call is over. */
static RTL_COLD bool is_held(struct thread *t, const struct what *w, struct copy_args *a,
			     uint32_t nr, const hsa_signal_t *signals, struct copy_call *call)
{
	/* the harvester enters again: the call's packets are not looked for here */
	struct internal_queue_call over = { .correlation = call->internal.correlation };

	a->order = w->kind * AGENT_MAX +
		   (agent_is_gpu(w->dst_agent) ? w->dst_agent : w->src_agent) % AGENT_MAX;

	if (t && copy_held_hold(a, nr, signals, call, end_held)) {
		internal_queue_leave(&over, t);
		life_leave(t);
		if (call->is_notified)
			notify_end(call, HSA_STATUS_SUCCESS);
		return true;
	}
	if (t && !call->info && !(call->internal.correlation & EVENT_BY_GPU))
		copy_held_untracked();
	return false;
}

static hsa_status_t submit(const struct what *w, struct copy_args *a, uint32_t nr,
			   const hsa_signal_t *signals, const void *caller)
{
	struct copy_call call;
	struct thread *t = begin(&call, w, a->completion, caller);
	hsa_status_t status;

	if (RTL_UNLIKELY(copy_held_is_on()) && is_held(t, w, a, nr, signals, &call))
		return HSA_STATUS_SUCCESS;
	status = copy_call_real(a, nr, signals);
	end(t, &call, status);
	return status;
}

/* engine: its number; UINT32_MAX: the runtime chooses one. */
static hsa_status_t submit_linear(struct copy_args *a, uint32_t engine, uint32_t nr,
				  const hsa_signal_t *signals, const void *caller)
{
	struct what w = {
		a->size, a->dst, a->src, agent_index(a->dst_agent), agent_index(a->src_agent),
		0,	 engine
	};

	w.kind = kind_of(w.dst_agent, w.src_agent);
	return submit(&w, a, nr, signals, caller);
}

hsa_status_t copy_async(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
			size_t size, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
			hsa_signal_t completion_signal)
{
	struct copy_args a = { .how = COPY_LINEAR,
			       .dst = dst,
			       .dst_agent = dst_agent,
			       .src = src,
			       .src_agent = src_agent,
			       .size = size,
			       .completion = completion_signal };

	return submit_linear(&a, UINT32_MAX, num_dep_signals, dep_signals,
			     __builtin_return_address(0));
}

hsa_status_t copy_async_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
				  hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
				  const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
				  int engine_id, bool force_copy_on_sdma)
{
	/* one bit for each engine */
	uint32_t engine = engine_id > 0 ? (uint32_t)__builtin_ctz((unsigned)engine_id) : UINT32_MAX;
	struct copy_args a = { .how = COPY_ON_ENGINE,
			       .dst = dst,
			       .dst_agent = dst_agent,
			       .src = src,
			       .src_agent = src_agent,
			       .size = size,
			       .engine = engine_id,
			       .force_sdma = force_copy_on_sdma,
			       .completion = completion_signal };

	return submit_linear(&a, engine, num_dep_signals, dep_signals, __builtin_return_address(0));
}

hsa_status_t copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
		       const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
		       const hsa_dim3_t *range, hsa_agent_t copy_agent,
		       hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
		       const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
	static const uint8_t kinds[] = { [hsaHostToHost] = REC_COPY_H2H,
					 [hsaHostToDevice] = REC_COPY_H2D,
					 [hsaDeviceToHost] = REC_COPY_D2H,
					 [hsaDeviceToDevice] = REC_COPY_D2D };
	uint32_t agent = agent_index(copy_agent);
	struct what w = { 0, NULL, NULL, agent, agent, REC_COPY_UNKNOWN, UINT32_MAX };
	struct copy_args a = { .how = COPY_RECT,
			       .dst_pitched = dst,
			       .dst_offset = dst_offset,
			       .src_pitched = src,
			       .src_offset = src_offset,
			       .range = range,
			       .agent = copy_agent,
			       .direction = dir,
			       .completion = completion_signal };

	if ((unsigned)dir < sizeof(kinds))
		w.kind = kinds[dir];
	if (dst && src && range) { /* else the runtime reports the error */
		w.bytes = (uint64_t)range->x * range->y * range->z;
		w.dst = dst->base;
		w.src = src->base;
		if (life_on())
			find_owners(&w);
	}
	return submit(&w, &a, num_dep_signals, dep_signals, __builtin_return_address(0));
}

/* ---- batches --------------------------------------------------------------------------------- */

/* hsa_amd_memory_copy_op_t of ROCm 10, as far as librtl reads it. Its earlier form, without the
 * `wait` and `signal` members at its end, has 64 bytes. */
struct batch_op {
	uint16_t version, type, nr_entries, traffic_class;
	hsa_signal_t completion_signal;
	const void *src; /* BATCH_INDIRECT_SRC: the address of its address */
	hsa_agent_t src_agent;
	const void *dst_agent;	 /* the agent's handle; BATCH_BROADCAST: an array of agents */
	const void *dst;	 /* BATCH_BROADCAST: an array of addresses */
	size_t size, other_size; /* `other_size`: BATCH_SWAP's second */
};
_Static_assert(sizeof(struct batch_op) == 64, "as in hsa_ext_amd.h");

enum { BATCH_LINEAR, BATCH_BROADCAST, BATCH_SWAP, BATCH_INDIRECT_SRCDST = 5 };
#define BATCH_MAX 128u /* recorded operations of one call */

/* Bytes from one operation to the next: checks whether the bytes 64 behind the first operation are
 * an operation. */
static size_t batch_stride(const struct batch_op *first, uint32_t nr)
{
	const struct batch_op *next = first + 1;

	if (nr > 1 && next->version == first->version && next->type <= BATCH_INDIRECT_SRCDST &&
	    agent_index(next->src_agent) != AGENT_NONE)
		return 64;
	return 128;
}

static struct what batch_what(const struct batch_op *op)
{
	hsa_agent_t dst_agent = { .handle = (uint64_t)(uintptr_t)op->dst_agent };
	struct what w = { op->size, op->dst,   op->src, AGENT_NONE, agent_index(op->src_agent),
			  0,	    UINT32_MAX };

	if (op->type == BATCH_BROADCAST && op->nr_entries) {
		dst_agent = ((const hsa_agent_t *)op->dst_agent)[0];
		w.dst = ((void *const *)op->dst)[0];
		w.bytes *= op->nr_entries;
	} else if (op->type == BATCH_SWAP) {
		w.bytes += op->other_size;
	}
	w.dst_agent = agent_index(dst_agent);
	w.kind = kind_of(w.dst_agent, w.src_agent);
	return w;
}

static const struct batch_op *batch_at(const void *ops, size_t stride, uint32_t i)
{
	return (const void *)((const char *)ops + i * stride);
}

static RTL_COLD void notify_batch(const struct thread *t, struct copy_call *calls, const void *ops,
				  uint32_t nr, size_t stride, uint64_t correlation)
{
	for (uint32_t i = 0; i < nr; i++) {
		const struct batch_op *op = batch_at(ops, stride, i);
		struct what w = batch_what(op);

		if (op->completion_signal.handle)
			notify_begin(t, &calls[i], &w, correlation);
	}
}

static void notify_batch_end(struct copy_call *calls, uint32_t nr, hsa_status_t status)
{
	for (uint32_t i = nr; i-- > 0;)
		if (RTL_UNLIKELY(calls[i].is_notified))
			notify_end(&calls[i], status);
}

hsa_status_t copy_batch(const void *ops, uint32_t nr, uint32_t num_dep_signals,
			const hsa_signal_t *dep_signals)
{
	uint32_t recorded = nr < BATCH_MAX ? nr : BATCH_MAX;
	struct copy_call calls[BATCH_MAX];
	hsa_status_t status;
	uint64_t correlation;
	struct thread *t;
	size_t stride;

	if (!ops || !nr || !life_enter(&t))
		return real.hsa_amd_memory_async_batch_copy(ops, nr, num_dep_signals, dep_signals);
	stride = batch_stride(ops, nr);
	correlation = caller_correlation(t, __builtin_return_address(0));
	for (uint32_t i = 0; i < recorded; i++)
		clear(&calls[i]);
	if (RTL_UNLIKELY(is_listened())) {
		life_leave(t);
		notify_batch(t, calls, ops, recorded, stride, correlation);
		if (!life_enter(&t)) {
			status = real.hsa_amd_memory_async_batch_copy(ops, nr, num_dep_signals,
								      dep_signals);
			notify_batch_end(calls, recorded, status);
			return status;
		}
	}
	for (uint32_t i = 0; i < recorded; i++) {
		const struct batch_op *op = batch_at(ops, stride, i);
		struct what w = batch_what(op);

		begin_one(t, &calls[i], &w, op->completion_signal, correlation);
	}
	life_wake(); /* before the copies are submitted */
	if (nr > recorded)
		bus_loss(SPOOL_REASON_inflight_full, nr - recorded);
	if (RTL_UNLIKELY(copy_held_is_on()))
		copy_held_untracked();
	status = real.hsa_amd_memory_async_batch_copy(ops, nr, num_dep_signals, dep_signals);
	for (uint32_t i = recorded; i-- > 0;)
		end_one(t, &calls[i], status);
	life_leave(t);
	notify_batch_end(calls, recorded, status);
	return status;
}

/* ---- blocking copies ------------------------------------------------------------------------- */

/* A blocking call uses the runtime's own signals: only the call's times are available. */
static void emit_blocking(struct thread *t, const struct copy_call *call, const struct what *w,
			  uint64_t begin_ns, hsa_status_t status)
{
	struct event ev = { .kind = EVENT_COPY };

	if (!t || status != HSA_STATUS_SUCCESS || RTL_UNLIKELY(!bus_wants(EVENT_COPY)))
		return;
	ev.copy = (struct event_copy){ .begin_ns = begin_ns,
				       .end_ns = clock_now_ns(),
				       .bytes = w->bytes,
				       .correlation = call->internal.correlation,
				       .marker = t->marker,
				       .dst = (uint64_t)(uintptr_t)w->dst,
				       .src = (uint64_t)(uintptr_t)w->src,
				       .dst_agent = w->dst_agent,
				       .src_agent = w->src_agent,
				       .kind = w->kind,
				       .engine = UINT32_MAX,
				       .tid = t->tid,
				       .flags = REC_F_HOST_TIME };
	bus_emit_wanted(&ev);
}

hsa_status_t copy_blocking(void *dst, const void *src, size_t size)
{
	struct what w = { size, dst, src, AGENT_NONE, AGENT_NONE, REC_COPY_UNKNOWN, UINT32_MAX };
	struct copy_call call;
	hsa_status_t status;
	struct thread *t;
	uint64_t begin_ns;

	if (life_on())
		find_owners(&w);
	t = begin(&call, &w, (hsa_signal_t){ 0 }, __builtin_return_address(0));
	begin_ns = t ? clock_now_ns() : 0;

	if (RTL_UNLIKELY(copy_held_is_on()))
		copy_held_enter();
	status = real.hsa_memory_copy(dst, src, size);
	if (RTL_UNLIKELY(copy_held_is_on()))
		copy_held_leave();
	emit_blocking(t, &call, &w, begin_ns, status);
	end(t, &call, status);
	return status;
}

hsa_status_t copy_fill(void *ptr, uint32_t value, size_t count)
{
	struct what w = { count * sizeof(value), ptr,	    NULL, AGENT_NONE, AGENT_NONE,
			  REC_COPY_FILL,	 UINT32_MAX };
	struct copy_call call;
	hsa_status_t status;
	struct thread *t;
	uint64_t begin_ns;

	if (life_on())
		w.dst_agent = owner_of(ptr);
	t = begin(&call, &w, (hsa_signal_t){ 0 }, __builtin_return_address(0));
	begin_ns = t ? clock_now_ns() : 0;

	if (RTL_UNLIKELY(copy_held_is_on()))
		copy_held_enter();
	status = real.hsa_amd_memory_fill(ptr, value, count);
	if (RTL_UNLIKELY(copy_held_is_on()))
		copy_held_leave();
	emit_blocking(t, &call, &w, begin_ns, status);
	end(t, &call, status);
	return status;
}

hsa_status_t copy_profiling_enable(bool enable)
{
	/* Off, librtl's copies would have no times; on, the program sees no difference. */
	return life_on() ? HSA_STATUS_SUCCESS : real.hsa_amd_profiling_async_copy_enable(enable);
}

hsa_status_t copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
	hsa_status_t status = real.hsa_amd_profiling_get_async_copy_time(signal, time);

	if (status == HSA_STATUS_SUCCESS && join_is_on())
		join_asked(signal.handle, time->start, time->end);
	return status;
}
