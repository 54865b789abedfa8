/* SPDX-License-Identifier: MIT */
/* cmd_diff.c - rtl diff: what takes longer or shorter than before, and what differs by noise alone
 *
 * Not here: the statistics (analysis/compare.c), rows and verdicts (analysis/diff.c), the gate of
 * --fail-if (analysis/gate.c), the page (diff_html.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/gate.h"
#include "analysis/tables.h"
#include "cli/cmd/commands.h"
#include "cli/db.h"
#include "cli/grid.h"
#include "cli/read/diff_html.h"
#include "cli/read/exporter.h"
#include "cli/ui.h"

enum { O_OUTPUT, O_BY, O_ROWS, O_FORMAT, O_FAIL_IF, O_SEED, O_WIDE, O_FORCE, O_QUIET };

enum { MARKDOWN = GRID_JSON + 1, HTML };

#define WHOLE "all" /* the name of rows of whole runs */

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "OUT",
		       .help = "write a file; - is stdout (default)",
		       .more = "The exit status is that of --fail-if then, too." },
	[O_BY] = { 'b', "by", OPT_CHOICE, .arg = "WHAT", .choices = DIFF_KINDS,
		   .help = "compare these alone; default: all" },
	[O_ROWS] = { 'n', "rows", OPT_UINT, .arg = "N", .choices = "0..1000000000",
		     .help = "at most N rows; 0: all (20 in a table, else all)" },
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT",
		       .choices = GRID_FORMATS "|markdown|html",
		       .help = "output: table (default), csv, json, markdown, html",
		       .more = "html is one page for a browser, which loads nothing: intervals, the values of both "
			       "sides, and the conditions of --fail-if with their results." },
	[O_FAIL_IF] = { 0, "fail-if", OPT_TEXT, .arg = "CONDITIONS",
			.help = "exit status 1 if one holds: 'kernel:gemm.* > +5%'",
			.more = "Conditions are separated by semicolons. Each is WHAT:NAME > CHANGE or WHAT:NAME < CHANGE: "
				"WHAT is kernel, call, copy, range or collective, NAME an extended regular expression for the whole "
				"name, CHANGE in percent. That is of the median duration; kernel.total:NAME is of the sum of the "
				"durations in a run, kernel.count:NAME of their number; collective.skew:NAME, .transfer, .wait and .late are "
				"the measures of collectives. wall, busy, total and count without a "
				"NAME are of whole runs: 'wall > +3%'. A condition holds where the change is beyond its limit "
				"and can be distinguished from noise, among what conditions name: few names need few runs. If "
				"there are too few runs for any difference, the status is 4, and the message says how many "
				"suffice. A condition that matches nothing is an error." },
	[O_SEED] = { 0, "seed", OPT_UINT, .arg = "N", .choices = "0..4294967295",
		     .help = "of the random numbers of the intervals; default: 1" },
	[O_WIDE] = { 'w', "wide", .help = "all columns and full names, for any terminal width" },
	[O_FORCE] = OPTS_FORCE,
	[O_QUIET] = OPTS_QUIET,
};

/* ---- the sides ---- */

static void check_memory(int ret)
{
	if (ret)
		ui_die_memory();
}

static void add_value(struct diff *d, int side, enum diff_kind kind, enum diff_measure measure,
		      const char *name, uint64_t value)
{
	const int64_t values[] = { (int64_t)value };

	check_memory(diff_add(d, side, kind, measure, name, values, 1));
}

/* Adds what a run has of a name. Instants, and operations without times, are counted alone. */
static void add_group(struct diff *d, int side, enum diff_kind kind, struct sums *sums,
		      struct sums_group *g)
{
	size_t nr;
	const int64_t *values = sums_values(sums, g, SUMS_TIME, &nr);
	int64_t median;

	add_value(d, side, kind, DIFF_COUNT, g->name, g->calls);
	if (!nr || values[nr - 1] <= 0)
		return;
	add_value(d, side, kind, DIFF_TOTAL, g->name, (uint64_t)g->values[SUMS_TIME].total);
	if (!d->pooled) {
		median = sums_quantile(sums, g, SUMS_TIME, 0.5);
		values = &median;
		nr = 1;
	}
	check_memory(diff_add(d, side, kind, DIFF_MEDIAN, g->name, values, nr));
}

