/* SPDX-License-Identifier: MIT */
/* test_live.c - API calls while they run: subscribers, order, correlation ids of operations */
#include "source/api/live.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "event/corr.h"
#include "event/pause.h"
#include "event/special.h"
#include "support/sink_record.h"
#include "support/test.h"

#define BOTH (LIVE_CALLS | LIVE_RECORDS)

enum { OP_OUTER, OP_INNER, OP_NR };
static const struct api_op ops[] = { { "hsa_outer", "a:i", API_NO_STEP },
				     { "hsa_inner", "a:i", API_NO_STEP } };
static _Atomic uint8_t named[OP_NR];

/* What subscribers saw, a letter each: Aa Bb for enter and exit, 1 2 for record. */
static char seen[256];
static struct live_call last;
static int first, second;
static jmp_buf back;

static void saw(char c)
{
	size_t n = strlen(seen);

	CHECK_LT_UINT(n, sizeof(seen) - 1);
	seen[n] = c;
	seen[n + 1] = '\0';
	errno = 5;
}

static void enter_a(struct live_call *call)
{
	saw('A');
	CHECK_EQ_UINT(call->own[first], 0);
	call->own[first] = 7;
	memset(live_scratch(call, first), 0xaa, LIVE_SCRATCH_SIZE);
}

static void exit_a(struct live_call *call)
{
	saw('a');
	CHECK_EQ_UINT(call->own[first], 7);
	last = *call;
}

static void record_a(const struct live_call *call)
{
	saw('1');
	last = *call;
}

static void enter_b(struct live_call *call)
{
	saw('B');
	memset(live_scratch(call, second), 0xbb, LIVE_SCRATCH_SIZE);
	/* the other subscriber's memory stays as it is */
	if (strchr(seen, 'A') && call->operation == OP_OUTER)
		CHECK_EQ_UINT(*(uint8_t *)live_scratch(call, first), 0xaa);
}

static void exit_b(struct live_call *call)
{
	(void)call;
	saw('b');
}

static void record_b(const struct live_call *call)
{
	(void)call;
	saw('2');
}

static const struct live_subscriber a = { enter_a, exit_a, record_a },
				    b = { enter_b, exit_b, record_b };

static void begin(void)
{
	env_init();
	api_init();
	live_init();
	sink_record_open();
	api_define(API_HSA, ops, named, NULL, NULL, OP_NR);
	first = live_subscribe(&a);
	second = live_subscribe(&b);
	seen[0] = '\0';
}

/* A wrapper with its stack frame; `inside` stands for the real function. */
static int call_at(uintptr_t frame, uint32_t op, int status, void (*inside)(void))
{
	struct live_frame *f = live_wrapper_begin(API_HSA, op, &status, frame);
	uint64_t word = 9;

	if (inside)
		inside();
	if (f)
		live_wrapper_end(f, &status, op, status, &word, 1);
	return status;
}

static RTL_NOINLINE int call(uint32_t op, int status, void (*inside)(void))
{
	return call_at(RTL_FRAME(), op, status, inside);
}

static uint64_t taken[4];
static unsigned int nr_taken;

static void take(void)
{
	taken[nr_taken++] = corr_take(thread_get());
}

TEST(subscribers_see_enter_in_order_and_exit_in_reverse)
{
	begin();
	live_want(first, API_HSA, OP_OUTER, BOTH);
	live_want(second, API_HSA, OP_OUTER, BOTH);
	live_want(second, API_HSA, OP_INNER, BOTH);
	errno = 77;
	CHECK_EQ_INT(call(OP_OUTER, 3, NULL), 3);
	CHECK_EQ_INT(errno, 77);
	CHECK_STR_EQ(seen, "ABba12");
	CHECK_EQ_UINT(last.operation, OP_OUTER);
	CHECK_EQ_UINT(last.domain, API_HSA);
	CHECK_EQ_UINT(last.tid, thread_get()->tid);
	CHECK_NOT_NULL(last.args);
	CHECK_NOT_NULL(last.result);
	seen[0] = '\0';
	live_want(second, API_HSA, OP_OUTER, LIVE_NOTHING);
	call(OP_OUTER, 0, NULL);
	CHECK_STR_EQ(seen, "Aa1");
	seen[0] = '\0';
	call(OP_INNER, 0, NULL);
	CHECK_STR_EQ(seen, "Bb2");
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
}

TEST(repeated_subscription_keeps_its_number_and_surplus_is_refused)
{
	static const struct live_subscriber more[LIVE_MAX_SUBSCRIBERS];

	begin();
	CHECK_EQ_INT(live_subscribe(&a), first);
	for (int i = 2; i < LIVE_MAX_SUBSCRIBERS; i++)
		CHECK_EQ_INT(live_subscribe(&more[i]), i);
	CHECK_EQ_INT(live_subscribe(&more[0]), -ENOSPC);
	/* a number without an operation */
	live_want(first, API_HSA, API_MAX_OPERATIONS, BOTH);
	CHECK_EQ_UINT(api_wanted(API_HIP_CALLBACKS, 0), 0);
}

