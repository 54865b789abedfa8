/* SPDX-License-Identifier: MIT */
/* callout.h - calls a function of the program while something is held that has to be given back
 *
 * A client's callback need not return: it may be left by a C++ exception, pthread_exit(), a
 * cancellation or longjmp(). The frames of C that it leaves behind give back nothing by themselves.
 * So what is called under a lock or a turn, or within a marker of the thread, is called by
 * callout(), which costs nothing where it is not used, and some ten instructions where it is.
 *
 *	left by               | seen by
 *	----------------------+-------------------------------------------------------------------
 *	C++ exception         | the personality routine of the frame that calls: in the second
 *			      phase, so a handler exists
 *	pthread_exit(), cancel| the same: glibc unwinds the stack
 *	longjmp()             | glibc's list of clean-ups, which longjmp() walks
 *	__builtin_longjmp(),  | nothing: what is held stays held, as in every C library
 *	setcontext()          |
 *
 * Threads:  any.
 */
#ifndef RTL_BASE_CALLOUT_H
#define RTL_BASE_CALLOUT_H

#include <stdbool.h>

typedef void (*callout_fn)(void *arg);

/* Calls fn(arg). If that does not return, calls left(arg) instead of returning, on the same thread,
 * when the frames between are gone: it must not call the program. Sections without cancellation
 * that were begun since the innermost callout() of this library are over then. */
void callout(callout_fn fn, callout_fn left, void *arg);

/* The same on a thread of librtl's or a face's, which has to go on: pthread_exit() ends fn(arg)
 * alone. Returns whether it has returned. Not for a thread of the program. */
bool callout_outlive(callout_fn fn, void *arg);

#endif
