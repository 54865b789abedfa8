/* SPDX-License-Identifier: MIT */
/* room.h - back-pressure: how much room there is in a hardware ring, and waiting for it
 *
 * All in the packet callback, which the runtime serialises for each queue.
 */
#ifndef RTL_SOURCE_HSA_ROOM_H
#define RTL_SOURCE_HSA_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/queue.h"

/* HOT: whether `n` more packets fit, as far as is known. */
static inline bool room_has(const struct queue *q, uint64_t n)
{
	return q->written + n <= q->consumed + q->limit;
}

bool room_make_slow(struct queue *q, uint64_t n);

/* Between two looks at what another thread or the GPU does; longer with each round. */
void room_pause(unsigned round);

/* HOT: waits until `n` more packets fit into the ring, as an untraced launch would have waited for
 * the read index, or until nothing is left that could tell of progress: that happens behind batches
 * that were passed through, and runtimes that batch can do without. false: the queue has failed,
 * nothing will ever fit. */
static inline bool room_make(struct queue *q, uint64_t n)
{
	return room_has(q, n) || room_make_slow(q, n);
}

/* HOT: whether a stretch of a quarter of the ring has no packet that would tell of progress. */
static inline bool room_wants_gate(const struct queue *q)
{
	return q->written - q->last_seen >= q->size / 4;
}

/* Puts a gate onto the last of `n` packets, or behind it. Returns the new number of packets. */
uint64_t room_add_gate(struct queue *q, union packet *out, uint64_t n);

/* Makes the signal of a gate, if it has none. */
bool room_make_gate(struct queue_gate *g);

/* A barrier packet without dependencies; `fences` of the packet header. */
void room_empty_barrier(union packet *p, uint16_t fences);

#endif
