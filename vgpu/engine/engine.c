/* SPDX-License-Identifier: MIT */
/* engine.c - the one thread that serves all queues of all GPUs
 *
 * Doorbells are plain memory, so the thread polls. It polls without pause for SPIN_NS after the
 * last progress, then naps, each nap an eighth of the time since, up to VGPU_NAP_US. It wakes
 * earlier if a packet ends earlier.
 *
 * Owns:     the thread, the table of queues.
 * Threads:  its own; engine_*() any.
 * Locks:    `lock`, outermost. `wanted` makes the thread release it for others.
 * Life:     started with the first queue, never ends; the state is immortal, so exit() may run
 *           alongside.
 */
#include "engine.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "cp_aql.h"
#include "host.h"
#include "knobs.h"
#include "log.h"
#include "queue.h"
#include "sdma.h"
#include "workers.h"

#define QUEUES_MAX 1024
#define SPIN_NS 50000
#define NAP_MIN_NS 20000
/* a nap shorter than this costs more than it saves */
#define NAP_WORTH_NS 8000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint wanted;

/* under lock */
static struct queue *queues[QUEUES_MAX];
static unsigned int nr_queues;
static bool running;

/* futex: 1 while the thread naps */
static atomic_uint napping;

void engine_lock(void)
{
	atomic_fetch_add(&wanted, 1);
	pthread_mutex_lock(&lock);
	atomic_fetch_sub(&wanted, 1);
}

void engine_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void engine_kick(void)
{
	if (atomic_load(&napping) && atomic_exchange(&napping, 0))
		syscall(SYS_futex, &napping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void engine_memory_fault(struct queue *q, uint64_t index, uint64_t addr, unsigned int error_type)
{
	struct log_where where = queue_where(q);

	log_memory_fault(&where, index, addr);
	log_flush();
	q->dead = true;
	host_memory_fault(q->gpu, addr, error_type);
}

static void nap(uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000),
			       .tv_nsec = (long)(ns % 1000000000) };

	atomic_store(&napping, 1);
	syscall(SYS_futex, &napping, FUTEX_WAIT_PRIVATE, 1, &ts, NULL, 0);
	atomic_store(&napping, 0);
}

/* Serves each queue once; returns whether there was progress, and when the next is due. */
static struct queue_visit serve_all(void)
{
	struct queue_visit all = { .wake_ns = QUEUE_NEVER };
	bool works = false;

	for (unsigned int i = 0; i < nr_queues; i++) {
		struct queue *q = queues[i];
		struct queue_visit v = q->is_sdma ? sdma_serve(q) : cp_aql_serve(q);

		all.progress |= v.progress;
		all.waits |= v.waits;
		works |= v.progress && !v.waits;
		if (v.wake_ns < all.wake_ns)
			all.wake_ns = v.wake_ns;
	}
	all.waits &= !works;
	return all;
}

static void rest(uint64_t now, uint64_t active_ns, uint64_t wake_ns)
{
	uint64_t idle = now - active_ns;
	uint64_t ns = idle / 8;

	if (ns < NAP_MIN_NS)
		ns = NAP_MIN_NS;
	if (ns > knobs.nap_us * 1000)
		ns = knobs.nap_us * 1000;
	if (wake_ns != QUEUE_NEVER)
		ns = wake_ns > now ? (wake_ns - now < ns ? wake_ns - now : ns) : 0;
	if (ns >= NAP_WORTH_NS && (idle >= SPIN_NS || wake_ns != QUEUE_NEVER))
		nap(ns);
	else
		sched_yield();
}

/* A GPU does not wait for processors: the thread gets one soon when it wakes, though threads that
 * spin have all of them (a runtime's may). Without it each packet that the host waits for costs
 * slices of the
 * others: 4 ms each. Of SCHED_OTHER's threads the one with the shorter slice goes first; Linux
 * before 6.12 ignores it. */
#define SLICE_NS 100000

static void take_short_slices(void)
{
	struct { /* sched_attr of sched_setattr(2), which glibc 2.36 lacks */
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline, period;
	} attr = { 0 };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) || attr.policy != SCHED_OTHER)
		return;
	attr.flags = 0;
	attr.runtime_ns = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

static void *engine_main(void *arg)
{
	uint64_t active_ns = clock_now();

	(void)arg;
	pthread_setname_np(pthread_self(), "vgpu-engine");
	prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	/* there the engine hides a completion until the host's threads rest, and must not hold them
	 * up */
	if (knobs.clock != KNOBS_CLOCK_DETERMINISTIC)
		take_short_slices();
	for (;;) {
		struct queue_visit v;
		uint64_t now;

		pthread_mutex_lock(&lock);
		v = serve_all();
		pthread_mutex_unlock(&lock);
		/* the mutex isn't fair: wait until the other thread has taken it */
		for (unsigned int i = 0; i < 100 && atomic_load(&wanted); i++)
			sched_yield();

		now = clock_now();
		if (v.progress)
			active_ns = now;
		log_tick(now, !v.progress && v.wake_ns == QUEUE_NEVER && now - active_ns > SPIN_NS);
		if (!v.progress)
			rest(now, active_ns, v.wake_ns);
		else if (v.waits) /* for another thread or process, perhaps */
			sched_yield();
	}
	return NULL;
}

static int start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int err;

	if (running)
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&thread, &attr, engine_main, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	running = !err;
	return -err;
}

int engine_add(struct queue *q)
{
	int err;

	engine_lock();
	err = nr_queues < QUEUES_MAX ? start() : -ENOMEM;
	if (!err)
		queues[nr_queues++] = q;
	engine_unlock();
	if (!err)
		engine_kick();
	return err;
}

void engine_remove(struct queue *q)
{
	engine_lock();
	for (unsigned int i = 0; i < nr_queues; i++) {
		if (queues[i] == q) {
			memmove(&queues[i], &queues[i + 1],
				(nr_queues - i - 1) * sizeof(queues[0]));
			nr_queues--;
			break;
		}
	}
	engine_unlock();
}

struct queue *engine_find(uint64_t id)
{
	struct queue *found = NULL;

	engine_lock();
	for (unsigned int i = 0; i < nr_queues && !found; i++) {
		if (queues[i]->id == id)
			found = queues[i];
	}
	engine_unlock();
	return found;
}

void engine_forked(void)
{
	running = false;
	nr_queues = 0;
	atomic_store(&wanted, 0);
	atomic_store(&napping, 0);
	workers_forked();
}
