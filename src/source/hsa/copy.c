/* SPDX-License-Identifier: MIT */
/* copy.c - memory copies through the HSA API
 *
 * Owns:    the copies that are in flight, a fixed table.
 * Threads: the wrappers on any; copy_harvest() whoever gets `busy`.
 * Fails:   a full table: the copy is made, and counted as not recorded (inflight_full).
 * Quirk:   an SDMA engine's times lie in a part of ROCr's signal that is not public, so they are
 *          read with hsa_amd_profiling_get_async_copy_time(). ROCr clears them when a copy is
 *          submitted (SharedSignal::CopyPrep, 5.2.3); where none were written that call converts
 *          the dispatch times of the signal, which we clear: tick 0 means "none".
 */
#include "source/hsa/copy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/event.h"
#include "event/join.h"
#include "event/life.h"
#include "source/hsa/agent.h"
#include "source/hsa/rtqueue.h"
#include "source/hsa/table.h"
#include "source/hsa/watch.h"

#define MAX_COPIES 16384u
#define WORDS (MAX_COPIES / 64)
/* Two conversions of tick 0 differ by less than this, a real tick and tick 0 by more. */
#define ZERO_SLACK_NS 1000000u

/* Who releases an entry: the harvester once the call has returned; the call, when the process ended
 * meanwhile. */
enum phase { IN_CALL, RETURNED, GIVEN_UP };

struct copy_info {
	_Atomic uint32_t phase; /* enum phase */
	_Atomic bool
		by_kernel; /* `dispatch` did the work: its times are the signal's dispatch times */
	_Atomic(const amd_signal_t *) signal; /* NULL: free, or being filled */
	struct inflight entry;
	struct event_dispatch dispatch;
	uint64_t begin_ticks, end_ticks; /* as a kernel has written them to the signal, else 0 */
	uint64_t bytes, dst, src;
	uint32_t dst_agent, src_agent, kind, engine;
};

/* A copy call that runs, on its wrapper's stack. */
struct call {
	struct rtqueue_call rt;
	struct copy_info *info;
};

static struct copy_info table[MAX_COPIES];
static _Atomic uint64_t used[WORDS]; /* a bit for each place of the table */
static _Atomic uint32_t nr_used;
static _Atomic bool busy;

/* The next place at or behind *i that is used, NULL at the end. */
static struct copy_info *next_used(uint32_t *i)
{
	while (*i < MAX_COPIES) {
		/* pairs with the release in claim() */
		uint64_t word = atomic_load_explicit(&used[*i / 64], memory_order_acquire);

		word &= ~UINT64_C(0) << *i % 64;
		if (word) {
			*i = *i / 64 * 64 + (uint32_t)__builtin_ctzll(word);
			return &table[(*i)++];
		}
		*i = (*i / 64 + 1) * 64;
	}
	return NULL;
}

bool copy_has(const amd_signal_t *s)
{
	struct copy_info *c;
	uint32_t i = 0;

	if (atomic_load_explicit(&nr_used, memory_order_relaxed) == 0)
		return false;
	while ((c = next_used(&i)) != NULL)
		/* relaxed: a place is looked at while it is filled; its own thread sees it whole */
		if (atomic_load_explicit(&c->signal, memory_order_relaxed) == s)
			return true;
	return false;
}

static struct copy_info *of(struct inflight *e)
{
	return (struct copy_info *)(void *)((char *)e - offsetof(struct copy_info, entry));
}

static enum inflight_result poll_kernel(struct copy_info *c, bool dropped, uint64_t *begin_ns,
					uint64_t *end_ns)
{
	hsa_agent_t a = agent_handle(agent_is_gpu(c->src_agent) ? c->src_agent : c->dst_agent);

	if (!c->end_ticks)
		return dropped && ++c->entry.nr_looks > 3 ? INFLIGHT_UNTIMED : INFLIGHT_PENDING;
	real.hsa_amd_profiling_convert_tick_to_system_domain(a, c->end_ticks, end_ns);
	real.hsa_amd_profiling_convert_tick_to_system_domain(a, c->begin_ticks, begin_ns);
	return INFLIGHT_TIMED;
}

