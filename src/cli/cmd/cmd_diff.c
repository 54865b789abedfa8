/* SPDX-License-Identifier: MIT */
/* cmd_diff.c - rtl diff: what takes longer or shorter than before, and what differs by noise alone
 *
 * Not here: the statistics (compare.c), the gate of --fail-if (gate.c), the page (diff_html.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/read/diff.h"
#include "cli/read/exporter.h"
#include "cli/read/summary.h"
#include "cli/ui.h"

enum { O_OUTPUT, O_BY, O_ROWS, O_FORMAT, O_FAIL_IF, O_SEED, O_WIDE, O_FORCE, O_QUIET };

enum { MARKDOWN = GRID_JSON + 1, HTML };

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
				"WHAT is kernel, call, copy or range, NAME an extended regular expression for the whole "
				"name, CHANGE that of the median in percent. A condition holds where the change is beyond "
				"its limit and can be distinguished from noise. One that matches no name is an error." },
	[O_SEED] = { 0, "seed", OPT_UINT, .arg = "N", .choices = "0..4294967295",
		     .help = "of the random numbers of the intervals; default: 1" },
	[O_WIDE] = { 'w', "wide", .help = "all columns and full names, for any terminal width" },
	[O_FORCE] = OPTS_FORCE,
	[O_QUIET] = OPTS_QUIET,
};

/* ---- the sides ---- */

static struct diff_item *find_item(struct diff *d, enum diff_kind kind, const char *name)
{
	uint64_t hash = map_hash(name, strlen(name)) * 31 + kind, at;
	struct diff_item *item;

	for (; map_get(&d->by_name, hash, &at); hash++)
		if (d->items[at].kind == kind && strcmp(d->items[at].name, name) == 0)
			return &d->items[at];
	if (d->nr == d->max) {
		d->max = d->max ? 2 * d->max : 64;
		d->items = reallocarray(d->items, d->max, sizeof(*d->items));
		if (!d->items)
			ui_die_memory();
	}
	if (map_put(&d->by_name, hash, d->nr))
		ui_die_memory();
	item = &d->items[d->nr++];
	*item = (struct diff_item){ .kind = kind, .name = ui_format("%s", name) };
	return item;
}

static void add_values(struct diff_side *side, const int64_t *values, size_t nr)
{
	side->values = reallocarray(side->values, side->nr + nr, sizeof(*side->values));
	if (!side->values)
		ui_die_memory();
	for (size_t i = 0; i < nr; i++)
		side->values[side->nr + i] = (double)values[i];
	side->nr += nr;
}

/* Adds the durations of one run, or their median. */
static void add_group(struct diff *d, int at, enum diff_kind kind, struct summary *s,
		      struct stats_group *g)
{
	struct diff_side *side;
	size_t nr;
	const int64_t *values = stats_values(s->stats, g, STATS_TIME, &nr);
	int64_t median;

	if (!nr || values[nr - 1] <= 0)
		return; /* instants, and operations without times */
	side = &find_item(d, kind, g->name)->sides[at];
	side->count += g->calls;
	side->total += (double)g->values[STATS_TIME].total;
	if (d->pooled) {
		add_values(side, values, nr);
		return;
	}
	median = stats_quantile(s->stats, g, STATS_TIME, 0.5);
	add_values(side, &median, 1);
}

static void read_run(struct diff *d, int at, const char *path, int only)
{
	static void (*const readers[DIFF_NR_KINDS])(struct summary *) = {
		[DIFF_KERNEL] = summary_rows_kernels,
		[DIFF_CALL] = summary_rows_calls,
		[DIFF_COPY] = summary_rows_copies,
		[DIFF_RANGE] = summary_rows_markers,
	};
	struct query *q = db_open(path);

	if (!q->verdict.complete)
		ui_say("%s: the trace is %s", path, q->verdict.line);
	for (int kind = 0; kind < DIFF_NR_KINDS; kind++) {
		struct summary *s = calloc(1, sizeof(*s));
		struct stats_group **groups;
		size_t nr;

		if (!s)
			ui_die_memory();
		if (only < 0 || kind == only) {
			s->q = q;
			s->stats =
				stats_create(SIZE_MAX); /* values are compared: all are in memory */
			readers[kind](s);
			groups = stats_sorted(s->stats, &nr);
			for (size_t i = 0; i < nr; i++)
				add_group(d, at, (enum diff_kind)kind, s, groups[i]);
			stats_destroy(s->stats);
			s->q = NULL;
		}
		summary_free(s);
	}
	query_close(q);
}

