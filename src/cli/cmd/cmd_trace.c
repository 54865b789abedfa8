/* SPDX-License-Identifier: MIT */
/* cmd_trace.c - rtl trace: runs a program, drains what it records, writes the database
 *
 * Order: fork -> names -> checks -> spool directory -> drainer -> exec -> wait -> drain -> convert.
 * rtl changes no file before the checks, and starts the program only if they pass.
 *
 * Not here: signals (child.c), the spool directory (session.c), draining (drainer.c), the
 * environment (childenv.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/capture.h"
#include "base/env.h"
#include "base/owned.h"
#include "base/rank.h"
#include "base/rocr.h"
#include "base/testpoint.h"
#include "cli/checks.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/trace_options.h"
#include "cli/cmd/trace_set.h"
#include "cli/others.h"
#include "cli/paths.h"
#include "cli/pmc/pmc_rerun.h"
#include "cli/pmc/pmc_trace.h"
#include "cli/read/result.h"
#include "cli/read/summary.h"
#include "cli/trace/child.h"
#include "cli/trace/childenv.h"
#include "cli/trace/converter.h"
#include "cli/trace/dataset.h"
#include "cli/trace/detach.h"
#include "cli/trace/drainer.h"
#include "cli/trace/program.h"
#include "cli/trace/ranks.h"
#include "cli/trace/session.h"
#include "cli/trace/vgpu.h"
#include "cli/trace/watch.h"
#include "cli/ui.h"
#include "export/rpd/rpd.h"
#include "query/query.h"
#include "store/load.h"

#define LEFT_MS 1000 /* as long as rtl waits for a traced process that outlives the program */

struct trace {
	bool splits_ranks; /* a database for each rank */
	struct rank rank;
	bool is_rank;	   /* a launcher has started this rtl as one of several ranks */
	char *own_pattern; /* of the output, of a rank of several; NULL: as it was given */
	const struct opt_parsed *parsed;
	struct paths paths;
	struct session session;
	struct child child;
	struct converter converter;
	struct ui_progress progress;
	const char *program;
	bool quiet, verbose, abandoned;
	bool disk_failed;   /* a trace could not be written at some time */
	bool is_registered; /* librtl is registered with rocprofiler-register, too */
	struct pmc_chosen counters;
	size_t nr_spools, nr_running, nr_unreadable;
	struct drainer_triggers triggers;
};

static const struct opt_value *value(const struct trace *t, int option)
{
	return &t->parsed->values[option];
}

static const char *output_pattern(const struct trace *t)
{
	if (t->own_pattern)
		return t->own_pattern;
	return value(t, TRACE_OUTPUT)->text ? value(t, TRACE_OUTPUT)->text : env_str(ENV_OUTPUT);
}

/* What `rtl recover` is given to finish the trace. */
static const char *rest_of(const struct trace *t)
{
	return *t->session.set ? t->session.set : t->session.dir;
}

static const char *spool_dir_option(const struct trace *t)
{
	return value(t, TRACE_SPOOL_DIR)->text ? value(t, TRACE_SPOOL_DIR)->text :
						 env_str(ENV_SPOOL_DIR);
}

/* The default of rtl trace is mode hip; that of librtl alone (HSA_TOOLS_LIB) is less. */
static const char *trace_mode(const struct trace *t)
{
	const char *mode = value(t, TRACE_MODE)->text ? value(t, TRACE_MODE)->text :
							getenv("RTL_MODE");

	/* "default" is what rtl trace does without the option */
	if (mode && strcmp(mode, "default") == 0)
		return "hip";
	if (value(t, TRACE_MODE)->text)
		return mode;
	return env_is_set(ENV_MODE) ? env_str(ENV_MODE) : "hip";
}

static void choose_counters(struct trace *t)
{
	const struct pmc_given given = {
		.names = value(t, TRACE_PMC)->text,
		.file = value(t, TRACE_PMC_FILE)->text,
		.metrics = value(t, TRACE_METRICS)->text,
		.dispatches = value(t, TRACE_DISPATCHES)->text,
		.iterations = value(t, TRACE_ITERATIONS)->text,
		.kernels = value(t, TRACE_KERNELS)->text,
		.not_kernels = value(t, TRACE_NOT_KERNELS)->text,
		.gpus = value(t, TRACE_GPUS)->text,
		.rules = (enum expression_rules)value(t, TRACE_RULES)->num,
		.rerun = value(t, TRACE_PASSES)->num == 1,
		.replay = value(t, TRACE_PASSES)->num == 2,
		.is_virtual = value(t, TRACE_VGPU)->count > 0,
		.run = (uint32_t)value(t, TRACE_PMC_RUN)->num,
	};

	pmc_choose(&given, &t->counters);
}

