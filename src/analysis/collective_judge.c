/* SPDX-License-Identifier: MIT */
/* collective_judge.c - which ranks are called late
 *
 * A rank that comes last by chance alone does so in an n-th of the collectives. That is a question
 * of counts, and not enough: hosts that share too few processors keep their order for hundreds of
 * collectives, since each is scheduled a slice behind the other. Their lateness is of the size of a
 * slice, and varies by as much. Where a rank is late by its host, it therefore has to stand out:
 * its lateness is several times what it varies by, or what the waits of the other ranks vary by.
 * Kernels and copies are measured by the GPU, and need no such proof.
 *
 * What that is computed from is a sample of the collectives, evenly over the run.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/collective_internal.h"
#include "base/alloc.h"

#define SAMPLE_MAX_NR 64 /* even: every other one is dropped when it is full */

/* Small, because collectives are not independent of each other: a rank that has lost its processor
 * is late for a few. */
#define LATE_CHANCE 0.001
/* Of 150 runs without a late rank on two busy processors one exceeds this; of 48 with a rank that
 * sleeps for 50 ms 47 do. */
#define STANDS_OUT 5.5

enum { OFFSET, IDLE, NR_VALUES }; /* of a lane in a sample */

int collective_judge_note(struct collective_sample *s, size_t nr_members,
			  const struct collective_event *events, int64_t done)
{
	float *values;

	for (size_t i = 0; i < nr_members; i++)
		if (!events[i].has_before)
			return 0;
	if (s->nr == SAMPLE_MAX_NR) {
		for (size_t i = 1; i < SAMPLE_MAX_NR / 2; i++)
			for (size_t k = 0; k < nr_members * NR_VALUES; k++)
				s->values[i * nr_members * NR_VALUES + k] =
					s->values[2 * i * nr_members * NR_VALUES + k];
		s->nr = SAMPLE_MAX_NR / 2;
		s->every *= 2;
	}
	s->every = s->every ? s->every : 1;
	if (s->seen++ % s->every)
		return 0;
	values = alloc_grow(s->values, s->nr, &s->max, 8, nr_members * NR_VALUES * sizeof(*values));
	if (!values)
		return -ENOMEM;
	s->values = values;
	values += s->nr++ * nr_members * NR_VALUES;
	for (size_t i = 0; i < nr_members; i++) {
		values[i * NR_VALUES + OFFSET] = (float)(events[i].begin - events[0].begin);
		values[i * NR_VALUES + IDLE] = (float)collective_idle(&events[i], done);
	}
	return 0;
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static double quantile(float *values, size_t nr, double part)
{
	qsort(values, nr, sizeof(*values), compare_floats);
	return (double)values[(size_t)(part * (double)(nr - 1) + 0.5)];
}

/* The median of how far a rank comes behind the others, and of how far that is from its median. */
static double lateness_of(const struct collective_sample *s, size_t nr_members, size_t member,
			  float *late, float *others, double *varies)
{
	double median;

	for (size_t i = 0; i < s->nr; i++) {
		const float *at = s->values + i * nr_members * NR_VALUES;
		size_t n = 0;

		for (size_t k = 0; k < nr_members; k++)
			if (k != member)
				others[n++] = at[k * NR_VALUES + OFFSET];
		late[i] = at[member * NR_VALUES + OFFSET] - (float)quantile(others, n, 0.5);
	}
	median = quantile(late, s->nr, 0.5);
	for (size_t i = 0; i < s->nr; i++)
		late[i] = fabsf(late[i] - (float)median);
	*varies = quantile(late, s->nr, 0.5);
	return median;
}

/* Half the distance of the quartiles of the others' waits. */
static double spread_of_others(const struct collective_sample *s, size_t nr_members, size_t member,
			       float *idle)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nr * nr_members; i++)
		if (i % nr_members != member)
			idle[n++] = s->values[i * NR_VALUES + IDLE];
	return (quantile(idle, n, 0.75) - quantile(idle, n, 0.25)) / 2;
}

/* 0 or -ENOMEM. */
static int check_stands_out(struct collective_member *m, size_t member, size_t nr_members,
			    const struct collective_sample *s)
{
	float *scratch;
	double late, varies, others;

	m->verdict = COLLECTIVE_UNSTEADY;
	if (!s->nr)
		return 0;
	scratch = alloc_zero(s->nr * nr_members + nr_members, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	late = lateness_of(s, nr_members, member, scratch, scratch + s->nr, &varies);
	others = spread_of_others(s, nr_members, member, scratch);
	alloc_free(scratch);
	m->varies_ns = (uint64_t)varies;
	if (late > 0 && (late >= STANDS_OUT * varies || late >= STANDS_OUT * others))
		m->verdict = COLLECTIVE_LATE;
	return 0;
}

/* The chance that one of `nr` lanes comes last at least `last` times of `of`, were each as
 * likely. */
static double chance(uint64_t last, uint64_t of, size_t nr)
{
	double p = 1.0 / (double)nr, sum = 0;

	for (uint64_t k = last; k <= of; k++) {
		double n = (double)of, x = (double)k;
		double ways = lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1);
		double term = exp(ways + x * log(p) + (n - x) * log(1 - p));

		sum += term;
		if (k > last && term < sum * 1e-12)
			break;
	}
	return fmin(1, sum * (double)nr);
}

enum collective_cause collective_main_cause(const struct collective_member *m)
{
	int best = 0;

	for (int i = 1; i < COLLECTIVE_NR_CAUSES; i++)
		if (m->causes[i] > m->causes[best])
			best = i;
	return (enum collective_cause)best;
}

int collective_judge(struct collective_group *g, const struct collective_sample *s)
{
	uint64_t skewed = g->nr_class[COLLECTIVE_SKEW];
	int ret = 0;

	for (size_t i = 0; i < g->nr_members && !ret; i++) {
		struct collective_member *m = &g->members[i];
		enum collective_cause cause = collective_main_cause(m);

		/* single ones count for nothing: nine of ten collectives may be in order */
		if (skewed * 10 < g->nr || m->nr_last * 2 <= skewed ||
		    chance(m->nr_last, skewed, g->nr_members) >= LATE_CHANCE)
			continue;
		if (cause == COLLECTIVE_KERNEL || cause == COLLECTIVE_COPY)
			m->verdict = COLLECTIVE_LATE;
		else
			ret = check_stands_out(m, i, g->nr_members, s);
	}
	return ret;
}
