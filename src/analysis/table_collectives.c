/* SPDX-License-Identifier: MIT */
/* table_collectives.c - collectives: a row for each rank of each, and who is late */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective.h"
#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "base/regular.h"
#include "query/figure.h"

enum {
	C_LATE,
	C_LAST,
	C_WAIT,
	C_RANK,
	C_CAUSE,
	C_CALLS,
	C_CLASS,
	C_SKEW,
	C_TRANSFER,
	C_BANDWIDTH,
	C_NAME,
	C_RANKS,
	C_CHANNEL,
	C_BYTES,
	C_NR_TRANSFER,
	C_NR_SKEW,
	C_NR_MIXED,
	C_NR_INCONCLUSIVE,
	C_WORST,
	C_WORST_BEGIN,
	C_VERDICT,
	C_NR
};

static const struct sheet_column columns[C_NR] = {
	[C_LATE] = { "late_ns", "LATE", SHEET_TIME },
	[C_LAST] = { "last", "LAST", SHEET_COUNT },
	[C_WAIT] = { "wait_ns", "WAITS", SHEET_TIME },
	[C_RANK] = { "rank", "RANK", SHEET_NAME },
	[C_CAUSE] = { "cause", "CAUSE", SHEET_NAME },
	[C_CALLS] = { "calls", "CALLS", SHEET_COUNT },
	[C_CLASS] = { "class", "CLASS", SHEET_NAME, 2 },
	[C_SKEW] = { "skew_mean_ns", "SKEW", SHEET_TIME, 1 },
	[C_TRANSFER] = { "transfer_mean_ns", "TRANSFER", SHEET_TIME, 1 },
	[C_BANDWIDTH] = { "bus_bandwidth", "BUS", SHEET_RATE, 3 },
	[C_NAME] = { "name", "NAME", SHEET_NAME, .symbol = true },
	[C_RANKS] = { "ranks", NULL, SHEET_COUNT },
	[C_CHANNEL] = { "channel", NULL, SHEET_NAME },
	[C_BYTES] = { "bytes", NULL, SHEET_BYTES },
	[C_NR_TRANSFER] = { "transfer", NULL, SHEET_COUNT },
	[C_NR_SKEW] = { "skew", NULL, SHEET_COUNT },
	[C_NR_MIXED] = { "mixed", NULL, SHEET_COUNT },
	[C_NR_INCONCLUSIVE] = { "inconclusive", NULL, SHEET_COUNT },
	[C_WORST] = { "worst_ns", NULL, SHEET_TIME },
	[C_WORST_BEGIN] = { "worst_begin_ns", NULL, SHEET_NUMBER },
	[C_VERDICT] = { "verdict", NULL, SHEET_NAME },
};

struct row {
	const struct collective_group *group;
	const struct collective_member *member;
};