static char **build_env(const struct trace *t, const char **why)
{
	const struct childenv_var more[] = {
		{ "RTL_DELAY", value(t, TRACE_DELAY)->text },
		{ "RTL_DURATION", value(t, TRACE_DURATION)->text },
		{ "RTL_PERIOD", value(t, TRACE_PERIOD)->text },
		{ "RTL_RANGE", value(t, TRACE_RANGE)->text },
		{ "RTL_KERNELS", t->counters.kernels },
		{ "RTL_NOT_KERNELS", t->counters.not_kernels },
		{ "RTL_CALLS", value(t, TRACE_CALLS)->text },
		{ "RTL_INTERNAL", value(t, TRACE_INTERNAL)->count ? "1" : NULL },
		{ "RTL_SCRATCH", value(t, TRACE_SCRATCH)->count ? "1" : NULL },
		{ "RTL_GPUS", t->counters.gpus },
		{ "RTL_RANKS", value(t, TRACE_RANKS)->text },
		{ "RTL_FLIGHT_RECORDER", value(t, TRACE_FLIGHT)->text },
		{ "RTL_PMC", t->counters.variables.pmc },
		{ "RTL_PMC_METRICS", t->counters.variables.metrics },
		{ "RTL_PMC_DISPATCHES", pmc_limit_dispatches(t->counters.dispatches) },
		{ "RTL_PMC_ITERATIONS", pmc_limit_iterations(t->counters.iterations) },
		{ "RTL_PMC_REPLAY", t->counters.is_replayed ? "1" : NULL },
	};
	const struct childenv_setup setup = {
		.librtl = t->paths.librtl,
		.librtlmpi = value(t, TRACE_MPI)->count ? t->paths.librtlmpi : NULL,
		.lib_dir = t->paths.lib_dir,
		.vgpu_dir = value(t, TRACE_VGPU)->count ? t->paths.vgpu_dir : NULL,
		.vgpu_devices = value(t, TRACE_VGPU)->num,
		.tsan_suppressions = t->paths.tsan_suppressions[0] ? t->paths.tsan_suppressions :
								     NULL,
		.session = t->session.dir,
		.mode = trace_mode(t),
		.hsa = value(t, TRACE_HSA)->count > 0,
		.drain_ms = value(t, TRACE_DRAIN)->num,
		.has_drain_ms = value(t, TRACE_DRAIN)->count > 0,
		.buffer_mb = value(t, TRACE_BUFFER)->num,
		.has_buffer_mb = value(t, TRACE_BUFFER)->count > 0,
		.barriers = value(t, TRACE_BARRIERS)->count > 0,
		.trace_start = value(t, TRACE_TRACE_START)->text,
		.is_registered = t->is_registered,
		.more = more,
		.nr_more = sizeof(more) / sizeof(more[0]),
	};

	return childenv_build(&setup, environ, why);
}

static void find_parts(struct trace *t)
{
	int err = paths_find(&t->paths);

	if (err)
		ui_die(STATUS_TRACE, "/proc/self/exe: %s; rtl finds its library by it: mount /proc",
		       strerror(-err));
	if (!t->paths.librtl[0])
		ui_die(STATUS_TRACE,
		       "librtl.so.1: not found below %s/lib, where this rtl searches it; "
		       "install it there, or run the rtl of a complete installation",
		       t->paths.root);
	if (value(t, TRACE_MPI)->count && !t->paths.librtlmpi[0])
		ui_die(STATUS_TRACE, "--mpi: librtlmpi.so.1 not found beside %s; install it there",
		       t->paths.librtl);
	if (value(t, TRACE_VGPU)->count)
		vgpu_check_paths(&t->paths);
}

/* Decides from the HSA runtime that the loader finds whether to use rocprofiler-register. */
static void choose_registration(struct trace *t)
{
	const char *way = env_str(ENV_WAY);
	struct rocr rocr = { 0 };
	char path[PATH_MAX];

	if (rocr_find(getenv("LD_LIBRARY_PATH"), path, sizeof(path)))
		rocr_read(&rocr, path);
	t->is_registered = strcmp(way, "register") == 0 ||
			   (strcmp(way, "auto") == 0 && rocr.registers && !rocr.takes_both);
}

/* The databases of an earlier run would be taken for those of this one. Another file of such a name
 * stays. */
static int remove_parts(const struct trace *t, bool force, char error[SESSION_ERROR_SIZE])
{
	char name[PATH_MAX];
	unsigned int nr = converter_names(t->session.output);
	int err;

	for (unsigned int i = 1; i <= nr; i++) {
		if (converter_name(name, t->session.output, i))
			break;
		err = force ? owned_remove_path(name, OWNED_DATABASE, sizeof(OWNED_DATABASE)) :
			      -EEXIST;
		if (err == 0)
			continue;
		snprintf(
			error, SESSION_ERROR_SIZE, "%.900s: %s", name,
			err == -EEXIST ?
				"exists; use --force to replace it, or -o NAME" :
			err == -EMEDIUMTYPE ?
				"is no database of an earlier run; move it, or choose another name with -o" :
				strerror(-err));
		return -EEXIST;
	}
	return 0;
}

/* So few files may be opened that rtl can't do its part. */
static _Noreturn void run_untraced(struct trace *t, char **argv)
{
	unsigned long long limit = t->child.old_files.rlim_max;
	int err;

	/* what needs a trace, or the virtual GPU */
	if (value(t, TRACE_FAIL_LOSS)->count || value(t, TRACE_FAIL_EMPTY)->count ||
	    value(t, TRACE_VGPU)->count)
		ui_die(STATUS_TRACE,
		       "the limit of %llu open files is too low to trace; see ulimit -Hn", limit);
	ui_error("%s runs untraced: the limit of %llu open files is too low; see ulimit -Hn",
		 t->program, limit);
	err = child_replace(&t->child, argv);
	ui_die(err == -ENOENT ? STATUS_NOT_FOUND : STATUS_CANT_RUN, "%s: can't be run: %s",
	       t->program, strerror(-err));
}

