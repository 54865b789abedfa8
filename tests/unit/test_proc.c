/* SPDX-License-Identifier: MIT */
/* test_proc.c - processes that run, that ended, with reused pids, and in other namespaces */
#include "base/proc.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "support/test.h"

static uint64_t start_ticks(pid_t pid)
{
	char path[64], text[1024];
	char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	CHECK_OK(fd_read_line(path, text, sizeof(text)));
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	CHECK(at);
	return strtoull(at, NULL, 10);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	CHECK(pid > 0);
	return pid;
}

TEST(running_process_is_alive)
{
	pid_t pid = sleeper();

	CHECK(proc_alive((uint32_t)pid, start_ticks(pid)));
	CHECK(proc_alive((uint32_t)pid, 0));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(!proc_alive((uint32_t)pid, 0));
}

TEST(process_with_reused_pid_is_not_alive)
{
	CHECK(!proc_alive((uint32_t)getpid(), start_ticks(getpid()) + 1));
}

TEST(zombie_is_not_alive)
{
	pid_t pid = sleeper();
	uint64_t ticks = start_ticks(pid);
	siginfo_t info;

	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	CHECK(!proc_alive((uint32_t)pid, ticks));
	waitpid(pid, NULL, 0);
}

static void *wait_for_ever(void *arg)
{
	pause();
	return arg;
}

static char state_of(pid_t pid)
{
	char path[64], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	CHECK_OK(fd_read_line(path, text, sizeof(text)));
	at = strrchr(text, ')');
	CHECK(at);
	return at[2];
}

TEST(process_with_ended_first_thread_is_alive)
{
	pid_t pid = fork();
	uint64_t ticks;
	siginfo_t info;

	if (pid == 0) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, wait_for_ever, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	CHECK(pid > 0);
	ticks = start_ticks(pid);
	while (state_of(pid) != 'Z')
		usleep(1000);
	CHECK(proc_alive((uint32_t)pid, ticks));
	CHECK(proc_alive((uint32_t)pid, 0));
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	CHECK(!proc_alive((uint32_t)pid, ticks));
	waitpid(pid, NULL, 0);
}

TEST(process_in_child_namespace_is_found_by_its_inner_pid)
{
	pid_t outer;

#ifdef __SANITIZE_ADDRESS__
	SKIP("the leak check at the end makes a process, which can't be had after process 1 has ended");
#endif
	if (unshare(CLONE_NEWPID))
		SKIP("a pid namespace can't be made here");
	outer = sleeper(); /* it is process 1 of its namespace */
	CHECK(proc_alive(1, start_ticks(outer)));
	CHECK(!proc_alive(2, start_ticks(outer)));
	kill(outer, SIGKILL);
	waitpid(outer, NULL, 0);
}

TEST(file_is_mapped_by_process_until_that_is_gone)
{
	siginfo_t info;
	pid_t pid = sleeper();

	CHECK(proc_maps((uint32_t)getpid(), 0, "/test_proc"));
	CHECK(!proc_maps((uint32_t)getpid(), 0, "/no such file"));
	/* another process has this pid */
	CHECK(proc_maps((uint32_t)getpid(), 1, "/no such file"));
	kill(pid, SIGKILL);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	/* a zombie has no mappings: nothing is known */
	CHECK(proc_maps((uint32_t)pid, 0, "/no such file"));
	waitpid(pid, NULL, 0);
}
