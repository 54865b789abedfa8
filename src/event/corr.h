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

/* From now on ids are in order of time, over all threads, for clients that go by that: each costs an
 * atomic addition. Any thread. */
void corr_keep_order(void);

/* HOT: a new id. Threads take blocks of ids, so ids are unique but not in order of time. */
static inline uint64_t corr_new(struct thread *t)
{
	return t->corr_next < t->corr_end ? t->corr_next++ : corr_refill(t);
}

/* NULL, or asked at each operation of a thread that is in no recorded call, whether a call was missed. Must not
 * block. */
extern RTL_HIDDEN _Atomic(bool (*)(void)) corr_orphan;

/* HOT: `id` of a call or an operation that is in no recorded call, with EVENT_LEFT_OUT while recording is
 * paused. */
static inline uint64_t corr_mark(uint64_t id)
{
	return RTL_UNLIKELY(pause_is_on()) ? id | EVENT_LEFT_OUT : id;
}

static inline bool corr_is_left_out(uint64_t id)
{
	return id & EVENT_LEFT_OUT;
}

/* HOT: whether `t`, which is in no recorded call, may be in one that was missed. One that was begun while recording was
 * paused is not. */
static inline bool corr_may_miss(const struct thread *t)
{
	return !t->call_left_out && !t->is_ours;
}

/* HOT: a new id for an operation that came, while recording went on, from a thread in no recorded call, with EVENT_MISSED
 * where such a call was missed; `may_miss`: what corr_may_miss() said of that thread, `t`: the caller. */
static inline uint64_t corr_of_orphan(struct thread *t, bool may_miss)
{
	/* acquire: pairs with the release of who sets it */
	bool (*orphan)(void) = atomic_load_explicit(&corr_orphan, memory_order_acquire);
	uint64_t id = corr_new(t);

	if (RTL_UNLIKELY(orphan != NULL) && may_miss && orphan())
		id |= EVENT_MISSED;
	return id;
}

/* HOT: the same, now: recording may be paused. It may be that no operation comes of it. */
static inline uint64_t corr_orphaned(struct thread *t, bool may_miss)
{
	return RTL_UNLIKELY(pause_is_on()) ? corr_new(t) | EVENT_LEFT_OUT :
					     corr_of_orphan(t, may_miss);
}

/* HOT: the id of the API call that runs on this thread, or a new one. */
static inline uint64_t corr_take(struct thread *t)
{
	return t->corr_current ? t->corr_current : corr_orphaned(t, corr_may_miss(t));
}

#endif