/* Asks the runtime. false: it has none, or not yet. */
static bool read_times(const struct copy_info *c, uint64_t *begin_ns, uint64_t *end_ns)
{
	uint32_t gpu = agent_is_gpu(c->src_agent) ? c->src_agent : c->dst_agent;
	hsa_amd_profiling_async_copy_time_t time = { 0, 0 };
	uint64_t zero = 0;

	if (!real.hsa_amd_profiling_get_async_copy_time || !agent_is_gpu(gpu) ||
	    real.hsa_amd_profiling_get_async_copy_time(signal_handle(inflight_signal(&c->entry)),
						       &time) != HSA_STATUS_SUCCESS)
		return false;
	real.hsa_amd_profiling_convert_tick_to_system_domain(agent_handle(gpu), 0, &zero);
	if (time.end - zero + ZERO_SLACK_NS < 2 * ZERO_SLACK_NS)
		return false;
	*begin_ns = time.start;
	*end_ns = time.end;
	return true;
}

enum inflight_result copy_poll(struct inflight *e, bool over, uint64_t *begin_ns, uint64_t *end_ns)
{
	bool dropped = signal_value(inflight_signal(e)) < e->start_value;
	struct copy_info *c = of(e);

	if (atomic_load_explicit(&e->tainted, memory_order_relaxed))
		return dropped ? INFLIGHT_LOST : INFLIGHT_PENDING;
	c->end_ticks = signal_end_ticks(inflight_signal(e));
	c->begin_ticks = signal_begin_ticks(inflight_signal(e));
	if (atomic_load_explicit(&c->by_kernel, memory_order_relaxed))
		return poll_kernel(c, dropped, begin_ns, end_ns);
	/* ROCr with assertions complains on stderr when it is asked before there are times. With
	 * `over` the value may be that of the next use already. */
	if (!dropped && !over)
		return INFLIGHT_PENDING;
	if (read_times(c, begin_ns, end_ns))
		return INFLIGHT_TIMED;
	return dropped ? INFLIGHT_UNTIMED : INFLIGHT_PENDING;
}

static void release(struct copy_info *c)
{
	uint32_t i = (uint32_t)(c - table);

	inflight_done(&c->entry);
	atomic_store_explicit(&c->phase, IN_CALL, memory_order_relaxed); /* the next one's */
	atomic_store_explicit(&c->signal, NULL, memory_order_relaxed);
	atomic_fetch_sub_explicit(&nr_used, 1, memory_order_relaxed);
	/* pairs with the acquire in claim() */
	atomic_fetch_and_explicit(&used[i / 64], ~(UINT64_C(1) << i % 64), memory_order_release);
}

static void emit_copy(const struct copy_info *c, uint64_t begin_ns, uint64_t end_ns, uint16_t flags)
{
	struct event ev = { .kind = EVENT_COPY };

	ev.copy = (struct event_copy){ .begin_ns = begin_ns,
				       .end_ns = end_ns,
				       .bytes = c->bytes,
				       .correlation = c->entry.correlation,
				       .marker = c->entry.marker,
				       .dst = c->dst,
				       .src = c->src,
				       .dst_agent = c->dst_agent,
				       .src_agent = c->src_agent,
				       .kind = c->kind,
				       .engine = c->engine,
				       .tid = c->entry.tid,
				       .flags = flags };
	if (end_ns < begin_ns) {
		ev.copy.flags |= REC_F_INVERTED;
		bus_loss_of(c->entry.correlation, SPOOL_REASON_inverted);
	}
	bus_emit(&ev);
}

/* The kernel that did the copy, when one did. */
static void emit_kernel(const struct copy_info *c, uint64_t begin_ns, uint64_t end_ns,
			uint16_t flags)
{
	struct event ev = { .kind = EVENT_DISPATCH, .dispatch = c->dispatch };

	ev.dispatch.begin_ticks = flags ? 0 : c->begin_ticks;
	ev.dispatch.end_ticks = flags ? 0 : c->end_ticks;
	ev.dispatch.begin_ns = begin_ns;
	ev.dispatch.end_ns = end_ns;
	ev.dispatch.correlation = c->entry.correlation;
	ev.dispatch.marker = c->entry.marker;
	ev.dispatch.tid = c->entry.tid;
	ev.dispatch.flags |= flags;
	bus_emit(&ev);
}

