/* SPDX-License-Identifier: MIT */
/* test_gpu_clock.c - ticks keep their order as ns, over measurements of the clocks of every size
 * and direction */
#include <stdlib.h>

#include "source/hsa/gpu_clock.h"
#include "support/test.h"

#define RATE 10.0 /* ns per tick */
#define NR_OPS 20000u
#define LATE 40u /* an operation is converted up to this many others late */

/* The runtime: a line that moves. */
struct runtime {
	double off, rate; /* ns at tick 0; ns per tick */
};

static uint64_t seed;

static uint64_t number(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % below;
}

static uint64_t runtime_ns(const struct runtime *r, uint64_t ticks)
{
	return (uint64_t)(r->off + r->rate * (double)ticks);
}

/* Measures the clocks again: the line turns around `ticks` and moves by up to `most` ns. */
static void measure(struct runtime *r, uint64_t ticks, uint64_t most)
{
	double rate = RATE * (1 + ((double)number(2001) - 1000) / 1e8); /* 10 ppm */

	r->off += (r->rate - rate) * (double)ticks + (double)number(2 * most + 1) - (double)most;
	r->rate = rate;
}

static uint64_t convert(struct gpu_clock *c, const struct runtime *r, uint64_t ticks)
{
	const struct gpu_clock_piece *p = gpu_clock_find(c, ticks);

	if (!p) {
		gpu_clock_extend(c, ticks, runtime_ns(r, ticks), r->rate);
		p = gpu_clock_find(c, ticks);
	}
	CHECK(p != NULL);
	CHECK(gpu_clock_covers(p, ticks));
	return gpu_clock_ns(p, ticks);
}

struct op {
	uint64_t begin, end, begin_ns, end_ns;
};

/* Operations of one queue, one after another, of which every `every`th has a measurement before it;
 * they are converted in groups, end first, in any order within a group. */
static void check_series(uint64_t of_seed, unsigned every, uint64_t most, uint64_t longest)
{
	static struct gpu_clock clock;
	static struct op ops[NR_OPS];
	struct runtime r = { .off = 123456, .rate = RATE };
	uint64_t ticks = UINT64_C(1) << 40, nr_settled = 0;

	seed = of_seed;
	clock = (struct gpu_clock){ 0 };
	for (unsigned i = 0; i < NR_OPS; i++) {
		ops[i].begin = ticks += number(3) ? 0 : number(longest);
		ops[i].end = ticks += number(50) ? number(2000) : number(longest);
	}
	for (unsigned i = 0, n; i < NR_OPS; i += n) {
		unsigned first;

		n = 1 + (unsigned)number(LATE);
		n = n < NR_OPS - i ? n : NR_OPS - i;
		first = (unsigned)number(n);
		for (unsigned k = 0; k < n; k++) {
			struct op *o = &ops[i + (k + first) % n];

			if (number(every) == 0)
				measure(&r, o->end, most);
			o->end_ns = convert(&clock, &r, o->end);
			o->begin_ns = convert(&clock, &r, o->begin);
			nr_settled += clock.nr > 1;
		}
	}
	CHECK(nr_settled > 0);
	for (unsigned i = 0; i < NR_OPS; i++) {
		if (ops[i].begin_ns > ops[i].end_ns)
			test_fail(__FILE__, __LINE__,
				  "seed %lu, operation %u ends before it begins",
				  (unsigned long)of_seed, i);
		if (i && ops[i].begin_ns < ops[i - 1].end_ns)
			test_fail(__FILE__, __LINE__,
				  "seed %lu, operation %u begins %lu ns before %u ends",
				  (unsigned long)of_seed, i,
				  (unsigned long)(ops[i - 1].end_ns - ops[i].begin_ns), i - 1);
	}
}

TEST(operations_of_a_queue_keep_their_order_over_measurements)
{
	for (uint64_t s = 1; s <= 20; s++) {
		check_series(s, 10, 25, 100000);
		check_series(s, 100, 1000, 10000000);
	}
}

