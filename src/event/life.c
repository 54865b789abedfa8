/* SPDX-License-Identifier: MIT */
/* life.c - start, upkeep thread, fork, exit
 *
 * Owns:     life_state and the thread "rtl-harvest".
 * Threads:  life_start() and life_stop() any; life_init() before threads.
 * Fails:    no sink: STOPPED, counted, warned of once. No thread: upkeep is left to life_stop().
 * Not here: what is traced (source/) and where it goes (sink/).
 */
#include "event/life.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOG_TOPIC "life"
#include "base/barrier.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/paths.h"
#include "event/special.h"
#include "base/testpoint.h"
#include "event/bus.h"
#include "event/facts.h"

#define STACK_SIZE ((size_t)256 << 10)
#define BEAT_NS UINT64_C(1000000000)
/* Naps from this on are deep: others may have work before the one who asked for the nap. More than
 * the harvester's naps between dispatches, or each dispatch of a slow stream would wake it, with a
 * system call on the program's thread. */
#define LONG_NAP_NS UINT64_C(50000000)
/* deep sleeps in a row before the process is idle enough for barrier_init(): a second, for a program that only
 * starts is idle for less, and registering may hold the harvester up for long */
#define IDLE_SLEEPS 50u
/* the longest deep sleep where barrier_all() is missing: a wake-up may be overlooked then */
#define BLIND_SLEEP_NS UINT64_C(20000000)
#define MAX_ARMED 4
#define START_WAIT_NS UINT64_C(1000000000)
#define STOP_WAIT_MIN_NS UINT64_C(500000000)

_Atomic int life_state = LIFE_OFF;
_Atomic uint32_t life_sleeping = LIFE_AWAKE;

void life_set_state(enum life_state state)
{
	/* release: pairs with the acquire of those who wait */
	atomic_store_explicit(&life_state, state, memory_order_release);
	special_set(SPECIAL_NOT_ON, state != LIFE_ON);
}

enum thread_phase { PHASE_NONE, PHASE_RUNS, PHASE_OVER };

/* set in init, constant after */
static const struct source *const *sources;
static const struct sink *const *sinks;
/* atomic */
static _Atomic uint32_t phase; /* enum thread_phase, a futex */
static _Atomic bool stop_wanted;
static _Atomic int starter_tid;
static _Atomic int nr_armed;
static _Atomic bool sinks_left_out;
/* deep sleeps in a row; life thread only */
static uint32_t nr_idle;

void life_init(const struct source *const *all_sources, const struct sink *const *all_sinks)
{
	env_init();
	log_init();
	testpoint_init();
	if (env_bool(ENV_DISABLE))
		return;
	paths_init();
	sources = all_sources;
	sinks = all_sinks;
}

void life_leave_sinks_out(void)
{
	/* relaxed: said in a constructor, before what starts the trace */
	atomic_store_explicit(&sinks_left_out, true, memory_order_relaxed);
}

static bool wants_no_trace(void)
{
	return atomic_load_explicit(&sinks_left_out, memory_order_relaxed) && !bus_is_heard();
}