/* ---- the comparison ---- */

static void compare_all(struct diff *d, uint64_t seed)
{
	double *p = calloc(d->nr + 1, sizeof(*p));
	bool *significant = calloc(d->nr + 1, sizeof(*significant));
	size_t nr = 0;

	if (!p || !significant)
		ui_die_memory();
	for (size_t i = 0; i < d->nr; i++) {
		struct diff_side *a = &d->items[i].sides[0], *b = &d->items[i].sides[1];

		if (a->nr && b->nr) {
			compare_samples(a->values, a->nr, b->values, b->nr, seed + i,
					&d->items[i].result);
			p[nr++] = d->items[i].result.p;
		}
	}
	d->nr_compared = nr;
	if (!compare_holm(p, nr, COMPARE_ALPHA, significant))
		ui_die_memory();
	for (size_t i = 0, k = 0; i < d->nr; i++) {
		struct diff_item *item = &d->items[i];
		const struct diff_side *a = &item->sides[0], *b = &item->sides[1];

		if (!a->nr || !b->nr)
			item->verdict = a->nr ? DIFF_ONLY_A : DIFF_ONLY_B;
		else if (compare_differs(&item->result, significant[k++]))
			item->verdict = item->result.change > 0 ? DIFF_SLOWER : DIFF_FASTER;
		else if (compare_least_p(a->nr, b->nr) > COMPARE_ALPHA / (double)nr)
			item->verdict = DIFF_TOO_FEW;
		else
			item->verdict = DIFF_NOISE;
		d->nr_verdicts[item->verdict]++;
	}
	free(p);
	free(significant);
}

static double total_of(const struct diff_item *item)
{
	return fmax(item->sides[0].total, item->sides[1].total);
}

