/* SPDX-License-Identifier: MIT */
/* state.h - what all files know: the core, how far the tools are */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_STATE_H
#define RTL_LIB_LIBROCPROFILER_SDK_STATE_H

#include "sdk.h"

/* NULL: librtl is of another build, and nothing is traced. The first time it makes the library's
 * lock guard, log and settings ready. */
const struct rtl_core *state_core(void);
/* It takes no more subscribers: nothing is traced. */
void state_drop_core(void);

/* -1: a thread finds and initialises tools; as rocprofiler_is_initialized() has it. */
extern RTL_HIDDEN _Atomic int state_phase_now;
static inline int state_phase(void)
{
	return atomic_load(&state_phase_now);
}
extern RTL_HIDDEN _Atomic int state_end; /* -1: all tools are finalised; 1: they have been */
/* HOT */
static inline bool state_is_over(void)
{
	/* relaxed: a call that runs while tools are finalised is shown or not */
	return atomic_load_explicit(&state_end, memory_order_relaxed) != 0;
}
/* Finalize functions that run on this thread. */
extern RTL_HIDDEN _Thread_local int state_nr_ending;
/* As rocprofiler_is_finalized() has it: -1 in the finalize function of one tool among others, too,
 * which go on. */
static inline int state_finalized(void)
{
	int end = atomic_load(&state_end);

	return !end && state_nr_ending ? -1 : end;
}
/* The client whose initialize function runs; -1: none. */
extern RTL_HIDDEN _Atomic int state_current_client;
static inline int state_current(void)
{
	return atomic_load(&state_current_client);
}
/* Whether HSA's runtime is initialising itself on this thread: it can't be asked then. */
extern RTL_HIDDEN _Thread_local bool state_in_runtime;
static inline bool state_is_in_runtime(void)
{
	return state_in_runtime;
}
/* Whether HSA's runtime was started before librtl could get its tables; the first time a message
 * says so. false while they come, on whichever thread. */
bool state_is_too_late(void);

extern RTL_HIDDEN _Atomic bool state_is_done;
#define STATE_TOOL_SYMBOL "rocprofiler_configure"
/* Whether a tool is named, or is among the libraries that are loaded. */
bool state_has_tool(void);
/* What the first use of a runtime calls until `state_is_done`; registration.c. */
typedef void (*state_first_use_fn)(void);
void state_on_first_use(state_first_use_fn fn);
void state_first_use_slow(void);
/* HOT */
static inline void state_first_use(void)
{
	/* acquire: pairs with registration.c */
	if (RTL_UNLIKELY(!atomic_load_explicit(&state_is_done, memory_order_acquire)))
		state_first_use_slow();
}

#endif
