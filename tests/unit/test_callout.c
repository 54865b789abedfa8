/* SPDX-License-Identifier: MIT */
/* test_callout.c - functions of the program that do not return: by pthread_exit(), longjmp(), a
 * cancellation. Exceptions: sdk, roctracer */
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

#include "base/callout.h"
#include "base/lock.h"
#include "base/sys.h"
#include "support/test.h"

static struct lock outer_lock = LOCK_INIT(LOCK_RECORDER), inner_lock = LOCK_INIT(LOCK_META);
static jmp_buf way_back;
static int nr_left, nr_outer_left, got_to;
static void (*leave)(void);

static void by_exit(void)
{
	pthread_exit(&nr_left);
}

static void by_jump(void)
{
	longjmp(way_back, 1);
}

static void by_return(void)
{
}

static bool can_be_cancelled(void)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_setcancelstate(state, NULL);
	return state == PTHREAD_CANCEL_ENABLE;
}

RTL_NO_TSA static void on_left(void *arg)
{
	nr_left++;
	lock_drop(arg);
}

static void call_leave(void *arg)
{
	(void)arg;
	leave();
}

static void call_under(struct lock *l)
{
	lock_take(l);
	callout(call_leave, on_left, l);
	lock_drop(l);
}

static void check_free(struct lock *l)
{
	CHECK(lock_try(l));
	lock_drop(l);
}

static void *leave_once(void *arg)
{
	if (setjmp(way_back) == 0)
		call_under(&inner_lock);
	got_to++;
	check_free(&inner_lock);
	CHECK(can_be_cancelled());
	return arg;
}

static void *in_thread(void *(*fn)(void *))
{
	pthread_t thread;
	void *result;

	CHECK_OK(pthread_create(&thread, NULL, fn, NULL));
	CHECK_OK(pthread_join(thread, &result));
	return result;
}

TEST(call_that_returns_is_not_left)
{
	leave = by_return;
	leave_once(NULL);
	CHECK_EQ_INT(nr_left, 0);
	CHECK_EQ_INT(got_to, 1);
}

TEST(lock_is_given_back_when_a_call_is_left_by_longjmp)
{
	leave = by_jump;
	for (int i = 1; i <= 3; i++) {
		leave_once(NULL);
		CHECK_EQ_INT(nr_left, i);
		CHECK_EQ_INT(got_to, i);
	}
}

TEST(lock_is_given_back_when_a_call_is_left_by_pthread_exit)
{
#ifdef RTL_SANITIZE_ADDRESS
	SKIP("gcc's address sanitizer takes the stack of a thread that has ended for one in use");
#endif
	leave = by_exit;
	CHECK(in_thread(leave_once) == &nr_left);
	CHECK_EQ_INT(nr_left, 1);
	CHECK_EQ_INT(got_to, 0);
	check_free(&inner_lock);
}

static void wait_for_cancellation(void)
{
	pthread_cancel(pthread_self());
	pause();
}

static void drop_nothing(void *arg)
{
	(void)arg;
	nr_left++;
}

static void *be_cancelled_without_lock(void *arg)
{
	callout(call_leave, drop_nothing, arg);
	return arg;
}

TEST(call_without_a_lock_is_left_by_a_cancellation)
{
#ifdef RTL_SANITIZE_ADDRESS
	SKIP("gcc's address sanitizer takes the stack of a thread that has ended for one in use");
#endif
	leave = wait_for_cancellation;
	CHECK(in_thread(be_cancelled_without_lock) == PTHREAD_CANCELED);
	CHECK_EQ_INT(nr_left, 1);
}

RTL_NO_TSA static void on_outer_left(void *arg)
{
	nr_outer_left++;
	lock_drop(arg);
}

/* The program's function comes back to the library, and that calls the program. */
static void call_again(void *arg)
{
	(void)arg;
	got_to = 1;
	call_under(&inner_lock);
	got_to = 2;
}

static void *leave_both(void *arg)
{
	lock_take(&outer_lock);
	callout(call_again, on_outer_left, &outer_lock);
	lock_drop(&outer_lock);
	return arg;
}

TEST(calls_within_calls_are_left_from_the_innermost_on)
{
	leave = by_jump;
	if (setjmp(way_back) == 0)
		leave_both(NULL);
	CHECK_EQ_INT(nr_left, 1);
	CHECK_EQ_INT(nr_outer_left, 1);
	CHECK_EQ_INT(got_to, 1);
	check_free(&inner_lock);
	check_free(&outer_lock);
	CHECK(can_be_cancelled());
}

static void catch_it(void *arg)
{
	(void)arg;
	if (setjmp(way_back) == 0)
		call_under(&inner_lock);
	check_free(&inner_lock);
	got_to = can_be_cancelled() ? -1 : 3;
}

TEST(call_within_a_call_that_goes_on_leaves_the_outer_one_as_it_was)
{
	leave = by_jump;
	lock_take(&outer_lock);
	callout(catch_it, on_outer_left, &outer_lock);
	/* the outer lock is held: not cancelled */
	CHECK_EQ_INT(got_to, 3);
	CHECK_EQ_INT(nr_left, 1);
	CHECK_EQ_INT(nr_outer_left, 0);
	CHECK(!can_be_cancelled());
	lock_drop(&outer_lock);
	CHECK(can_be_cancelled());
}

static void *outlive(void *arg)
{
	for (int i = 0; i < 5; i++) {
		leave = i % 2 ? by_return : by_exit;
		CHECK_EQ_INT(callout_outlive(call_leave, NULL), i % 2);
		got_to++;
	}
	CHECK(can_be_cancelled());
	return arg;
}

TEST(own_thread_outlives_a_call_that_ends_it)
{
	CHECK_NULL(in_thread(outlive));
	CHECK_EQ_INT(got_to, 5);
}
