/* SPDX-License-Identifier: MIT */
/* cmd_report.c - rtl report: writes a trace as one HTML file for a browser */
#include "cli/cmd/commands.h"
#include "cli/read/exporter.h"
#include "cli/ui.h"
#include "export/report/page.h"

enum { O_OUTPUT, O_FORCE, O_PUBLIC, O_QUIET, O_PROGRESS };

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "OUT",
		       .help = "output (FILE with .html); - is stdout" },
	[O_FORCE] = OPTS_FORCE,
	[O_PUBLIC] = OPTS_PUBLIC,
	[O_QUIET] = OPTS_QUIET,
	[O_PROGRESS] = OPTS_PROGRESS,
};

static int run_report(const struct opt_parsed *p)
{
	const struct opt_value *v = p->values;

	ui_quiet(v[O_QUIET].count > 0);
	return exporter_run(&(struct exporter){
		.format = &page_format,
		.input = p->operands[0],
		.output = v[O_OUTPUT].text,
		.activity = "writing the report",
		.progress = (enum ui_progress_mode)v[O_PROGRESS].num,
		.opt = { .force = v[O_FORCE].count > 0,
			 .access = opts_is_public(&v[O_PUBLIC]) ? JOB_ACCESS_UMASK :
								  JOB_ACCESS_CONTENT },
	});
}

const struct command cmd_report = {
	.name = "report",
	.summary = "writes a trace as a page for a browser",
	.usage = "FILE [-o OUT]",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = commands_statuses,
	.about =
		"FILE is a database of rtl or RPD, or a raw trace (FILE.rtl). OUT is one HTML file, which holds "
		"all that it shows: it can be mailed, archived, and opened from the disk without a network. It "
		"loads nothing, and names in the trace can't become part of the page.\n\n"
		"The page has an overview (wall time, how long each GPU was busy, verdict and losses, what took "
		"longest, and the findings of rtl summary: what is wrong with the program), tables of kernels, calls, copies, ranges and counters, a timeline, "
		"histograms of durations, and a roofline where the counters for it are in the trace. Failed calls and idle times of "
		"GPUs are marked in the timeline; what is longest, a bar of a histogram and a count of failed calls lead there. The address of the page "
		"has what is shown: who opens it with the same file sees the same. The key ? shows the keys.\n\n"
		"Arguments of calls are in it for traces of up to 200,000 calls and markers. It needs a browser "
		"of 2023 or later.",
	.examples = "rtl report trace.db\nrtl report trace.db -o report.html\n"
		    "rtl report --public trace.db -o /srv/www/report.html\n",
	.run = run_report,
};
