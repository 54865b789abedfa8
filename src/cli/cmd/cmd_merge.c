/* SPDX-License-Identifier: MIT */
/* cmd_merge.c - rtl merge: several traces into one database */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cmd/commands.h"
#include "cli/db.h"
#include "cli/read/exporter.h"
#include "cli/read/result.h"
#include "cli/ui.h"
#include "export/rpd/rpd.h"

enum { O_OUTPUT, O_FORCE, O_PUBLIC, O_QUIET, O_PROGRESS };

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE", .help = "the database to write" },
	[O_FORCE] = OPTS_FORCE,
	[O_PUBLIC] = OPTS_PUBLIC,
	[O_QUIET] = OPTS_QUIET,
	[O_PROGRESS] = OPTS_PROGRESS,
};

static void check_inputs(const struct opt_parsed *p, const char *output)
{
	struct stat out, in;
	bool exists = stat(output, &out) == 0;

	for (int i = 0; i < p->nr_operands; i++) {
		if (stat(p->operands[i], &in))
			ui_die(STATUS_FAILED, "%s: %s", p->operands[i], strerror(errno));
		if (exists && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			ui_die(STATUS_FAILED, "%s: is both input and output; choose another output",
			       output);
	}
}

static int run_merge(const struct opt_parsed *p)
{
	const char *output = p->values[O_OUTPUT].text;
	struct job_result *res = calloc(1, sizeof(*res));
	struct ui_progress progress;
	struct job_options opt = {
		.force = p->values[O_FORCE].count > 0,
		.access = opts_is_public(&p->values[O_PUBLIC]) ? JOB_ACCESS_UMASK :
								 JOB_ACCESS_CONTENT,
		.progress = ui_progress_step,
		.progress_arg = &progress,
	};
	int err;

	if (!res)
		ui_die_memory();
	if (!output)
		ui_die(STATUS_USAGE, "the output is missing: rtl merge -o OUT FILE...");
	ui_quiet(p->values[O_QUIET].count > 0);
	check_inputs(p, output);
	exporter_check_database(output, opt.force);
	ui_stop_in_order("nothing was written and the inputs are unchanged; run it again");
	ui_progress_start(&progress, "merging", (enum ui_progress_mode)p->values[O_PROGRESS].num);
	err = rpd_merge((const char *const *)p->operands, (size_t)p->nr_operands, output, &opt,
			res);
	ui_progress_end(&progress);
	db_check_job(res, err);
	if (!p->values[O_QUIET].count)
		result_say(output, output, res);
	free(res);
	return 0;
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "merges several traces into one database",
	.usage = "-o OUT FILE...",
	.operands = "FILE",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.min_operands = 1,
	.max_operands = -1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.statuses = commands_statuses,
	.about =
		"Writes every row of every FILE to OUT: databases of rtl, of RPD, and raw traces. Ids are "
		"changed where they would collide, with all references to them, and processes stay separate. The "
		"inputs are not changed.",
	.examples = "rtl merge -o job.db rank-*.db\n",
	.run = run_merge,
};