static enum spool_reason why_no_time(const struct copy_info *c, enum inflight_result r)
{
	if (r == INFLIGHT_UNTIMED)
		return SPOOL_REASON_no_timestamps;
	return atomic_load_explicit(&c->entry.tainted, memory_order_relaxed) ?
		       SPOOL_REASON_copy_shared_signal :
		       SPOOL_REASON_signal_reused;
}

static void emit(struct copy_info *c, bool with_kernel, uint64_t begin_ns, uint64_t end_ns,
		 uint16_t flags)
{
	if (with_kernel && atomic_load_explicit(&c->by_kernel, memory_order_relaxed))
		emit_kernel(c, begin_ns, end_ns, flags);
	emit_copy(c, begin_ns, end_ns, flags);
}

/* Whether the harvester may take `c`; `final`: also from a call that goes on. */
static bool may_take(struct copy_info *c, bool final, bool *returned)
{
	uint32_t phase = IN_CALL;

	/* pairs with the release in end() */
	*returned = atomic_load_explicit(&c->phase, memory_order_acquire) == RETURNED;
	if (*returned || !final)
		return *returned;
	if (!atomic_load_explicit(&c->signal, memory_order_acquire))
		return false; /* being filled; its call finds the trace at its end */
	if (atomic_compare_exchange_strong_explicit(&c->phase, &phase, GIVEN_UP,
						    memory_order_acq_rel, memory_order_acquire))
		return true;
	*returned = phase == RETURNED;
	return *returned;
}

static void harvest_one(struct copy_info *c, bool final)
{
	enum inflight_result r;
	uint64_t begin = 0, end = 0;
	bool returned;

	if (!may_take(c, final, &returned))
		return;
	r = inflight_poll(&c->entry, &begin, &end);
	if (r == INFLIGHT_PENDING && !final)
		return;
	watch_remove(inflight_signal(&c->entry), &c->entry);
	if (r == INFLIGHT_TIMED) {
		emit(c, returned, begin, end, 0);
	} else if (r == INFLIGHT_PENDING) {
		bus_loss_of(c->entry.correlation, SPOOL_REASON_unfinished);
		emit(c, returned, 0, 0, REC_F_UNFINISHED);
	} else {
		bus_loss_of(c->entry.correlation, why_no_time(c, r));
		emit(c, returned, 0, 0, REC_F_NO_TIME);
	}
	if (returned)
		release(c);
}

uint32_t copy_harvest(bool final)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	uint32_t n = atomic_load_explicit(&nr_used, memory_order_relaxed), i = 0;
	struct copy_info *c;

	if (n == 0)
		return 0;
	while (atomic_exchange_explicit(&busy, true, memory_order_acquire)) {
		if (!final)
			return n;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	}
	while ((c = next_used(&i)) != NULL)
		harvest_one(c, final);
	atomic_store_explicit(&busy, false, memory_order_release);
	return atomic_load_explicit(&nr_used, memory_order_relaxed);
}

/* The lowest free place: there are few, so few are looked at. */
static struct copy_info *claim(void)
{
	for (uint32_t w = 0; w < WORDS; w++) {
		uint64_t word = atomic_load_explicit(&used[w], memory_order_relaxed);

		while (~word) {
			uint32_t bit = (uint32_t)__builtin_ctzll(~word);
			uint64_t with = word | UINT64_C(1) << bit;

			/* acquire: pairs with release(); release: with next_used() */
			if (!atomic_compare_exchange_weak_explicit(&used[w], &word, with,
								   memory_order_acq_rel,
								   memory_order_relaxed))
				continue;
			atomic_fetch_add_explicit(&nr_used, 1, memory_order_relaxed);
			return &table[w * 64 + bit];
		}
	}
	return NULL;
}

static uint32_t kind_of(uint32_t dst, uint32_t src)
{
	bool to = agent_is_gpu(dst), from = agent_is_gpu(src);

	if (to && from)
		return dst == src ? REC_COPY_D2D : REC_COPY_P2P;
	return to ? REC_COPY_H2D : from ? REC_COPY_D2H : REC_COPY_H2H;
}

struct what {
	uint64_t bytes;
	const void *dst, *src;
	uint32_t dst_agent, src_agent, kind, engine;
};

