/* SPDX-License-Identifier: MIT */
/* cmd_convert.c - rtl convert: writes a trace in a format of another tool */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/others.h"
#include "cli/read/exporter.h"
#include "cli/ui.h"
#include "export/parquet/parquet.h"

enum { O_FORMAT, O_OUTPUT, O_JOB, O_FORCE, O_PUBLIC, O_QUIET, O_PROGRESS };

/* NULL: the formats are listed. */
static const char *why_not(const char *format)
{
	static char text[160];
	const char *ours = others_format(format);

	if (!ours)
		return NULL;
	snprintf(text, sizeof(text), "'%.40s' is no format; %s", format, ours);
	return text;
}

static const struct opt options[] = {
	[O_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = export_names + 1,
		       .why_not = why_not, .help = export_help, .more = export_uses },
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "OUT",
		       .help = "output (FILE with the format's ending); - is stdout",
		       .more = "A file whose name ends in .gz is compressed. For csv and rocprofv3's formats OUT is a "
			       "directory, or the prefix of the files' names; for parquet a directory. These, otf2 and "
			       "rpd can't be written to stdout, a pipe or a device." },
	[O_JOB] = { 0, "job", OPT_TEXT, .arg = "NAME", .help = "parquet: the job of all processes",
		    .more = "Without it a process is of the scheduler's job that the trace names." },
	[O_FORCE] = { 0, "force", .help = "overwrite an existing output" },
	[O_PUBLIC] = OPTS_PUBLIC,
	[O_QUIET] = OPTS_QUIET,
	[O_PROGRESS] = OPTS_PROGRESS,
};

/* Several traces make one archive, or are added to one data set. */
static void check_several(const struct opt_parsed *p, const struct export_format *format)
{
	bool is_set = format->shape == EXPORT_SET;

	if (p->values[O_JOB].count && !is_set)
		ui_die(STATUS_USAGE, "--job: only -f parquet has jobs");
	if (p->nr_operands < 2)
		return;
	if (!is_set && format->shape != EXPORT_ARCHIVE)
		ui_die(STATUS_USAGE,
		       "-f %s writes one trace; rtl merge makes one of several, -f otf2 writes several to an "
		       "archive, and -f parquet adds each to a data set",
		       format->name);
	if (!p->values[O_OUTPUT].count)
		ui_die(STATUS_USAGE, "several traces need the name of the %s",
		       is_set ? "data set: -o DIR" : "archive: -o NAME.otf2");
}

static int run_convert(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;
	const struct export_format *format = v[O_FORMAT].count ? &export_formats[v[O_FORMAT].num] :
								 export_find("pftrace");
	const struct parquet_choice choice = { .job = v[O_JOB].text };
	bool is_one = format->shape == EXPORT_ARCHIVE; /* of all */
	int status = 0;

	ui_quiet(v[O_QUIET].count > 0);
	check_several(p, format);
	for (int i = 0; i < (is_one ? 1 : p->nr_operands) && status == 0; i++)
		status = exporter_run(&(struct exporter){
			.format = format,
			.input = p->operands[i],
			.inputs = is_one ? (const char *const *)p->operands : NULL,
			.nr_inputs = (size_t)p->nr_operands,
			.output = v[O_OUTPUT].text,
			.activity = "converting",
			.progress = (enum ui_progress_mode)v[O_PROGRESS].num,
			.opt = { .force = v[O_FORCE].count > 0,
				 .format = format->shape == EXPORT_SET ? &choice : NULL,
				 .access = opts_is_public(&v[O_PUBLIC]) ? JOB_ACCESS_UMASK :
									  JOB_ACCESS_CONTENT },
		});
	return status;
}

const struct command cmd_convert = {
	.name = "convert",
	.summary = "writes a trace in a format of another tool",
	.usage = "FILE... [-f FORMAT] [-o OUT]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = -1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = commands_statuses,
	.about = export_about,
	.examples = "rtl convert trace.db\nrtl convert trace.db -f perfetto -o trace.json.gz\n"
		    "rtl convert trace.db -f kineto -o run1/trace.pt.trace.json\n"
		    "rtl convert trace.db -f csv -o results.csv\n"
		    "rtl convert *.db -f parquet -o runs\n"
		    "rtl convert rank-*.db -f otf2 -o job.otf2\n"
		    "rtl convert trace.db -f folded -o - | flamegraph.pl > gpu.svg\n"
		    "rtl convert trace.db -f chrome -o - | jq '.traceEvents | length'\n",
	.run = run_convert,
};
