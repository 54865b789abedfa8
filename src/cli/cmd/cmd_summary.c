/* SPDX-License-Identifier: MIT */
/* cmd_summary.c - rtl summary: what a trace amounts to, on one screen or as tables
 *
 * Not here: the tables (summary.h lists their files).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/capture.h"
#include "cli/checks.h"
#include "cli/cmd/commands.h"
#include "cli/read/summary.h"
#include "cli/ui.h"
#include "counter/view.h"
#include "export/csv/csv.h"

enum {
	O_ROWS,
	O_BY,
	O_DOMAIN,
	O_FORMAT,
	O_COLUMNS,
	O_UNITS,
	O_INTERNAL,
	O_WIDE,
	O_SORT,
	O_NAMES,
	O_TIME,
	O_RANGE,
	O_KERNELS,
	O_GPUS,
	O_RANKS,
	O_METRICS,
	O_COLLECTIVES,
	O_PATH,
	O_QUIET
};

static const char *check_time(const char *text);

static const struct opt options[] = {
	[O_ROWS] = { 'n', "rows", OPT_UINT, .arg = "N", .choices = "0..1000000000",
		     .help = "at most N rows; 0: all (20 in a table, else all)",
		     .more = "Of each table of the overview: 5, and 32 at most." },
	[O_BY] = { 'b', "by", OPT_CHOICE, .arg = "WHAT", .choices = SUMMARY_CHOICES,
		   .help = "tables instead of the overview: kernel, api, gpu, ...",
		   .more = "Several, separated by commas, print several tables, which are made in one pass over the trace. rank or process right behind kernel, api, copy, marker, range or mpi divides each row by them: --by kernel,rank. counter: of each kernel. range: the ranges as a "
			   "tree. error: failed calls. path: the critical path. gap: times in which a GPU had nothing to do, and what the host did. collective: who comes last to the collectives of several GPUs, by how much and why. clock: how far the clocks of the hosts of a merged trace are apart, and how well that is known. imbalance: kernels and ranges whose time differs between ranks and GPUs, and which rank is slow, and when. mpi: calls of MPI by function, with the bytes that they send and the GPU's work that began in them. With "
			   "csv and json it is kernel unless it is given.",
		   .several = true },
	[O_DOMAIN] = { 0, "domain", OPT_CHOICE, .arg = "DOMAIN", .choices = "hip|hsa|rccl|mpi",
		       .help = "with --by api: calls of hip, hsa, rccl or mpi alone" },
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = GRID_FORMATS,
		       .help = "form of the output: table (default), csv, json",
		       .more = "csv and json have whole nanoseconds and bytes, and full names. json of several tables is an "
			       "object with a member for each." },
	[O_COLUMNS] = { 0, "columns", OPT_CHOICE, .arg = "WHOSE", .choices = "rtl|rocprof",
			.help = "with --format csv: rtl's columns (default) or rocprof's",
			.more = "rocprof's are Name, Calls, TotalDurationNs, AverageNs, Percentage, for kernels, calls "
				"and copies, as in the files of rtl convert -f csv: --by kernel is stats.csv, "
				"--by copy copy_stats.csv, --by api --domain hip hip_stats.csv.",
			.in_manual = true },
	[O_UNITS] = { 'u', "units", OPT_CHOICE, .arg = "HOW", .choices = GRID_UNITS,
		      .help = "numbers: scaled (with units), raw, or auto (default)",
		      .more = "auto is scaled in a table and raw in csv and json.",
		      .in_manual = true },
	[O_INTERNAL] = { 0, "internal", .help = "the runtime's internal kernels, not the program's",
			 .more = "The runtimes use them for copies and fills. With --by copy: what did each of them, a copy "
				 "engine or such a kernel." },
	[O_WIDE] = { 'w', "wide", .help = "all columns and full names, for any terminal width" },
	[O_SORT] = { 0, "sort", OPT_TEXT, .arg = "COLUMN",
		     .help = "sort by this column: mean, calls, name, ...",
		     .more = "Its title or its name in csv, or the begin of that: mean for mean_ns. The largest number or the "
			     "first name is first." },
	[O_NAMES] = { 0, "names", OPT_CHOICE, .arg = "FORM", .choices = NAMES_FORMS,
		      .help = "names of kernels: auto, short, medium, full, mangled",
		      .more = "short has neither scope nor parameters, and only template arguments in which kernels differ; medium "
			      "has all but the parameters. auto takes the longest form that fits the terminal; without a terminal "
			      "and in csv and json it is full." },
	[O_TIME] = { 0, "time", OPT_TEXT, .arg = "A:B", .why_not = check_time,
		     .help = "only what overlaps this time: 1.5:2, 100ms:, :3s",
		     .more = "From the begin of the trace, in seconds without a unit. Durations are whole; busy and idle times are the parts within it." },
	[O_RANGE] = { 0, "range", OPT_TEXT, .arg = "NAME[@N]", .why_not = checks_range,
		      .help = "only what was called in this roctx range",
		      .more = "On its thread, in ranges of start and stop on any thread. NAME as for rtl trace --range: * is any "
			      "text; @N the N-th one of each process." },
	[O_KERNELS] = { 0, "kernels", OPT_TEXT, .arg = "REGEX", .why_not = checks_regex,
			.help = "only these kernels; copies are kept",
			.more = "As for rtl trace --kernels. With --internal also those of the runtimes, and of the copies and "
				"fills by kernels only those by these. If it matches none that was dispatched, it is an error: status 1." },
	[O_GPUS] = { 0, "gpus", OPT_TEXT, .arg = "LIST", .why_not = checks_list,
		     .help = "only operations of these GPUs: 0,2-3",
		     .more = "If the trace has none of them, it is an error: status 1." },
	[O_RANKS] = { 0, "ranks", OPT_TEXT, .arg = "LIST", .why_not = checks_list,
		      .help = "only processes of these ranks",
		      .more = "And those without a rank, such as a launcher. If none has such a rank, it is an error: status 1." },
	[O_METRICS] = { 0, "metrics", OPT_CHOICE, .arg = "VIEW", .choices = VIEW_CHOICES,
			.help = "with --by kernel: compute, memory or roofline",
			.more = "Of traces with rtl trace --pmc compute, memory or roofline: rates and shares of each kernel, and the most "
				"that its GPU can do. Units and clock are the agent's in the trace; the bandwidth of memory is that of a data "
				"sheet, which is named. The peak of roofline is the lower one of the two that computing and memory "
				"allow." },
	[O_COLLECTIVES] = { 0, "collectives", OPT_TEXT, .arg = "REGEX", .why_not = checks_regex,
			    .help = "with --by collective, imbalance: these kernels are collectives, too",
			    .more = "Those of RCCL, MSCCL++, vLLM, SGLang and AITER are known.",
			    .in_manual = true },
	[O_PATH] = { 0, "critical-path", .help = "what the program's time consists of: --by path",
		     .more = "The chain of calls, operations and waits from its begin to its end, along launches, streams, events and "
			     "waiting calls: what is not on it does not make the program faster. kind is kernel, copy, call, host (outside of calls), launch "
			     "(from the end of the call to the begin of the operation) or wait (from the end of the operation before). "
			     "Takes 100 bytes of memory for each operation and call." },
	[O_QUIET] = { 'q', "quiet", .in_manual = true,
		      .help = "no line below a table: print errors only" },
};

/* ---- parts of the trace ---- */