static void describe(struct copy_info *c, const struct thread *t, const struct what *w)
{
	c->bytes = w->bytes;
	c->dst = (uint64_t)(uintptr_t)w->dst;
	c->src = (uint64_t)(uintptr_t)w->src;
	c->dst_agent = w->dst_agent;
	c->src_agent = w->src_agent;
	c->kind = w->kind;
	c->engine = w->engine;
	c->entry.marker = t->marker;
	c->entry.tid = t->tid;
}

/* A record of an asynchronous copy, which the harvester sees when end() arms it. */
static struct copy_info *note(struct thread *t, const struct what *w, amd_signal_t *s,
			      uint64_t correlation)
{
	struct copy_info *c = claim();
	struct inflight *e;

	if (join_is_on()) {
		join_submits(t->tid);
		join_submitted(signal_handle(s).handle, t->tid);
		if (c && !t->corr_current)
			join_wanted(signal_handle(s).handle, correlation);
	}
	if (!c) {
		bus_loss_of(correlation, SPOOL_REASON_inflight_full);
		watch_reuse(s);
		return NULL;
	}
	e = &c->entry;
	atomic_store_explicit(&e->state, INFLIGHT_FREE, memory_order_relaxed);
	atomic_store_explicit(&c->by_kernel, false, memory_order_relaxed);
	describe(c, t, w);
	e->correlation = correlation;
	e->kind = INFLIGHT_COPY;
	e->owned = false;
	inflight_set_signal(e, s);
	e->start_value = signal_value(s);
	e->nr_looks = 0;
	/* a counting signal is shared by those that it counts */
	atomic_store_explicit(&e->tainted, e->start_value != 1, memory_order_relaxed);
	if (watch_add(s, e, NULL) != 0) /* shared, or its reuse would not be noticed */
		atomic_store_explicit(&e->tainted, true, memory_order_relaxed);
	else if (e->start_value == 1)
		signal_clear_ticks(s);
	/* pairs with lock_any() in inflight.c, and with may_take() */
	atomic_store_explicit(&e->state, INFLIGHT_CALLING, memory_order_release);
	atomic_store_explicit(&c->signal, s, memory_order_release);
	return c;
}

/* Before the real call; NULL: not traced. */
static struct thread *begin(struct call *call, const struct what *w, hsa_signal_t signal)
{
	struct thread *t;

	if (!life_enter(&t))
		return NULL;
	call->rt.correlation = corr_take(t);
	call->rt.signal = signal_of(signal);
	call->info = NULL;
	if (signal.handle)
		call->info = note(t, w, signal_of(signal), call->rt.correlation);
	call->rt.dispatch = call->info ? &call->info->dispatch : NULL;
	rtqueue_enter(&call->rt);
	return t;
}

/* The call has returned: what its signal says is looked at from now on. */
static void arm(struct copy_info *c)
{
	uint32_t state = INFLIGHT_CALLING, phase = IN_CALL;

	while (!atomic_compare_exchange_weak_explicit(&c->entry.state, &state, INFLIGHT_ARMED,
						      memory_order_release, memory_order_relaxed)) {
		if (state == INFLIGHT_CAPTURED)
			break;		  /* it has completed, and its signal was used again */
		state = INFLIGHT_CALLING; /* BUSY: lasts a few loads */
	}
	/* pairs with may_take() */
	if (!atomic_compare_exchange_strong_explicit(&c->phase, &phase, RETURNED,
						     memory_order_acq_rel, memory_order_acquire))
		release(c);
}

static void end(struct thread *t, struct call *call, hsa_status_t status)
{
	struct copy_info *c = call->info;

	if (!t)
		return;
	rtqueue_leave(&call->rt, t);
	if (c && status != HSA_STATUS_SUCCESS) {
		watch_remove(inflight_signal(&c->entry), &c->entry);
		release(c);
	} else if (c) {
		atomic_store_explicit(&c->by_kernel, call->rt.found, memory_order_relaxed);
		arm(c);
	}
	life_leave(t);
	life_wake();
}

hsa_status_t copy_async(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
			size_t size, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
			hsa_signal_t completion_signal)
{
	struct what w = { size, dst,	   src, agent_index(dst_agent), agent_index(src_agent),
			  0,	UINT32_MAX };
	struct call call;
	struct thread *t;
	hsa_status_t status;

	w.kind = kind_of(w.dst_agent, w.src_agent);
	t = begin(&call, &w, completion_signal);
	status = real.hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size,
						num_dep_signals, dep_signals, completion_signal);
	end(t, &call, status);
	return status;
}

