/* SPDX-License-Identifier: MIT */
/* family.c - a process that starts others, each with GPU work of its own
 *
 *	family LAUNCHER
 *
 * Starts LAUNCHER (with launches=101, 102, ... as their identity) through fork and exec,
 * vfork and exec, posix_spawn, a shell in between, a shell that execs, and env -i with the
 * required variables; some two at a time. Does no GPU work itself. Prints a line for each.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *launcher;

static void report(const char *what, pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		printf("%s: %s\n", what, strerror(errno));
		exit(1);
	}
	printf("%s: status 0x%x\n", what, (unsigned)status);
	fflush(stdout);
}

static pid_t start(int with_vfork, const char *const *argv)
{
	pid_t pid;

	fflush(stdout);
	pid = with_vfork ? vfork() : fork();
	if (pid == 0) {
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	return pid;
}

int main(int argc, char **argv)
{
	char command[4096];
	pid_t pid, other;

	if (argc < 2) {
		fprintf(stderr, "family: which program?\n");
		return 2;
	}
	launcher = argv[1];

	report("fork", start(0, (const char *const[]){ launcher, "launches=101", NULL }));
	report("vfork", start(1, (const char *const[]){ launcher, "launches=102", NULL }));
	if (posix_spawn(&pid, launcher, NULL, NULL,
			(char *const[]){ (char *)launcher, (char *)"launches=103", NULL }, environ))
		return 1;
	report("posix_spawn", pid);
	snprintf(command, sizeof(command), "'%s' launches=104; (sh -c \"'%s' launches=105\")",
		 launcher, launcher);
	report("shell", start(0, (const char *const[]){ "/bin/sh", "-c", command, NULL }));
	snprintf(command, sizeof(command), "exec '%s' launches=106", launcher);
	report("shell exec", start(0, (const char *const[]){ "/bin/sh", "-c", command, NULL }));
	pid = start(0, (const char *const[]){ launcher, "launches=107", "threads=2", NULL });
	other = start(0, (const char *const[]){ launcher, "launches=108", "threads=2", NULL });
	report("first of two", pid);
	report("second of two", other);
	return 0;
}
