/* SPDX-License-Identifier: MIT */
/* imbalance_judge.c - the statistics of imbalance.h */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/imbalance.h"
#include "base/alloc.h"

/* By Hoeffding's inequality: fewer than that many of `nr` values are below the median with at most
 * that chance. */
uint64_t imbalance_outside(uint64_t nr, double chance)
{
	double half = (double)nr / 2, outside = half - sqrt((double)nr * -log(chance) / 2);

	return outside < 1 ? nr : (uint64_t)outside;
}

static int compare_reals(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct judging {
	const struct imbalance_cell *cells;
	uint32_t nr_blocks;
	size_t nr_parties;
	double *medians, *highs; /* of the parties in a block, in order */
	/* of each cell: logarithm of its median, less that of the others */
	double *distances;
	double *sorted;
	bool *is_far; /* of each cell: but for what is common it is slow */
};

/* Of values in order, the one with that number when `own` is taken out. */
static double without(const double *sorted, double own, size_t number)
{
	return sorted[number] < own ? sorted[number] : sorted[number + 1];
}

/* Compares the parties in a block with the medians of the others' medians, and of the upper ends of
 * their intervals: the lower and the upper one of two in the middle. */
static void compare_block(struct judging *j, uint32_t block)
{
	const struct imbalance_cell *cells = &j->cells[block * j->nr_parties];
	size_t nr = 0;

	for (size_t i = 0; i < j->nr_parties; i++)
		if (cells[i].nr) {
			j->medians[nr] = (double)cells[i].median;
			j->highs[nr++] = (double)cells[i].high;
		}
	if (nr < 2)
		return;
	qsort(j->medians, nr, sizeof(*j->medians), compare_reals);
	qsort(j->highs, nr, sizeof(*j->highs), compare_reals);
	for (size_t i = 0; i < j->nr_parties; i++) {
		const struct imbalance_cell *c = &cells[i];
		double others = c->nr ? without(j->medians, (double)c->median, (nr - 2) / 2) : 0;
		size_t at = block * j->nr_parties + i;

		if (c->median <= 0 || others <= 0)
			continue;
		j->distances[at] = log((double)c->median / others);
		j->is_far[at] = j->distances[at] >= log(IMBALANCE_LEAST) &&
				(double)c->low > without(j->highs, (double)c->high, (nr - 1) / 2);
	}
}

/* Whether any cell of the party is far from the others. */
static bool has_far(const struct judging *j, size_t party)
{
	for (uint32_t b = 0; b < j->nr_blocks; b++)
		if (j->is_far[b * j->nr_parties + party])
			return true;
	return false;
}

/* The deviation of the distances of all other parties: by their third quartile, which for normal
 * values is 1.1503 times that. */
static double spread_of(const struct judging *j, size_t party)
{
	size_t nr = 0;

	for (size_t at = 0; at < j->nr_blocks * j->nr_parties; at++)
		if (at % j->nr_parties != party && j->cells[at].nr)
			j->sorted[nr++] = fabs(j->distances[at]);
	if (!nr)
		return 0;
	qsort(j->sorted, nr, sizeof(*j->sorted), compare_reals);
	return j->sorted[nr * 3 / 4] / 1.1503;
}

static void describe(const struct judging *j, struct imbalance_slow *s)
{
	size_t middle = (s->first + s->last) / 2 * j->nr_parties + s->party;
	double sum = 0;

	s->begin = INT64_MAX;
	s->end = INT64_MIN;
	for (uint32_t b = s->first; b <= s->last; b++) {
		const struct imbalance_cell *c = &j->cells[b * j->nr_parties + s->party];
		double distance = j->distances[b * j->nr_parties + s->party];

		s->begin = c->begin < s->begin ? c->begin : s->begin;
		s->end = c->end > s->end ? c->end : s->end;
		s->calls += c->nr;
		s->lost_ns += (uint64_t)((double)c->nr * (double)c->median * (1 - exp(-distance)));
		sum += distance;
	}
	s->ratio = exp(sum / (s->last - s->first + 1));
	s->median_ns = j->cells[middle].median;
	s->others_ns = (int64_t)((double)s->median_ns * exp(-j->distances[middle]) + 0.5);
}

static bool is_slow(const struct judging *j, uint32_t block, size_t party, double least)
{
	size_t at = block * j->nr_parties + party;

	return block < j->nr_blocks && j->is_far[at] && j->distances[at] >= least;
}

static int find_slow(const struct judging *j, size_t party, double least,
		     struct imbalance_name *name, size_t *max)
{
	for (uint32_t b = 0; b < j->nr_blocks; b++) {
		struct imbalance_slow s = { .party = party, .first = b, .nr_blocks = j->nr_blocks },
				      *more;

		if (!is_slow(j, b, party, least))
			continue;
		/* one block between two: in it the whole run may change, so that medians say
		 * nothing */
		while (is_slow(j, b + 1, party, least) || is_slow(j, b + 2, party, least))
			b++;
		s.last = b;
		describe(j, &s);
		more = alloc_grow(name->slow, name->nr_slow, max, 4, sizeof(*more));
		if (!more)
			return -ENOMEM;
		name->slow = more;
		more[name->nr_slow++] = s;
	}
	return 0;
}

int imbalance_judge(const struct imbalance_cell *cells, uint32_t nr_blocks, size_t nr_parties,
		    struct imbalance_name *name)
{
	size_t nr = nr_blocks * nr_parties, max = 0;
	struct judging j = { .cells = cells,
			     .nr_blocks = nr_blocks,
			     .nr_parties = nr_parties,
			     .medians = alloc_zero(nr_parties, sizeof(double)),
			     .highs = alloc_zero(nr_parties, sizeof(double)),
			     .distances = alloc_zero(nr, sizeof(double)),
			     .sorted = alloc_zero(nr, sizeof(double)),
			     .is_far = alloc_zero(nr, sizeof(bool)) };
	bool has_memory = j.medians && j.highs && j.distances && j.sorted && j.is_far;
	int ret = has_memory ? 0 : -ENOMEM;

	for (uint32_t b = 0; ret == 0 && b < nr_blocks; b++)
		compare_block(&j, b);
	for (size_t party = 0; ret == 0 && party < nr_parties; party++)
		if (has_far(&j, party))
			ret = find_slow(&j, party, IMBALANCE_SPREADS * spread_of(&j, party), name,
					&max);
	alloc_free(j.medians);
	alloc_free(j.highs);
	alloc_free(j.distances);
	alloc_free(j.sorted);
	alloc_free(j.is_far);
	return ret;
}
