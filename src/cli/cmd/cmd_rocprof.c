/* SPDX-License-Identifier: MIT */
/* cmd_rocprof.c - rtl rocprof: takes rocprof's options, runs `rtl trace`, writes rocprof's files
 *
 * Order: options -> refusals -> trace to a database beside the output -> files -> the database is
 * removed.
 *
 * Not here: the files (export/csv/, export/chrome_trace/), the lists (rocprof_list.c).
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/front.h"
#include "cli/cmd/rocprof_list.h"
#include "cli/pmc/pmc.h"
#include "cli/read/exporter.h"
#include "cli/ui.h"
#include "export/csv/csv.h"
#include "export/export.h"
#include "rtl_version.h"

enum {
	O_BASIC,
	O_DERIVED,
	O_INPUT,
	O_OUTPUT,
	O_DATA,
	O_TEMPORARY,
	O_METRICS,
	O_TIMESTAMP,
	O_BASENAMES,
	O_STATS,
	O_HIP,
	O_HSA,
	O_ROCTX,
	O_SYS,
	O_START,
	O_PERIOD,
	O_PARALLEL,
	O_VERBOSE,
	O_VERSION,
	O_TOOL,
	O_RENAME,
	O_MERGE,
	O_QTS,
	O_WAIT,
	O_LIMIT,
	O_HEARTBEAT,
	O_TRACKING,
	O_FLUSH,
	O_SIZE,
	O_VGPU,
	O_KEEP,
	O_NR
};

#define ON_OFF OPT_CHOICE, .arg = "WHEN", .choices = "on|off"

static const struct opt options[O_NR] = {
	[O_BASIC] = { 0, "list-basic", .help = "list the counters of the GPUs" },
	[O_DERIVED] = { 0, "list-derived", .help = "list the metrics of the GPUs" },
	[O_INPUT] = { 'i', "input", OPT_FILE, .arg = "FILE",
		      .help = "what to count: input.txt or input.xml",
		      .more = "As rtl trace --pmc-file. The program runs once for each line pmc, and the counters are joined in "
			      "one row for each dispatch." },
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE.csv",
		       .help = "the table of kernels (results.csv)",
		       .more = "The other files have its name with another ending. Existing ones are replaced." },
	[O_DATA] = { 'd', "data-directory", OPT_DIR, .arg = "DIR",
		     .help = "has no effect: rtl keeps no raw data",
		     .more = "rtl rocprof --keep-database keeps the database.", .in_manual = true },
	[O_TEMPORARY] = { 't', "temporary-directory", OPT_DIR, .arg = "DIR",
			  .help = "directory for the raw trace meanwhile", .in_manual = true },
	[O_METRICS] = { 'm', "metrics", OPT_FILE, .arg = "FILE",
			.help = "counters and metrics of one's own: metrics.xml",
			.more = "As rtl trace --metrics-file, with --metrics-rules=v1." },
	[O_TIMESTAMP] = { 0, "timestamp", ON_OFF, .help = "times of kernels in the table (off)",
			  .more = "--stats and the traces turn them on." },
	[O_BASENAMES] = { 0, "basenames", ON_OFF,
			  .help = "kernels' names without arguments (off)" },
	[O_STATS] = { 0, "stats", .help = "statistics of kernels: FILE.stats.csv" },
	[O_HIP] = { 0, "hip-trace", .help = "HIP calls: FILE.hip_stats.csv, FILE.json" },
	[O_HSA] = { 0, "hsa-trace", .help = "HSA calls: FILE.hsa_stats.csv, FILE.json" },
	[O_ROCTX] = { 0, "roctx-trace", .help = "markers and ranges: FILE.json" },
	[O_SYS] = { 0, "sys-trace", .help = "HIP and HSA calls" },
	[O_START] = { 0, "trace-start", ON_OFF, .in_manual = true,
		      .help = "off: not before the program's roctracer_start()" },
	[O_PERIOD] = { 0, "trace-period", OPT_TEXT, .arg = "DELAY:LENGTH:RATE", .in_manual = true,
		       .help = "record LENGTH in every RATE, after DELAY",
		       .more = "Numbers with m, s, ms or us; s if there is none." },
	[O_PARALLEL] = { 0, "parallel-kernels", .in_manual = true,
			 .help = "kernels run at the same time",
			 .more = "With counters rtl runs the kernels of a GPU one at a time, since counters are those of the whole GPU: "
				 "leave -i or this option out. Without counters they run as ever." },
	[O_VERBOSE] = { 0, "verbose", .in_manual = true, .help = "print what rtl does" },
	[O_VERSION] = { 0, "version", .in_manual = true, .help = "print the version and stop" },
	[O_TOOL] = { 0, "tool-version", OPT_CHOICE, .arg = "N", .choices = "1|2", .in_manual = true,
		     .help = "1; for 2 use rtl rocprofv3" },
	[O_RENAME] = { 0, "roctx-rename", .in_manual = true,
		       .help = "use rtl rocprofv3 --kernel-rename" },
	[O_MERGE] = { 0, "merge-traces", .in_manual = true, .help = "use rtl merge" },
	[O_QTS] = { 0, "cmd-qts", ON_OFF, .in_manual = true, .help = "has no effect" },
	[O_WAIT] = { 0, "ctx-wait", ON_OFF, .in_manual = true, .help = "has no effect" },
	[O_LIMIT] = { 0, "ctx-limit", OPT_TEXT, .arg = "N", .in_manual = true,
		      .help = "has no effect" },
	[O_HEARTBEAT] = { 0, "heartbeat", OPT_TEXT, .arg = "SECONDS", .in_manual = true,
			  .help = "has no effect; rtl top shows progress" },
	[O_TRACKING] = { 0, "obj-tracking", ON_OFF, .in_manual = true, .help = "has no effect" },
	[O_FLUSH] = { 0, "flush-rate", OPT_TEXT, .arg = "TIME", .in_manual = true,
		      .help = "has no effect: a killed program loses nothing" },
	[O_SIZE] = { 0, "trace-size", OPT_TEXT, .arg = "SIZE", .in_manual = true,
		     .help = "has no effect" },
	[O_VGPU] = { 0, "virtual-gpu", OPT_UINT, true, "N", "1..16",
		     "rtl's: run on N virtual GPUs (1)", .more = "As rtl trace --virtual-gpu.",
		     .in_manual = true },
	[O_KEEP] = { 0, "keep-database", .in_manual = true,
		     .help = "rtl's: keep the database that rtl trace wrote" },
};

struct rocprof {
	const struct opt_parsed *p;
	struct csv_choice choice;
	bool has_traces, has_basenames;
	char *base, *database; /* of the outputs, without .csv */
	struct front_line line;
};

