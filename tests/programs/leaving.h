/* SPDX-License-Identifier: MIT */
/* leaving.h - shared by clients whose callback does not return
 *
 *	NAME part=PART how=exception|exit|cancel|jump
 *
 * A thread does something, and the client's callback leaves it, once. Where the thread lives it
 * does the same 100 times more, then another thread and the main one do as much. A lock or turn
 * that was not given back makes the next of them wait for ever.
 */
#ifndef TESTS_PROGRAMS_LEAVING_H
#define TESTS_PROGRAMS_LEAVING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LEAVING_MORE = 100 };

extern const char *leaving_how;

/* In the callback: counts it, and leaves if leaving_arm() was called since. */
void leaving_called(void);
void leaving_arm(void);

/* Each thread's calls of `fn`, the first of which is left; prints what became of that thread, and
 * how many calls there were. */
void leaving_try(void (*fn)(void));

int leaving_nr_called(void);
int leaving_nr_left(void);

#ifdef __cplusplus
}
#endif
#endif
