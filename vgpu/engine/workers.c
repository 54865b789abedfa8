/* SPDX-License-Identifier: MIT */
/* workers.c - the threads that run a kernel's workgroups beside the engine's
 *
 * The engine's thread posts a slice of a dispatch, takes part in it itself, and waits for all: so
 * what workers do happens under the engine's lock, and nothing else of the virtual GPU sees them.
 * After a slice a worker looks for the next one for SPIN_NS, then
 * sleeps: a GPU that has nothing to do uses no processor.
 *
 * Owns:     the threads, VGPU_THREADS less the engine's.
 * Threads:  workers_run() is the engine's.
 * Life:     a worker is started when a slice first has work for it, and never ends; the state is
 *           immortal, as the engine's.
 */
#include "workers.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "../gcn/gcn.h"
#include "knobs.h"

#define SPIN_NS 30000
/* between two moves of a worker */
#define MOVE_NS 1000000
#define OPEN 0x80000000u

/* the slice: written by the engine's thread before it is posted */
static struct gcn_run *job;
static int job_cpu;   /* where the engine's thread was then */
static bool job_stop; /* atomic: the engine's thread has ended its share */

static atomic_uint posted; /* futex: number of slices */
static atomic_uint asleep; /* workers in or before the wait for it */
static atomic_uint busy;   /* futex: workers that take part in the slice; OPEN: more may join */

/* used by the engine's thread; of each worker, the number of slices that were posted before it was
 * started */
static unsigned int nr_workers;
static unsigned int seen_at_start[KNOBS_THREADS_MAX];

static void futex_wait(atomic_uint *at, unsigned int value)
{
	syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(atomic_uint *at)
{
	syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Waits until a slice behind number `last` is posted. */
static unsigned int wait_for_slice(unsigned int last)
{
	uint64_t until = clock_now() + SPIN_NS;
	unsigned int now;

	while ((now = atomic_load_explicit(&posted, memory_order_acquire)) == last) {
		if (clock_now() < until) {
			for (unsigned int n = 0; n < 20; n++)
				__builtin_ia32_pause();
			continue;
		}
		/* both sequentially consistent, as in workers_run(): either it sees the sleeper, or
		 * this thread the slice */
		atomic_fetch_add(&asleep, 1);
		if (atomic_load(&posted) == last)
			futex_wait(&posted, last);
		atomic_fetch_sub(&asleep, 1);
	}
	return now;
}

/* false: the slice is over. The engine's thread never waits for a worker that has not begun. */
static bool join(void)
{
	unsigned int v = atomic_load_explicit(&busy, memory_order_relaxed);

	while (v & OPEN) {
		/* acquire: the slice's `job` */
		if (atomic_compare_exchange_weak_explicit(&busy, &v, v + 1, memory_order_acquire,
							  memory_order_relaxed))
			return true;
	}
	return false;
}

/* A scheduler leaves two threads that wake each other on one processor for long, and the other
 * processors to threads that spin: then a worker gains nothing. It goes to another one at once by
 * allowing only these; afterwards all are allowed as before. */
static void leave_engine(uint64_t *moved_ns)
{
	cpu_set_t all, others;
	uint64_t now;

	if (sched_getcpu() != job_cpu)
		return;
	now = clock_now();
	if (now - *moved_ns < MOVE_NS || sched_getaffinity(0, sizeof(all), &all))
		return;
	*moved_ns = now;
	others = all;
	CPU_CLR(job_cpu, &others);
	if (CPU_COUNT(&others) && !sched_setaffinity(0, sizeof(others), &others))
		sched_setaffinity(0, sizeof(all), &all);
}

static void *worker_main(void *arg)
{
	unsigned int *start = arg, last = *start;
	unsigned int number = (unsigned int)(start - seen_at_start) + 1;
	uint64_t moved_ns = 0;

	pthread_setname_np(pthread_self(), "vgpu-worker");
	for (;;) {
		last = wait_for_slice(last);
		if (!join())
			continue;
		leave_engine(&moved_ns);
		/* to the end of the engine's share: neither waits for the other's */
		gcn_run_work(job, number, INT64_MAX, &job_stop);
		/* release: the engine's thread sees what was done */
		if (atomic_fetch_sub_explicit(&busy, 1, memory_order_acq_rel) == 1)
			futex_wake(&busy);
	}
	return NULL;
}

/* Without more threads there are fewer workers: the slice goes on. */
static void start_workers(void)
{
	pthread_attr_t attr;
	sigset_t all, old;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (nr_workers + 1 < knobs.threads) {
		pthread_t thread;
		unsigned int *seen = &seen_at_start[nr_workers];

		*seen = atomic_load_explicit(&posted, memory_order_relaxed);
		if (pthread_create(&thread, &attr, worker_main, seen))
			break;
		nr_workers++;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (nr_workers + 1 < knobs.threads) {
		fprintf(stderr,
			"vgpu: VGPU_THREADS: %u threads instead of %llu: no more can be started\n",
			nr_workers + 1, (unsigned long long)knobs.threads);
		knobs.threads = nr_workers + 1;
	}
}

void workers_run(struct gcn_run *r, int64_t budget)
{
	unsigned int left;

	start_workers();
	gcn_run_open(r, nr_workers + 1);
	job = r;
	job_cpu = sched_getcpu();
	__atomic_store_n(&job_stop, false, __ATOMIC_RELAXED);
	/* release: who joins sees the slice */
	atomic_store_explicit(&busy, OPEN, memory_order_release);
	/* the order of this and `asleep` is that of wait_for_slice() */
	atomic_fetch_add(&posted, 1);
	if (atomic_load(&asleep))
		futex_wake(&posted);
	gcn_run_work(r, 0, budget, &job_stop);
	__atomic_store_n(&job_stop, true, __ATOMIC_RELAXED);
	atomic_fetch_and_explicit(&busy, ~OPEN, memory_order_relaxed);
	for (unsigned int n = 0; (left = atomic_load_explicit(&busy, memory_order_acquire)); n++) {
		if (n < 2000)
			__builtin_ia32_pause();
		else
			futex_wait(&busy, left);
	}
}

void workers_forked(void)
{
	nr_workers = 0;
	atomic_store(&asleep, 0);
	atomic_store(&busy, 0);
}
