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
 *  clock_span   | any          | any               | any
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
#define CLOCK_NR_LINES 8u
#define CLOCK_SHIFT 28
struct clock_line {
	_Atomic uint64_t ticks, ns; /* a point of it */
	_Atomic uint64_t before,
		mult; /* ns << CLOCK_SHIFT per tick, in front of that point and behind it */
	_Atomic uint64_t nr_before, nr_ticks; /* how far it reaches to either side */
	uint64_t reserved[2];
};
extern RTL_HIDDEN struct clock_line clock_lines[CLOCK_NR_LINES];
/* The number of the newest line, at number % CLOCK_NR_LINES; 0: none. Numbers never come again. Place 0 is
 * never used: its line reaches nowhere, which spares readers the question whether there is a line. */
extern RTL_HIDDEN _Atomic uint64_t clock_line;

/* HOT: now, in ROCr's system time. */
uint64_t clock_now_ns(void);

/* HOT: the same, written out where it is called for the usual case: behind the point of the newest line. */
static RTL_INLINE uint64_t clock_now_inline_ns(void)
{
	/* acquire: pairs with the release in publish(): the line */
	uint64_t nr = atomic_load_explicit(&clock_line, memory_order_acquire);
	const struct clock_line *l = &clock_lines[nr % CLOCK_NR_LINES];
	uint64_t d, ns;

	RTL_AS_ONE(l);
	d = RTL_TICKS() - atomic_load_explicit(&l->ticks, memory_order_acquire);
	ns = atomic_load_explicit(&l->ns, memory_order_acquire) +
	     (d * atomic_load_explicit(&l->mult, memory_order_acquire) >> CLOCK_SHIFT);
	if (RTL_LIKELY(d < atomic_load_explicit(&l->nr_ticks, memory_order_acquire) &&
		       atomic_load_explicit(&clock_line, memory_order_relaxed) == nr))
		return ns;
	return clock_now_ns();
}

/* What lies between two readings of RTL_TICKS() by one thread, in ns. */
struct clock_span {
	uint64_t begin_ns, end_ns;
};

/* The same as clock_span_inline_ns(), whatever the clock is like; `end` is about now. Once clock_is_fast() was true.
 * Where the newest lines don't reach back to `begin`, it is as far from the end as the counter says. */
struct clock_span clock_span_ns(uint64_t begin, uint64_t end);

/* HOT: the times of two readings of the counter; `begin` was the first, `end` is about now. A reading costs a
 * quarter of what clock_now_inline_ns() costs, and the two are converted together. */
static RTL_INLINE struct clock_span clock_span_inline_ns(uint64_t begin, uint64_t end)
{
	/* acquire, and those below: as in clock_now_inline_ns() */
	uint64_t nr = atomic_load_explicit(&clock_line, memory_order_acquire);
	const struct clock_line *l = &clock_lines[nr % CLOCK_NR_LINES];
	uint64_t t0, n0, mult, nr_ticks, from, to;

	RTL_AS_ONE(l);
	t0 = atomic_load_explicit(&l->ticks, memory_order_acquire);
	n0 = atomic_load_explicit(&l->ns, memory_order_acquire);
	mult = atomic_load_explicit(&l->mult, memory_order_acquire);
	nr_ticks = atomic_load_explicit(&l->nr_ticks, memory_order_acquire);
	from = begin - t0;
	to = end - t0;
	/* from > to: the line begins between the two */
	if (RTL_UNLIKELY(to >= nr_ticks || from > to ||
			 atomic_load_explicit(&clock_line, memory_order_relaxed) != nr))
		return clock_span_ns(begin, end);
	return (struct clock_span){ n0 + (from * mult >> CLOCK_SHIFT),
				    n0 + (to * mult >> CLOCK_SHIFT) };
}

/* Compares the counter with the kernel's clock where that is due. Returns ns until the next time:
 * 10 ms after the first call, up to a second later on; UINT64_MAX where the counter is of no use. */
uint64_t clock_tick(void);

/* Whether clock_now_ns() reads the counter now. */
bool clock_is_fast(void);

#endif
