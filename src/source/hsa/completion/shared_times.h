/* SPDX-License-Identifier: MIT */
/* shared_times.h - times of dispatches whose owner's signal was completed by a barrier packet of ours
 *
 * Such a signal holds the barrier's times, or none, so the owner's question for the dispatch's is answered from
 * here. Any thread.
 */
#ifndef RTL_SOURCE_HSA_SHARED_TIMES_H
#define RTL_SOURCE_HSA_SHARED_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/completion/signal.h"

/* HOT: whether there ever was one. */
bool shared_times_any(void);

/* HOT: `s` goes onto another operation: what was kept of it is over. */
void shared_times_forget(const amd_signal_t *s);

/* As shared_times_forget(); this operation's times will be kept. */
void shared_times_expect(const amd_signal_t *s);

/* Keeps the times, ns of system time. The oldest makes room. Takes a lock. */
void shared_times_keep(const amd_signal_t *s, uint64_t begin_ns, uint64_t end_ns);

/* false: none are kept; the times are left alone. */
bool shared_times_find(const amd_signal_t *s, uint64_t *begin_ns, uint64_t *end_ns);

#endif
