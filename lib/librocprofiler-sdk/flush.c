/* SPDX-License-Identifier: MIT */
/* flush.c - librocprofiler-sdk: a buffer is flushed, with what is on its way to it
 *
 * Threads:  any but a buffer's callback thread.
 */
#include "buffer.h"
#include "count.h"
#include "events.h"
#include "state.h"

EXPORT rocprofiler_status_t rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id)
{
	struct sdk_buffer *b = buffer_find(buffer_id);

	if (atomic_load(&state_end) > 0)
		return ROCPROFILER_STATUS_ERROR_FINALIZED;
	if (!b)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	if (buffer_is_ended(b))
		return ROCPROFILER_STATUS_ERROR_FINALIZED;
	events_flush();
	count_dispatch_settle();
	return buffer_flush_one(b);
}
