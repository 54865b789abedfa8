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
};

struct grid *summary_grid(const struct summary *s, const struct grid_column *columns, size_t nr)
{
	struct grid *grid = grid_create(columns, nr, s->format, s->width, ui_colour(STDOUT_FILENO));

	grid_units(grid, s->units);
	grid_names(grid, s->names);
	grid_order(grid, s->sort, s->rows);
	return grid;
}

bool summary_adds(const struct summary *s, size_t nr_rows)
{
	return s->sort || !s->rows || nr_rows < s->rows;
}

int64_t summary_begin(struct query *q)
{
	struct wall wall;

	wall_read(q, NULL, &wall);
	return wall.begin;
}

struct wall summary_wall(struct summary *s)
{
	struct wall wall;

	if (s->digest)
		return s->digest->wall;
	wall_read(s->q, &s->filter, &wall);
	if (wall.has_startup)
		wall_start(&wall, query_number(s->q->db, wall_first_sql(s->q), 0));
	return wall;
}

struct digest *summary_digest(struct summary *s)
{
	if (!s->digest) {
		s->digest = calloc(1, sizeof(*s->digest));
		if (!s->digest)
			ui_die_memory();
		db_check(s->q, digest_read(s->digest, s->q, &s->filter));
	}
	return s->digest;
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
static void explain_empty_table(const struct summary *s)
{
	const char *path = s->q->path;
	char options[SLICE_OPTIONS_SIZE];

	if (slice_is_set(&s->filter))
		ui_say("%s: no %s in this part of the trace (%s)", path, what[s->by][0],
		       slice_options(&s->filter, options));
	else if (s->by == SUMMARY_API || (s->by == SUMMARY_ERROR && !s->digest->nr_calls))
		ui_say("%s: no API call was recorded; trace in mode hip, the default of rtl trace",
		       path);
	else if (s->by == SUMMARY_STREAM)
		ui_say("%s: no stream is known, because no calls were recorded; trace in mode hip, or use "
		       "--by gpu",
		       path);
	else if (s->by == SUMMARY_COUNTER)
		ui_say("%s: no counters were recorded; rtl trace --pmc counts", path);
	else if (s->by == SUMMARY_COLLECTIVE)
		ui_say("%s: no collective of several GPUs; of ranks with a trace each, give the merged one (rtl merge)",
		       path);
	else if (s->by == SUMMARY_RANGE || s->by == SUMMARY_MARKER)
		ui_say("%s: the program set no %s (roctxRangePush)", path, what[s->by][1]);
	else if (s->by == SUMMARY_KERNEL && s->metrics)
		ui_say("%s: the counters of --metrics %s were not recorded; trace with rtl trace --pmc %s",
		       path, s->metrics, s->metrics);
	else if (s->by == SUMMARY_KERNEL && !s->internal && left_out_kernels(s->q))
		ui_say("%s: rtl trace left out all kernels that were launched (--kernels, --not-kernels, --gpus)",
		       path);
	else if (s->by == SUMMARY_KERNEL && !s->internal)
		ui_say("%s: no kernel was launched; rtl summary says why", path);
}

/* Prints on stderr, below the table: the number of rows left out, and the verdict. */
static void report_rest(const struct summary *s, size_t nr)
{
	char time[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE];
	const char *names = what[s->by][nr != 1];

	if (s->rows && nr > s->rows)
		ui_say("... and %zu more (-n 0 shows all)", nr - (size_t)s->rows);
	if (s->nr_untimed)
		ui_say("%s of them have no valid times: they count in CALLS, not in the times",
		       ui_count(count, s->nr_untimed));
	if (s->by == SUMMARY_KERNEL && s->metrics)
		ui_say("%s: %zu metrics of kernels; the trace is %s", s->q->path, nr,
		       s->q->verdict.line);
	else if (s->by == SUMMARY_COUNTER)
		ui_say("%s: %zu %s of kernels; the trace is %s", s->q->path, nr, names,
		       s->q->verdict.line);
	else if (s->by == SUMMARY_ERROR)
		ui_say("%s: %zu %s; the trace is %s", s->q->path, nr, names, s->q->verdict.line);
	else if (s->q->converted)
		ui_say("%s: %zu %s, %s", s->q->path, nr, names, ui_time(time, s->all_ns));
	else
		ui_say("%s: %zu %s, %s; the trace is %s", s->q->path, nr, names,
		       ui_time(time, s->all_ns), s->q->verdict.line);
}

void summary_free(struct summary *s)
{
	if (s->digest)
		digest_fini(s->digest);
	free(s->digest);
	kinds_fini(&s->kinds);
	findings_fini(&s->findings);
	sqlite3_finalize(s->occupancy);
	slice_fini(&s->filter);
	query_close(s->q);
	free(s);
}

/* ---- printing ---- */

/* Prints one table. The number of its rows. */
static size_t print_table(struct summary *s)
{
	static size_t (*const printers[SUMMARY_NR])(struct summary *) = {
		[SUMMARY_OVERVIEW] = summary_overview_print,
		[SUMMARY_KERNEL] = summary_group_print,
		[SUMMARY_API] = summary_group_print,
		[SUMMARY_COPY] = summary_group_print,
		[SUMMARY_MARKER] = summary_group_print,
		[SUMMARY_STREAM] = summary_lane_print,
		[SUMMARY_GPU] = summary_lane_print,
		[SUMMARY_COUNTER] = summary_counter_print,
		[SUMMARY_RANGE] = summary_range_print,
		[SUMMARY_PROCESS] = summary_more_processes,
		[SUMMARY_RANK] = summary_more_processes,
		[SUMMARY_GRAPH] = summary_more_graphs,
		[SUMMARY_ERROR] = summary_more_errors,
		[SUMMARY_GAP] = summary_more_gaps,
		[SUMMARY_PATH] = summary_path_print,
		[SUMMARY_COLLECTIVE] = summary_collective_print,
	};
	size_t nr;

	s->stats = stats_create(0);
	s->nr_untimed = s->nr_joined = s->nr_errors = s->all_ns = 0;
	nr = s->by == SUMMARY_KERNEL && s->metrics ? summary_metrics_print(s) : printers[s->by](s);
	stats_destroy(s->stats);
	s->stats = NULL;
	if (s->by == SUMMARY_OVERVIEW)
		return nr;
	if (!nr)
		explain_empty_table(s);
	if (s->format == GRID_TEXT)
		report_rest(s, nr);
	return nr;
}

void summary_print(struct summary *s, const char *by)
{
	bool several = strchr(by, ',') != NULL, json = s->format == GRID_JSON;
	uint64_t rows = s->rows;
	const char *at = by;

	if (several && s->format == GRID_CSV)
		ui_die(STATUS_USAGE, "--by=%s: a csv file is one table; run rtl summary for each",
		       by);
	do {
		const char *word = at;

		s->by = (enum summary_by)opts_next_choice(SUMMARY_CHOICES, &at);
		s->rows = rows == UINT64_MAX && s->by == SUMMARY_OVERVIEW ? 0 :
			  rows == UINT64_MAX && s->format == GRID_TEXT	  ? 20 :
			  rows == UINT64_MAX				  ? 0 :
									    rows;
		if (s->by == SUMMARY_OVERVIEW && s->format == GRID_CSV)
			ui_die(STATUS_USAGE, "--by=overview: is no table; use --format json");
		if (several && json)
			ui_putf("%s\"%.*s\":", word == by ? "{" : ",", (int)strcspn(word, ","),
				word);
		else if (several) {
			ui_put(word == by ? "" : "\n");
			ui_putf("%.*s:\n", (int)strcspn(word, ","), word);
		}
		if (!print_table(s) && several && s->format == GRID_TEXT)
			ui_put("none\n");
	} while (*at);
	if (several && json)
		ui_put("}\n");
	ui_flush();
}

void summary_print_overview(const char *path)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (!s)
		ui_die_memory();
	s->width = ui_columns(STDERR_FILENO, 0);
	s->q = db_open(path);
	ui_output(stderr);
	print_table(s);
	ui_output(stdout);
	summary_free(s);
}
