/* SPDX-License-Identifier: MIT */
/* snapshots.c - starts rtl snapshot, and counts what is beyond the bounds */
#include "cli/trace/snapshots.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/trace/snapshot.h"
#include "cli/ui.h"

#define PROGRAM "/proc/self/exe"

/* The next name that is free. */
static int choose_name(struct snapshots *s)
{
	int err;

	do
		err = snapshot_name(s->name, s->output, ++s->number);
	while (!err && !s->force && access(s->name, F_OK) == 0);
	return err;
}

/* Signals are blocked in rtl; the new process ends by them. */
static int start(struct snapshots *s)
{
	char program[] = "rtl", command[] = "snapshot", quiet[] = "-q", out[] = "-o",
	     force[] = "-f", public[] = "--public";
	char *argv[10] = { program, command, quiet, out, s->name }, **next = argv + 5;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	if (s->force)
		*next++ = force;
	if (s->is_public)
		*next++ = public;
	*next = (char *)(uintptr_t)s->dir;
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	err = posix_spawn(&s->running, PROGRAM, NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	if (err)
		s->running = 0;
	return -err;
}

void snapshots_ask(struct snapshots *s, uint64_t nr, const char *why)
{
	uint64_t now = ui_now_ns();
	int err;

	snapshots_poll(s);
	if (s->running || s->nr_begun >= s->most || (s->last_ns && now - s->last_ns < s->gap_ns)) {
		s->nr_left_out += nr;
		return;
	}
	s->nr_left_out += nr - 1;
	s->last_ns = now;
	s->nr_begun++;
	snprintf(s->why, sizeof(s->why), "%s", why);
	err = choose_name(s);
	if (!err)
		err = start(s);
	if (err)
		ui_error("%s: no snapshot can be written: %s", s->name, strerror(-err));
}

static void conclude(struct snapshots *s, int status)
{
	s->running = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		s->nr_written++;
		ui_say("%s: snapshot, since %s", s->name, s->why);
	} else {
		ui_error("%s: the snapshot was not written", s->name);
	}
}

void snapshots_poll(struct snapshots *s)
{
	int status;

	if (s->running && waitpid(s->running, &status, WNOHANG) == s->running)
		conclude(s, status);
}

void snapshots_end(struct snapshots *s)
{
	for (snapshots_poll(s); s->running && !ui_stopped_by(); snapshots_poll(s))
		poll(NULL, 0, 10);
	if (s->running) {
		kill(s->running, SIGTERM);
		waitpid(s->running, NULL, 0);
		s->running = 0;
	}
	if (s->nr_left_out)
		ui_say("%u snapshot%s; %" PRIu64
		       " further reason%s for one came too soon after another, or beyond "
		       "--snapshots=%" PRIu64,
		       s->nr_written, s->nr_written == 1 ? "" : "s", s->nr_left_out,
		       s->nr_left_out == 1 ? "" : "s", s->most);
}
