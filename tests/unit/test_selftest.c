/* SPDX-License-Identifier: MIT */
/* test_selftest.c - when rtl selftest says that times differ, and that programs die of tracing */
#include "cli/selftest/selftest.h"
#include "support/test.h"

#define NR 30

/* `base` with a spread of a tenth, moved by `by`. */
static void fill(int64_t values[NR], double base, double by, uint64_t seed)
{
	for (int i = 0; i < NR; i++)
		values[i] = (int64_t)(base * (0.95 + 0.1 * compare_uniform(&seed)) + by);
}

TEST(launch_that_costs_more_than_the_limit_fails)
{
	int64_t plain[NR], traced[NR];
	struct compare_result r;

	fill(plain, 5000, 0, 1);
	fill(traced, 5000, 25000, 2);
	CHECK(selftest_costs_more(plain, NR, traced, NR, 20000, &r));
	CHECK(!selftest_costs_more(plain, NR, traced, NR, 30000, &r));
}

TEST(launches_that_differ_by_noise_alone_pass)
{
	int64_t plain[NR], traced[NR];
	struct compare_result r;

	fill(plain, 5000, 0, 1);
	fill(traced, 5000, 0, 2);
	CHECK(!selftest_costs_more(plain, NR, traced, NR, 0, &r));
}

TEST(events_that_are_longer_or_shorter_fail_beyond_the_limit)
{
	static const struct {
		double by;
		bool differ;
	} rows[] = { { 0, false }, { 20, false }, { 200, true }, { -200, true } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t plain[NR], traced[NR];
		struct compare_result r;

		fill(plain, 1600e3, 0, 1);
		fill(traced, 1600e3, rows[i].by * 1e3, 2);
		CHECK(selftest_events_differ(plain, NR, traced, NR, &r) == rows[i].differ);
	}
}

TEST(deaths_of_traced_runs_alone_count_when_they_are_many)
{
	/* of 12 traced and 12 untraced runs: 1/2 for the first, less for each further one */
	CHECK(selftest_chance(0, 12, 24) == 1);
	CHECK(selftest_chance(1, 12, 24) == 0.5);
	CHECK(selftest_chance(3, 12, 24) > 0.01);
	CHECK(selftest_chance(7, 12, 24) < 0.01);
}
