/* SPDX-License-Identifier: MIT */
/* test_window.c - the windows of time that are recorded, and how they hold recording back */
#include "event/window.h"

#include <stdlib.h>

#include "base/env.h"
#include "event/pause.h"
#include "event/special.h"
#include "support/test.h"

#define S UINT64_C(1000000000)

static void with(const char *delay, const char *duration, const char *period)
{
	if (delay)
		setenv("RTL_DELAY", delay, 1);
	if (duration)
		setenv("RTL_DURATION", duration, 1);
	if (period)
		setenv("RTL_PERIOD", period, 1);
	env_init();
	window_init();
}

static void check_at(uint64_t ns, bool within, uint64_t edge)
{
	uint64_t edge_ns = 0;

	CHECK_EQ_INT(window_at(ns, &edge_ns), within);
	CHECK_EQ_UINT(edge_ns, edge);
}

TEST(without_options_there_is_no_edge)
{
	with(NULL, NULL, NULL);
	CHECK(!window_is_used());
	check_at(5 * S, true, WINDOW_NO_EDGE);
}

TEST(delay_begins_a_window_without_end)
{
	with("2.5", NULL, NULL);
	check_at(0, false, 5 * S / 2);
	check_at(5 * S / 2 - 1, false, 1);
	check_at(5 * S / 2, true, WINDOW_NO_EDGE);
	check_at(100 * S, true, WINDOW_NO_EDGE);
}

TEST(duration_ends_the_window)
{
	with("1", "2", NULL);
	check_at(0, false, S);
	check_at(S, true, 2 * S);
	check_at(3 * S - 1, true, 1);
	check_at(3 * S, false, WINDOW_NO_EDGE);
}

TEST(duration_alone_begins_at_once)
{
	with(NULL, "2", NULL);
	check_at(0, true, 2 * S);
	check_at(2 * S, false, WINDOW_NO_EDGE);
}

TEST(periods_repeat_and_follow_each_other)
{
	with(NULL, NULL, "1:2:2 3:1");
	check_at(0, false, S);
	check_at(S, true, 2 * S);
	check_at(3 * S, false, S);
	check_at(4 * S, true, 2 * S);
	check_at(6 * S, false, 3 * S);
	check_at(9 * S, true, S);
	check_at(10 * S, false, WINDOW_NO_EDGE);
}

TEST(period_repeats_for_ever)
{
	with(NULL, NULL, "0:1:1,1:1:0");
	check_at(0, true, S);
	check_at(S, false, S);
	check_at(2 * S, true, S);
	check_at(1000001 * S, false, S);
	check_at(1000002 * S + S / 2, true, S / 2);
}

TEST(delay_and_period_both_have_to_hold)
{
	with("5", NULL, "0:4:1,4:4:1");
	check_at(0, false, 4 * S);
	check_at(4 * S, false, S);
	check_at(5 * S, false, 3 * S);
	check_at(8 * S, true, 4 * S);
}

TEST(window_that_is_not_open_holds_recording_back)
{
	with("1000", NULL, NULL);
	pause_init();
	CHECK(pause_is_on());
	CHECK(special_any(SPECIAL_PAUSED));
	CHECK(pause_tick() <= 1000 * S);
	/* the program can't change that */
	pause_ask(true);
	CHECK(pause_is_on());
}

TEST(recording_is_on_while_nothing_holds_it_back)
{
	with(NULL, "1000", NULL);
	pause_init();
	CHECK(!pause_is_on());
	pause_hold(PAUSE_RANGE, true);
	pause_set(true);
	CHECK(pause_is_on());
	pause_hold(PAUSE_RANGE, false);
	CHECK(pause_is_on());
	pause_tick();
	CHECK(pause_is_on());
	pause_set(false);
	CHECK(!pause_is_on());
	CHECK(!special_any(SPECIAL_PAUSED));
}
