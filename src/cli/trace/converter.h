/* SPDX-License-Identifier: MIT */
/* converter.h - converts the traces of a session while its programs run, in a process of its own
 *
 * The process has a low priority. It begins when the traces have some size, so that short programs
 * cost nothing, and writes an unfinished database (export/rpd/rpd.h), whose name is in the file
 * CONVERTER_FILE of the session's directory. The caller finishes it after the program's end; `rtl
 * recover` does if the caller was killed.
 */
#ifndef RTL_CLI_TRACE_CONVERTER_H
#define RTL_CLI_TRACE_CONVERTER_H

#include <limits.h>
#include <stdbool.h>

#include "cli/trace/session.h"
#include "query/job.h"

#define CONVERTER_FILE "unfinished"

struct converter {
	int pid; /* 0: none */
	int was; /* the pid of one that has ended, too */
	int stop_fd;
};

/* When a database is complete and the next one begins; 0: never. */
struct converter_split {
	uint64_t bytes; /* of the file */
	uint64_t ns;	/* since it was begun */
};

/* Starts the process. `dir` and `output` are the session's. With `gives_back` the drainer may
 * remove from the spools what has rows. Before the caller has threads. 0 or -errno. */
int converter_start(struct converter *f, const char *dir, const char *output,
		    const struct job_options *opt, const struct converter_split *split,
		    bool gives_back);
/* Ends the process when what it does now is in the file. */
void converter_stop(struct converter *f);

/* The name of the earlier database `number` of a trace that is split: OUT.001.db. 0 or
 * -ENAMETOOLONG. */
int converter_name(char name[PATH_MAX], const char *output, unsigned int number);
/* How many there are, from 1 on. */
unsigned int converter_names(const char *output);

/* Where the unfinished databases of a session may be: beside one of its outputs. */
struct converter_location {
	const char *dir; /* of the spools */
	const char *outputs[2];
	size_t nr;
	int pid; /* of the converter; 0: any */
};

struct converter_found {
	char current[PATH_MAX]; /* "": there is none */
	/* One that a converter was completing when it was killed, and its number. It goes before
	 * `current`. "": there is none. */
	char ending[PATH_MAX];
	unsigned int number;
};

/* The unfinished databases of a session. 1; 0: there is none, or it is gone; -EINVAL: what the
 * directory says is not believed, with `error`. */
int converter_find(const struct converter_location *at, struct converter_found *found,
		   char error[SESSION_ERROR_SIZE]);
/* Completes what the caller's own converter did between two databases when it was killed. */
void converter_settle(const struct converter_location *at, const struct job_options *opt);
/* Deletes the list of them; `files` too, unless they have got their names. */
void converter_remove(const struct converter_location *at, bool files);

#endif
