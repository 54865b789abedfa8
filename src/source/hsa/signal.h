/* SPDX-License-Identifier: MIT */
/* signal.h - completion signals of our own: one pool for each queue
 *
 * The signals are GPU-only: completing one raises no interrupt. A free signal has the value 1 and
 * times 0, so that "the GPU wrote no times" can be told from "it wrote some".
 *
 *   operation     | signal_take        | signal_put         | signal_grow / signal_trim
 *   --------------+--------------------+--------------------+--------------------------
 *   signal_take   | caller excludes    | any                | any
 *   signal_put    |                    | caller excludes    | caller excludes
 * signal_take() is called in the packet callback, which the runtime serialises for each queue; the
 * others by the holder of the queue's harvest lock.
 */
#ifndef RTL_SOURCE_HSA_SIGNAL_H
#define RTL_SOURCE_HSA_SIGNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef HSA_LARGE_MODEL
#define HSA_LARGE_MODEL 1 /* amd_hsa_*.h: 64-bit pointers */
#endif
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include "base/compiler.h"

#define SIGNAL_START 64u       /* made with the queue */
#define SIGNAL_KEEP_IDLE 4096u /* in all queues together, when nothing is in flight */

struct signal_pool {
	/* set in init, constant after */
	_Atomic uint64_t *ring; /* of amd_signal_t addresses */
	uint32_t mask;

	/* owner: the packet callback, and signal_trim() */
	_Alignas(64) _Atomic uint64_t head;

	/* owner: the holder of the harvest lock */
	_Alignas(64) _Atomic uint64_t tail;
};

/* `size`: the most that can be in flight, a power of two. 0 or -ENOMEM. */
int signal_init(struct signal_pool *p, uint32_t size);

/* A new one with value 1. NULL: it could not be made. */
amd_signal_t *signal_make(void);

/* HOT: a free one; NULL: there is none. */
static inline amd_signal_t *signal_pop(struct signal_pool *p)
{
	uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed);
	uint64_t s;

	do {
		/* pairs with the release in push() */
		if (RTL_UNLIKELY(head == atomic_load_explicit(&p->tail, memory_order_acquire)))
			return NULL;
		s = atomic_load_explicit(&p->ring[head & p->mask], memory_order_relaxed);
		/* The ring holds more than can exist, so the slot is not written again before head
		 * has moved. acq_rel: signal_trim() and signal_take() may race. */
	} while (!atomic_compare_exchange_weak_explicit(&p->head, &head, head + 1,
							memory_order_acq_rel,
							memory_order_relaxed));
	return (amd_signal_t *)(uintptr_t)s;
}

/* HOT: a signal with value 1; NULL when none could be made. */
static inline amd_signal_t *signal_take(struct signal_pool *p)
{
	amd_signal_t *s = signal_pop(p);

	/* Not the steady state: the harvester makes them ahead of need. */
	return RTL_LIKELY(s != NULL) ? s : signal_make();
}

/* Gives a completed one back, reset. */
void signal_put(struct signal_pool *p, amd_signal_t *s);

/* Makes signals ahead of need, at most 64 a call. */
void signal_grow(struct signal_pool *p, uint64_t nr_in_flight);

/* Destroys all but `keep` of the free ones. */
void signal_trim(struct signal_pool *p, uint32_t keep);

/* The queue's end. */
void signal_fini(struct signal_pool *p);

static inline hsa_signal_t signal_handle(const amd_signal_t *s)
{
	return (hsa_signal_t){ .handle = (uint64_t)(uintptr_t)s };
}

static inline amd_signal_t *signal_of(hsa_signal_t s)
{
	return (amd_signal_t *)(uintptr_t)s.handle;
}

/* The GPU writes results, times, then the value: times are whole when the value has dropped. */
static inline int64_t signal_value(const amd_signal_t *s)
{
	return __atomic_load_n(&s->value, __ATOMIC_ACQUIRE);
}

static inline uint64_t signal_end_ticks(const amd_signal_t *s)
{
	return __atomic_load_n(&s->end_ts, __ATOMIC_ACQUIRE);
}

static inline uint64_t signal_begin_ticks(const amd_signal_t *s)
{
	return __atomic_load_n(&s->start_ts, __ATOMIC_RELAXED);
}

static inline void signal_clear_ticks(amd_signal_t *s)
{
	__atomic_store_n(&s->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->end_ts, 0, __ATOMIC_RELAXED);
}

#endif
