/* SPDX-License-Identifier: MIT */
/* signal_pool.h - completion signals of our own: one pool for each queue
 *
 * The signals are GPU-only: completing one raises no interrupt. A free signal has the value 1 and
 * times 0, so that "the GPU wrote no times" can be told from "it wrote some".
 *
 *   operation        | signal_pool_take      | signal_pool_put / _grow
 *   -----------------+-----------------------+------------------------
 *   signal_pool_take | caller excludes: turn | any
 *   signal_pool_trim | caller excludes: both | caller excludes
 *   signal_pool_put  |                       | caller excludes: harvest lock
 * "turn": who submits the queue's packets (queue.h); "both": turn and harvest lock.
 */
#ifndef RTL_SOURCE_HSA_SIGNAL_POOL_H
#define RTL_SOURCE_HSA_SIGNAL_POOL_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "source/hsa/completion/signal.h"

#define SIGNAL_POOL_START 64u	    /* made with the queue */
#define SIGNAL_POOL_KEEP_IDLE 4096u /* in all queues together, when nothing is in flight */

struct signal_pool {
	/* set in init, constant after */
	_Atomic uint64_t *ring; /* of amd_signal_t addresses */
	uint32_t mask;

	/* owner: the holder of the turn */
	_Alignas(64) _Atomic uint64_t head;

	/* owner: the holder of the harvest lock */
	_Alignas(64) _Atomic uint64_t tail;
};

/* `size`: the most that can be in flight, a power of two. 0 or -ENOMEM. */
int signal_pool_init(struct signal_pool *p, uint32_t size);

/* A new one with value 1. NULL: it could not be made. */
amd_signal_t *signal_pool_make(void);

/* HOT: a signal with value 1; NULL when none could be made. */
static inline amd_signal_t *signal_pool_take(struct signal_pool *p)
{
	uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed); /* owner */
	uint64_t s;

	/* Not the steady state: the harvester makes them ahead of need. Pairs with the release in push() */
	if (RTL_UNLIKELY(head == atomic_load_explicit(&p->tail, memory_order_acquire)))
		return signal_pool_make();
	/* The ring holds more than can exist, so the slot is not written again soon. */
	s = atomic_load_explicit(&p->ring[head & p->mask], memory_order_relaxed);
	/* relaxed: the harvester's count of the free ones is an estimate */
	atomic_store_explicit(&p->head, head + 1, memory_order_relaxed);
	return (amd_signal_t *)(uintptr_t)s;
}

/* Gives a completed one back, reset. */
void signal_pool_put(struct signal_pool *p, amd_signal_t *s);

/* Makes signals ahead of need, at most 64 a call. */
void signal_pool_grow(struct signal_pool *p, uint64_t nr_in_flight);

/* Destroys all but `keep` of the free ones. */
void signal_pool_trim(struct signal_pool *p, uint32_t keep);

/* The queue's end. */
void signal_pool_fini(struct signal_pool *p);

#endif
