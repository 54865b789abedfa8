/* SPDX-License-Identifier: MIT */
/* info.h - a trace's metadata and counts, read from a database (info_db.c) or raw traces
 * (info_spool.c)
 *
 * Texts are malloc'd and live as long as the process, which prints them and ends.
 */
#ifndef RTL_CLI_READ_INFO_H
#define RTL_CLI_READ_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/verdict.h"

struct info_counts {
	uint64_t dispatches, internal, copies, barriers, apis, markers;
};

struct info_agent {
	int64_t gpu; /* -1: not a GPU */
	uint64_t nr_cu, clock_mhz, wave_size;
	const char *type, *name, *product, *uuid;
	uint64_t nr_queues;
};

struct info_process {
	uint64_t pid, ppid;
	int64_t rank, world_size, local_rank; /* -1: not known */
	const char *host, *command, *exe, *cwd, *job, *mode, *version, *clock, *state, *spool;
	uint64_t start_ns, first_ns, last_ns; /* in the trace's clock; 0: unknown */
	int64_t realtime_offset_ns;	      /* real time = trace time + this; 0: unknown */
	uint64_t nr_clocks, nr_threads, nr_kernels;
	uint64_t nr_functions; /* distinct functions among the calls */
	struct info_counts counts;
	struct info_agent *agents;
	size_t nr_agents;
	const char **libraries;
	size_t nr_libraries;
};

struct info {
	const char *path;
	const char *kind;    /* "database", "RPD database", "raw trace", "raw traces" */
	const char *version; /* of the program that wrote it, or "" */
	const char *schema;  /* of a database, or "" */
	uint64_t size;	     /* bytes */
	struct info_process *processes;
	size_t nr_processes;
	struct info_counts counts; /* of all */
	struct verdict verdict;
	const char **warnings;
	size_t nr_warnings;
};

/* Reads info->path, of any kind; a file that is not a trace ends the process. */
void info_read(struct info *info);

/* Returns `array`, grown if need be to hold one element more, and counts it in *nr. */
void *info_grow(void *array, size_t *nr, size_t size);
void info_warn(struct info *info, const char *text);

/* The database at info->path. */
void info_db_read(struct info *info);
/* One raw trace; may be called for several. */
void info_spool_read(struct info *info, const char *path);

#endif