static int folder_is_taken(const char *folder, char error[SESSION_ERROR_SIZE])
{
	snprintf(error, SESSION_ERROR_SIZE,
		 "%.900s: exists already; use --force to replace it, or another directory", folder);
	return -EEXIST;
}

/* Forks the program's process, up to but without its exec, and opens the session. */
static void prepare_child(struct trace *t, char **argv)
{
	char error[SESSION_ERROR_SIZE], folder[PATH_MAX];
	const char *why = NULL;
	bool in_child, force = value(t, TRACE_FORCE)->count || env_bool(ENV_FORCE);
	char **env;
	int err;

	err = child_fork(&t->child, &in_child);
	if (err == -EMFILE)
		run_untraced(t, argv);
	if (err)
		ui_die(STATUS_TRACE, "can't start a process: %s", strerror(-err));
	err = session_names(&t->session, output_pattern(t), spool_dir_option(t),
			    in_child ? getpid() : t->child.pid, error);
	env = err ? NULL : build_env(t, &why);
	if (in_child) {
		if (!env)
			_exit(STATUS_TRACE);
		child_become(&t->child, argv, env);
	}
	if (!err && *t->session.set && !force &&
	    dataset_has_rank(folder, t->session.set, t->rank.job, t->rank.rank))
		err = folder_is_taken(folder, error);
	if (!err && !env) {
		child_drop(&t->child);
		ui_die(STATUS_TRACE, "%s: %s; install rtl elsewhere", t->paths.lib_dir, why);
	}
	if (!err)
		err = session_open(&t->session, force, error);
	if (!err && value(t, TRACE_SPLIT)->count)
		err = remove_parts(t, force, error);
	if (err) {
		child_drop(&t->child);
		ui_die(STATUS_TRACE, "%s", error);
	}
	if (t->verbose) {
		ui_say("mode %s, spool %s", childenv_get(env, "RTL_MODE"), t->session.dir);
		ui_say("LD_PRELOAD=%s", childenv_get(env, "LD_PRELOAD"));
		ui_say("HSA_TOOLS_LIB=%s", childenv_get(env, "HSA_TOOLS_LIB"));
		if (t->is_registered)
			ui_say("ROCPROFILER_REGISTER_LIBRARY=%s",
			       childenv_get(env, "ROCPROFILER_REGISTER_LIBRARY"));
	}
}

/* Signals are for the program from here on; ends rtl if one came before. */
static void hand_signals_over(struct trace *t)
{
	RTL_TESTPOINT("trace_prepared");
	child_hold_signals(&t->child);
	if (!ui_stopped_by())
		return;
	child_drop(&t->child);
	session_close(&t->session);
	ui_die(128 + ui_stopped_by(), "stopped by signal %d before %s began", ui_stopped_by(),
	       t->program);
}

static int report_cant_run(struct trace *t, int err)
{
	const char *why = program_cant_run(t->program, -err);

	session_close(&t->session);
	if (strcmp(why, "command not found") == 0)
		ui_error("%s: %s", t->program, why);
	else
		ui_error("%s: can't be run: %s", t->program, why);
	return err == -ENOENT ? STATUS_NOT_FOUND : STATUS_CANT_RUN;
}

/* An empty file: the process was killed before it recorded anything. */
static bool is_empty_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

/* The header is not written yet: the process is at its start. */
static bool is_blank_file(const char *path)
{
	uint64_t magic = 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, &magic, sizeof(magic), 0);

	if (fd >= 0)
		close(fd);
	return n == 0 || (n == (ssize_t)sizeof(magic) && !magic);
}

/* The paths of the t->nr_spools traces that go into the database. */
static const char **choose_spools(struct trace *t, const struct drainer *d)
{
	char text[SESSION_ERROR_SIZE];
	size_t nr = drainer_nr(d);
	const char **paths = calloc(nr + 1, sizeof(*paths));

	if (!paths)
		ui_die_memory();
	for (size_t i = 0; i < nr; i++) {
		struct load_error error;
		struct load *load;

		if (drainer_running(d, i)) {
			t->nr_running++;
			if (!t->abandoned)
				continue;
		} else if (t->abandoned && is_blank_file(drainer_path(d, i))) {
			t->nr_running++;
			continue;
		}
		if (is_empty_file(drainer_path(d, i)))
			continue;
		if (session_check_spool(drainer_path(d, i), text)) {
			t->nr_unreadable++;
			ui_error("%s", text);
			continue;
		}
		if (load_open(&load, drainer_path(d, i), &error)) {
			t->nr_unreadable++;
			ui_error("%s", error.text);
			continue;
		}
		load_close(load);
		paths[t->nr_spools++] = drainer_path(d, i);
	}
	return paths;
}