static int order_of(const struct collective_member *m)
{
	return m->verdict == COLLECTIVE_LATE ? 0 : m->verdict == COLLECTIVE_IN_TIME ? 2 : 1;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	int x_order = order_of(x->member), y_order = order_of(y->member);

	if (x_order != y_order)
		return x_order - y_order;
	if (x->member->late_ns != y->member->late_ns)
		return x->member->late_ns > y->member->late_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

static enum collective_class main_class(const struct collective_group *g)
{
	int best = 0;

	for (int i = 1; i < COLLECTIVE_NR_CLASSES; i++)
		if (g->nr_class[i] > g->nr_class[best])
			best = i;
	return (enum collective_class)best;
}

static void add_row(struct sheet *out, const struct collectives *c, const struct row *row)
{
	const struct collective_group *g = row->group;
	const struct collective_member *m = row->member;
	uint64_t clear = g->nr - g->nr_class[COLLECTIVE_INCONCLUSIVE];
	char channel[64];
	struct sheet_cell cells[C_NR] = { { 0 } };

	snprintf(channel, sizeof(channel), "%s %zu", g->by_calls ? "communicator" : "queue",
		 g->channel);
	cells[C_LATE].num = m->late_ns;
	cells[C_LAST].num = m->nr_last;
	cells[C_WAIT].num = m->wait_ns;
	cells[C_RANK].text = c->parties[m->party].name;
	cells[C_CAUSE] = (struct sheet_cell){ .text = collective_causes[collective_main_cause(m)],
					      .none = !m->nr_last };
	cells[C_CALLS].num = g->nr;
	cells[C_CLASS].text = collective_classes[main_class(g)];
	cells[C_SKEW] =
		(struct sheet_cell){ .num = clear ? g->skew_ns / clear : 0, .none = !clear };
	cells[C_TRANSFER] =
		(struct sheet_cell){ .num = clear ? g->transfer_ns / clear : 0, .none = !clear };
	cells[C_BANDWIDTH] = (struct sheet_cell){
		.real = g->transfer_ns ? g->bus_bytes * 1e9 / (double)g->transfer_ns : 0,
		.none = !g->transfer_ns || g->bus_bytes <= 0
	};
	cells[C_NAME].text = g->name;
	cells[C_RANKS].num = g->nr_members;
	cells[C_CHANNEL].text = channel;
	cells[C_BYTES] = (struct sheet_cell){ .num = g->bytes, .none = !g->bytes };
	for (int i = 0; i < COLLECTIVE_NR_CLASSES; i++)
		cells[C_NR_TRANSFER + i].num = g->nr_class[i];
	cells[C_WORST] = (struct sheet_cell){ .num = m->worst_ns, .none = !m->nr_last };
	cells[C_WORST_BEGIN] =
		(struct sheet_cell){ .num = (uint64_t)m->worst_begin, .none = !m->nr_last };
	cells[C_VERDICT].text = collective_verdicts[m->verdict];
	sheet_row(out, cells);
}

/* What made the worst one late, as far as the trace names it: ", in range step"; "" otherwise. The
 * caller's to free. */
static char *detail_of(struct query *q, const struct collective_member *m)
{
	bool kernel = m->worst_kernel != 0, range = !kernel && m->worst_op && q->ours;
	const char *begin, *name = "";
	sqlite3_stmt *stmt = NULL;
	size_t size;
	char *text;

	if ((kernel || range) &&
	    query_prepare(
		    q, &stmt,
		    kernel ? QUERY_STRING :
			     "SELECT message FROM rtl_marker WHERE marker_id = (SELECT O.roctxId "
			     "FROM rocpd_op O WHERE O.id = ?1)") == 0)
		name = query_look_up(stmt, kernel ? m->worst_kernel : m->worst_op);
	begin = kernel ? ", mostly of " : *name ? ", in the range " : "";
	size = strlen(begin) + strlen(name) + 1;
	text = alloc_heap(size);
	if (text)
		snprintf(text, size, "%s%s", begin, name);
	sqlite3_finalize(stmt);
	return text;
}

static int note_late(struct tables_job *job, const struct collectives *c, const struct row *row)
{
	const struct collective_group *g = row->group;
	const struct collective_member *m = row->member;
	char mean[FIGURE_SIZE], last[FIGURE_SIZE], all[FIGURE_SIZE], varies[FIGURE_SIZE];
	char *detail;

	figure_count(last, m->nr_last);
	figure_count(all, g->nr);
	figure_time(mean, m->late_ns / m->nr_last);
	if (m->verdict == COLLECTIVE_SLICED) {
		sheet_note(
			job->out,
			"%s was last in %s of %s %s, by %s on average, cause: %s; inconclusive, since that is within calls, and no longer than threads wait for a processor",
			c->parties[m->party].name, last, all, g->name, mean,
			collective_causes[collective_main_cause(m)]);
		return 0;
	}
	if (m->verdict == COLLECTIVE_UNSTEADY) {
		sheet_note(
			job->out,
			"%s was last in %s of %s %s, by %s on average, cause: %s; inconclusive, since that varies by %s, as where processes wait for a processor",
			c->parties[m->party].name, last, all, g->name, mean,
			collective_causes[collective_main_cause(m)],
			figure_time(varies, m->varies_ns));
		return 0;
	}
	detail = detail_of(job->t->q, m);
	if (!detail)
		return -ENOMEM;
	sheet_note(job->out, "%s is late: last in %s of %s %s, by %s on average; cause: %s%s",
		   c->parties[m->party].name, last, all, g->name, mean,
		   collective_causes[collective_main_cause(m)], detail);
	alloc_free(detail);
	return 0;
}

static void note_rest(struct sheet *out, const struct collectives *c)
{
	char text[FIGURE_SIZE];

	table_clocks_notes(out, &c->clocks);
	for (size_t i = 0; i < c->nr_orders; i++) {
		const struct collective_order *o = &c->orders[i];

		sheet_note(
			out,
			"the order differs: collective %s is %s on %s and %s on %s; %llu such in all",
			figure_count(text, o->number), o->names[0], c->parties[o->parties[0]].name,
			o->names[1], c->parties[o->parties[1]].name, (unsigned long long)o->count);
	}
	if (c->nr_incomplete)
		sheet_note(out, "%s collectives were not reached by all ranks",
			   figure_count(text, c->nr_incomplete));
	if (c->nr_alone)
		sheet_note(
			out,
			"%s kernels of collectives are on one rank alone: merge the traces of all ranks (rtl merge)",
			figure_count(text, c->nr_alone));
	if (c->nr_unclear)
		sheet_note(
			out,
			"%s kernels of collectives are left out: which ranks share a communicator is not known",
			figure_count(text, c->nr_unclear));
}

static int add_rows(struct tables_job *job, const struct collectives *c)
{
	size_t nr = 0, at = 0;
	struct row *rows;
	int ret = 0;

	for (size_t i = 0; i < c->nr_groups; i++)
		nr += c->groups[i].nr_members;
	rows = alloc_zero(nr + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_groups; i++) {
		job->out->all_ns += c->groups[i].skew_ns + c->groups[i].transfer_ns;
		for (size_t k = 0; k < c->groups[i].nr_members; k++)
			rows[at++] = (struct row){ &c->groups[i], &c->groups[i].members[k] };
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < nr; i++)
		add_row(job->out, c, &rows[i]);
	for (size_t i = 0; ret == 0 && i < nr && rows[i].member->verdict; i++)
		ret = note_late(job, c, &rows[i]);
	note_rest(job->out, c);
	alloc_free(rows);
	return ret;
}

int table_collectives_read(struct tables *t, const struct collectives **out)
{
	char why[REGULAR_ERROR_SIZE];
	regex_t more;
	int ret;

	*out = t->matched;
	if (t->matched)
		return 0;
	if (t->collectives && regular_compile(t->collectives, &more, why))
		return query_fail(t->q, -EINVAL, "%s: %s", t->collectives, why);
	*out = t->matched = alloc_zero(1, sizeof(*t->matched));
	ret = t->matched ?
		      collective_read(t->q, t->collectives ? &more : NULL, NULL, NULL, t->matched) :
		      -ENOMEM;
	if (t->collectives)
		regfree(&more);
	if (ret && t->matched) {
		collective_fini(t->matched);
		alloc_free(t->matched);
		t->matched = NULL;
	}
	return ret == -ENOMEM ? query_fail_memory(t->q) : ret;
}

int table_collectives_end(struct tables_job *job)
{
	const struct collectives *c;
	int ret = table_collectives_read(job->t, &c);

	sheet_columns(job->out, columns, C_NR);
	if (ret == 0 && add_rows(job, c))
		ret = query_fail_memory(job->t->q);
	return ret;
}
