/* SPDX-License-Identifier: MIT */
/* clock.h - the clock of every `_ns` in a trace
 *
 * ROCr's system time is CLOCK_BOOTTIME on every KFD so far; source/hsa calls clock_select() if the
 * runtime's own counter shows another clock.
 *
 * clock_now_ns() reads the kernel's clock. If clock_tick() is called, and the kernel's clock source
 * is the processor's time-stamp counter, it computes the same from the counter at half the cost.
 * The computed time
 *	- never goes back on a thread, except by less than a microsecond when it changes between the
 * two methods (no clock_tick() for some seconds);
 *	- is usually within a microsecond of the kernel's clock;
 *	- is wrong for a second at most when the clock jumps (suspend, migration, CRIU).
 *
 *  operation    | clock_now_ns | clock_tick        | clock_select
 *  -------------+--------------+-------------------+--------------------------------
 *  clock_now_ns | any          | any               | any
 *  clock_span   | any          | any               | any
 *  clock_tick   |              | any: one measures | any: it detects it and restarts
 *  clock_bent   | any          | any               | any
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

/* ns of a host clock; vDSO, no system call. */
uint64_t clock_read_ns(clockid_t id);

/* What the time namespace of this process adds to a clock of the boot, CLOCK_BOOTTIME or
 * CLOCK_MONOTONIC (time_namespaces(7)). 0: nothing, or it is not known. Reads files. */
int64_t clock_offset_ns(clockid_t id);
/* CLOCK_BOOTTIME without that: the same for all processes of the boot. The first call reads
 * files. */
uint64_t clock_boot_ns(void);
/* The same for the start of a process in ticks (field 22 of /proc/PID/stat, as this process reads
 * it), rounded down by at most one tick. */
uint64_t clock_boot_ticks(uint64_t ticks);

/* clock_now_ns() computes the time from the newest line. A line is constant while `clock_line` is
 * its number. */
#define CLOCK_NR_LINES 8u
#define CLOCK_SHIFT 28
struct clock_line {
	_Atomic uint64_t ticks, ns;    /* a point of the line */
	_Atomic uint64_t before, mult; /* ns << CLOCK_SHIFT per tick, before and after that point */
	_Atomic uint64_t nr_before, nr_ticks; /* the ticks that it covers to either side */
	uint64_t reserved[2];
};
extern RTL_HIDDEN struct clock_line clock_lines[CLOCK_NR_LINES];
/* The number of the newest line; 0: none. Numbers grow by CLOCK_NEXT_LINE and are never reused. The
 * first of clock_lines is never used: its line covers nothing, which saves readers a check. */
#define CLOCK_NEXT_LINE sizeof(struct clock_line)
extern RTL_HIDDEN _Atomic uint64_t clock_line;

/* HOT: where line `nr` is, by one operation, since numbers grow by its size. */
static RTL_INLINE struct clock_line *clock_line_at(uint64_t nr)
{
	return (struct clock_line *)(void *)((char *)clock_lines + nr % sizeof(clock_lines));
}

/* HOT: now, in ROCr's system time. */
uint64_t clock_now_ns(void);

/* HOT: the same, inlined for the usual case: after the point of the newest line. */
static RTL_INLINE uint64_t clock_now_inline_ns(void)
{
	/* acquire: pairs with the release in publish(): the line */
	uint64_t nr = atomic_load_explicit(&clock_line, memory_order_acquire);
	const struct clock_line *l = clock_line_at(nr);
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

/* The times of two readings of RTL_TICKS() by one thread, in ns. */
struct clock_span {
	uint64_t begin_ns, end_ns;
};

/* As clock_span_inline_ns(), for any state of the clock; `end` is about now. Requires that
 * clock_is_fast() was true once. If no line covers `begin`, its distance from `end` is computed
 * from the counter's rate. */
struct clock_span clock_span_ns(uint64_t begin, uint64_t end);

/* HOT: the times of two readings of the counter; `begin` was first, `end` is about now. A reading
 * costs a quarter of clock_now_inline_ns(), and the two are converted together. */
static RTL_INLINE struct clock_span clock_span_inline_ns(uint64_t begin, uint64_t end)
{
	/* acquire, and those below: as in clock_now_inline_ns() */
	uint64_t nr = atomic_load_explicit(&clock_line, memory_order_acquire);
	const struct clock_line *l = clock_line_at(nr);
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

/* Compares the counter with the kernel's clock if due. Returns ns until the next time: 10 ms after
 * the first call, up to a second later on; UINT64_MAX if the counter is not usable. Of two threads
 * at once the second returns at once. */
uint64_t clock_tick(void);

/* The slope of the next line, in ns << CLOCK_SHIFT per tick: that of the kernel's clock, `mult`,
 * bent so that the line meets the clock after `wait_ns`, not 0, if that takes no more than 1/500 of
 * the slope. `off_ns`: how far the clock is ahead. */
uint64_t clock_bent(uint64_t mult, int64_t off_ns, uint64_t wait_ns);

/* Whether clock_now_ns() currently reads the counter. */
bool clock_is_fast(void);

#endif
