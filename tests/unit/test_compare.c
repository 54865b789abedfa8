/* SPDX-License-Identifier: MIT */
/* test_compare.c - false alarms and missed changes are as rare as promised; known values of the
 * test */
#include "analysis/compare.h"

#include <math.h>
#include <stdlib.h>

#include "support/test.h"

#define KERNELS 10

/* Times of a kernel: `noise` is their deviation as a share of 100 ms. */
static void make_times(int64_t *out, size_t nr, double factor, double noise, uint64_t *state)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = (int64_t)(1e8 * factor * (1 + noise * compare_normal(state)));
}

/* Of KERNELS kernels, how many differ significantly between two sides of `nr` values; the first one
 * changes by `factor`. */
static unsigned int count_alarms(size_t nr, double factor, double noise, uint64_t *state,
				 bool *is_found)
{
	int64_t a[512], b[512];
	double p[KERNELS];
	struct compare_result r[KERNELS];
	bool significant[KERNELS];
	unsigned int alarms = 0;

	for (size_t k = 0; k < KERNELS; k++) {
		make_times(a, nr, 1, noise, state);
		make_times(b, nr, k == 0 ? factor : 1, noise, state);
		CHECK_OK(compare_samples(a, nr, b, nr, 1, &r[k]));
		p[k] = r[k].p;
	}
	CHECK_OK(compare_holm(p, KERNELS, COMPARE_ALPHA, significant));
	for (size_t k = 0; k < KERNELS; k++)
		alarms += compare_differs(&r[k], significant[k]);
	*is_found = compare_differs(&r[0], significant[0]);
	return alarms;
}

TEST(equal_runs_give_few_false_alarms)
{
	static const size_t sizes[] = { 8, 20, 300 };
	uint64_t state = 42;
	bool is_found;

	for (size_t s = 0; s < 3; s++) {
		unsigned int pairs = 0;

		for (int i = 0; i < 200; i++)
			pairs += count_alarms(sizes[s], 1, 0.03, &state, &is_found) > 0;
		CHECK_LE_UINT(pairs, 10);
	}
}

TEST(planted_slow_down_is_found)
{
	unsigned int found = 0;
	uint64_t state = 7;
	bool is_found;

	for (int i = 0; i < 100; i++) {
		count_alarms(20, 1.05, 0.03, &state, &is_found);
		found += is_found;
	}
	CHECK_GE_UINT(found, 95);
}

TEST(interval_covers_the_change)
{
	unsigned int covered = 0;
	uint64_t state = 3;

	for (int i = 0; i < 200; i++) {
		struct compare_result r;
		int64_t a[40], b[40];

		make_times(a, 40, 1, 0.05, &state);
		make_times(b, 40, 1.1, 0.05, &state);
		CHECK_OK(compare_samples(a, 40, b, 40, (uint64_t)i, &r));
		covered += r.low <= 0.1 && 0.1 <= r.high;
		CHECK(r.low <= r.change && r.change <= r.high);
	}
	CHECK_GE_UINT(covered, 182);
}

TEST(interval_is_that_of_drawn_resamples)
{
	int64_t a[51], b[51];
	double changes[4000];
	uint64_t state = 11;
	struct compare_result r;
	size_t below = 0;

	make_times(a, 51, 1, 0.1, &state);
	make_times(b, 51, 1.2, 0.1, &state);
	CHECK_OK(compare_samples(a, 51, b, 51, 5, &r));
	for (size_t i = 0; i < 4000; i++) {
		int64_t x[51], y[51];

		for (size_t k = 0; k < 51; k++) {
			x[k] = a[compare_random(&state) % 51];
			y[k] = b[compare_random(&state) % 51];
		}
		changes[i] = (double)compare_median(y, 51) / (double)compare_median(x, 51) - 1;
	}
	for (size_t i = 0; i < 4000; i++)
		below += changes[i] < r.low;
	CHECK_NEAR((double)below / 4000, 0.025, 0.015);
}

TEST(p_is_exact_for_few_values)
{
	int64_t a[] = { 1, 2, 3 }, b[] = { 4, 5, 6 }, c[] = { 1, 4, 5, 9 },
		d[] = { 2, 6, 7, 8, 10 };
	struct compare_result r;

	CHECK_OK(compare_samples(a, 3, b, 3, 1, &r));
	CHECK_NEAR(r.p, 0.1, 1e-12); /* 2 of 20 arrangements */
	CHECK_NEAR(r.effect, 1, 1e-12);
	CHECK_NEAR(r.change, 1.5, 1e-12);
	CHECK_NEAR(compare_least_p(3, 3), 0.1, 1e-12);
	CHECK_OK(compare_samples(b, 3, a, 3, 1, &r));
	CHECK_NEAR(r.p, 0.1, 1e-12);
	CHECK_NEAR(r.effect, 0, 1e-12);
	/* U of c is 6: 26 of 126 arrangements have at most that */
	CHECK_OK(compare_samples(c, 4, d, 5, 1, &r));
	CHECK_NEAR(r.p, 2 * 26 / 126.0, 1e-12);
}

/* Doubles are the same from 2^53 ns on, 104 days. */
TEST(long_times_are_compared_exactly)
{
	const int64_t most = INT64_MAX;
	int64_t a[] = { most, most - 2, most - 4 }, b[] = { most - 1, most - 3, most - 5 };
	struct compare_result r;

	CHECK_OK(compare_samples(a, 3, b, 3, 1, &r));
	CHECK_EQ_INT(r.a, most - 2);
	CHECK_EQ_INT(r.b, most - 3);
	/* b is larger in 3 of 9 pairs, and no two values are equal */
	CHECK_NEAR(r.effect, 1 / 3.0, 1e-12);
	CHECK_NEAR(r.p, 0.7, 1e-12);
	/* of an even number the lower of the middle */
	CHECK_EQ_INT(compare_median((int64_t[]){ 4, 1, 3, 2 }, 4), 2);
}

TEST(equal_values_differ_in_nothing)
{
	int64_t a[200], b[200];
	struct compare_result r;

	for (size_t i = 0; i < 200; i++)
		a[i] = b[i] = 10000;
	CHECK_OK(compare_samples(a, 200, b, 200, 1, &r));
	CHECK_NEAR(r.p, 1, 0);
	CHECK_NEAR(r.change, 0, 0);
	CHECK_NEAR(r.effect, 0.5, 0);
	CHECK_NEAR(r.low, 0, 0);
	CHECK_NEAR(r.high, 0, 0);
}

TEST(holm_rejects_from_the_smallest)
{
	static const double p[] = { 0.04, 0.001, 0.03, 0.014 };
	bool significant[4];

	CHECK_OK(compare_holm(p, 4, 0.05, significant));
	CHECK(significant[1] && significant[3] && !significant[2] && !significant[0]);
}
