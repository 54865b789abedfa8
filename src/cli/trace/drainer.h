/* SPDX-License-Identifier: MIT */
/* drainer.h - drains every spool of a session from outside, on a thread, while the program runs
 *
 * One thread reads the directory and drains each spool; between drainer_stop() and
 * drainer_destroy() the caller's thread does. The two never overlap, so there is no lock.
 */
#ifndef RTL_CLI_TRACE_DRAINER_H
#define RTL_CLI_TRACE_DRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/trace/snapshots.h"
#include "cli/trace/trigger.h"

struct drainer;

/* What a session may take on the disk. */
struct drainer_limit {
	uint64_t max_bytes; /* 0: any number */
	const char *output; /* earlier databases of a trace that is split count, too */
};
/* Snapshots while the program runs; borrowed for the drainer's life. */
struct drainer_triggers {
	struct trigger_options options;
	struct snapshots snapshots;
};
/* Writes a snapshot, if that is within the bounds. Any thread, between drainer_start() and
 * drainer_stop(). */
void drainer_ask_snapshot(struct drainer *d);

/* `dir` is borrowed for the drainer's life. `child`: the process whose status drainer_stop() gets;
 * its trace is closed then. 0 or
 * -errno. */
int drainer_start(struct drainer **out, const char *dir, uint32_t child,
		  const struct drainer_limit *limit, struct drainer_triggers *triggers);

/* Ends the thread. drainer_stop() does if this was not called. */
void drainer_halt(struct drainer *d);
/* Drains the rest: closes the traces of processes that ended, and waits up to grace_ms for those
 * that still run. Spools of processes that run after that are released to their own harvesters.
 * `status`: the child's, as wait(2) returns it; its trace notes how it ended. NULL: it runs, or was
 * never started. */
void drainer_stop(struct drainer *d, uint64_t grace_ms, const int *status);
void drainer_destroy(struct drainer *d);

/* After drainer_stop(). Paths are valid until drainer_destroy(). */
size_t drainer_nr(const struct drainer *d);
const char *drainer_path(const struct drainer *d, size_t i);
bool drainer_running(const struct drainer *d, size_t i); /* its process still ran at the end */
uint32_t drainer_pid(const struct drainer *d, size_t i); /* 0: unknown */
/* watch_suspect() of the session */
const char *drainer_suspect(const struct drainer *d);
/* errno of the last failed write, 0: none */
int drainer_error(const struct drainer *d);

#endif
