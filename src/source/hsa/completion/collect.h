/* SPDX-License-Identifier: MIT */
/* collect.h - records the operations of one queue that the GPU has completed
 *
 * The caller holds the queue's harvest lock, except for collect_give_up().
 */
#ifndef RTL_SOURCE_HSA_COLLECT_H
#define RTL_SOURCE_HSA_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

struct event_dispatch;
struct packet_head;
struct queue;

/* Within the event of a dispatch, on its thread: the epoch in which it was submitted
 * (code_object_mark()). */
uint32_t collect_epoch_of_event(void);

/* Fills in grid, group and sizes of segments from the packet; returns the kernel object. Any
 * thread, without the lock. */
uint64_t collect_describe(struct event_dispatch *d, const struct packet_head *head);

/* HOT: records what has completed on `q`. Returns the number of operations. */
uint32_t collect_queue(struct queue *q, uint64_t now_ns);

/* As collect_queue(), without its limit: records each operation that has completed. Returns their
 * number. */
uint32_t collect_completed(struct queue *q);

/* As collect_queue(), then records the pending operations as unfinished: the queue or the process
 * ends. */
void collect_finish(struct queue *q, uint64_t now_ns);

/* The trace is about to be closed: records as unfinished what is in flight in blocks that are not
 * in it (event/block.h). When it completes it is left out. Holder of the turn, too. */
void collect_untraced(struct queue *q);

/* The GPU will complete nothing more on the queue: records what has completed, and the rest as
 * unfinished. Takes the harvest lock itself and waits for it with a bound. */
void collect_give_up(struct queue *q);

/* counted_is_quiet(); `taken`: the number of packets that the processor has taken. Holder of the
 * turn. */
bool collect_is_quiet(struct queue *q, uint64_t taken, uint64_t *later);

#endif
