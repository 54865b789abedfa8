/* SPDX-License-Identifier: MIT */
/* test_child.c - the traced program's start, signals and end */
#include "cli/trace/child.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

extern char **environ;

static struct child child;

static int start(const char *script)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	bool in_child;

	CHECK_OK(child_fork(&child, &in_child));
	if (in_child)
		child_become(&child, argv, environ);
	return child_start(&child);
}

TEST(exit_status_is_the_programs)
{
	CHECK_OK(start("exit 7"));
	CHECK_EQ_INT(child_wait(&child), CHILD_ENDED);
	CHECK_EQ_INT(child_exit_status(&child), 7);
}

TEST(program_killed_by_signal_gives_128_plus_number)
{
	CHECK_OK(start("kill -KILL $$"));
	CHECK_EQ_INT(child_wait(&child), CHILD_ENDED);
	CHECK_EQ_INT(child_exit_status(&child), 137);
}

TEST(missing_program_returns_errno_and_127)
{
	char *argv[] = { (char *)"/nowhere/at-all", NULL };
	bool in_child;

	CHECK_OK(child_fork(&child, &in_child));
	if (in_child)
		child_become(&child, argv, environ);
	CHECK_EQ_INT(child_start(&child), -ENOENT);
	CHECK_EQ_INT(child_exit_status(&child), 127);
}

TEST(dropped_program_is_not_executed)
{
	char *argv[] = { (char *)"touch", (char *)test_tmpfile("ran"), NULL };
	bool in_child;

	CHECK_OK(child_fork(&child, &in_child));
	if (in_child)
		child_become(&child, argv, environ);
	child_drop(&child);
	CHECK_EQ_INT(child_exit_status(&child), 125);
	CHECK(access(test_tmpfile("ran"), F_OK) != 0);
}

TEST(process_killed_before_exec_reports_that_signal)
{
	siginfo_t info;
	bool in_child;

	CHECK_OK(child_fork(&child, &in_child));
	if (in_child)
		child_become(&child, (char *[]){ (char *)"true", NULL }, environ);
	CHECK_OK(kill(child.pid, SIGKILL));
	CHECK_OK(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT));
	CHECK_OK(child_start(&child));
	CHECK_EQ_INT(child_wait(&child), CHILD_ENDED);
	CHECK_EQ_INT(child_exit_status(&child), 137);
}

/* Starts a process that signals this one `times` times, every 200 ms. */
static void signal_later(int signo, unsigned int times)
{
	if (fork() != 0)
		return;
	for (; times; times--) {
		usleep(200000);
		kill(getppid(), signo);
	}
	_exit(0);
}

TEST(signal_from_other_process_is_passed_on)
{
	CHECK_OK(start("trap 'exit 9' TERM; while :; do sleep 0.01; done"));
	signal_later(SIGTERM, 1);
	CHECK_EQ_INT(child_wait(&child), CHILD_ENDED);
	CHECK_EQ_INT(child_exit_status(&child), 9);
}

TEST(signal_from_terminal_or_program_is_not_passed_on)
{
	CHECK(!child_passes(SI_KERNEL, 0, 100));
	CHECK(!child_passes(SI_USER, 100, 100));
	CHECK(child_passes(SI_USER, 99, 100));
	CHECK(child_passes(SI_USER, 0, 100)); /* from another pid namespace */
	CHECK(child_passes(SI_QUEUE, 99, 100));
	CHECK_OK(start("trap 'exit 9' TERM; kill -TERM $PPID; sleep 0.3; exit 3"));
	CHECK_EQ_INT(child_wait(&child), CHILD_ENDED);
	CHECK_EQ_INT(child_exit_status(&child), 3);
}

TEST(second_interrupt_ends_wait)
{
	CHECK_OK(start("trap '' INT; sleep 5"));
	signal_later(SIGINT, 2);
	CHECK_EQ_INT(child_wait(&child), CHILD_ABANDONED);
	CHECK_EQ_INT(child_exit_status(&child), 130);
	kill(child.pid, SIGKILL);
}

TEST(program_inherits_signal_mask_of_rtl)
{
	/* SigBlk of the shell is 0 although rtl blocks the signals of its signalfd */
	CHECK_OK(start("grep -q '^SigBlk:.*0000000000000000$' /proc/self/status && "
		       "! trap | grep -q PIPE"));
	CHECK_EQ_INT(child_wait(&child), CHILD_ENDED);
	CHECK_EQ_INT(child_exit_status(&child), 0);
}
