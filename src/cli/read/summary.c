/* SPDX-License-Identifier: MIT */
/* summary.c - the tables of `rtl summary`, one after the other, and what they share
 *
 * Not here: the tables themselves (summary.h lists their files), the options (cmd_summary.c).
 */
#include "cli/read/summary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/opts.h"
#include "cli/ui.h"

static const char *const what[SUMMARY_NR][2] = {
	[SUMMARY_OVERVIEW] = { "overview", "overviews" },
	[SUMMARY_KERNEL] = { "kernel", "kernels" },
	[SUMMARY_API] = { "API call", "API calls" },
	[SUMMARY_COPY] = { "copy kind", "copy kinds" },
	[SUMMARY_MARKER] = { "marker", "markers" },
	[SUMMARY_STREAM] = { "stream", "streams" },
	[SUMMARY_GPU] = { "GPU", "GPUs" },
	[SUMMARY_COUNTER] = { "counter", "counters" },
	[SUMMARY_RANGE] = { "range", "ranges" },
	[SUMMARY_PROCESS] = { "process", "processes" },
	[SUMMARY_RANK] = { "rank", "ranks" },
	[SUMMARY_GRAPH] = { "graph", "graphs" },
	[SUMMARY_ERROR] = { "kind of failed call", "kinds of failed calls" },
	[SUMMARY_GAP] = { "gap", "gaps" },
	[SUMMARY_PATH] = { "part of the critical path", "parts of the critical path" },
	[SUMMARY_COLLECTIVE] = { "rank of a collective", "ranks of collectives" },
	[SUMMARY_CLOCK] = { "clock of a host", "clocks of hosts" },
	[SUMMARY_IMBALANCE] = { "row of a kernel or range", "rows of kernels and ranges" },
	[SUMMARY_MPI] = { "call of MPI", "calls of MPI" },
};

/* The table of each of --by; TABLES_NR: none. */
static const enum tables_kind kinds[SUMMARY_NR] = {
	[SUMMARY_OVERVIEW] = TABLES_NR,	  [SUMMARY_KERNEL] = TABLES_KERNEL,
	[SUMMARY_API] = TABLES_API,	  [SUMMARY_COPY] = TABLES_COPY,
	[SUMMARY_MARKER] = TABLES_MARKER, [SUMMARY_STREAM] = TABLES_STREAM,
	[SUMMARY_GPU] = TABLES_GPU,	  [SUMMARY_COUNTER] = TABLES_COUNTER,
	[SUMMARY_RANGE] = TABLES_RANGE,	  [SUMMARY_PROCESS] = TABLES_PROCESS,
	[SUMMARY_RANK] = TABLES_RANK,	  [SUMMARY_GRAPH] = TABLES_GRAPH,
	[SUMMARY_ERROR] = TABLES_ERROR,	  [SUMMARY_GAP] = TABLES_GAP,
	[SUMMARY_PATH] = TABLES_PATH,	  [SUMMARY_COLLECTIVE] = TABLES_COLLECTIVE,
	[SUMMARY_CLOCK] = TABLES_CLOCK,	  [SUMMARY_IMBALANCE] = TABLES_IMBALANCE,
	[SUMMARY_MPI] = TABLES_MPI_CALLS,
};

int64_t summary_begin(struct query *q)
{
	struct wall wall;

	wall_read(q, NULL, &wall);
	return wall.begin;
}

struct digest *summary_digest(struct summary *s)
{
	struct digest *d;

	db_check(s->q, tables_digest(&s->tables, &d));
	return d;
}

static bool left_out_kernels(const struct query *q)
{
	return query_number(
		       q->db,
		       "SELECT EXISTS (SELECT 1 FROM rtl_loss WHERE reason IN ('filtered_kernel', "
		       "'filtered_gpu'))",
		       0) != 0;
}

