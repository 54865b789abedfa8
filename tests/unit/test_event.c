/* SPDX-License-Identifier: MIT */
/* test_event.c - correlation ids, threads, strings, the bus */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "event/bus.h"
#include "event/corr.h"
#include "event/intern.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/thread.h"
#include "support/test.h"

#define NR_THREADS 8
#define NR_IDS 20000

static _Atomic uint8_t seen[(NR_THREADS + 2) * (NR_IDS + 1024)];

static void *take_ids(void *arg)
{
	struct thread *t = thread_get();

	for (int i = 0; i < NR_IDS; i++) {
		uint64_t id = corr_new(t);

		CHECK_LT_UINT(id, sizeof(seen));
		CHECK_EQ_UINT(atomic_fetch_add(&seen[id], 1), 0);
	}
	return arg;
}

TEST(correlation_ids_are_unique_and_begin_at_one)
{
	pthread_t threads[NR_THREADS];

	CHECK_EQ_UINT(corr_new(thread_get()), 1);
	atomic_fetch_add(&seen[1], 1);
	for (int i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, take_ids, NULL));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ_UINT(atomic_load(&seen[0]), 0);
}

struct turns {
	_Atomic int next; /* whose turn it is */
	_Atomic uint64_t last;
};

static void take_in_turn(struct turns *turns, int who)
{
	struct thread *t = thread_get();

	for (int i = 0; i < 2000; i++) {
		uint64_t id;

		while (atomic_load(&turns->next) != who)
			sched_yield();
		id = corr_new(t);
		/* ids of blocks that were taken before are used up first */
		if (i >= 1024)
			CHECK(id > atomic_load(&turns->last));
		atomic_store(&turns->last, id);
		atomic_store(&turns->next, !who);
	}
}

static void *take_second(void *arg)
{
	take_in_turn(arg, 1);
	return NULL;
}

TEST(correlation_ids_are_in_order_of_time_when_asked)
{
	struct turns turns = { 0 };
	pthread_t thread;

	corr_new(thread_get());
	corr_keep_order();
	CHECK_OK(pthread_create(&thread, NULL, take_second, &turns));
	take_in_turn(&turns, 0);
	pthread_join(thread, NULL);
}

TEST(operation_within_call_gets_its_id)
{
	struct thread *t = thread_get();

	t->corr_current = 77;
	CHECK_EQ_UINT(corr_take(t), 77);
	t->corr_current = 0;
	CHECK_NE_UINT(corr_take(t), 77);
}

static _Atomic int nr_ended;
static _Atomic uint32_t ended_tid;

static void ended(struct thread *t)
{
	atomic_store(&ended_tid, t->tid);
	atomic_fetch_add(&nr_ended, 1);
}

static void *be_seen(void *arg)
{
	prctl(PR_SET_NAME, "worker-7");
	*(uint32_t *)arg = thread_get()->tid;
	return NULL;
}

TEST(ended_thread_is_still_known_by_name)
{
	uint32_t tid = 0;
	pthread_t thread;
	struct thread_known *k;
	char name[16];

	thread_at_exit(THREAD_EXIT_RANGES, ended);
	CHECK_OK(pthread_create(&thread, NULL, be_seen, &tid));
	pthread_join(thread, NULL);
	CHECK_EQ_INT(atomic_load(&nr_ended), 1);
	CHECK_EQ_UINT(atomic_load(&ended_tid), tid);
	k = thread_find(tid);
	CHECK_NOT_NULL(k);
	memcpy(name, (const void *)k->name, sizeof(name));
	CHECK_STR_EQ(name, "worker-7");
	CHECK_EQ_UINT(atomic_load(&k->over), 1);
	CHECK_NULL(thread_find(0x7fffff00));
	CHECK_EQ_UINT(thread_get()->tid, (uint32_t)syscall(SYS_gettid));
}

TEST(entries_of_thousands_of_threads_are_reused)
{
	uint32_t tid;
	pthread_t thread;

	thread_at_exit(THREAD_EXIT_RANGES, ended);
	for (int i = 0; i < 6000; i++) {
		struct thread_known *k;

		CHECK_OK(pthread_create(&thread, NULL, be_seen, &tid));
		pthread_join(thread, NULL);
		k = thread_find(tid);
		CHECK_NOT_NULL(k);
		atomic_store(&k->recorded, 1);
	}
	CHECK_EQ_INT(atomic_load(&nr_ended), 6000);
}

