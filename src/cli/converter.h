/* SPDX-License-Identifier: MIT */
/* converter.h - converts the traces of a session while its programs run, in a process of its own
 *
 * The process has a low priority. It begins when the traces have some size, so that short programs cost nothing, and
 * writes an unfinished database (export/rpd/rpd.h), whose name is in the file CONVERTER_FILE of the session's directory. The
 * caller finishes it after the program's end; `rtl recover` does if the caller was killed.
 */
#ifndef RTL_CLI_CONVERTER_H
#define RTL_CLI_CONVERTER_H

#include <limits.h>
#include <stdbool.h>

#include "query/job.h"

#define CONVERTER_FILE "unfinished"

struct converter {
	int pid; /* 0: none */
	int stop_fd;
};

/* When a database is complete and the next one begins; 0: never. */
struct converter_split {
	uint64_t bytes; /* of the file */
	uint64_t ns;	/* since it was begun */
};

/* Starts the process. `dir` and `output` are the session's. With `gives_back` the drainer may remove from the spools what has
 * rows. Before the caller has threads. 0 or -errno. */
int converter_start(struct converter *f, const char *dir, const char *output,
		    const struct job_options *opt, const struct converter_split *split,
		    bool gives_back);
/* Ends the process when what it does now is in the file. */
void converter_stop(struct converter *f);

/* The name of the earlier database `number` of a trace that is split: OUT.001.db. 0 or -ENAMETOOLONG. */
int converter_name(char name[PATH_MAX], const char *output, unsigned int number);
/* How many there are, from 1 on. */
unsigned int converter_names(const char *output);

/* Completes what a converter that was killed did between two databases. Before converter_find(), when no process converts. */
void converter_settle(const char *dir, const struct job_options *opt);
/* The unfinished database of a session. false: there is none. */
bool converter_find(const char *dir, char path[PATH_MAX]);
/* Deletes it; `file` too, unless it has got its name. */
void converter_remove(const char *dir, bool file);

#endif