hsa_status_t copy_async_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
				  hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
				  const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
				  int engine_id, bool force_copy_on_sdma)
{
	struct what w = { size, dst,	   src, agent_index(dst_agent), agent_index(src_agent),
			  0,	UINT32_MAX };
	struct call call;
	struct thread *t;
	hsa_status_t status;

	w.kind = kind_of(w.dst_agent, w.src_agent);
	if (engine_id > 0) /* one bit for each engine */
		w.engine = (uint32_t)__builtin_ctz((unsigned)engine_id);
	t = begin(&call, &w, completion_signal);
	status = real.hsa_amd_memory_async_copy_on_engine(dst, dst_agent, src, src_agent, size,
							  num_dep_signals, dep_signals,
							  completion_signal, engine_id,
							  force_copy_on_sdma);
	end(t, &call, status);
	return status;
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
	struct call call;
	struct thread *t;
	hsa_status_t status;

	if (dst && src && range) { /* else the runtime says so */
		w.bytes = (uint64_t)range->x * range->y * range->z;
		w.dst = dst->base;
		w.src = src->base;
	}
	if ((unsigned)dir < sizeof(kinds))
		w.kind = kinds[dir];
	t = begin(&call, &w, completion_signal);
	status = real.hsa_amd_memory_async_copy_rect(dst, dst_offset, src, src_offset, range,
						     copy_agent, dir, num_dep_signals, dep_signals,
						     completion_signal);
	end(t, &call, status);
	return status;
}

/* A blocking call has signals of the runtime's own: the call's times are what can be had. */
static void emit_blocking(struct thread *t, const struct call *call, const struct what *w,
			  uint64_t begin_ns)
{
	struct event ev = { .kind = EVENT_COPY };

	ev.copy = (struct event_copy){ .begin_ns = begin_ns,
				       .end_ns = clock_now_ns(),
				       .bytes = w->bytes,
				       .correlation = call->rt.correlation,
				       .marker = t->marker,
				       .dst = (uint64_t)(uintptr_t)w->dst,
				       .src = (uint64_t)(uintptr_t)w->src,
				       .dst_agent = AGENT_NONE,
				       .src_agent = AGENT_NONE,
				       .kind = w->kind,
				       .engine = UINT32_MAX,
				       .tid = t->tid,
				       .flags = REC_F_HOST_TIME };
	bus_emit(&ev);
}

hsa_status_t copy_blocking(void *dst, const void *src, size_t size)
{
	struct what w = { size, dst, src, AGENT_NONE, AGENT_NONE, REC_COPY_UNKNOWN, UINT32_MAX };
	struct call call;
	struct thread *t = begin(&call, &w, (hsa_signal_t){ 0 });
	uint64_t begin_ns = t ? clock_now_ns() : 0;
	hsa_status_t status = real.hsa_memory_copy(dst, src, size);

	if (t && status == HSA_STATUS_SUCCESS)
		emit_blocking(t, &call, &w, begin_ns);
	end(t, &call, status);
	return status;
}

hsa_status_t copy_fill(void *ptr, uint32_t value, size_t count)
{
	struct what w = { count * sizeof(value), ptr,	    NULL, AGENT_NONE, AGENT_NONE,
			  REC_COPY_FILL,	 UINT32_MAX };
	struct call call;
	struct thread *t = begin(&call, &w, (hsa_signal_t){ 0 });
	uint64_t begin_ns = t ? clock_now_ns() : 0;
	hsa_status_t status = real.hsa_amd_memory_fill(ptr, value, count);

	if (t && status == HSA_STATUS_SUCCESS)
		emit_blocking(t, &call, &w, begin_ns);
	end(t, &call, status);
	return status;
}

hsa_status_t copy_profiling_enable(bool enable)
{
	/* Switched off, our copies would have no times; switched on, the program notices nothing. */
	return life_on() ? HSA_STATUS_SUCCESS : real.hsa_amd_profiling_async_copy_enable(enable);
}

hsa_status_t copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
	hsa_status_t status = real.hsa_amd_profiling_get_async_copy_time(signal, time);

	if (status == HSA_STATUS_SUCCESS && join_is_on())
		join_asked(signal.handle, time->start, time->end);
	return status;
}
