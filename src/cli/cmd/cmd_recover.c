/* SPDX-License-Identifier: MIT */
/* cmd_recover.c - rtl recover: converts raw traces that are left over to a database, or finishes
 * the ranks of a data set
 *
 * librtl starts this command at the exit of a program that runs without `rtl trace`; users start it
 * after a kill. It reads the trace of a process that still runs, but does not change it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/rank.h"
#include "base/temporary.h"
#include "cli/cmd/commands.h"
#include "cli/db.h"
#include "cli/paths.h"
#include "cli/read/exporter.h"
#include "cli/read/result.h"
#include "cli/trace/converter.h"
#include "cli/trace/dataset.h"
#include "cli/trace/session.h"
#include "cli/ui.h"
#include "export/rpd/rpd.h"
#include "query/identify.h"
#include "store/load.h"

enum { O_OUTPUT, O_FORCE, O_PUBLIC, O_REMOVE, O_OR_PID, O_QUIET, O_PROGRESS };

static const struct opt options[] = {
	[O_OUTPUT] = { 'o', "output", OPT_FILE, .arg = "FILE",
		       .help = "the database (DIR without .spool), or DIR/",
		       .more = "A name that ends in / or is a directory is a data set, as for rtl trace." },
	[O_FORCE] = OPTS_FORCE,
	[O_PUBLIC] = OPTS_PUBLIC,
	[O_REMOVE] = { 0, "remove", .help = "delete the raw traces when the database is written",
		       .more = "Traces of processes that still run, and unreadable ones, are kept." },
	[O_OR_PID] = { 0, "or-pid", .help = "if FILE exists, write FILE with the pid in its name",
		       .more = "trace.db becomes trace.1234.db; librtl uses this at a program's exit." },
	[O_QUIET] = OPTS_QUIET,
	[O_PROGRESS] = OPTS_PROGRESS,
};

struct recover {
	const struct opt_parsed *parsed;
	const char *path;
	bool is_dir;
	char **spools; /* all that were found */
	size_t nr;
	bool *keep;	   /* do not delete */
	const char **good; /* the readable ones, which go into the database */
	bool *over;	   /* of these: the process has ended */
	size_t nr_good, nr_running, nr_bad, nr_empty;
	uint32_t first_pid;
	char output[PATH_MAX];
	bool has_converted; /* rows of an unfinished database, too */
	const char *set;    /* the data set that the database becomes a part of; NULL: none */
	const char *job;    /* of who recorded it; NULL, and -1: not known */
	int64_t rank;
};

static void find_spools(struct recover *r)
{
	struct stat st;
	ssize_t nr;

	if (stat(r->path, &st))
		ui_die(STATUS_FAILED, "%s: %s", r->path, strerror(errno));
	r->is_dir = S_ISDIR(st.st_mode);
	if (r->is_dir) {
		nr = session_find(r->path, &r->spools);
		if (nr < 0)
			ui_die(STATUS_FAILED, "%s: %s", r->path, strerror((int)-nr));
		if (!nr)
			ui_die(STATUS_FAILED, "%s: %s", r->path,
			       identify_data_set(r->path) ? "no rank is unfinished" :
							    "contains no raw trace (*.rtl)");
		r->nr = (size_t)nr;
	} else {
		r->spools = calloc(1, sizeof(*r->spools));
		if (!r->spools)
			ui_die_memory();
		r->spools[0] = ui_format("%s", r->path);
		r->nr = 1;
	}
	r->keep = calloc(r->nr, sizeof(*r->keep));
	r->good = calloc(r->nr + 1, sizeof(*r->good));
	r->over = calloc(r->nr + 1, sizeof(*r->over));
	if (!r->keep || !r->good || !r->over)
		ui_die_memory();
}

static void check_stopped(void)
{
	struct job_result res = { .error = "" };

	if (ui_stopped_by())
		db_check_job(&res, -ECANCELED);
}

