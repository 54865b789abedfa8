/* SPDX-License-Identifier: MIT */
/* cmd_summary.c - rtl summary: times by kernel, call, copy kind, marker, stream or GPU
 *
 * Not here: reading the rows (summary_rows.c), GPUs and streams (summary_lane.c), counters (summary_counter.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/summary.h"
#include "cli/ui.h"
#include "export/csv.h"

enum { O_ROWS, O_BY, O_DOMAIN, O_FORMAT, O_COLUMNS, O_UNITS, O_INTERNAL, O_WIDE };

static const struct opt options[] = {
	[O_ROWS] = { 'n', "rows", OPT_UINT, .arg = "N", .choices = "0..1000000000",
		     .help = "at most N rows; 0: all (20 in a table, else all)" },
	[O_BY] = { 'b', "by", OPT_CHOICE, .arg = "WHAT",
		   .choices = "kernel|api|copy|marker|stream|gpu|counter",
		   .help = "a row for each of them; counter: of each kernel" },
	[O_DOMAIN] = { 0, "domain", OPT_CHOICE, .arg = "DOMAIN", .choices = "hip|hsa",
		       .help = "with --by api: calls of hip or of hsa alone" },
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = GRID_FORMATS,
		       .help = "form of the output: table (default), csv, json",
		       .more = "csv and json have whole nanoseconds and bytes, and full names." },
	[O_COLUMNS] = { 0, "columns", OPT_CHOICE, .arg = "WHOSE", .choices = "rtl|rocprof",
			.help = "with --format csv: rtl's columns (default) or rocprof's",
			.more = "rocprof's are Name, Calls, TotalDurationNs, AverageNs, Percentage, for kernels, calls "
				"and copies, as in the files of rtl convert -f csv: --by kernel is stats.csv, "
				"--by copy copy_stats.csv, --by api --domain hip hip_stats.csv." },
	[O_UNITS] = { 'u', "units", OPT_CHOICE, .arg = "HOW", .choices = GRID_UNITS,
		      .help = "numbers: scaled (with units), raw, or auto (default)",
		      .more = "auto is scaled in a table and raw in csv and json." },
	[O_INTERNAL] = { 0, "internal", .help = "the runtime's internal kernels, not the program's",
			 .more = "The runtime uses them for copies and fills, which --by copy lists." },
	[O_WIDE] = { 'w', "wide", .help = "all columns and full names, for any terminal width" },
};

/* ---- rows ---- */

enum {
	C_SHARE,
	C_TOTAL,
	C_CALLS,
	C_MEAN,
	C_MIN,
	C_MEDIAN,
	C_P99,
	C_MAX,
	C_ERRORS,
	C_LAUNCH,
	C_LAUNCH_MEAN,
	C_DELAY,
	C_DELAY_MEAN,
	C_JOINED,
	C_GPU_TIME,
	C_BYTES,
	C_RATE,
	C_GPUS,
	C_UNTIMED,
	C_NAME,
	C_NR
};

static const struct grid_column columns[C_NR] = {
	[C_SHARE] = { "share", "SHARE", GRID_SHARE },
	[C_TOTAL] = { "total_ns", "TOTAL", GRID_TIME },
	[C_CALLS] = { "calls", "CALLS", GRID_COUNT },
	[C_MEAN] = { "mean_ns", "MEAN", GRID_TIME },
	[C_MIN] = { "min_ns", "MIN", GRID_TIME },
	[C_MEDIAN] = { "median_ns", "MEDIAN", GRID_TIME },
	[C_P99] = { "p99_ns", "P99", GRID_TIME },
	[C_MAX] = { "max_ns", "MAX", GRID_TIME },
	[C_ERRORS] = { "errors", "ERRORS", GRID_COUNT },
	[C_LAUNCH] = { "launch_median_ns", "LAUNCH", GRID_SPAN },
	[C_LAUNCH_MEAN] = { "launch_mean_ns", "LAUNCH MEAN", GRID_SPAN },
	[C_DELAY] = { "delay_median_ns", "DELAY", GRID_SPAN },
	[C_DELAY_MEAN] = { "delay_mean_ns", "DELAY MEAN", GRID_SPAN },
	[C_JOINED] = { "joined", NULL, GRID_COUNT },
	[C_GPU_TIME] = { "gpu_ns", "GPU TIME", GRID_TIME },
	[C_BYTES] = { "bytes", "BYTES", GRID_BYTES },
	[C_RATE] = { "bytes_per_s", "RATE", GRID_RATE },
	[C_GPUS] = { "gpus", "GPU", GRID_NAME },
	[C_UNTIMED] = { "untimed", NULL, GRID_COUNT },
	[C_NAME] = { "name", "NAME", GRID_NAME },
};

