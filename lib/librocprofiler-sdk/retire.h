/* SPDX-License-Identifier: MIT */
/* retire.h - the end of calls' ids */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_RETIRE_H
#define RTL_LIB_LIBROCPROFILER_SDK_RETIRE_H

#include "context.h"

void retire_begin_for(uint64_t id, uint64_t contexts);
/* HOT: a call with this id begins. */
static inline void retire_begin(uint64_t id)
{
	uint64_t contexts =
		context_buffered_mask(ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, 0);

	if (RTL_UNLIKELY(contexts != 0))
		retire_begin_for(id, contexts);
}
extern RTL_HIDDEN _Atomic uint64_t retire_nr_held;
/* HOT: whether any id is noted. relaxed: a thread that holds an id has seen it noted, on this
 * thread or by what passed it on */
static inline bool retire_any(void)
{
	return atomic_load_explicit(&retire_nr_held, memory_order_relaxed) != 0;
}
/* HOT: an operation that carries the id of a call in progress is submitted: each retire_hold() has
 * its retire_drop(), on any thread, under any lock. An id that is not noted is ignored. */
void retire_hold_noted(uint64_t id);
static inline void retire_hold(uint64_t id)
{
	if (RTL_UNLIKELY(retire_any()))
		retire_hold_noted(id);
}
/* HOT: the call is over, or the operation has completed. */
void retire_drop_noted(uint64_t id);
static inline void retire_drop(uint64_t id)
{
	if (RTL_UNLIKELY(retire_any()))
		retire_drop_noted(id);
}
/* All ids: calls that never returned, operations that did not complete. */
void retire_end(void);

#endif
