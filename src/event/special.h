/* SPDX-License-Identifier: MIT */
/* special.h - one word that hot paths look at before they do what is usual
 *
 * A trace starts and stops, recording pauses, a listener or a second sink that wants calls is added: all of that is rare. Each of these
 * keeps its own state (life.h, pause.h, join.h, submit.h, bus.h, clock.h, call.h), and has a bit here while it is not as
 * usual. A hot path tests the bits that concern it at once. When one is set it calls a slower path, which looks at each
 * state.
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
	SPECIAL_HEARD = 16,   /* a second sink that wants calls was attached to the bus */
	SPECIAL_CLOCK = 32,   /* not clock_is_fast(), when life last looked */
	SPECIAL_NO_HIP = 64,  /* calls of HIP are not recorded, or that is not decided yet */
	/* what concerns reservations and submissions of packets, and API calls */
	SPECIAL_FOR_PACKETS = SPECIAL_NOT_ON | SPECIAL_PAUSED | SPECIAL_JOINS | SPECIAL_LISTENED,
	SPECIAL_FOR_CALLS = SPECIAL_NOT_ON | SPECIAL_PAUSED | SPECIAL_HEARD,
	SPECIAL_FOR_HIP = SPECIAL_FOR_CALLS | SPECIAL_CLOCK | SPECIAL_NO_HIP,
};

extern RTL_HIDDEN _Atomic uint32_t special_bits;

/* HOT: whether any of `bits` is set. */
static inline bool special_any(enum special bits)
{
	/* relaxed: what happens while it changes is treated in the old way or in the new one */
	return atomic_load_explicit(&special_bits, memory_order_relaxed) & bits;
}

/* From now on `bit` is not as usual, or as usual again. After its own state was changed. Any thread. */
void special_set(enum special bit, bool on);

#endif
