/* SPDX-License-Identifier: MIT */
/* collective_judge.c - which ranks are called late
 *
 * A rank that comes last by chance alone does so in an n-th of the collectives. That is a question
 * of counts, and not enough: hosts that share too few processors keep their order for hundreds of
 * collectives, since each is scheduled a slice behind the other. Their lateness is of the size of a
 * slice, and varies by as much. Where a rank is late by its host, it therefore has to stand out:
 * its lateness is several times what it varies by, or what the waits of the other ranks vary by. It
 * need not by as much if it was spent in the program's own code: who waits for a processor when a
 * collective is done waits within a call. If the hosts wait so long for processors that the one
 * that sleeps is last only in its share of them, it is called late where it was longer in its own
 * code than any other, and that time itself stands out. Kernels and copies are measured by the GPU,
 * and need no such proof; but where another host is late as often, the rank is not last in most,
 * and its kernels or copies have to stand out.
 *
 * What that is computed from is a sample of the collectives, evenly over the run.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_internal.h"
#include "base/alloc.h"

#define SAMPLE_MAX_NR 64 /* even: every other one is dropped when it is full */

/* Small, because collectives are not independent of each other: a rank that has lost its processor
 * is late for a few. */
#define LATE_CHANCE 0.001
/* Of 218 runs without a late rank on two busy processors none exceeds 6, and in none is the time in
 * the program's own code longer than that of the others; of 78 with a rank that sleeps for 50 ms
 * all exceed 3. */
#define STANDS_OUT 8.0
#define STANDS_OUT_OWN 2.0
/* Of a GPU's work: times of a GPU are its own. Of 20 runs of two GPUs, one with longer kernels, on
 * a machine with 14 threads for two processors, one was last in 12 to 17 of 24 in nine, since the
 * other's host came late as often; in these the excess is 6 to 2,000 times that. */
#define STANDS_OUT_GPU 4.0
/* How long the kernel lets another thread run: by ticks of 1 to 10 ms, some of them. Two threads
 * that take turns are late by exactly that, and it does not vary: of 20 runs of two threads on a
 * machine with other work, five had one last in 16 to 22 of 24, by 4 ms. */
#define SLICE_MIN_NS 0.7e6
#define SLICE_MAX_NS 30e6

