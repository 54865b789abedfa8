/* SPDX-License-Identifier: MIT */
/* counted.h - queues whose dispatches wait until the GPU is theirs alone, to be counted
 *
 * For counter.c, on its thread or the harvester.
 */
#ifndef RTL_SOURCE_HSA_COUNTED_H
#define RTL_SOURCE_HSA_COUNTED_H

#include <stdbool.h>

#include "source/hsa/queue/queue.h"

/* Whether the next packet of a counted queue is a dispatch that waits for counted_grant(), and
 * the processor has taken all packets before it. *index: its. `answers`: gets what clients answered
 * for it, as client_copy(); NULL: nothing. A queue whose turn is taken, or that is of another GPU
 * by now, answers false. For counter.c. */
bool counted_waits(struct queue *q, uint32_t agent, uint64_t *index,
		   struct client_answers *answers);

enum counted_granted {
	GRANT_GONE, /* the queue was destroyed meanwhile: its clients have their result */
	/* the dispatch is submitted, and not recorded: it has no in-flight entry */
	GRANT_UNRECORDED,
	GRANT_RECORDED,
	GRANT_BUSY, /* without `waits`: another thread has the turn */
};
/* Submits dispatch `index` of the queue that has `queue_index` in the trace, and what follows it up
 * to the next one. Unless the queue is gone or its turn is taken, results for its clients are the
 * caller's to give. `waits`: for the turn. */
enum counted_granted counted_grant(struct queue *q, uint32_t queue_index, uint64_t index,
				   bool waits);

/* The queue is counted no longer: what waits is submitted, and its clients get the reason, a
 * constant. Nothing, if it is of another GPU. */
void counted_grant_all(struct queue *q, uint32_t agent, const char *why);

/* Whether none of the queue's dispatches runs; those that the processor has not taken yet do not:
 * their number is added to *later. Records what has completed. A queue that another thread uses
 * answers false. For the harvester. */
bool counted_is_quiet(struct queue *q, uint64_t *later);

#endif
