/* SPDX-License-Identifier: MIT */
/* thread.c - first use and end of each thread
 *
 * Owns:     thread_self of each thread, the table of known threads, the key whose destructor
 *           reports their end.
 * Threads:  thread_get() any; thread_at_exit() before threads.
 * Fails:    without a key, ends of threads go undetected; with a full table a name is unknown.
 */
#include "event/thread.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sys.h"
#include "event/lane.h"

#define MAX_PROBES 64
#define TID_TAKEN UINT32_MAX

/* Never written. */
struct lane lane_none = { .busy = 1 };
_Thread_local struct thread thread_self = { .is_new = true,
					    .lane = &lane_none,
					    .left_out = &left_out_none };

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* set in init, constant afterwards */
static pthread_key_t key;
static bool have_key;
static void (*exit_fns[THREAD_NR_EXITS])(struct thread *t);
/* atomic */
static struct thread_known known[THREAD_MAX_KNOWN];

void thread_at_exit(enum thread_exit which, void (*fn)(struct thread *t))
{
	exit_fns[which] = fn;
}

struct thread_known *thread_find(uint32_t tid)
{
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		struct thread_known *k = &known[(tid + i) % THREAD_MAX_KNOWN];
		/* acquire: pairs with the release in learn(): the name belongs to the tid */
		uint32_t its = atomic_load_explicit(&k->tid, memory_order_acquire);

		if (its == tid)
			return k;
		if (!its)
			return NULL;
	}
	return NULL;
}

void thread_forget_recorded(void)
{
	for (uint32_t i = 0; i < THREAD_MAX_KNOWN; i++) {
		/* relaxed: a thread that begins or ends now is recorded once too often or has no
		 * name. One that is over keeps its mark: it says that another thread may take the
		 * entry */
		if (!atomic_load_explicit(&known[i].over, memory_order_relaxed))
			atomic_store_explicit(&known[i].recorded, 0, memory_order_relaxed);
	}
}

/* An entry for `tid`, marked as taken: that of an earlier thread with the same tid, an empty one,
 * or that of a thread that ended long ago. */
static struct thread_known *take_entry(uint32_t tid)
{
	struct thread_known *k = thread_find(tid);
	uint32_t old;

	if (k) {
		/* no other thread has this tid now */
		atomic_store_explicit(&k->tid, TID_TAKEN, memory_order_relaxed);
		return k;
	}
	for (uint32_t i = 0; i < MAX_PROBES; i++) {
		k = &known[(tid + i) % THREAD_MAX_KNOWN];
		/* relaxed: the exchange decides */
		old = atomic_load_explicit(&k->tid, memory_order_relaxed);
		if (old == TID_TAKEN)
			continue;
		if (old && !(atomic_load_explicit(&k->over, memory_order_relaxed) &&
			     atomic_load_explicit(&k->recorded, memory_order_relaxed)))
			continue;
		if (atomic_compare_exchange_strong_explicit(&k->tid, &old, TID_TAKEN,
							    memory_order_relaxed,
							    memory_order_relaxed))
			return k;
	}
	return NULL;
}

static void learn(uint32_t tid)
{
	struct thread_known *k = take_entry(tid);
	uint64_t name[3] = { 0 };

	if (!k)
		return;
	prctl(PR_GET_NAME, name);
	/* relaxed: published by the tid */
	atomic_store_explicit(&k->name[0], name[0], memory_order_relaxed);
	atomic_store_explicit(&k->name[1], name[1], memory_order_relaxed);
	atomic_store_explicit(&k->first_ns, clock_now_ns(), memory_order_relaxed);
	atomic_store_explicit(&k->recorded, 0, memory_order_relaxed);
	atomic_store_explicit(&k->over, 0, memory_order_relaxed);
	/* pairs with the acquire in thread_find() */
	atomic_store_explicit(&k->tid, tid, memory_order_release);
}

static void thread_ends(void *arg)
{
	struct thread *t = &thread_self;
	struct thread_known *k = thread_find(t->tid);

	(void)arg;
	for (uint32_t i = 0; i < THREAD_NR_EXITS; i++)
		if (exit_fns[i])
			exit_fns[i](t);
	if (k)
		atomic_store_explicit(&k->over, 1, memory_order_relaxed);
	/* a later destructor of the program may call librtl again: the thread is then registered
	 * anew */
	t->tid = 0;
	t->is_new = true;
	t->corr_next = t->corr_end = 0;
	/* the thread may have ended within a call */
	t->corr_current = 0;
	t->api_inside = 0;
}

static void make_key(void)
{
	have_key = pthread_key_create(&key, thread_ends) == 0;
}

struct thread *thread_get_slow(void)
{
	struct thread *t = &thread_self;

	pthread_once(&once, make_key);
	t->tid = sys_gettid();
	t->is_new = false;
	thread_leave_out(t, t->call_left_out);
	learn(t->tid);
	if (have_key)
		pthread_setspecific(key, t);
	return t;
}
