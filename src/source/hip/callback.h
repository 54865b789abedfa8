/* SPDX-License-Identifier: MIT */
/* callback.h - HIP calls recorded by the runtime's own callbacks
 *
 * For programs into which librtl can't be preloaded: RTL_HIP_BACKEND=callback. Not chosen
 * automatically, because it changes how the runtime works (callback.c says how).
 */
#ifndef RTL_SOURCE_HIP_CALLBACK_H
#define RTL_SOURCE_HIP_CALLBACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "hip_ops_gen.h"
#include "source/api/live.h"
#include "source/hip/release.h"
#include "source/hip/status.h"

extern RTL_HIDDEN _Atomic bool callback_on;
/* HOT: whether calls are recorded this way. */
static inline bool callback_is_on(void)
{
	/* relaxed: a call that runs while it is turned on is recorded or not */
	return atomic_load_explicit(&callback_on, memory_order_relaxed);
}

/* HOT: for activity.c, which the runtime calls. A call begins: f->is_recorded is set if it is
 * recorded. A recorded call ends. */
void callback_begin(uint32_t id, struct live_frame *f);
void callback_end(uint32_t id, struct live_frame *f);

/* HOT: a call begins that has no record of its own, as part of another one (event/filter.h); it is
 * noted for that one. */
bool callback_passes(const struct hip_callback *c);
/* HOT: whether the user leaves out the call that begins, and it is counted: nothing more is to be
 * done about it, and its end is ignored. false: callback_begin() decides. `height`: of the call's
 * frame. */
bool callback_leaves_out(const struct hip_callback *c, uintptr_t height);

/* HOT: a call of this op whose status is needed begins: it may take the last error away, which is
 * its status. */
static inline void callback_status_before(uint32_t op, struct live_frame *f)
{
	f->has_status = op == HIP_OP_hipGetLastError || op == HIP_OP_hipExtGetLastError;
	if (RTL_UNLIKELY(f->has_status))
		f->status = status_before(op == HIP_OP_hipExtGetLastError);
}

/* HOT: it has returned. Afterwards f->status is its status. */
static inline void callback_status_after(struct live_frame *f)
{
	if (RTL_LIKELY(!f->has_status))
		f->status = status_after();
	f->has_status = true;
}

/* A call on this thread has just loaded HSA's runtime, which is traced. true: callbacks are on. */
bool callback_on_runtime(void);

#endif