static pthread_key_t later_key;

static void later(void *arg)
{
	(void)arg;
	/* a later destructor of the program calls librtl after librtl's has run */
	thread_get();
}

static void *end_late(void *arg)
{
	thread_get();
	pthread_setspecific(later_key, arg);
	return NULL;
}

TEST(thread_used_by_late_destructor_is_registered_again)
{
	pthread_t thread;
	int x;

	thread_at_exit(THREAD_EXIT_RANGES, ended);
	thread_get();
	/* made after librtl's, so that it runs after it */
	pthread_key_create(&later_key, later);
	CHECK_OK(pthread_create(&thread, NULL, end_late, &x));
	pthread_join(thread, NULL);
	CHECK_EQ_INT(atomic_load(&nr_ended), 2);
}

TEST(equal_strings_have_one_id)
{
	bool fresh;
	uint32_t a = intern_id("alpha", 5, &fresh);

	CHECK(fresh);
	CHECK_EQ_UINT(a, 1);
	CHECK_NE_UINT(intern_id("beta", 4, &fresh), a);
	CHECK_EQ_UINT(intern_id("alphabet", 5, &fresh), a);
	CHECK(!fresh);
	CHECK_NE_UINT(intern_id("", 0, &fresh), 0);
	CHECK(fresh);
}

static void count_strings(void *arg, uint32_t id, const char *text, size_t size)
{
	(void)id;
	CHECK_EQ_UINT(strlen(text), size);
	(*(int *)arg)++;
}

TEST(many_and_long_strings_are_stored)
{
	static char text[200000];
	uint32_t first[3000];
	char name[32];
	bool fresh;
	int nr = 0;
	uint32_t id;

	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "kernel_%d", i);
		first[i] = intern_id(name, strlen(name), &fresh);
		CHECK(fresh);
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "kernel_%d", i);
		CHECK_EQ_UINT(intern_id(name, strlen(name), &fresh), first[i]);
	}
	memset(text, 'L', sizeof(text) - 1);
	id = intern_id(text, sizeof(text) - 1, &fresh);
	CHECK_EQ_UINT(intern_id(text, sizeof(text) - 1, &fresh), id);
	intern_each(count_strings, &nr);
	CHECK_EQ_INT(nr, 3001);
}

TEST(missing_memory_still_gives_strings_ids)
{
	bool fresh;
	uint32_t a;

	for (uint64_t n = 1; n <= 3; n++) {
		char name[16];

		snprintf(name, sizeof(name), "s%d", (int)n);
		alloc_fail_at(n);
		a = intern_id(name, strlen(name), &fresh);
		CHECK(a);
		CHECK(fresh);
		alloc_fail_at(0);
		CHECK(intern_id(name, strlen(name), &fresh));
	}
}

struct got {
	_Atomic int events;
	_Atomic int strings;
	_Atomic int ticks;
	_Atomic int stops;
	_Atomic uint64_t losses;
};
static struct got got_a;
static struct got got_b;
static int start_result;

static int start_a(void)
{
	return start_result;
}

static void event_a(const struct event *ev)
{
	atomic_fetch_add(ev->kind == EVENT_STRING ? &got_a.strings : &got_a.events, 1);
}

static void event_b(const struct event *ev)
{
	atomic_fetch_add(ev->kind == EVENT_STRING ? &got_b.strings : &got_b.events, 1);
}

static void loss_a(enum spool_reason reason, uint64_t count)
{
	CHECK_EQ_INT(reason, SPOOL_REASON_buffer_full);
	atomic_fetch_add(&got_a.losses, count);
}

static uint64_t tick_a(uint64_t now_ns)
{
	(void)now_ns;
	atomic_fetch_add(&got_a.ticks, 1);
	return 1000;
}

static uint64_t tick_b(uint64_t now_ns)
{
	(void)now_ns;
	return 500;
}

static void stop_a(void)
{
	atomic_fetch_add(&got_a.stops, 1);
}

static const struct sink sink_a = { .name = "a",
				    .start = start_a,
				    .event = event_a,
				    .loss = loss_a,
				    .tick = tick_a,
				    .stop = stop_a };
static const struct sink sink_b = { .name = "b", .event = event_b, .tick = tick_b };

