/* SPDX-License-Identifier: MIT */
/* diff_collectives.c - what a run has of collectives of several GPUs: rows for each function, or
 * kernel, on each communicator or queue, and for each rank that is late
 *
 * Those of class inconclusive are counted, and have no times.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/collective.h"
#include "analysis/diff.h"
#include "base/alloc.h"
#include "query/query.h"

struct reader {
	struct diff run; /* on side 0: of single collectives, and of groups */
	struct collectives all;
	char *name; /* of the last collective */
	size_t max;
	const char *name_of;
	size_t channel_of;
};

/* "ncclAllReduce, communicator 0", with ", rank 2" if `party` is given; valid until the next one.
 * NULL: out of memory. */
static const char *name_of(struct reader *r, const char *name, bool by_calls, size_t channel,
			   const char *party)
{
	size_t size = strlen(name) + (party ? strlen(party) : 0) + 64;

	if (size > r->max) {
		char *grown = alloc_resize(r->name, size, 1);

		if (!grown)
			return NULL;
		r->name = grown;
		r->max = size;
	}
	snprintf(r->name, r->max, "%s, %s %zu%s%s", name, by_calls ? "communicator" : "queue",
		 channel, party ? ", " : "", party ? party : "");
	return r->name;
}

static int add(struct diff *d, int side, enum diff_measure measure, const char *name, int64_t value)
{
	return name ? diff_add(d, side, DIFF_COLLECTIVE, measure, name, &value, 1) : -ENOMEM;
}

static int see(void *arg, const struct collective_one *one)
{
	struct reader *r = arg;
	int ret;

	if (one->class == COLLECTIVE_INCONCLUSIVE)
		return 0;
	/* one is mostly like the one before */
	if (r->name_of != one->name || r->channel_of != one->channel) {
		if (!name_of(r, one->name, one->by_calls, one->channel, NULL))
			return -ENOMEM;
		r->name_of = one->name;
		r->channel_of = one->channel;
	}
	ret = add(&r->run, 0, DIFF_MEDIAN, r->name, one->skew_ns + one->transfer_ns);
	if (!ret)
		ret = add(&r->run, 0, DIFF_SKEW, r->name, one->skew_ns);
	return ret ? ret : add(&r->run, 0, DIFF_TRANSFER, r->name, one->transfer_ns);
}

/* Medians: of single ones, or these. Sums: of all groups of the name, since sets of ranks may have
 * communicators of the same number. */
static int add_values(struct diff *d, int side, struct diff_row *row)
{
	struct diff_side *all = &row->sides[0];
	int64_t total = 0;
	int ret = 0;

	for (size_t i = 0; i < all->nr; i++)
		total += all->values[i];
	if (!diff_is_median(row->measure))
		return add(d, side, row->measure, row->name, total);
	if (row->measure == DIFF_MEDIAN)
		ret = add(d, side, DIFF_TOTAL, row->name, total);
	if (ret)
		return ret;
	if (!d->pooled)
		return add(d, side, row->measure, row->name, compare_median(all->values, all->nr));
	return diff_add(d, side, DIFF_COLLECTIVE, row->measure, row->name, all->values, all->nr);
}

static int add_group(struct reader *r, const struct collective_group *g)
{
	const char *name = name_of(r, g->name, g->by_calls, g->channel, NULL);
	uint64_t wait = 0;
	int ret = add(&r->run, 0, DIFF_COUNT, name, (int64_t)g->nr);

	for (size_t i = 0; i < g->nr_members; i++)
		wait += g->members[i].wait_ns;
	if (!ret && g->nr > g->nr_class[COLLECTIVE_INCONCLUSIVE])
		ret = add(&r->run, 0, DIFF_WAIT, name, (int64_t)wait);
	for (size_t i = 0; i < g->nr_members && !ret; i++) {
		const struct collective_member *m = &g->members[i];

		if (m->verdict == COLLECTIVE_LATE)
			ret = add(&r->run, 0, DIFF_LATE,
				  name_of(r, g->name, g->by_calls, g->channel,
					  r->all.parties[m->party].name),
				  (int64_t)m->late_ns);
	}
	return ret;
}

int diff_add_collectives(struct diff *d, int side, struct query *q)
{
	struct reader r = { .name_of = NULL };
	int ret = 0;

	if (!collective_may_be(q))
		return 0;
	ret = collective_read(q, NULL, see, &r, &r.all);
	for (size_t i = 0; !ret && i < r.all.nr_groups; i++)
		ret = add_group(&r, &r.all.groups[i]);
	for (size_t i = 0; !ret && i < r.run.nr; i++)
		ret = add_values(d, side, &r.run.rows[i]);
	collective_fini(&r.all);
	diff_fini(&r.run);
	alloc_free(r.name);
	return ret == -ENOMEM ? query_fail_memory(q) : ret;
}