static void report_running(const struct trace *t, const struct drainer *d)
{
	char list[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < drainer_nr(d) && used + 24 < sizeof(list); i++)
		if (drainer_running(d, i))
			used += (size_t)snprintf(list + used, sizeof(list) - used, " %u",
						 drainer_pid(d, i));
	ui_say("%zu traced process%s still run%s%s%s%s; %s; 'rtl recover %s' writes the rest later",
	       t->nr_running, t->nr_running > 1 ? "es" : "", t->nr_running > 1 ? "" : "s",
	       *list ? " (pid" : "", list, *list ? ")" : "",
	       t->abandoned ? "the database has their records so far" :
			      "they are not in the database",
	       rest_of(t));
}

/* Whether this process, and so the program, has a rank that is not to be traced. */
static const char *rank_list(const struct trace *t)
{
	const char *list = value(t, TRACE_RANKS)->text;

	return !list && env_is_set(ENV_RANKS) ? env_str(ENV_RANKS) : list;
}

/* --ranks chooses nothing where no process has a rank: more was recorded than was asked for. 0, or
 * the status. */
static int check_ranks(const struct trace *t)
{
	const char *list = rank_list(t);
	sqlite3 *db = NULL;
	bool has_rank = true;

	if (!list)
		return 0;
	if (query_open_file(&db, t->session.output) == SQLITE_OK)
		has_rank = query_number(
			db, "SELECT EXISTS (SELECT 1 FROM rtl_process WHERE rank IS NOT NULL)", 1);
	sqlite3_close(db);
	if (has_rank)
		return 0;
	ui_error(
		"--ranks %s: no process has a rank, so that all were traced; ranks are in the variables of a "
		"launcher (mpirun, srun, flux, torchrun): start the program with one, or leave --ranks out",
		list);
	return STATUS_TRACE;
}

static bool is_other_rank(const struct trace *t)
{
	const char *list = rank_list(t);

	return list && t->rank.rank != RANK_NONE && !capture_list_has(list, (uint64_t)t->rank.rank);
}

/* Processes that outlive the program, by more than helpers that tidy up behind it do, and have made
 * no trace by now. true: there are some. */
static bool report_left(const struct trace *t)
{
	uint32_t pids[8];
	size_t nr = watch_wait(t->session.dir, pids, sizeof(pids) / sizeof(pids[0]), LEFT_MS),
	       used = 0;
	char list[128] = "";

	for (size_t i = 0; i < nr; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, " %u", pids[i]);
	if (nr)
		ui_say("%zu process%s that %s left behind still run%s (pid%s%s); if they use the GPU, "
		       "'rtl recover%s %s' writes their trace after their end",
		       nr, nr > 1 ? "es" : "", t->program, nr > 1 ? "" : "s", nr > 1 ? "s" : "",
		       list, t->nr_spools && !*t->session.set ? " -o FILE" : "", rest_of(t));
	return nr > 0;
}

/* Raw traces that such processes made while the database was written. true: there are some. */
static bool report_late(const struct trace *t, const struct drainer *d)
{
	char **paths;
	ssize_t nr = session_spools(t->session.dir, &paths);
	size_t known = 0;

	for (ssize_t i = 0; i < nr; i++)
		for (size_t j = 0; j < drainer_nr(d); j++)
			known += strcmp(paths[i], drainer_path(d, j)) == 0;
	if (nr >= 0)
		session_free_spools(paths, (size_t)nr);
	if (nr <= (ssize_t)known)
		return false;
	ui_say("%zu process%s that %s left behind used the GPU after its end; 'rtl recover%s %s' writes "
	       "their trace",
	       (size_t)nr - known, (size_t)nr - known > 1 ? "es" : "", t->program,
	       *t->session.set ? "" : " -o FILE", rest_of(t));
	return true;
}

static void report_nothing_traced(const struct trace *t, const struct drainer *d, bool left)
{
	const char *suspect = drainer_suspect(d);
	struct program program;

	program_read(t->program, &program);
	if (is_other_rank(t))
		ui_say("rank %lld is not traced (--ranks); no database was written",
		       (long long)t->rank.rank);
	else if (env_bool(ENV_DISABLE))
		ui_say("nothing to trace: RTL_DISABLE is set, with which librtl does nothing: unset it; "
		       "no database was written");
	else if (program.untraceable)
		ui_say("nothing to trace: %s %s%s; no database was written", t->program,
		       program.untraceable,
		       value(t, TRACE_VGPU)->count ? ", and neither can the virtual GPU get in" :
						     "");
	else if (*program.missing)
		ui_say("nothing to trace: the interpreter '%s' of %s is not in PATH (its first line)%s; no database was written",
		       program.missing, t->program,
		       strchr(program.missing, ' ') ?
			       ": env takes all of it as one name, without -S" :
			       "");
	else if (suspect)
		ui_say("nothing to trace: %s; no database was written", suspect);
	else if (t->abandoned)
		ui_say("nothing to trace: %s loaded no ROCm runtime so far; no database was written; if it uses "
		       "the GPU later, 'rtl recover %s' writes its trace after its end",
		       t->program, rest_of(t));
	else if (*program.runtime)
		ui_say("nothing to trace: %s is linked with %s and ended before it used a GPU%s; no database "
		       "was written",
		       t->program, program.runtime,
		       value(t, TRACE_VGPU)->count || access("/dev/kfd", R_OK | W_OK) == 0 ?
			       "" :
			       ", or found none ('rtl doctor' says why; --virtual-gpu needs none)");
	else
		ui_say("nothing to trace: %s loaded no ROCm runtime%s; no database was written",
		       t->program, left ? " so far" : "");
	if (!*t->session.set && access(t->session.output, F_OK) == 0)
		ui_say("%s is of an earlier run", t->session.shown);
}