static bool is_wanted(const struct summary *s, size_t column)
{
	switch (column) {
	case C_ERRORS:
		return s->by == SUMMARY_API;
	case C_LAUNCH:
	case C_LAUNCH_MEAN:
	case C_DELAY:
	case C_DELAY_MEAN:
	case C_JOINED:
		return s->by == SUMMARY_KERNEL;
	case C_GPU_TIME:
		return s->by == SUMMARY_MARKER;
	case C_BYTES:
	case C_RATE:
		return s->by == SUMMARY_COPY;
	case C_GPUS:
		return s->by == SUMMARY_KERNEL || s->by == SUMMARY_COPY;
	default:
		return true;
	}
}

/* In a table: whether the column has values and fits the width. */
static bool is_shown(const struct summary *s, size_t column, unsigned int width)
{
	switch (column) {
	case C_MIN:
	case C_MAX:
		return width >= 120;
	case C_MEDIAN:
	case C_P99:
		return width >= (s->by == SUMMARY_COPY ? 100 : 90);
	case C_ERRORS:
		return s->nr_errors > 0;
	case C_LAUNCH:
	case C_DELAY:
		return s->nr_joined && width >= 110;
	case C_LAUNCH_MEAN:
	case C_DELAY_MEAN:
		return s->nr_joined && width >= 180;
	default:
		return true;
	}
}

static size_t choose_columns(const struct summary *s, struct grid_column *out, size_t map[C_NR])
{
	unsigned int width = s->wide || !s->width ? 1000 : s->width;
	size_t nr = 0;

	for (size_t i = 0; i < C_NR; i++) {
		if (!is_wanted(s, i))
			continue;
		out[nr] = columns[i];
		if (!is_shown(s, i, width))
			out[nr].title = NULL;
		map[nr++] = i;
	}
	return nr;
}

/* Mean or median of the times between kernels and their calls. */
static struct grid_cell distance_of(struct summary *s, struct stats_group *g,
				    enum stats_series series, bool mean)
{
	int64_t ns = mean ? stats_mean(g, series) : stats_quantile(s->stats, g, series, 0.5);

	return (struct grid_cell){ .num = (uint64_t)ns, .none = !g->values[series].nr };
}

static struct grid_cell cell_of(struct summary *s, struct stats_group *g, size_t column,
				uint64_t all_ns, char gpus[256])
{
	const struct stats_values *v = &g->values[STATS_TIME];
	bool none = !v->nr;

	switch (column) {
	case C_SHARE:
		return (struct grid_cell){ .real = all_ns ? (double)v->total / (double)all_ns : 0,
					   .none = !all_ns };
	case C_TOTAL:
		return (struct grid_cell){ .num = (uint64_t)v->total };
	case C_CALLS:
		return (struct grid_cell){ .num = g->calls };
	case C_MEAN:
		return (struct grid_cell){ .num = (uint64_t)stats_mean(g, STATS_TIME),
					   .none = none };
	case C_MIN:
		return (struct grid_cell){ .num = (uint64_t)v->min, .none = none };
	case C_MEDIAN:
	case C_P99:
		return (struct grid_cell){ .num = (uint64_t)stats_quantile(s->stats, g, STATS_TIME,
									   column == C_P99 ? 0.99 :
											     0.5),
					   .none = none };
	case C_MAX:
		return (struct grid_cell){ .num = (uint64_t)v->max, .none = none };
	case C_ERRORS:
		return (struct grid_cell){ .num = g->errors };
	case C_LAUNCH:
	case C_LAUNCH_MEAN:
		return distance_of(s, g, STATS_LAUNCH, column == C_LAUNCH_MEAN);
	case C_DELAY:
	case C_DELAY_MEAN:
		return distance_of(s, g, STATS_DELAY, column == C_DELAY_MEAN);
	case C_JOINED:
		return (struct grid_cell){ .num = g->values[STATS_LAUNCH].nr };
	case C_GPU_TIME:
		return (struct grid_cell){ .num = g->extra_ns, .none = !g->extra_ns };
	case C_BYTES:
		return (struct grid_cell){ .num = g->bytes };
	case C_RATE:
		return (struct grid_cell){
			.real = v->total ? (double)g->bytes * 1e9 / (double)v->total : 0,
			.none = !v->total
		};
	case C_GPUS:
		return (struct grid_cell){ .text = stats_gpus(gpus, 256, g->gpus),
					   .none = !g->gpus };
	case C_UNTIMED:
		return (struct grid_cell){ .num = g->calls - v->nr };
	default:
		return (struct grid_cell){ .text = g->name };
	}
}

