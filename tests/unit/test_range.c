/* SPDX-License-Identifier: MIT */
/* test_range.c - roctx ranges and marks: levels, ids, threads, and a real libroctx64 in the process
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "event/life.h"
#include "event/pause.h"
#include "event/special.h"
#include "event/thread.h"
#include "source/roctx/range.h"
#include "source/roctx/selection.h"
#include "support/sink_record.h"
#include "support/test.h"

static const struct event_marker *marker(uint64_t i)
{
	const struct event *ev = sink_record_at(EVENT_MARKER, i);

	CHECK_NOT_NULL(ev);
	return &ev->marker;
}

static const struct event_end *end_of(uint64_t id)
{
	for (uint64_t i = 0;; i++) {
		const struct event *ev = sink_record_at(EVENT_MARKER_END, i);

		if (!ev || ev->end.marker == id)
			return ev ? &ev->end : NULL;
	}
}

TEST(push_and_pop_return_roctx_levels)
{
	sink_record_open();
	CHECK_EQ_INT(range_pop(), -1);
	CHECK_EQ_INT(range_push("a"), 0);
	CHECK_EQ_INT(range_push("b"), 1);
	CHECK_EQ_INT(range_pop(), 1);
	CHECK_EQ_INT(range_pop(), 0);
	CHECK_EQ_INT(range_pop(), -1);
	CHECK_EQ_INT(range_push("c"), 0);
}

TEST(nested_ranges_have_parents_and_ends)
{
	sink_record_open();
	range_push("outer");
	range_push("inner");
	range_mark("mark");
	range_pop();
	range_pop();
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER), 3);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER_END), 2);
	CHECK_STR_EQ(marker(0)->text, "outer");
	CHECK_STR_EQ(marker(1)->text, "inner");
	CHECK_STR_EQ(marker(2)->text, "mark");
	CHECK_EQ_INT(marker(0)->kind, REC_MARKER_PUSH);
	CHECK_EQ_INT(marker(2)->kind, REC_MARKER_MARK);
	for (uint32_t i = 0; i < 3; i++) {
		CHECK_EQ_UINT(marker(i)->level, i);
		CHECK_EQ_UINT(marker(i)->parent, i ? marker(i - 1)->marker : 0);
		CHECK_EQ_UINT(marker(i)->tid, thread_get()->tid);
	}
	CHECK_GE_UINT(end_of(marker(0)->marker)->time_ns, end_of(marker(1)->marker)->time_ns);
	CHECK_NULL(end_of(marker(2)->marker));
	CHECK_EQ_UINT(thread_get()->marker, 0);
}

TEST(innermost_open_range_is_marker_of_thread)
{
	struct thread *t = thread_get();

	sink_record_open();
	range_push("a");
	CHECK_EQ_UINT(t->marker, marker(0)->marker);
	range_push("b");
	CHECK_EQ_UINT(t->marker, marker(1)->marker);
	range_mark("c");
	range_start("d");
	CHECK_EQ_UINT(t->marker, marker(1)->marker);
	range_pop();
	CHECK_EQ_UINT(t->marker, marker(0)->marker);
	range_pop();
	CHECK_EQ_UINT(t->marker, 0);
}

TEST(range_begun_while_paused_is_left_out)
{
	struct thread *t = thread_get();
	uint64_t off, on;

	sink_record_open();
	pause_set(true);
	CHECK_EQ_INT(range_push("off"), 0);
	range_mark("off");
	off = range_start("off");
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 3);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER), 0);
	CHECK_EQ_UINT(t->marker, 0);
	pause_set(false);
	CHECK_EQ_INT(range_push("on"), 1);
	on = range_start("on");
	CHECK_EQ_UINT(t->marker, marker(0)->marker);
	CHECK_EQ_UINT(marker(0)->level, 1);
	pause_set(true);
	CHECK_EQ_INT(range_pop(), 1);
	CHECK_EQ_INT(range_pop(), 0);
	CHECK_EQ_INT(range_pop(), -1);
	range_stop(on);
	range_stop(off);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER), 2);
	CHECK_NOT_NULL(end_of(marker(0)->marker));
	CHECK_NOT_NULL(end_of(marker(1)->marker));
	CHECK_EQ_UINT(sink_record_losses(), 3);
}

TEST(null_message_is_empty_text)
{
	sink_record_open();
	range_mark(NULL);
	CHECK_EQ_INT(range_push(NULL), 0);
	range_stop(range_start(NULL));
	CHECK_EQ_INT(range_pop(), 0);
	for (uint64_t i = 0; i < 3; i++) {
		CHECK_STR_EQ(marker(i)->text, "");
		CHECK_EQ_UINT(marker(i)->size, 0);
	}
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER_END), 2);
}

static void *stop_it(void *arg)
{
	range_push("elsewhere");
	range_stop(*(uint64_t *)arg);
	return NULL;
}

TEST(range_stopped_on_another_thread_is_ended)
{
	uint64_t a, b;
	pthread_t thread;

	sink_record_open();
	a = range_start("a");
	b = range_start("b");
	CHECK_EQ_UINT(a, 1);
	CHECK_EQ_UINT(b, 2);
	CHECK_OK(pthread_create(&thread, NULL, stop_it, &a));
	pthread_join(thread, NULL);
	range_stop(b);
	CHECK_NE_UINT(end_of(marker(0)->marker)->id, thread_get()->tid);
	CHECK_EQ_UINT(end_of(marker(1)->marker)->id, thread_get()->tid);
	CHECK_EQ_INT(marker(0)->kind, REC_MARKER_START);
}

#define NR_THREADS 8
#define NR_RANGES 2000
static _Atomic uint8_t started[NR_THREADS * NR_RANGES + 1];

static void *mark_and_start(void *arg)
{
	for (int i = 0; i < NR_RANGES; i++) {
		uint64_t id = range_start("s");

		CHECK_LT_UINT(id, sizeof(started));
		CHECK_EQ_UINT(atomic_fetch_add(&started[id], 1), 0);
		CHECK_EQ_INT(range_push("p"), 0);
		range_mark("m");
		CHECK_EQ_INT(range_pop(), 0);
		range_stop(id);
	}
	return arg;
}

static _Atomic uint8_t marker_seen[1u << 20];

TEST(ids_are_unique_across_threads_and_kinds)
{
	pthread_t threads[NR_THREADS];

	sink_record_open();
	for (int i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, mark_and_start, NULL));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	/* the recorded ones, too; checked in one ordered pass */
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER), 3 * NR_THREADS * NR_RANGES);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER_END), 2 * NR_THREADS * NR_RANGES);
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t id = marker(i * 16)->marker;

		CHECK_LT_UINT(id, sizeof(marker_seen));
		CHECK_EQ_UINT(marker_seen[id]++, 0);
	}
}

