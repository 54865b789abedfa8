/* SPDX-License-Identifier: MIT */
/* range.h - roctx: ranges and marks of the program */
#ifndef RTL_SOURCE_ROCTX_RANGE_H
#define RTL_SOURCE_ROCTX_RANGE_H

#include <stdint.h>

#include "event/life.h"

extern const struct source range_source;

/* Once, in the library's constructor. */
void range_init(void);

/* Told of each call on the thread that makes it, before anything else is done: of what kind, the
 * program's own message (borrowed, may be NULL; NULL for POP and STOP), the id for START and STOP.
 * No lock is held; it may call back. */
enum range_call { RANGE_MARK, RANGE_PUSH, RANGE_POP, RANGE_START, RANGE_STOP };
typedef void (*range_listener_fn)(enum range_call call, const char *message, uint64_t id);
#define RANGE_MAX_LISTENERS 4
/* For ever; a second time is no error. -ENOSPC when there are too many. Any thread. */
int range_listen(range_listener_fn fn);

/* The library that `fn` is in only passes calls on to these functions: it is no other libroctx64. */
void range_front(const void *fn);

/* Each as its roctx function says; NULL messages are the empty text. Any thread. */
void range_mark(const char *message);

/* The 0-based nesting level of the new range in this thread. */
int range_push(const char *message);

/* The level of the range that was closed, -1 when none was open. */
int range_pop(void);

/* An id, unique in the process, from 1 up. */
uint64_t range_start(const char *message);

/* Ends the range, on whatever thread. Unknown ids are recorded as they are. */
void range_stop(uint64_t id);

#endif
