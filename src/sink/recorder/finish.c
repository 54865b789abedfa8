/* SPDX-License-Identifier: MIT */
/* finish.c - starts the program that turns the spool into the database, and prints its tables
 *
 * Threads:  the one that ends the process, or closes a session, or wants tables.
 * Fails:    the spool stays, and a message names the command to run.
 * Not here: what `rtl recover` does.
 *
 * The program's own SIGCHLD handler and wait(-1) must not see a child of librtl's. The kernel sets
 * the exit signal to SIGCHLD when a process executes a program, so there are two processes: the
 * keeper, cloned without an exit signal, stays in this memory image, starts the program, and waits
 * for it. This thread is suspended until the keeper has ended (CLONE_VFORK), so that only one of
 * them uses the shared memory.
 */
#include "sink/recorder/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOG_TOPIC "recorder"
#include "base/alloc.h"
#include "base/beside.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/str.h"
#include "base/sys.h"

#define STACK_SIZE ((size_t)64 << 10)
#define WAIT_MIN_NS UINT64_C(60000000000)
#define MAX_ENV 8192
#define OPTION_SIZE 256

struct job {
	const char *program;
	char *argv[10];
	char **envp;
	char *stack;	 /* the stack of the new process before it executes */
	const char *out; /* the file that gets what the program prints; NULL: none */
	uint64_t wait_ns;
	int err;    /* of opening `out`, of clone or exec, 0 or an errno */
	int status; /* of the wait, -1 if the program was still running at its end */
};

static char beside[PATH_MAX]; /* "": this library */

void finish_beside(const char *path)
{
	struct str s;

	str_init(&s, beside, sizeof(beside));
	str_add(&s, path);
}

static bool is_left_out(const char *entry)
{
	static const char *const names[] = { "LD_PRELOAD=", "HSA_TOOLS_LIB=", "LD_AUDIT=",
					     "RTL_STRICT=", "LD_DEBUG=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* The environment without the variables that would load librtl into the child. */
static char **child_env(void)
{
	char **envp = alloc_pages((MAX_ENV + 1) * sizeof(*envp));
	size_t nr = 0;

	for (char **e = environ; envp && e && *e && nr < MAX_ENV; e++) {
		if (!is_left_out(*e))
			envp[nr++] = *e;
	}
	return envp;
}

/* Handlers of the program must not run in the new process, which shares its memory. */
RTL_FOREIGN_STACK static void reset_signals(void)
{
	struct sigaction plain;

	memset(&plain, 0, sizeof(plain));
	plain.sa_handler = SIG_DFL;
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &plain, NULL);
}

RTL_FOREIGN_STACK static int program_main(void *arg)
{
	struct job *job = arg;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* not by the function, which librtl has in front of the C library's (lib/librtl/exec.c) */
	syscall(SYS_execve, job->program, job->argv, job->envp);
	job->err = errno;
	_exit(127);
}

/* The wait status, or -1 if the program is still running at the end of the wait. */
RTL_FOREIGN_STACK static int wait_for(pid_t pid, uint64_t wait_ns)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + wait_ns;
	struct timespec pause = { 0, 500000 };
	int status;

	for (;;) {
		pid_t got = sys_waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return status;
		if ((got < 0 && errno != EINTR) || clock_read_ns(CLOCK_MONOTONIC) >= end_ns)
			return -1;
		sys_nap(&pause);
		if (pause.tv_nsec < 10000000)
			pause.tv_nsec += pause.tv_nsec / 4;
	}
}

/* In the keeper: shared memory, but its own files, handlers and signal mask (all blocked). */
RTL_FOREIGN_STACK static int keeper_main(void *arg)
{
	struct job *job = arg;
	pid_t pid;
	int fd;

	reset_signals();
	fd = sys_open("/dev/null", O_RDWR, 0);
	if (fd >= 0) {
		for (int i = 0; i < 3; i++)
			dup2(fd, i);
	}
	if (job->out) {
		fd = sys_open(job->out, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
		if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
			job->err = errno;
			_exit(0);
		}
	}
	/* don't keep the program's pipes open; without the call they stay open */
	syscall(SYS_close_range, 3u, ~0u, 0u);
	pid = clone(program_main, job->stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, job);
	if (pid < 0)
		job->err = errno;
	else
		job->status = wait_for(pid, job->wait_ns);
	_exit(0);
}

static void run_job(struct job *job)
{
	uint64_t wait_ns = env_uint(ENV_DRAIN_MS) * 1000000u;
	char *stacks = alloc_pages(2 * STACK_SIZE);
	/* valgrind turns the keeper into a fork: its results must be visible here in that case,
	 * too */
	struct job *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	job->err = ENOMEM;
	if (!stacks || shared == MAP_FAILED || !job->envp)
		goto out;
	job->err = 0;
	job->status = -1;
	job->wait_ns = wait_ns > WAIT_MIN_NS ? wait_ns : WAIT_MIN_NS;
	job->stack = stacks;
	*shared = *job;
	pid = clone(keeper_main, stacks + 2 * STACK_SIZE, CLONE_VM | CLONE_VFORK, shared);
	if (pid < 0)
		shared->err = errno;
	else
		sys_waitpid(pid, NULL, __WALL);
	*job = *shared;
out:
	if (shared != MAP_FAILED)
		munmap(shared, sizeof(*shared));
	alloc_pages_free(stacks, 2 * STACK_SIZE);
}

