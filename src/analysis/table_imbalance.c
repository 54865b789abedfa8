/* SPDX-License-Identifier: MIT */
/* table_imbalance.c - kernels and ranges whose time differs between ranks and GPUs, and where and
 * when one is slow
 *
 * A row for each party that is slow in a part of the run, the largest loss first; then one for each
 * other name, the longest total first.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/imbalance.h"
#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "base/regular.h"
#include "query/figure.h"

enum {
	C_LOST,
	C_RANK,
	C_RATIO,
	C_FROM,
	C_TO,
	C_CALLS,
	C_TOTAL,
	C_MAX,
	C_SLOWEST,
	C_NAME,
	C_KIND,
	C_MEDIAN,
	C_OTHERS,
	C_RANKS,
	C_HOST,
	C_GPU,
	C_VERDICT,
	C_NR
};

static const struct sheet_column columns[C_NR] = {
	[C_LOST] = { "lost_ns", "LOST", SHEET_TIME },
	[C_RANK] = { "rank", "RANK", SHEET_NAME },
	[C_RATIO] = { "of_others", "OF OTHERS", SHEET_RATIO },
	[C_FROM] = { "from_ns", "FROM", SHEET_SPAN },
	[C_TO] = { "to_ns", "TO", SHEET_SPAN },
	[C_CALLS] = { "calls", "CALLS", SHEET_COUNT, 2 },
	[C_TOTAL] = { "total_ns", "TOTAL", SHEET_TIME, 3 },
	[C_MAX] = { "max_of_mean", "MAX/MEAN", SHEET_RATIO, 1 },
	[C_SLOWEST] = { "slowest", "SLOWEST", SHEET_NAME, 4 },
	[C_NAME] = { "name", "NAME", SHEET_NAME, .symbol = true },
	[C_KIND] = { "kind", NULL, SHEET_NAME },
	[C_MEDIAN] = { "median_ns", NULL, SHEET_TIME },
	[C_OTHERS] = { "others_ns", NULL, SHEET_TIME },
	[C_RANKS] = { "ranks", NULL, SHEET_COUNT },
	[C_HOST] = { "host", NULL, SHEET_NAME },
	[C_GPU] = { "gpu", NULL, SHEET_NUMBER },
	[C_VERDICT] = { "verdict", NULL, SHEET_NAME },
};

struct row {
	const struct imbalance_name *name;
	const struct imbalance_slow *slow; /* NULL: none is */
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	uint64_t x_lost = x->slow ? x->slow->lost_ns : 0, y_lost = y->slow ? y->slow->lost_ns : 0;

	if (!x->slow != !y->slow)
		return x->slow ? -1 : 1;
	if (x_lost != y_lost)
		return x_lost > y_lost ? -1 : 1;
	if (x->name->total_ns != y->name->total_ns)
		return x->name->total_ns > y->name->total_ns ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->slow < y->slow ? -1 : x->slow > y->slow;
}

static bool is_whole(const struct imbalance_slow *s)
{
	return s->first == 0 && s->last + 1 == s->nr_blocks;
}

static void add_row(struct tables_job *job, const struct imbalance *all, const struct row *row,
		    int64_t begin)
{
	const struct imbalance_name *n = row->name;
	const struct imbalance_slow *s = row->slow;
	const struct collective_party *party = s ? &all->parties[s->party] : NULL;
	double mean = (double)n->total_ns / (double)n->nr_parties;
	struct sheet_cell cells[C_NR] = { { 0 } };

	cells[C_LOST].num = s ? s->lost_ns : 0;
	cells[C_RANK] = (struct sheet_cell){ .text = s ? party->name : NULL, .none = !s };
	cells[C_RATIO] = (struct sheet_cell){ .real = s ? s->ratio : 0, .none = !s };
	cells[C_FROM] =
		(struct sheet_cell){ .num = s ? (uint64_t)(s->begin - begin) : 0, .none = !s };
	cells[C_TO] = (struct sheet_cell){ .num = s ? (uint64_t)(s->end - begin) : 0, .none = !s };
	cells[C_CALLS].num = s ? s->calls : n->calls;
	cells[C_TOTAL].num = n->total_ns;
	cells[C_MAX] = (struct sheet_cell){ .real = mean > 0 ? (double)n->slowest_ns / mean : 0,
					    .none = mean <= 0 };
	cells[C_SLOWEST].text = all->parties[n->slowest].name;
	cells[C_NAME].text = n->name;
	cells[C_KIND].text = n->is_range ? "range" : "kernel";
	cells[C_MEDIAN] = (struct sheet_cell){ .num = s ? (uint64_t)s->median_ns : 0, .none = !s };
	cells[C_OTHERS] = (struct sheet_cell){ .num = s ? (uint64_t)s->others_ns : 0, .none = !s };
	cells[C_RANKS].num = n->nr_parties;
	cells[C_HOST] =
		(struct sheet_cell){ .text = s && party->process ? party->process->host : NULL,
				     .none = !s || !party->process || !*party->process->host };
	cells[C_GPU] = (struct sheet_cell){ .num = s ? (uint64_t)party->gpu : 0,
					    .none = !s || party->gpu < 0 };
	cells[C_VERDICT].text = s ? "slow" : n->is_judged ? "" : "not judged";
	sheet_row(job->out, cells);
}

