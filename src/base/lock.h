/* SPDX-License-Identifier: MIT */
/* lock.h - a mutex with a rank; locks are taken in the order of their ranks, outermost first
 *
 * Debug builds check the order on each thread and end the process when it is broken. A lock of one
 * rank is never taken inside of another of the same rank.
 */
#ifndef RTL_BASE_LOCK_H
#define RTL_BASE_LOCK_H

#include <pthread.h>

enum lock_rank {
	LOCK_CODEOBJ,
	LOCK_QUEUE,
	LOCK_SIGNAL,
	LOCK_RANGE,
	LOCK_INTERN,
	LOCK_META,
	LOCK_NR_RANKS
};

struct lock {
	pthread_mutex_t mutex;
	enum lock_rank rank;
};

/* Clang's thread-safety analysis, one preset; nothing elsewhere. */
#if defined(RTL_TSA) && defined(__clang__)
#define RTL_GUARDED_BY(m) __attribute__((guarded_by(m)))
#define RTL_REQUIRES(m) __attribute__((requires_capability(m)))
#else
#define RTL_GUARDED_BY(m)
#define RTL_REQUIRES(m)
#endif

/* clang-format off */
#define LOCK_INIT(of_rank) {PTHREAD_MUTEX_INITIALIZER, of_rank}
/* clang-format on */

#ifdef RTL_DEBUG_CHECKS
void lock_check_take(enum lock_rank rank);
void lock_check_drop(enum lock_rank rank);
void lock_assert_held(const struct lock *l);
#else
#define lock_check_take(rank) ((void)(rank))
#define lock_check_drop(rank) ((void)(rank))
#define lock_assert_held(l) ((void)(l))
#endif

static inline void lock_take(struct lock *l)
{
	lock_check_take(l->rank);
	pthread_mutex_lock(&l->mutex);
}

static inline void lock_drop(struct lock *l)
{
	pthread_mutex_unlock(&l->mutex);
	lock_check_drop(l->rank);
}

#endif
