/* SPDX-License-Identifier: MIT */
/* calls.c - librocprofiler-sdk: calls of HIP and HSA, from the core's live.h to callbacks and
 * records
 *
 * Owns:     this library's index among the subscribers; which operations it subscribes to.
 * Threads:  any.
 * Hot path: on_enter(), on_exit(): no lock; no allocation but for a call nested deeper than any
 * before it on the thread.
 */
#include "calls.h"

#include "../face/fork_guard.h"
#include "context.h"
#include "correlate.h"
#include "effects.h"
#include "rccl.h"
#include "shown.h"
#include "state.h"

#include <string.h>

GUARDED_LOCK(lock, LOCK_SDK_CALLS);
/* sums of enum live_wish */
static uint8_t wishes_hip[HIP_OP_NR] RTL_GUARDED_BY(lock);
static uint8_t wishes_hsa[HSA_OP_NR] RTL_GUARDED_BY(lock);
static uint8_t wishes_rccl[RCCL_OP_NR] RTL_GUARDED_BY(lock);
/* set in calls_start(), constant after */
static const struct rtl_core *core;
static _Atomic bool is_hip_seen; /* a wrapper has shown a call */

static bool is_hip_kind(uint32_t kind)
{
	return kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API ||
	       kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API;
}

/* Kinds of API calls have the same numbers in both, but for RCCL's. */
static rocprofiler_external_correlation_id_request_kind_t request_of(uint32_t kind)
{
	if (RTL_UNLIKELY(kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API))
		return ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_RCCL_API;
	return (rocprofiler_external_correlation_id_request_kind_t)kind;
}

/* Often there is one argument, or one word of a result: a copy of known size needs no call. */
static RTL_INLINE void copy(void *to, const void *from, size_t size)
{
	if (size == sizeof(uint64_t)) {
		memcpy(to, from, sizeof(uint64_t));
	} else if (size == sizeof(uint32_t)) {
		memcpy(to, from, sizeof(uint32_t));
	} else {
		/* hides that it is small: gcc would copy it by a slow string instruction */
		__asm__("" : "+r"(size));
		memcpy(to, from, size);
	}
}

static RTL_NOINLINE void clear(void *to, size_t size)
{
	__asm__("" : "+r"(size));
	memset(to, 0, size);
}

static void fill_args(struct shown_call *s, const struct live_call *call,
		      const struct tables_route *r)
{
	void *args;

	if (is_hip_kind(r->kind)) {
		s->payload.hip.size = sizeof(s->payload.hip);
		memset(&s->payload.hip.retval, 0, sizeof(s->payload.hip.retval));
		args = &s->payload.hip.args;
	} else if (r->kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API) {
		s->payload.rccl.size = sizeof(s->payload.rccl);
		memset(&s->payload.rccl.retval, 0, sizeof(s->payload.rccl.retval));
		args = &s->payload.rccl.args;
	} else {
		s->payload.hsa.size = sizeof(s->payload.hsa);
		memset(&s->payload.hsa.retval, 0, sizeof(s->payload.hsa.retval));
		args = &s->payload.hsa.args;
	}
	if (RTL_LIKELY(call->args != NULL))
		copy(args, call->args, r->args_size);
	else
		clear(args, r->args_size);
}

static void fill(struct shown_call *s, const struct live_call *call, const struct tables_route *r)
{
	/* a plain record has no arguments */
	if (s->wish.callbacks | s->wish.with_arguments)
		fill_args(s, call, r);
	shown_call_is(s, r->kind, r->id);
	s->tid = call->tid;
	s->correlation.internal = call->correlation;
#if ROCPROFILER_SDK_ABI > 0
	s->correlation.ancestor = correlate_ancestor(call);
#endif
}

static const struct tables_route *route_of(const struct live_call *call)
{
	if (RTL_UNLIKELY(call->domain == API_RCCL))
		return &tables_rccl[rccl_numbers()][call->operation];
	return call->domain == API_HIP ? &tables_hip[call->operation] :
					 &tables_hsa[call->operation];
}

static void show_begin(struct live_call *call, const struct tables_route *r)
{
	struct shown_wish wish = shown_wish_of(r->kind, r->id);
	struct shown_call *s = shown_wish_any(&wish) ? shown_call_get(call) : NULL;

	if (!s)
		return;
	s->wish = wish;
	fill(s, call, r);
	call->own[correlate_index] = (uintptr_t)s;
	shown_call_begin(s, request_of(r->kind));
}

/* What effects_enter() has returned for the call. */
static struct op **effects_of(struct live_call *call)
{
	return live_scratch(call, correlate_index);
}

/* Code registers itself before main(), as a rule: that is the first use of HIP if there is a tool
 * already, and no use of it for a tool that comes later, in main(). */
static bool is_too_early(const struct live_call *call)
{
	const struct tables_route *r = call->domain == API_HIP ? &tables_hip[call->operation] :
								 NULL;

	return r && r->kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API &&
	       r->id >= ROCPROFILER_HIP_COMPILER_API_ID___hipRegisterFatBinary && !state_has_tool();
}

static RTL_NOINLINE void first_rccl_call(void)
{
	if (rccl_first_call())
		calls_update();
}