/* Explains an empty table, if the trace lacks the records that it needs. */
static void explain_empty_table(struct summary *s, enum summary_by by)
{
	const char *path = s->q->path;
	char options[SLICE_OPTIONS_SIZE];

	if (slice_is_set(&s->tables.filter))
		ui_say("%s: no %s in this part of the trace (%s)", path, what[by][0],
		       slice_options(&s->tables.filter, options));
	else if (by == SUMMARY_API || (by == SUMMARY_ERROR && !summary_digest(s)->nr_calls))
		ui_say("%s: no API call was recorded; trace in mode hip, the default of rtl trace",
		       path);
	else if (by == SUMMARY_STREAM)
		ui_say("%s: no stream is known, because no calls were recorded; trace in mode hip, or use "
		       "--by gpu",
		       path);
	else if (by == SUMMARY_COUNTER)
		ui_say("%s: no counters were recorded; rtl trace --pmc counts", path);
	else if (by == SUMMARY_COLLECTIVE)
		ui_say("%s: no collective of several GPUs; of ranks with a trace each, give the merged one (rtl merge)",
		       path);
	else if (by == SUMMARY_IMBALANCE)
		ui_say("%s: no kernel or range is on several ranks or GPUs; of ranks with a trace each, give the merged one (rtl merge)",
		       path);
	else if (by == SUMMARY_MPI)
		ui_say("%s: no call of MPI was recorded; trace with rtl trace --mpi", path);
	else if (by == SUMMARY_RANGE || by == SUMMARY_MARKER)
		ui_say("%s: the program set no %s (roctxRangePush)", path, what[by][1]);
	else if (by == SUMMARY_KERNEL && s->tables.metrics)
		ui_say("%s: the counters of --metrics %s were not recorded; trace with rtl trace --pmc %s",
		       path, s->tables.metrics, s->tables.metrics);
	else if (by == SUMMARY_KERNEL && !s->tables.internal && left_out_kernels(s->q))
		ui_say("%s: rtl trace left out all kernels that were launched (--kernels, --not-kernels, --gpus)",
		       path);
	else if (by == SUMMARY_KERNEL && !s->tables.internal)
		ui_say("%s: no kernel was launched; rtl summary says why", path);
}

/* Prints on stderr, below the table: the number of rows left out, and the verdict. */
static void report_rest(const struct summary *s, enum summary_by by, const struct sheet *t,
			uint64_t rows)
{
	size_t nr = t->nr;
	char time[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE];
	const char *names = what[by][nr != 1];

	if (rows && nr > rows)
		ui_say("... and %zu more (-n 0 shows all)", nr - (size_t)rows);
	if (t->nr_untimed)
		ui_say("%s of them have no valid times: they count in CALLS, not in the times",
		       ui_count(count, t->nr_untimed));
	if (by == SUMMARY_KERNEL && s->tables.metrics)
		ui_say("%s: %zu metrics of kernels; the trace is %s", s->q->path, nr,
		       s->q->verdict.line);
	else if (by == SUMMARY_COUNTER)
		ui_say("%s: %zu %s of kernels; the trace is %s", s->q->path, nr, names,
		       s->q->verdict.line);
	else if (by == SUMMARY_ERROR)
		ui_say("%s: %zu %s; the trace is %s", s->q->path, nr, names, s->q->verdict.line);
	else if (s->q->converted)
		ui_say("%s: %zu %s, %s", s->q->path, nr, names, ui_time(time, t->all_ns));
	else
		ui_say("%s: %zu %s, %s; the trace is %s", s->q->path, nr, names,
		       ui_time(time, t->all_ns), s->q->verdict.line);
}

void summary_free(struct summary *s)
{
	tables_fini(&s->tables);
	query_close(s->q);
	free(s);
}

/* ---- --by ---- */

size_t summary_parse(const char *by, struct summary_part parts[SUMMARY_PARTS])
{
	size_t nr = 0;

	do {
		const char *word = by;
		enum summary_by one = (enum summary_by)opts_next_choice(SUMMARY_CHOICES, &by);
		struct summary_part *last = nr ? &parts[nr - 1] : NULL;

		if (last && last->split == TABLES_WHOLE && kinds[last->by] != TABLES_NR &&
		    (one == SUMMARY_RANK || one == SUMMARY_PROCESS) &&
		    tables_can_split(kinds[last->by])) {
			last->split = one == SUMMARY_RANK ? TABLES_BY_RANK : TABLES_BY_PROCESS;
			last->size = (size_t)(word - last->name) + strcspn(word, ",");
			continue;
		}
		if (nr == SUMMARY_PARTS)
			ui_die(STATUS_USAGE, "--by: too many tables");
		parts[nr++] = (struct summary_part){ one, TABLES_WHOLE, word, strcspn(word, ",") };
	} while (*by);
	return nr;
}

/* ---- printing ---- */

