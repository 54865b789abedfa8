/* SPDX-License-Identifier: MIT */
/* selection.h - --range: recording is on while a range of the user's choice is open
 *
 * The range may be open on any thread, and is one of push and pop or of start and stop. Recording
 * of the whole process is on while at least one is open.
 */
#ifndef RTL_SOURCE_ROCTX_SELECTION_H
#define RTL_SOURCE_ROCTX_SELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* Reads RTL_RANGE. After pause_init(), before threads. */
void selection_init(void);

/* Set in selection_init(), constant after. */
extern RTL_HIDDEN bool selection_is_used;

/* HOT: a range is about to begin. true: it is one of the selected, and selection_close() follows
 * its end. */
bool selection_open_slow(const char *message);
static inline bool selection_open(const char *message)
{
	return RTL_UNLIKELY(selection_is_used) && selection_open_slow(message);
}

/* A selected range has ended. */
void selection_close(void);

/* The same for ranges that have an id: remembers which are selected. */
void selection_start(uint64_t id, const char *message);
void selection_stop_slow(uint64_t id);
static inline void selection_stop(uint64_t id)
{
	if (RTL_UNLIKELY(selection_is_used))
		selection_stop_slow(id);
}

#endif