static int fail_status(const struct trace *t, const struct job_result *res)
{
	if (!res && is_other_rank(t))
		return 0;
	if (value(t, TRACE_FAIL_EMPTY)->count &&
	    (!res || res->nr_dispatches + res->nr_copies == 0)) {
		ui_error("no GPU operation was recorded (--fail-on-empty)");
		return STATUS_EMPTY;
	}
	if (value(t, TRACE_FAIL_LOSS)->count && res && !res->complete) {
		ui_error("the trace is %s (--fail-on-loss)", res->verdict);
		return STATUS_LOSS;
	}
	return 0;
}

static struct job_options database_options(const struct trace *t)
{
	return (struct job_options){
		.force = value(t, TRACE_FORCE)->count || env_bool(ENV_FORCE),
		.access = opts_is_public(value(t, TRACE_PUBLIC)) ? JOB_ACCESS_UMASK :
								   JOB_ACCESS_CONTENT,
	};
}

/* Starts the conversion while the program runs. Without it the end takes longer. */
static void start_converter(struct trace *t)
{
	const struct job_options opt = database_options(t);
	const char *limit = value(t, TRACE_SPLIT)->text;
	struct converter_split split = { 0 };
	char error[CAPTURE_ERROR_SIZE];
	int err;

	t->converter.stop_fd = -1;
	if (value(t, TRACE_NO_CONVERT)->count)
		return;
	if (limit)
		capture_flight(limit, &split.bytes, &split.ns, error);
	err = converter_start(&t->converter, t->session.dir, t->session.output, &opt, &split,
			      !value(t, TRACE_KEEP)->count);
	if (err && limit)
		ui_error(
			"--split: can't start a process that converts meanwhile: %s; there will be one database",
			strerror(-err));
	else if (err && t->verbose)
		ui_say("can't start a process that converts meanwhile: %s", strerror(-err));
}

/* Writes the database. 0 with *res, or the exit status. */
static int convert_spools(struct trace *t, const char **paths, struct job_result *res)
{
	struct job_options opt = database_options(t);
	const struct converter_location where = { .dir = t->session.dir,
						  .outputs = { t->session.output },
						  .nr = 1,
						  .pid = t->converter.was };
	char error[SESSION_ERROR_SIZE];
	struct converter_found found;
	int err = -ECANCELED;

	opt.progress = ui_progress_step;
	opt.progress_arg = &t->progress;
	if (where.pid) {
		converter_settle(&where, &opt);
		if (converter_find(&where, &found, error) > 0 && *found.current)
			opt.unfinished = found.current;
	}

	ui_progress_start(&t->progress, "writing the database",
			  (enum ui_progress_mode)value(t, TRACE_PROGRESS)->num);
	if (!ui_stopped_by())
		err = rpd_write(paths, t->nr_spools, t->session.output, &opt, res);
	ui_progress_end(&t->progress);
	if (!err) {
		converter_remove(&where, false);
		return 0;
	}
	if (err == -ECANCELED && ui_stopped_by())
		ui_error("stopped by signal %d before the database was written", ui_stopped_by());
	else
		ui_error("%s", res->error[0] ? res->error : strerror(-err));
	ui_error("%s'rtl recover %s' writes the database from the raw trace",
		 t->nr_unreadable || t->disk_failed ? "" : "nothing is lost: ", rest_of(t));
	return err == -ECANCELED && ui_stopped_by() ? 128 + ui_stopped_by() : STATUS_TRACE;
}

/* Writes a database of some of the raw traces, and what it has. 0 or the exit status; *keep: the
 * raw traces have to stay. */
static int write_database(struct trace *t, const char **paths, bool *keep)
{
	struct job_result *res = calloc(1, sizeof(*res));
	int failed;

	if (!res)
		ui_die_memory();
	failed = convert_spools(t, paths, res);
	*keep |= failed != 0;
	if (!failed) {
		if (!t->quiet && t->is_rank && !t->verbose)
			result_say_rank(t->session.output, t->session.shown,
					*t->session.set ? NULL : output_pattern(t), &t->rank, res);
		else if (!t->quiet)
			result_say(t->session.output, t->session.shown, res);
		if (!t->quiet && (t->counters.dispatches || t->counters.iterations))
			pmc_limit_report(t->session.output);
		if (value(t, TRACE_SUMMARY)->count)
			summary_print_overview(t->session.output);
		if (!t->quiet && value(t, TRACE_SPLIT)->count)
			result_say_parts(t->session.shown, converter_names(t->session.output));
		failed = fail_status(t, res);
	}
	free(res);
	return failed;
}

