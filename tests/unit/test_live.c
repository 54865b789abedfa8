/* SPDX-License-Identifier: MIT */
/* test_live.c - API calls while they run: subscribers, order, correlation ids of operations */
#include "source/api/live.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "event/corr.h"
#include "event/pause.h"
#include "support/sink_record.h"
#include "support/test.h"

enum { OP_OUTER, OP_INNER, OP_NR };
static const struct api_op ops[] = { { "hsa_outer", "a:i" }, { "hsa_inner", "a:i" } };
static _Atomic uint8_t named[OP_NR];

/* What subscribers saw, a letter each: Aa Bb for enter and exit, 1 2 for done. */
static char seen[256];
static struct live_call last;
static bool wants_times;
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
	call->wants_times = wants_times;
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

static void done_a(struct live_call *call)
{
	saw('1');
	last = *call;
}

static void enter_b(struct live_call *call)
{
	saw('B');
	memset(live_scratch(call, second), 0xbb, LIVE_SCRATCH_SIZE);
	/* the other subscriber's memory stays as it is */
	CHECK(call->operation != OP_OUTER || *(uint8_t *)live_scratch(call, first) == 0xaa);
}

static void exit_b(struct live_call *call)
{
	(void)call;
	saw('b');
}

static void done_b(struct live_call *call)
{
	(void)call;
	saw('2');
}

static const struct live_subscriber a = { enter_a, exit_a, done_a },
				    b = { enter_b, exit_b, done_b };

static void begin(void)
{
	env_init();
	api_init();
	live_init();
	sink_record_open();
	api_define(API_HSA, ops, named, NULL, OP_NR);
	first = live_subscribe(&a);
	second = live_subscribe(&b);
	seen[0] = '\0';
}

/* A wrapper; `inside` stands for the real function. */
static RTL_NOINLINE int call(uint32_t op, int status, void (*inside)(void))
{
	struct live_frame *f = live_wrapper_begin(API_HSA, op, &status, RTL_FRAME());
	uint64_t word = 9;

	if (inside)
		inside();
	if (f)
		live_wrapper_end(f, &status, op, status, &word, 1);
	return status;
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
	live_want(first, API_HSA, OP_OUTER, true);
	live_want(second, API_HSA, OP_OUTER, true);
	live_want(second, API_HSA, OP_INNER, true);
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
	live_want(second, API_HSA, OP_OUTER, false);
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
	live_want(first, API_HSA, API_MAX_OPERATIONS, true);
	CHECK_EQ_UINT(api_wanted(API_HIP_CALLBACKS, 0), 0);
}

TEST(recorded_call_has_same_id_for_recorder_and_subscribers)
{
	begin();
	api_switch(API_HSA, true);
	live_want(first, API_HSA, OP_OUTER, true);
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
	live_want(first, API_HSA, OP_OUTER, true);
	live_want(second, API_HSA, OP_INNER, true);
	call(OP_OUTER, 0, call_inner);
	CHECK_STR_EQ(seen, "ABb2a1");
	CHECK_EQ_UINT(taken[0], last.correlation);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
}

TEST(seen_call_in_pause_has_its_operations_left_out)
{
	begin();
	api_switch(API_HSA, true);
	live_want(first, API_HSA, OP_OUTER, true);
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

TEST(call_times_are_read_only_when_subscriber_wants_them)
{
	uint64_t before;

	begin();
	live_want(first, API_HSA, OP_OUTER, true);
	call(OP_OUTER, 0, NULL);
	CHECK_EQ_UINT(last.begin_ns | last.end_ns, 0);
	wants_times = true;
	before = clock_now_ns();
	call(OP_OUTER, 0, NULL);
	CHECK_GE_UINT(last.begin_ns, before);
	CHECK_GE_UINT(last.end_ns, last.begin_ns);
	CHECK_LE_UINT(last.end_ns, clock_now_ns());
}

static void leave_it(void)
{
	longjmp(back, 1);
}

TEST(call_left_by_longjmp_is_forgotten_by_next_call)
{
	begin();
	live_want(first, API_HSA, OP_OUTER, true);
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

TEST(call_within_hook_is_not_seen)
{
	begin();
	live_want(first, API_HSA, OP_OUTER, true);
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
		live_want(LIVE_MAX_SUBSCRIBERS - 1, API_HSA, OP_INNER, i % 2 == 0);
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_join(threads[i], NULL));
	CHECK_STR_EQ(seen, "");
}
