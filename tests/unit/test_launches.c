/* SPDX-License-Identifier: MIT */
/* test_launches.c - launches and their dispatches, in any order */
#include "store/launches.h"

#include "support/test.h"

static struct launches l;

static void launch(uint64_t correlation, uint64_t begin_ns)
{
	CHECK_EQ_INT(launches_call(&l, correlation, true, begin_ns), 0);
}

static void dispatch(uint64_t correlation)
{
	CHECK_EQ_INT(launches_dispatch(&l, correlation), 0);
}

static void check_missing(uint64_t nr)
{
	CHECK_EQ_UINT(launches_missing(&l), nr);
	launches_fini(&l);
	l = (struct launches){ 0 };
}

TEST(launch_before_and_after_its_dispatch_has_it)
{
	launch(1, 10);
	dispatch(1);
	dispatch(2);
	launch(2, 20);
	launch(3, 30);
	check_missing(1);
}

TEST(launch_of_several_dispatches_has_them)
{
	dispatch(1);
	launch(1, 10);
	dispatch(1);
	dispatch(1);
	check_missing(0);
}

TEST(other_calls_need_no_dispatch)
{
	CHECK_EQ_INT(launches_call(&l, 1, false, 10), 0);
	dispatch(2);
	CHECK_EQ_INT(launches_call(&l, 2, false, 20), 0);
	CHECK_EQ_UINT(l.early.nr, 0);
	check_missing(0);
}

TEST(captured_launch_needs_no_dispatch)
{
	launch(1, 5);
	launch(2, 15);
	launch(3, 25);
	launch(4, 35);
	/* the captures of two streams overlap */
	CHECK_EQ_INT(launches_capture(&l, 20), 0);
	CHECK_EQ_INT(launches_capture(&l, 10), 0);
	CHECK_EQ_INT(launches_capture_end(&l, 30), 0);
	CHECK_EQ_INT(launches_capture_end(&l, 18), 0);
	check_missing(2);
}

TEST(launch_when_its_capture_ends_is_captured)
{
	CHECK_EQ_INT(launches_capture(&l, 10), 0);
	launch(1, 30);
	CHECK_EQ_INT(launches_capture_end(&l, 30), 0);
	launch(2, 31);
	check_missing(1);
}

TEST(capture_that_was_not_ended_lasts)
{
	launch(1, 15);
	CHECK_EQ_INT(launches_capture(&l, 10), 0);
	check_missing(0);
}

TEST(check_is_given_up_before_it_takes_much_memory)
{
	for (uint64_t i = 1; i <= LAUNCHES_MAX + 1; i++)
		dispatch(i);
	CHECK(l.is_given_up);
	launch(1, 10);
	check_missing(0);
}
