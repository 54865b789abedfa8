/* SPDX-License-Identifier: MIT */
/* completer.h - completes signals that several operations share, on the GPU, for interposed queues
 *
 * Each operation overwrites the times in its signal, so operations that share one get a signal of ours each, and a
 * barrier packet that waits for ours completes the owner's. That packet goes into a hardware queue of ours, one
 * for each queue of the program that needs it: none of the program's indices move, nothing of its queue is held up, and no
 * thread is needed for the owner's signal to drop (decision 017).
 *
 * All under the turn of the program's queue, but for completer_passed().
 */
#ifndef RTL_SOURCE_HSA_COMPLETER_H
#define RTL_SOURCE_HSA_COMPLETER_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/queue/queue.h"

/* Whether completer_add() may be called once. Makes the queue of ours if there is none yet, and waits until it has
 * room, about 200 ms at most. */
bool completer_ready(struct queue *q);

/* `owner` is completed once `ours`, which packet `p` carries, has been. Returns the index of the barrier packet. */
uint64_t completer_add(struct queue *q, const union packet *p, const amd_signal_t *ours,
		       amd_signal_t *owner);

/* Barrier packets before this index read their signals no more. Any thread. */
uint64_t completer_passed(const struct queue *q);

/* Waits until the owners' signals of what has completed have been completed, too: microseconds. Any thread. */
void completer_settle(struct queue *q);

/* The program's queue ends: after completer_settle(). */
void completer_destroy(struct queue *q);

#endif