static void read_names(struct diff *d, int side, enum diff_kind kind, struct tables *t)
{
	static const enum tables_kind kinds[] = {
		[DIFF_KERNEL] = TABLES_KERNEL,
		[DIFF_CALL] = TABLES_API,
		[DIFF_COPY] = TABLES_COPY,
		[DIFF_RANGE] = TABLES_MARKER,
	};
	struct sums_group **groups;
	struct sums *sums;
	size_t nr;

	/* values are compared: all are in memory */
	db_check(t->q, table_names_sums(t, kinds[kind], &sums));
	groups = sums_sorted(sums, &nr);
	for (size_t i = 0; i < nr; i++)
		add_group(d, side, kind, sums, groups[i]);
	sums_destroy(sums);
}

/* What a run amounts to: the numbers of the overview of rtl summary. */
static void read_whole(struct diff *d, int side, struct tables *t)
{
	const struct digest_gpu none = { 0 }, *all;
	struct digest *digest;

	db_check(t->q, tables_digest(t, &digest));
	all = digest->nr_gpus ? digest->gpus : &none;
	add_value(d, side, DIFF_RUN, DIFF_WALL, WHOLE, digest->wall.ns);
	add_value(d, side, DIFF_RUN, DIFF_BUSY, WHOLE, all->busy_ns);
	add_value(d, side, DIFF_RUN, DIFF_TOTAL, WHOLE, all->kernel_ns + all->copy_ns);
	add_value(d, side, DIFF_RUN, DIFF_COUNT, WHOLE, all->kernels + all->copies);
}

static void read_run(struct diff *d, int side, const char *path, int only)
{
	struct query *q = db_open(path);

	if (!q->verdict.complete)
		ui_say("%s: the trace is %s", path, q->verdict.line);
	for (int kind = 0; kind < DIFF_NR_KINDS; kind++) {
		struct tables t = { .q = q };

		if (only >= 0 && kind != only)
			continue;
		if (kind == DIFF_RUN)
			read_whole(d, side, &t);
		else if (kind == DIFF_COLLECTIVE)
			db_check(q, diff_add_collectives(d, side, q));
		else
			read_names(d, side, (enum diff_kind)kind, &t);
		tables_fini(&t);
	}
	query_close(q);
}

/* ---- the output ---- */

/* A and B of a table are times or numbers; the other forms have a column for each. */
static const struct sheet_column shown_columns[] = {
	{ .key = "change", .title = "CHANGE", .unit = SHEET_SHARE },
	{ .key = "change_low", .title = "FROM", .unit = SHEET_SHARE, .drop = 1 },
	{ .key = "change_high", .title = "TO", .unit = SHEET_SHARE, .drop = 1 },
	{ .key = "a", .title = "A", .unit = SHEET_TIME },
	{ .key = "b", .title = "B", .unit = SHEET_TIME },
	{ .key = "effect", .title = "EFFECT", .unit = SHEET_SHARE, .drop = 2 },
	{ .key = "verdict", .title = "VERDICT", .unit = SHEET_NAME },
	{ .key = "what", .title = "WHAT", .unit = SHEET_NAME },
	{ .key = "measure", .title = "MEASURE", .unit = SHEET_NAME },
	{ .key = "name", .title = "NAME", .unit = SHEET_NAME, .symbol = true },
};
enum { SHOWN_COLUMNS = sizeof(shown_columns) / sizeof(shown_columns[0]) };

static const struct sheet_column data_columns[] = {
	{ .key = "change", .unit = SHEET_SHARE },
	{ .key = "change_low", .unit = SHEET_SHARE },
	{ .key = "change_high", .unit = SHEET_SHARE },
	{ .key = "a_median_ns", .unit = SHEET_TIME },
	{ .key = "b_median_ns", .unit = SHEET_TIME },
	{ .key = "p", .unit = SHEET_REAL },
	{ .key = "effect", .unit = SHEET_SHARE },
	{ .key = "a_values", .unit = SHEET_COUNT },
	{ .key = "b_values", .unit = SHEET_COUNT },
	{ .key = "a_count", .unit = SHEET_COUNT },
	{ .key = "b_count", .unit = SHEET_COUNT },
	{ .key = "a_total_ns", .unit = SHEET_TIME },
	{ .key = "b_total_ns", .unit = SHEET_TIME },
	{ .key = "verdict", .unit = SHEET_NAME },
	{ .key = "what", .unit = SHEET_NAME },
	{ .key = "name", .unit = SHEET_NAME },
	{ .key = "measure", .unit = SHEET_NAME },
	{ .key = "a_median_count", .unit = SHEET_COUNT },
	{ .key = "b_median_count", .unit = SHEET_COUNT },
};
enum { DATA_COLUMNS = sizeof(data_columns) / sizeof(data_columns[0]) };

