/* SPDX-License-Identifier: MIT */
/* effects.h - what calls of HIP and HSA do: memory, streams, graphs; and runtimes that come up */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_EFFECTS_H
#define RTL_LIB_LIBROCPROFILER_SDK_EFFECTS_H

#include "operations.h"

/* From calls_start(), which has set correlate_index. */
void effects_start(const struct rtl_core *core);
/* HOT: whether an active context wants what the function does. */
bool effects_want(uint32_t domain, uint32_t operation);
/* Whether any context has a service of what functions of that domain do. */
bool effects_has(uint32_t domain);
/* HOT: whether any context has a service of these kinds. If not, effects_enter() and effects_exit()
 * do nothing. */
static inline bool effects_any(void)
{
	/* relaxed: a service that is made now gets the calls that begin later */
	return atomic_load_explicit(&context_effects, memory_order_relaxed);
}
/* HOT: the call begins. Returns what effects_exit() of the same call gets; NULL: nothing. */
struct op *effects_enter(const struct live_call *call);
void effects_exit(const struct live_call *call, struct op *op);

/* ---- kernels of graphs ---- */

/* Whether any context has a buffer for launches of graphs. */
bool effects_has_graphs(void);
/* HOT: whether this thread launches a graph that gets a record. */
bool effects_launching(void);
/* HOT: the launch in progress on this thread, if that is `tid`; else NULL. */
struct op *effects_launch_of(uint32_t tid);
/* HOT: one more kernel is the launch's. */
void effects_launch_hold(struct op *launch);
/* It is over. The last one puts the launch's record. */
void effects_launch_drop(struct op *launch, const struct op *kernel);

/* A runtime is there: shown once for each instance. The values are
 * rocprofiler_runtime_initialization_operation_t's. HOT: a load for one that was shown. */
enum effects_runtime { EFFECTS_HSA = 1, EFFECTS_HIP = 2, EFFECTS_MARKER = 3, EFFECTS_RCCL = 4 };
void effects_runtime(enum effects_runtime which, uint64_t version, uint64_t instance);

#endif
