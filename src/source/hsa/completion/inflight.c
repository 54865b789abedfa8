/* SPDX-License-Identifier: MIT */
/* inflight.c - operations that were handed to the GPU and have not been recorded yet
 *
 * Not here: what a signal says of an entry (poll.c).
 */
#include "source/hsa/completion/inflight.h"

#include <errno.h>
#include <stddef.h>

#include "base/alloc.h"

int inflight_init(struct inflight_ring *r, uint32_t size)
{
	if (!r->entry) {
		r->entry = alloc_pages(size * sizeof(*r->entry));
		if (!r->entry)
			return -ENOMEM;
		r->mask = size - 1;
	}
	atomic_store_explicit(&r->tail, atomic_load_explicit(&r->head, memory_order_relaxed),
			      memory_order_relaxed);
	r->peek = atomic_load_explicit(&r->head, memory_order_relaxed);
	return 0;
}

bool inflight_uses(const struct inflight *e, const amd_signal_t *s)
{
	/* acquire: pairs with the release of the state FREE: the signal was set before it */
	return atomic_load_explicit(&e->state, memory_order_acquire) < INFLIGHT_CAPTURED &&
	       inflight_signal(e) == s;
}

void inflight_done_owners(struct inflight *e)
{
	uint32_t state = atomic_load_explicit(&e->state, memory_order_relaxed);

	/* BUSY: a thread that came from a signal which this entry had before */
	do {
		if (state == INFLIGHT_BUSY)
			state = INFLIGHT_ARMED;
	} while (!atomic_compare_exchange_weak_explicit(&e->state, &state, INFLIGHT_DONE,
							memory_order_acq_rel,
							memory_order_relaxed));
}
