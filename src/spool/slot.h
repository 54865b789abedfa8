/* SPDX-License-Identifier: MIT */
/* slot.h - the slots of a memory half and the stack of free ones
 *
 *  operation | slot_pop | slot_push
 *  ----------+----------+----------
 *  slot_pop  | any      | any         threads and processes alike
 *  slot_push |          | any
 *
 * The head contains a tag that every change increments, so that a compare-and-swap fails if a slot
 * was popped and pushed again since the load. Slots are never unmapped, so reading the link of a
 * slot that is no longer free is harmless.
 */
#ifndef RTL_SPOOL_SLOT_H
#define RTL_SPOOL_SLOT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/testpoint.h"
#include "spool/format.h"

#define SLOT_NONE UINT32_MAX

static inline struct slot_desc *slot_desc(struct spool_header *h, uint32_t slot)
{
	return (struct slot_desc *)((char *)h + h->desc_offset) + slot;
}

static inline struct chunk_header *slot_chunk(struct spool_header *h, uint32_t slot)
{
	return (struct chunk_header *)((char *)h + h->slots_offset + (uint64_t)slot * h->slot_size);
}

/* HOT: a free slot, or SLOT_NONE. Its state is still SLOT_FREE. */
static inline uint32_t slot_pop(struct spool_header *h)
{
	/* acquire: pairs with the release in slot_push(): the link of the slot */
	uint64_t head = atomic_load_explicit(&h->free_head, memory_order_acquire);

	for (;;) {
		uint32_t slot = (uint32_t)head - 1;
		uint64_t next;

		if (slot >= h->nr_slots)
			return SLOT_NONE;
		/* relaxed: the tag makes the exchange fail if the link is stale */
		next = atomic_load_explicit(&slot_desc(h, slot)->next, memory_order_relaxed);
		next |= (head & ~UINT64_C(0xffffffff)) + (UINT64_C(1) << 32);
		RTL_TESTPOINT("slot_pop");
		/* acquire: pairs with slot_push(), which follows the drainer's last read */
		if (atomic_compare_exchange_weak_explicit(&h->free_head, &head, next,
							  memory_order_acquire,
							  memory_order_acquire)) {
			/* relaxed: a hint for the thread that prepares slots */
			atomic_fetch_sub_explicit(&h->nr_free, 1, memory_order_relaxed);
			return slot;
		}
	}
}

/* Frees `slot`, which the caller owned exclusively. */
static inline void slot_push(struct spool_header *h, uint32_t slot)
{
	struct slot_desc *desc = slot_desc(h, slot);
	uint64_t head = atomic_load_explicit(&h->free_head, memory_order_relaxed);
	uint64_t mine;

	/* relaxed: published by the exchange below */
	atomic_store_explicit(&desc->state, SLOT_FREE, memory_order_relaxed);
	do {
		atomic_store_explicit(&desc->next, (uint32_t)head, memory_order_relaxed);
		mine = (head & ~UINT64_C(0xffffffff)) + (UINT64_C(1) << 32) + slot + 1;
		RTL_TESTPOINT("slot_push");
		/* release: pairs with slot_pop() */
	} while (!atomic_compare_exchange_weak_explicit(&h->free_head, &head, mine,
							memory_order_release,
							memory_order_relaxed));
	/* relaxed: a hint */
	atomic_fetch_add_explicit(&h->nr_free, 1, memory_order_relaxed);
}

#endif