static bool is_given(const struct rocprof *r, int option)
{
	return r->p->values[option].count > 0;
}

static bool is_choice(const struct rocprof *r, int option, uint64_t choice)
{
	return is_given(r, option) && r->p->values[option].num == choice;
}

/* ---- what is there and what is not ----------------------------------------------------------- */

/* The status for options that rtl lacks, or 0. */
static int refuse(const struct rocprof *r)
{
	static const int idle[] = { O_DATA,	 O_QTS,	     O_WAIT,  O_LIMIT,
				    O_HEARTBEAT, O_TRACKING, O_FLUSH, O_SIZE };
	const struct {
		bool is_on;
		int option;
		const char *instead;
	} lacks[] = {
		{ is_choice(r, O_TOOL, 1), O_TOOL, "2 is another tool; use rtl rocprofv3" },
		{ is_given(r, O_RENAME), O_RENAME, "use rtl rocprofv3 --kernel-rename" },
		{ is_given(r, O_MERGE), O_MERGE, "use rtl merge for databases" },
		{ is_given(r, O_PARALLEL) && is_given(r, O_INPUT), O_PARALLEL,
		  "kernels that are counted run one at a time; leave -i or this option out" },
	};
	int status = 0;

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++) {
		if (!lacks[i].is_on)
			continue;
		ui_error("--%s: %s", options[lacks[i].option].name, lacks[i].instead);
		status = STATUS_LACKS;
	}
	for (size_t i = 0; i < sizeof(idle) / sizeof(idle[0]); i++)
		if (is_given(r, idle[i]))
			ui_say("--%s: %s", options[idle[i]].name, options[idle[i]].help);
	return status;
}

