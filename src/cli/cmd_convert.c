/* SPDX-License-Identifier: MIT */
/* cmd_convert.c - rtl convert: writes a trace in a format of another tool */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary.h"
#include "cli/commands.h"
#include "cli/paths.h"
#include "cli/report.h"
#include "cli/ui.h"
#include "export/export.h"

enum { O_FORMAT, O_OUTPUT, O_FORCE, O_PUBLIC, O_QUIET, O_PROGRESS };

static const struct opt options[] = {
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = export_names + 1,
		       .help = export_help, .more = export_uses },
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "OUT",
		       .help = "output (FILE with the format's ending); - is stdout",
		       .more = "A file whose name ends in .gz is compressed. For csv OUT is a directory, or the "
			       "prefix of the files' names." },
	[O_FORCE] = { 0, "force", .help = "overwrite an existing output" },
	[O_PUBLIC] = OPTS_PUBLIC,
	[O_QUIET] = { 'q', "quiet", .help = "print errors only" },
	[O_PROGRESS] = { 0, "progress", OPT_CHOICE, .arg = "WHEN", .choices = "auto|always|never",
			 .help = "progress bar: auto (default), always, never" },
};

/* FILE.db -> FILE.json, in the same directory */
static char *default_output(const char *input, const char *suffix)
{
	return ui_format("%.*s%s", (int)(paths_suffix(input) - input), input, suffix);
}

/* Before the work: reading a raw trace takes its time. */
static void check_output(const char *output)
{
	struct stat st;
	int err = 0;

	if (strcmp(output, "-") != 0 && (stat(output, &st) || S_ISREG(st.st_mode)) &&
	    output[strlen(output) - 1] != '/')
		err = paths_try_output(output);
	if (err)
		ui_die(STATUS_FAILED, "%s: can't be written: %s; choose another with -o", output,
		       strerror(-err));
}

static int run_convert(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	const char *input = p->operands[0], *output = v[O_OUTPUT].text;
	const struct export_format *format;
	struct job_result *res = calloc(1, sizeof(*res));
	struct ui_progress progress;
	struct job_options opt = {
		.force = v[O_FORCE].count > 0,
		.access = opts_is_public(&v[O_PUBLIC]) ? JOB_ACCESS_UMASK : JOB_ACCESS_CONTENT,
		.progress = ui_progress_step,
		.progress_arg = &progress,
	};
	int err;

	if (!res)
		ui_die_memory();
	ui_quiet(v[O_QUIET].count > 0);
	format = v[O_FORMAT].count ? &export_formats[v[O_FORMAT].num] : export_find("pftrace");
	if (!output)
		output = ui_keep(default_output(input, format->suffix));
	if (!format->several && strcmp(output, "-") != 0 && !opt.force &&
	    temporary_is_taken(output))
		ui_die(STATUS_FAILED, "%s: exists already; use --force to overwrite it, or -o OUT",
		       output);
	check_output(output);
	ui_stop_in_order(
		strcmp(output, "-") == 0 ? "the output ends here" :
		format->several ? "files that are there are complete; run it again with --force" :
				  "nothing was written; run it again");
	ui_progress_start(&progress, "converting", (enum ui_progress_mode)v[O_PROGRESS].num);
	err = export_run(format, &input, 1, output, &opt, res);
	ui_progress_end(&progress);
	if (err == -EPIPE)
		return 128 + 13; /* as if SIGPIPE had ended the process */
	report_check(res, err);
	if (res->warning[0])
		ui_say("%s", res->warning);
	if (format->several || res->nr_files > 1)
		ui_say("%s: %llu files written; the trace is %s", input,
		       (unsigned long long)res->nr_files, res->verdict);
	else if (strcmp(output, "-") != 0)
		ui_say("%s: written; the trace is %s", output, res->verdict);
	free(res);
	return 0;
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "writes a trace in a format of another tool",
	.usage = "FILE [-f FORMAT] [-o OUT]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = commands_statuses,
	.about = export_about,
	.examples = "rtl convert trace.db\nrtl convert trace.db -f perfetto -o trace.json.gz\n"
		    "rtl convert trace.db -f kineto -o run1/trace.pt.trace.json\n"
		    "rtl convert trace.db -f csv -o results.csv\n"
		    "rtl convert trace.db -f folded -o - | flamegraph.pl > gpu.svg\n"
		    "rtl convert trace.db -f chrome -o - | jq '.traceEvents | length'\n",
	.run = run_convert,
};