TEST(operations_keep_their_order_when_the_clock_is_set)
{
	for (uint64_t s = 1; s <= 10; s++)
		check_series(s, 500, 1000000000, 10000000);
}

TEST(every_tick_keeps_its_order_when_older_pieces_are_merged)
{
	static struct gpu_clock clock;
	static uint64_t before[5000];
	struct runtime r = { .off = 0, .rate = RATE };
	uint64_t first = UINT64_C(1) << 40, step = GPU_CLOCK_REACH * 3;

	seed = 7;
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t last = 0;

		measure(&r, first + i * step, 300);
		before[i] = convert(&clock, &r, first + i * step);
		CHECK(clock.nr <= GPU_CLOCK_NR_PIECES);
		if (i % 50 != 49)
			continue;
		for (uint64_t k = 0; k <= i; k++) {
			uint64_t ns = convert(&clock, &r, first + k * step);

			CHECK(ns >= last);
			/* an operation that is converted later does not begin before the end of an
			 * earlier one */
			CHECK(ns >= before[k]);
			before[k] = last = ns;
		}
	}
}

TEST(ticks_on_one_line_get_the_runtimes_times)
{
	static struct gpu_clock clock;
	struct runtime r = { .off = 12345, .rate = RATE };
	uint64_t ticks = UINT64_C(1) << 40;

	for (int i = 0; i < 1000; i++) {
		ticks += UINT64_C(1) << i % 30;
		CHECK_EQ_UINT(convert(&clock, &r, ticks), runtime_ns(&r, ticks));
	}
	CHECK_EQ_UINT(convert(&clock, &r, 1000), runtime_ns(&r, 1000));
	CHECK_EQ_UINT(clock.nr, 1);
}

TEST(a_moved_line_is_reached_within_a_few_extensions)
{
	static struct gpu_clock clock;
	struct runtime r = { .off = 0, .rate = RATE };
	uint64_t ticks = UINT64_C(1) << 40;

	convert(&clock, &r, ticks);
	r.off = 500;
	ticks += GPU_CLOCK_REACH + 1;
	convert(&clock, &r, ticks);
	ticks += GPU_CLOCK_REACH + 1;
	CHECK_NEAR((double)convert(&clock, &r, ticks), (double)runtime_ns(&r, ticks), 1);
	/* ahead of the runtime by much: time runs at half its speed, then a little slower than the
	 * runtime's */
	r.off = -5e6;
	for (int i = 0; i < 2000; i++) {
		ticks += GPU_CLOCK_REACH + 1;
		convert(&clock, &r, ticks);
	}
	CHECK_NEAR((double)convert(&clock, &r, ticks), (double)runtime_ns(&r, ticks), 1);
	/* behind it by much: reached at once */
	r.off = 1e9;
	ticks += GPU_CLOCK_REACH + 1;
	convert(&clock, &r, ticks);
	ticks += GPU_CLOCK_REACH + 1;
	CHECK_NEAR((double)convert(&clock, &r, ticks), (double)runtime_ns(&r, ticks), 1);
}

TEST(clock_goes_on_without_the_runtime)
{
	static struct gpu_clock clock;
	struct runtime r = { .off = 0, .rate = RATE };
	uint64_t ticks = UINT64_C(1) << 40;

	convert(&clock, &r, ticks);
	ticks += UINT64_C(1000000000);
	CHECK_EQ_UINT(gpu_clock_continue(&clock, ticks), runtime_ns(&r, ticks));
	CHECK_EQ_UINT(gpu_clock_continue(&clock, ticks - 5), runtime_ns(&r, ticks - 5));
}

TEST(ticks_before_the_clock_began_are_time_0)
{
	static struct gpu_clock clock;

	gpu_clock_extend(&clock, UINT64_C(1) << 40, 1000, RATE);
	CHECK_EQ_UINT(gpu_clock_ns(gpu_clock_find(&clock, 5), 5), 0);
	CHECK(!gpu_clock_covers(gpu_clock_find(&clock, 5), 0)); /* 0 is no tick */
}
