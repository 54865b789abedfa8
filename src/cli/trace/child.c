/* SPDX-License-Identifier: MIT */
/* child.c - runs the traced program
 *
 * Threads:  the main thread alone. While the program runs the signals are blocked in all threads
 *           and read from a signalfd, so that no handler runs.
 * Not here: what the program gets as its environment (childenv.c).
 */
#include "cli/trace/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/exit_status.h"
#include "cli/ui.h"

static const int passed_on[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

/* rtl and its converter, with a few processes of the program */
#define FILES_WANTED 1024
/* the least with which a program of one process is traced */
#define FILES_NEEDED 12

/* timeout(1) sends its signal twice: to the process and to its group */
#define SAME_STOP_NS UINT64_C(100000000)

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static sigset_t own_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&set, passed_on[i]);
	sigaddset(&set, SIGCHLD);
	return set;
}

static int open_signals(struct child *c)
{
	sigset_t set = own_signals();
	struct sigaction action;

	if (sigprocmask(SIG_BLOCK, &set, &c->old_mask))
		return -errno;
	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, &c->old_pipe);
	action.sa_handler = SIG_DFL; /* with SIG_IGN the kernel would discard the exit status */
	sigaction(SIGCHLD, &action, &c->old_chld);
	c->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signal_fd < 0 ? -errno : 0;
}

void child_hold_signals(struct child *c)
{
	sigset_t set = own_signals();

	(void)c;
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Signals have their effect in this process again, except those that it has no use for. */
static void release_signals(struct child *c)
{
	sigset_t mask = c->old_mask;

	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGUSR1);
	sigaddset(&mask, SIGUSR2);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* The limit of open files is for the program; rtl itself opens some for each traced process. 0, or
 * -EMFILE: it leaves too few. */
static int raise_limit(struct child *c)
{
	struct rlimit more;

	if (getrlimit(RLIMIT_NOFILE, &c->old_files) != 0)
		return 0;
	more = c->old_files;
	if (more.rlim_max < FILES_WANTED)
		more.rlim_max = FILES_WANTED;
	more.rlim_cur = more.rlim_max;
	/* only root may have more than the hard limit */
	if (setrlimit(RLIMIT_NOFILE, &more) != 0) {
		more.rlim_cur = more.rlim_max = c->old_files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &more);
	}
	return fd_has_spare(FILES_NEEDED) ? 0 : -EMFILE;
}

static void restore_limit(const struct child *c)
{
	if (c->old_files.rlim_max)
		setrlimit(RLIMIT_NOFILE, &c->old_files);
}

int child_fork(struct child *c, bool *in_child)
{
	int go[2] = { -1, -1 }, failed[2] = { -1, -1 };
	int err;

	memset(c, 0, sizeof(*c));
	c->go_fd = c->fail_fd = c->signal_fd = -1;
	*in_child = false;
	err = raise_limit(c);
	if (!err)
		err = open_signals(c);
	if (err)
		return err;
	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	*in_child = c->pid == 0;
	c->go_fd = *in_child ? go[0] : go[1];
	c->fail_fd = *in_child ? failed[1] : failed[0];
	close(*in_child ? go[1] : go[0]);
	close(*in_child ? failed[0] : failed[1]);
	if (!*in_child)
		release_signals(c);
	return 0;
}

void child_become(struct child *c, char **argv, char **env)
{
	char word;
	ssize_t n;
	int error;

	do
		n = read(c->go_fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(STATUS_TRACE); /* child_drop(), or rtl died */
	sigaction(SIGPIPE, &c->old_pipe, NULL);
	sigaction(SIGCHLD, &c->old_chld, NULL);
	ui_stop_default();
	sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
	restore_limit(c);
	execvpe(argv[0], argv, env);
	error = errno;
	n = write(c->fail_fd, &error, sizeof(error));
	_exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_CANT_RUN);
}

int child_replace(struct child *c, char **argv)
{
	restore_limit(c);
	ui_stop_default();
	execvp(argv[0], argv);
	return -errno;
}

static void reap_child(struct child *c)
{
	pid_t got;

	do
		got = waitpid(c->pid, &c->status, 0);
	while (got < 0 && errno == EINTR);
	c->gone = true;
}

int child_start(struct child *c)
{
	int error = 0;
	ssize_t n;

	child_hold_signals(c);
	/* EPIPE: the process was killed before its exec; child_wait() gets the signal */
	n = write(c->go_fd, "g", 1);
	close_fd(&c->go_fd);
	if (n != 1) {
		close_fd(&c->fail_fd);
		return 0;
	}
	do
		n = read(c->fail_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close_fd(&c->fail_fd);
	if (n != (ssize_t)sizeof(error))
		return 0; /* closed by its exec */
	reap_child(c);
	return -error;
}

void child_drop(struct child *c)
{
	close_fd(&c->go_fd);
	close_fd(&c->fail_fd);
	if (c->pid > 0 && !c->gone)
		reap_child(c);
}

bool child_passes(int code, pid_t sender, pid_t child)
{
	/* The terminal sends Ctrl-C and hang-up (SI_KERNEL) to the whole foreground group, which
	 * includes the program. A program that signals its own group receives the signal itself. */
	return code != SI_KERNEL && sender != child;
}

/* Reads one signal from the descriptor; false: none is pending. */
static bool next_signal(struct child *c, struct signalfd_siginfo *info)
{
	return read(c->signal_fd, info, sizeof(*info)) == (ssize_t)sizeof(*info);
}

/* Notes a signal; true: it is the second one that asks for the end. */
static bool is_second_stop(struct child *c, int signo)
{
	uint64_t now = ui_now_ns(), since = now - c->stopped_ns;
	bool again = c->stopped_ns && since < CHILD_STOP_NS;

	if ((signo != SIGINT && signo != SIGTERM) || (again && since < SAME_STOP_NS))
		return false;
	c->stopped_ns = now;
	c->stopped_by = signo;
	return again;
}

static enum child_event wait_for_end(struct child *c)
{
	for (;;) {
		struct pollfd poll_fd = { .fd = c->signal_fd, .events = POLLIN };
		struct signalfd_siginfo info;

		/* check each time: one SIGCHLD may stand for several children */
		if (!c->gone && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
			c->gone = true;
		if (c->gone)
			return CHILD_ENDED;
		if (poll(&poll_fd, 1, -1) < 0 && errno != EINTR)
			return CHILD_ABANDONED;
		while (next_signal(c, &info)) {
			int signo = (int)info.ssi_signo;

			if (signo == SIGCHLD)
				continue;
			if (signo == SIGUSR2 && c->on_usr2) {
				c->on_usr2(c->usr2_arg);
				continue;
			}
			if (child_passes(info.ssi_code, (pid_t)info.ssi_pid, c->pid))
				kill(c->pid, signo);
			if ((signo == SIGINT || signo == SIGTERM) && info.ssi_code != SI_KERNEL)
				c->stopped_by_process = true;
			if (!is_second_stop(c, signo))
				continue;
			c->gone = waitpid(c->pid, &c->status, WNOHANG) == c->pid;
			return c->gone ? CHILD_ENDED : CHILD_ABANDONED;
		}
	}
}

enum child_event child_wait(struct child *c)
{
	enum child_event event = wait_for_end(c);
	struct signalfd_siginfo info;

	while (next_signal(c, &info))
		;
	release_signals(c);
	return event;
}

int child_exit_status(const struct child *c)
{
	if (!c->gone)
		return 128 + (c->stopped_by ? c->stopped_by : SIGINT);
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}
