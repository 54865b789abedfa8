/* SPDX-License-Identifier: MIT */
/* selftest_run.c - runs the self-test's program, untraced and in each way of tracing, and reads its
 * account
 *
 * Fails: a run that does not end in time is killed, with all of its process group.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/selftest/selftest.h"
#include "cli/ui.h"

#define STATUS_LACKING 77 /* of the program: something is not there */
#define WORDS_MAX 32
#define EXIT_SECONDS UINT64_C(20) /* for exit handlers, and for rtl trace to write the database */
#define ATTEMPTS 3
#define EXITS_ALPHA 0.01
#define ACCOUNT_BYTES (512 << 10)

/* ---- accounts -------------------------------------------------------------------------------- */

static void read_account(struct selftest_account *a, const char *path)
{
	char *line, *rest;
	ssize_t n;

	memset(a, 0, sizeof(*a));
	a->text = calloc(1, ACCOUNT_BYTES);
	if (!a->text)
		ui_die_memory();
	n = fd_read_file(path, a->text, ACCOUNT_BYTES - 1);
	a->text[n > 0 ? n : 0] = 0;
	for (line = strtok_r(a->text, "\n", &rest); line && a->nr < ACCOUNT_LINES_MAX;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *space = strchr(line, ' ');

		if (!space)
			continue;
		*space = 0;
		a->keys[a->nr] = line;
		a->values[a->nr++] = space + 1;
	}
}

const char *selftest_text(const struct selftest_account *a, const char *key)
{
	for (size_t i = 0; i < a->nr; i++)
		if (strcmp(a->keys[i], key) == 0)
			return a->values[i];
	return "";
}

uint64_t selftest_number(const struct selftest_account *a, const char *key)
{
	return strtoull(selftest_text(a, key), NULL, 10);
}

size_t selftest_times(const struct selftest_account *a, const char *key, double unit_ns,
		      int64_t *out, size_t max)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr && nr < max; i++)
		if (strcmp(a->keys[i], key) == 0)
			out[nr++] = llround(strtod(a->values[i], NULL) * unit_ns);
	return nr;
}

/* ---- environment ----------------------------------------------------------------------------- */

static void put_first(const char *name, const char *first)
{
	const char *old = getenv(name);

	if (old && *old)
		setenv(name, ui_keep(ui_format("%s:%s", first, old)), 1);
	else
		setenv(name, first, 1);
}

/* In the new process. What the user's own variables would change of a run is not of interest
 * here. */