static uint64_t rows_of(const struct summary *s, enum summary_by by)
{
	if (s->rows != UINT64_MAX)
		return s->rows;
	return by != SUMMARY_OVERVIEW && s->style.format == GRID_TEXT ? 20 : 0;
}

static enum tables_kind kind_of(const struct summary *s, enum summary_by by)
{
	return by == SUMMARY_KERNEL && s->tables.metrics ? TABLES_METRICS : kinds[by];
}

/* What there is to say about a table. `rows`: as many are shown. */
static void say_rest(struct summary *s, enum summary_by by, const struct sheet *t, uint64_t rows)
{
	if (t->missing)
		ui_say("%s: %s", s->q->path, t->missing);
	for (size_t i = 0; s->style.format == GRID_TEXT && i < t->nr_notes; i++)
		ui_say("%s", t->notes[i]);
	if (!t->nr)
		explain_empty_table(s, by);
	if (s->style.format == GRID_TEXT)
		report_rest(s, by, t, rows);
}

static void read_tables(struct summary *s, const struct summary_part *parts, size_t nr,
			struct sheet *out)
{
	struct tables_want want[SUMMARY_PARTS];

	s->tables.q = s->q;
	/* all tables have as many rows */
	s->tables.most = rows_of(s, parts[0].by);
	s->tables.is_sorted = s->sort != NULL;
	for (size_t i = 0; i < nr; i++)
		want[i] = (struct tables_want){ kind_of(s, parts[i].by), parts[i].split };
	db_check(s->q, tables_read(&s->tables, want, nr, out));
}

void summary_make(struct summary *s, enum summary_by by, struct sheet *out)
{
	struct summary_part part = { by, TABLES_WHOLE, NULL, 0 };

	read_tables(s, &part, 1, out);
	sheet_put_last(out);
	say_rest(s, by, out, rows_of(s, by));
}

static void print_table(struct summary *s, const struct summary_part *part, struct sheet *t,
			bool several)
{
	uint64_t rows = rows_of(s, part->by);
	bool text = s->style.format == GRID_TEXT;

	if (text)
		sheet_put_last(t);
	grid_order(t, t->nr_columns ? s->sort : NULL, rows);
	if (t->nr || !text)
		grid_print(t, &s->style);
	say_rest(s, part->by, t, rows);
	if (!t->nr && several && text)
		ui_put("none\n");
}

static void put_head(const struct summary *s, const struct summary_part *part, bool first)
{
	if (s->style.format == GRID_JSON) {
		ui_putf("%s\"%.*s\":", first ? "{" : ",", (int)part->size, part->name);
	} else {
		ui_put(first ? "" : "\n");
		ui_putf("%.*s:\n", (int)part->size, part->name);
	}
}

void summary_print(struct summary *s, const char *by)
{
	struct summary_part parts[SUMMARY_PARTS], wanted[SUMMARY_PARTS];
	size_t nr = summary_parse(by, parts), nr_tables = 0, at = 0;
	struct sheet *tables = calloc(nr, sizeof(*tables));

	if (!tables)
		ui_die_memory();
	if (nr > 1 && s->style.format == GRID_CSV)
		ui_die(STATUS_USAGE, "--by=%s: a csv file is one table; run rtl summary for each",
		       by);
	for (size_t i = 0; i < nr; i++) {
		if (parts[i].by != SUMMARY_OVERVIEW)
			wanted[nr_tables++] = parts[i];
		else if (s->style.format == GRID_CSV)
			ui_die(STATUS_USAGE, "--by=overview: is no table; use --format json");
	}
	if (nr_tables)
		read_tables(s, wanted, nr_tables, tables);
	for (size_t i = 0; i < nr; i++) {
		if (nr > 1)
			put_head(s, &parts[i], i == 0);
		if (parts[i].by == SUMMARY_OVERVIEW)
			summary_overview_print(s);
		else
			print_table(s, &parts[i], &tables[at++], nr > 1);
	}
	if (nr > 1 && s->style.format == GRID_JSON)
		ui_put("}\n");
	ui_flush();
	for (size_t i = 0; i < nr; i++)
		sheet_fini(&tables[i]);
	free(tables);
}

void summary_print_overview(const char *path)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		ui_die_memory();
	s->style.width = ui_columns(STDERR_FILENO, 0);
	s->q = s->tables.q = db_open(path);
	ui_output(stderr);
	summary_overview_print(s);
	ui_output(stdout);
	summary_free(s);
}
