/* SPDX-License-Identifier: MIT */
/* buffer_thread.c - threads that deliver record buffers
 *
 * Owns:     the threads, and the list of jobs that wait for each.
 * Locks:    each thread's own, for its list; not held while a job runs.
 * Threads:  any. The child of a fork has none of its parent's threads, and posts nothing to them.
 */
#include "buffer_thread.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../librtl/core.h"
#include "base/alloc.h"
#include "base/lock.h"
#include "base/sys.h"

#define NS_PER_S UINT64_C(1000000000)

struct buffer_thread {
	/* set in start, constant after */
	pthread_t thread;
	pid_t pid;
	const struct rtl_core *core;

	struct lock lock;
	pthread_cond_t work;
	/* under lock */
	struct buffer_job *first, **last; /* posted */
	bool stop;
};

/* Waits until there may be something to do, and keeps the fast clock going. */
static void rest(struct buffer_thread *t) RTL_REQUIRES(t->lock);
static void rest(struct buffer_thread *t)
{
	struct timespec until;
	uint64_t ns;

	lock_drop(&t->lock);
	ns = t->core ? t->core->clock_keep() : UINT64_MAX;
	clock_gettime(CLOCK_MONOTONIC, &until);
	/* UINT64_MAX: the counter is of no use; a day then */
	ns = (ns < NS_PER_S * 86400 ? ns : NS_PER_S * 86400) + (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(ns / NS_PER_S);
	until.tv_nsec = (long)(ns % NS_PER_S);
	lock_take(&t->lock);
	if (!t->stop && !t->first)
		lock_wait_until(&t->lock, &t->work, &until);
}

static struct buffer_job *take_first(struct buffer_thread *t) RTL_REQUIRES(t->lock);
static struct buffer_job *take_first(struct buffer_thread *t)
{
	struct buffer_job *job = t->first;

	t->first = job->next;
	if (!t->first)
		t->last = &t->first;
	return job;
}

static void *thread_main(void *arg)
{
	struct buffer_thread *t = arg;
	struct buffer_job *job;

	prctl(PR_SET_NAME, "rtl-buffer");
	lock_take(&t->lock);
	for (;;) {
		while (!t->first && !t->stop)
			rest(t);
		if (!t->first)
			break;
		job = take_first(t);
		lock_drop(&t->lock);
		job->run(job);
		lock_take(&t->lock);
	}
	lock_drop(&t->lock);
	return NULL;
}

static int create(struct buffer_thread *t)
{
	sigset_t everything, old;
	int err;

	sigfillset(&everything);
	pthread_sigmask(SIG_SETMASK, &everything, &old);
	err = pthread_create(&t->thread, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

int buffer_thread_start(const struct rtl_core *core, struct buffer_thread **out)
{
	struct buffer_thread *t = alloc_zero(1, sizeof(*t));
	pthread_condattr_t attr;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->core = core;
	t->pid = getpid();
	t->last = &t->first;
	lock_init(&t->lock, LOCK_BUFFER_THREAD);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->work, &attr);
	pthread_condattr_destroy(&attr);
	if (create(t) != 0) {
		alloc_free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void buffer_thread_end(struct buffer_thread *t)
{
	lock_take(&t->lock);
	t->stop = true;
	pthread_cond_signal(&t->work);
	lock_drop(&t->lock);
	sys_cancel_off();
	pthread_join(t->thread, NULL);
	sys_cancel_on();
	alloc_free(t);
}

void buffer_thread_post(struct buffer_thread *t, struct buffer_job *job)
{
	lock_take(&t->lock);
	job->next = NULL;
	*t->last = job;
	t->last = &job->next;
	pthread_cond_signal(&t->work);
	lock_drop(&t->lock);
}

bool buffer_thread_is_self(const struct buffer_thread *t)
{
	return pthread_equal(t->thread, pthread_self());
}

bool buffer_thread_is_here(const struct buffer_thread *t)
{
	return t->pid == getpid();
}
