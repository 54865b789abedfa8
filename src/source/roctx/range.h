/* SPDX-License-Identifier: MIT */
/* range.h - roctx: ranges and marks of the program */
#ifndef RTL_SOURCE_ROCTX_RANGE_H
#define RTL_SOURCE_ROCTX_RANGE_H

#include <stdint.h>

#include "event/life.h"

extern const struct source range_source;

/* Once, in the library's constructor. */
void range_init(void);

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