TEST(range_opened_before_the_trace_counts_for_levels_only)
{
	struct thread *t = thread_get();

	CHECK_EQ_INT(range_push("before"), 0); /* life is off, and can't be started */
	sink_record_open();
	CHECK_EQ_INT(range_push("in"), 1);
	CHECK_EQ_UINT(marker(0)->level, 1);
	CHECK_EQ_UINT(marker(0)->parent, 0);
	CHECK_EQ_INT(range_pop(), 1);
	CHECK_EQ_UINT(t->marker, 0);
	CHECK_EQ_INT(range_pop(), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER_END), 1);
}

TEST(ten_thousand_nested_ranges_end_in_order)
{
	sink_record_open();
	for (int i = 0; i < 10000; i++)
		CHECK_EQ_INT(range_push("x"), i);
	for (int i = 10000; i-- > 0;)
		CHECK_EQ_INT(range_pop(), i);
	CHECK_EQ_INT(range_pop(), -1);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER_END), 10000);
	for (uint64_t i = 0; i < 10000; i += 1111)
		CHECK_EQ_UINT(sink_record_at(EVENT_MARKER_END, i)->end.marker,
			      marker(9999 - i)->marker);
}

TEST(levels_stay_correct_during_memory_shortage)
{
	sink_record_open();
	range_push("first");
	alloc_fail_at(1);
	for (int i = 1; i < 3000; i++)
		CHECK_EQ_INT(range_push("x"), i);
	alloc_fail_at(0);
	for (int i = 3000; i < 3100; i++)
		CHECK_EQ_INT(range_push("y"), i);
	for (int i = 3100; i-- > 0;)
		CHECK_EQ_INT(range_pop(), i);
	CHECK_EQ_INT(range_pop(), -1);
	CHECK_EQ_UINT(thread_get()->marker, 0);
}

