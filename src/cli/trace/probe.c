/* SPDX-License-Identifier: MIT */
/* probe.c - tries to load a library in a child process
 *
 * Fails:    a library that hangs while it is loaded is killed after PROBE_SECONDS.
 */
#include "cli/trace/probe.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROBE_SECONDS 10

/* In the child: fills the result. */
static void load_library(struct probe_result *r, const char *name, const char *first,
			 const char *symbol)
{
	struct link_map *map = NULL;
	void *lib;

	if (first && !dlopen(first, RTLD_NOW | RTLD_GLOBAL)) {
		snprintf(r->error, sizeof(r->error), "%s", dlerror());
		return;
	}
	lib = dlopen(name, RTLD_NOW);
	if (!lib) {
		snprintf(r->error, sizeof(r->error), "%s", dlerror());
		return;
	}
	r->loaded = true;
	if (dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map && !realpath(map->l_name, r->path))
		snprintf(r->path, sizeof(r->path), "%s", map->l_name);
	r->has_symbol = symbol && dlsym(lib, symbol);
}

static _Noreturn void run_child(int fd, const char *name, const char *first, const char *symbol)
{
	struct probe_result *r = calloc(1, sizeof(*r));
	size_t done = 0;

	if (!r)
		_exit(1);
	alarm(PROBE_SECONDS);
	setenv("RTL_DISABLE", "1", 1);
	/* discard what the library prints */
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(1);
	load_library(r, name, first, symbol);
	while (done < sizeof(*r)) {
		ssize_t n = write(fd, (char *)r + done, sizeof(*r) - done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	free(r);
	_exit(0);
}

void probe_library(struct probe_result *out, const char *name, const char *first,
		   const char *symbol)
{
	size_t done = 0;
	int fds[2], status = 0;
	pid_t pid;

	memset(out, 0, sizeof(*out));
	if (pipe(fds)) {
		snprintf(out->error, sizeof(out->error), "%s", strerror(errno));
		return;
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		run_child(fds[1], name, first, symbol);
	}
	close(fds[1]);
	while (pid > 0 && done < sizeof(*out)) {
		ssize_t n = read(fds[0], (char *)out + done, sizeof(*out) - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	close(fds[0]);
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	if (done == sizeof(*out))
		return;
	memset(out, 0, sizeof(*out));
	snprintf(out->error, sizeof(out->error), "loading it ended the process (%s)",
		 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no answer");
}
