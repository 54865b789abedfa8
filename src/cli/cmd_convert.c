/* SPDX-License-Identifier: MIT */
/* cmd_convert.c - rtl convert: a trace in a format that another tool reads */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/db.h"
#include "cli/ui.h"
#include "export/export.h"

enum { O_FORMAT, O_OUTPUT, O_FORCE, O_QUIET, O_PROGRESS };

static const struct opt options[] = {
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT",
		       .choices = "perfetto|chrome|kineto|csv|rpd",
		       .help = "what to write: perfetto (or chrome), kineto, csv, rpd",
		       .more = "perfetto and chrome are one format: it is read by ui.perfetto.dev, "
			       "chrome://tracing and speedscope. kineto is what PyTorch's profiler writes, for "
			       "HTA, TraceLens and TensorBoard. csv are rocprof's files, for scripts. rpd is the database itself, for a raw trace." },
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "OUT",
		       .help = "output (FILE with the format's ending); - is stdout",
		       .more = "A name that ends in .gz is compressed. Of csv a directory, or what the names of "
			       "the files begin with." },
	[O_FORCE] = { 0, "force", .help = "overwrite an existing output" },
	[O_QUIET] = { 'q', "quiet", .help = "say nothing but errors" },
	[O_PROGRESS] = { 0, "progress", OPT_CHOICE, .arg = "WHEN", .choices = "auto|always|never",
			 .help = "progress bar: auto (default), always, never" },
};

static const char *const format_names[] = { "perfetto", "chrome", "kineto", "csv", "rpd" };

/* FILE.db -> FILE.json, in the same directory */
static char *default_output(const char *input, const char *suffix)
{
	const char *slash = strrchr(input, '/'), *dot = strrchr(input, '.');
	size_t n = strlen(input);

	if (dot && dot > (slash ? slash + 1 : input))
		n = (size_t)(dot - input);
	return ui_format("%.*s%s", (int)n, input, suffix);
}

static int run(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	const char *input = p->operands[0], *output = v[O_OUTPUT].text;
	const struct export_format *format;
	struct rpd_result *res = calloc(1, sizeof(*res));
	struct ui_progress progress;
	struct rpd_options opt = {
		.force = v[O_FORCE].count > 0,
		.progress = ui_progress_step,
		.progress_arg = &progress,
	};
	int err;

	if (!res)
		ui_die_memory();
	if (!v[O_FORMAT].count)
		ui_die(STATUS_USAGE, "the format is missing: -f perfetto");
	ui_quiet(v[O_QUIET].count > 0);
	format = export_find(format_names[v[O_FORMAT].num]);
	if (!format)
		ui_die(STATUS_USAGE, "--format: this build has no '%s'",
		       format_names[v[O_FORMAT].num]);
	if (!output)
		output = ui_keep(default_output(input, format->suffix));
	if (!format->several && strcmp(output, "-") && !opt.force && access(output, F_OK) == 0)
		ui_die(STATUS_FAILED,
		       "%s: exists already; --force overwrites it, -o OUT names another", output);
	ui_stop_gently();
	ui_progress_start(&progress, "converting", (enum ui_progress_mode)v[O_PROGRESS].num);
	err = format->write(&input, 1, output, &opt, res);
	ui_progress_end(&progress);
	if (err == -ECANCELED && ui_stopped_by())
		ui_die(128 + ui_stopped_by(), "stopped; nothing was written");
	if (err == -EPIPE)
		return 128 + 13; /* nobody reads stdout any more */
	if (err)
		ui_die(STATUS_FAILED, "%s", res->error[0] ? res->error : strerror(-err));
	if (res->warning[0])
		ui_say("%s", res->warning);
	if (format->several || (format->per_process && res->nr_processes > 1))
		ui_say("%s: %llu files written; the trace is %s", input,
		       (unsigned long long)res->nr_processes, res->verdict);
	else if (strcmp(output, "-"))
		ui_say("%s: written; the trace is %s", output, res->verdict);
	free(res);
	return 0;
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "writes a trace in a format that another tool reads",
	.usage = "FILE -f FORMAT [-o OUT]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.about =
		"FILE is a database of rtl or RPD, or a raw trace (FILE.rtl). It is read as a stream: memory does not grow with the trace.\n"
		"\n"
		"In the Chrome JSON each traced process is one with its threads, their markers and calls; each "
		"GPU is a process with its queues as threads, and where streams are known a second one with "
		"those. An arrow leads from a call to each operation that it caused, and from a marker to "
		"kernels of which no call is known. Times are microseconds since the earliest event. Every event "
		"carries its ids, its exact nanoseconds, and for kernels the mangled name, grid and workgroup, "
		"for calls each argument; the header carries the version of rtl and the verdict.\n"
		"\n"
		"A file of kineto's holds one process. Where the trace has several, each gets a file: "
		"OUT.rank0.pt.trace.json, or OUT.pid1234.pt.trace.json where they have no ranks.\n"
		"\n"
		"csv writes OUT.csv (rocprof's table of kernels), OUT.stats.csv, OUT.hip_stats.csv, OUT.hsa_stats.csv and "
		"OUT.copy_stats.csv with rocprof's columns, and OUT.kernel_trace.csv, OUT.hip_api_trace.csv, "
		"OUT.hsa_api_trace.csv, OUT.memory_copy_trace.csv and OUT.marker_api_trace.csv with those of "
		"rocprofv3. In a directory their names begin with nothing: DIR/hip_stats.csv, and DIR/results.csv. A file of "
		"which the trace holds nothing is not written, but for those of kernels.",
	.examples =
		"rtl convert trace.db -f perfetto\nrtl convert trace.db -f perfetto -o trace.json.gz\n"
		"rtl convert trace.db -f kineto -o run1/trace.pt.trace.json\n"
		"rtl convert trace.db -f csv -o results.csv\n"
		"rtl convert trace.db -f chrome -o - | jq '.traceEvents | length'\n",
	.run = run,
};
