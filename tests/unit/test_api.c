/* SPDX-License-Identifier: MIT */
/* test_api.c - the frame around API calls: ids, parents, what is inside of what, names, ways out */
#include "source/api/call.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "event/corr.h"
#include "event/filter.h"
#include "event/life.h"
#include "event/pause.h"
#include "support/sink_record.h"
#include "support/test.h"

enum { OP_OUTER, OP_INNER, OP_PUSH, OP_POP, OP_LAUNCH, OP_NR };
static const struct api_op ops[OP_NR] = {
	[OP_OUTER] = { "outer", "a:i,b:p", API_NO_STEP },
	[OP_INNER] = { "inner", "", API_NO_STEP },
	[OP_PUSH] = { "push", "", API_PREPARES },
	[OP_POP] = { "pop", "", API_PREPARES_LAST },
	[OP_LAUNCH] = { "launch", "", API_LAUNCHES },
};
static const struct api_op hsa_ops[] = { { "hsa_outer", "", API_NO_STEP },
					 { "hsa_inner", "", API_NO_STEP } };
static _Atomic uint8_t hip_named[OP_NR], hsa_named[OP_NR];

static void begin(void)
{
	env_init();
	api_init();
	sink_record_open();
	api_define(API_HIP, ops, hip_named, NULL, NULL, OP_NR);
	api_define(API_HSA, hsa_ops, hsa_named, NULL, NULL, ARRAY_SIZE(hsa_ops));
	api_switch(API_HIP, true);
	api_switch(API_HSA, true);
}

static const struct event_api *call_at(uint64_t i)
{
	const struct event *ev = sink_record_at(EVENT_API, i);

	CHECK_NOT_NULL(ev);
	return &ev->api;
}

/* A wrapper; `inside` stands for the real function. */
static RTL_NOINLINE int call(enum api_domain domain, uint32_t op, void (*inside)(void), int status)
{
	uint64_t words[2] = { 7, 8 };
	struct api_call c;

	if (!api_enter(domain, op, &c)) {
		if (inside)
			inside();
		api_pass();
		return status;
	}
	if (inside)
		inside();
	api_leave(domain, op, &c, status, words, 2);
	return status;
}

static uint64_t taken[4];
static unsigned nr_taken;

static void take(void)
{
	taken[nr_taken++] = corr_take(thread_get());
}

TEST(recorded_call_has_its_words_and_status)
{
	uint64_t before, after;

	begin();
	before = clock_now_ns();
	errno = 77;
	call(API_HIP, OP_OUTER, NULL, -5);
	CHECK_EQ_INT(errno, 77);
	after = clock_now_ns();
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_INT(call_at(0)->status, -5);
	CHECK_EQ_UINT(call_at(0)->op, OP_OUTER);
	CHECK_EQ_UINT(call_at(0)->domain, API_HIP);
	CHECK_EQ_UINT(call_at(0)->nr_words, 2);
	CHECK_EQ_UINT(call_at(0)->parent, 0);
	CHECK_NE_UINT(call_at(0)->correlation, 0);
	CHECK_EQ_UINT(call_at(0)->tid, thread_get()->tid);
	CHECK_GE_UINT(call_at(0)->begin_ns, before);
	CHECK_GE_UINT(call_at(0)->end_ns, call_at(0)->begin_ns);
	CHECK_LE_UINT(call_at(0)->end_ns, after);
	CHECK(!api_inside(API_HIP));
}

static void call_inner(void)
{
	call(API_HSA, OP_INNER, take, 0);
}

static void stop_and_call(void)
{
	pause_set(true);
	call_inner();
}

static void start_and_take(void)
{
	pause_set(false);
	take();
}

TEST(call_in_pause_is_left_out_and_counted)
{
	begin();
	pause_set(true);
	errno = 77;
	CHECK_EQ_INT(call(API_HIP, OP_OUTER, call_inner, 3), 3);
	CHECK_EQ_INT(errno, 77);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_OP), 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 2);
	CHECK_EQ_UINT(sink_record_losses(), 2);
	CHECK(corr_is_left_out(taken[0]));
	pause_set(false);
	call(API_HIP, OP_OUTER, call_inner, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
	CHECK_EQ_UINT(taken[1], call_at(1)->correlation);
	CHECK_EQ_UINT(call_at(0)->parent, call_at(1)->correlation);
}

