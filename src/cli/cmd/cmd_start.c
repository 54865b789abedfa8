/* SPDX-License-Identifier: MIT */
/* cmd_start.c - rtl start, rtl stop, rtl status: switches the recording of a running process, and
 * shows it, or the ranks of a data set that are not finished */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd/commands.h"
#include "cli/db.h"
#include "cli/grid.h"
#include "cli/paths.h"
#include "cli/read/exporter.h"
#include "cli/read/result.h"
#include "cli/trace/control.h"
#include "cli/trace/session.h"
#include "cli/trace/unfinished.h"
#include "cli/ui.h"
#include "export/rpd/rpd.h"

/* ---- status ---------------------------------------------------------------------------------- */

static void put_count(const char *label, uint64_t n)
{
	char text[UI_NUMBER_SIZE];

	ui_putf("  %-11s %s\n", label, ui_count(text, n));
}

static void put_status(const struct control_target *t, const struct control_reply *reply)
{
	char text[UI_NUMBER_SIZE], causes[256];

	control_causes(causes, sizeof(causes), reply);
	ui_putf("%u: %s%s%s, for %s\n", t->pid, control_state_name(reply->state),
		reply->state == CONTROL_PAUSED ? " " : "",
		reply->state == CONTROL_PAUSED ? causes : "", ui_time(text, reply->state_age_ns));
	ui_putf("  %-11s %s\n", "command", reply->command);
	if (*reply->spool)
		ui_putf("  %-11s %s\n", "raw trace", reply->spool);
	if (!(reply->flags & CONTROL_F_COUNTED)) {
		ui_put("  its harvester does not answer: there are no counts\n");
		return;
	}
	put_count("dispatches", reply->dispatches);
	put_count("copies", reply->copies);
	put_count("API calls", reply->calls);
	put_count("left out", reply->left_out);
	put_count("losses", reply->losses);
}

enum { O_STATUS_FORMAT };

static const struct opt status_options[] = {
	[O_STATUS_FORMAT] = { 'f', "format", OPT_CHOICE, .arg = "FORMAT", .choices = GRID_FORMATS,
			      .help = "of a data set: table (default), csv or json" },
};

static int run_status(const struct opt_parsed *p)
{
	const struct opt_value *format = &p->values[O_STATUS_FORMAT];
	struct control_target target;
	struct control_reply reply;
	struct stat st;

	/* a number is a process, whatever files there are */
	if (p->operands[0][strspn(p->operands[0], "0123456789")] &&
	    stat(p->operands[0], &st) == 0 && S_ISDIR(st.st_mode)) {
		unfinished_print(p->operands[0], (enum grid_format)format->num);
		return 0;
	}
	if (format->count)
		ui_die(STATUS_USAGE, "--format is of a data set: rtl status DIR");

	control_must_ask(control_pid(p->operands[0]), CONTROL_STATUS, &target, &reply);
	put_status(&target, &reply);
	return 0;
}

/* ---- start ----------------------------------------------------------------------------------- */

enum { O_OUTPUT, O_FORCE };

static const struct opt start_options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE",
		       .help = "idle process: database of rtl stop (trace.PID.db)" },
	[O_FORCE] = { 0, "force", .was = 'f', OPT_FLAG,
		      .help = "idle process: overwrite FILE and raw traces" },
};

/* Opens a trace in an idle process: the directory of its spool is made here, as rtl trace does. */
static void start_idle(const struct opt_parsed *p, const struct control_target *t,
		       struct control_reply *reply)
{
	const char *pattern = p->values[O_OUTPUT].text ? p->values[O_OUTPUT].text : "trace.%p.db";
	bool force = p->values[O_FORCE].count > 0;
	char error[SESSION_ERROR_SIZE];
	static struct session s;
	int err = session_names(&s, pattern, NULL, (pid_t)t->pid, error);

	if (!err)
		err = session_open(&s, force, error);
	if (err)
		ui_die(STATUS_FAILED, "%s", error);
	err = control_ask_to_open(t, CONTROL_START, s.dir, s.output, reply, error);
	if (err || reply->status || strncmp(reply->spool, s.dir, strlen(s.dir)) != 0) {
		session_close(&s);
		ui_die(STATUS_FAILED, "%s%s%s", err ? error : s.dir, err ? "" : ": ",
		       err	     ? "" :
		       reply->status ? reply->text :
				       "another rtl start was faster");
	}
	ui_say("%u: recording; rtl stop %u writes %s", t->pid, t->pid, s.shown);
}

