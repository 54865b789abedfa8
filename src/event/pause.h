/* SPDX-License-Identifier: MIT */
/* pause.h - recording that the program itself starts and stops
 *
 * While recording is paused everything goes on being known: agents, queues, code objects, kernels,
 * strings. What is left out are calls, markers that begin and operations that are submitted meanwhile,
 * each counted as `paused`. What was begun or submitted before is recorded to its end.
 *
 * An operation that nobody but other sinks wants has EVENT_LEFT_OUT in its correlation id.
 *
 *  operation    | pause_switch | pause_is_on
 *  -------------+--------------+------------------------------------------------------
 *  pause_switch | any thread   | any: what runs while it is switched is recorded or not
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

/* The program says that recording goes on (true) or pauses. No effect unless it was asked for that the
 * program be followed: profilers inside of programs start and stop themselves all the time. */
void pause_switch(bool recording);

/* The same, whatever was asked for. */
void pause_set(bool paused);

/* HOT */
static inline bool pause_is_on(void)
{
	/* relaxed: see the table */
	return atomic_load_explicit(&pause_on, memory_order_relaxed);
}

#endif