TEST(existing_stack_needs_no_allocation)
{
	sink_record_open();
	range_push("a");
	range_pop();
	alloc_fail_at(0);
	for (int i = 0; i < 1000; i++) {
		range_push("a");
		range_mark("b");
		range_stop(range_start("c"));
		range_pop();
	}
	CHECK_EQ_UINT(alloc_nr_calls(), 0);
}

static pthread_key_t key;

static void in_destructor(void *arg)
{
	(void)arg;
	/* librtl's destructor of this thread may have run before */
	for (int i = 0; i < 600; i++)
		range_push("late");
	for (int i = 0; i < 600; i++)
		range_pop();
}

static void *leave_ranges_open(void *arg)
{
	pthread_setspecific(key, &key);
	for (int i = 0; i < 2000; i++)
		range_push("open");
	return arg;
}

TEST(thread_with_open_ranges_ends_cleanly)
{
	pthread_t thread;

	range_init();
	sink_record_open();
	thread_get(); /* librtl's key is made first, so that its destructor runs first */
	CHECK_OK(pthread_key_create(&key, in_destructor));
	CHECK_OK(pthread_create(&thread, NULL, leave_ranges_open, NULL));
	pthread_join(thread, NULL);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER), 2600);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER_END), 600);
	CHECK_EQ_UINT(marker(2000)->level, 0);
	CHECK_EQ_UINT(marker(2000)->parent, 0);
}

/* ---- a real libroctx64 in the process -------------------------------------------------------- */

struct counts {
	uint64_t nr_marks, nr_pushes, nr_pops, nr_starts, nr_stops, last_stop, bad_stops;
};

static const struct counts *load_real(void)
{
	/* beside the test program: tests/support/fake_roctx.c */
	void *lib = dlopen(FAKE_ROCTX, RTLD_NOW | RTLD_LOCAL);
	const struct counts *(*get)(void);

	CHECK_MSG(lib != NULL, "%s", dlerror());
	get = (const struct counts *(*)(void))dlsym(lib, "fake_roctx_counts");
	CHECK(get != NULL);
	return get();
}

TEST(calls_are_passed_on_to_library_loaded_before)
{
	const struct counts *c = load_real();
	uint64_t a, b;

	sink_record_open();
	range_mark("m");
	CHECK_EQ_INT(range_push("p"), 100); /* the real library's return value */
	CHECK_EQ_INT(range_pop(), 100);
	a = range_start("a");
	b = range_start("b");
	range_stop(a);
	CHECK_EQ_UINT(c->last_stop, 5000);
	range_stop(b);
	CHECK_EQ_UINT(c->last_stop, 5001);
	CHECK_EQ_UINT(c->nr_marks, 1);
	CHECK_EQ_UINT(c->nr_pushes, 1);
	CHECK_EQ_UINT(c->nr_pops, 1);
	CHECK_EQ_UINT(c->nr_starts, 2);
	CHECK_EQ_UINT(c->nr_stops, 2);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER), 4);
}

