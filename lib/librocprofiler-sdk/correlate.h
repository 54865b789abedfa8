/* SPDX-License-Identifier: MIT */
/* correlate.h - the calls that are shown, by their ids */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_CORRELATE_H
#define RTL_LIB_LIBROCPROFILER_SDK_CORRELATE_H

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

/* HOT: its id. 0: there is none. */
static inline uint64_t correlate_ancestor(const struct live_call *call)
{
	const struct live_call *o = correlate_around(call);

	return o ? o->correlation : 0;
}
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
