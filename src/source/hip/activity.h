/* SPDX-License-Identifier: MIT */
/* activity.h - HIP's own callbacks: its calls as they run, and its operations
 *
 * HIP calls back for each call of its functions, whichever way it came: by
 * hipRegisterActivityCallback() and its like up to 5.3 (activity.c), by hipRegisterTracerCallback()
 * from 5.4 on (tracer.c). They are the provider of the domain API_HIP_CALLBACKS of live.h, and of
 * API_HIP for calls that no wrapper has shown. The recorder uses them where
 * RTL_HIP_BACKEND=callback (callback.c): the runtime has one callback for each function.
 *
 * Turning HIP's callbacks on while other threads are inside of HIP is not safe in 5.2 (callback.c
 * says why). They are turned on once and stay on; live.h's masks select the calls. A call that no
 * subscriber wants costs HIP's own bookkeeping and a few loads here.
 *
 *  operation                             | a call or an operation in progress
 *  --------------------------------------+-------------------------------------------------
 *  activity_want_ops, activity_pause_ops | any thread: an operation keeps what held when it was
 *  submitted
 */
#ifndef RTL_SOURCE_HIP_ACTIVITY_H
#define RTL_SOURCE_HIP_ACTIVITY_H

#include <stdbool.h>
#include <stdint.h>

#include "source/api/live.h"

#define ACTIVITY_NR_OPS 3

/* An operation that has completed. */
struct activity_op {
	uint32_t op, kind;
	uint64_t correlation; /* of the call that submitted it; 0: no such call was seen */
	uint64_t begin_ns, end_ns;
	uint64_t queue, bytes;
	int32_t device;
	const char *kernel; /* of a dispatch: the runtime's mangled name; NULL: not known */
};

/* On the thread on which the runtime completes operations. */
typedef void (*activity_fn)(const struct activity_op *op);

/* The subscriber (`index`: of live_subscribe()) gets the operations that are submitted from now on,
 * each when it has completed. NULL: it gets no more, nor those that are in flight. */
void activity_want_ops(int index, activity_fn fn);
/* The subscriber does not get operations that are submitted from now on, or gets them again. It
 * gets those that were submitted before, however late they end. One store, so that it may be called
 * often. */
void activity_pause_ops(int index, bool paused);

/* HIP 5.4 and later report an operation on a thread of their own, possibly after a call that has
 * waited for the operation returned. Waits, 200 ms at most, until the operations that such calls
 * have waited for are reported. Any thread but that one; subscribers' functions for operations must
 * not wait for the caller. */
void activity_settle(void);

/* Turns HIP's callbacks on, also those for operations if a subscriber wants them. false: HIP is not
 * loaded, or its callbacks are of an unknown kind. May be called any number of times. */
bool activity_turn_on(void);

/* Reports HIP's operations to event/join.h from now on; subscribers get no calls because of this.
 * At the moment that callback.c describes. false: this HIP does not report them. */
bool activity_join(void);

/* The largest number of a function in the runtime; 0 without HIP. */
uint32_t activity_last_id(void);

#endif
