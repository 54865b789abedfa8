/* SPDX-License-Identifier: MIT */
/* corr.c - the process's counter of correlation ids
 *
 * Threads:  any.
 * Hot path: corr_refill() once in CORR_BLOCK ids.
 */
#include "event/corr.h"

#include <stdatomic.h>

#define CORR_BLOCK 1024

_Atomic(void (*)(struct thread *t)) corr_orphan;

static _Atomic uint64_t next = 1;

uint64_t corr_refill(struct thread *t)
{
	/* relaxed: ids need to be unique, nothing follows from their order */
	t->corr_next = atomic_fetch_add_explicit(&next, CORR_BLOCK, memory_order_relaxed);
	t->corr_end = t->corr_next + CORR_BLOCK;
	return t->corr_next++;
}