static void check_spool(struct recover *r, size_t i)
{
	const struct load_facts *facts;
	char text[SESSION_ERROR_SIZE];
	struct load_error error;
	struct load *load;
	struct stat st;
	bool over;

	/* the process died before it recorded anything; an error only if the user named the file */
	if (r->is_dir && !lstat(r->spools[i], &st) && S_ISREG(st.st_mode) && !st.st_size) {
		ui_say("%s: is empty: its process was killed before anything was recorded",
		       r->spools[i]);
		r->nr_empty++;
		return;
	}
	if (r->is_dir && session_check_spool(r->spools[i], text)) {
		ui_error("%s", text);
		r->keep[i] = true;
		r->nr_bad++;
		return;
	}
	if (load_open(&load, r->spools[i], &error)) {
		ui_error("%s", error.text);
		r->keep[i] = true;
		r->nr_bad++;
		return;
	}
	facts = load_facts(load);
	over = load_is_over(facts);
	if (!r->first_pid)
		r->first_pid = facts->pid;
	if (facts->state == LOAD_RUNNING && !over) {
		ui_say("process %u still runs: the database has its records so far; its raw trace is kept",
		       facts->pid);
		r->keep[i] = true;
		r->nr_running++;
	} else if (facts->state == LOAD_FOREIGN) {
		r->keep[i] = true;
	}
	load_close(load);
	r->over[r->nr_good] = over;
	r->good[r->nr_good++] = r->spools[i];
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

/* -o DIR/: the database is made in it. */
static void choose_set(struct recover *r, const char *given)
{
	char *real;

	if (mkdir(given, 0777) && errno != EEXIST)
		ui_die(STATUS_FAILED, "%s: can't be made: %s", given, strerror(errno));
	real = realpath(given, NULL);
	if (!real || dataset_output(r->output, real, getpid()))
		ui_die(STATUS_FAILED, "%s: %s", given,
		       real ? "the name is too long" : strerror(errno));
	r->set = ui_keep(real);
}

static void choose_output(struct recover *r)
{
	const char *given = r->parsed->values[O_OUTPUT].text, *base;
	char path[PATH_MAX];
	size_t n;

	if (*r->output)
		return;
	if (given && dataset_is(given)) {
		choose_set(r, given);
		return;
	}
	if (given) {
		if (snprintf(r->output, sizeof(r->output), "%s", given) >= (int)sizeof(r->output))
			ui_die(STATUS_FAILED, "%s: the name is too long", given);
		return;
	}
	n = strlen(r->path);
	while (n > 1 && r->path[n - 1] == '/')
		n--;
	snprintf(path, sizeof(path), "%.*s", (int)n, r->path);
	if (r->is_dir && ends_with(path, ".spool")) {
		snprintf(r->output, sizeof(r->output), "%.*s", (int)(n - strlen(".spool")), path);
		return;
	}
	base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	n = strlen(base) - (ends_with(base, ".rtl") ? strlen(".rtl") : 0);
	if (!strcmp(base, ".") || !strcmp(base, "..") || !n)
		snprintf(r->output, sizeof(r->output), "trace.db");
	else
		snprintf(r->output, sizeof(r->output), "%.*s.db", (int)(n > 255 ? 255 : n), base);
}

/* trace.db -> trace.1234.db */
static void add_pid_to_output(struct recover *r)
{
	const char *end = paths_suffix(r->output);
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s.%u%s", (int)(end - r->output), r->output,
		     r->first_pid, end) >= (int)sizeof(path))
		ui_die(STATUS_FAILED, "%s: the name is too long", r->output);
	ui_say("%s: exists already; writing %s", r->output, path);
	memcpy(r->output, path, sizeof(path));
}

/* The directory of the traces and where their unfinished databases are expected: beside the output,
 * and beside DIR of DIR.spool. */
static void find_location(const struct recover *r, const char *spool, struct converter_location *at,
			  char dir[PATH_MAX], char output[PATH_MAX])
{
	paths_dirname(dir, spool);
	*at = (struct converter_location){ .dir = dir, .outputs = { r->output }, .nr = 1 };
	if (!ends_with(dir, ".spool"))
		return;
	snprintf(output, PATH_MAX, "%.*s", (int)(strlen(dir) - strlen(".spool")), dir);
	at->outputs[at->nr++] = output;
}

/* Whether `rtl trace` is at work in the directory. */
static bool is_in_use(const char *dir)
{
	bool in_use = session_is_locked(dir);

	if (in_use)
		ui_say("rtl trace is at work in %s: what it has converted is not in this database",
		       dir);
	return in_use;
}

/* The unfinished databases of the traces' session. false: there is none, or `rtl trace` is at work
 * on them. */