TEST(late_sink_gets_earlier_losses_and_strings)
{
	struct event ev = { .kind = EVENT_MARKER };

	bus_loss(SPOOL_REASON_buffer_full, 5);
	CHECK_EQ_UINT(bus_string("x", SIZE_MAX), bus_string("xy", 1));
	CHECK_EQ_UINT(bus_string(NULL, 3), 0);
	CHECK_OK(bus_attach(&sink_a));
	CHECK_EQ_UINT(atomic_load(&got_a.losses), 5);
	CHECK_EQ_INT(atomic_load(&got_a.strings), 1);
	bus_emit(&ev);
	CHECK_OK(bus_attach(&sink_b));
	bus_emit(&ev);
	bus_loss(SPOOL_REASON_buffer_full, 1);
	CHECK_EQ_INT(atomic_load(&got_a.events), 2);
	CHECK_EQ_INT(atomic_load(&got_b.events), 1);
	CHECK_EQ_INT(atomic_load(&got_b.strings), 1);
	CHECK_EQ_UINT(atomic_load(&got_a.losses), 6);
	CHECK_EQ_UINT(bus_tick(1), 500);
	bus_detach(&sink_b);
	bus_emit(&ev);
	CHECK_EQ_INT(atomic_load(&got_b.events), 1);
	CHECK_EQ_UINT(bus_tick(1), 1000);
	bus_stop();
	bus_stop();
	CHECK_EQ_INT(atomic_load(&got_a.stops), 1);
}

TEST(left_out_operation_is_marked_in_its_id_and_no_loss)
{
	static const struct sink recorder = { .name = "r", .loss = loss_a, .pauses = true };
	struct thread *t = thread_get();
	uint64_t id;

	CHECK_OK(bus_attach(&recorder));
	CHECK(!bus_never_pauses());
	id = corr_take(t);
	CHECK(!corr_is_left_out(id));
	bus_loss_of(id, SPOOL_REASON_buffer_full);
	CHECK_EQ_UINT(atomic_load(&got_a.losses), 1);
	pause_set(true);
	id = corr_take(t);
	CHECK(corr_is_left_out(id));
	CHECK_NE_UINT(id & ~EVENT_LEFT_OUT, 0);
	bus_loss_of(id, SPOOL_REASON_buffer_full);
	CHECK_EQ_UINT(atomic_load(&got_a.losses), 1);
	t->corr_current = 77; /* of a call that began earlier */
	CHECK_EQ_UINT(corr_take(t), 77);
	t->corr_current = 0;
	pause_set(false);
	CHECK(!corr_is_left_out(corr_take(t)));
	CHECK_OK(bus_attach(&sink_b));
	CHECK(bus_never_pauses());
}

static int orphans;

static bool on_orphan(void)
{
	orphans++;
	return thread_get()->marker != 1;
}

TEST(left_out_call_is_not_counted_as_missed)
{
	struct thread *t = thread_get();

	atomic_store(&corr_orphan, on_orphan);
	corr_take(t);
	CHECK_EQ_INT(orphans, 1);
	pause_set(true);
	corr_take(t);
	pause_set(false);
	thread_leave_out(t, 1); /* and continues */
	corr_take(t);
	CHECK_EQ_INT(orphans, 1);
	thread_leave_out(t, 0);
	corr_take(t);
	CHECK_EQ_INT(orphans, 2);
}

static uint64_t got_id, nr_missed;

static void take_id(const struct event *ev)
{
	got_id = ev->kind == EVENT_DISPATCH ? ev->dispatch.correlation :
		 ev->kind == EVENT_COPY	    ? ev->copy.correlation :
					      ev->barrier.correlation;
}

static void take_missed(enum spool_reason reason, uint64_t count)
{
	if (reason == SPOOL_REASON_api_missed)
		nr_missed += count;
}

/* The correlation id that the sink gets for an operation of that id. */
static uint64_t emitted(enum event_kind kind, uint64_t id)
{
	struct event ev = { .kind = kind };

	if (kind == EVENT_DISPATCH)
		ev.dispatch.correlation = id;
	else if (kind == EVENT_COPY)
		ev.copy.correlation = id;
	else
		ev.barrier.correlation = id;
	bus_emit(&ev);
	return got_id;
}

/* A submission that never becomes a recorded operation does not count as a recorded operation with
 * a missed call. */