/* The same for each rank, where the output's name has %r and the program starts the ranks. */
static int write_databases(struct trace *t, const char **paths, bool *keep)
{
	size_t nr = t->nr_spools;
	int64_t *ranks = calloc(nr + 1, sizeof(*ranks));
	int failed = 0;

	if (!ranks)
		ui_die_memory();
	ranks_sort(paths, ranks, nr);
	for (size_t from = 0, to; from < nr; from = to) {
		int one;

		for (to = from + 1; to < nr && ranks[to] == ranks[from]; to++)
			;
		if (!ranks_name(&t->session, output_pattern(t), (uint32_t)t->child.pid,
				ranks[from]))
			ui_die(STATUS_TRACE, "%s: the name is too long", output_pattern(t));
		t->nr_spools = to - from;
		one = write_database(t, paths + from, keep);
		failed = failed ? failed : one;
	}
	t->nr_spools = nr;
	free(ranks);
	return failed;
}

/* The database becomes folders of the data set. 0 or the exit status; the database is kept then. */
static int publish(struct trace *t)
{
	struct job_result *res = calloc(1, sizeof(*res));
	struct job_options opt = database_options(t);
	int err;

	if (!res)
		ui_die_memory();
	opt.progress = ui_progress_step;
	opt.progress_arg = &t->progress;
	ui_progress_start(&t->progress, "writing the data set",
			  (enum ui_progress_mode)value(t, TRACE_PROGRESS)->num);
	err = dataset_publish(t->session.output, t->session.set, t->rank.job, t->rank.rank, &opt,
			      res);
	ui_progress_end(&t->progress);
	if (err) {
		ui_error("%s", res->error[0] ? res->error : strerror(-err));
		ui_error("nothing is lost: 'rtl recover %s%s' writes it to the data set",
			 err == -EEXIST ? "--force " : "", t->session.set);
	}
	free(res);
	if (err == -ECANCELED && ui_stopped_by())
		return 128 + ui_stopped_by();
	return err ? STATUS_TRACE : 0;
}

/* After the program's end: converts its records to the database. Returns the exit status. */
static int conclude_trace(struct trace *t, struct drainer *d)
{
	int status = child_exit_status(&t->child), failed;
	const char **paths = choose_spools(t, d);
	bool keep = value(t, TRACE_KEEP)->count || t->nr_running || t->nr_unreadable, left, runs;

	t->disk_failed = drainer_error(d) != 0;
	if (t->disk_failed)
		ui_error("%s: %s; records that did not fit into memory are counted as lost",
			 t->session.dir, strerror(drainer_error(d)));
	if (access(t->session.dir, F_OK)) {
		ui_error("%s: was removed while the program ran; its records are lost",
			 t->session.dir);
		t->nr_unreadable++;
	}
	result_say_logs(t->session.dir, t->quiet);
	/* else the conversion comes first: meanwhile helpers end */
	left = !t->nr_spools && !t->nr_running && !t->abandoned && report_left(t);
	if (value(t, TRACE_NO_CONVERT)->count && t->nr_spools) {
		ui_say("%zu raw trace%s in %s; 'rtl recover %s' writes the %s", t->nr_spools,
		       t->nr_spools > 1 ? "s" : "", t->session.dir, rest_of(t),
		       *t->session.set ? "data set" : "database");
	} else if (!t->nr_spools) {
		if (!t->nr_running && !t->nr_unreadable)
			report_nothing_traced(t, d, left);
		failed = fail_status(t, NULL);
		status = status ? status : failed;
	} else {
		bool again = false;

		failed = t->splits_ranks ? write_databases(t, paths, &again) :
					   write_database(t, paths, &again);
		keep |= again;
		failed = failed ? failed : check_ranks(t);
		if (*t->session.set && !again) {
			int unpublished = publish(t);

			failed = unpublished ? unpublished : failed;
			again = unpublished != 0;
		}
		/* a database that could not be written is worse than what the program returned */
		status = again || !status ? failed : status;
	}
	if (t->nr_unreadable)
		status = STATUS_TRACE;
	if (t->nr_spools && !t->nr_running && !t->abandoned)
		left = report_left(t) || report_late(t, d);
	/* what still runs may make its raw trace at any time */
	runs = left || t->abandoned;
	if (t->nr_running)
		report_running(t, d);
	else if (value(t, TRACE_KEEP)->count && t->nr_spools)
		ui_say("raw trace kept in %s", t->session.dir);
	/* the rest is that of the processes that are left */
	if (left && !keep && !value(t, TRACE_NO_CONVERT)->count)
		for (size_t i = 0; i < t->nr_spools; i++)
			session_delete_spool(paths[i]);
	if (runs)
		session_leave(&t->session);
	else if (keep || value(t, TRACE_NO_CONVERT)->count)
		session_close(&t->session);
	else
		session_remove(&t->session);
	free(paths);
	return status;
}

static void ask_snapshot(void *drainer)
{
	drainer_ask_snapshot(drainer);
}

