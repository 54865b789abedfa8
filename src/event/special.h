/* SPDX-License-Identifier: MIT */
/* special.h - one word that hot paths test for unusual conditions
 *
 * A trace starts and stops, recording pauses, a listener or a second sink that wants calls is
 * added: all of that is rare. Each of these conditions has its own state (life.h, pause.h, join.h,
 * submit.h, bus.h, clock.h, call.h, live.h, filter.h), and a bit here while it differs from the
 * usual. A hot path tests its relevant bits at once. If one is set it calls a slower path, which
 * reads each state.
 */
#ifndef RTL_EVENT_SPECIAL_H
#define RTL_EVENT_SPECIAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum special {
	SPECIAL_NOT_ON = 1,	/* life_state is not LIFE_ON */
	SPECIAL_PAUSED = 2,	/* pause_is_on() */
	SPECIAL_JOINS = 4,	/* join_is_on() */
	SPECIAL_LISTENED = 8,	/* submit_listen() or submit_listen_taken() was called */
	SPECIAL_HEARD = 16,	/* a second sink that wants calls was attached to the bus */
	SPECIAL_CLOCK = 32,	/* not clock_is_fast(), at life's last check */
	SPECIAL_NO_HIP = 64,	/* HIP calls are not recorded, or that is undecided yet */
	SPECIAL_FILTERED = 128, /* dispatches of some kernels or GPUs are left out */
	/* HIP's callbacks show calls of API_HIP: a subscriber has wanted some, or the recorder
	 * takes its calls from there */
	SPECIAL_HIP_SHOWN = 256,
	SPECIAL_NEVER_PAUSED = 512, /* bus_never_pauses() */
	/* the conditions for reservations and submissions of packets, and for API calls */
	SPECIAL_FOR_ORIGINS = SPECIAL_NOT_ON | SPECIAL_JOINS,
	SPECIAL_CHOICES = SPECIAL_PAUSED | SPECIAL_FILTERED,
	SPECIAL_FOR_PACKETS = SPECIAL_FOR_ORIGINS | SPECIAL_LISTENED | SPECIAL_CHOICES,
	SPECIAL_FOR_CALLS = SPECIAL_NOT_ON | SPECIAL_PAUSED | SPECIAL_HEARD,
	SPECIAL_FOR_HIP = SPECIAL_FOR_CALLS | SPECIAL_CLOCK | SPECIAL_NO_HIP,
	SPECIAL_FOR_ALONE = SPECIAL_PAUSED | SPECIAL_CLOCK | SPECIAL_HIP_SHOWN,
};

extern RTL_HIDDEN _Atomic uint32_t special_bits;

/* HOT: whether any of `bits` is set. */
static inline bool special_any(enum special bits)
{
	/* relaxed: operations during a change are treated the old way or the new one */
	return atomic_load_explicit(&special_bits, memory_order_relaxed) & bits;
}

/* Sets or clears `bit`, after its condition's own state was changed. Any thread. */
void special_set(enum special bit, bool on);

#endif