TEST(call_begun_before_pause_is_recorded_with_its_operations)
{
	begin();
	call(API_HIP, OP_OUTER, stop_and_call, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
	CHECK_EQ_UINT(call_at(0)->parent, call_at(1)->correlation);
	CHECK_EQ_UINT(taken[0], call_at(1)->correlation);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

static bool is_missed(void)
{
	return true;
}

/* A call within it, as libraries make them, has returned before. */
static void inner_and_start_and_take(void)
{
	call(API_HIP, OP_INNER, NULL, 0);
	start_and_take();
}

TEST(operation_of_call_begun_in_pause_is_recorded_without_call)
{
	begin();
	atomic_store(&corr_orphan, is_missed);
	pause_set(true);
	call(API_HIP, OP_OUTER, inner_and_start_and_take, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK(!corr_is_left_out(taken[0]));
	CHECK(!(taken[0] & EVENT_MISSED));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 2);
	/* the call has returned: this operation belongs to another one */
	take();
	CHECK(taken[1] & EVENT_MISSED);
}

static void *tell_all(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		call(API_HIP, OP_INNER, NULL, 0);
		call(API_HSA, OP_INNER, NULL, 0);
	}
	return arg;
}

TEST(function_name_is_emitted_once)
{
	const struct event *ev;
	pthread_t threads[4];

	begin();
	for (int i = 0; i < 4; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, tell_all, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 8001);
	CHECK_EQ_UINT(sink_record_count(EVENT_OP), 3);
	ev = sink_record_at(EVENT_OP, 2);
	CHECK_EQ_UINT(ev->op.domain, API_HIP);
	CHECK_EQ_UINT(ev->op.op, OP_OUTER);
	CHECK_STR_EQ(sink_record_string(ev->op.name), "outer");
	CHECK_STR_EQ(sink_record_string(ev->op.signature), "a:i,b:p");
}

static void inner_of_both(void)
{
	CHECK(api_inside(API_HIP));
	take();
	call(API_HIP, OP_INNER, take, 0);
	call(API_HSA, OP_INNER, take, 0);
	CHECK(!api_inside(API_HSA));
	take();
}

TEST(operation_takes_id_of_outermost_call)
{
	begin();
	call(API_HIP, OP_OUTER, inner_of_both, 0);
	/* HIP's inner call is not recorded, HSA's has a parent */
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
	CHECK_EQ_UINT(call_at(0)->domain, API_HSA);
	CHECK_EQ_UINT(call_at(0)->parent, call_at(1)->correlation);
	CHECK_EQ_UINT(call_at(1)->domain, API_HIP);
	CHECK_EQ_UINT(call_at(1)->parent, 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ_UINT(taken[i], call_at(1)->correlation);
	CHECK_NE_UINT(call_at(0)->correlation, call_at(1)->correlation);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	/* an HSA call that is not within another */
	nr_taken = 0;
	call(API_HSA, OP_OUTER, take, 0);
	CHECK_EQ_UINT(taken[0], call_at(2)->correlation);
}

TEST(call_of_unrecorded_domain_is_passed_on)
{
	begin();
	api_switch(API_HIP, false);
	nr_taken = 0;
	call(API_HIP, OP_OUTER, take, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_OP), 0);
	call(API_HSA, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
}

static void turn_off(void)
{
	api_switch(API_HIP, false);
}

TEST(running_call_is_recorded_although_domain_is_switched_off)
{
	begin();
	call(API_HIP, OP_OUTER, turn_off, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK(!api_inside(API_HIP));
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
}

TEST(call_from_hook_or_harvester_is_not_recorded)
{
	struct thread *t;

	begin();
	t = thread_get();
	t->in_hook = true;
	call(API_HIP, OP_OUTER, NULL, 0);
	t->in_hook = false;
	t->is_ours = true;
	call(API_HIP, OP_OUTER, NULL, 0);
	t->is_ours = false;
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
}

static void use_the_gpu(void)
{
	struct thread *t;

	/* as the packet callback does */
	CHECK(life_enter(&t));
	life_leave(t);
}

TEST(hook_within_call_takes_id_of_call)
{
	begin();
	call(API_HIP, OP_OUTER, use_the_gpu, 0);
}

static jmp_buf out;

static void jump(void)
{
	longjmp(out, 1);
}

static RTL_NOINLINE void call_and_jump(void)
{
	if (setjmp(out) == 0)
		call(API_HIP, OP_OUTER, jump, 0);
}

static void jump_from_both(void)
{
	call(API_HSA, OP_INNER, jump, 0);
}

TEST(call_after_longjmp_out_of_call_is_recorded)
{
	begin();
	call_and_jump();
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(call_at(0)->parent, 0);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
	if (setjmp(out) == 0)
		call(API_HIP, OP_OUTER, jump_from_both, 0);
	/* the other domain finds it, too */
	call(API_HSA, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
	CHECK_EQ_UINT(call_at(1)->parent, 0);
	CHECK_EQ_UINT(thread_get()->corr_current, 0);
}

static void *end_inside(void *arg)
{
	call(API_HIP, OP_OUTER, (void (*)(void))arg, 0);
	return NULL;
}

static void end_thread(void)
{
	pthread_exit(NULL);
}

TEST(thread_that_ends_within_call_leaves_no_state)
{
	pthread_t thread;

	begin();
	CHECK_OK(pthread_create(&thread, NULL, end_inside, (void *)end_thread));
	pthread_join(thread, NULL);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK_OK(pthread_create(&thread, NULL, end_inside, (void *)take));
	pthread_join(thread, NULL);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(taken[0], call_at(0)->correlation);
}

static void on_signal(int nr)
{
	(void)nr;
	call(API_HIP, OP_INNER, NULL, 0);
}

static void raise_one(void)
{
	raise(SIGUSR1);
}

TEST(call_from_signal_handler_is_within_interrupted_call)
{
	begin();
	signal(SIGUSR1, on_signal);
	call(API_HIP, OP_OUTER, raise_one, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	raise(SIGUSR1);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 2);
}

TEST(call_before_trace_or_in_forked_child_is_not_recorded)
{
	begin();
	life_set_state(LIFE_OFF);
	call(API_HIP, OP_OUTER, NULL, 0);
	life_set_state(LIFE_STARTING);
	call(API_HIP, OP_OUTER, NULL, 0);
	life_set_state(LIFE_FORKED);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	/* exit handlers run after the harvester has ended; the sink decides */
	life_set_state(LIFE_STOPPED);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
}

TEST(call_has_no_words_when_arguments_are_off)
{
	setenv("RTL_ARGS", "0", 1);
	begin();
	CHECK(!api_args);
}

/* ---- calls that the user leaves out ---------------------------------------------------------- */

static void begin_with(const char *calls)
{
	setenv("RTL_CALLS", calls, 1);
	env_init();
	filter_init();
	begin();
}

TEST(calls_that_prepare_a_launch_are_part_of_it)
{
	begin_with("^launch");
	CHECK(!api_has_record(API_HIP, OP_PUSH) && !api_has_record(API_HIP, OP_POP));
	CHECK(api_has_record(API_HIP, OP_LAUNCH) && api_has_record(API_HIP, OP_OUTER));
	CHECK(!api_is_left_out(API_HIP, OP_PUSH) && !api_is_left_out(API_HIP, OP_LAUNCH));
	call(API_HIP, OP_POP, NULL, 0);
	call(API_HIP, OP_LAUNCH, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(sink_record_losses(), 0);
}

TEST(calls_that_prepare_a_launch_are_calls_if_an_expression_matches_them)
{
	begin_with("pop|^launch");
	CHECK(!api_has_record(API_HIP, OP_PUSH) && !api_is_left_out(API_HIP, OP_PUSH));
	CHECK(api_has_record(API_HIP, OP_POP) && !api_is_left_out(API_HIP, OP_POP));
}

TEST(calls_that_prepare_a_launch_are_calls_if_a_variable_says_so)
{
	setenv("RTL_INTERNAL", "1", 1);
	begin_with("pop");
	CHECK(api_has_record(API_HIP, OP_PUSH) && api_is_left_out(API_HIP, OP_PUSH));
	CHECK(!api_is_left_out(API_HIP, OP_POP));
}

static void call_inner_and_take(void)
{
	call(API_HIP, OP_INNER, NULL, 0);
	take();
}

TEST(left_out_call_is_counted_and_its_operations_are_not_missed)
{
	begin_with("inner");
	atomic_store(&corr_orphan, is_missed);
	CHECK(api_is_left_out(API_HIP, OP_OUTER));
	errno = 77;
	CHECK_EQ_INT(call(API_HIP, OP_OUTER, take, 3), 3);
	CHECK_EQ_INT(errno, 77);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_call), 1);
	CHECK_EQ_UINT(sink_record_losses(), 1);
	CHECK(!(taken[0] & (EVENT_MISSED | EVENT_LEFT_OUT)));
	/* the call has returned */
	take();
	CHECK(taken[1] & EVENT_MISSED);
	call(API_HIP, OP_INNER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
}

TEST(call_of_the_library_within_left_out_call_is_not_recorded)
{
	begin_with("^inner$|hsa_inner");
	call(API_HIP, OP_OUTER, call_inner_and_take, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_call), 1);
}

static void call_hsa(void)
{
	call(API_HSA, OP_INNER, NULL, 0);
	take();
}

TEST(selected_call_of_other_api_within_left_out_call_is_recorded)
{
	begin_with("hsa_inner");
	atomic_store(&corr_orphan, is_missed);
	call(API_HIP, OP_OUTER, call_hsa, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(call_at(0)->parent, 0);
	CHECK(!(taken[0] & EVENT_MISSED));
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_call), 1);
}

TEST(left_out_call_within_selected_call_is_counted)
{
	begin_with("^outer$");
	call(API_HIP, OP_OUTER, call_hsa, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
	CHECK_EQ_UINT(taken[0], call_at(0)->correlation);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_call), 1);
	/* one of the same API is the library's own */
	call(API_HIP, OP_OUTER, call_inner_and_take, 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_call), 1);
}

TEST(domain_that_is_switched_off_counts_no_calls)
{
	begin_with("none");
	api_switch(API_HIP, false);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_losses(), 0);
	api_switch(API_HIP, true);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_call), 1);
	pause_set(true);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_paused), 1);
}

TEST(function_that_is_known_after_its_domain_was_switched_on_is_left_out)
{
	setenv("RTL_CALLS", "inner", 1);
	env_init();
	filter_init();
	api_init();
	sink_record_open();
	api_switch(API_HIP, true);
	api_define(API_HIP, ops, hip_named, NULL, NULL, OP_NR);
	call(API_HIP, OP_OUTER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 0);
	CHECK_EQ_UINT(sink_record_loss(SPOOL_REASON_filtered_call), 1);
	call(API_HIP, OP_INNER, NULL, 0);
	CHECK_EQ_UINT(sink_record_count(EVENT_API), 1);
}