static void set_triggers(struct trace *t)
{
	struct drainer_triggers *g = &t->triggers;
	char error[CAPTURE_ERROR_SIZE];

	if (value(t, TRACE_LONGER)->text)
		capture_time(value(t, TRACE_LONGER)->text, &g->options.longer_ns, error);
	g->options.errors = value(t, TRACE_ERROR)->count > 0;
	g->options.mark = value(t, TRACE_MARK)->text;
	g->snapshots = (struct snapshots){
		.dir = t->session.dir,
		.output = t->session.output,
		.most = value(t, TRACE_SNAPSHOTS)->count ? value(t, TRACE_SNAPSHOTS)->num : 10,
		.gap_ns = (value(t, TRACE_GAP)->count ? value(t, TRACE_GAP)->num : 5) *
			  UINT64_C(1000000000),
		.force = value(t, TRACE_FORCE)->count || env_bool(ENV_FORCE),
		.is_public = opts_is_public(value(t, TRACE_PUBLIC)),
	};
}

/* Behind a launcher each rank has an rtl trace, which can't write the database of another one. */
static void separate_ranks(struct trace *t)
{
	rank_read(&t->rank, NULL);
	t->is_rank = t->rank.rank != RANK_NONE && t->rank.world_size > 1;
	t->own_pattern = ranks_own_pattern(output_pattern(t), &t->rank);
	ui_keep(t->own_pattern);
}

static int run_trace(const struct opt_parsed *p)
{
	static struct trace trace;
	struct trace *t = &trace;
	struct drainer_limit limit = { 0 };
	struct drainer *d;
	int err, status;

	t->parsed = p;
	t->program = p->operands[0];
	t->quiet = value(t, TRACE_QUIET)->count > 0;
	t->verbose = value(t, TRACE_VERBOSE)->count > 0 && !t->quiet;
	ui_quiet(t->quiet);
	separate_ranks(t);
	if (value(t, TRACE_NO_CONVERT)->count &&
	    (value(t, TRACE_FAIL_LOSS)->count || value(t, TRACE_FAIL_EMPTY)->count))
		ui_die(STATUS_TRACE, "--fail-on-loss and --fail-on-empty check the database, which "
				     "--no-convert does not write; leave one of them out");
	if (value(t, TRACE_SPLIT)->count &&
	    (value(t, TRACE_NO_CONVERT)->count || value(t, TRACE_FLIGHT)->count))
		ui_die(STATUS_TRACE,
		       "--split is about the database that is written while the program runs, which "
		       "--no-convert and --flight-recorder do not write; leave one of them out");
	find_parts(t);
	choose_registration(t);
	if (!value(t, TRACE_VGPU)->count)
		vgpu_check_variables();
	choose_counters(t);
	trace_set_check(t->parsed, output_pattern(t), t->counters.nr_runs > 0);
	if (value(t, TRACE_CHECK)->count)
		return 0;
	if (t->counters.nr_runs)
		return pmc_rerun(&cmd_trace, p, output_pattern(t), spool_dir_option(t),
				 t->counters.nr_runs, STATUS_LOSS);
	ui_stop_in_order("nothing was changed");
	prepare_child(t, p->operands);
	if (value(t, TRACE_VGPU)->count && (!t->is_rank || t->rank.rank == 0 || t->verbose))
		vgpu_explain();
	if (!p->has_dashes && others_behind(&cmd_trace, p->operands))
		ui_say("'%s' is an argument of %s, because it is behind it; options of rtl trace come before the "
		       "command ('--' in front of the command: this is meant)",
		       others_behind(&cmd_trace, p->operands), t->program);
	hand_signals_over(t);
	/* what a flight recorder keeps is known at the end, and so are ranks */
	t->splits_ranks = ranks_are_split(output_pattern(t));
	if (!value(t, TRACE_FLIGHT)->count && !t->splits_ranks)
		start_converter(t);
	limit.output = t->session.output;
	if (value(t, TRACE_MAX_SIZE)->count)
		limit.max_bytes = checks_read_size(value(t, TRACE_MAX_SIZE)->text);
	set_triggers(t);
	err = drainer_start(&d, t->session.dir, (uint32_t)t->child.pid, &limit, &t->triggers);
	if (err) {
		converter_stop(&t->converter);
		child_drop(&t->child);
		session_close(&t->session);
		ui_die(STATUS_TRACE, "can't start a thread: %s", strerror(-err));
	}
	if (value(t, TRACE_USR2)->count) {
		t->child.on_usr2 = ask_snapshot;
		t->child.usr2_arg = d;
	}
	err = child_start(&t->child);
	if (err) {
		converter_stop(&t->converter);
		drainer_stop(d, 0, NULL);
		drainer_destroy(d);
		return report_cant_run(t, err);
	}
	ui_stop_in_order(ui_keep(
		ui_format("'rtl recover %s' writes the database from the raw trace", rest_of(t))));
	t->abandoned = child_wait(&t->child) == CHILD_ABANDONED;
	RTL_TESTPOINT("trace_ended");
	if (t->abandoned)
		ui_say("%s still runs; its trace ends here", t->program);
	if (t->child.stopped_by_process) {
		drainer_halt(d);
		converter_stop(&t->converter); /* its parent is this process */
		detach_from_launcher();
	}
	drainer_stop(d, t->abandoned ? 0 : 1000, t->abandoned ? NULL : &t->child.status);
	converter_stop(&t->converter);
	status = conclude_trace(t, d);
	drainer_destroy(d);
	return status;
}