/* Prints the groups. Returns their number; *all_ns is their time. */
static size_t print_groups(struct summary *s, uint64_t *all_ns)
{
	struct grid_column chosen[C_NR];
	size_t map[C_NR], nr, nr_columns = choose_columns(s, chosen, map);
	struct stats_group **groups = stats_sorted(s->stats, &nr);
	struct grid *grid =
		grid_create(chosen, nr_columns, s->format, s->width, ui_colour(STDOUT_FILENO));

	grid_units(grid, s->units);
	*all_ns = 0;
	for (size_t i = 0; i < nr; i++)
		*all_ns += (uint64_t)groups[i]->values[STATS_TIME].total;
	for (size_t i = 0; i < nr && (!s->rows || i < s->rows); i++) {
		struct grid_cell cells[C_NR];
		char gpus[256];

		for (size_t c = 0; c < nr_columns; c++)
			cells[c] = cell_of(s, groups[i], map[c], *all_ns, gpus);
		grid_row(grid, cells);
	}
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	return nr;
}

/* ---- the command ---- */

static const char *const what[] = { "kernel", "API call", "copy kind", "marker",
				    "stream", "GPU",	  "counter" };
static const char *const whats[] = { "kernels", "API calls", "copy kinds", "markers",
				     "streams", "GPUs",	     "counters" };

/* Explains an empty table, if the trace lacks the records that it needs. */
static void explain_empty_table(const struct summary *s)
{
	if (s->by == SUMMARY_API)
		ui_say("%s: no API call was recorded; trace in mode hip, the default of rtl trace",
		       s->q->path);
	else if (s->by == SUMMARY_STREAM)
		ui_say("%s: no stream is known, because no calls were recorded; trace in mode hip, or use "
		       "--by gpu",
		       s->q->path);
	else if (s->by == SUMMARY_COUNTER)
		ui_say("%s: no counters were recorded; rtl trace --pmc counts", s->q->path);
}

/* Prints on stderr, below the table: the number of rows left out, and the verdict. */
static void report_rest(const struct summary *s, size_t nr, uint64_t all_ns)
{
	char time[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE];

	if (s->rows && nr > s->rows)
		ui_say("... and %zu more (-n 0 shows all)", nr - (size_t)s->rows);
	if (s->nr_untimed)
		ui_say("%s of them have no valid times: they count in CALLS, not in the times",
		       ui_count(count, s->nr_untimed));
	if (s->by == SUMMARY_COUNTER)
		ui_say("%s: %zu %s of kernels; the trace is %s", s->q->path, nr,
		       nr == 1 ? what[s->by] : whats[s->by], s->q->verdict.line);
	else if (s->q->converted)
		ui_say("%s: %zu %s, %s", s->q->path, nr, nr == 1 ? what[s->by] : whats[s->by],
		       ui_time(time, all_ns));
	else
		ui_say("%s: %zu %s, %s; the trace is %s", s->q->path, nr,
		       nr == 1 ? what[s->by] : whats[s->by], ui_time(time, all_ns),
		       s->q->verdict.line);
}

/* rocprof's name for the requested table; ends the process if rocprof has none. */
static const char *rocprof_table(const struct summary *s, uint64_t domain)
{
	static const char *const of_calls[] = { "api_stats", "hip_stats", "hsa_stats" };

	if (s->format != GRID_CSV)
		ui_die(STATUS_USAGE, "--columns=rocprof: needs --format csv");
	if (s->by == SUMMARY_KERNEL && !s->internal)
		return "stats";
	if (s->by == SUMMARY_COPY)
		return "copy_stats";
	if (s->by == SUMMARY_API)
		return of_calls[domain];
	ui_die(STATUS_USAGE,
	       "--columns=rocprof: rocprof has no such table; use --by kernel, api or copy");
}