static char why[CAPTURE_ERROR_SIZE];

/* Nanoseconds; "" is `otherwise`. */
static int read_time(const char *text, size_t size, int64_t otherwise, int64_t *ns)
{
	char copy[64];
	uint64_t value;

	*ns = otherwise;
	if (!size)
		return 0;
	if (size >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, size);
	copy[size] = 0;
	if (capture_seconds(copy, size, &value, why) && capture_time(copy, &value, why))
		return -EINVAL;
	*ns = (int64_t)value;
	return 0;
}

static int parse_time(const char *text, int64_t *from, int64_t *to)
{
	size_t size = strcspn(text, ":");

	if (text[size] != ':' || !text[1] || read_time(text, size, 0, from) ||
	    read_time(text + size + 1, strlen(text + size + 1), INT64_MAX, to) || *from >= *to)
		return -EINVAL;
	return 0;
}

static const char *check_time(const char *text)
{
	int64_t from, to;

	if (!parse_time(text, &from, &to))
		return NULL;
	snprintf(why, sizeof(why),
		 "'%.40s' is no time A:B from the begin of the trace, as in 1.5:2, 100ms:200ms, 3:",
		 text);
	return why;
}

static void choose_part(struct summary *s, const struct opt_value *v)
{
	struct slice *f = &s->tables.filter;

	if (v[O_TIME].text) {
		int64_t begin = summary_begin(s->q);

		f->has_time = true;
		parse_time(v[O_TIME].text, &f->from_ns, &f->to_ns);
		f->from_ns += begin;
		f->to_ns = f->to_ns > INT64_MAX - begin ? INT64_MAX : f->to_ns + begin;
	}
	f->range = v[O_RANGE].text;
	f->kernels = v[O_KERNELS].text;
	f->internal = s->tables.internal;
	f->gpus = v[O_GPUS].text;
	f->ranks = v[O_RANKS].text;
	db_check(s->q, slice_apply(s->q, f));
}

