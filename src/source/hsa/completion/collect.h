/* SPDX-License-Identifier: MIT */
/* collect.h - records what the GPU has completed of one queue
 *
 * The caller holds the queue's harvest lock, unless it says otherwise.
 */
#ifndef RTL_SOURCE_HSA_COLLECT_H
#define RTL_SOURCE_HSA_COLLECT_H

#include <stdint.h>

struct queue;

/* HOT: records what has completed on `q`. Returns how many operations. */
uint32_t collect_queue(struct queue *q, uint64_t now_ns);

/* As collect_queue(), and the rest as unfinished: the queue or the process ends. */
void collect_finish(struct queue *q, uint64_t now_ns);

/* Nothing on the queue completes any more: what had completed is recorded, the rest as unfinished. Takes the
 * harvest lock itself, with a bound: a thread that holds it must not wait for ever. */
void collect_give_up(struct queue *q);

#endif
