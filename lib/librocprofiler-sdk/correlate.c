/* SPDX-License-Identifier: MIT */
/* correlate.c - librocprofiler-sdk: the ids that what a call does has
 *
 * Threads:  any; the calls are the thread's own.
 */
#include "correlate.h"

#include "context.h"
#include "state.h"

int correlate_index = -1;

#if ROCPROFILER_SDK_ABI > 0
_Thread_local struct correlate_region correlate_region;

void correlate_call(const struct live_call *call, rocprofiler_correlation_id_t *id)
{
	const struct live_call *shown = call->own[correlate_index] ? call : correlate_around(call);

	id->internal = shown ? shown->correlation : call->correlation;
	id->ancestor = shown ? correlate_ancestor(shown) : 0;
}

static const struct live_call *innermost(void)
{
	return correlate_index < 0 ? NULL : state_core()->live_innermost();
}

const struct live_call *correlate_shown(void)
{
	const struct live_call *call = innermost();

	return !call || call->own[correlate_index] ? call : correlate_around(call);
}

uint64_t correlate_now(void)
{
	const struct live_call *call = correlate_shown();

	if (correlate_region.id && correlate_region.call == call)
		return correlate_region.id;
	return call ? call->correlation : 0;
}

static void correlate(const struct live_call *call, rocprofiler_correlation_id_t *id)
{
	if (call->own[correlate_index] || correlate_around(call))
		correlate_call(call, id);
}

void correlate_here(rocprofiler_correlation_id_t *id)
{
	const struct live_call *call = innermost();

	if (call)
		correlate(call, id);
}

void correlate_packet(uint32_t tid, rocprofiler_correlation_id_t *id)
{
	const struct live_call *call = innermost();

	if (call && call->tid == tid)
		correlate(call, id);
}

bool correlate_is_nested(void)
{
	return context_has(ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API) ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_RCCL_API) ||
	       context_has_records(ROCPROFILER_BUFFER_TRACING_HSA_CORE_API) ||
	       context_has_records(ROCPROFILER_BUFFER_TRACING_RCCL_API);
}
#endif