TEST(library_loaded_later_is_found)
{
	const struct counts *c;
	uint64_t early, late;

	sink_record_open();
	early = range_start("early");
	for (int i = 0; i < 70; i++)
		range_mark("m");
	c = load_real();
	for (int i = 0; i < 70; i++) /* found when the number of calls doubles */
		range_mark("m");
	CHECK_GT_UINT(c->nr_marks, 0);
	late = range_start("late");
	range_stop(early); /* started before the real library was found */
	CHECK_EQ_UINT(c->nr_stops, 0);
	range_stop(late);
	CHECK_EQ_UINT(c->nr_stops, 1);
	CHECK_EQ_UINT(c->bad_stops, 0);
}

TEST(stop_is_passed_on_once_and_never_for_unknown_ids)
{
	const struct counts *c = load_real();
	uint64_t a;

	sink_record_open();
	a = range_start("a");
	range_stop(a);
	range_stop(a);
	range_stop(0);
	range_stop(77);
	range_stop(UINT64_MAX);
	CHECK_EQ_UINT(c->nr_stops, 1);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER_END), 5); /* recorded unchanged */
}

TEST(many_open_ranges_keep_their_real_ids)
{
	const struct counts *c = load_real();
	uint64_t first = range_start("first");

	for (int i = 0; i < 20000; i++)
		range_start("x");
	for (uint64_t id = first + 20000; id >= first; id--) {
		range_stop(id);
		CHECK_EQ_UINT(c->last_stop, 5000 + id - first);
	}
	CHECK_EQ_UINT(c->bad_stops, 0);
}

/* ---- --range --------------------------------------------------------------------------------- */

static void select_range(const char *name)
{
	setenv("RTL_RANGE", name, 1);
	env_init();
	pause_init();
	selection_init();
	sink_record_open();
}

TEST(selected_range_turns_recording_on)
{
	select_range("st?p*");
	CHECK(pause_is_on());
	range_push("other");
	CHECK(pause_is_on());
	range_push("step 1");
	CHECK(!pause_is_on());
	range_push("other");
	range_pop();
	CHECK(!pause_is_on());
	range_pop();
	CHECK(pause_is_on());
	range_pop();
	CHECK_EQ_INT(range_pop(), -1);
	CHECK_EQ_UINT(sink_record_count(EVENT_MARKER), 2);
	CHECK_STR_EQ(marker(0)->text, "step 1");
	CHECK_EQ_UINT(marker(0)->parent, 0);
	CHECK_NOT_NULL(end_of(marker(0)->marker));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 1);
}

TEST(occurrence_of_range_is_selected)
{
	uint64_t id;

	select_range("step@2");
	range_push("step");
	CHECK(pause_is_on());
	id = range_start("step");
	CHECK(!pause_is_on());
	range_pop();
	range_push("step");
	range_pop();
	CHECK(!pause_is_on());
	range_stop(id);
	CHECK(pause_is_on());
	/* a stop too many */
	range_stop(id);
	range_stop(0);
	CHECK(pause_is_on());
}

static void *push_and_end(void *arg)
{
	range_push("step");
	CHECK(!pause_is_on());
	return arg;
}

TEST(selected_range_ends_with_its_thread)
{
	pthread_t thread;

	range_init();
	select_range("step");
	CHECK_OK(pthread_create(&thread, NULL, push_and_end, NULL));
	pthread_join(thread, NULL);
	CHECK(pause_is_on());
}

TEST(operations_in_selected_range_have_it_as_marker)
{
	struct thread *t = thread_get();

	select_range("*");
	range_push("outer");
	range_push("inner");
	CHECK_EQ_UINT(t->marker, marker(1)->marker);
	range_pop();
	CHECK_EQ_UINT(t->marker, marker(0)->marker);
	range_pop();
	CHECK_EQ_UINT(t->marker, 0);
}

