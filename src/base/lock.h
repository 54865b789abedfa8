/* SPDX-License-Identifier: MIT */
/* lock.h - a mutex with a rank; locks are taken in the order of their ranks, outermost first
 *
 * All locks in librtl and the faces are of this type. RTL_GUARDED_BY() marks the data that a lock
 * guards, RTL_REQUIRES() the functions that are called under it; clang checks both (preset tsa).
 * Debug builds check the order on each thread and end the process on a violation. A thread holds
 * only one lock of each rank. A thread that has a lock is not cancelled, whatever it calls.
 *
 * Threads:  any.
 * Fails:    never; a thread does not take a lock twice.
 */
#ifndef RTL_BASE_LOCK_H
#define RTL_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/sys.h"

enum lock_rank {
	LOCK_DELIVERY,	    /* librtl/operations.c: calls the program's callbacks under it */
	LOCK_SESSIONS,	    /* librtl/session.c */
	LOCK_RECORDER,	    /* recorder.c: opening and closing; holds queues under it */
	LOCK_DEFAULT_POOL,  /* libroctracer64/api.c */
	LOCK_REGISTRY,	    /* libroctracer64/registry.c: switches sources under it */
	LOCK_V1_HSA_CALLS,  /* librocprofiler64/hsa_calls.c: switches sources under it */
	LOCK_HSA_EVENTS,    /* face/hsa_events.c: the same */
	LOCK_V1_RUNTIME,    /* librocprofiler64/runtime.c: calls the runtime under it */
	LOCK_V1_QUEUES,	    /* librocprofiler64/queues.c */
	LOCK_V1_DICTIONARY, /* librocprofiler64/dictionary.c */
	LOCK_V1_POOL,	    /* librocprofiler64/pool.c: one pool */
	LOCK_V1_OWNERS,	    /* librocprofiler64/sample.c */
	LOCK_ROCTX,	    /* libroctx64/roctx.c */
	LOCK_SDK_CONTEXTS,  /* librocprofiler-sdk/context.c */
	LOCK_SDK_SERVICES,  /* librocprofiler-sdk/activation.c: what contexts are configured for */
	LOCK_SDK_EXTERNAL,  /* librocprofiler-sdk/external.c */
	LOCK_SDK_CALLS,	    /* librocprofiler-sdk/calls.c: subscribes to calls under it */
	LOCK_SDK_DISPATCH,  /* librocprofiler-sdk/dispatch.c */
	LOCK_SDK_EFFECTS,   /* librocprofiler-sdk/effects.c */
	LOCK_SDK_RANGES,    /* librocprofiler-sdk/marker_ranges.c */
	LOCK_SDK_COUNT,	    /* librocprofiler-sdk/dispatch_ids.c */
	LOCK_SDK_DEVICES,   /* librocprofiler-sdk/count_device.c: calls the runtime under it */
	LOCK_SDK_CONFIGS,   /* librocprofiler-sdk/count_config.c: the same */
	LOCK_SDK_COUNTERS,  /* librocprofiler-sdk/counters.c */
	LOCK_SDK_DEFINITIONS, /* librocprofiler-sdk/definitions.c */
	LOCK_RANGES,	      /* libroctx64/ranges.c: calls the program's callback under it */
	LOCK_ACTIVITY,	      /* activity.c: registers HIP's callbacks under it */
	LOCK_ACQUIRE,	      /* queue_calls.c: serialises attaching a queue that two threads
			       * acquire */
	LOCK_COUNTER,	      /* counter.c: calls the runtime under it */
	LOCK_PROFILE,	      /* profile.c: the same */
	LOCK_COPIES_HELD,     /* copy_held.c */
	LOCK_INTERNAL_QUEUES, /* internal_queue.c: the table */
	LOCK_INTERNAL_QUEUE,  /* internal_queue.c: one queue; emits records under it */
	LOCK_CODE_OBJECT,     /* code_object.c: calls the runtime and emits records under it */
	LOCK_REACH,	      /* reach.c */
	LOCK_QUEUE,	      /* queue.c */
	LOCK_SHARED_CALLS,    /* shared_calls.c */
	LOCK_HANDLERS,	      /* wait_calls.c */
	LOCK_SHARED_TIMES,    /* shared_times.c */
	LOCK_JOIN,	      /* join.c */
	LOCK_ACTIVITY_MAP,    /* activity_map.c: one part */
	LOCK_BUS,	      /* bus.c: strings, live objects, and the sinks that get them */
	LOCK_OPERATION_NAMES, /* librtl/operations.c: texts, which the bus passes */
	LOCK_SDK_OBJECTS,     /* librocprofiler-sdk/code_object.c: what the bus emits */
	LOCK_V1_DISPATCHES,   /* librocprofiler64/dispatch.c */
	LOCK_GPU_CLOCK,	      /* agent.c: calls the runtime under it */
	LOCK_META,	      /* recorder.c */
	LOCK_BLOCKS,	      /* block.c: the end of the blocks */
	LOCK_SPACE,	      /* recorder.c: memory for slots and blocks */
	LOCK_HSA_KERNELS,     /* face/hsa_kernels.c */
	LOCK_SDK_RETIRE,      /* librocprofiler-sdk/retire.c */
	LOCK_BUFFERS,	      /* face/buffer.c: the list */
	LOCK_BUFFER,	      /* face/buffer.c: one */
	LOCK_BUFFER_THREAD,   /* face/buffer_thread.c: one */
	LOCK_MPI_COMMS,	      /* librtlmpi/comm.c */
	LOCK_TUI,	      /* cli/read/tui_load.c: what the threads of rtl tui share */
	LOCK_SCREEN,	      /* cli/read/screen.c */
	LOCK_NR_RANKS
};

