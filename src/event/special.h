/* SPDX-License-Identifier: MIT */
/* special.h - one word that hot paths look at before they do what is usual
 *
 * What makes a difference to them changes seldom: the trace begins and ends, recording pauses, somebody listens.
 * Each of these keeps its own state (life.h, pause.h, join.h), and has a bit here while it is not as usual. A hot
 * path compares the word with zero, and leaves the rest to a path that looks at each.
 */
#ifndef RTL_EVENT_SPECIAL_H
#define RTL_EVENT_SPECIAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum special {
	SPECIAL_NOT_ON = 1,   /* life_state is not LIFE_ON */
	SPECIAL_PAUSED = 2,   /* pause_is_on() */
	SPECIAL_JOINS = 4,    /* join_is_on() */
	SPECIAL_LISTENED = 8, /* submit_listen() was called */
	SPECIAL_HEARD = 16,   /* more than one sink hears events */
};

extern RTL_HIDDEN _Atomic uint32_t special_bits;

/* HOT: whether anything is not as usual. */
static inline bool special_any(void)
{
	/* relaxed: what happens while it changes is treated in the old way or in the new one */
	return atomic_load_explicit(&special_bits, memory_order_relaxed) != 0;
}

/* From now on `bit` is not as usual, or as usual again. After its own state was changed. Any thread. */
void special_set(enum special bit, bool on);

#endif
