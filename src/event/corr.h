/* SPDX-License-Identifier: MIT */
/* corr.h - correlation ids, unique in the process, from 1 */
#ifndef RTL_EVENT_CORR_H
#define RTL_EVENT_CORR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"
#include "event/event.h"
#include "event/pause.h"
#include "event/thread.h"

uint64_t corr_refill(struct thread *t);

/* Makes ids increase in time across all threads, for clients that depend on it; each id then costs
 * an atomic addition. Any thread. */
void corr_keep_order(void);

/* HOT: a new id. Threads take blocks of ids, so ids are unique but not in order of time. */
static inline uint64_t corr_new(struct thread *t)
{
	return t->corr_next < t->corr_end ? t->corr_next++ : corr_refill(t);
}

/* NULL, or a function called for each operation of a thread outside of recorded calls: whether its
 * call was missed. Must not block. */
extern RTL_HIDDEN _Atomic(bool (*)(void)) corr_orphan;

/* HOT: `id` of a call or an operation outside of recorded calls, with EVENT_LEFT_OUT while
 * recording is paused. */
static inline uint64_t corr_mark(uint64_t id)
{
	return RTL_UNLIKELY(pause_is_on()) ? id | EVENT_LEFT_OUT : id;
}

/* HOT: why the operation with this id, which is left out, is. */
static inline enum spool_reason corr_why_left_out(uint64_t id)
{
	return id & EVENT_BY_KERNEL ? SPOOL_REASON_filtered_kernel :
	       id & EVENT_BY_GPU    ? SPOOL_REASON_filtered_gpu :
				      SPOOL_REASON_paused;
}

static inline bool corr_is_left_out(uint64_t id)
{
	return id & EVENT_LEFT_OUT;
}

/* HOT: whether `t`, outside of recorded calls, may be in a missed call. A call that began while
 * recording was paused, or that a filter leaves out, is not missed. */
static inline bool corr_may_miss(const struct thread *t)
{
	return !(t->submitter & THREAD_LEFT_OUT) && !t->is_ours;
}

/* HOT: a new id for an operation outside of recorded calls that was submitted while recording was
 * on, with EVENT_MISSED if its call was missed; `may_miss`: corr_may_miss() of the submitting
 * thread. `t`: the caller's. */
static inline uint64_t corr_of_orphan(struct thread *t, bool may_miss)
{
	/* acquire: pairs with the release of the thread that sets it */
	bool (*orphan)(void) = atomic_load_explicit(&corr_orphan, memory_order_acquire);
	uint64_t id = corr_new(t);

	if (RTL_UNLIKELY(orphan != NULL) && may_miss && orphan())
		id |= EVENT_MISSED;
	return id;
}

/* HOT: the same for the present: recording may be paused. Possibly no operation is recorded for the
 * id. */
static inline uint64_t corr_orphaned(struct thread *t, bool may_miss)
{
	return RTL_UNLIKELY(pause_is_on()) ? corr_new(t) | EVENT_LEFT_OUT :
					     corr_of_orphan(t, may_miss);
}

/* HOT: the id of the API call in progress on this thread, or a new one. */
static inline uint64_t corr_take(struct thread *t)
{
	return t->corr_current ? t->corr_current : corr_orphaned(t, corr_may_miss(t));
}

#endif
