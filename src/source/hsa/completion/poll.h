/* SPDX-License-Identifier: MIT */
/* poll.h - reads completion and times of operations in flight from their signals */
#ifndef RTL_SOURCE_HSA_POLL_H
#define RTL_SOURCE_HSA_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "source/hsa/completion/inflight.h"

/* For poll_entry(). */
enum inflight_result poll_owners(struct inflight *e, uint64_t *begin, uint64_t *end);

/* HOT: whether `e` has completed, and its ticks (ns of system time for a copy). Holder of the
 * harvest lock. */
static inline enum inflight_result poll_entry(struct inflight *e, uint64_t *begin, uint64_t *end)
{
	const amd_signal_t *s = inflight_signal(e);

	/* relaxed: the entry was published with this state; only the harvester changes OURS */
	if (RTL_UNLIKELY(atomic_load_explicit(&e->state, memory_order_relaxed) != INFLIGHT_OURS))
		return poll_owners(e, begin, end);
	if (signal_value(s) > 0)
		return INFLIGHT_PENDING;
	*begin = signal_begin_ticks(s);
	*end = signal_end_ticks(s);
	return *end ? INFLIGHT_TIMED : INFLIGHT_UNTIMED;
}

enum poll_use {
	POLL_OVER,   /* its times are known, or lost */
	POLL_IN_USE, /* it has not completed */
	POLL_GONE,   /* the entry belongs to another operation by now */
};

/* The owner of `s` destroys it or uses it anew: takes the times if `e` is still an operation on
 * `s`, which this function checks. A pending operation is given up when `s` is destroyed; else it
 * counts as sharing `s`, so that later times are not attributed to it. Any thread. */
enum poll_use poll_capture(struct inflight *e, amd_signal_t *s, bool destroyed);

/* HOT: whether the GPU has completed `e`; takes no times. For back_pressure.c. Any thread. */
bool poll_completed(struct inflight *e);

#endif