static void add_table_row(struct sheet *table, const struct diff_row *row)
{
	const struct compare_result *r = &row->result;
	bool both = diff_is_compared(row), interval = diff_has_interval(row);
	bool is_count = row->measure == DIFF_COUNT;
	const struct sheet_cell cells[SHOWN_COLUMNS] = {
		{ .real = r->change, .none = !both || !isfinite(r->change) },
		{ .real = r->low, .none = !interval || !isfinite(r->low) },
		{ .real = r->high, .none = !interval || !isfinite(r->high) },
		{ .num = (uint64_t)r->a, .none = !both, .is_count = is_count },
		{ .num = (uint64_t)r->b, .none = !both, .is_count = is_count },
		{ .real = r->effect, .none = !both },
		{ .text = diff_verdicts[row->verdict] },
		{ .text = diff_kinds[row->kind] },
		{ .text = diff_measures[row->measure] },
		{ .text = row->name },
	};

	sheet_row(table, cells);
}

static void add_data_row(struct sheet *table, const struct diff_row *row)
{
	const struct diff_side *a = &row->sides[0], *b = &row->sides[1];
	const struct compare_result *r = &row->result;
	bool both = diff_is_compared(row), interval = diff_has_interval(row);
	bool is_count = row->measure == DIFF_COUNT;
	bool is_named = row->kind != DIFF_RUN && row->measure != DIFF_LATE;
	const struct sheet_cell cells[DATA_COLUMNS] = {
		{ .real = r->change, .none = !both || !isfinite(r->change) },
		{ .real = r->low, .none = !interval || !isfinite(r->low) },
		{ .real = r->high, .none = !interval || !isfinite(r->high) },
		{ .num = (uint64_t)r->a, .none = !both || is_count },
		{ .num = (uint64_t)r->b, .none = !both || is_count },
		{ .real = r->p, .none = !both || row->is_exact },
		{ .real = r->effect, .none = !both },
		{ .num = a->nr },
		{ .num = b->nr },
		{ .num = a->count, .none = !is_named },
		{ .num = b->count, .none = !is_named },
		{ .num = a->total, .none = !is_named },
		{ .num = b->total, .none = !is_named },
		{ .text = diff_verdicts[row->verdict] },
		{ .text = diff_kinds[row->kind] },
		{ .text = row->name },
		{ .text = diff_measures[row->measure] },
		{ .num = (uint64_t)r->a, .none = !both || !is_count },
		{ .num = (uint64_t)r->b, .none = !both || !is_count },
	};

	sheet_row(table, cells);
}

static void print_grid(const struct diff *d, const struct grid_style *style, uint64_t rows)
{
	bool is_table = style->format == GRID_TEXT;
	struct sheet table = { .most = rows };

	if (is_table)
		sheet_columns(&table, shown_columns, SHOWN_COLUMNS);
	else
		sheet_columns(&table, data_columns, DATA_COLUMNS);
	for (size_t i = 0; i < d->nr && sheet_keeps(&table); i++) {
		const struct diff_row *row = &d->rows[i];

		if (is_table && !diff_is_news(row))
			continue;
		(is_table ? add_table_row : add_data_row)(&table, row);
	}
	if (d->nr || !is_table)
		grid_print(&table, style);
	sheet_fini(&table);
}

/* A name within a table of Markdown. */
static void put_markdown(const char *name)
{
	static const char special[] = "\\`*_{}[]<>#|~&";

	for (size_t n; *name; name += n) {
		n = strcspn(name, special);
		ui_putf("%.*s", (int)n, name);
		if (n)
			continue;
		ui_putf("\\%c", *name);
		n = 1;
	}
}

