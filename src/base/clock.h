/* SPDX-License-Identifier: MIT */
/* clock.h - the clock of every `_ns` in a trace
 *
 * ROCr's system time is CLOCK_BOOTTIME on every KFD so far; clock_select() lets source/hsa say
 * otherwise when the runtime's own counter shows it.
 */
#ifndef RTL_BASE_CLOCK_H
#define RTL_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

extern _Atomic(int) clock_id; /* clockid_t; set once at start */

void clock_select(clockid_t id);

/* ns of one clock of the host; vDSO, no system call. */
uint64_t clock_read_ns(clockid_t id);

/* HOT: now, in ROCr's system time. */
uint64_t clock_now_ns(void);

#endif
