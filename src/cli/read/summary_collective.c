/* SPDX-License-Identifier: MIT */
/* summary_collective.c - collectives: a row for each rank of each, and who is late */
#include <math.h>
#include <stdlib.h>

#include "analysis/collective.h"
#include "base/regular.h"
#include "cli/exit_status.h"
#include "cli/read/summary.h"
#include "cli/ui.h"

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

static const struct grid_column columns[C_NR] = {
	[C_LATE] = { "late_ns", "LATE", GRID_TIME },
	[C_LAST] = { "last", "LAST", GRID_COUNT },
	[C_WAIT] = { "wait_ns", "WAITS", GRID_TIME },
	[C_RANK] = { "rank", "RANK", GRID_NAME },
	[C_CAUSE] = { "cause", "CAUSE", GRID_NAME },
	[C_CALLS] = { "calls", "CALLS", GRID_COUNT },
	[C_CLASS] = { "class", "CLASS", GRID_NAME, 2 },
	[C_SKEW] = { "skew_mean_ns", "SKEW", GRID_TIME, 1 },
	[C_TRANSFER] = { "transfer_mean_ns", "TRANSFER", GRID_TIME, 1 },
	[C_BANDWIDTH] = { "bus_bandwidth", "BUS", GRID_RATE, 3 },
	[C_NAME] = { "name", "NAME", GRID_NAME, .symbol = true },
	[C_RANKS] = { "ranks", NULL, GRID_COUNT },
	[C_CHANNEL] = { "channel", NULL, GRID_NAME },
	[C_BYTES] = { "bytes", NULL, GRID_BYTES },
	[C_NR_TRANSFER] = { "transfer", NULL, GRID_COUNT },
	[C_NR_SKEW] = { "skew", NULL, GRID_COUNT },
	[C_NR_MIXED] = { "mixed", NULL, GRID_COUNT },
	[C_NR_INCONCLUSIVE] = { "inconclusive", NULL, GRID_COUNT },
	[C_WORST] = { "worst_ns", NULL, GRID_TIME },
	[C_WORST_BEGIN] = { "worst_begin_ns", NULL, GRID_NUMBER },
	[C_VERDICT] = { "verdict", NULL, GRID_NAME },
};

struct row {
	const struct collective_group *group;
	const struct collective_member *member;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->member->is_late != y->member->is_late)
		return x->member->is_late ? -1 : 1;
	if (x->member->late_ns != y->member->late_ns)
		return x->member->late_ns > y->member->late_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
}

static enum collective_cause main_cause(const struct collective_member *m)
{
	int best = 0;

	for (int i = 1; i < COLLECTIVE_NR_CAUSES; i++)
		if (m->causes[i] > m->causes[best])
			best = i;
	return (enum collective_cause)best;
}

static enum collective_class main_class(const struct collective_group *g)
{
	int best = 0;

	for (int i = 1; i < COLLECTIVE_NR_CLASSES; i++)
		if (g->nr_class[i] > g->nr_class[best])
			best = i;
	return (enum collective_class)best;
}

static void add_row(struct grid *grid, const struct collectives *c, const struct row *row)
{
	const struct collective_group *g = row->group;
	const struct collective_member *m = row->member;
	uint64_t clear = g->nr - g->nr_class[COLLECTIVE_INCONCLUSIVE];
	char *channel = ui_format("%s %zu", g->by_calls ? "communicator" : "queue", g->channel);
	struct grid_cell cells[C_NR] = { { 0 } };

	cells[C_LATE].num = m->late_ns;
	cells[C_LAST].num = m->nr_last;
	cells[C_WAIT].num = m->wait_ns;
	cells[C_RANK].text = c->lanes[m->lane].name;
	cells[C_CAUSE] =
		(struct grid_cell){ .text = collective_causes[main_cause(m)], .none = !m->nr_last };
	cells[C_CALLS].num = g->nr;
	cells[C_CLASS].text = collective_classes[main_class(g)];
	cells[C_SKEW] = (struct grid_cell){ .num = clear ? g->skew_ns / clear : 0, .none = !clear };
	cells[C_TRANSFER] =
		(struct grid_cell){ .num = clear ? g->transfer_ns / clear : 0, .none = !clear };
	cells[C_BANDWIDTH] = (struct grid_cell){
		.real = g->transfer_ns ? g->bus_bytes * 1e9 / (double)g->transfer_ns : 0,
		.none = !g->transfer_ns || g->bus_bytes <= 0
	};
	cells[C_NAME].text = g->name;
	cells[C_RANKS].num = g->nr_members;
	cells[C_CHANNEL].text = channel;
	cells[C_BYTES] = (struct grid_cell){ .num = g->bytes, .none = !g->bytes };
	for (int i = 0; i < COLLECTIVE_NR_CLASSES; i++)
		cells[C_NR_TRANSFER + i].num = g->nr_class[i];
	cells[C_WORST] = (struct grid_cell){ .num = m->worst_ns, .none = !m->nr_last };
	cells[C_WORST_BEGIN] =
		(struct grid_cell){ .num = (uint64_t)m->worst_begin, .none = !m->nr_last };
	cells[C_VERDICT].text = m->is_late ? "late" : "";
	grid_row(grid, cells);
	free(channel);
}