static void put_markdown_row(const struct diff_row *row)
{
	const char *(*format)(char *, uint64_t) = row->measure == DIFF_COUNT ? ui_count : ui_time;
	const struct compare_result *r = &row->result;
	char a[UI_NUMBER_SIZE], b[UI_NUMBER_SIZE];

	if (!diff_is_compared(row)) {
		ui_put("| | | | |");
	} else {
		ui_put("| ");
		if (isfinite(r->change))
			ui_putf("%+.1f %%", 100 * r->change);
		ui_put(" | ");
		if (diff_has_interval(row))
			ui_putf("%+.1f %% to %+.1f %%", 100 * r->low, 100 * r->high);
		ui_putf(" | %s | %s |", format(a, (uint64_t)r->a), format(b, (uint64_t)r->b));
	}
	ui_putf(" %s | %s | %s | ", diff_verdicts[row->verdict], diff_kinds[row->kind],
		diff_measures[row->measure]);
	put_markdown(row->name);
	ui_put(" |\n");
}

static void print_markdown(const struct diff *d, uint64_t rows)
{
	uint64_t shown = 0;

	ui_put("| change | 95 % interval | A | B | verdict | what | measure | name |\n"
	       "|---:|---|---:|---:|---|---|---|---|\n");
	for (size_t i = 0; i < d->nr && (!rows || shown < rows); i++) {
		if (!diff_is_news(&d->rows[i]))
			continue;
		put_markdown_row(&d->rows[i]);
		shown++;
	}
}

static uint64_t count_news(const struct diff *d)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < d->nr; i++)
		nr += diff_is_news(&d->rows[i]);
	return nr;
}

static void report_rest(const struct diff *d, int format, uint64_t rows)
{
	bool is_data = format == GRID_CSV || format == GRID_JSON;
	uint64_t all = is_data ? d->nr : count_news(d);
	const size_t *nr = d->nr_verdicts;

	if (rows && all > rows)
		ui_say("... and %" PRIu64 " more (-n 0 shows all)", all - rows);
	ui_say("%zu slower, %zu faster, %zu more often, %zu less often, %zu with no difference that can be "
	       "distinguished from noise, %zu only on one side",
	       nr[DIFF_SLOWER], nr[DIFF_FASTER], nr[DIFF_MORE], nr[DIFF_LESS],
	       nr[DIFF_NOISE] + nr[DIFF_EQUAL], nr[DIFF_ONLY_A] + nr[DIFF_ONLY_B]);
	if (nr[DIFF_TOO_FEW])
		ui_say("%zu %s too few values to tell; %zu runs on each side suffice, or fewer with --by",
		       nr[DIFF_TOO_FEW], nr[DIFF_TOO_FEW] == 1 ? "has" : "have", d->runs_needed);
	if (d->pooled && nr[DIFF_SLOWER] + nr[DIFF_FASTER])
		ui_say("a side of one run does not show how much runs differ among each other: give several");
}

/* ---- the gate ---- */

static void report_failed(const struct gate_result *c, const struct diff_row *row)
{
	const struct compare_result *r = &row->result;
	const char *limit = c->is_above ? "above" : "below";

	if (!diff_is_compared(row))
		ui_error("fails '%s': %s the limit, %.200s: %s", c->text, limit, row->name,
			 diff_verdicts[row->verdict]);
	else if (row->measure == DIFF_COUNT)
		ui_error("fails '%s': %s the limit, %.200s: %+.1f %% (%" PRId64 ", %" PRId64 ")",
			 c->text, limit, row->name, 100 * r->change, r->a, r->b);
	else
		ui_error("fails '%s': %s the limit, %.200s: %+.1f %% (95 %%: %+.1f %% to %+.1f %%)",
			 c->text, limit, row->name, 100 * r->change, 100 * r->low, 100 * r->high);
}

/* Whether the gate knows that nothing fails, is said by the status: 0, STATUS_FAILED or
 * STATUS_UNDECIDED. */