/* Clang's thread-safety analysis, in one preset; empty elsewhere. */
#if defined(RTL_TSA) && defined(__clang__)
#define RTL_TSA_ATTRIBUTE(a) __attribute__((a))
#else
#define RTL_TSA_ATTRIBUTE(a)
#endif
#define RTL_CAPABILITY RTL_TSA_ATTRIBUTE(capability("mutex"))
/* Data: accessed only under `m`. */
#define RTL_GUARDED_BY(m) RTL_TSA_ATTRIBUTE(guarded_by(m))
/* Functions: called under `m`; take it; release it; take it when they return true; not analysed. */
#define RTL_REQUIRES(m) RTL_TSA_ATTRIBUTE(requires_capability(m))
#define RTL_ACQUIRES(m) RTL_TSA_ATTRIBUTE(acquire_capability(m))
#define RTL_RELEASES(m) RTL_TSA_ATTRIBUTE(release_capability(m))
#define RTL_TRIES(m) RTL_TSA_ATTRIBUTE(try_acquire_capability(true, m))
#define RTL_NO_TSA RTL_TSA_ATTRIBUTE(no_thread_safety_analysis)

struct RTL_CAPABILITY lock {
	pthread_mutex_t mutex;
	enum lock_rank rank;
};

/* clang-format off */
#define LOCK_INIT(of_rank) {PTHREAD_MUTEX_INITIALIZER, of_rank}
/* clang-format on */

#ifdef RTL_DEBUG_CHECKS
void lock_check_take(enum lock_rank rank);
void lock_check_drop(enum lock_rank rank);
void lock_assert_held(const struct lock *l) RTL_TSA_ATTRIBUTE(assert_capability(l));
#else
#define lock_check_take(rank) ((void)(rank))
#define lock_check_drop(rank) ((void)(rank))
#define lock_assert_held(l) ((void)(l))
#endif

/* For a lock that is not a static variable, before its first use. */
static inline void lock_init(struct lock *l, enum lock_rank rank)
{
	pthread_mutex_init(&l->mutex, NULL);
	l->rank = rank;
}

static inline void lock_take(struct lock *l) RTL_ACQUIRES(l);
static inline void lock_drop(struct lock *l) RTL_RELEASES(l);
static inline bool lock_try(struct lock *l) RTL_TRIES(l); /* false: another thread has it */

RTL_NO_TSA static inline void lock_take(struct lock *l)
{
	lock_check_take(l->rank);
	sys_cancel_off();
	pthread_mutex_lock(&l->mutex);
}

RTL_NO_TSA static inline void lock_drop(struct lock *l)
{
	pthread_mutex_unlock(&l->mutex);
	lock_check_drop(l->rank);
	sys_cancel_on();
}

/* Waits, possibly with a spurious wake-up; the lock is released meanwhile. */
static inline void lock_wait(struct lock *l, pthread_cond_t *cond) RTL_REQUIRES(l);
static inline void lock_wait(struct lock *l, pthread_cond_t *cond)
{
	pthread_cond_wait(cond, &l->mutex);
}

/* The same until `until`, in the condition's clock. false: that time has come. */
static inline bool lock_wait_until(struct lock *l, pthread_cond_t *cond,
				   const struct timespec *until) RTL_REQUIRES(l);
static inline bool lock_wait_until(struct lock *l, pthread_cond_t *cond,
				   const struct timespec *until)
{
	return pthread_cond_timedwait(cond, &l->mutex, until) == 0;
}

/* Fork handlers: takes the lock before the fork, releases it afterwards, in parent and child. Ranks
 * are not checked. */
RTL_NO_TSA static inline void lock_hold(struct lock *l, bool on)
{
	if (on)
		pthread_mutex_lock(&l->mutex);
	else
		pthread_mutex_unlock(&l->mutex);
}

RTL_NO_TSA static inline bool lock_try(struct lock *l)
{
	if (pthread_mutex_trylock(&l->mutex) != 0)
		return false;
	sys_cancel_off();
	lock_check_take(l->rank);
	return true;
}

#endif
