/* SPDX-License-Identifier: MIT */
/* pause.h - when recording is on: by the program, by time, by range, by rtl start and stop
 *
 * Each of these can hold recording back (enum pause_cause); it is on while none does.
 *
 * While recording is paused librtl still tracks agents, queues, code objects, kernels and strings.
 * It leaves out calls, markers that begin and operations that are submitted meanwhile, and counts
 * each as `paused`. Calls, markers and operations begun before the pause are recorded to their end.
 *
 * An operation that only sinks other than the recorder want has EVENT_LEFT_OUT in its correlation
 * id.
 *
 *  operation    | pause_hold, pause_switch, pause_ask, pause_tick | pause_is_on
 *  -------------+-------------------------------------------------+------------------------------
 *  pause_hold   | any thread                                      | any: what runs during the
 *  and others   |                                                 | change may be recorded or not
 */
#ifndef RTL_EVENT_PAUSE_H
#define RTL_EVENT_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum pause_cause {
	PAUSE_PROGRAM = 1,  /* --trace-start off, roctracer_stop() and its like */
	PAUSE_WINDOW = 2,   /* outside of the windows of --delay, --duration, --period */
	PAUSE_RANGE = 4,    /* no range of --range is open */
	PAUSE_CLOSED = 8,   /* no trace is open, and no other sink wants operations */
	PAUSE_CONTROL = 16, /* rtl stop */
	PAUSE_SIZE = 32,    /* the trace has the size that it may have */
	PAUSE_SESSION = 64, /* rtl_session_stop() */
	PAUSE_CAUSES = 127
};

/* Bits of enum pause_cause; above them, in units of PAUSE_RANGE_OPEN, how many ranges of --range
 * are open: one word, so that no thread sees its range open and recording held back. Atomic; read
 * by every call and operation, hardly ever written. */
#define PAUSE_RANGE_OPEN (PAUSE_CAUSES + 1u)
extern RTL_HIDDEN _Atomic uint32_t pause_causes;

/* Reads RTL_TRACE_START and the windows of time. After env_init(), before threads. */
void pause_init(void);

/* The program starts (true) or pauses recording by the functions that profilers within programs
 * call all the time. No effect unless the user requested that librtl follow the program. */
void pause_switch(bool recording);

/* The same by roctxProfilerResume() and roctxProfilerPause(), which exist for this. No effect if
 * the user refused any influence of the program (`always`). */
void pause_ask(bool recording);

/* Whether the user refused any influence of the program. */
bool pause_is_refused(void);

/* Holds recording back for this cause, or no longer. */
void pause_hold(enum pause_cause cause, bool held);

/* Ranges of --range are what is recorded (true: none is open yet), or not. Before threads. */
void pause_ranges(bool are_used);
/* One more range of --range is open, or is not any more. */
void pause_range_opened(void);
void pause_range_closed(void);
/* Whether one is open. */
static inline bool pause_any_range(void)
{
	/* relaxed: a thread that closes a range has seen it open */
	return atomic_load_explicit(&pause_causes, memory_order_relaxed) >= PAUSE_RANGE_OPEN;
}

/* CLOCK_MONOTONIC of the last change between on and off; 0: there was none since pause_init(). */
uint64_t pause_since_ns(void);

/* pause_hold() for the program's cause. */
void pause_set(bool paused);

/* Opens and closes the windows of time. Returns ns until the next call is due, UINT64_MAX: never.
 * Any thread. */
uint64_t pause_tick(void);

/* HOT */
static inline bool pause_is_on(void)
{
	/* relaxed: see the table */
	return (atomic_load_explicit(&pause_causes, memory_order_relaxed) & PAUSE_CAUSES) != 0;
}

#endif