static bool find_unfinished(const struct recover *r, struct converter_found *found)
{
	char first[PATH_MAX], dir[PATH_MAX], output[PATH_MAX], error[SESSION_ERROR_SIZE];
	struct converter_location at;
	bool any = false;

	paths_dirname(first, r->good[0]);
	for (size_t i = 0; i < r->nr_good; i++) {
		struct converter_found one;
		int ret;

		find_location(r, r->good[i], &at, dir, output);
		if (i && strcmp(dir, first) == 0)
			continue;
		ret = converter_find(&at, &one, error);
		if (ret < 0)
			ui_die(STATUS_FAILED, "%s", error);
		if (i && (ret || any))
			ui_die(STATUS_FAILED,
			       "%s: has traces of several sessions that are partly converted: recover each "
			       "directory in it by itself",
			       r->path);
		if (ret)
			*found = one;
		any |= ret > 0;
	}
	return any && !is_in_use(first);
}

/* A copy of a database that was complete but for its name, as an earlier part of the trace. The one
 * to go on with; NULL: none. */
static const char *settle(struct recover *r, const struct converter_found *found,
			  const struct job_options *opt, struct job_result *res)
{
	char name[PATH_MAX];
	int err;

	if (!*found->ending)
		return *found->current ? found->current : NULL;
	err = converter_name(name, r->output, found->number);
	if (!err)
		err = rpd_publish(found->ending, r->good, r->nr_good, name, opt, res);
	if (err == -EAGAIN)
		return found->ending; /* its last rows were not committed */
	db_check_job(res, err);
	return *found->current ? found->current : NULL;
}

static void write_database(struct recover *r)
{
	struct job_result *res = calloc(1, sizeof(*res));
	struct ui_progress progress;
	struct converter_found *found = calloc(1, sizeof(*found));
	struct job_options opt = {
		/* the database of a data set is of an attempt before, if it is there */
		.force = r->parsed->values[O_FORCE].count > 0 || r->set,
		.access = opts_is_public(&r->parsed->values[O_PUBLIC]) ? JOB_ACCESS_UMASK :
									 JOB_ACCESS_CONTENT,
		.progress = ui_progress_step,
		.progress_arg = &progress,
	};
	size_t nr;
	int err;

	if (!res || !found)
		ui_die_memory();
	nr = session_remove_temporaries(r->output);
	if (nr)
		ui_say("%zu temporary file%s of killed conversions deleted", nr, nr > 1 ? "s" : "");
	if (r->parsed->values[O_OR_PID].count && !opt.force && fd_is_taken(r->output))
		add_pid_to_output(r);
	exporter_check_database(r->output, opt.force);
	ui_progress_start(&progress, "writing the database",
			  (enum ui_progress_mode)r->parsed->values[O_PROGRESS].num);
	opt.keeps_unfinished = true;
	if (find_unfinished(r, found))
		opt.unfinished = settle(r, found, &opt, res);
	err = rpd_write(r->good, r->nr_good, r->output, &opt, res);
	ui_progress_end(&progress);
	db_check_job(res, err);
	r->has_converted = opt.unfinished != NULL;
	if (!r->parsed->values[O_QUIET].count)
		result_say(r->output, r->set ? r->set : r->output, res);
	if (opt.unfinished && !r->parsed->values[O_QUIET].count)
		result_say_parts(r->output, converter_names(r->output));
	free(found);
	free(res);
}

/* What an unfinished database had is in the output. */
static void remove_unfinished(const struct recover *r)
{
	char dir[PATH_MAX], output[PATH_MAX];
	struct converter_location at;

	find_location(r, r->good[0], &at, dir, output);
	converter_remove(&at, true);
}

/* Nothing of a raw trace is changed before this. */
static void make_safe(const struct recover *r)
{
	int err = r->nr_good ? temporary_sync(r->output) : 0;

	if (err)
		ui_die(STATUS_FAILED,
		       "%s: can't be written to the disk: %s; the raw traces are kept", r->output,
		       strerror(-err));
}

/* The memory that the ended processes left is freed: their records move to the disk. */
static void drain_spools(const struct recover *r)
{
	for (size_t i = 0; i < r->nr_good && !ui_stopped_by(); i++)
		if (r->over[i])
			session_drain(r->good[i]);
}