TEST(too_many_started_ranges_are_not_selected)
{
	uint64_t ids[1100];

	select_range("step");
	for (int i = 0; i < 1100; i++)
		ids[i] = range_start("step");
	CHECK(!pause_is_on());
	for (int i = 0; i < 1100; i++)
		range_stop(ids[i]);
	CHECK(pause_is_on());
}

static void *open_and_close(void *arg)
{
	for (int i = 0; i < NR_RANGES; i++) {
		uint64_t id = range_start("step");

		CHECK(!pause_is_on());
		range_push("step");
		range_stop(id);
		CHECK(!pause_is_on());
		range_pop();
	}
	return arg;
}

TEST(selected_ranges_of_many_threads_overlap)
{
	pthread_t threads[NR_THREADS];

	select_range("step");
	for (int i = 0; i < NR_THREADS; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, open_and_close, NULL));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(pause_is_on());
	CHECK(special_any(SPECIAL_PAUSED));
}

TEST(profiler_calls_pause_and_reach_real_library)
{
	sink_record_open();
	env_init();
	pause_init();
	CHECK_EQ_INT(range_profiler(false, 0), 0);
	CHECK(pause_is_on());
	CHECK_EQ_INT(range_profiler(true, 0), 0);
	CHECK(!pause_is_on());
	CHECK_NOT_NULL(dlopen(FAKE_ROCTX, RTLD_NOW | RTLD_GLOBAL));
	/* librtl looks for it whenever the number of calls has doubled */
	for (int i = 0; i < 8; i++)
		range_mark("m");
	CHECK_EQ_INT(range_profiler(false, 7), 57);
	CHECK_EQ_INT(range_profiler(true, 8), 68);
	CHECK(!pause_is_on());
}

static struct {
	enum range_call call;
	const char *name;
	uint64_t of, result;
} named;

static void on_name(enum range_call call, const char *name, uint64_t of)
{
	named.call = call;
	named.name = name;
	named.of = of;
}

static void on_named(enum range_call call, uint64_t result)
{
	CHECK_EQ_INT(call, named.call);
	named.result = result;
}

TEST(names_and_thread_ids_reach_listeners_and_real_library)
{
	uint64_t tid = 0;

	sink_record_open();
	CHECK_EQ_INT(range_listen(on_name), 0);
	CHECK_EQ_INT(range_listen_end(on_named), 0);
	CHECK_EQ_INT(range_thread_id(&tid), 0);
	CHECK_EQ_UINT(tid, (uint64_t)gettid());
	CHECK_EQ_INT(named.call, RANGE_THREAD_ID);
	CHECK_EQ_UINT(named.of, (uintptr_t)&tid);
	CHECK_EQ_INT(range_thread_id(NULL), 0);
	CHECK_EQ_INT(range_name(RANGE_NAME_HIP_DEVICE, "a", 3), 0);
	CHECK_EQ_INT(named.call, RANGE_NAME_HIP_DEVICE);
	CHECK_STR_EQ(named.name, "a");
	CHECK_EQ_UINT(named.of, 3);
	CHECK_NOT_NULL(dlopen(FAKE_ROCTX, RTLD_NOW | RTLD_GLOBAL));
	for (int i = 0; i < 8; i++)
		range_mark("m");
	CHECK_EQ_INT(range_thread_id(&tid), 1);
	CHECK_EQ_UINT(tid, 77);
	CHECK_EQ_INT(range_name(RANGE_NAME_OS_THREAD, "a", 0), 'a');
	CHECK_EQ_INT(range_name(RANGE_NAME_HSA_AGENT, "a", 2), 'c');
	CHECK_EQ_INT(range_name(RANGE_NAME_HIP_DEVICE, "a", 3), 'd');
	CHECK_EQ_INT(range_name(RANGE_NAME_HIP_STREAM, "f", 5), 'a');
	CHECK_EQ_UINT(named.result, 'a');
}