static void choose_content(struct rocprof *r)
{
	bool hip = is_given(r, O_HIP) || is_given(r, O_SYS),
	     hsa = is_given(r, O_HSA) || is_given(r, O_SYS);

	r->has_traces = hip || hsa || is_given(r, O_ROCTX);
	r->has_basenames = is_choice(r, O_BASENAMES, 0);
	r->choice = (struct csv_choice){
		.stats = is_given(r, O_STATS) || r->has_traces,
		.hip = hip,
		.hsa = hsa,
	};
	if (r->choice.stats && is_choice(r, O_TIMESTAMP, 1))
		ui_die(STATUS_TRACE,
		       "--timestamp off: --stats and the traces are made of times; leave one of them out");
	r->choice.times = r->choice.stats || is_choice(r, O_TIMESTAMP, 0);
}

static void choose_names(struct rocprof *r)
{
	const char *out = r->p->values[O_OUTPUT].text ? r->p->values[O_OUTPUT].text : "results.csv";
	size_t n = strlen(out);

	if (n < 5 || strcmp(out + n - 4, ".csv") != 0)
		ui_die(STATUS_TRACE, "-o %s: the name ends in .csv", out);
	exporter_check(out, true, STATUS_TRACE);
	r->base = ui_keep(ui_format("%.*s", (int)(n - 4), out));
	r->database = ui_keep(ui_format("%s.rtl-%ld.db", r->base, (long)getpid()));
}

/* ---- the command line of rtl trace ----------------------------------------------------------- */

/* Seconds of a number with m, s, ms or us. */
static bool read_time(const char **at, double *seconds)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "ms", 1e-3 }, { "us", 1e-6 }, { "m", 60 }, { "s", 1 } };
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*seconds = strtod(*at, &end);
	*at = end;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(*at, units[i].name, n) != 0)
			continue;
		*seconds *= units[i].seconds;
		*at += n;
		break;
	}
	return true;
}

/* DELAY:LENGTH:RATE -> the first window, and those after it, whose begins are RATE apart. */
static void add_period(struct rocprof *r)
{
	const char *text = r->p->values[O_PERIOD].text, *at = text;
	double delay = 0, length = 0, rate = 0;

	if (!read_time(&at, &delay) || *at++ != ':' || !read_time(&at, &length) || *at++ != ':' ||
	    !read_time(&at, &rate) || *at || length <= 0 || rate < length)
		ui_die(STATUS_TRACE,
		       "--trace-period: '%.80s' is not DELAY:LENGTH:RATE with a LENGTH of at most RATE: 10s:500ms:1m",
		       text);
	front_add(&r->line, "--period",
		  ui_keep(ui_format("%.9f:%.9f:1 %.9f:%.9f:0", delay, length, rate - length,
				    length)));
}

static void make_line(struct rocprof *r)
{
	const struct opt_value *v = r->p->values;
	struct front_line *l = &r->line;

	front_add(l, "trace", NULL);
	front_add(l, is_given(r, O_VERBOSE) ? "-v" : "-q", NULL);
	front_add(l, "-o", r->database);
	front_add(l, "--mode", r->choice.hip ? "hip" : "standard");
	/* AMD's files have those calls */
	if (r->choice.hip)
		front_add(l, "--internal", NULL);
	if (r->choice.hsa)
		front_add(l, "--hsa", NULL);
	if (v[O_INPUT].text) {
		front_add(l, "--pmc-file", v[O_INPUT].text);
		front_add(l, "--passes", "rerun");
	}
	if (v[O_METRICS].text && v[O_INPUT].text) {
		front_add(l, "--metrics-file", v[O_METRICS].text);
		front_add(l, "--metrics-rules", "v1");
	}
	if (v[O_TEMPORARY].text)
		front_add(l, "--spool-dir", v[O_TEMPORARY].text);
	if (is_choice(r, O_START, 1))
		front_add(l, "--trace-start", "off");
	if (v[O_PERIOD].text)
		add_period(r);
	front_add_gpus(l, &v[O_VGPU]);
	front_add(l, "--", NULL);
}

/* ---- the files ------------------------------------------------------------------------------- */

/* 0 or -errno. */
static int write_as(const struct rocprof *r, const char *format, const char *suffix,
		    struct job_result *res)
{
	const struct job_options opt = { .force = true,
					 .format = &r->choice,
					 .has_basenames = r->has_basenames };
	const char *input = r->database;
	char *out = ui_format("%s%s", r->base, suffix);
	int err = export_run(export_find(format), &input, 1, out, &opt, res);