static int report_gate(const struct gate *gate, const struct diff *d)
{
	for (size_t i = 0; gate && i < gate->nr; i++) {
		const struct gate_result *c = &gate->results[i];

		if (c->state == GATE_UNMATCHED)
			ui_die(STATUS_USAGE,
			       "--fail-if '%.200s': nothing in the traces matches, or --by leaves it out",
			       c->text);
		for (size_t k = 0; k < c->nr_failed; k++)
			report_failed(c, &d->rows[c->failed[k]]);
		if (c->state == GATE_FAILED)
			continue;
		if (c->nr_too_few && c->state == GATE_UNDECIDED)
			ui_error(
				"can't decide '%s': %zu and %zu runs are too few; %zu on each side suffice",
				c->text, d->nr_runs[0], d->nr_runs[1], gate->runs_needed);
		else if (c->state == GATE_UNDECIDED)
			ui_error("can't decide '%s': what matches is in one side's traces alone",
				 c->text);
		else if (c->nr_too_few + c->nr_one_side)
			ui_say("'%s': %zu of %zu that match could not be compared: they are in too few runs, or on one side alone",
			       c->text, c->nr_too_few + c->nr_one_side, c->nr_rows);
	}
	if (gate && gate_any(gate, GATE_FAILED))
		return STATUS_FAILED;
	return gate && gate_any(gate, GATE_UNDECIDED) ? STATUS_UNDECIDED : 0;
}

/* ---- the command ---- */

/* The operand between the sides; of two files it is left out. */
static int find_sides(const struct opt_parsed *p)
{
	for (int i = 0; i < p->nr_operands; i++)
		if (strcmp(p->operands[i], "vs") == 0)
			return i;
	return -1;
}

static void read_sides(struct diff *d, struct diff_html_sides *sides, const struct opt_parsed *p,
		       int only)
{
	int vs = find_sides(p), first_b = vs < 0 ? 1 : vs + 1;
	int nr_a = vs < 0 ? 1 : vs, nr_b = p->nr_operands - first_b;

	if (vs < 0 && p->nr_operands > 2)
		ui_die(STATUS_USAGE, "%d files: write vs between the two sides: A1 A2 vs B1 B2",
		       p->nr_operands);
	if (nr_a < 1 || nr_b < 1)
		ui_die(STATUS_USAGE, "vs: there is no file on one side of it");
	d->pooled = nr_a == 1 || nr_b == 1;
	d->nr_runs[0] = (size_t)nr_a;
	d->nr_runs[1] = (size_t)nr_b;
	sides->files[0] = p->operands;
	sides->files[1] = p->operands + first_b;
	for (int i = 0; i < nr_a; i++)
		read_run(d, 0, p->operands[i], only);
	for (int i = 0; i < nr_b; i++)
		read_run(d, 1, p->operands[first_b + i], only);
}

/* What is written. */
struct document {
	const struct diff *diff;
	struct diff_html_sides sides;
	const struct gate *gate; /* NULL: none */
	int format;
	uint64_t rows; /* 0: all */
};

static void print_document(const struct document *doc, unsigned int width, bool colour)
{
	const struct grid_style style = { .format = (enum grid_format)doc->format,
					  .width = width,
					  .colour = colour };

	if (doc->format == HTML)
		diff_html_print(doc->diff, &doc->sides, doc->gate, doc->rows);
	else if (doc->format == MARKDOWN)
		print_markdown(doc->diff, doc->rows);
	else
		print_grid(doc->diff, &style, doc->rows);
}

static void print_to_file(void *arg)
{
	print_document(arg, 0, false);
}

static struct gate *parse_gate(const char *text)
{
	char error[GATE_ERROR_SIZE];
	struct gate *gate;
	int ret = gate_parse(text, &gate, error);

	if (ret == -ENOMEM)
		ui_die_memory();
	if (ret)
		ui_die(STATUS_USAGE, "--fail-if %s", error);
	return gate;
}

