/* SPDX-License-Identifier: MIT */
/* corr.c - the process's counter of correlation ids
 *
 * Threads:  any.
 * Hot path: corr_refill() once in CORR_BLOCK ids.
 */
#include "event/corr.h"

#include <stdatomic.h>
#include <stdbool.h>

#define CORR_BLOCK 1024

_Atomic(bool (*)(void)) corr_orphan;

static _Atomic uint64_t next = 1;

static _Atomic bool in_order;

void corr_keep_order(void)
{
	/* relaxed: threads still use up the blocks that they took earlier */
	atomic_store_explicit(&in_order, true, memory_order_relaxed);
}

uint64_t corr_refill(struct thread *t)
{
	if (RTL_UNLIKELY(atomic_load_explicit(&in_order, memory_order_relaxed)))
		return atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
	/* relaxed: ids need only be unique, not ordered */
	t->corr_next = atomic_fetch_add_explicit(&next, CORR_BLOCK, memory_order_relaxed);
	t->corr_end = t->corr_next + CORR_BLOCK;
	return t->corr_next++;
}
