/* SPDX-License-Identifier: MIT */
/* corr.h - correlation ids, unique in the process, from 1 */
#ifndef RTL_EVENT_CORR_H
#define RTL_EVENT_CORR_H

#include "event/thread.h"

uint64_t corr_refill(struct thread *t);

/* HOT: a new id. Threads take blocks of ids, so ids are unique but not in order of time. */
static inline uint64_t corr_new(struct thread *t)
{
	return t->corr_next < t->corr_end ? t->corr_next++ : corr_refill(t);
}

/* HOT: the id of the API call that runs on this thread, or a new one. */
static inline uint64_t corr_take(struct thread *t)
{
	return t->corr_current ? t->corr_current : corr_new(t);
}

#endif
