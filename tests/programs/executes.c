/* SPDX-License-Identifier: MIT */
/* executes.c - marks a point by roctx, which opens a trace, and executes another program that ends
 * at once with status 6
 *
 *	executes HOW
 *
 * HOW: a function of the exec family; fails: of a program that isn't there, then _exit(3); child:
 * in a child of vfork(), then _exit(3);
 * threads: one thread's calls fail while another one's succeeds.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const args[] = { (char *)"sh", (char *)"-c", (char *)"exit 6", NULL };
static char *const env[] = { (char *)"NAME=value", NULL };

static void *fail_for_ever(void *arg)
{
	for (;;)
		execv("/nonexistent", args);
	return arg;
}

static void execute(const char *how)
{
	pthread_t thread;
	int status;
	pid_t pid;

	if (!strcmp(how, "execv"))
		execv("/bin/sh", args);
	if (!strcmp(how, "execvp"))
		execvp("sh", args);
	if (!strcmp(how, "execve"))
		execve("/bin/sh", args, env);
	if (!strcmp(how, "execvpe"))
		execvpe("sh", args, env);
	if (!strcmp(how, "execl"))
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
	if (!strcmp(how, "execlp"))
		execlp("sh", "sh", "-c", "exit 6", (char *)NULL);
	if (!strcmp(how, "execle"))
		execle("/bin/sh", "sh", "-c", "test \"$NAME\" = value && exit 6", (char *)NULL,
		       env);
	if (!strcmp(how, "fexecve"))
		fexecve(open("/bin/sh", O_RDONLY | O_CLOEXEC), args, env);
	if (!strcmp(how, "execveat"))
		execveat(AT_FDCWD, "/bin/sh", args, env, 0);
	if (!strcmp(how, "fails") && execv("/nonexistent", args) == -1 && errno == ENOENT)
		_exit(3);
	if (!strcmp(how, "child")) {
		pid = vfork();
		if (!pid)
			execv("/bin/sh", args);
		_exit(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 6 ? 3 : 1);
	}
	if (!strcmp(how, "threads") && !pthread_create(&thread, NULL, fail_for_ever, NULL))
		execv("/bin/sh", args);
}

int main(int argc, char **argv)
{
	void (*mark)(const char *text) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "roctxMarkA");

	if (mark)
		mark("before");
	execute(argc > 1 ? argv[1] : "");
	fprintf(stderr, "executes: unknown function '%s', or %s; see the head of executes.c\n",
		argc > 1 ? argv[1] : "", strerror(errno));
	return 2;
}