/* What made the worst one late, as far as the trace names it: ", in range step", malloc'd. */
static char *detail_of(struct summary *s, const struct collective_member *m)
{
	sqlite3_stmt *stmt;
	char *text;

	if (m->worst_kernel) {
		stmt = db_query(s->q, QUERY_STRING);
		text = ui_format(", mostly of %s", query_look_up(stmt, m->worst_kernel));
	} else if (m->worst_marker && s->q->ours) {
		stmt = db_query(s->q, "SELECT message FROM rtl_marker WHERE marker_id = ?1");
		text = ui_format(", in the range %s", query_look_up(stmt, m->worst_marker));
	} else {
		return ui_format("%s", "");
	}
	sqlite3_finalize(stmt);
	return text;
}

static void say_late(struct summary *s, const struct collectives *c, const struct row *row)
{
	const struct collective_group *g = row->group;
	const struct collective_member *m = row->member;
	char mean[UI_NUMBER_SIZE], last[UI_NUMBER_SIZE], all[UI_NUMBER_SIZE];
	char *detail = detail_of(s, m);

	ui_say("%s is late: last in %s of %s %s, by %s on average; cause: %s%s",
	       c->lanes[m->lane].name, ui_count(last, m->nr_last), ui_count(all, g->nr), g->name,
	       ui_time(mean, m->late_ns / m->nr_last), collective_causes[main_cause(m)], detail);
	free(detail);
}

static void say_rest(const struct collectives *c)
{
	char text[UI_NUMBER_SIZE];

	for (size_t i = 0; i < c->nr_orders; i++) {
		const struct collective_order *o = &c->orders[i];

		ui_say("the order differs: collective %s is %s on %s and %s on %s; %llu such in all",
		       ui_count(text, o->number + 1), o->names[0], c->lanes[o->lanes[0]].name,
		       o->names[1], c->lanes[o->lanes[1]].name, (unsigned long long)o->count);
	}
	if (c->nr_incomplete)
		ui_say("%s collectives were not reached by all ranks",
		       ui_count(text, c->nr_incomplete));
	if (c->nr_alone)
		ui_say("%s kernels of collectives are on one rank alone: merge the traces of all ranks (rtl merge)",
		       ui_count(text, c->nr_alone));
	if (c->nr_unclear)
		ui_say("%s kernels of collectives are left out: which ranks share a communicator is not known",
		       ui_count(text, c->nr_unclear));
}

size_t summary_collective_print(struct summary *s)
{
	struct grid *grid = summary_grid(s, columns, C_NR);
	char why[REGULAR_ERROR_SIZE];
	struct collectives c;
	struct row *rows;
	regex_t more;
	size_t nr = 0, at = 0;

	if (s->collectives && regular_compile(s->collectives, &more, why))
		ui_die(STATUS_USAGE, "--collectives=%s: %s", s->collectives, why);
	db_check(s->q, collective_read(s->q, s->collectives ? &more : NULL, NULL, NULL, &c));
	if (s->collectives)
		regfree(&more);
	for (size_t i = 0; i < c.nr_groups; i++)
		nr += c.groups[i].nr_members;
	rows = calloc(nr + 1, sizeof(*rows));
	if (!rows)
		ui_die_memory();
	for (size_t i = 0; i < c.nr_groups; i++) {
		s->all_ns += c.groups[i].skew_ns + c.groups[i].transfer_ns;
		for (size_t k = 0; k < c.groups[i].nr_members; k++)
			rows[at++] = (struct row){ &c.groups[i], &c.groups[i].members[k] };
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < nr && summary_adds(s, i); i++)
		add_row(grid, &c, &rows[i]);
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	if (s->format == GRID_TEXT) {
		for (size_t i = 0; i < nr && rows[i].member->is_late; i++)
			say_late(s, &c, &rows[i]);
		say_rest(&c);
	}
	free(rows);
	collective_fini(&c);
	return nr;
}
