/* SPDX-License-Identifier: MIT */
/* shared_times.h - times of dispatches whose owner's signal was completed by librtl's barrier
 * packet
 *
 * Such a signal holds the barrier's times, or none. When the owner asks for the dispatch's times,
 * librtl answers from this table. Any thread.
 */
#ifndef RTL_SOURCE_HSA_SHARED_TIMES_H
#define RTL_SOURCE_HSA_SHARED_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/completion/signal.h"

/* HOT: whether any were ever expected. */
bool shared_times_any(void);

/* HOT: another operation uses `s` now: drops the times kept for it. */
void shared_times_forget(const amd_signal_t *s);

/* As shared_times_forget(); announces that this operation's times will be kept. */
void shared_times_expect(const amd_signal_t *s);

/* Stores the times, ns of system time. Replaces the oldest where there is no free entry. Takes a
 * lock. */
void shared_times_keep(const amd_signal_t *s, uint64_t begin_ns, uint64_t end_ns);

/* false: there are none; *begin_ns and *end_ns are unchanged. */
bool shared_times_find(const amd_signal_t *s, uint64_t *begin_ns, uint64_t *end_ns);

#endif
