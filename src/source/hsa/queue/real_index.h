/* SPDX-License-Identifier: MIT */
/* real_index.h - the hardware's indices and doorbell of an interposed queue (interpose.c)
 *
 * HOT: without a call where the handle is an amd_queue_t. Under the queue's turn, but for what says
 * otherwise.
 */
#ifndef RTL_SOURCE_HSA_REAL_INDEX_H
#define RTL_SOURCE_HSA_REAL_INDEX_H

#include <stddef.h>

#include "base/compiler.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/table/real.h"

_Static_assert(offsetof(amd_queue_t, hsa_queue) == 0 &&
		       offsetof(amd_queue_t, write_dispatch_id) == 56 &&
		       offsetof(amd_queue_t, read_dispatch_id) == 128,
	       "amd_queue_t as the packet processor reads it");

/* For a queue whose handle may be no amd_queue_t (a counted queue): under the turn, which keeps the
 * program from releasing the handle. NULL: the program has released all handles, so the indices
 * don't change. */
static inline hsa_queue_t *real_index_handle(const struct queue *q)
{
	return atomic_load_explicit(&q->hsa, memory_order_relaxed);
}

static RTL_COLD uint64_t real_index_call_read(const struct queue *q)
{
	return real_index_handle(q) ?
		       real.hsa_queue_load_read_index_scacquire(real_index_handle(q)) :
		       0;
}

static RTL_COLD uint64_t real_index_call_write(const struct queue *q)
{
	return real_index_handle(q) ?
		       real.hsa_queue_load_write_index_relaxed(real_index_handle(q)) :
		       atomic_load_explicit(&q->published, memory_order_relaxed);
}

/* Without the turn, by the handle that the program reserves with: another thread may release any
 * other handle meanwhile. */
static inline void real_index_raise_write(const hsa_queue_t *hsa, uint64_t to)
{
	uint64_t was = real.hsa_queue_load_write_index_relaxed(hsa), is;

	for (; was < to; was = is) {
		is = real.hsa_queue_cas_write_index_screlease(hsa, was, to);
		if (is == was)
			return;
	}
}

static RTL_COLD void real_index_call_store(const struct queue *q, uint64_t index)
{
	if (real_index_handle(q))
		real.hsa_queue_store_write_index_screlease(real_index_handle(q), index);
}

static inline uint64_t real_index_read(const struct queue *q)
{
	/* acquire: the slot is free before the index passes it */
	return RTL_LIKELY(q->read_index != NULL) ?
		       atomic_load_explicit(q->read_index, memory_order_acquire) :
		       real_index_call_read(q);
}

static inline uint64_t real_index_write(const struct queue *q)
{
	return RTL_LIKELY(q->write_index != NULL) ?
		       atomic_load_explicit(q->write_index, memory_order_relaxed) :
		       real_index_call_write(q);
}

static inline void real_index_store_write(struct queue *q, uint64_t index)
{
	/* release: pairs with readers of the index: the packets are written before it */
	if (RTL_LIKELY(q->write_index != NULL))
		atomic_store_explicit(q->write_index, index, memory_order_release);
	else
		real_index_call_store(q, index);
}

static inline void real_index_ring(const struct queue *q, uint64_t index)
{
	hsa_signal_t doorbell = { .handle = atomic_load_explicit(&q->doorbell,
								 memory_order_relaxed) };

	real.hsa_signal_store_screlease(doorbell, (hsa_signal_value_t)index);
}

#endif
