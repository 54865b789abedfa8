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

extern _Atomic(int) clock_id; /* clockid_t; set once at start */

void clock_select(clockid_t id);

/* ns of one clock of the host; vDSO, no system call. */
uint64_t clock_read_ns(clockid_t id);

/* HOT: now, in ROCr's system time. */
uint64_t clock_now_ns(void);

/* Compares the counter with the kernel's clock where that is due. Returns ns until the next time:
 * 10 ms after the first call, up to a second later on; UINT64_MAX where the counter is of no use. */
uint64_t clock_tick(void);

/* Whether clock_now_ns() reads the counter now. */
bool clock_is_fast(void);

#endif