/* ---- the command ---- */

/* rocprof's name for the requested table; ends the process if rocprof has none. */
static const char *rocprof_table(const struct summary *s, enum summary_by by)
{
	static const char *const of_calls[] = { "api_stats", "hip_stats", "hsa_stats" };

	if (s->style.format != GRID_CSV)
		ui_die(STATUS_USAGE, "--columns=rocprof: needs --format csv");
	if (by == SUMMARY_KERNEL && !s->tables.internal)
		return "stats";
	if (by == SUMMARY_COPY)
		return "copy_stats";
	if (by == SUMMARY_API)
		return of_calls[s->tables.domain];
	ui_die(STATUS_USAGE,
	       "--columns=rocprof: rocprof has no such table; use --by kernel, api or copy");
}

static void print_rocprof(struct summary *s, const char *table)
{
	struct json *j = malloc(sizeof(*j));
	int err;

	if (!j)
		ui_die_memory();
	json_init(j, json_write_file, ui_output_file());
	err = csv_print(s->q, table, s->rows, j);
	free(j);
	if (err != -EPIPE)
		db_check(s->q, err);
}

/* Whether --by has a table. */
static bool has_table(const char *by, enum summary_by table)
{
	do {
		if (opts_next_choice(SUMMARY_CHOICES, &by) == (int)table)
			return true;
	} while (*by);
	return false;
}

static int run_summary(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	struct summary *s = calloc(1, sizeof(*s));
	const char *table, *by = v[O_BY].text;
	enum summary_by first;

	if (!s)
		ui_die_memory();
	ui_quiet(v[O_QUIET].count > 0);
	s->style = grid_style((enum grid_format)v[O_FORMAT].num);
	s->style.units = (enum grid_units)v[O_UNITS].num;
	s->tables.internal = v[O_INTERNAL].count > 0;
	s->style.width = v[O_WIDE].count ? 0 : ui_columns(STDOUT_FILENO, 0);
	s->rows = v[O_ROWS].count ? v[O_ROWS].num : UINT64_MAX;
	s->tables.domain = v[O_DOMAIN].count ? (enum tables_domain)(v[O_DOMAIN].num + 1) :
					       TABLES_ANY;
	s->tables.collectives = v[O_COLLECTIVES].text;
	s->sort = v[O_SORT].text;
	s->style.names = (enum names_form)v[O_NAMES].num;
	s->tables.mangled = s->style.names == NAMES_MANGLED;
	if (v[O_PATH].count && by)
		ui_die(STATUS_USAGE, "--critical-path: is --by path; give one of the two");
	if (v[O_PATH].count)
		by = "path";
	/* --internal, --sort and --wide are about a table */
	if (!by)
		by = s->style.format == GRID_TEXT && !s->tables.internal && !s->sort &&
				     !v[O_METRICS].count ?
			     "overview" :
			     "kernel";
	if (s->tables.domain && !has_table(by, SUMMARY_API))
		ui_die(STATUS_USAGE, "--domain: needs --by api");
	s->tables.metrics = v[O_METRICS].text;
	if (s->tables.metrics && !has_table(by, SUMMARY_KERNEL))
		ui_die(STATUS_USAGE, "--metrics: needs --by kernel");
	first = (enum summary_by)opts_next_choice(SUMMARY_CHOICES, &(const char *){ by });
	table = v[O_COLUMNS].num ? rocprof_table(s, first) : NULL;
	s->q = s->tables.q = db_open_all((const char *const *)p->operands, (size_t)p->nr_operands);
	choose_part(s, v);
	if (table) {
		if (s->rows == UINT64_MAX)
			s->rows = 0;
		print_rocprof(s, table);
	} else {
		summary_print(s, by);
	}
	summary_free(s);
	return 0;
}