/* What changed comes first, then what takes longest. */
static int compare_items(const void *a, const void *b)
{
	const struct diff_item *x = a, *y = b;
	double x_ns = total_of(x), y_ns = total_of(y);

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* ---- the output ---- */

static const struct grid_column columns[] = {
	{ .key = "change", .title = "CHANGE", .unit = GRID_SHARE },
	{ .key = "change_low", .title = "FROM", .unit = GRID_SHARE, .drop = 1 },
	{ .key = "change_high", .title = "TO", .unit = GRID_SHARE, .drop = 1 },
	{ .key = "a_median_ns", .title = "A", .unit = GRID_TIME },
	{ .key = "b_median_ns", .title = "B", .unit = GRID_TIME },
	{ .key = "p", .unit = GRID_REAL },
	{ .key = "effect", .title = "EFFECT", .unit = GRID_SHARE, .drop = 2 },
	{ .key = "a_values", .unit = GRID_COUNT },
	{ .key = "b_values", .unit = GRID_COUNT },
	{ .key = "a_count", .unit = GRID_COUNT },
	{ .key = "b_count", .unit = GRID_COUNT },
	{ .key = "a_total_ns", .unit = GRID_TIME },
	{ .key = "b_total_ns", .unit = GRID_TIME },
	{ .key = "verdict", .title = "VERDICT", .unit = GRID_NAME },
	{ .key = "what", .title = "WHAT", .unit = GRID_NAME },
	{ .key = "name", .title = "NAME", .unit = GRID_NAME, .symbol = true },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void fill_cells(const struct diff_item *item, struct grid_cell cells[COLUMNS])
{
	const struct diff_side *a = &item->sides[0], *b = &item->sides[1];
	const struct compare_result *r = &item->result;
	bool both = a->nr && b->nr, interval = diff_has_interval(item);
	const struct grid_cell all[COLUMNS] = {
		{ .real = r->change, .none = !both || !isfinite(r->change) },
		{ .real = r->low, .none = !interval || !isfinite(r->low) },
		{ .real = r->high, .none = !interval || !isfinite(r->high) },
		{ .num = (uint64_t)r->a, .none = !both },
		{ .num = (uint64_t)r->b, .none = !both },
		{ .real = r->p, .none = !both },
		{ .real = r->effect, .none = !both },
		{ .num = a->nr },
		{ .num = b->nr },
		{ .num = a->count },
		{ .num = b->count },
		{ .num = (uint64_t)a->total },
		{ .num = (uint64_t)b->total },
		{ .text = diff_verdicts[item->verdict] },
		{ .text = diff_kinds[item->kind] },
		{ .text = item->name },
	};

	memcpy(cells, all, sizeof(all));
}

static void print_grid(const struct diff *d, enum grid_format format, uint64_t rows,
		       unsigned int width, bool colour)
{
	struct grid *grid = grid_create(columns, COLUMNS, format, width, colour);

	for (size_t i = 0; i < d->nr && (!rows || i < rows); i++) {
		struct grid_cell cells[COLUMNS];

		fill_cells(&d->items[i], cells);
		grid_row(grid, cells);
	}
	if (d->nr || format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
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

static void print_markdown(const struct diff *d, uint64_t rows)
{
	char a[UI_NUMBER_SIZE], b[UI_NUMBER_SIZE];

	ui_put("| change | 95 % interval | A | B | verdict | what | name |\n"
	       "|---:|---|---:|---:|---|---|---|\n");
	for (size_t i = 0; i < d->nr && (!rows || i < rows); i++) {
		const struct diff_item *item = &d->items[i];
		const struct compare_result *r = &item->result;

		if (!item->sides[0].nr || !item->sides[1].nr) {
			ui_put("| | | | |");
		} else {
			ui_putf("| %+.1f %% | ", 100 * r->change);
			if (diff_has_interval(item))
				ui_putf("%+.1f %% to %+.1f %%", 100 * r->low, 100 * r->high);
			ui_putf(" | %s | %s |", ui_time(a, (uint64_t)r->a),
				ui_time(b, (uint64_t)r->b));
		}
		ui_putf(" %s | %s | ", diff_verdicts[item->verdict], diff_kinds[item->kind]);
		put_markdown(item->name);
		ui_put(" |\n");
	}
}

/* The smallest number of runs on each side with which a difference can be found. */
static unsigned int runs_needed(const struct diff *d)
{
	unsigned int nr = 2;

	while (compare_least_p(nr, nr) > COMPARE_ALPHA / (double)d->nr_compared)
		nr++;
	return nr;
}

static void report_rest(const struct diff *d, uint64_t rows)
{
	const size_t *nr = d->nr_verdicts;

	if (rows && d->nr > rows)
		ui_say("... and %zu more (-n 0 shows all)", d->nr - (size_t)rows);
	ui_say("%zu slower, %zu faster, %zu with no difference that can be distinguished from noise, %zu only on one "
	       "side",
	       nr[DIFF_SLOWER], nr[DIFF_FASTER], nr[DIFF_NOISE], nr[DIFF_ONLY_A] + nr[DIFF_ONLY_B]);
	if (nr[DIFF_TOO_FEW])
		ui_say("%zu %s too few values to tell; %u runs on each side suffice, or fewer with --by",
		       nr[DIFF_TOO_FEW], nr[DIFF_TOO_FEW] == 1 ? "has" : "have", runs_needed(d));
	if (d->pooled && nr[DIFF_SLOWER] + nr[DIFF_FASTER])
		ui_say("a side of one run does not show how much runs differ among each other: give several");
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

static void read_sides(struct diff *d, const struct opt_parsed *p, int only)
{
	int vs = find_sides(p), first_b = vs < 0 ? 1 : vs + 1;
	int nr_a = vs < 0 ? 1 : vs, nr_b = p->nr_operands - first_b;

	if (vs < 0 && p->nr_operands > 2)
		ui_die(STATUS_USAGE, "%d files: write vs between the two sides: A1 A2 vs B1 B2",
		       p->nr_operands);
	if (nr_a < 1 || nr_b < 1)
		ui_die(STATUS_USAGE, "vs: there is no file on one side of it");
	d->pooled = nr_a == 1 || nr_b == 1;
	d->files[0] = p->operands;
	d->files[1] = p->operands + first_b;
	d->nr_files[0] = nr_a;
	d->nr_files[1] = nr_b;
	for (int i = 0; i < nr_a; i++)
		read_run(d, 0, p->operands[i], only);
	for (int i = 0; i < nr_b; i++)
		read_run(d, 1, p->operands[first_b + i], only);
}

static void free_diff(struct diff *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		free(d->items[i].name);
		free(d->items[i].sides[0].values);
		free(d->items[i].sides[1].values);
	}
	free(d->items);
	map_fini(&d->by_name);
}

static void print_document(const struct diff *d, const struct gate *gate, int format, uint64_t rows,
			   unsigned int width, bool colour)
{
	if (format == HTML)
		diff_html_print(d, gate, rows);
	else if (format == MARKDOWN)
		print_markdown(d, rows);
	else
		print_grid(d, (enum grid_format)format, rows, width, colour);
}

static void write_document(const struct diff *d, const struct gate *gate, int format, uint64_t rows,
			   const char *output)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int err;

	if (!file)
		ui_die_memory();
	ui_output(file);
	print_document(d, gate, format, rows, 0, false);
	ui_output(stdout);
	if (fclose(file) || !text)
		ui_die_memory();
	err = exporter_write(output, text);
	if (err)
		ui_die(STATUS_FAILED, "%s: can't be written: %s; choose another with -o", output,
		       strerror(-err));
	ui_say("%s: written", output);
	free(text);
}

static int run_diff(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	int format = (int)v[O_FORMAT].num;
	uint64_t rows = v[O_ROWS].count ? v[O_ROWS].num : format == GRID_TEXT ? 20 : 0;
	struct gate *gate = v[O_FAIL_IF].count ? gate_parse(v[O_FAIL_IF].text, diff_kinds) : NULL;
	const char *output = v[O_OUTPUT].text ? exporter_output(v[O_OUTPUT].text, NULL) : NULL;
	bool failed = false, is_file = output && strcmp(output, "-") != 0;
	struct diff d = { 0 };

	ui_quiet(v[O_QUIET].count > 0);
	if (is_file)
		exporter_check(output, v[O_FORCE].count > 0, STATUS_FAILED);
	read_sides(&d, p, v[O_BY].count ? (int)v[O_BY].num : -1);
	compare_all(&d, v[O_SEED].count ? v[O_SEED].num : 1);
	if (d.nr)
		qsort(d.items, d.nr, sizeof(*d.items), compare_items);
	if (format == HTML) /* what fails is in the page */
		failed = gate && gate_check(gate, &d);
	if (is_file)
		write_document(&d, gate, format, rows, output);
	else
		print_document(&d, gate, format, rows,
			       v[O_WIDE].count ? 0 : ui_columns(STDOUT_FILENO, 0),
			       ui_colour(STDOUT_FILENO));
	report_rest(&d, rows);
	if (format != HTML)
		failed = gate && gate_check(gate, &d);
	gate_free(gate);
	free_diff(&d);
	return failed ? STATUS_FAILED : 0;
}

static const struct opt_status statuses[] = {
	{ "0", "done" },
	{ "1", "a condition of --fail-if holds, or a FILE can't be read" },
	{ "2", "the command line is wrong, or a condition matches no name" },
	{ "3", "a FILE is a device, a FIFO or a socket" },
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
		"Compares the durations of kernels, calls, kinds of copies, and ranges of the same name on two sides, each of one "
		"trace or several.\n\n"
		"  change     of the median, from A to B; from and to: in this range it is with 95 %\n"
		"  effect     share of pairs in which the one of B is longer: 50 % is none\n"
		"  verdict    slower, faster; noise: no difference that can be distinguished from noise; too few:\n"
		"             with so few values no difference could be; only in A, only in B\n"
		"  p          chance of at least such a difference without a cause (csv, json)\n\n"
		"With two or more runs on each side the medians of the runs are compared, which is the honest way: runs differ by "
		"clocks, temperature and neighbours. With one run on a side all durations are compared, and a difference between "
		"the two runs may have any cause.\n\n"
		"The test is that of Mann and Whitney, with Holm's correction: the chance that anything is called slower or faster "
		"in a whole comparison without a cause is below 5 %. Besides, the interval of the change, a bootstrap of medians, must not "
		"have 0 in it. An interval needs 6 values on each side. For the same files and the same "
		"--seed the output is the same.",
	.examples =
		"rtl diff before.db after.db\nrtl diff old/*.db vs new/*.db\n"
		"rtl diff a.db b.db --by kernel --format markdown\n"
		"rtl diff old/*.db vs new/*.db -f html -o diff.html\n"
		"rtl diff old/*.db vs new/*.db --fail-if 'kernel:gemm.* > +5%; range:step > 2%'\n",
	.run = run_diff,
};
