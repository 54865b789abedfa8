/* SPDX-License-Identifier: MIT */
/* completer.h - completes signals that several operations share, on the GPU, for interposed queues
 *
 * Each operation overwrites the times in its signal, so each operation that shares a signal gets
 * its own signal of librtl's, and a barrier packet that waits for that signal completes the
 * owner's. The barrier packet goes into a hardware queue of librtl's, one for each queue of the
 * program that needs it: the indices of the program's queue stay unchanged, its packets are not
 * delayed, and no thread is needed to complete the owner's signal (decision 017).
 *
 * The caller holds the turn of the program's queue, except in completer_passed() and
 * completer_settle().
 */
#ifndef RTL_SOURCE_HSA_COMPLETER_H
#define RTL_SOURCE_HSA_COMPLETER_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/queue/queue.h"

/* Whether completer_add() may be called once. Makes librtl's queue if there is none yet, and waits
 * until it has a free slot, about 200 ms at most. */
bool completer_ready(struct queue *q);

/* `owner` will be completed after `ours`, the signal of packet `p`. Returns the index of the
 * barrier packet. */
uint64_t completer_add(struct queue *q, const union packet *p, const amd_signal_t *ours,
		       amd_signal_t *owner);

/* Barrier packets before this index have read their signals. Any thread. */
uint64_t completer_passed(const struct queue *q);

/* Waits until the owners' signals of completed dispatches are completed, too: microseconds. Any
 * thread. */
void completer_settle(struct queue *q);

/* The program's queue is destroyed: call after completer_settle(). */
void completer_destroy(struct queue *q);

#endif
