/* SPDX-License-Identifier: MIT */
/* life.c - start, upkeep thread, fork, exit
 *
 * Owns:     life_state and the thread "rtl-harvest".
 * Threads:  life_start() and life_stop() any; life_init() before threads.
 * Fails:    no sink: STOPPED, counted, one warning. No thread: life_stop() does the upkeep.
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
#include "base/location.h"
#include "base/sys.h"
#include "event/special.h"
#include "base/testpoint.h"
#include "event/block.h"
#include "event/bus.h"
#include "event/facts.h"
#include "event/left_out.h"
#include "event/pause.h"
#include "event/window.h"

#define STACK_SIZE ((size_t)256 << 10)
#define BEAT_NS UINT64_C(1000000000)
/* A nap of this length or more is a deep sleep: other sources may have work before the source that
 * requested it. Longer than the harvester's naps between dispatches; otherwise each dispatch of a
 * slow stream would wake the thread, with a system call on the program's thread. */
#define LONG_NAP_NS UINT64_C(50000000)
/* deep sleeps in a row before the process counts as idle and barrier_init() is called: one second,
 * since a starting program is idle for less, and registration may delay the harvester for long */
#define IDLE_SLEEPS 50u
/* the longest deep sleep without barrier_all(): a wake-up may be missed then */
#define BLIND_SLEEP_NS UINT64_C(20000000)
#define MAX_ARMED 4
#define START_WAIT_NS UINT64_C(1000000000)
/* for what sources do on other threads when the trace starts */
#define READY_WAIT_NS UINT64_C(5000000000)
#define STOP_WAIT_MIN_NS UINT64_C(500000000)

_Atomic int life_state = LIFE_OFF;
_Atomic uint32_t life_sleeping = LIFE_AWAKE;

void life_set_state(enum life_state state)
{
	/* release: pairs with the acquire of waiting threads */
	atomic_store_explicit(&life_state, state, memory_order_release);
	special_set(SPECIAL_NOT_ON, state != LIFE_ON);
}

enum thread_phase { PHASE_NONE, PHASE_RUNS, PHASE_OVER };

/* set in init, constant afterwards */
static const struct source *const *sources;
static const struct sink *const *sinks;
/* atomic */
static _Atomic uint32_t phase; /* enum thread_phase, a futex */
static _Atomic bool stop_wanted;
static _Atomic int starter_tid;
static _Atomic pid_t owner; /* the process of the trace */
static _Atomic int nr_armed;
static _Atomic bool sinks_left_out, sinks_come_later;
/* deep sleeps in a row; life thread only */
static uint32_t nr_idle;

void life_init(const struct source *const *all_sources, const struct sink *const *all_sinks)
{
	env_init();
	log_init();
	testpoint_init();
	if (env_bool(ENV_DISABLE))
		return;
	location_init();
	sources = all_sources;
	sinks = all_sinks;
}

void life_leave_sinks_out(void)
{
	/* relaxed: called in a constructor, before the trace can start */
	atomic_store_explicit(&sinks_left_out, true, memory_order_relaxed);
}

void life_attach_sinks_later(void)
{
	life_leave_sinks_out();
	atomic_store_explicit(&sinks_come_later, true, memory_order_relaxed);
	pause_hold(PAUSE_CLOSED, true);
}

bool life_sinks_come_later(void)
{
	return atomic_load_explicit(&sinks_come_later, memory_order_relaxed);
}

static bool is_disabled(void)
{
	return atomic_load_explicit(&sinks_left_out, memory_order_relaxed) && !bus_is_heard() &&
	       !life_sinks_come_later();
}

static struct timespec to_timespec(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	return ts;
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
	struct timespec ts = to_timespec(ns);
	int saved = errno; /* a program's thread that ends waits, too */

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &ts, NULL, 0);
	errno = saved;
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

uint64_t life_keep_clock(void)
{
	uint64_t next = clock_tick();
	bool is_fast = clock_is_fast();

	/* written only on a change: all threads read it */
	if (is_fast == special_any(SPECIAL_CLOCK))
		special_set(SPECIAL_CLOCK, !is_fast);
	return next;
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
	left_out_flush();
	wants = bus_tick(now_ns);
	if (wants < next)
		next = wants;
	wants = pause_tick();
	if (wants < next)
		next = wants;
	wants = life_keep_clock();
	return wants < next ? wants : next;
}

/* A short sleep; only life_kick() ends it early. */
static void nap(uint64_t ns)
{
	/* seq_cst: announced before stop_wanted is read; pairs with life_wake_slow() */
	atomic_store(&life_sleeping, LIFE_NAP);
	if (!atomic_load(&stop_wanted))
		futex_wait(&life_sleeping, LIFE_NAP, ns);
	atomic_store_explicit(&life_sleeping, LIFE_AWAKE, memory_order_relaxed);
}

