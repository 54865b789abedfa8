/* SPDX-License-Identifier: MIT */
/* poll.h - what signals say of operations in flight: completed or not, and their times */
#ifndef RTL_SOURCE_HSA_POLL_H
#define RTL_SOURCE_HSA_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "source/hsa/completion/inflight.h"

/* For poll_entry(). */
enum inflight_result poll_owners(struct inflight *e, uint64_t *begin, uint64_t *end);

/* HOT: whether `e` has completed, and its ticks (ns of system time for a copy). Holder of the harvest lock. */
static inline enum inflight_result poll_entry(struct inflight *e, uint64_t *begin, uint64_t *end)
{
	const amd_signal_t *s = inflight_signal(e);

	/* relaxed: the entry was published with this state; OURS is changed by the harvester alone */
	if (RTL_UNLIKELY(atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_OURS))
		return poll_owners(e, begin, end);
	if (signal_value(s) > 0)
		return INFLIGHT_PENDING;
	*begin = signal_begin_ticks(s);
	*end = signal_end_ticks(s);
	return *end ? INFLIGHT_TIMED : INFLIGHT_UNTIMED;
}

enum poll_use {
	POLL_OVER,   /* its times are known, or never will be */
	POLL_IN_USE, /* it has not completed */
	POLL_GONE,   /* the entry is another operation's by now */
};

/* The owner of `s` destroys it, or uses it anew: takes the times, if `e` is still the operation on
 * it, which this finds out. One that has not completed is given up when `s` is destroyed, else it
 * shares `s` from now on, so that the times in there are not taken for its own. Any thread. */
enum poll_use poll_capture(struct inflight *e, amd_signal_t *s, bool destroyed);

/* HOT: has the GPU completed `e`? Only looks, for back_pressure.c. Any thread. */
bool poll_completed(struct inflight *e);

#endif
