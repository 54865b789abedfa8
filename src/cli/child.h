/* SPDX-License-Identifier: MIT */
/* child.h - runs the traced program: its own argv, terminal and process group, its exit status ours
 *
 * Order of calls: child_fork(), then child_start() or child_drop(), then child_wait(). The program
 * does not begin before child_start(), so that its pid may stand in names that are checked first.
 *
 * Signals: INT TERM HUP QUIT USR1 USR2 are passed on, but for those that the terminal or the
 * program itself sent, which it has got already. TSTP and CONT do what they always do. What was
 * ignored or blocked when rtl began, is so in the program.
 */
#ifndef RTL_CLI_CHILD_H
#define RTL_CLI_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int go_fd, fail_fd, signal_fd;
	sigset_t old_mask;
	struct sigaction old_pipe, old_chld;
	uint64_t interrupted_ns; /* when the last INT came, 0: none */
	bool gone;		 /* status is valid */
	int status;		 /* as wait(2) gives it */
};

/* 0 in rtl; *in_child true in the new process, which calls child_become(). Or -errno. No thread may
 * run yet. */
int child_fork(struct child *c, bool *in_child);
/* In the new process: waits for the word, then becomes the program. Never returns. */
_Noreturn void child_become(struct child *c, char **argv, char **env);

/* Lets the program begin. 0, or -errno of its exec: then it is gone. Also 0 when a signal ended the new process before
 * its exec: child_wait() then returns at once, and the exit status tells the signal. */
int child_start(struct child *c);
/* Ends the new process before it became anything. */
void child_drop(struct child *c);

enum child_event {
	CHILD_ENDED,
	CHILD_ABANDONED, /* a second INT within CHILD_INT_NS: the user wants no more of it */
};
#define CHILD_INT_NS UINT64_C(10000000000)
enum child_event child_wait(struct child *c);

/* The status as a shell would give it: 128 + N for signal N. */
int child_exit_status(const struct child *c);
/* A signal that means "stop" came since child_wait() ended. Its number, or 0. */
int child_stop_asked(struct child *c);
/* Forgets signals that came until now: those which ended the program. */
void child_forget_signals(struct child *c);

/* Whether a signal is to be passed on; by code and sender as in siginfo. */
bool child_passes(int code, pid_t sender, pid_t child);

#endif