/* Announces the sleep, runs the ticks again, then sleeps. If those ticks found work, the loop
 * continues at once. */
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
	/* a life_wake() in between has set it to awake: the futex then returns at once */
	if (ns >= LONG_NAP_NS && !atomic_load(&stop_wanted))
		futex_wait(&life_sleeping, LIFE_DEEP, ns);
	atomic_store_explicit(&life_sleeping, LIFE_AWAKE, memory_order_relaxed);
	if (ns < LONG_NAP_NS && ns)
		nap(ns);
}

/* What needs system calls is done before the thread that ends the process goes on: on that, the
 * program may have put a filter. */
static void leave(void)
{
	facts_libraries();
	for (size_t i = 0; sources && sources[i]; i++) {
		if (sources[i]->leave)
			sources[i]->leave();
	}
	bus_leave();
}

static void *harvester_main(void *arg)
{
	uint64_t beat_ns;

	prctl(PR_SET_NAME, "rtl-harvest");
	thread_get()->is_ours = true;
	/* before all buffers exist: reading the map of a large process may take a ms */
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
		/* before the clock's interval is applied: it ends once a second even when idle */
		if (next < LONG_NAP_NS)
			nr_idle = 0;
		if (next > to_beat)
			next = to_beat;
		if (next >= LONG_NAP_NS)
			sleep_deeply(next);
		else if (next)
			nap(next);
	}
	leave();
	/* release: pairs with life_stop(), which takes over the thread's data */
	atomic_store_explicit(&phase, PHASE_OVER, memory_order_release);
	futex_wake(&phase);
	return arg;
}

int life_spawn(void *(*thread_main)(void *arg))
{
	/* a program with much thread-local data needs more; 0 is the default size */
	static const size_t sizes[] = { STACK_SIZE, STACK_SIZE * 16, 0 };
	struct sched_param param = { 0 };
	pthread_attr_t attr;
	pthread_t thread;
	int err = EAGAIN;

	for (size_t i = 0; err && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (pthread_attr_init(&attr) != 0)
			break;
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		/* the scheduling policy of a real-time program is not inherited */
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
		pthread_attr_setschedparam(&attr, &param);
		if (!sizes[i] || pthread_attr_setstacksize(&attr, sizes[i]) == 0)
			err = pthread_create(&thread, &attr, thread_main, NULL);
		pthread_attr_destroy(&attr);
	}
	return -err;
}

static int start_harvester(void)
{
	int err;

	/* Registered while single-threaded, when it is cheap. With threads it waits until the
	 * process is idle: operations that complete while the harvester is blocked would be lost in
	 * a kill. */
	if (__libc_single_threaded)
		barrier_init();
	atomic_store_explicit(&phase, PHASE_RUNS, memory_order_relaxed);
	err = life_spawn(harvester_main);
	if (err)
		atomic_store_explicit(&phase, PHASE_NONE, memory_order_relaxed);
	return err;
}

bool life_is_idle(void)
{
	return env_bool(ENV_IDLE) && !location_is_session();
}

/* Exit handlers run in reverse order of registration: librtl's, registered when the GPU is first
 * used, runs before the destructors of the GPU runtime's own objects. Waiting here instead of in
 * librtl's ELF destructor matters to a program whose threads still launch while it exits: a launch
 * after those destructors would crash, and tracing must not make that more likely. */
static void arm_exit(void)
{
	/* relaxed: a limit, not an order */
	if (atomic_fetch_add_explicit(&nr_armed, 1, memory_order_relaxed) < MAX_ARMED)
		atexit(life_stop);
}

static void in_child(void)
{
	block_forked();
	life_set_state(LIFE_FORKED);
}

static void say(const char *line)
{
	log_write(LOG_WARN, "env", NULL, "%s", line);
}

