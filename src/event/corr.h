/* SPDX-License-Identifier: MIT */
/* corr.h - correlation ids, unique in the process, from 1 */
#ifndef RTL_EVENT_CORR_H
#define RTL_EVENT_CORR_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/compiler.h"
#include "event/thread.h"

uint64_t corr_refill(struct thread *t);

/* From now on ids are in order of time, over all threads, for clients that go by that: each costs an
 * atomic addition. Any thread. */
void corr_keep_order(void);

/* HOT: a new id. Threads take blocks of ids, so ids are unique but not in order of time. */
static inline uint64_t corr_new(struct thread *t)
{
	return t->corr_next < t->corr_end ? t->corr_next++ : corr_refill(t);
}

/* NULL, or told of each operation on a thread that is in no recorded call. Must not block. */
extern _Atomic(void (*)(struct thread *t)) corr_orphan;

/* HOT: the id of an operation that came from a thread in no recorded call; `t` is the caller. */
static inline uint64_t corr_orphaned(struct thread *t)
{
	/* acquire: pairs with the release of who sets it */
	void (*orphan)(struct thread * t) =
		atomic_load_explicit(&corr_orphan, memory_order_acquire);

	if (RTL_UNLIKELY(orphan != NULL))
		orphan(t);
	return corr_new(t);
}

/* HOT: the id of the API call that runs on this thread, or a new one. */
static inline uint64_t corr_take(struct thread *t)
{
	return t->corr_current ? t->corr_current : corr_orphaned(t);
}

#endif