static void remove_spools(struct recover *r)
{
	char dir[PATH_MAX];

	if (r->nr_good && r->has_converted && !r->nr_running)
		remove_unfinished(r);

	for (size_t i = 0; i < r->nr; i++)
		if (!r->keep[i])
			session_delete_spool(r->spools[i]);
	for (size_t i = 0; i < r->nr && r->is_dir; i++) {
		paths_dirname(dir, r->spools[i]);
		if (!r->keep[i])
			session_remove_dir(dir);
	}
	if (r->is_dir)
		session_remove_dir(r->path);
}

/* The database becomes folders of the data set. */
static void publish(const struct recover *r)
{
	struct job_result *res = calloc(1, sizeof(*res));
	struct ui_progress progress;
	const struct job_options opt = {
		.force = r->parsed->values[O_FORCE].count > 0,
		.access = opts_is_public(&r->parsed->values[O_PUBLIC]) ? JOB_ACCESS_UMASK :
									 JOB_ACCESS_CONTENT,
		.progress = ui_progress_step,
		.progress_arg = &progress,
	};
	int err;

	if (!res)
		ui_die_memory();
	ui_progress_start(&progress, "writing the data set",
			  (enum ui_progress_mode)r->parsed->values[O_PROGRESS].num);
	err = dataset_publish(r->output, r->set, r->job ? r->job : "", r->rank, &opt, res);
	ui_progress_end(&progress);
	db_check_job(res, err);
	free(res);
}

static int recover_one(struct recover *r)
{
	const struct opt_parsed *p = r->parsed;
	int status = 0;

	find_spools(r);
	for (size_t i = 0; i < r->nr; i++) {
		check_stopped();
		check_spool(r, i);
	}
	if (!r->nr_good && !r->nr_empty)
		ui_die(STATUS_FAILED, "%s: no raw trace can be read", r->path);
	check_stopped();
	if (r->nr_good)
		choose_output(r);
	if (r->is_dir)
		result_say_logs(r->path, p->values[O_QUIET].count > 0);
	if (r->nr_good)
		write_database(r);
	else
		ui_say("%s: nothing was recorded; no database is written", r->path);
	if (r->set && r->nr_good)
		publish(r);
	else
		make_safe(r);
	if (p->values[O_REMOVE].count)
		remove_spools(r);
	else
		drain_spools(r);
	if (r->nr_bad)
		status = STATUS_FAILED;
	session_free_spools(r->spools, r->nr);
	free(r->keep);
	free(r->good);
	free(r->over);
	return status;
}

/* ---- the ranks of a data set ---- */

static void say_rank(char text[128], const struct dataset_mark *m)
{
	if (m->rank >= 0)
		snprintf(text, 128, "rank %lld of job %.40s", (long long)m->rank,
			 *m->job ? m->job : "0");
	else
		snprintf(text, 128, "process %u on %.60s", m->pid, *m->host ? m->host : "?");
}

/* Whether the directory can be that of the mark's raw trace: it has the name that rtl trace gives
 * it. What a mark says is believed no further. */
static bool is_spool_of(const struct dataset_mark *m)
{
	const char *base = strrchr(m->spool, '/'), *own = strrchr(m->output, '/') + 1;
	size_t n = strlen(own);

	return base && *m->spool == '/' && strncmp(base + 1, own, n) == 0 && base[1 + n] == '.' &&
	       ends_with(m->spool, ".spool");
}

/* Its program ended before it recorded anything. */
static bool has_nothing(const char *dir)
{
	char **spools;
	ssize_t nr = session_spools(dir, &spools);

	if (nr >= 0)
		session_free_spools(spools, (size_t)nr);
	return nr == 0;
}

/* In a process of its own, since what can't be read ends it. */
static int finish_mark(struct recover *r, const struct dataset_mark *m)
{
	bool has_spool = is_spool_of(m) && access(m->spool, F_OK) == 0;
	int status = 0;

	r->path = m->spool;
	memcpy(r->output, m->output, sizeof(r->output));
	if (has_spool && has_nothing(m->spool))
		session_remove_dir(m->spool);
	else if (has_spool)
		status = recover_one(r);
	else if (access(m->output, F_OK) == 0)
		publish(r);
	if (status == 0 && !r->nr_running && (!has_spool || access(m->spool, F_OK)) &&
	    access(m->output, F_OK))
		dataset_unmark(m->output);
	return status;
}