	free(out);
	return err;
}

static int write_files(const void *arg)
{
	const struct rocprof *r = arg;
	struct job_result *res = calloc(1, sizeof(*res));
	int err, status;

	if (!res)
		ui_die_memory();
	err = write_as(r, "csv", ".csv", res);
	if (!err && r->has_traces)
		err = write_as(r, "chrome", ".json", res);
	status = front_check(res, err);
	if (!err)
		ui_say("%s.csv%s%s written; the trace is %s", r->base,
		       r->choice.stats ? " and statistics" : "", r->has_traces ? " and json" : "",
		       res->verdict);
	free(res);
	return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int print_lists(const struct rocprof *r)
{
	struct pmc_metrics *metrics =
		pmc_metrics_open(r->p->values[O_METRICS].text, EXPRESSION_V1, STATUS_TRACE);

	if (is_given(r, O_BASIC))
		rocprof_list_print(false, metrics, is_given(r, O_VGPU));
	if (is_given(r, O_DERIVED))
		rocprof_list_print(true, metrics, is_given(r, O_VGPU));
	return 0;
}

static int run_rocprof(const struct opt_parsed *p)
{
	static struct rocprof rocprof;
	struct rocprof *r = &rocprof;
	int status;

	r->p = p;
	if (is_given(r, O_VERSION)) {
		ui_put("rtl rocprof " RTL_VERSION_STRING
		       ", with the options of rocprof of ROCm 6.2 and the files of 5.2\n");
		return 0;
	}
	status = refuse(r);
	if (status)
		return status;
	if (is_given(r, O_BASIC) || is_given(r, O_DERIVED))
		return print_lists(r);
	if (!p->nr_operands)
		ui_die(STATUS_TRACE, "the program is missing; usage: rtl rocprof %s",
		       cmd_rocprof.usage);
	if (is_given(r, O_METRICS) && !is_given(r, O_INPUT))
		ui_say("-m: has no effect without -i, which names what to count");
	choose_content(r);
	choose_names(r);
	make_line(r);
	return front_finish(r->database, front_run(&r->line, p), is_given(r, O_KEEP), write_files,
			    r);
}

static const struct opt_status statuses[] = {
	{ "N", "the program's status; 128+N if signal N ended it" },
	{ "121", "an option that rtl has nothing for; nothing was run" },
	{ "125", "rtl failed; the program may not have run" },
	{ "126, 127", "the program can't be run, was not found" },
	{ NULL, NULL },
};

const struct command cmd_rocprof = {
	.name = "rocprof",
	.summary = "takes rocprof's options and writes its files",
	.usage = "[options] PROGRAM [ARG...]",
	.operands = "PROGRAM",
	.opts = options,
	.nr_opts = O_NR,
	.child = true,
	.min_operands = 0,
	.max_operands = -1,
	.usage_status = STATUS_TRACE,
	.statuses = statuses,
	.about =
		"For scripts that call rocprof: runs PROGRAM with rtl trace, and writes the files that rocprof writes. Options are those of the "
		"rocprof of ROCm 5 and 6, tool version 1.\n"
		"\n"
		"  results.csv            a row for each kernel: size, registers, counters, times\n"
		"  results.stats.csv      with --stats or a trace: times by kernel\n"
		"  results.hip_stats.csv  with --hip-trace, --sys-trace: times by HIP function\n"
		"  results.hsa_stats.csv  with --hsa-trace, --sys-trace: times by HSA function\n"
		"  results.copy_stats.csv with a trace: times by kind of copy\n"
		"  results.json           with a trace: for chrome://tracing and ui.perfetto.dev\n"
		"\n"
		"results.db and results.sysinfo.txt are not written: rtl trace writes a database, rtl info and rtl doctor print what is known of "
		"the machine.\n"
		"\n"
		"An option that rtl has nothing for ends rtl rocprof with status 121 before PROGRAM runs; the message says what to use "
		"instead. One that could change nothing is accepted with a message.",
	.examples = "rtl rocprof --stats ./app\n"
		    "rtl rocprof -i input.txt -o counters.csv ./app --size 4\n"
		    "rtl rocprof --sys-trace --roctx-trace -o run.csv ./train\n",
	.run = run_rocprof,
};
