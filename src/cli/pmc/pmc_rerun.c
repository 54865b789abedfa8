/* SPDX-License-Identifier: MIT */
/* pmc_rerun.c - rtl trace --passes=rerun: runs the program once for each pass of counters, and
 * joins the traces
 *
 * Each run is a `rtl trace` of its own, with the options of this one. The first writes the output;
 * the databases of the others are beside it until they are joined.
 */
#include "cli/pmc/pmc_rerun.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit_status.h"
#include "cli/opts.h"
#include "cli/paths.h"
#include "cli/pmc/pmc_join.h"
#include "cli/trace/child.h"
#include "cli/trace/session.h"
#include "cli/ui.h"

struct rerun {
	const struct command *trace;
	const struct opt_parsed *p;
	const char *output; /* absolute */
	const char *pattern, *exe;
	uint32_t nr;
	char **argv;
	size_t argc;
};

static volatile sig_atomic_t child_pid, stopped_by;

/* What the terminal sends has reached the run already. */
static void pass_on(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (number != SIGUSR1 && number != SIGUSR2)
		stopped_by = number;
	if (child_pid && child_passes(info->si_code, info->si_pid, (pid_t)child_pid))
		kill((pid_t)child_pid, number);
}

static void catch_signals(void)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction old;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		sigaction(all[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(all[i], &action, NULL);
	}
}

static void add_word(struct rerun *r, char *word)
{
	r->argv[r->argc++] = ui_keep(word);
}