static const struct opt_status statuses[] = {
	{ "0", "done, also where a table has no rows" },
	{ "1", "FILE can't be read, or lacks that range, kernel, GPU or rank" },
	{ "2", "the command line is wrong" },
	{ "3", "FILE is a device, a FIFO or a socket" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_summary = {
	.name = "summary",
	.summary = "shows where a program's time went: an overview, or tables",
	.usage = "FILE... [options]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = -1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = statuses,
	.about =
		"Reads a database of rtl trace or of RPD, or a raw trace. Several are those of a job's ranks: they are "
		"merged in TMPDIR first, as by rtl merge, which is to be preferred where more than one table is wanted. Without --by it prints an overview: the time of "
		"the program, how busy each GPU was, what the host did while none worked, the longest kernels, "
		"copies, calls and ranges, failed calls, what is missing from the trace, and findings: what is wrong "
		"with the program, each with its numbers.\n"
		"\n"
		"With --by it prints a table with one row for each of something, the longest total first. A table has the "
		"columns that fit the terminal beside the names; --wide, csv and json have all of them. Without a terminal "
		"nothing is left out or shortened.\n"
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
		"  occupancy  of a kernel: waves that a SIMD can have at a time, of those that it has space for;\n"
		"             limit: what allows no more (registers, LDS, size of a workgroup)\n"
		"  errors     calls that returned an error\n"
		"  gpu_ns     of a marker: time of the kernels and copies with it as innermost range; of a\n"
		"             range: of all that was launched in it, and in the ranges within\n"
		"  own        of a range: the part of that which no range within has\n"
		"  gpu span   of a range: from the begin of its first operation to the end of its last one\n"
		"  busy       of a GPU or stream: time with at least one operation, divided by the time of the\n"
		"             program after its start-up (the overview says where that ends); or by the part\n"
		"             that --time or --range selects; of a trace that was paused: by the time from the\n"
		"             first record to the last, pauses in between too\n"
		"  span       from its first to its last operation\n"
		"  of_mean    of a rank or process: the time of its kernels and copies, divided by the mean of all (csv, json);\n"
		"             of a row that is divided by them: its total, divided by the mean of those that have the name\n"
		"  max/mean   the most of that: how uneven they are; slowest is the rank or pid that has it\n"
		"  ranks      of a GPU: the ranks and pids of the processes that used it\n"
		"  untimed    calls whose times are missing or inverted; they are not in the times\n"
		"\n"
		"A copy or a fill is one, whatever did it: a copy engine, a kernel of ROCr, or a kernel of HIP "
		"(__amd_rocclr_copyBuffer), whose bytes and kind are those of the call. --internal shows the means.",
	.examples =
		"rtl summary trace.db\nrtl summary trace.db --by kernel,copy -n 5\n"
		"rtl summary trace.db --by range --wide\n"
		"rtl summary ranks.db --by kernel,rank\n"
		"rtl summary rank*.db --by imbalance\n"
		"rtl summary trace.db --by gap --gpus 1\n"
		"rtl summary trace.db --by kernel --range 'step *@3' --sort mean\n"
		"rtl summary trace.db --by counter\n"
		"rtl summary trace.db --by kernel --metrics roofline\n"
		"rtl summary trace.db --format csv > kernels.csv\n"
		"rtl summary trace.db --by api --domain hip --format csv --columns rocprof > hip_stats.csv\n",
	.run = run_summary,
};