static void note_slow(struct sheet *out, const struct imbalance *all, const struct row *row,
		      int64_t begin)
{
	const struct imbalance_slow *s = row->slow;
	char median[FIGURE_SIZE], others[FIGURE_SIZE], calls[FIGURE_SIZE];

	figure_time(median, (uint64_t)s->median_ns);
	figure_time(others, (uint64_t)s->others_ns);
	figure_count(calls, s->calls);
	if (is_whole(s))
		sheet_note(
			out,
			"%s is slow throughout: %s takes %s there, %s on the others, in %s calls",
			all->parties[s->party].name, row->name->name, median, others, calls);
	else
		sheet_note(
			out,
			"%s is slow from %.3f s to %.3f s: %s takes %s there, %s on the others, in %s calls",
			all->parties[s->party].name, (double)(s->begin - begin) / 1e9,
			(double)(s->end - begin) / 1e9, row->name->name, median, others, calls);
}

static int add_rows(struct tables_job *job, const struct imbalance *all)
{
	int64_t begin = tables_wall(job->t).begin;
	size_t nr = 0, nr_slow = 0, nr_open = 0;
	struct row *rows;

	for (size_t i = 0; i < all->nr_names; i++)
		nr += all->names[i].nr_slow + 1;
	rows = alloc_zero(nr + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 0; i < all->nr_names; i++) {
		const struct imbalance_name *n = &all->names[i];

		job->out->all_ns += n->total_ns;
		nr_open += !n->is_judged;
		for (size_t k = 0; k < n->nr_slow; k++)
			rows[nr++] = (struct row){ n, &n->slow[k] };
		nr_slow += n->nr_slow;
		if (!n->nr_slow)
			rows[nr++] = (struct row){ n, NULL };
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < nr; i++)
		add_row(job, all, &rows[i], begin);
	for (size_t i = 0; i < nr_slow && i < 20; i++)
		note_slow(job->out, all, &rows[i], begin);
	if (nr_slow > 20)
		sheet_note(job->out, "%zu more are in the table", nr_slow - 20);
	if (nr_open)
		sheet_note(
			job->out,
			"not judged: %zu of %zu names, of which fewer than 3 ranks or GPUs have %d calls, or which are collectives",
			nr_open, all->nr_names, IMBALANCE_CALLS);
	alloc_free(rows);
	return 0;
}

/* The finding slow-rank has read it; it does not know the user's collectives. */
static const struct imbalance *known_of(const struct tables *t)
{
	return t->collectives ? NULL : t->findings.imbalance;
}

struct state {
	struct imbalance all;
	struct imbalance_reader *reader;
};

int table_imbalance_begin(struct tables_job *job)
{
	struct state *s = job->state = alloc_zero(1, sizeof(*s));

	if (!s)
		return query_fail_memory(job->t->q);
	return known_of(job->t) ? 0 : imbalance_begin(job->t->q, &s->all, &s->reader, &job->reader);
}

int table_imbalance_end(struct tables_job *job)
{
	struct tables *t = job->t;
	const struct imbalance *all = known_of(t);
	struct state *s = job->state;
	char why[REGULAR_ERROR_SIZE];
	regex_t more;
	int ret = 0;

	if (t->collectives && regular_compile(t->collectives, &more, why))
		return query_fail(t->q, -EINVAL, "%s: %s", t->collectives, why);
	if (!all) {
		all = &s->all;
		ret = imbalance_end(s->reader, t->collectives ? &more : NULL);
	}
	if (t->collectives)
		regfree(&more);
	sheet_columns(job->out, columns, C_NR);
	if (ret == 0 && add_rows(job, all))
		ret = query_fail_memory(t->q);
	return ret;
}

void table_imbalance_done(struct tables_job *job)
{
	struct state *s = job->state;

	if (!s)
		return;
	imbalance_free(s->reader);
	imbalance_fini(&s->all);
	alloc_free(s);
}