static bool find_rtl(char *program)
{
	/* a build and an installation have it in bin/, a Debian one two folders above */
	return beside_find(env_str(ENV_BIN), beside, 2, program);
}

static void run_program(struct job *job)
{
	job->envp = child_env();
	run_job(job);
	alloc_pages_free(job->envp, (MAX_ENV + 1) * sizeof(*job->envp));
}

/* The exit status, -1: it did not run, or not to its end. */
static int exit_status(const struct job *job)
{
	return !job->err && job->status != -1 && WIFEXITED(job->status) ? WEXITSTATUS(job->status) :
									  -1;
}

/* Removes the directory made for the spool, unless another process has a spool in it. */
static void remove_dir(const char *disk_path)
{
	char dir[PATH_MAX];
	struct str s;

	if (env_is_set(ENV_SPOOL_DIR))
		return;
	str_init(&s, dir, sizeof(dir));
	str_add_n(&s, disk_path, (size_t)(strrchr(disk_path, '/') - disk_path));
	rmdir(dir);
}

/* "trace.db" becomes "trace.1234.db": another process's database has the name. */
static void name_for_pid(char *out, const char *output)
{
	const char *base = strrchr(output, '/');
	const char *dot = strrchr(base ? base : output, '.');
	struct str s;

	if (!dot)
		dot = output + strlen(output);
	str_init(&s, out, PATH_MAX);
	str_add_n(&s, output, (size_t)(dot - output));
	str_add(&s, ".");
	str_add_uint(&s, (uint64_t)getpid());
	str_add(&s, dot);
}

static bool write_database(struct job *job, const char *disk_path, const char *output, bool replace)
{
	int nr = 0;

	job->argv[nr++] = (char *)(uintptr_t)job->program;
	job->argv[nr++] = (char *)(uintptr_t) "recover";
	job->argv[nr++] = (char *)(uintptr_t) "--remove";
	if (replace)
		job->argv[nr++] = (char *)(uintptr_t) "--force";
	job->argv[nr++] = (char *)(uintptr_t) "-o";
	job->argv[nr++] = (char *)(uintptr_t)output;
	job->argv[nr++] = (char *)(uintptr_t)disk_path;
	job->argv[nr] = NULL;
	run_program(job);
	return exit_status(job) == 0;
}

void finish_run(const char *disk_path, const char *output, bool replace)
{
	char program[PATH_MAX];
	char own[PATH_MAX];
	struct job job = { .program = program };
	bool good = false;

	if (!find_rtl(program)) {
		log_warn("no rtl program is found; run: rtl recover -o %s %s", output, disk_path);
		return;
	}
	name_for_pid(own, output);
	replace |= env_bool(ENV_FORCE);
	if (replace || !fd_is_taken(output))
		good = write_database(&job, disk_path, output, replace);
	/* exists already, or since then: another process was faster */
	if (!good && job.status != -1 && !replace && fd_is_taken(output) &&
	    access(disk_path, F_OK) == 0 && access(own, F_OK) != 0) {
		output = own;
		good = write_database(&job, disk_path, output, false);
	}
	if (good)
		remove_dir(disk_path);
	else if (job.err)
		log_warn("%s: %s; run: rtl recover -o %s %s", program, strerror(job.err), output,
			 disk_path);
	else if (job.status == -1)
		log_warn("%s is still being written", output);
	else
		log_warn("%s could not be written (status %d); run: rtl recover -o %s %s", output,
			 WIFEXITED(job.status) ? WEXITSTATUS(job.status) :
						 128 + WTERMSIG(job.status),
			 output, disk_path);
}

/* Cut texts would ask for something else. */
static bool set_option(char *out, const char *name, const char *value)
{
	struct str s;

	str_init(&s, out, OPTION_SIZE);
	str_add(&s, name);
	str_add(&s, value);
	return strlen(out) == strlen(name) + strlen(value);
}

int finish_tables(const char *trace, const char *tables, const char *format, const char *file)
{
	char program[PATH_MAX], part[PATH_MAX], by[OPTION_SIZE], form[OPTION_SIZE];
	struct job job = { .program = program, .out = part };
	struct str s;
	int nr = 0, status;

	str_init(&s, part, sizeof(part));
	str_add(&s, file);
	str_add(&s, ".part");
	if (!set_option(by, "--by=", tables ? tables : "") ||
	    !set_option(form, "--format=", format) || strlen(part) != strlen(file) + 5)
		return -EINVAL;
	if (!find_rtl(program))
		return -ENOENT;
	job.argv[nr++] = program;
	job.argv[nr++] = (char *)(uintptr_t) "summary";
	if (tables)
		job.argv[nr++] = by;
	job.argv[nr++] = form;
	job.argv[nr++] = (char *)(uintptr_t) "--";
	job.argv[nr++] = (char *)(uintptr_t)trace;
	run_program(&job);
	status = exit_status(&job);
	if (status == 0 && rename(part, file) == 0)
		return 0;
	unlink(part);
	/* rtl's status for a command line that is wrong */
	return status == 2 ? -EINVAL : -EIO;
}
