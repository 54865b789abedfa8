/* SPDX-License-Identifier: MIT */
/* activity.h - HIP's own callbacks: its calls as they run, and its operations
 *
 * HIP tells of each call, wherever it came from: by hipRegisterActivityCallback() and its like up to 5.3
 * (activity.c), by hipRegisterTracerCallback() from 5.4 on (tracer.c). They are the provider of the domain
 * API_HIP_CALLBACKS of live.h: live_want() says whose calls are wanted. The recorder takes its calls from here, too,
 * where that is asked for (callback.c): there is one function for each call in the runtime.
 *
 * Turning HIP's callbacks on while other threads are inside of HIP is not safe in 5.2 (callback.c says why); they are
 * turned on once and stay, and what is wanted is this side's masks: a call that nobody wants costs HIP's own bookkeeping
 * and one load here.
 *
 *  operation                             | a call or an operation in progress
 *  --------------------------------------+-------------------------------------------------
 *  activity_want_ops, activity_pause_ops | any thread: it is treated as when it was submitted
 */
#ifndef RTL_SOURCE_HIP_ACTIVITY_H
#define RTL_SOURCE_HIP_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "source/api/live.h"

#define ACTIVITY_NR_OPS 3

/* An operation that is over. */
struct activity_op {
	uint32_t op, kind;
	uint64_t correlation; /* of the call that submitted it, 0: of none that was seen */
	uint64_t begin_ns, end_ns;
	uint64_t queue, bytes;
	int32_t device;
	const char *kernel; /* of a dispatch: mangled, the runtime's; NULL: not known */
};

/* On whatever thread the runtime completes operations. */
typedef void (*activity_fn)(const struct activity_op *op);

/* Operations that are submitted from now on are the subscriber's (`index`: of live_subscribe()), each once it is over.
 * NULL: none any more, nor those that are in flight. */
void activity_want_ops(int index, activity_fn fn);
/* What is submitted from now on is not the subscriber's, or is again; what was submitted before is, however late it
 * ends. One store: for those who do so often. */
void activity_pause_ops(int index, bool paused);

/* HIP 5.4 and later report an operation on a thread of their own, which may come to it after a call that has waited
 * for the operation: waits, 200 ms at most, until they have reported what such calls have waited for. Any thread but
 * that one; what subscribers do with operations must not wait for the caller. */
void activity_settle(void);

/* Turns HIP's callbacks on, for operations too if they are wanted by now. false: no HIP in the process
 * yet, or one whose callbacks are of a kind that is not known. Any number of times. */
bool activity_turn_on(void);
/* Whether they are. */
bool activity_is_on(void);

/* Tells event/join.h of HIP's operations from now on; subscribers get no calls because of this. At the moment
 * that callback.c speaks of. false: a HIP that does not tell of them. */
bool activity_join(void);

/* The largest number of a function that the runtime knows; 0 without HIP. */
uint32_t activity_last_id(void);

#endif
