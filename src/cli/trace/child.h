/* SPDX-License-Identifier: MIT */
/* child.h - runs the traced program in rtl's terminal and process group, with its own argv; rtl
 * exits with its status
 *
 * Order of calls: child_fork(), then child_start() or child_drop(), then child_wait(). The program
 * does not begin before child_start(), so that names which contain its pid can be checked first.
 *
 * Signals: rtl passes on INT TERM HUP QUIT USR1 USR2, except those from the terminal or from the
 * program itself, which the program has already received. TSTP and CONT have their default effect.
 * Signals that were ignored or blocked when rtl began are so in the program, and so is its limit of
 * open files, which rtl raises for itself.
 */
#ifndef RTL_CLI_TRACE_CHILD_H
#define RTL_CLI_TRACE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int go_fd, fail_fd, signal_fd;
	sigset_t old_mask;
	struct sigaction old_pipe, old_chld;
	struct rlimit old_files;
	uint64_t stopped_ns; /* when the last INT or TERM came, 0: none */
	int stopped_by;
	bool stopped_by_process; /* not by the terminal */
	bool gone;		 /* status is valid */
	int status;		 /* as wait(2) gives it */
	/* NULL: USR2 is passed on; else it is called instead */
	void (*on_usr2)(void *arg);
	void *usr2_arg;
};

/* Forks. 0, -EMFILE if too few files can be opened, or another -errno; *in_child is true in the new
 * process, which then calls child_become(). The caller must be single-threaded. */
int child_fork(struct child *c, bool *in_child);
/* In the new process: waits for child_start() or child_drop(), then executes the program or
 * exits. */
_Noreturn void child_become(struct child *c, char **argv, char **env);

/* After -EMFILE of child_fork(): becomes the program, in this process. -errno of the exec. */
int child_replace(struct child *c, char **argv);

/* From here on signals are for the program; until here they had the effect in this process that
 * they had before child_fork(). */
void child_hold_signals(struct child *c);
/* Starts the program. 0, or -errno of its exec: then the process is gone. Also 0 if a signal ended
 * the process before its exec: child_wait() then returns at once, and the exit status has the
 * signal. */
int child_start(struct child *c);
/* Ends the new process before its exec. */
void child_drop(struct child *c);

enum child_event {
	CHILD_ENDED,
	CHILD_ABANDONED, /* a second INT or TERM within CHILD_STOP_NS: stop waiting */
};
#define CHILD_STOP_NS UINT64_C(10000000000)
/* Signals that came before the program's end were meant for it; later ones are for this process. */
enum child_event child_wait(struct child *c);

/* The status as a shell would give it: 128 + N for signal N. */
int child_exit_status(const struct child *c);

/* Whether to pass a signal on; code and sender as in siginfo. */
bool child_passes(int code, pid_t sender, pid_t child);

#endif