/* 1: it can't be finished here and now. */
static int recover_mark(const struct opt_parsed *p, const struct dataset_mark *m, const char *set)
{
	struct recover r = { .parsed = p, .set = set, .job = m->job, .rank = m->rank };
	char rank[128];
	int status = 0;
	pid_t child;

	say_rank(rank, m);
	if (!m->is_here && !p->values[O_FORCE].count) {
		ui_say("%s: is not finished; on %s: rtl recover %s (--force: from here, when it has ended)",
		       rank, m->host, set);
		return STATUS_FAILED;
	}
	if (dataset_mark_runs(m)) {
		ui_say("%s: still runs; it is not in the data set yet", rank);
		return STATUS_FAILED;
	}
	child = fork();
	if (child < 0)
		ui_die(STATUS_FAILED, "can't start a process: %s", strerror(errno));
	if (!child) {
		status = finish_mark(&r, m);
		ui_flush();
		_exit(status);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_FAILED;
	if (status)
		ui_error("%s: is not finished; its raw trace is kept", rank);
	return status;
}

/* true: the folder is a data set with ranks that are not finished. */
static bool recover_set(const struct opt_parsed *p, int *status)
{
	struct opt_parsed own = *p;
	char *set = realpath(p->operands[0], NULL);
	struct dataset_mark *marks = NULL;
	ssize_t nr = set ? dataset_marks(set, &marks) : 0;

	if (nr <= 0 || p->values[O_OUTPUT].count) {
		free(set);
		free(marks);
		return false;
	}
	/* what is in the data set is not needed any more */
	own.values[O_REMOVE].count = 1;
	*status = 0;
	for (ssize_t i = 0; i < nr && !ui_stopped_by(); i++) {
		int one = recover_mark(&own, &marks[i], set);

		*status = *status ? *status : one;
	}
	if (ui_stopped_by())
		*status = 128 + ui_stopped_by();
	free(set);
	free(marks);
	return true;
}

static int run_recover(const struct opt_parsed *p)
{
	struct recover r = { .parsed = p, .path = p->operands[0], .rank = RANK_NONE };
	int status;

	ui_quiet(p->values[O_QUIET].count > 0);
	ui_stop_in_order("nothing is lost: run it again");
	return recover_set(p, &status) ? status : recover_one(&r);
}

static const struct opt_status statuses[] = {
	{ "0", "the database is written, or nothing had been recorded" },
	{ "1", "something can't be read or written, or a rank is unfinished" },
	{ "3", "FILE is a device, a FIFO or a socket" },
	{ "128+N", "signal N ended it" },
	{ NULL, NULL },
};

const struct command cmd_recover = {
	.name = "recover",
	.summary = "converts raw traces that are left over",
	.usage = "[options] SPOOL_DIR|FILE.rtl|DATA_SET",
	.operands = "SPOOL_DIR, FILE.rtl or DATA_SET",
	.opts = options,
	.nr_opts = sizeof(options) / sizeof(options[0]),
	.statuses = statuses,
	.min_operands = 1,
	.max_operands = 1,
	.usage_status = STATUS_USAGE,
	.reads = true,
	.about =
		"A raw trace survives the end of its process by kill -9, an abort or a GPU fault, and a "
		"full disk while the database is written. This command reads both of its halves, the "
		"one on disk and the one in memory, and writes the same database that rtl trace would have "
		"written.\n"
		"\n"
		"Without -o, traces of DIR.spool are written to DIR, those of another DIR to DIR.db, and "
		"FILE.rtl to FILE.db, the last two in the current directory. Damaged chunks are left out, counted and reported.\n"
		"\n"
		"Until the database is complete the traces are only read, but that records in memory move to their file, so that the command can be repeated, to another disk or from a copy. What rtl trace had converted "
		"before it was killed is in OUTPUT.part-PID beside its output: it is read, too. With --spool-dir, or after a move, give that output with -o.\n"
		"\n"
		"Of a data set (rtl trace -o DIR/), rtl recover DIR finishes the ranks whose rtl trace was killed on this host: each becomes its "
		"folder, and its raw trace is deleted when that is on the disk. Ranks that still run are left alone, and those of other hosts are named; "
		"with --force they are finished from here, and folders that exist are replaced.",
	.examples =
		"rtl recover trace.db.spool\nrtl recover runs/\nrtl recover --remove -o run.db /scratch/run.db.4711.spool\n",
	.run = run_recover,
};