static int run_diff(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	int format = (int)v[O_FORMAT].num, status;
	struct gate *gate = NULL;
	const char *output = NULL;
	bool is_file;
	struct diff d = { 0 };
	struct document doc = {
		.diff = &d,
		.format = format,
		.rows = v[O_ROWS].count	    ? v[O_ROWS].num :
			format == GRID_TEXT ? 20 :
					      0,
	};

	ui_failure_status(STATUS_INPUT); /* 1 is a condition that holds, and nothing else */
	ui_quiet(v[O_QUIET].count > 0);
	if (v[O_FAIL_IF].count)
		doc.gate = gate = parse_gate(v[O_FAIL_IF].text);
	if (v[O_OUTPUT].text)
		output = exporter_output(v[O_OUTPUT].text, NULL);
	is_file = output && strcmp(output, "-") != 0;
	if (is_file)
		exporter_check(output, v[O_FORCE].count > 0, STATUS_FAILED);
	read_sides(&d, &doc.sides, p, v[O_BY].count ? (int)v[O_BY].num : -1);
	check_memory(diff_compare(&d, v[O_SEED].count ? v[O_SEED].num : 1));
	if (gate)
		check_memory(gate_check(gate, &d));
	if (is_file)
		exporter_print(output, print_to_file, &doc);
	else
		print_document(&doc, v[O_WIDE].count ? 0 : ui_columns(STDOUT_FILENO, 0),
			       ui_colour(STDOUT_FILENO));
	report_rest(&d, format, doc.rows);
	status = report_gate(gate, &d);
	gate_free(gate);
	diff_fini(&d);
	return status;
}

static const struct opt_status statuses[] = {
	{ "0", "done" },
	{ "1", "a condition of --fail-if holds" },
	{ "2", "the command line is wrong, or a condition matches nothing" },
	{ "3", "a FILE can't be read, or OUT can't be written" },
	{ "4", "no condition holds, one can't be decided: too few runs" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_diff = {
	.name = "diff",
	.summary = "compares runs: what is slower, what is noise",
	.usage = "A B, or A1 A2... vs B1 B2... [options]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 2,
	.max_operands = -1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = statuses,
	.about =
		"Compares the durations of kernels, calls, kinds of copies, ranges, and collectives of several GPUs of the same name on two sides, each of one "
		"trace or several; how often they occur; and the runs as a whole.\n\n"
		"  change     from A to B; from and to: in this range it is with 95 %\n"
		"  a, b       the median of what is measured\n"
		"  effect     share of pairs in which the value of B is larger: 50 % is none\n"
		"  verdict    slower, faster, more often, less often; noise: no difference that can be distinguished\n"
		"             from noise; equal; too few: with so few values no difference could be; only in A, only in B\n"
		"  measure    median: the median duration; total: the sum of the durations in a run; count: how many\n"
		"             in a run; of runs: wall, the wall time, and busy, the time in which a GPU works, as in the\n"
		"             overview of rtl summary; total and count of what ran on GPUs; of collectives (rtl summary --by\n"
		"             collective) also skew, from the first arrival to the last, transfer, from there to the end, wait,\n"
		"             what all ranks waited in a run, and late, by how much the rank in the name was late in a run, of\n"
		"             ranks that are called late\n"
		"  p          chance of at least such a difference without a cause (csv, json)\n\n"
		"Rows of totals, counts and waits without a difference are in csv and json alone.\n\n"
		"With two or more runs on each side the medians of the runs are compared, which is the honest way: runs differ by "
		"clocks, temperature and neighbours. With one run on a side all durations are compared, and a difference between "
		"the two runs may have any cause; totals, wall and busy can't be decided then. Counts that are the same in all "
		"runs of each side are compared as they are, with any number of runs.\n\n"
		"The test is that of Mann and Whitney, with Holm's correction: the chance that anything is called slower or faster "
		"in a whole comparison without a cause is below 5 %. Besides, the interval of the change, a bootstrap of medians, must not "
		"have 0 in it. An interval needs 6 values on each side. For the same files and the same "
		"--seed the output is the same.",
	.examples =
		"rtl diff before.db after.db\nrtl diff old/*.db vs new/*.db\n"
		"rtl diff a.db b.db --by kernel --format markdown\n"
		"rtl diff old/*.db vs new/*.db -f html -o diff.html\n"
		"rtl diff old/*.db vs new/*.db --fail-if 'kernel:gemm.* > +5%; range:step > 2%'\n"
		"rtl diff old/*.db vs new/*.db --fail-if 'wall > +3%; kernel.count:.* > 0%'\n",
	.run = run_diff,
};
