/* SPDX-License-Identifier: MIT */
/* retire.h - the end of ids, of calls and of operations outside of them */
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
/* HOT: an operation with this id is submitted: each retire_hold() has its retire_drop(), on any
 * thread, under any lock. An id that is not noted is the operation's own, or that of a call that is
 * not shown: it is noted for the contexts that are to know. */
void retire_hold_noted(uint64_t id, uint64_t contexts, bool outlives_call);
static inline void retire_hold_for(uint64_t id, bool outlives_call)
{
	uint64_t contexts =
		context_buffered_mask(ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, 0);

	if (RTL_UNLIKELY(contexts != 0 || retire_any()))
		retire_hold_noted(id, contexts, outlives_call);
}
static inline void retire_hold(uint64_t id)
{
	retire_hold_for(id, true);
}
/* The same for what a call does until it is over. */
static inline void retire_hold_effect(uint64_t id)
{
	retire_hold_for(id, false);
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