static void print_rocprof(struct summary *s, const char *table)
{
	struct json *j = malloc(sizeof(*j));
	int err;

	if (!j)
		ui_die_memory();
	json_init(j, json_write_file, stdout);
	err = csv_print(s->q, table, s->rows, j);
	free(j);
	if (err != -EPIPE)
		db_check(s->q, err);
}

static void free_summary(struct summary *s)
{
	map_fini(&s->types);
	sqlite3_finalize(s->type);
	query_close(s->q);
	stats_destroy(s->stats);
	free(s);
}

static int run_summary(const struct opt_parsed *p)
{
	static void (*const readers[])(struct summary *) = {
		[SUMMARY_KERNEL] = summary_rows_kernels,
		[SUMMARY_API] = summary_rows_calls,
		[SUMMARY_COPY] = summary_rows_copies,
		[SUMMARY_MARKER] = summary_rows_markers,
	};
	const struct opt_value *v = p->values;
	struct summary *s = calloc(1, sizeof(*s));
	const char *table;
	uint64_t all_ns = 0;
	size_t nr;

	if (!s)
		ui_die_memory();
	s->by = (enum summary_by)v[O_BY].num;
	s->units = (enum grid_units)v[O_UNITS].num;
	s->format = (enum grid_format)v[O_FORMAT].num;
	s->internal = v[O_INTERNAL].count > 0;
	s->wide = v[O_WIDE].count > 0;
	s->width = s->wide ? 0 : ui_columns(STDOUT_FILENO, 0);
	s->rows = v[O_ROWS].count ? v[O_ROWS].num : s->format == GRID_TEXT ? 20 : 0;
	s->domain = v[O_DOMAIN].count ? (enum summary_domain)(v[O_DOMAIN].num + 1) : SUMMARY_ANY;
	if (s->domain && s->by != SUMMARY_API)
		ui_die(STATUS_USAGE, "--domain: needs --by api");
	table = v[O_COLUMNS].num ? rocprof_table(s, s->domain) : NULL;
	s->stats = stats_create(0);
	s->q = db_open(p->operands[0]);
	if (table) {
		print_rocprof(s, table);
		free_summary(s);
		return 0;
	}
	if (s->by == SUMMARY_COUNTER) {
		nr = summary_counter_print(s);
	} else if (s->by >= SUMMARY_STREAM) {
		nr = summary_lane_print(s, &all_ns);
	} else {
		readers[s->by](s);
		nr = print_groups(s, &all_ns);
	}
	if (!nr)
		explain_empty_table(s);
	if (s->format == GRID_TEXT)
		report_rest(s, nr, all_ns);
	free_summary(s);
	return 0;
}

const struct command cmd_summary = {
	.name = "summary",
	.summary = "shows times by kernel, call, copy, marker, stream or GPU",
	.usage = "FILE [options]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = commands_statuses,
	.about =
		"Reads a database of rtl trace or of RPD, or a raw trace, and prints one row for each kernel, "
		"call, kind of copy or marker, the longest total first, for each stream or GPU, or for each counter of each kernel. A table has the columns that fit the terminal; --wide, "
		"csv and json have all of them.\n"
		"\n"
		"  share      of the time of all rows\n"
		"  total      sum of the durations\n"
		"  mean       total divided by the number of timed calls\n"
		"  median     half of the calls take no longer; p99: 99 of 100\n"
		"  launch     of a kernel: time from the begin of the call that launched it to its own begin,\n"
		"             the median; launch_mean_ns is the mean\n"
		"  delay      the same from the end of that call: time in the queue. It is negative where\n"
		"             the kernel began before the call returned\n"
		"  joined     kernels whose call is known\n"
		"  errors     calls that returned an error\n"
		"  gpu_ns     of a marker: time of the kernels and copies with it as innermost range\n"
		"  busy       of a GPU or stream: time with at least one operation, divided by the time\n"
		"             from its first to its last one\n"
		"  untimed    calls whose times are missing or inverted; they are not in the times\n"
		"\n"
		"The runtime's internal kernels (copies, fills) are left out; --internal shows them.",
	.examples =
		"rtl summary trace.db -n 5\nrtl summary trace.db --by marker --wide\n"
		"rtl summary trace.db --by api\n"
		"rtl summary trace.db --by counter\n"
		"rtl summary trace.db --format csv > kernels.csv\n"
		"rtl summary trace.db --by api --domain hip --format csv --columns rocprof > hip_stats.csv\n",
	.run = run_summary,
};
