/* SPDX-License-Identifier: MIT */
/* clock.h - the clock of every `_ns` in a trace
 *
 * ROCr's system time is CLOCK_BOOTTIME on every KFD so far; clock_select() lets source/hsa say
 * otherwise when the runtime's own counter shows it.
 *
 * clock_now_ns() asks the kernel, or, where clock_tick() is called and the kernel itself counts by it,
 * computes the same from the processor's time-stamp counter, at half the cost. What it computes
 *	- never goes back on a thread, but by less than a microsecond where it changes from one
 *	  way to the other (nobody called clock_tick() for some seconds);
 *	- is within a microsecond of the kernel's clock as a rule;
 *	- is wrong for a second at most when the clock jumps (suspend, migration, CRIU).
 *
 *  operation    | clock_now_ns | clock_tick        | clock_select
 *  -------------+--------------+-------------------+--------------------------------
 *  clock_now_ns | any          | any               | any
 *  clock_tick   |              | one thread at all | any: it notices and starts anew
 */
#ifndef RTL_BASE_CLOCK_H
#define RTL_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/compiler.h"

extern _Atomic(int) clock_id; /* clockid_t; set once at start */

void clock_select(clockid_t id);

/* ns of one clock of the host; vDSO, no system call. */
uint64_t clock_read_ns(clockid_t id);

/* How clock_now_ns() computes it: by the newest of some lines. Constant while `clock_line` is its number. */
#define CLOCK_NR_LINES 4u
#define CLOCK_SHIFT 28
struct clock_line {
	_Atomic uint64_t ticks, ns; /* a point of it */
	_Atomic uint64_t before,
		mult; /* ns << CLOCK_SHIFT per tick, in front of that point and behind it */
	_Atomic uint64_t nr_before, nr_ticks; /* how far it reaches to either side */
	uint64_t reserved[2];
};
extern RTL_HIDDEN struct clock_line clock_lines[CLOCK_NR_LINES];
/* The number of the newest line, at number % CLOCK_NR_LINES; 0: none. Numbers never come again. */
extern RTL_HIDDEN _Atomic uint64_t clock_line;

/* HOT: now, in ROCr's system time. */
uint64_t clock_now_ns(void);

/* HOT: the same, written out where it is called for the usual case: behind the point of the newest line. */
static RTL_INLINE uint64_t clock_now_inline_ns(void)
{
	/* acquire: pairs with the release in publish(): the line */
	uint64_t nr = atomic_load_explicit(&clock_line, memory_order_acquire);
	const struct clock_line *l = &clock_lines[nr % CLOCK_NR_LINES];
	uint64_t d = RTL_TICKS() - atomic_load_explicit(&l->ticks, memory_order_acquire);
	uint64_t ns = atomic_load_explicit(&l->ns, memory_order_acquire) +
		      (d * atomic_load_explicit(&l->mult, memory_order_acquire) >> CLOCK_SHIFT);

	if (RTL_LIKELY(d < atomic_load_explicit(&l->nr_ticks, memory_order_acquire) && nr &&
		       atomic_load_explicit(&clock_line, memory_order_relaxed) == nr))
		return ns;
	return clock_now_ns();
}

/* Compares the counter with the kernel's clock where that is due. Returns ns until the next time:
 * 10 ms after the first call, up to a second later on; UINT64_MAX where the counter is of no use. */
uint64_t clock_tick(void);

/* Whether clock_now_ns() reads the counter now. */
bool clock_is_fast(void);

#endif
