/* SPDX-License-Identifier: MIT */
/* command.c - runs commands of rtl in processes of their own */
#include "command.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/sockdir.h"
#include "cli/cmd/commands.h"
#include "cli/read/result.h"
#include "cli/ui.h"
#include "confined.h"

#define SKIPPED 77
#define FINDING 77 /* libFuzzer's own status */
#define PATH_SIZE 600
#define WORDS_MAX 16
#define DIRS_MAX 4

static char root[256];
static bool is_child;
static struct stat victim;
static const char *more[DIRS_MAX]; /* where a command may write beside out/ */

/* ---- sanitizers and coverage ----------------------------------------------------------------- */

/* A finding ends the child by a signal: exit statuses are the commands'. They leave memory to the
 * end of their process. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "abort_on_error=1:detect_leaks=0:allocator_may_return_null=1";
}

const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

extern uint8_t counters_begin[] __asm__("__start___sancov_cntrs")
	__attribute__((weak, visibility("hidden")));
extern uint8_t counters_end[] __asm__("__stop___sancov_cntrs")
	__attribute__((weak, visibility("hidden")));

/* What children count is the fuzzer's: the whole pages of the counters are shared, from before it
 * looks at them first. */
static void share_counters(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)counters_begin + page - 1) & ~(page - 1);
	uintptr_t to = (uintptr_t)counters_end & ~(page - 1);

	if (from < to && mmap((void *)from, to - from, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		perror("the counters of coverage can't be shared");
}

/* libFuzzer takes an exit for a crash; a child's is the command's end. */
void exit(int status)
{
	void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");

	if (is_child) {
		fflush(NULL);
		_exit(status);
	}
	real(status);
	__builtin_unreachable();
}

/* ---- directories ----------------------------------------------------------------------------- */

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fuzzer: %s: %s\n", what, strerror(errno));
	abort();
}

static const char *path_of(const char *name)
{
	static char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

void command_write(const char *name, const void *data, size_t size)
{
	const char *path = path_of(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size, path);
	close(fd);
}

static void empty_dir(int dir_fd)
{
	DIR *dir = fdopendir(dir_fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		int inner;

		if (!strcmp(name, ".") || !strcmp(name, "..") || unlinkat(dir_fd, name, 0) == 0 ||
		    errno != EISDIR)
			continue;
		inner = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (inner >= 0)
			empty_dir(inner);
		unlinkat(dir_fd, name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

static void check_victim(void)
{
	struct stat now;

	must(lstat(path_of("victim"), &now) == 0, "a file outside was deleted");
	must(now.st_ino == victim.st_ino && now.st_size == victim.st_size &&
		     now.st_mtim.tv_nsec == victim.st_mtim.tv_nsec,
	     "a file outside was written");
	must(now.st_mode == victim.st_mode && now.st_uid == victim.st_uid &&
		     now.st_nlink == victim.st_nlink &&
		     now.st_ctim.tv_nsec == victim.st_ctim.tv_nsec,
	     "the mode, owner or links of a file outside were changed");
}

/* In a child: what a kernel without Landlock says. */
static void probe(void *arg)
{
	const char *const none[] = { NULL };

	(void)arg;
	_exit(confine(none) ? SKIPPED : 0);
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		must(errno == EINTR, "waitpid");
	return status;
}

static void allow_dir(const char *dir)
{
	for (int i = 0; i < DIRS_MAX; i++)
		if (!more[i]) {
			more[i] = strdup(dir);
			return;
		}
	must(false, dir);
}

void command_setup(void)
{
	char sockets[SOCKDIR_SIZE];
	pid_t pid;

	if (root[0])
		return;
	snprintf(root, sizeof(root), "%s", confined_scratch());
	pid = fork();
	if (!pid)
		probe(NULL);
	if (wait_for(pid)) {
		fprintf(stderr,
			"skipped: the kernel has no Landlock, which refuses what a command may not write\n");
		_exit(SKIPPED);
	}
	share_counters();
	must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "prctl");
	must(mkdir(path_of("in"), 0700) == 0 && mkdir(path_of("out"), 0700) == 0, root);
	command_write("victim", "unchanged\n", 10);
	must(lstat(path_of("victim"), &victim) == 0, "victim");
	/* but for the user's sockets, of which commands remove those of dead processes */
	for (unsigned int i = 1; sockdir_path(geteuid(), NULL, i, sockets); i++)
		if (access(sockets, F_OK) == 0)
			allow_dir(sockets);
	/* nothing of the user's is read, or written */
	for (const char *const *name = (const char *const[]){ "TMPDIR", "HOME", "XDG_RUNTIME_DIR",
							      "XDG_CONFIG_HOME", NULL };
	     *name; name++)
		setenv(*name, path_of("out"), 1);
	setenv("RTL_SPOOL_DIR", path_of("out"), 1);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void run_child(void (*run)(void *arg), void *arg, int log)
{
	const char *dirs[DIRS_MAX + 2] = { "." };
	const struct rlimit seconds = { RUN_SECONDS, RUN_SECONDS }, size = { 1 << 28, 1 << 28 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	memcpy(dirs + 1, more, sizeof(more));
	is_child = true;
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGABRT, SIG_DFL); /* libFuzzer would end it with a status */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	must(setrlimit(RLIMIT_CPU, &seconds) == 0 && setrlimit(RLIMIT_FSIZE, &size) == 0,
	     "setrlimit");
	must(chdir(path_of("out")) == 0 && confine(dirs) == 0, "the child is confined");
	run(arg);
	exit(0);
}

void command_run(void (*run)(void *arg), void *arg)
{
	static char text[1 << 16];
	int log = memfd_create("stderr", MFD_CLOEXEC), status;
	ssize_t n;
	pid_t pid;

	must(log >= 0, "memfd_create");
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid)
		run_child(run, arg, log);
	status = wait_for(pid);
	/* what the command has left running, such as the process that answers, writes nothing to
	 * out/ any more */
	kill(-pid, SIGKILL);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	if (WIFSIGNALED(status) || WEXITSTATUS(status) == FINDING) {
		n = pread(log, text, sizeof(text), 0);
		fprintf(stderr, "%.*s\nthe command ended by signal %d\n", n > 0 ? (int)n : 0, text,
			WIFSIGNALED(status) ? WTERMSIG(status) : 0);
		abort();
	}
	close(log);
	check_victim();
	empty_dir(open(path_of("out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void command_main(const char *const *words)
{
	static struct opt_parsed parsed;
	const struct command *cmd = commands_find(words[0]);
	char error[OPTS_ERROR_SIZE], *argv[WORDS_MAX + 1] = { NULL };
	int argc = 0;

	env_init();
	must(cmd != NULL, words[0]);
	/* the parser sorts them */
	for (; words[argc] && argc < WORDS_MAX; argc++)
		argv[argc] = (char *)(uintptr_t)words[argc];
	ui_init(ui_format("rtl %s", cmd->name));
	if (opts_parse(cmd, argc, argv, &parsed, error)) {
		ui_error("%s", error);
		exit(cmd->usage_status);
	}
	for (int i = 0; cmd->reads && i < parsed.nr_operands; i++)
		result_refuse_input(parsed.operands[i]);
	argc = cmd->run(&parsed);
	ui_flush();
	exit(argc);
}

uint8_t take_byte(struct bytes *b)
{
	return b->at < b->end ? *b->at++ : 0;
}

const uint8_t *take_bytes(struct bytes *b, size_t size, size_t *nr)
{
	const uint8_t *at = b->at;

	*nr = size < (size_t)(b->end - b->at) ? size : (size_t)(b->end - b->at);
	b->at += *nr;
	return at;
}