TEST(recorded_call_has_same_id_for_recorder_and_subscribers)
{
	begin();
	api_switch(API_HSA, true);
	live_want(first, API_HSA, OP_OUTER, BOTH);
	call(OP_OUTER, -4, take);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.correlation, last.correlation);
	CHECK_EQ_INT(sink_record_at(EVENT_API, 0)->api.status, -4);
	CHECK_EQ_UINT(taken[0], last.correlation);
	take();
	CHECK_NE_UINT(taken[1], last.correlation);
	/* recorded alone */
	seen[0] = '\0';
	call(OP_INNER, 0, NULL);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
	CHECK_STR_EQ(seen, "");
}

static void call_inner(void)
{
	call(OP_INNER, 0, take);
}

TEST(operation_takes_id_of_outermost_seen_call)
{
	begin();
	live_want(first, API_HSA, OP_OUTER, BOTH);
	live_want(second, API_HSA, OP_INNER, BOTH);
	call(OP_OUTER, 0, call_inner);
	CHECK_STR_EQ(seen, "ABb2a1");
	CHECK_EQ_UINT(taken[0], last.correlation);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
}

TEST(seen_call_in_pause_has_its_operations_left_out)
{
	begin();
	api_switch(API_HSA, true);
	live_want(first, API_HSA, OP_OUTER, BOTH);
	pause_set(true);
	call(OP_OUTER, 0, take);
	CHECK_STR_EQ(seen, "Aa1");
	CHECK(corr_is_left_out(taken[0]));
	CHECK(!corr_is_left_out(last.correlation));
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 1);
	pause_set(false);
	take();
	CHECK(!corr_is_left_out(taken[1]));
}

TEST(call_times_are_read_only_when_subscriber_wants_record)
{
	uint64_t before;

	begin();
	live_want(first, API_HSA, OP_OUTER, LIVE_CALLS);
	call(OP_OUTER, 0, NULL);
	CHECK_STR_EQ(seen, "Aa");
	CHECK_EQ_UINT(last.begin_ns | last.end_ns, 0);
	live_want(first, API_HSA, OP_OUTER, LIVE_RECORDS);
	before = clock_now_ns();
	call(OP_OUTER, 0, NULL);
	CHECK_STR_EQ(seen, "Aa1");
	CHECK_GE_UINT(last.begin_ns, before);
	CHECK_GE_UINT(last.end_ns, last.begin_ns);
	CHECK_LE_UINT(last.end_ns, clock_now_ns());
}

TEST(paused_subscriber_gets_no_calls)
{
	begin();
	live_want(first, API_HSA, OP_OUTER, BOTH);
	live_want(second, API_HSA, OP_OUTER, BOTH);
	live_pause(first, true);
	call(OP_OUTER, 0, NULL);
	CHECK_STR_EQ(seen, "Bb2");
	live_pause(first, false);
	live_pause(second, true);
	seen[0] = '\0';
	call(OP_OUTER, 0, NULL);
	CHECK_STR_EQ(seen, "Aa1");
	live_pause(second, false);
}

/* ---- calls of which only records are wanted ---- */

/* A provider. Whether it could do without the notifications. */
static RTL_NOINLINE bool call_alone(uint32_t op, void (*inside)(void))
{
	uint32_t mask = live_unpaused(api_wanted(API_HSA, op));
	struct thread *t = thread_get();
	struct live_frame *f = NULL;

	if (live_is_for_records(mask))
		f = live_begin_alone(t, API_HSA, op, mask, RTL_FRAME());
	if (!f) {
		call_at(RTL_FRAME(), op, 0, inside);
		return false;
	}
	if (inside)
		inside();
	live_end_alone(t, f);
	return true;
}

static void begin_alone(void)
{
	begin();
	/* times are those of the counter, where it can be used */
	for (int i = 0; i < 10000 && !clock_is_fast() && clock_tick() != UINT64_MAX; i++)
		usleep(1000);
	special_set(SPECIAL_CLOCK, !clock_is_fast());
	live_want(first, API_HSA, OP_OUTER, LIVE_RECORDS);
	/* a thread's first call makes its frame */
	CHECK(!call_alone(OP_OUTER, NULL));
	CHECK_STR_EQ(seen, "1");
	seen[0] = '\0';
}

TEST(call_alone_has_id_and_times_of_its_record)
{
	uint64_t before, earlier;

	begin_alone();
	earlier = last.correlation;
	before = clock_now_ns();
	CHECK_EQ_INT(call_alone(OP_OUTER, take), clock_is_fast());
	CHECK_STR_EQ(seen, "1");
	CHECK_GE_UINT(last.begin_ns + 1000, before);
	CHECK_GE_UINT(last.end_ns, last.begin_ns);
	CHECK_LE_UINT(last.end_ns, clock_now_ns() + 1000);
	CHECK_EQ_UINT(last.operation, OP_OUTER);
	CHECK_EQ_UINT(last.domain, API_HSA);
	CHECK_EQ_UINT(last.tid, thread_get()->tid);
	CHECK_EQ_UINT(taken[0], last.correlation);
	CHECK_EQ_UINT(last.correlation, earlier + 1);
	CHECK_NULL(live_top(thread_get()));
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	/* for both subscribers */
	live_want(second, API_HSA, OP_OUTER, LIVE_RECORDS);
	CHECK_EQ_INT(call_alone(OP_OUTER, NULL), clock_is_fast());
	CHECK_STR_EQ(seen, "112");
}

