/* SPDX-License-Identifier: MIT */
/* copy_times.c - whether a copy has completed, and its times
 *
 * Quirk:   an SDMA engine's times are in a part of ROCr's signal that is not public, so they are
 *          read with hsa_amd_profiling_get_async_copy_time(). ROCr clears them when a copy is
 *          submitted (SharedSignal::CopyPrep, 5.2.3). Without engine times that call converts the
 *          signal's dispatch times, which librtl clears: tick 0 means "none".
 */
#include "source/hsa/completion/copy_times.h"

#include <stddef.h>

#include "source/hsa/agent.h"
#include "source/hsa/table/real.h"

/* Two conversions of tick 0 differ by less than this, a real tick and tick 0 by more. */
#define ZERO_SLACK_NS 1000000u
#define LOOKS_WITHOUT_TIMES 3

_Static_assert(offsetof(struct copy_times, entry) == 0, "found by its entry");

static enum inflight_result poll_kernel(struct copy_times *c, bool dropped, uint64_t *begin_ns,
					uint64_t *end_ns)
{
	uint32_t gpu = agent_is_gpu(c->what.src_agent) ? c->what.src_agent : c->what.dst_agent;

	if (!c->end_ticks)
		return dropped && ++c->entry.nr_looks > LOOKS_WITHOUT_TIMES ? INFLIGHT_UNTIMED :
									      INFLIGHT_PENDING;
	*end_ns = agent_system_ns(gpu, c->end_ticks);
	*begin_ns = agent_system_ns(gpu, c->begin_ticks);
	return INFLIGHT_TIMED;
}

/* Gets the times from the runtime. false: it has none, or not yet. */
static bool read_times(const struct copy_times *c, uint64_t *begin_ns, uint64_t *end_ns)
{
	uint32_t gpu = agent_is_gpu(c->what.src_agent) ? c->what.src_agent : c->what.dst_agent;
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

enum inflight_result copy_times_poll(struct inflight *e, bool over, uint64_t *begin_ns,
				     uint64_t *end_ns)
{
	bool dropped = signal_value(inflight_signal(e)) < e->start_value;
	struct copy_times *c = (struct copy_times *)(void *)e;

	if (atomic_load_explicit(&e->tainted, memory_order_relaxed))
		return dropped ? INFLIGHT_REPLACED : INFLIGHT_PENDING;
	c->end_ticks = signal_end_ticks(inflight_signal(e));
	c->begin_ticks = signal_begin_ticks(inflight_signal(e));
	if (atomic_load_explicit(&c->by_kernel, memory_order_relaxed))
		return poll_kernel(c, dropped, begin_ns, end_ns);
	/* ROCr with assertions prints to stderr when it is asked before there are times. With
	 * `over` the value may already be that of the next use. */
	if (!dropped && !over)
		return INFLIGHT_PENDING;
	if (read_times(c, begin_ns, end_ns))
		return INFLIGHT_TIMED;
	return dropped ? INFLIGHT_UNTIMED : INFLIGHT_PENDING;
}