static struct timespec to_timespec(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	return ts;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec ts = to_timespec(ns);

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &ts, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void life_wake_slow(void)
{
	int saved = errno;

	/* seq_cst: pairs with the announcement in nap() */
	if (atomic_exchange(&life_sleeping, LIFE_AWAKE) != LIFE_AWAKE)
		futex_wake(&life_sleeping);
	errno = saved;
}

static void look_at_clock(void)
{
	bool is_fast = clock_is_fast();

	/* written only when it changes: all threads read it */
	if (is_fast == special_any(SPECIAL_CLOCK))
		special_set(SPECIAL_CLOCK, !is_fast);
}

static uint64_t tick_all(uint64_t now_ns)
{
	uint64_t next = LIFE_IDLE;
	uint64_t wants;

	for (size_t i = 0; sources && sources[i]; i++) {
		wants = sources[i]->tick ? sources[i]->tick(now_ns) : LIFE_IDLE;
		if (wants < next)
			next = wants;
	}
	wants = bus_tick(now_ns);
	if (wants < next)
		next = wants;
	wants = clock_tick();
	look_at_clock();
	return wants < next ? wants : next;
}

/* A short sleep, that only life_kick() ends before its time. */
static void nap(uint64_t ns)
{
	/* seq_cst: announced before we look whether we are to stop; pairs with life_wake_slow() */
	atomic_store(&life_sleeping, LIFE_NAP);
	if (!atomic_load(&stop_wanted))
		futex_wait(&life_sleeping, LIFE_NAP, ns);
	atomic_store_explicit(&life_sleeping, LIFE_AWAKE, memory_order_relaxed);
}

/* Announce, look again, sleep. With work found in the second look, the loop goes on at once. */
static void sleep_deeply(uint64_t ns)
{
	uint64_t next;

	atomic_store(&life_sleeping, LIFE_DEEP);
	/* pairs with life_wake(): either it sees the announcement or the ticks see its work */
	if (!(barrier_is_ready() || nr_idle++ >= IDLE_SLEEPS) || !barrier_all())
		ns = ns < BLIND_SLEEP_NS ? ns : BLIND_SLEEP_NS;
	RTL_TESTPOINT("life_announced");
	next = tick_all(clock_now_ns());
	ns = next < ns ? next : ns;
	/* awake by then if someone called life_wake() in between: the futex sees to it */
	if (ns >= LONG_NAP_NS && !atomic_load(&stop_wanted))
		futex_wait(&life_sleeping, LIFE_DEEP, ns);
	atomic_store_explicit(&life_sleeping, LIFE_AWAKE, memory_order_relaxed);
	if (ns < LONG_NAP_NS && ns)
		nap(ns);
}

static void *harvester_main(void *arg)
{
	uint64_t beat_ns;

	prctl(PR_SET_NAME, "rtl-harvest");
	thread_get()->is_ours = true;
	/* first of all buffers: reading the map of a large process may take a ms */
	tick_all(clock_now_ns());
	facts_libraries();
	beat_ns = clock_now_ns() + BEAT_NS;
	while (!atomic_load_explicit(&stop_wanted, memory_order_acquire)) {
		uint64_t now = clock_now_ns();
		uint64_t next = tick_all(now);
		uint64_t to_beat;

		if (now >= beat_ns) {
			facts_clock();
			beat_ns = now + BEAT_NS;
		}
		to_beat = beat_ns - now;
		RTL_TESTPOINT("life_tick");
		/* before the beat has its say: it comes once a second, with nothing to do as well */
		if (next < LONG_NAP_NS)
			nr_idle = 0;
		if (next > to_beat)
			next = to_beat;
		if (next >= LONG_NAP_NS)
			sleep_deeply(next);
		else if (next)
			nap(next);
	}
	/* release: pairs with life_stop(), which goes on with what was ours */
	atomic_store_explicit(&phase, PHASE_OVER, memory_order_release);
	futex_wake(&phase);
	return arg;
}

static int start_thread(void)
{
	/* a program with much thread-local data needs more; 0 is the default size */
	static const size_t sizes[] = { STACK_SIZE, STACK_SIZE * 16, 0 };
	struct sched_param param = { 0 };
	pthread_attr_t attr;
	pthread_t thread;
	int err = EAGAIN;

	/* While it is cheap. With threads it waits until there has been nothing to do for a while: GPU
	 * operations that complete while the harvester stands still would be lost in a kill. */
	if (__libc_single_threaded)
		barrier_init();
	atomic_store_explicit(&phase, PHASE_RUNS, memory_order_relaxed);
	for (size_t i = 0; err && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (pthread_attr_init(&attr) != 0)
			break;
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		/* a real-time program does not make us one */
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
		pthread_attr_setschedparam(&attr, &param);
		if (!sizes[i] || pthread_attr_setstacksize(&attr, sizes[i]) == 0)
			err = pthread_create(&thread, &attr, harvester_main, NULL);
		pthread_attr_destroy(&attr);
	}
	if (err)
		atomic_store_explicit(&phase, PHASE_NONE, memory_order_relaxed);
	return -err;
}

/* Exit handlers run last come, first served: ours, registered when the GPU is first used, comes before
 * the destructors of the GPU runtime's own objects. Waiting here instead of in our ELF destructor
 * matters to a program whose threads still launch while it exits: after those destructors that
 * would crash, and in a traced program is to be no more likely than in an untraced one. */
void life_arm_exit(void)
{
	/* relaxed: a bound, not an order */
	if (atomic_fetch_add_explicit(&nr_armed, 1, memory_order_relaxed) < MAX_ARMED)
		atexit(life_stop);
}

static void in_child(void)
{
	life_set_state(LIFE_FORKED);
}

static void say(const char *line)
{
	log_write(LOG_WARN, "env", NULL, "%s", line);
}

static bool attach_all(void)
{
	bool any = bus_is_heard();

	if (atomic_load_explicit(&sinks_left_out, memory_order_relaxed))
		return any;
	for (size_t i = 0; sinks && sinks[i]; i++) {
		int err = bus_attach(sinks[i]);

		if (err)
			log_info("%s: could not be started: %s", sinks[i]->name, strerror(-err));
		else
			any = true;
	}
	return any;
}

/* No handler of the program runs on this thread, and a write over a limit of ours does not end it. */
static void signals_block(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

static void signals_restore(const sigset_t *old)
{
	struct timespec none = { 0, 0 };
	sigset_t ours;

	/* what our own writes may have raised */
	sigemptyset(&ours);
	sigaddset(&ours, SIGXFSZ);
	if (!sigismember(old, SIGXFSZ))
		sigtimedwait(&ours, NULL, &none);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* The starter's part, signals blocked. */
static bool start(void)
{
	static _Atomic bool fork_seen_to;
	int err;

	env_report(say);
	paths_report();
	if (*paths_error())
		log_warn("%s: the name is too long", paths_error());
	if (*paths_error() || !attach_all()) {
		bus_loss(SPOOL_REASON_start_failed, 1);
		return false;
	}
	if (!atomic_exchange_explicit(&fork_seen_to, true, memory_order_relaxed))
		pthread_atfork(NULL, NULL, in_child);
	life_arm_exit();
	facts_clock();
	facts_emit();
	err = start_thread();
	if (err)
		log_warn("no thread: %s; operations are taken up when the program ends",
			 strerror(-err));
	return true;
}

static void wait_for_starter(void)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + START_WAIT_NS;
	struct timespec pause = { 0, 50000 };

	/* a hook that the start itself runs into is not to wait for itself */
	if (atomic_load_explicit(&starter_tid, memory_order_relaxed) == (int)thread_get()->tid)
		return;
	while (atomic_load_explicit(&life_state, memory_order_acquire) == LIFE_STARTING &&
	       clock_read_ns(CLOCK_MONOTONIC) < end_ns)
		nanosleep(&pause, NULL);
}

bool life_start(void)
{
	int state = atomic_load_explicit(&life_state, memory_order_acquire);
	struct thread *self;
	bool in_hook;
	sigset_t old;
	bool good;
	int saved = errno;

	if (state == LIFE_ON)
		return true;
	if (!sinks || (state != LIFE_OFF && state != LIFE_STARTING) || wants_no_trace())
		return false;
	self = thread_get();
	state = LIFE_OFF;
	/* acq_rel: one thread starts; the losers see what it set up when it says ON */
	if (!atomic_compare_exchange_strong_explicit(&life_state, &state, LIFE_STARTING,
						     memory_order_acq_rel, memory_order_acquire)) {
		wait_for_starter();
		errno = saved;
		return atomic_load_explicit(&life_state, memory_order_acquire) == LIFE_ON;
	}
	atomic_store_explicit(&starter_tid, (int)self->tid, memory_order_relaxed);
	in_hook = self->in_hook;
	self->in_hook = true;
	signals_block(&old);
	good = start();
	RTL_TESTPOINT("life_starting");
	life_set_state(good ? LIFE_ON : LIFE_STOPPED);
	signals_restore(&old);
	self->in_hook = in_hook;
	errno = saved;
	return good;
}

/* Ends the thread. false: it did not end in time and may still be at work. */
static bool stop_thread(uint64_t deadline_ns)
{
	uint64_t now = clock_read_ns(CLOCK_MONOTONIC);

	if (deadline_ns < now + STOP_WAIT_MIN_NS)
		deadline_ns = now + STOP_WAIT_MIN_NS;
	/* seq_cst: pairs with nap(), which announces and then looks */
	atomic_store(&stop_wanted, true);
	life_wake_slow();
	while (atomic_load_explicit(&phase, memory_order_acquire) == PHASE_RUNS) {
		now = clock_read_ns(CLOCK_MONOTONIC);
		if (now >= deadline_ns)
			return false;
		futex_wait(&phase, PHASE_RUNS, deadline_ns - now);
	}
	return true;
}

/* The stopper's part, signals blocked. */
static void stop(void)
{
	uint64_t wait_ns = env_uint(ENV_DRAIN_MS) * 1000000u;
	uint64_t deadline_ns = clock_now_ns() + wait_ns;

	if (!stop_thread(clock_read_ns(CLOCK_MONOTONIC) + wait_ns)) {
		log_warn("the upkeep thread did not end in %u ms; what was in flight is left out",
			 (unsigned int)env_uint(ENV_DRAIN_MS));
	} else {
		for (size_t i = 0; sources && sources[i]; i++) {
			if (sources[i]->stop)
				sources[i]->stop(deadline_ns);
		}
		facts_libraries();
		facts_clock();
	}
	bus_stop();
}

void life_stop(void)
{
	int state = LIFE_ON;
	struct thread *self;
	sigset_t old;
	int saved = errno;

	if (atomic_load_explicit(&life_state, memory_order_acquire) == LIFE_STARTING)
		wait_for_starter();
	/* acq_rel: one thread stops */
	if (!atomic_compare_exchange_strong_explicit(&life_state, &state, LIFE_STOPPING,
						     memory_order_acq_rel, memory_order_acquire))
		return;
	special_set(SPECIAL_NOT_ON, true);
	self = thread_get();
	self->in_hook = true;
	signals_block(&old);
	stop();
	life_set_state(LIFE_STOPPED);
	signals_restore(&old);
	self->in_hook = false;
	errno = saved;
}
