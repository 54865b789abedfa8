/* SPDX-License-Identifier: MIT */
/* correlate.c - librocprofiler-sdk: the ids that what a call does has
 *
 * Threads:  any; the calls are the thread's own.
 */
#include "correlate.h"

#include "state.h"

int correlate_index = -1;

#if ROCPROFILER_SDK_ABI > 0
void correlate_call(const struct live_call *call, rocprofiler_correlation_id_t *id)
{
	const struct live_call *shown = call->own[correlate_index] ? call : correlate_around(call);

	id->internal = shown ? shown->correlation : call->correlation;
	id->ancestor = shown ? correlate_ancestor(shown) : 0;
}

void correlate_here(rocprofiler_correlation_id_t *id)
{
	const struct live_call *call = correlate_index < 0 ? NULL : state_core()->live_innermost();

	if (call && (call->own[correlate_index] || correlate_around(call)))
		correlate_call(call, id);
}
#endif
