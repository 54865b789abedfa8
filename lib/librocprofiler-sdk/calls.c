/* SPDX-License-Identifier: MIT */
/* calls.c - librocprofiler-sdk: calls of HIP and HSA, from the core's live.h to callbacks
 *
 * Owns:     this library's index among the subscribers; which operations it subscribes to.
 * Threads:  any.
 * Hot path: on_enter(), on_exit(): no lock; no allocation but for a call nested deeper than any before it on the thread.
 */
#include "../face/fork_guard.h"
#include "sdk.h"

#include <string.h>

GUARDED_LOCK(lock, LOCK_SDK_CALLS);
static bool wants_hip[HIP_OP_NR] RTL_GUARDED_BY(lock);
static bool wants_hsa[HSA_OP_NR] RTL_GUARDED_BY(lock);
/* set in calls_start(), constant after */
static const struct rtl_core *core;
static int index_of = -1;
static _Atomic bool is_hip_seen; /* a wrapper has shown a call */

static bool is_hip_kind(uint32_t kind)
{
	return kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API ||
	       kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API;
}

/* Kinds of API calls have the same numbers in both. */
static rocprofiler_external_correlation_id_request_kind_t request_of(uint32_t kind)
{
	return (rocprofiler_external_correlation_id_request_kind_t)kind;
}

/* The id of the call around it that this library has shown. */
#if ROCPROFILER_SDK_ABI > 0
static uint64_t ancestor_of(const struct live_call *call)
{
	const struct live_call *o = live_outer(call);

	while (o && !o->own[index_of])
		o = live_outer(o);
	return o ? o->correlation : 0;
}
#endif

static void fill(struct shown_call *s, const struct live_call *call, const struct tables_route *r)
{
	void *args;

	if (is_hip_kind(r->kind)) {
		memset(&s->payload.hip, 0, sizeof(s->payload.hip));
		s->payload.hip.size = sizeof(s->payload.hip);
		args = &s->payload.hip.args;
	} else {
		memset(&s->payload.hsa, 0, sizeof(s->payload.hsa));
		s->payload.hsa.size = sizeof(s->payload.hsa);
		args = &s->payload.hsa.args;
	}
	if (call->args)
		memcpy(args, call->args, r->args_size);
	s->kind = r->kind;
	s->operation = r->id;
	s->tid = call->tid;
	s->correlation.internal = call->correlation;
#if ROCPROFILER_SDK_ABI > 0
	s->correlation.ancestor = ancestor_of(call);
#endif
}

static const struct tables_route *route_of(const struct live_call *call)
{
	return call->domain == API_HIP ? &tables_hip[call->operation] :
					 &tables_hsa[call->operation];
}

static void on_enter(struct live_call *call)
{
	const struct tables_route *r = route_of(call);
	struct shown_call *s;
	uint64_t mask;

	if (call->domain == API_HIP)
		atomic_store_explicit(&is_hip_seen, true, memory_order_relaxed);
	registration_first_use();
	if (!r->kind || registration_is_over())
		return;
	mask = context_mask(r->kind, r->id);
	s = mask ? shown_call_get(call) : NULL;
	if (!s)
		return;
	s->mask = mask;
	fill(s, call, r);
	call->own[index_of] = (uintptr_t)s;
	shown_call_begin(s, request_of(r->kind));
}

static void on_exit(struct live_call *call)
{
	struct shown_call *s = (struct shown_call *)(uintptr_t)call->own[index_of];
	const struct tables_route *r = route_of(call);

	/* it began before a context wanted it */
	if (!s)
		return;
	if (call->result && is_hip_kind(r->kind))
		memcpy(&s->payload.hip.retval, call->result, r->result_size);
	else if (call->result)
		memcpy(&s->payload.hsa.retval, call->result, r->result_size);
	shown_call_end(s);
}

static const struct live_subscriber subscriber = { .enter = on_enter, .exit = on_exit };

int calls_start(const struct rtl_core *of)
{
	core = of;
	index_of = core->live_subscribe(&subscriber);
	if (index_of < 0)
		return index_of;
	lock_take(&lock);
	for (uint32_t op = 0; op < HIP_OP_NR; op++) {
		wants_hip[op] = true;
		core->live_want(index_of, API_HIP, op, LIVE_CALLS);
	}
	lock_drop(&lock);
	return index_of;
}

RTL_REQUIRES(lock)
static void update(enum api_domain domain, const struct tables_route *routes, uint32_t nr,
		   bool *wants)
{
	for (uint32_t op = 0; op < nr; op++) {
		bool is_wanted = routes[op].kind &&
				 context_mask(routes[op].kind, routes[op].id) != 0;

		if (is_wanted == wants[op])
			continue;
		wants[op] = is_wanted;
		core->live_want(index_of, domain, op, is_wanted ? LIVE_CALLS : LIVE_NOTHING);
	}
}

void calls_update(void)
{
	if (!sdk_core() || !atomic_load_explicit(&registration_is_done, memory_order_acquire))
		return;
	lock_take(&lock);
	update(API_HIP, tables_hip, HIP_OP_NR, wants_hip);
	update(API_HSA, tables_hsa, HSA_OP_NR, wants_hsa);
	lock_drop(&lock);
}

static bool has_any(uint32_t first, uint32_t last)
{
	for (uint32_t kind = first; kind <= last; kind++)
		if (context_has((rocprofiler_callback_tracing_kind_t)kind))
			return true;
	return false;
}

void calls_on_runtime(void)
{
	if (!sdk_core())
		return;
	if (has_any(ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		    ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API))
		core->hsa_wrap();
	/* relaxed: of a call that is in progress on this thread */
	if (has_any(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
		    ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API) &&
	    !atomic_load_explicit(&is_hip_seen, memory_order_relaxed))
		core->activity_turn_on();
}
