/* SPDX-License-Identifier: MIT */
/* left_out.h - counts of the calls that the user leaves out, one for each thread
 *
 * A call that a filter leaves out goes from its symbol to the real function by jumps (HIP_LEFT() in
 * source/hip/frame.h). On the way 1 is added to *thread_self.left_out, in a cache line of its
 * thread's own; if the sum is negative the thread has no counter, and the call takes the ordinary
 * way, which counts it. The life thread adds the counts up as losses (SPOOL_REASON_filtered_call,
 * or SPOOL_REASON_paused).
 *
 *  operation       | another thread
 *  ----------------+------------------------------------------------------------------
 *  left_out_begin  | any
 *  left_out_flush  | any: what is counted meanwhile is in this flush or the next
 */
#ifndef RTL_EVENT_LEFT_OUT_H
#define RTL_EVENT_LEFT_OUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/thread.h"

/* Threads that count at the same time; the calls of others take the ordinary way. */
#define LEFT_OUT_MAX_THREADS 256u

/* The caller gets a counter, if it has none and one is free. From now on operations of the thread
 * outside of recorded calls are not missed: they may belong to a call that was counted. */
void left_out_begin(void);

/* Adds what was counted since the last flush to the losses. Before recording pauses or goes on, and
 * before losses are written or forgotten. */
void left_out_flush(void);

/* From librtl's constructor, before threads. */
void left_out_init(void);

#endif
