/* SPDX-License-Identifier: MIT */
/* range.h - roctx: ranges and marks of the program */
#ifndef RTL_SOURCE_ROCTX_RANGE_H
#define RTL_SOURCE_ROCTX_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/life.h"

extern const struct source range_source;

/* Call once, in the library's constructor. */
void range_init(void);

/* Called for each roctx call on its thread, before anything else: the kind, the program's message
 * or name (borrowed, may be NULL; NULL where the function has none), the id for START and STOP, the
 * tid for PAUSE and RESUME, what is named for those of RANGE_NAME_, where the result goes for
 * THREAD_ID. No lock is held; it may call back. */
enum range_call {
	RANGE_MARK,
	RANGE_PUSH,
	RANGE_POP,
	RANGE_START,
	RANGE_STOP,
	RANGE_PAUSE, /* roctxProfilerPause(), roctxProfilerResume() */
	RANGE_RESUME,
	RANGE_THREAD_ID,      /* roctxGetThreadId() */
	RANGE_NAME_OS_THREAD, /* roctxNameOsThread() and so on, in the order of AMD's table */
	RANGE_NAME_HSA_AGENT,
	RANGE_NAME_HIP_DEVICE,
	RANGE_NAME_HIP_STREAM,
};
#define RANGE_NR_NAMES (RANGE_NAME_HIP_STREAM - RANGE_NAME_OS_THREAD + 1)
typedef void (*range_listener_fn)(enum range_call call, const char *message, uint64_t id);
/* Called at its end: what it returns, 0 for nothing. */
typedef void (*range_end_fn)(enum range_call call, uint64_t result);
#define RANGE_MAX_LISTENERS 6
/* Registers a listener permanently; registering it again is no error. -ENOSPC: too many. Any
 * thread. */
int range_listen(range_listener_fn fn);
/* The same for the ends of calls. A call whose begin came before this has an end without a
 * begin. */
int range_listen_end(range_end_fn fn);

/* The library that contains `fn` only passes calls on to these functions: it is not a real
 * libroctx64. */
void range_front(const void *fn);

/* Each as specified for its roctx function; a NULL message is the empty text. Any thread. */
void range_mark(const char *message);

/* Returns the 0-based nesting level of the new range on this thread. */
int range_push(const char *message);

/* Returns the level of the range that was closed, -1 if none was open. */
int range_pop(void);

/* Returns an id, unique in the process, from 1 up. */
uint64_t range_start(const char *message);

/* Ends the range, on any thread. Unknown ids are recorded as well. */
void range_stop(uint64_t id);

/* roctxProfilerResume(), or roctxProfilerPause(): recording of the whole process, whatever `tid`
 * is. Returns what the real library returns, 0 without one. */
int range_profiler(bool resume, uint64_t tid);

/* roctxGetThreadId(): the caller's tid; `tid` may be NULL. Returns what the real library returns, 0
 * without one. */
int range_thread_id(uint64_t *tid);

/* The function of RANGE_NAME_: listeners get the name of the agent, device or stream `of`, and the
 * real library; the trace has none. `of` is the pointer or number as the program gives it, 0 for
 * the calling thread. Returns as range_profiler(). */
int range_name(enum range_call call, const char *name, uint64_t of);

#endif
