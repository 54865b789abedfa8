/* SPDX-License-Identifier: MIT */
/* cmd_snapshot.c - rtl snapshot: a database of what running programs have recorded so far */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/cmd/commands.h"
#include "cli/paths.h"
#include "cli/read/exporter.h"
#include "cli/read/result.h"
#include "cli/trace/become.h"
#include "cli/trace/control.h"
#include "cli/trace/session.h"
#include "cli/trace/snapshot.h"
#include "cli/ui.h"
#include "spool/format.h"

#define MAX_NUMBER 100000u

enum { O_OUTPUT, O_FORCE, O_PUBLIC, O_QUIET };

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE",
		       .help = "the database (OUTPUT-1.db, -2.db, ...)",
		       .more = "Without it the name is that of the program's database, or of FILE.rtl, with the first number that is free." },
	[O_FORCE] = OPTS_FORCE,
	[O_PUBLIC] = OPTS_PUBLIC,
	[O_QUIET] = OPTS_QUIET,
};

static bool is_pid(const char *text)
{
	struct stat st;

	return isdigit((unsigned char)*text) && !text[strspn(text, "0123456789")] &&
	       stat(text, &st) != 0;
}

static size_t find_of_pid(const char *text, char ***paths)
{
	uint32_t pid = (uint32_t)strtoul(text, NULL, 10);
	char proc[32];
	struct stat st;
	ssize_t nr;

	/* the process says where its trace is, and the snapshot is made beside it */
	snprintf(proc, sizeof(proc), "/proc/%u", pid);
	if (geteuid() == 0 && stat(proc, &st) == 0)
		become_must(pid, st.st_uid);
	nr = snapshot_find(pid, paths);
	if (nr == -ENOENT)
		ui_die(STATUS_FAILED,
		       "process %s: does not exist; name its spool directory (OUTPUT.spool)", text);
	if (nr < 0)
		ui_die(STATUS_FAILED,
		       "process %s: /proc/%s/maps: %s; name its spool directory (OUTPUT.spool)",
		       text, text, strerror((int)-nr));
	if (!nr)
		ui_die(STATUS_FAILED,
		       "process %s: is not traced; a process that is has a ROCm runtime and "
		       "librtl, and maps a file *.mem",
		       text);
	return (size_t)nr;
}

static size_t find_of_path(const char *path, char ***paths)
{
	char dir[PATH_MAX];
	struct stat st;
	ssize_t nr;

	if (stat(path, &st) && session_left_by(path, dir))
		ui_die(STATUS_FAILED,
		       "%s: is not written yet; its raw traces are in %s: 'rtl snapshot %s'", path,
		       dir, dir);
	if (stat(path, &st))
		ui_die(STATUS_FAILED, "%s: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode)) {
		*paths = malloc(sizeof(**paths));
		if (!*paths)
			ui_die_memory();
		(*paths)[0] = ui_format("%s", path);
		return 1;
	}
	nr = session_find(path, paths);
	if (nr < 0)
		ui_die(STATUS_FAILED, "%s: %s", path, strerror((int)-nr));
	if (!nr)
		ui_die(STATUS_FAILED, "%s: contains no raw trace (*.rtl)", path);
	return (size_t)nr;
}

/* Leaves out files that may not be read, and those without a header. */
static size_t check_spools(char **paths, size_t nr)
{
	char text[SESSION_ERROR_SIZE];
	size_t good = 0;
	struct stat st;

	for (size_t i = 0; i < nr; i++) {
		if (lstat(paths[i], &st) == 0 && S_ISREG(st.st_mode) && !st.st_size)
			continue;
		if (session_check_spool(paths[i], text)) {
			ui_error("%s", text);
			continue;
		}
		paths[good++] = paths[i];
	}
	return good;
}

/* The database that the trace would become: DIR of DIR.spool, else FILE.db. */
static void base_name(char out[PATH_MAX], const char *spool)
{
	char dir[PATH_MAX];
	size_t n;

	paths_dirname(dir, spool);
	n = strlen(dir);
	if (n > 6 && strcmp(dir + n - 6, ".spool") == 0)
		snprintf(out, PATH_MAX, "%.*s", (int)(n - 6), dir);
	else
		snprintf(out, PATH_MAX, "%.*s.db", (int)(strlen(spool) - 4), spool);
}

