/* SPDX-License-Identifier: MIT */
/* clock.c - reads the clocks of the host
 *
 * Threads:  any; clock_select() before the trace starts.
 * Hot path: clock_now_ns() - the vDSO, no system call.
 */
#include "base/clock.h"

_Atomic(int) clock_id = CLOCK_BOOTTIME;

void clock_select(clockid_t id)
{
	/* relaxed: a number on its own */
	atomic_store_explicit(&clock_id, id, memory_order_relaxed);
}

uint64_t clock_read_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	/* relaxed: a number on its own */
	return clock_read_ns(atomic_load_explicit(&clock_id, memory_order_relaxed));
}
