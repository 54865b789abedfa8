/* SPDX-License-Identifier: MIT */
/* bypassed.h - packets that reached the hardware of an interposed queue past the HSA functions
 *
 * For interpose.c. Threads: the holder of the queue's turn; store_max(): any.
 */
#ifndef RTL_SOURCE_HSA_BYPASSED_H
#define RTL_SOURCE_HSA_BYPASSED_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/log.h"
#include "event/bus.h"
#include "source/hsa/queue/packet.h"
#include "source/hsa/queue/queue.h"
#include "source/hsa/queue/real_index.h"

static inline void store_max(_Atomic uint64_t *a, uint64_t to)
{
	uint64_t was = atomic_load_explicit(a, memory_order_relaxed);

	while (was < to && !atomic_compare_exchange_weak_explicit(a, &was, to, memory_order_release,
								  memory_order_relaxed))
		;
}

/* Number of dispatches in [from, to), which were passed to the hardware. */
static inline uint64_t count_dispatches(const struct queue *q, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	if (to - from > q->size)
		from = to - q->size;
	for (; from < to; from++) {
		const union packet *p = &q->packets[from & q->packet_mask];

		n += packet_is_dispatch(p) || packet_was_dispatch(p) || packet_was_ext_dispatch(p);
	}
	return n;
}

static RTL_COLD void count_bypassed(struct queue *q, uint64_t from, uint64_t to)
{
	uint64_t n = count_dispatches(q, from, to);

	if (!n)
		return;
	bus_loss(SPOOL_REASON_queue_bypassed, n);
	log_warn(
		"queue %u: %llu dispatches reached the hardware past the HSA functions and are not "
		"traced",
		q->index, (unsigned long long)n);
}

/* The GPU or the runtime moved the real write index over packets that librtl has not seen. They
 * can't be changed any more. Returns the index where the program's packets go on. */
static RTL_COLD uint64_t skip_foreign(struct queue *q, uint64_t published)
{
	uint64_t index = real_index_write(q);

	if (index < published) /* moved back: not librtl's to repair */
		return published;
	store_max(&q->reserved, index);
	count_bypassed(q, published, index);
	atomic_store_explicit(&q->published, index, memory_order_relaxed);
	return index;
}

#endif
