/* SPDX-License-Identifier: MIT */
/* pause.h - recording that the program starts and stops
 *
 * While recording is paused librtl still tracks agents, queues, code objects, kernels and strings.
 * It leaves out calls, markers that begin and operations that are submitted meanwhile, and counts
 * each as `paused`. Calls, markers and operations begun before the pause are recorded to their end.
 *
 * An operation that only sinks other than the recorder want has EVENT_LEFT_OUT in its correlation
 * id.
 *
 *  operation    | pause_switch | pause_is_on
 *  -------------+--------------+------------------------------------------------------
 *  pause_switch | any thread   | any: what runs during the switch may be recorded or not
 */
#ifndef RTL_EVENT_PAUSE_H
#define RTL_EVENT_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/compiler.h"

/* Atomic; read by every call and operation, hardly ever written. */
extern RTL_HIDDEN _Atomic bool pause_on;

/* Reads RTL_TRACE_START. After env_init(), before threads. */
void pause_init(void);

/* The program starts (true) or pauses recording. No effect unless the user requested that librtl
 * follow the program: profilers within programs start and stop all the time. */
void pause_switch(bool recording);

/* The same, unconditionally. */
void pause_set(bool paused);

/* HOT */
static inline bool pause_is_on(void)
{
	/* relaxed: see the table */
	return atomic_load_explicit(&pause_on, memory_order_relaxed);
}

#endif