static bool attach_all(void)
{
	bool any = bus_is_heard() || life_sinks_come_later();

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

/* Blocks signals: no handler of the program runs on this thread, and exceeding a resource limit
 * does not end it. */
static void signals_block(sigset_t *old)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

static void signals_restore(const sigset_t *old, bool has_written)
{
	sigset_t ours;

	/* signals that librtl's own writes may have raised */
	sigemptyset(&ours);
	sigaddset(&ours, SIGXFSZ);
	if (has_written && !sigismember(old, SIGXFSZ))
		sys_take_signal(&ours);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* The starting thread's part, signals blocked. */
static bool start(void)
{
	static _Atomic bool fork_seen_to;
	int err;

	env_report(say);
	location_report();
	/* a window may have opened or closed since librtl was loaded */
	pause_tick();
	if (*location_error())
		log_warn("%s: the name is too long", location_error());
	if (*location_error() || !attach_all()) {
		bus_loss(SPOOL_REASON_start_failed, 1);
		return false;
	}
	if (!atomic_exchange_explicit(&fork_seen_to, true, memory_order_relaxed))
		pthread_atfork(NULL, NULL, in_child);
	/* relaxed: read by exit handlers */
	atomic_store_explicit(&owner, getpid(), memory_order_relaxed);
	arm_exit();
	facts_clock();
	facts_emit();
	err = start_harvester();
	if (err)
		log_warn("no thread: %s; operations are taken up when the program ends%s",
			 strerror(-err),
			 window_is_used() ? ", and no window of time opens or closes" : "");
	return true;
}

static void wait_for_starter(void)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + START_WAIT_NS;
	struct timespec pause = { 0, 50000 };

	/* a hook called by the start itself must not wait for the start */
	if (atomic_load_explicit(&starter_tid, memory_order_relaxed) == (int)thread_get()->tid)
		return;
	while (atomic_load_explicit(&life_state, memory_order_acquire) == LIFE_STARTING &&
	       clock_read_ns(CLOCK_MONOTONIC) < end_ns)
		sys_nap(&pause);
}

static bool is_ready(void)
{
	for (size_t i = 0; sources && sources[i]; i++)
		if (sources[i]->is_ready && !sources[i]->is_ready())
			return false;
	return true;
}

static void begin_sources(void)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + READY_WAIT_NS;
	const struct timespec pause = { 0, 50000 };

	for (size_t i = 0; sources && sources[i]; i++)
		if (sources[i]->begin)
			sources[i]->begin();
	while (!is_ready() && clock_read_ns(CLOCK_MONOTONIC) < end_ns)
		sys_nap(&pause);
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
	if (!sinks || (state != LIFE_OFF && state != LIFE_STARTING) || is_disabled())
		return false;
	self = thread_get();
	state = LIFE_OFF;
	/* acq_rel: one thread starts; the others see its data when the state is ON */
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
	sys_cancel_off();
	good = start();
	RTL_TESTPOINT("life_starting");
	life_set_state(good ? LIFE_ON : LIFE_STOPPED);
	if (good)
		begin_sources();
	sys_cancel_on();
	signals_restore(&old, true);
	self->in_hook = in_hook;
	errno = saved;
	return good;
}

/* Ends the thread. false: it did not end in time and may still be running. */
static bool stop_thread(uint64_t deadline_ns)
{
	uint64_t now = clock_read_ns(CLOCK_MONOTONIC);

	if (deadline_ns < now + STOP_WAIT_MIN_NS)
		deadline_ns = now + STOP_WAIT_MIN_NS;
	/* seq_cst: pairs with nap(), which announces and then reads it */
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

/* The stopping thread's part, signals blocked. */
static void stop(void)
{
	uint64_t wait_ns = env_uint(ENV_DRAIN_MS) * 1000000u;
	uint64_t deadline_ns = clock_now_ns() + wait_ns;

	if (!stop_thread(clock_read_ns(CLOCK_MONOTONIC) + wait_ns)) {
		log_warn("the upkeep thread did not end in %u ms; what was in flight is left out",
			 (unsigned int)env_uint(ENV_DRAIN_MS));
	} else {
		/* relaxed: stop_thread() has seen the thread's end */
		if (atomic_load_explicit(&phase, memory_order_relaxed) == PHASE_NONE)
			leave();
		for (size_t i = 0; sources && sources[i]; i++) {
			if (sources[i]->stop)
				sources[i]->stop(deadline_ns);
		}
		facts_clock();
	}
	left_out_flush();
	bus_stop();
}

void life_stop(void)
{
	int state = LIFE_ON;
	struct thread *self;
	sigset_t old;
	int saved = errno;
	pid_t self_pid = getpid();

	/* a child made by a plain clone(), where no fork handler ran: the trace is its parent's,
	 * and goes on. -1: a filter of system calls refuses to answer */
	if (atomic_load_explicit(&life_state, memory_order_acquire) == LIFE_ON && self_pid != -1 &&
	    atomic_load_explicit(&owner, memory_order_relaxed) != self_pid)
		return;
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
	sys_cancel_off();
	stop();
	life_set_state(LIFE_STOPPED);
	sys_cancel_on();
	signals_restore(&old, sys_hit_limit());
	self->in_hook = false;
	errno = saved;
}

struct hook_call {
	callout_fn fn, left;
	void *arg;
	bool outside;
};

static void run_in_hook(void *arg)
{
	struct hook_call *c = arg;

	c->fn(c->arg);
}

static void left_hook(void *arg)
{
	struct hook_call *c = arg;

	c->left(c->arg);
	thread_self.outside_in_hook = thread_self.in_hook = c->outside;
}

void life_callout(callout_fn fn, callout_fn left, void *arg)
{
	struct hook_call c = { fn, left, arg, thread_self.outside_in_hook };

	thread_self.outside_in_hook = thread_self.in_hook;
	callout(run_in_hook, left_hook, &c);
	thread_self.outside_in_hook = c.outside;
}