TEST(call_is_not_alone_while_more_than_records_is_wanted)
{
	begin_alone();
	live_want(second, API_HSA, OP_OUTER, LIVE_CALLS);
	CHECK(!call_alone(OP_OUTER, NULL));
	CHECK_STR_EQ(seen, "Bb1");
	live_want(second, API_HSA, OP_OUTER, LIVE_NOTHING);
	CHECK_EQ_INT(call_alone(OP_OUTER, NULL), clock_is_fast());
	live_pause(first, true);
	CHECK(!live_is_for_records(live_unpaused(api_wanted(API_HSA, OP_OUTER))));
	live_pause(first, false);
	api_switch(API_HSA, true);
	CHECK(!call_alone(OP_OUTER, NULL));
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(sink_record_at(EVENT_API, 0)->api.correlation, last.correlation);
	api_switch(API_HSA, false);
	/* operations of a call in a pause are left out */
	pause_set(true);
	CHECK(!call_alone(OP_OUTER, take));
	CHECK(corr_is_left_out(taken[0]));
	pause_set(false);
	/* calls of API_HIP come by the same callbacks */
	live_want(second, API_HIP, OP_OUTER, LIVE_CALLS);
	CHECK(!call_alone(OP_OUTER, NULL));
}

static bool inner_was_alone;

static void call_inner_alone(void)
{
	inner_was_alone = call_alone(OP_INNER, take);
	CHECK_EQ_UINT(last.operation, OP_INNER);
	CHECK_NE_UINT(last.correlation, taken[0]);
	take();
	CHECK_EQ_UINT(taken[1], taken[0]);
}

TEST(call_within_call_alone_is_not_alone)
{
	begin_alone();
	live_want(second, API_HSA, OP_INNER, LIVE_RECORDS);
	live_want(first, API_HSA, OP_INNER, LIVE_RECORDS);
	CHECK_EQ_INT(call_alone(OP_OUTER, call_inner_alone), clock_is_fast());
	CHECK(!inner_was_alone);
	CHECK_STR_EQ(seen, "121");
	/* operations are the outermost call's */
	CHECK_EQ_UINT(taken[0], last.correlation);
	CHECK_NULL(live_top(thread_get()));
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	/* within a call that is recorded elsewhere, and in a hook */
	thread_get()->corr_current = 7;
	CHECK(!call_alone(OP_OUTER, NULL));
	CHECK_EQ_UINT(thread_get()->corr_current, 7);
	thread_get()->corr_current = 0;
	thread_get()->in_hook = true;
	seen[0] = '\0';
	CHECK(!call_alone(OP_OUTER, NULL));
	CHECK_STR_EQ(seen, "");
	thread_get()->in_hook = false;
}

static void leave_it(void)
{
	longjmp(back, 1);
}

TEST(call_left_by_longjmp_is_forgotten_by_next_call)
{
	begin();
	live_want(first, API_HSA, OP_OUTER, BOTH);
	if (setjmp(back) == 0)
		call(OP_OUTER, 0, leave_it);
	CHECK_STR_EQ(seen, "A");
	CHECK_NOT_NULL(live_top(thread_get()));
	call(OP_OUTER, 0, take);
	CHECK_STR_EQ(seen, "AAa1");
	CHECK_EQ_UINT(taken[0], last.correlation);
	CHECK_NULL(live_top(thread_get()));
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
}

TEST(call_alone_left_by_longjmp_is_forgotten_by_next_call)
{
	begin_alone();
	if (setjmp(back) == 0)
		call_alone(OP_OUTER, leave_it);
	CHECK_STR_EQ(seen, "");
	CHECK(!call_alone(OP_OUTER, take));
	CHECK_STR_EQ(seen, "1");
	CHECK_EQ_UINT(taken[0], last.correlation);
	CHECK_NULL(live_top(thread_get()));
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	CHECK_EQ_INT(call_alone(OP_OUTER, NULL), clock_is_fast());
}

TEST(call_within_hook_is_not_seen)
{
	begin();
	live_want(first, API_HSA, OP_OUTER, BOTH);
	thread_get()->in_hook = true;
	CHECK_EQ_INT(call(OP_OUTER, 2, NULL), 2);
	thread_get()->in_hook = false;
	CHECK_STR_EQ(seen, "");
}

static void *make_calls(void *arg)
{
	for (int i = 0; i < 2000; i++)
		call(OP_INNER, 0, NULL);
	return arg;
}

TEST(calls_run_while_subscribers_come_and_go)
{
	pthread_t threads[4];

	begin();
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, make_calls, NULL));
	for (int i = 0; i < 1000; i++)
		live_want(LIVE_MAX_SUBSCRIBERS - 1, API_HSA, OP_INNER, i % 2 ? LIVE_NOTHING : BOTH);
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_join(threads[i], NULL));
	CHECK_STR_EQ(seen, "");
}