static void set_environment(const struct selftest *s, const struct selftest_play *play,
			    const char *db)
{
	static const char *const cleared[] = {
		"RTL_SESSION",	 "RTL_OUTPUT",
		"RTL_MODE",	 "RTL_FORCE",
		"RTL_DISABLE",	 "RTL_SPOOL_DIR",
		"RTL_KERNELS",	 "RTL_NOT_KERNELS",
		"RTL_CALLS",	 "RTL_INTERNAL",
		"RTL_GPUS",	 "RTL_TRACE_START",
		"RTL_DELAY",	 "RTL_DURATION",
		"RTL_PERIOD",	 "RTL_RANGE",
		"RTL_IDLE",	 "RTL_HSA_API",
		"RTL_WAY",	 "RTL_RANKS",
		"RTL_PMC",	 "RTL_LOG_FILE",
		"RTL_ARGS",	 "RTL_FLIGHT_RECORDER",
		"HSA_TOOLS_LIB", "ROCPROFILER_REGISTER_LIBRARY",
		"LD_PRELOAD",
	};
	bool alone = play->way == WAY_TOOLS || play->way == WAY_PRELOAD ||
		     play->way == WAY_REGISTER;

	for (size_t i = 0; i < sizeof(cleared) / sizeof(cleared[0]); i++)
		unsetenv(cleared[i]);
	/* rtl trace does the same for the program, by --virtual-gpu */
	if (s->virtual && play->way != WAY_RTL) {
		put_first("LD_LIBRARY_PATH", s->paths.vgpu_dir);
		setenv("VGPU_DEVICES",
		       ui_keep(ui_format("%llu", (unsigned long long)s->virtual_gpus)), 1);
	}
	if (play->way == WAY_FACE || strcmp(play->scenario, "ranges") == 0)
		put_first("LD_LIBRARY_PATH", s->faces);
	if (play->way == WAY_REGISTER)
		setenv("ROCPROFILER_REGISTER_LIBRARY", s->paths.librtl, 1);
	if (play->way == WAY_TOOLS)
		setenv("HSA_TOOLS_LIB", s->paths.librtl, 1);
	if (s->virtual && play->way != WAY_RTL)
		put_first("LD_PRELOAD", ui_keep(ui_format("%s/libvgpu.so", s->paths.vgpu_dir)));
	if (play->way == WAY_PRELOAD)
		put_first("LD_PRELOAD", s->paths.librtl);
	if (alone) {
		setenv("RTL_OUTPUT", db, 1);
		setenv("RTL_MODE", play->mode ? play->mode : "standard", 1);
		setenv("RTL_BIN", s->paths.exe, 1);
	}
	if (play->tools)
		setenv("HSA_TOOLS_LIB", play->tools, 1);
	if (play->more) {
		char *more = ui_keep(ui_format("%s", play->more)), *value = strchr(more, '=');

		*value = 0;
		setenv(more, value + 1, 1);
	}
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The command line; all words live as long as the process. */
static void make_words(const struct selftest *s, const struct selftest_play *play, const char *db,
		       const char *account, char *words[WORDS_MAX])
{
	char *args = ui_keep(ui_format("%s", play->args ? play->args : "")), *word, *rest;
	int nr = 0;

	if (play->way == WAY_RTL) {
		const char *const front[] = { s->paths.exe, "trace", "-q", "--force", "-o", db };

		for (size_t i = 0; i < sizeof(front) / sizeof(front[0]); i++)
			words[nr++] = ui_keep(ui_format("%s", front[i]));
		if (s->virtual)
			words[nr++] = ui_keep(ui_format("--virtual-gpu=%llu",
							(unsigned long long)s->virtual_gpus));
		if (play->mode)
			words[nr++] = ui_keep(ui_format("--mode=%s", play->mode));
		words[nr++] = ui_keep(ui_format("--"));
	}
	words[nr++] = ui_keep(ui_format("%s", s->helper));
	words[nr++] = ui_keep(ui_format("%s", play->scenario));
	words[nr++] = ui_keep(ui_format("%s", account));
	for (word = strtok_r(args, " ", &rest); word && nr < WORDS_MAX - 2;
	     word = strtok_r(NULL, " ", &rest))
		words[nr++] = word;
	words[nr++] = ui_keep(ui_format("code=%s/code", s->dir));
	words[nr] = NULL;
}

static _Noreturn void become(const struct selftest *s, const struct selftest_play *play,
			     const char *db, const char *account, const char *said)
{
	char *words[WORDS_MAX];
	int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	ui_stop_default();
	if (fd < 0 || none < 0 || dup2(none, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(126);
	make_words(s, play, db, account, words);
	set_environment(s, play, db);
	execv(words[0], words);
	fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
	_exit(126);
}

/* Waits until the process has ended or the time is up; that is sooner once the program has written
 * its account. The status as a shell gives it, or -1. */
static int wait_for(pid_t pid, uint64_t seconds, const char *account)
{
	uint64_t end = ui_now_ns() + seconds * 1000000000, sooner;
	const struct timespec nap = { 0, 2000000 };
	bool done = false;
	int status = 0;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			break;
		if (!done && access(account, F_OK) == 0) {
			done = true;
			sooner = ui_now_ns() + EXIT_SECONDS * 1000000000;
			end = sooner < end ? sooner : end;
		}
		if ((got < 0 && errno != EINTR) || ui_now_ns() > end || ui_stopped_by()) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
			return -1;
		}
		nanosleep(&nap, NULL);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The last line that a run has printed, for a message. */
static void last_line(char *out, size_t size, const char *path)
{
	char text[16384];
	ssize_t n = fd_read_file(path, text, sizeof(text) - 1);
	char *line;

	text[n > 0 ? n : 0] = 0;
	for (n = (ssize_t)strlen(text); n > 0 && text[n - 1] == '\n'; n--)
		text[n - 1] = 0;
	line = strrchr(text, '\n');
	snprintf(out, size, "%.400s", line ? line + 1 : text);
}

static void judge(struct selftest_run *out, const char *said, uint64_t seconds)
{
	const char *failed = selftest_text(&out->account, "failed");
	const char *lacking = selftest_text(&out->account, "lacking");
	char line[512];

	out->lacks = out->status == STATUS_LACKING;
	if (*failed || *lacking) {
		snprintf(out->why, sizeof(out->why), "%s", *failed ? failed : lacking);
		return;
	}
	if (out->status == -1) {
		snprintf(out->why, sizeof(out->why), "did not end within %llu s and was killed",
			 (unsigned long long)seconds);
		return;
	}
	if (out->status == 0)
		return;
	last_line(line, sizeof(line), said);
	snprintf(out->why, sizeof(out->why), "exit status %d%s%.400s", out->status,
		 *line ? ": " : "", line);
}

static void play_once(struct selftest *s, const struct selftest_play *play,
		      struct selftest_run *out)
{
	char account[PATH_MAX], said[PATH_MAX], name[64];
	pid_t pid;

	memset(out, 0, sizeof(*out));
	snprintf(name, sizeof(name), "run%u", ++s->nr_runs);
	if (!paths_join(account, s->dir, name) || !paths_join(said, s->dir, "said") ||
	    snprintf(out->db, sizeof(out->db), "%.*s.db", PATH_MAX - 8, account) >= PATH_MAX)
		ui_die(125, "%s: the path is too long", s->dir);
	ui_flush();
	pid = fork();
	if (pid < 0)
		ui_die(125, "no new process can be made: %s", strerror(errno));
	if (pid == 0)
		become(s, play, out->db, account, said);
	setpgid(pid, pid);
	out->status = wait_for(pid, s->timeout_s, account);
	read_account(&out->account, account);
	judge(out, said, s->timeout_s);
	unlink(account);
	if (access(out->db, R_OK))
		out->db[0] = 0;
}

/* Whether the program had done its work before it died or hung. */
static bool died_at_exit(const struct selftest_run *run)
{
	return selftest_number(&run->account, "done") &&
	       (run->status == -1 || run->status == 128 + SIGABRT || run->status == 128 + SIGSEGV ||
		run->status == 128 + SIGBUS);
}

void selftest_play(struct selftest *s, const struct selftest_play *play, struct selftest_run *out)
{
	int side = play->way != WAY_NONE;

	for (int i = 0; i < ATTEMPTS && !ui_stopped_by(); i++) {
		if (i)
			selftest_done(out);
		play_once(s, play, out);
		s->nr_ended[side]++;
		if (!died_at_exit(out))
			return;
		s->nr_died[side]++;
	}
}

double selftest_chance(unsigned int died, unsigned int traced, unsigned int all)
{
	double p = 1;

	for (unsigned int i = 0; i < died; i++)
		p *= (double)(traced - i) / (double)(all - i);
	return p;
}

void selftest_exits(struct selftest *s)
{
	unsigned int traced = s->nr_ended[1], all = traced + s->nr_ended[0], died = s->nr_died[1];
	double p = s->nr_died[0] ? 1 : selftest_chance(died, traced, all);

	selftest_set(
		s, SELFTEST_EXITS, p < EXITS_ALPHA ? SELFTEST_FAIL : SELFTEST_PASS,
		"%u of %u untraced and %u of %u traced runs died or hung after their work, in exit "
		"handlers",
		s->nr_died[0], s->nr_ended[0], died, traced);
}

void selftest_done(struct selftest_run *run)
{
	if (run->db[0])
		unlink(run->db);
	free(run->account.text);
	memset(run, 0, sizeof(*run));
}

bool selftest_went_well(struct selftest *s, enum selftest_id id, const struct selftest_run *run,
			int status)
{
	if (run->status == status && selftest_number(&run->account, "done"))
		return true;
	selftest_set(s, id, run->lacks ? SELFTEST_SKIP : SELFTEST_FAIL, "%s",
		     run->why[0]	   ? run->why :
		     run->status != status ? "an exit status that was not expected" :
					     "the program wrote no account");
	return false;
}