static void on_enter(struct live_call *call)
{
	struct op **effects = effects_of(call);
	const struct tables_route *r;

	*effects = NULL;
	if (RTL_UNLIKELY(!atomic_load_explicit(&state_is_done, memory_order_acquire)) &&
	    is_too_early(call))
		return;
	/* read first: the cache line stays all processors' */
	if (RTL_UNLIKELY(!atomic_load_explicit(&is_hip_seen, memory_order_relaxed)) &&
	    call->domain == API_HIP)
		atomic_store_explicit(&is_hip_seen, true, memory_order_relaxed);
	state_first_use();
	if (RTL_UNLIKELY(call->domain == API_RCCL))
		first_rccl_call();
	r = route_of(call);
	if (!r->kind || state_is_over())
		return;
	show_begin(call, r);
	if (RTL_UNLIKELY(effects_any()))
		*effects = effects_enter(call);
}

static void take_result(struct shown_call *s, const struct live_call *call,
			const struct tables_route *r)
{
	if (is_hip_kind(r->kind))
		copy(&s->payload.hip.retval, call->result, r->result_size);
	else if (r->kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API)
		copy(&s->payload.rccl.retval, call->result, r->result_size);
	else
		copy(&s->payload.hsa.retval, call->result, r->result_size);
}

/* A call that began before the core knew that records are wanted has no times. */
static void take_times(struct shown_call *s, const struct live_call *call)
{
	s->end_ns = call->end_ns ? call->end_ns : core->now_ns();
	s->begin_ns = call->begin_ns ? call->begin_ns : s->end_ns;
}

static void on_exit(struct live_call *call)
{
	struct shown_call *s = (struct shown_call *)(uintptr_t)call->own[correlate_index];

	if (RTL_UNLIKELY(effects_any()) && !state_is_over())
		effects_exit(call, *effects_of(call));
	/* it began before a context wanted it */
	if (!s)
		return;
	if (call->result && s->wish.callbacks | s->wish.with_arguments)
		take_result(s, call, route_of(call));
	if (s->wish.recorded | s->wish.with_arguments)
		take_times(s, call);
	shown_call_end(s);
}

static const struct live_subscriber subscriber = { .enter = on_enter, .exit = on_exit };

int calls_start(const struct rtl_core *of)
{
	core = of;
	correlate_index = core->live_subscribe(&subscriber);
	if (correlate_index < 0)
		return correlate_index;
	effects_start(core);
	rccl_start(core);
	lock_take(&lock);
	/* of RCCL, too: its first call decides about its numbers */
	for (uint32_t op = 0; op < RCCL_OP_NR; op++) {
		wishes_rccl[op] = LIVE_CALLS | LIVE_RECORDS;
		core->live_want(correlate_index, API_RCCL, op, LIVE_CALLS | LIVE_RECORDS);
	}
	for (uint32_t op = 0; op < HIP_OP_NR; op++) {
		wishes_hip[op] = LIVE_CALLS;
		core->live_want(correlate_index, API_HIP, op, LIVE_CALLS);
	}
	lock_drop(&lock);
	return correlate_index;
}

/* Records need the call's times. */
static uint8_t wish_of(enum api_domain domain, uint32_t op, const struct tables_route *r)
{
	struct shown_wish w = { 0 };

	if (r->kind)
		w = shown_wish_of(r->kind, r->id);
	if (w.recorded | w.with_arguments)
		return LIVE_CALLS | LIVE_RECORDS;
	return w.callbacks || (r->kind && effects_want(domain, op)) ? LIVE_CALLS : LIVE_NOTHING;
}

RTL_REQUIRES(lock)
static void update(enum api_domain domain, const struct tables_route *routes, uint32_t nr,
		   uint8_t *wishes)
{
	for (uint32_t op = 0; op < nr; op++) {
		uint8_t wish = wish_of(domain, op, &routes[op]);

		if (wish == wishes[op])
			continue;
		wishes[op] = wish;
		core->live_want(correlate_index, domain, op, wish);
	}
}

void calls_update(void)
{
	if (!state_core() || !atomic_load_explicit(&state_is_done, memory_order_acquire))
		return;
	lock_take(&lock);
	update(API_HIP, tables_hip, HIP_OP_NR, wishes_hip);
	update(API_HSA, tables_hsa, HSA_OP_NR, wishes_hsa);
	/* before its first call all of them: which numbers they have is not known */
	if (rccl_is_decided())
		update(API_RCCL, tables_rccl[rccl_numbers()], RCCL_OP_NR, wishes_rccl);
	lock_drop(&lock);
}

static bool has_any(uint32_t first, uint32_t last)
{
	for (uint32_t kind = first; kind <= last; kind++)
		if (context_has((rocprofiler_callback_tracing_kind_t)kind) ||
		    context_has_records(kind) ||
		    (context_ext_of(kind) && context_has_records(context_ext_of(kind))))
			return true;
	return false;
}

void calls_on_runtime(void)
{
	if (!state_core())
		return;
	if (has_any(ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		    ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API) ||
	    effects_has(API_HSA))
		core->hsa_wrap();
	/* relaxed: of a call that is in progress on this thread */
	if ((has_any(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
		     ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API) ||
	     effects_has(API_HIP)) &&
	    !atomic_load_explicit(&is_hip_seen, memory_order_relaxed))
		core->activity_turn_on();
}