static void say_what_holds(const struct control_target *t, const struct control_reply *reply)
{
	char causes[256];

	if (reply->causes)
		ui_say("%u: recording is still held back: %s", t->pid,
		       control_causes(causes, sizeof(causes), reply));
	else
		ui_say("%u: recording", t->pid);
}

static int run_start(const struct opt_parsed *p)
{
	struct control_target target;
	struct control_reply reply;
	uint32_t pid = control_pid(p->operands[0]);

	control_must_reach(pid, &target);
	control_must_ask_it(&target, CONTROL_STATUS, &reply);
	if (reply.state == CONTROL_IDLE) {
		start_idle(p, &target, &reply);
		return 0;
	}
	if (p->values[O_OUTPUT].count)
		ui_die(STATUS_USAGE, "%u: is traced already, to %s; -o is for idle processes", pid,
		       *reply.output ? reply.output : reply.spool);
	control_must_ask_it(&target, CONTROL_START, &reply);
	say_what_holds(&target, &reply);
	return 0;
}

/* ---- stop ------------------------------------------------------------------------------------ */

enum { O_STOP_OUTPUT, O_STOP_FORCE, O_STOP_PUBLIC, O_STOP_QUIET };

static const struct opt stop_options[] = {
	[O_STOP_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE",
			    .help = "the database, instead of the one that rtl start named" },
	[O_STOP_FORCE] = { 0, "force", .was = 'f', OPT_FLAG,
			   .help = "overwrite an existing database" },
	[O_STOP_PUBLIC] = OPTS_PUBLIC,
	[O_STOP_QUIET] = { 'q', "quiet", OPT_FLAG, .help = "print errors only" },
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

/* What a process names is deleted after the conversion: nothing but a raw trace of the process's
 * user in a directory of raw traces. */
static void check_spool(const struct control_target *t, const char *spool)
{
	char error[SESSION_ERROR_SIZE] = "", dir[PATH_MAX];
	struct stat st, dir_st;

	paths_dirname(dir, spool);
	if (spool[0] != '/' || !ends_with(spool, ".rtl") || !ends_with(dir, ".spool") ||
	    lstat(dir, &dir_st) != 0 || !S_ISDIR(dir_st.st_mode) || lstat(spool, &st) != 0 ||
	    st.st_uid != t->uid || dir_st.st_uid != t->uid || session_check_spool(spool, error))
		ui_die(STATUS_FAILED,
		       "%u: says that its raw trace is %s, which is none of its user's in a directory FILE.spool%s%s; it is left alone",
		       t->pid, spool, *error ? ": " : "", error);
}

/* A database is only written where rtl start would have made this directory of raw traces: FILE
 * beside FILE.spool. */
static void check_output(const struct control_target *t, const struct control_reply *reply)
{
	char dir[PATH_MAX];

	paths_dirname(dir, reply->spool);
	dir[strlen(dir) - strlen(".spool")] = '\0';
	if (strcmp(reply->output, dir) != 0)
		ui_die(STATUS_FAILED,
		       "%u: says that its database is %s, but its raw trace %s is that of %s; give the name of the database with -o",
		       t->pid, reply->output, reply->spool, dir);
}

/* Writes the database of the trace that was closed, and deletes the raw trace. */
static void convert(const struct opt_parsed *p, const struct control_reply *reply)
{
	const char *output = p->values[O_STOP_OUTPUT].text ? p->values[O_STOP_OUTPUT].text :
							     reply->output;
	const char *spool = reply->spool;
	struct job_result *res = calloc(1, sizeof(*res));
	struct ui_progress progress;
	struct job_options opt = {
		.force = p->values[O_STOP_FORCE].count > 0,
		.access = opts_is_public(&p->values[O_STOP_PUBLIC]) ? JOB_ACCESS_UMASK :
								      JOB_ACCESS_CONTENT,
		.progress = ui_progress_step,
		.progress_arg = &progress,
	};
	char dir[PATH_MAX];
	int err;

	if (!res)
		ui_die_memory();
	ui_stop_in_order("nothing is lost: rtl recover goes on");
	ui_progress_start(&progress, "writing the database", UI_PROGRESS_AUTO);
	err = rpd_write(&spool, 1, output, &opt, res);
	ui_progress_end(&progress);
	if (err)
		ui_error("the raw trace is still there: rtl recover -o FILE %s", spool);
	db_check_job(res, err);
	if (!p->values[O_STOP_QUIET].count)
		result_say(output, output, res);
	session_delete_spool(spool);
	paths_dirname(dir, spool);
	session_remove_dir(dir);
	free(res);
}

static int run_stop(const struct opt_parsed *p)
{
	struct control_target target;
	struct control_reply reply;

	ui_quiet(p->values[O_STOP_QUIET].count > 0);
	control_must_reach(control_pid(p->operands[0]), &target);
	/* before the recording ends */
	if (p->values[O_STOP_OUTPUT].text)
		exporter_check_database(p->values[O_STOP_OUTPUT].text,
					p->values[O_STOP_FORCE].count > 0);
	control_must_ask_it(&target, CONTROL_STOP, &reply);
	if (reply.state != CONTROL_IDLE)
		ui_say("%u: recording is paused; rtl start %u goes on", target.pid, target.pid);
	else if (!*reply.output || access(reply.spool, F_OK) != 0)
		ui_say("%u: is idle: nothing is recorded", target.pid);
	else {
		check_spool(&target, reply.spool);
		if (!p->values[O_STOP_OUTPUT].text)
			check_output(&target, &reply);
		convert(p, &reply);
	}
	return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct opt_status statuses[] = {
	{ "0", "done" },
	{ "1", "PID can't be reached, or has refused; DIR can't be read" },
	{ "2", "the command line is wrong" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_start = {
	.name = "start",
	.summary = "records a running process",
	.usage = "[options] PID",
	.operands = "PID",
	.opts = start_options,
	.nr_opts = sizeof(start_options) / sizeof(start_options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.statuses = statuses,
	.about =
		"A process that runs under rtl trace: ends what rtl stop has begun. Recording that the program itself has stopped, or has not started yet (rtl trace --trace-start off), "
		"is started as well; the program may stop it again. Windows of time and ranges "
		"(--period, --range) still hold: if they hold recording back, the message says so.\n"
		"\n"
		"An idle process, started with LD_PRELOAD=librtl.so.1 RTL_IDLE=1: opens a trace. Everything that the process calls and submits from "
		"here on is in it; objects that exist already, such as queues and kernels, are known. The raw trace is in FILE.spool until rtl stop, or the end of the "
		"process, writes FILE. Both may be used any number of times, each time with another FILE.\n"
		"\n"
		"The process may belong to this user; root reaches all, and acts as the user of the process: FILE is made by that user.",
	.examples =
		"rtl ps\nrtl start 4711\n"
		"LD_PRELOAD=$(rtl doctor --path librtl) RTL_IDLE=1 RTL_MODE=hip ./server &\nrtl start -o slow.db $!\nsleep 10; rtl stop $!\n",
	.run = run_start,
};

const struct command cmd_stop = {
	.name = "stop",
	.summary = "ends or pauses the recording of a process",
	.usage = "[options] PID",
	.operands = "PID",
	.opts = stop_options,
	.nr_opts = sizeof(stop_options) / sizeof(stop_options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.statuses = statuses,
	.about =
		"A process that runs under rtl trace: from here on calls, markers and operations that begin are left out, and counted as 'paused'. What the program does with the GPU "
		"meanwhile costs it next to nothing. Operations that were submitted before are recorded to their end. rtl start goes "
		"on; both may be used any number of times.\n"
		"\n"
		"A process in which rtl start has opened a trace: closes it and writes the database. Operations that do not complete within two seconds "
		"are in it as unfinished. Root acts as the user of the process: it writes nothing where that user can't.",
	.examples = "rtl stop 4711\n",
	.run = run_stop,
};

const struct command cmd_status = {
	.name = "status",
	.summary = "shows what is recorded of a process, or ranks that are not finished",
	.usage = "PID, or [options] DIR",
	.operands = "PID or DIR",
	.opts = status_options,
	.nr_opts = sizeof(status_options) / sizeof(status_options[0]),
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.statuses = statuses,
	.about =
		"Prints the state, what holds recording back, the raw trace, and the numbers of records, of what was left "
		"out, and of losses so far. rtl ps prints a line for each process.\n"
		"\n"
		"Of a data set (rtl trace -o DIR/): a line for each rank that is not in it yet, with its host, the pid of its rtl trace, whether that still runs, which only its host knows, and what finishes "
		"it.",
	.examples = "rtl status 4711\nrtl status run1/\n",
	.run = run_status,
};
