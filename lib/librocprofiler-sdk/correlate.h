/* SPDX-License-Identifier: MIT */
/* correlate.h - the calls that are shown, by their ids */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_CORRELATE_H
#define RTL_LIB_LIBROCPROFILER_SDK_CORRELATE_H

#include "base/compiler.h"
#include "sdk.h"

/* This library's index among the subscribers of calls; -1: none yet. */
extern RTL_HIDDEN int correlate_index;

#if ROCPROFILER_SDK_ABI > 0
/* HOT: the call around it that this library has shown, or NULL. */
static inline const struct live_call *correlate_around(const struct live_call *call)
{
	const struct live_call *o = live_outer(call);

	while (o && !o->own[correlate_index])
		o = live_outer(o);
	return o;
}

/* The innermost region of OpenMP that is shown on this thread, and the innermost call that was
 * shown when it began; either may be none. ompt.c writes it. */
struct correlate_region {
	uint64_t id;
	const struct live_call *call;
};
extern RTL_HIDDEN _Thread_local struct correlate_region correlate_region;

/* HOT: the id of the call or the region, whichever is further in, around it. 0: there is none. */
static inline uint64_t correlate_ancestor(const struct live_call *call)
{
	const struct live_call *o = correlate_around(call);

	if (RTL_UNLIKELY(correlate_region.id) && correlate_region.call == o)
		return correlate_region.id;
	return o ? o->correlation : 0;
}
/* The innermost call that is shown on this thread; NULL: none. */
const struct live_call *correlate_shown(void);
/* The ancestor of what begins on this thread now. */
uint64_t correlate_now(void);
/* The ids of what a call does: those of the innermost call that is shown, itself or one around it;
 * its own if none is. */
void correlate_call(const struct live_call *call, rocprofiler_correlation_id_t *id);
/* Those of what is done on this thread now; `id` stays as it is where no call is shown. */
void correlate_here(rocprofiler_correlation_id_t *id);
/* HOT: those of a packet that thread `tid` has written, while this one rings its doorbell. Another
 * thread's packet keeps the id that it has: which calls that one is in is not known here. */
void correlate_packet(uint32_t tid, rocprofiler_correlation_id_t *id);
/* Whether contexts have services of calls within which a doorbell is rung, beside HIP's own: HSA's
 * and RCCL's. */
bool correlate_is_nested(void);
#endif

#endif
