/* SPDX-License-Identifier: MIT */
/* test_clock.c - the clock computed from the processor's counter, compared with the kernel's
 *
 * The tests assert only the difference between two clocks read together, with a bound a thousand
 * times larger than usual.
 */
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "support/test.h"

#define BOUND_NS UINT64_C(1000000)
#define SHORT_NS UINT64_C(10000000) /* shorter than any line's validity */

static void nap_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

static _Atomic bool ticks_are_over;

static void check_agrees(clockid_t id)
{
	uint64_t before = clock_read_ns(id);
	uint64_t now = clock_now_ns();
	uint64_t after = clock_read_ns(id);

	CHECK_GE_UINT(now + BOUND_NS, before);
	CHECK_LE_UINT(now, after + BOUND_NS);
}

/* Waits until the counter is used; skips the test if it never is. */
static void make_fast(void)
{
	for (int i = 0; i < 10000 && !clock_is_fast(); i++) {
		if (clock_tick() == UINT64_MAX)
			SKIP("the kernel does not count by the time-stamp counter");
		nap_us(1000);
	}
	CHECK(clock_is_fast());
}

TEST(uncalibrated_clock_is_the_kernels)
{
	CHECK(!clock_is_fast());
	for (int i = 0; i < 1000; i++) {
		uint64_t before = clock_read_ns(CLOCK_BOOTTIME);
		uint64_t now = clock_now_ns();

		CHECK_GE_UINT(now, before);
		CHECK_LE_UINT(now, clock_read_ns(CLOCK_BOOTTIME));
	}
	clock_select(CLOCK_REALTIME);
	check_agrees(CLOCK_REALTIME);
	CHECK(!clock_is_fast());
}

TEST(calibrated_clock_agrees_with_kernel_and_never_goes_back)
{
	uint64_t nr_changes = 0;

	make_fast();
	for (uint64_t end = clock_read_ns(CLOCK_MONOTONIC) + UINT64_C(700000000);
	     clock_read_ns(CLOCK_MONOTONIC) < end;) {
		bool was_fast = clock_is_fast();
		uint64_t before = clock_now_ns(), after;

		clock_tick();
		after = clock_now_ns();
		/* unless this thread was preempted until the line ended */
		if (was_fast && clock_is_fast() && after - before < SHORT_NS)
			CHECK_GE_UINT(after, before);
		CHECK_GE_UINT(after + BOUND_NS, before);
		nr_changes += was_fast;
		for (int i = 0; i < 1000; i++) {
			before = after;
			after = clock_now_ns();
			CHECK_GE_UINT(after + BOUND_NS, before);
		}
		check_agrees(CLOCK_BOOTTIME);
	}
	CHECK_GT_UINT(nr_changes, 0);
}

static void check_span(uint64_t begin, uint64_t begin_ns)
{
	uint64_t before = clock_now_ns();
	struct clock_span span = clock_span_inline_ns(begin, RTL_TICKS());
	uint64_t after = clock_now_ns();

	CHECK_GE_UINT(span.end_ns + BOUND_NS, before);
	CHECK_LE_UINT(span.end_ns, after + BOUND_NS);
	CHECK_GE_UINT(span.begin_ns + BOUND_NS, begin_ns);
	CHECK_LE_UINT(span.begin_ns, begin_ns + BOUND_NS);
	CHECK_LE_UINT(span.begin_ns, span.end_ns);
}

TEST(span_has_clock_times_of_both_ends)
{
	uint64_t first, first_ns;

	make_fast();
	first = RTL_TICKS();
	first_ns = clock_now_ns();
	/* more lines than are kept are made in this time, so that none covers the first reading */
	for (int i = 0; i < 700; i++) {
		uint64_t begin = RTL_TICKS();
		uint64_t begin_ns = clock_now_ns();

		check_span(begin, begin_ns);
		nap_us(1000);
		clock_tick();
		check_span(begin, begin_ns);
		check_span(first, first_ns);
	}
	/* the kernel's clock is read again */
	clock_select(CLOCK_MONOTONIC);
	clock_select(CLOCK_BOOTTIME);
	CHECK(!clock_is_fast());
	check_span(first, first_ns);
	/* readings of two processors that differ */
	check_span(RTL_TICKS() + 1000, clock_now_ns());
}

static _Atomic bool over;

static void *read_on(void *arg)
{
	uint64_t last = clock_now_ns();

	while (!atomic_load(&over)) {
		uint64_t now = clock_now_ns();

		CHECK_GE_UINT(now + BOUND_NS, last);
		last = now;
		check_agrees(CLOCK_BOOTTIME);
	}
	return arg;
}

TEST(concurrent_readers_see_complete_lines)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		CHECK_OK(pthread_create(&threads[i], NULL, read_on, NULL));
	make_fast();
	/* every selection of another clock restarts, so many lines are made */
	for (int i = 0; i < 20; i++) {
		clock_select(CLOCK_MONOTONIC);
		clock_select(CLOCK_BOOTTIME);
		for (int k = 0; k < 20; k++) {
			clock_tick();
			nap_us(1000);
		}
	}
	atomic_store(&over, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void *tick_often(void *arg)
{
	while (!atomic_load(&ticks_are_over))
		clock_tick();
	return arg;
}

TEST(ticks_of_several_threads_keep_one_clock)
{
	pthread_t threads[3];
	uint64_t last = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, tick_often, NULL);
	make_fast();
	for (int i = 0; i < 200000; i++) {
		uint64_t now = clock_now_ns();

		CHECK_GE_UINT(now, last);
		last = now;
		if (i % 1000 == 0)
			check_agrees(CLOCK_BOOTTIME);
	}
	atomic_store(&ticks_are_over, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

TEST(selected_clock_is_read_at_once_and_recalibrated)
{
	make_fast();
	clock_select(CLOCK_REALTIME);
	CHECK(!clock_is_fast());
	check_agrees(CLOCK_REALTIME);
	make_fast();
	check_agrees(CLOCK_REALTIME);
	/* selecting the same clock changes nothing */
	clock_select(CLOCK_REALTIME);
	CHECK(clock_is_fast());
}

/* What a line of that slope gains on the clock in `ns`. */
static int64_t gain(uint64_t slope, uint64_t mult, int64_t ns)
{
	return ((int64_t)slope - (int64_t)mult) * ns / (int64_t)mult;
}

TEST(line_meets_the_clock_or_bends_as_far_as_it_may)
{
	const uint64_t mult = UINT64_C(1) << CLOCK_SHIFT;

	for (int64_t off = -20000; off <= 20000; off += 1000) {
		int64_t gained = gain(clock_bent(mult, off, 10000000), mult, 10000000);

		CHECK(gained >= off - 1 && gained <= off + 1);
	}
	CHECK_EQ_UINT(clock_bent(mult, 20001000, 10000000), mult + mult / 500);
	CHECK_EQ_UINT(clock_bent(mult, -20001000, 10000000), mult - mult / 500);
	CHECK_EQ_UINT(clock_bent(mult, 0, 1), mult);
}

TEST(outdated_line_is_not_used)
{
	make_fast();
	for (int i = 0; i < 20000 && clock_is_fast(); i++)
		nap_us(1000);
	CHECK(!clock_is_fast());
	check_agrees(CLOCK_BOOTTIME);
	make_fast();
	check_agrees(CLOCK_BOOTTIME);
}