int collective_judge_note(struct collective_sample *s, size_t nr_members,
			  const struct collective_event *events, int64_t done)
{
	struct collective_point *points;

	for (size_t i = 0; i < nr_members; i++)
		if (!events[i].has_before)
			return 0;
	if (s->nr == SAMPLE_MAX_NR) {
		for (size_t i = 1; i < SAMPLE_MAX_NR / 2; i++)
			memcpy(s->points + i * nr_members, s->points + 2 * i * nr_members,
			       nr_members * sizeof(*s->points));
		s->nr = SAMPLE_MAX_NR / 2;
		s->every *= 2;
	}
	s->every = s->every ? s->every : 1;
	if (s->seen++ % s->every)
		return 0;
	points = alloc_grow(s->points, s->nr, &s->max, 8, nr_members * sizeof(*points));
	if (!points)
		return -ENOMEM;
	s->points = points;
	points += s->nr++ * nr_members;
	for (size_t i = 0; i < nr_members; i++) {
		const struct collective_event *e = &events[i];

		points[i] = (struct collective_point){
			.from = (e->since > done ? e->since : done) + e->ahead,
			.to = e->begin + e->ahead,
			.offset = (float)(e->begin - events[0].begin),
			.idle = (float)collective_idle(e, done),
			.kernel = (float)e->kernel_ns,
			.copy = (float)e->copy_ns,
			.tid = e->tid,
		};
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
		const struct collective_point *at = s->points + i * nr_members;
		size_t n = 0;

		for (size_t k = 0; k < nr_members; k++)
			if (k != member)
				others[n++] = at[k].offset;
		late[i] = at[member].offset - (float)quantile(others, n, 0.5);
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
			idle[n++] = s->points[i].idle;
	return (quantile(idle, n, 0.75) - quantile(idle, n, 0.25)) / 2;
}

/* How long a member did something before the collectives, beside the others. */
struct own {
	bool is_known;
	double excess;	/* of the median over that of the others */
	double varies;	/* the median of the distance from its median */
	double highest; /* the 0.9 quantile of the others over their median */
};

static void measure(float *its, size_t nr_its, float *others, size_t nr, struct own *out)
{
	double median, usual;

	*out = (struct own){ 0 };
	if (!nr || !nr_its)
		return;
	median = quantile(its, nr_its, 0.5);
	usual = quantile(others, nr, 0.5);
	out->is_known = true;
	out->excess = median - usual;
	out->highest = quantile(others, nr, 0.9) - usual;
	for (size_t i = 0; i < nr_its; i++)
		its[i] = fabsf(its[i] - (float)median);
	out->varies = quantile(its, nr_its, 0.5);
}

/* What all hosts of a group did, which is read when it is first asked for. */
struct hosts {
	struct query *q;
	const struct collective_party *parties;
	float *own; /* of each point, as collective_host_read() has it; NULL: not read */
};

/* In the program's own code, of its host. `scratch`: a value for each point and one for each
 * sample. */
static int own_time(struct hosts *h, const struct collective_group *g, size_t member,
		    const struct collective_sample *s, float *scratch, struct own *out)
{
	float *others = scratch, *its, *own = h->own;
	size_t nr = 0, nr_its = 0;
	int ret = 0;

	*out = (struct own){ 0 };
	if (!own) {
		own = h->own = alloc_zero(s->nr * g->nr_members, sizeof(*own));
		ret = own ? collective_host_read(h->q, h->parties, g, s, own) :
			    query_fail_memory(h->q);
	}
	if (ret)
		return ret;
	for (size_t i = 0; i < s->nr * g->nr_members; i++)
		if (i % g->nr_members != member && own[i] >= 0)
			others[nr++] = own[i];
	its = others + nr;
	for (size_t i = 0; i < s->nr; i++)
		if (own[i * g->nr_members + member] >= 0)
			its[nr_its++] = own[i * g->nr_members + member];
	measure(its, nr_its, others, nr, out);
	return 0;
}

/* Whether the time in its own code explains half of the lateness; `is_enough`: nothing else is
 * asked. */
static bool is_own(const struct own *own, double late, bool is_enough)
{
	return own->excess >= late / 2 &&
	       (is_enough || (own->excess >= STANDS_OUT_OWN * own->varies &&
			      own->excess >= STANDS_OUT * own->highest));
}

/* A member that is last in its share of the collectives, but not in more than chance explains: it
 * is late if its kernels, or its copies, were longer in most collectives, and that stands out. */
static int check_gpu(struct query *q, struct collective_group *g, size_t member,
		     const struct collective_sample *s, enum collective_cause cause)
{
	float *its, *others;
	double late, varies;
	size_t nr = 0;
	struct own own;

	if (!s->nr)
		return 0;
	its = alloc_zero(s->nr * (g->nr_members + 1), sizeof(*its));
	if (!its)
		return query_fail_memory(q);
	others = its + s->nr;
	late = lateness_of(s, g->nr_members, member, its, others, &varies);
	for (size_t i = 0; i < s->nr * g->nr_members; i++) {
		const struct collective_point *p = &s->points[i];
		float ns = cause == COLLECTIVE_KERNEL ? p->kernel : p->copy;

		if (i % g->nr_members == member)
			its[i / g->nr_members] = ns;
		else
			others[nr++] = ns;
	}
	measure(its, s->nr, others, nr, &own);
	if (late > 0 && own.is_known && own.excess >= late / 2 && own.excess >= own.varies &&
	    own.excess >= STANDS_OUT_GPU * own.highest)
		g->members[member].verdict = COLLECTIVE_LATE;
	alloc_free(its);
	return 0;
}

/* `is_last`: more often than chance explains. */
static int check_stands_out(struct hosts *h, struct collective_group *g, size_t member,
			    const struct collective_sample *s, bool is_last)
{
	struct collective_member *m = &g->members[member];
	double late, varies, others, least;
	struct own own;
	bool is_steady, is_slice;
	float *scratch;
	int ret = 0;

	if (is_last)
		m->verdict = COLLECTIVE_UNSTEADY;
	if (!s->nr)
		return 0;
	scratch = alloc_zero((2 * s->nr + 1) * g->nr_members, sizeof(*scratch));
	if (!scratch)
		return query_fail_memory(h->q);
	late = lateness_of(s, g->nr_members, member, scratch, scratch + s->nr, &varies);
	others = spread_of_others(s, g->nr_members, member, scratch);
	least = varies < others ? varies : others;
	m->varies_ns = (uint64_t)varies;
	is_steady = is_last && late >= STANDS_OUT * least;
	is_slice = late > SLICE_MIN_NS && late < SLICE_MAX_NS;
	if (is_steady)
		m->verdict = COLLECTIVE_SLICED;
	if (is_steady && !is_slice) {
		m->verdict = COLLECTIVE_LATE;
	} else if (late > 0) {
		ret = own_time(h, g, member, s, scratch, &own);
		if (!ret &&
		    (own.is_known ? is_own(&own, late, is_last && late >= STANDS_OUT_OWN * least) :
				    is_steady))
			m->verdict = COLLECTIVE_LATE;
	}
	alloc_free(scratch);
	return ret;
}

/* The chance that one of `nr` parties comes last at least `last` times of `of`, were each as
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

int collective_judge(struct query *q, const struct collective_party *parties,
		     struct collective_group *g, const struct collective_sample *s)
{
	uint64_t skewed = g->nr_class[COLLECTIVE_SKEW];
	struct hosts hosts = { .q = q, .parties = parties };
	int ret = 0;

	for (size_t i = 0; i < g->nr_members && !ret; i++) {
		struct collective_member *m = &g->members[i];
		enum collective_cause cause = collective_main_cause(m);
		bool is_gpu = cause == COLLECTIVE_KERNEL || cause == COLLECTIVE_COPY;
		double by_chance = chance(m->nr_last, skewed, g->nr_members);
		bool is_last = m->nr_last * 2 > skewed && by_chance < LATE_CHANCE;
		bool has_share = m->nr_last && m->nr_last * g->nr_members >= skewed;

		/* single ones count for nothing: nine of ten collectives may be in order */
		if (skewed * 10 < g->nr)
			continue;
		if (is_last && is_gpu)
			m->verdict = COLLECTIVE_LATE;
		else if (is_gpu && has_share)
			ret = check_gpu(q, g, i, s, cause);
		else if (is_last || (has_share && !is_gpu))
			ret = check_stands_out(&hosts, g, i, s, is_last);
	}
	alloc_free(hosts.own);
	return ret;
}