/* The options that differ between runs. */
static bool is_own(const char *name)
{
	static const char *const own[] = { "output", "passes", "force", "quiet" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

static bool is_given(const struct rerun *r, const char *name)
{
	for (size_t i = 0; i < r->trace->nr_opts; i++)
		if (strcmp(r->trace->opts[i].name, name) == 0)
			return r->p->values[i].count > 0;
	return false;
}

static const char *database(const struct rerun *r, uint32_t run)
{
	return run == 1 ? r->output : ui_keep(ui_format("%s.run%u", r->output, run));
}

/* The command line of a run. Names and texts of options are as they were given. */
static void make_line(struct rerun *r, uint32_t run)
{
	r->argv = calloc(r->trace->nr_opts + (size_t)r->p->nr_operands + 10, sizeof(*r->argv));
	if (!r->argv)
		ui_die_memory();
	ui_keep(r->argv);
	r->argc = 0;
	add_word(r, ui_format("%s", "rtl"));
	add_word(r, ui_format("%s", "trace"));
	for (size_t i = 0; i < r->trace->nr_opts; i++) {
		const struct opt *o = &r->trace->opts[i];
		const struct opt_value *v = &r->p->values[i];

		if (!v->count || is_own(o->name))
			continue;
		add_word(r, v->text ? ui_format("--%s=%s", o->name, v->text) :
				      ui_format("--%s", o->name));
	}
	if (run > 1 || is_given(r, "force"))
		add_word(r, ui_format("%s", "--force"));
	if (run > 1 || is_given(r, "quiet"))
		add_word(r, ui_format("%s", "--quiet"));
	add_word(r, ui_format("--pmc-run=%u", run));
	add_word(r, run == 1 ? ui_format("--output=%s", r->pattern) :
			       ui_format("--output=%s.run%u", r->pattern, run));
	add_word(r, ui_format("%s", "--"));
	memcpy(r->argv + r->argc, r->p->operands, (size_t)r->p->nr_operands * sizeof(*r->argv));
}

/* Its exit status. */
static int run_once(struct rerun *r, uint32_t run)
{
	int status = 0;
	pid_t pid;

	make_line(r, run);
	pid = fork();
	if (pid < 0)
		ui_die(STATUS_TRACE, "can't make a process: %s", strerror(errno));
	if (pid == 0) {
		ui_stop_default();
		execv(r->exe, r->argv);
		_exit(STATUS_TRACE);
	}
	child_pid = pid;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	child_pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void remove_run(const struct rerun *r, uint32_t run)
{
	if (run > 1)
		unlink(database(r, run));
}

/* Adds the counters of a run to the first one's. 0 or -errno; *nr_alone is added to. */
static int join_run(const struct rerun *r, uint32_t run, uint64_t *nr_joined, uint64_t *nr_alone)
{
	struct pmc_joined j;
	int ret;

	if (access(database(r, run), F_OK)) {
		ui_error("run %u wrote no database; its counters are missing", run);
		return -ENOENT;
	}
	ret = pmc_join(r->output, database(r, run), run, &j);
	if (ret)
		return ret;
	*nr_joined = run == 2 || j.nr_joined < *nr_joined ? j.nr_joined : *nr_joined;
	*nr_alone += j.nr_alone + j.nr_others;
	if (j.nr_alone || j.nr_others)
		ui_say("run %u does not match the first: %llu dispatches of the first run and %llu of this one have no "
		       "partner, and lack counters",
		       run, (unsigned long long)j.nr_alone, (unsigned long long)j.nr_others);
	remove_run(r, run);
	return 0;
}

/* All runs; the status of the first, or the one that rtl failed with. */
static int run_all(struct rerun *r, uint64_t *nr_joined, uint64_t *nr_alone)
{
	int first = 0;

	for (uint32_t run = 1; run <= r->nr; run++) {
		int status = run_once(r, run);

		if (run == 1)
			first = status;
		else if (status != first)
			ui_error("run %u ended with status %d, the first with %d", run, status,
				 first);
		if (stopped_by) {
			remove_run(r, run);
			ui_error(
				"stopped by signal %d in run %u of %u; the counters of the others are missing",
				stopped_by, run, r->nr);
			return status ? status : 128 + stopped_by;
		}
		if (run == 1 && access(r->output, F_OK)) /* it has said why */
			return first;
		if (run > 1 && join_run(r, run, nr_joined, nr_alone))
			return STATUS_TRACE;
		if (run > 1 && status >= STATUS_TRACE && first < STATUS_TRACE)
			return status;
	}
	return first;
}

static void refuse(const struct rerun *r)
{
	static const char *const others[] = { "no-convert",	 "split",
					      "flight-recorder", "snapshot-on-usr2",
					      "trigger-longer",	 "trigger-error",
					      "trigger-mark",	 "keep-spool",
					      "max-size" };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (is_given(r, others[i]))
			ui_die(STATUS_TRACE,
			       "--passes=rerun joins the whole traces of several runs; leave --%s out",
			       others[i]);
	if (strstr(r->output, "%p"))
		ui_die(STATUS_TRACE,
		       "--passes=rerun: %%p in the output differs between runs; name it otherwise");
}

int pmc_rerun(const struct command *trace, const struct opt_parsed *p, const char *output,
	      const char *spool_dir, uint32_t nr, int loss_status)
{
	static struct paths paths;
	static struct session names;
	char error[SESSION_ERROR_SIZE];
	struct rerun r = { .trace = trace, .p = p, .output = output, .pattern = output, .nr = nr };
	uint64_t nr_joined = 0, nr_alone = 0;
	int status;

	refuse(&r);
	if (paths_find(&paths))
		ui_die(STATUS_TRACE, "/proc/self/exe can't be read; mount /proc");
	if (session_names(&names, output, spool_dir, getpid(), error))
		ui_die(STATUS_TRACE, "%s", error);
	r.exe = paths.exe;
	r.output = names.output;
	ui_say("%s runs %u times, once for each pass", p->operands[0], nr);
	catch_signals();
	status = run_all(&r, &nr_joined, &nr_alone);
	if (access(r.output, F_OK) == 0 && !stopped_by)
		ui_say("%s: %llu dispatches have the counters of all %u runs", names.shown,
		       (unsigned long long)nr_joined, nr);
	if (nr_alone && !status && is_given(&r, "fail-on-loss"))
		status = loss_status;
	return status;
}
