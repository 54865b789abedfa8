/* SPDX-License-Identifier: MIT */
/* snapshot.h - databases of what raw traces have now, while their processes run
 *
 * A trace is copied, which takes a moment, and the copy is converted. Chunks that a flight recorder
 * is about to remove stay until they are copied.
 */
#ifndef RTL_CLI_TRACE_SNAPSHOT_H
#define RTL_CLI_TRACE_SNAPSHOT_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "query/job.h"

#define SNAPSHOT_ERROR_SIZE 1200

/* The raw traces of a process, from its mappings: of the process itself, or those that `rtl trace`
 * drains. Their number, paths malloc'd;
 * -errno if its mappings can't be read. */
ssize_t snapshot_find(uint32_t pid, char ***paths);

/* "trace.db" and 3 become "trace-3.db". -ENAMETOOLONG. */
int snapshot_name(char out[PATH_MAX], const char *output, unsigned int number);

/* Writes the database of `nr` raw traces. 0, or -errno with `error`. */
int snapshot_take(char *const *paths, size_t nr, const char *output, const struct job_options *opt,
		  struct job_result *res, char error[SNAPSHOT_ERROR_SIZE]);

#endif
