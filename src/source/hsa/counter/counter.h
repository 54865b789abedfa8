/* SPDX-License-Identifier: MIT */
/* counter.h - counts hardware events for each dispatch: for the faces' clients (client.h), and for
 * the user (RTL_PMC)
 *
 * The counters of a GPU count what runs on all of its queues. So the dispatches of a counted GPU
 * run one at a time: a queue holds the next dispatch back (counted_waits()) until the packets
 * before it were processed and the harvester has started the counters. The program's packets stay
 * as they are. Packets that start, read and stop the counters go to a queue of librtl's:
 *
 *   waits -> nothing runs -> start packet completed -> granted -> recorded -> read and stop packets
 *   completed -> results
 *
 * With RTL_PMC_REPLAY a dispatch of several passes is run for those before the last when nothing
 * runs (replay.h).
 *
 * Kernels of the runtime itself (copies, fills) are not held back, and count where they run at the
 * same time.
 *
 * A kernel that waits for one that is held back, on another queue, would never end: after
 * RTL_PMC_WAIT_MS its GPU is no longer counted, and what waits is submitted.
 *
 * Not here: intercept queues (RTL_QUEUES=intercept) are not counted.
 *
 * Threads: the first of those that need a count, one at a time: a thread that has put a dispatch on
 *          a queue or waits for a signal (counter_help()), else the harvester. So a program that
 *          waits for its dispatches, as most do, needs no other thread for its counts: on few
 *          processors each change to another one costs more than the count. Replays, and giving up,
 *          are the harvester's, and that of the thread that ends the process or the runtime when
 *          the harvester has stopped.
 */
#ifndef RTL_SOURCE_HSA_COUNTER_H
#define RTL_SOURCE_HSA_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/queue/queue.h"

/* `hsa`, for which `q` was opened, was made; the program does not have it yet. If the user wants
 * counters of its GPU, or a face may, its kernels count from now on; where that is not possible,
 * its dispatches are recorded as not counted. */
void counter_prepare_queue(struct queue *q, hsa_queue_t *hsa);

/* For counter_recorded(). */
void counter_saw_end(struct queue *q, const struct inflight *e, uint64_t begin_ns, uint64_t end_ns);

/* HOT: a dispatch was recorded. Holder of the harvest lock. */
static inline void counter_recorded(struct queue *q, const struct inflight *e, uint64_t begin_ns,
				    uint64_t end_ns)
{
	if (RTL_UNLIKELY(atomic_load_explicit(&q->is_counted, memory_order_relaxed)))
		counter_saw_end(q, e, begin_ns, end_ns);
}

/* Answers that wait, in all queues, and GPUs on which a dispatch is being counted. */
extern _Atomic uint32_t counter_work;

/* HOT: whether a dispatch is being counted, or waits for that. A hint. */
static inline bool counter_is_busy(void)
{
	return atomic_load_explicit(&counter_work, memory_order_relaxed) != 0;
}

/* Advances what is being counted as far as that goes without waiting for a kernel: by a thread of
 * the program that has made a dispatch or waits for one. Whether it did something. Without locks of
 * librtl's and turns.
 *
 * In a doorbell it waits for packets of librtl's, microseconds. Else it asks no client: a thread
 * that waits for the GPU may hold a lock that a tool takes when it is asked. */
bool counter_help(bool in_doorbell);

/* What is left is the harvester's: this thread does not help any more. */
void counter_hand_over(void);

/* Advances what is being counted. ns until it wants to again; UINT64_MAX: when it is woken. The
 * harvester, and who ends the process. */
uint64_t counter_tick(void);

/* Waits until the dispatches that wait were counted and their results given, `wait_ns` at most. Not
 * for the harvester. */
void counter_settle(uint64_t wait_ns);

/* The counters of a GPU are the caller's, who samples them with a queue of its own: its dispatches
 * are not counted meanwhile, and clients get that as the reason. Waits for one that is being
 * counted, `wait_ns` at most. -EBUSY: another client has them, or the dispatch takes longer. Not
 * for the harvester. */
int counter_reserve(uint32_t agent, uint64_t wait_ns);
void counter_unreserve(uint32_t agent);

/* Around the end of a queue of the GPU, whose packets are submitted: no dispatch is replayed
 * meanwhile. Waits for one that is, 2 * RTL_PMC_WAIT_MS at most. Without the queue's turn; not for
 * the harvester. */
void counter_hold_off(uint32_t agent);
void counter_let_go(uint32_t agent);

/* Counts what waits until the deadline; then nothing is held back any more. */
void counter_finish(uint64_t deadline_ns);

/* The runtime goes away: its objects are forgotten. */
void counter_reset(void);

#endif
