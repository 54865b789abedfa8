/* SPDX-License-Identifier: MIT */
/* compare.c - the test of Mann and Whitney, the bootstrap of medians, Holm's correction */
#include "analysis/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define EXACT_MAX 25 /* values of a side up to which the exact distribution is used */
#define RESAMPLES 1000
#define PI 3.14159265358979323846

/* ---- random numbers ---- */

uint64_t compare_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

double compare_uniform(uint64_t *state)
{
	return ((double)(compare_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

double compare_normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(compare_uniform(state)));

	return radius * cos(2 * PI * compare_uniform(state));
}

/* Of the gamma distribution with shape k >= 1 (Marsaglia and Tsang). */
static double random_gamma(uint64_t *state, double k)
{
	double d = k - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		double x = compare_normal(state), v = 1 + c * x;

		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(compare_uniform(state)) < 0.5 * x * x + d - d * v + d * log(v))
			return d * v;
	}
}

/* ---- the bootstrap ---- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t compare_median(int64_t *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), compare_values);
	return values[(nr - 1) / 2];
}

/* The median of a resample of the same size. Its rank among the values is that of an order
 * statistic of uniform numbers, which has a beta distribution: no resample need be drawn, however
 * many values there are. */
static int64_t resampled_median(const int64_t *sorted, size_t nr, uint64_t *state)
{
	double k = (double)((nr + 1) / 2), below = random_gamma(state, k);
	double above = random_gamma(state, (double)nr - k + 1);
	size_t at = (size_t)(below / (below + above) * (double)nr);

	return sorted[at < nr ? at : nr - 1];
}

static double change_of(int64_t a, int64_t b)
{
	return a == b ? 0 : a == 0 ? INFINITY : (double)b / (double)a - 1;
}

static void find_interval(const int64_t *a, size_t nr_a, const int64_t *b, size_t nr_b,
			  uint64_t seed, struct compare_result *out)
{
	double changes[RESAMPLES];

	for (size_t i = 0; i < RESAMPLES; i++) {
		int64_t x = resampled_median(a, nr_a, &seed);

		changes[i] = change_of(x, resampled_median(b, nr_b, &seed));
	}
	qsort(changes, RESAMPLES, sizeof(*changes), compare_doubles);
	out->low = changes[RESAMPLES / 40];
	out->high = changes[RESAMPLES - 1 - RESAMPLES / 40];
}

/* ---- the test ---- */

/* *p: P(U <= u) for sets without equal values: counts arrangements by adding values one by one. */
static int exact_tail(size_t nr_a, size_t nr_b, size_t u, double *p)
{
	size_t most = nr_a * nr_b;
	/* ways[i][v]: arrangements of i values of a and the values of b so far, with U = v */
	double *ways = alloc_zero((nr_a + 1) * (most + 1), sizeof(*ways)), all = 0, tail = 0;

	if (!ways)
		return -ENOMEM;
	for (size_t i = 0; i <= nr_a; i++)
		ways[i * (most + 1)] = 1;
	/* f(i, j, v) = f(i, j - 1, v) + f(i - 1, j, v - j): the largest value is one of a or of
	 * b */
	for (size_t j = 1; j <= nr_b; j++)
		for (size_t i = 1; i <= nr_a; i++)
			for (size_t v = j; v <= most; v++)
				ways[i * (most + 1) + v] += ways[(i - 1) * (most + 1) + v - j];
	for (size_t v = 0; v <= most; v++) {
		all += ways[nr_a * (most + 1) + v];
		if (v <= u)
			tail += ways[nr_a * (most + 1) + v];
	}
	alloc_free(ways);
	*p = tail / all;
	return 0;
}

/* U of b: pairs in which b is larger, equal ones half. *ties: sum of t^3 - t over groups of t equal
 * values. */
static double count_larger(const int64_t *a, size_t nr_a, const int64_t *b, size_t nr_b,
			   double *ties)
{
	size_t i = 0, j = 0;
	double u = 0;

	*ties = 0;
	while (i < nr_a || j < nr_b) {
		int64_t x = j == nr_b || (i < nr_a && a[i] <= b[j]) ? a[i] : b[j];
		size_t from_a = i, from_b = j;
		double of_a, of_b;

		while (i < nr_a && a[i] == x)
			i++;
		while (j < nr_b && b[j] == x)
			j++;
		of_a = (double)(i - from_a);
		of_b = (double)(j - from_b);
		u += of_b * ((double)from_a + of_a / 2);
		*ties += pow(of_a + of_b, 3) - (of_a + of_b);
	}
	return u;
}

static double approximate_p(double u, double nr_a, double nr_b, double ties)
{
	double n = nr_a + nr_b, away = fabs(u - nr_a * nr_b / 2) - 0.5;
	double variance = nr_a * nr_b / 12 * (n + 1 - ties / (n * (n - 1)));

	if (variance <= 0 || away <= 0)
		return 1;
	return erfc(away / sqrt(2 * variance));
}

int compare_samples(int64_t *a, size_t nr_a, int64_t *b, size_t nr_b, uint64_t seed,
		    struct compare_result *out)
{
	double most = (double)nr_a * (double)nr_b, ties, u;

	out->a = compare_median(a, nr_a);
	out->b = compare_median(b, nr_b);
	u = count_larger(a, nr_a, b, nr_b, &ties);
	out->change = change_of(out->a, out->b);
	out->effect = u / most;
	if (ties == 0 && nr_a <= EXACT_MAX && nr_b <= EXACT_MAX) {
		int ret = exact_tail(nr_a, nr_b, (size_t)fmin(u, most - u), &out->p);

		if (ret)
			return ret;
		out->p = fmin(1, 2 * out->p);
	} else {
		out->p = approximate_p(u, (double)nr_a, (double)nr_b, ties);
	}
	find_interval(a, nr_a, b, nr_b, seed, out);
	return 0;
}

double compare_least_p(size_t nr_a, size_t nr_b)
{
	double ways = 1;

	/* of all arrangements, two are the most extreme */
	for (size_t i = 1; i <= nr_a && ways < 1e18; i++)
		ways = ways * (double)(nr_b + i) / (double)i;
	return fmin(1, 2 / ways);
}

size_t compare_values_needed(double alpha)
{
	size_t nr = 2;

	while (compare_least_p(nr, nr) > alpha)
		nr++;
	return nr;
}

bool compare_differs(const struct compare_result *r, bool significant)
{
	return significant && (r->low > 0 || r->high < 0);
}

struct ranked {
	double p;
	size_t at;
};

static int compare_ranked(const void *a, const void *b)
{
	return compare_doubles(&((const struct ranked *)a)->p, &((const struct ranked *)b)->p);
}

int compare_holm(const double *p, size_t nr, double alpha, bool *significant)
{
	struct ranked *ranked = alloc_zero(nr + 1, sizeof(*ranked));
	bool is_going = true;

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		ranked[i] = (struct ranked){ p[i], i };
	qsort(ranked, nr, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < nr; i++) {
		is_going = is_going && ranked[i].p <= alpha / (double)(nr - i);
		significant[ranked[i].at] = is_going;
	}
	alloc_free(ranked);
	return 0;
}