TEST(operation_of_missed_call_is_counted_when_recorded)
{
	static const struct sink sink = { .name = "ids", .event = take_id, .loss = take_missed };
	struct thread *t = thread_get();
	uint64_t ids[3];

	CHECK_OK(bus_attach(&sink));
	atomic_store(&corr_orphan, on_orphan);
	for (int i = 0; i < 3; i++) {
		ids[i] = corr_take(t);
		CHECK(ids[i] & EVENT_MISSED);
	}
	CHECK_EQ_UINT(nr_missed, 0);
	CHECK_EQ_UINT(emitted(EVENT_DISPATCH, ids[0]), ids[0] & ~EVENT_MISSED);
	CHECK_EQ_UINT(emitted(EVENT_COPY, ids[1]), ids[1] & ~EVENT_MISSED);
	CHECK_EQ_UINT(emitted(EVENT_BARRIER, ids[2]), ids[2] & ~EVENT_MISSED);
	CHECK_EQ_UINT(nr_missed, 3);
	/* the orphan function returns false */
	t->marker = 1;
	CHECK(!(corr_take(t) & EVENT_MISSED));
	t->marker = 0;
	t->corr_current = 77;
	CHECK_EQ_UINT(emitted(EVENT_DISPATCH, corr_take(t)), 77);
	CHECK_EQ_UINT(nr_missed, 3);
}

static bool paused_with(const char *start)
{
	setenv("RTL_TRACE_START", start, 1);
	env_init();
	pause_init();
	return pause_is_on();
}

TEST(trace_start_on_ignores_stop_of_program)
{
	static const char *const words[] = { "on", "always" };

	for (int i = 0; i < 2; i++) {
		CHECK(!paused_with(words[i]));
		pause_switch(false);
		CHECK(!pause_is_on());
	}
	unsetenv("RTL_TRACE_START");
	env_init();
	pause_init();
	pause_switch(false);
	CHECK(!pause_is_on());
}

TEST(roctx_pause_works_unless_program_has_no_influence)
{
	CHECK(!paused_with("on"));
	pause_ask(false);
	CHECK(pause_is_on());
	pause_switch(true); /* by roctracer_start() */
	CHECK(pause_is_on());
	pause_ask(true);
	CHECK(!pause_is_on());
}

TEST(roctx_resume_starts_a_trace_that_waits)
{
	CHECK(paused_with("off"));
	pause_ask(true);
	CHECK(!pause_is_on());
}

TEST(trace_start_always_ignores_roctx_pause)
{
	CHECK(!paused_with("always"));
	pause_ask(false);
	CHECK(!pause_is_on());
}

TEST(trace_start_off_waits_for_start_of_program)
{
	CHECK(paused_with("off"));
	pause_switch(true);
	CHECK(!pause_is_on());
	pause_switch(true);
	CHECK(!pause_is_on());
	pause_switch(false);
	CHECK(pause_is_on());
}

TEST(losses_are_kept_for_sink_that_counts_them)
{
	bus_loss(SPOOL_REASON_buffer_full, 3);
	CHECK_OK(bus_attach(&sink_b)); /* does not count losses */
	bus_loss(SPOOL_REASON_buffer_full, 4);
	CHECK_OK(bus_attach(&sink_a));
	CHECK_EQ_UINT(atomic_load(&got_a.losses), 7);
	bus_loss(SPOOL_REASON_buffer_full, 5);
	CHECK_EQ_UINT(atomic_load(&got_a.losses), 12);
}

TEST(sink_that_fails_to_start_is_not_attached)
{
	struct event ev = { .kind = EVENT_MARKER };

	start_result = -EACCES;
	CHECK_EQ_INT(bus_attach(&sink_a), -EACCES);
	bus_emit(&ev);
	CHECK_EQ_INT(atomic_load(&got_a.events), 0);
	CHECK_EQ_UINT(bus_tick(1), LIFE_IDLE);
}

TEST(sink_beyond_the_limit_is_refused)
{
	for (int i = 0; i < BUS_MAX_SINKS; i++)
		CHECK_OK(bus_attach(&sink_b));
	CHECK_EQ_INT(bus_attach(&sink_a), -ENOSPC);
	bus_detach(&sink_b);
	CHECK_OK(bus_attach(&sink_a));
}