static const struct opt_status statuses[] = {
	{ "N", "the command's status; 128+N if signal N ended it" },
	{ "125", "rtl failed; the command may not have run" },
	{ "126, 127", "the command can't be run, was not found" },
	{ "123, 122", "--fail-on-loss, --fail-on-empty (the command succeeded)" },
	{ NULL, NULL },
};

const struct command cmd_trace = {
	.name = "trace",
	.summary = "runs a program and records what it does on the GPU",
	.usage = "[options] [--] COMMAND [ARG...]",
	.operands = "COMMAND",
	.opts = trace_options,
	.nr_opts = TRACE_NR_OPTIONS,
	.child = true,
	.min_operands = 1,
	.max_operands = -1,
	.usage_status = STATUS_TRACE,
	.statuses = statuses,
	.about =
		"Runs COMMAND and writes a database of what it does on the GPU: kernels, copies and roctx "
		"markers, in the program and in every process that it starts. The first word that is not an "
		"option, or the first --, begins COMMAND; all words behind it are arguments of COMMAND, also "
		"another --.\n"
		"\n"
		"The program runs as if it were not traced: its stdin, stdout, stderr and terminal are its "
		"own, it stays in the process group, and its exit status is rtl's. rtl itself writes to "
		"stderr alone.\n"
		"\n"
		"rtl passes INT, TERM, HUP, QUIT, USR1 and USR2 on to the program "
		"(those of the terminal reach it anyway). A second INT or TERM within ten seconds ends the wait: "
		"rtl then writes the records so far. After the program's end INT, TERM, HUP and QUIT stop rtl "
		"in order: the raw trace is kept, and rtl recover converts it. A second one ends rtl at once; "
		"the raw trace is kept then, too. The exit status is 128+N. Where another process ended the program by "
		"INT or TERM, as mpirun and srun do, the database is written by a process in a session of its own: a KILL that "
		"follows does not reach it.\n"
		"\n"
		"rtl trace ends when COMMAND ends. It waits one second more for processes that COMMAND left behind; "
		"it lists those that run longer, keeps their raw traces in the spool directory, and "
		"rtl recover converts them later.\n"
		"\n"
		"A process that has a ROCm runtime and not librtl, because its environment was cleared (env -i) or it is setuid, and a process "
		"of another user, which can't write to the spool directory, make the trace incomplete; rtl says what to do.\n"
		"\n"
		"Modes:\n"
		"\n"
		"  lite      kernels and copies; kernels whose packet has a completion signal of\n"
		"            the program are passed through and counted\n"
		"  standard  all kernels and copies\n"
		"  full      barrier packets too, as with --barriers\n"
		"\n"
		"--trace-start, --delay, --duration, --period and --range say when recording is on, --kernels, "
		"--not-kernels, --calls and --gpus what of it is recorded, and --ranks in which processes. All "
		"that are given have to hold: a dispatch is recorded if the program has not paused recording, "
		"and a window of time is open, and a range of --range is open, and its GPU and its kernel are "
		"selected. Times count from the start of each process.\n"
		"\n"
		"What is left out is counted as skipped and does not make the trace incomplete: paused, "
		"filtered_kernel, filtered_call, filtered_gpu, max_size. rtl info shows the counts.\n"
		"\n"
		"With --trace-start off nothing is recorded until the program calls roctracer_start(), "
		"hipProfilerStart() or roctxProfilerResume(), and recording stops at roctracer_stop(), "
		"hipProfilerStop() or roctxProfilerPause(). The same holds for windows of time and ranges. Calls and "
		"ranges that begin while recording is on are recorded to their end, and so are operations that "
		"were submitted then. Those that begin while recording is off are left out and counted as "
		"skipped, not as lost: a range that was opened then is not in the trace, and no "
		"later operation has it as its marker. GPUs, queues and kernels are always recorded.\n"
		"\n"
		"While the program runs, the raw trace is in OUTPUT.spool, where it survives a "
		"kill. When it has 4 MiB, a process of low priority begins to write the database, and what has been written is removed "
		"from the raw trace: the database is ready soon after the program's end, however long that ran. --keep-spool "
		"removes nothing. When the database is written rtl removes the directory. If a program loads no ROCm "
		"runtime and sets no marker, rtl prints a message and writes no database.\n"
		"\n"
		"With -o DIR/ the database is made in DIR, hidden, and becomes the folder DIR/job=JOB/rank=RANK of Parquet files, which appears as a whole. Until then the file "
		"DIR/.unfinished-HOST-PID names the rank, its host and its raw trace; rtl recover DIR finishes those of processes that were killed.\n"
		"\n"
		"Programs that are statically linked or change their user id (setuid) can't be traced.",
	.examples = "rtl trace ./app --its-own-option\n"
		    "rtl trace -o run-%r.db -- mpirun -n 4 ./app\n"
		    "mpirun -n 1000 rtl trace -o run1/ ./app\n"
		    "rtl trace --virtual-gpu=2 -q ./app\n"
		    "rtl trace --trace-start off ./train\n"
		    "rtl trace --delay 30 --duration 2.5 ./train\n"
		    "rtl trace --range 'step *@3' --kernels 'gemm|Cijk_' --gpus 0 ./train\n"
		    "rtl trace --fail-on-loss --fail-on-empty ./test && rtl summary trace.db\n",
	.run = run_trace,
};
