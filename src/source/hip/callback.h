/* SPDX-License-Identifier: MIT */
/* callback.h - HIP calls recorded by the runtime's own callbacks
 *
 * For programs into which librtl can't be preloaded: RTL_HIP_BACKEND=callback. Not chosen automatically, because it
 * changes how the runtime works (callback.c says how).
 */
#ifndef RTL_SOURCE_HIP_CALLBACK_H
#define RTL_SOURCE_HIP_CALLBACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "source/api/live.h"
#include "source/hip/release.h"

extern RTL_HIDDEN _Atomic bool callback_on;
/* HOT: whether calls are recorded this way. */
static inline bool callback_is_on(void)
{
	/* relaxed: a call that runs while it is turned on is recorded or not */
	return atomic_load_explicit(&callback_on, memory_order_relaxed);
}

/* HOT: for activity.c, which the runtime calls. A call begins: f->is_recorded is set if it is recorded. A recorded call
 * ends. */
void callback_begin(uint32_t id, struct live_frame *f);
void callback_end(uint32_t id, struct live_frame *f);

/* Looks up how the runtime gives the status of a call. Before callbacks are turned on. */
void callback_find_status(void);
/* HOT: a call whose status is needed begins; it has returned. */
void callback_status_before(const struct hip_callback *c, struct live_frame *f);
void callback_status_after(struct live_frame *f);

/* A call on this thread has just loaded HSA's runtime, which is traced. true: callbacks are on. */
bool callback_on_runtime(void);

#endif