static void choose_output(char out[PATH_MAX], const struct opt_parsed *p, const char *spool)
{
	const char *given = p->values[O_OUTPUT].text;
	char base[PATH_MAX];

	if (given) {
		if (snprintf(out, PATH_MAX, "%s", given) >= PATH_MAX)
			ui_die(STATUS_FAILED, "%s: the name is too long", given);
		return;
	}
	base_name(base, spool);
	for (unsigned int i = 1; i < MAX_NUMBER; i++) {
		if (snapshot_name(out, base, i))
			ui_die(STATUS_FAILED, "%s: the name is too long", base);
		if (access(out, F_OK) != 0)
			return;
	}
}

/* The process records what has completed, if it answers; else the snapshot lacks what its harvester
 * has not seen yet. */
static void flush_process(const char *spool)
{
	char error[CONTROL_ERROR_SIZE];
	struct control_target target;
	struct control_reply reply;
	struct spool_header header;

	if (fd_read_file(spool, &header, sizeof(header)) == (ssize_t)sizeof(header) &&
	    header.magic == SPOOL_MAGIC && control_find(header.pid, &target, error) == 0)
		control_ask(&target, CONTROL_FLUSH, &reply, error);
}

static int run_snapshot(const struct opt_parsed *p)
{
	static struct job_result res;
	const struct job_options opt = {
		.force = p->values[O_FORCE].count > 0,
		.access = opts_is_public(&p->values[O_PUBLIC]) ? JOB_ACCESS_UMASK :
								 JOB_ACCESS_CONTENT,
	};
	char output[PATH_MAX], error[SNAPSHOT_ERROR_SIZE];
	char **paths;
	size_t nr;
	int err;

	ui_quiet(p->values[O_QUIET].count > 0);
	ui_stop_at_once();
	nr = is_pid(p->operands[0]) ? find_of_pid(p->operands[0], &paths) :
				      find_of_path(p->operands[0], &paths);
	nr = check_spools(paths, nr);
	if (!nr)
		ui_die(STATUS_FAILED, "%s: no raw trace can be read", p->operands[0]);
	choose_output(output, p, paths[0]);
	exporter_check_database(output, opt.force);
	for (size_t i = 0; i < nr; i++)
		flush_process(paths[i]);
	err = snapshot_take(paths, nr, output, &opt, &res, error);
	if (err)
		ui_die(STATUS_FAILED, "%s", error[0] ? error : strerror(-err));
	if (!p->values[O_QUIET].count)
		result_say(output, output, &res);
	return 0;
}

const struct command cmd_snapshot = {
	.name = "snapshot",
	.summary = "writes what a running program has recorded so far",
	.usage = "[options] PID|SPOOL_DIR|FILE.rtl",
	.operands = "PID, SPOOL_DIR or FILE.rtl",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.statuses = commands_statuses,
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.about =
		"PID is a traced process, or an rtl trace: then all of its processes are in the database. SPOOL_DIR is "
		"the directory of the raw traces, OUTPUT.spool. The program runs on and is not disturbed: the raw "
		"traces are copied, in a moment, and the copies converted.\n"
		"\n"
		"With a flight recorder (rtl trace --flight-recorder, or RTL_FLIGHT_RECORDER) the database has the last "
		"records, all of them since the time that rtl info shows as its window, with the kernels, "
		"threads and open ranges that they refer to. Without one it has everything so far, but for what rtl trace has converted already (from 4 MiB of raw traces on): that is counted as converted. rtl trace also writes "
		"snapshots itself: see its options --trigger-longer, --trigger-error, --trigger-mark and --snapshot-on-usr2.\n"
		"\n"
		"Of a process that has ended it has what was recorded; rtl recover also writes what was in flight then.",
	.examples = "rtl snapshot 4711\nrtl snapshot -o slow.db trace.db.spool\n",
	.run = run_snapshot,
};
