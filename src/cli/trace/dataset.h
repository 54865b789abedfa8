/* SPDX-License-Identifier: MIT */
/* dataset.h - the data set that `rtl trace -o DIR/` adds its rank to, and what is not in it yet
 *
 * The rank is recorded to a database in the folder, DIR/.unfinished-HOST-PID.db, which is converted
 * at the end (docs/decisions/058-data-set-of-a-job.md). As long as anything of it is not in the
 * data set there is the file DIR/.unfinished-HOST-PID, the mark, with lines of text: who writes it
 * and where its raw trace is. Engines do not look at names that begin with a dot.
 *
 * Threads:  one.
 * Fails:    0 or -errno.
 */
#ifndef RTL_CLI_TRACE_DATASET_H
#define RTL_CLI_TRACE_DATASET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "query/job.h"

#define DATASET_MARK ".unfinished-"

/* Whether an output's name is that of a data set: it ends in a slash, or is a directory. */
bool dataset_is(const char *output);
/* The database of a process `pid` in the folder `set`. 0 or -ENAMETOOLONG. */
int dataset_output(char out[PATH_MAX], const char *set, pid_t pid);
/* Writes and removes the mark of the database `output`, whose raw trace is in `spool`. */
int dataset_mark(const char *output, const char *spool);
void dataset_unmark(const char *output);

/* Converts the database `output` to its folders in the data set, waits until they are on the disk,
 * and removes it. `job` and `rank` are those of processes that it has no rank of. 0 or -errno with
 * res->error; the database is kept then. */
int dataset_publish(const char *output, const char *set, const char *job, int64_t rank,
		    const struct job_options *opt, struct job_result *res);
/* Whether a folder of this rank is in the data set, its name in `folder`. */
bool dataset_has_rank(char folder[PATH_MAX], const char *set, const char *job, int64_t rank);

/* What a mark says; "" and -1: nothing. */
struct dataset_mark {
	char output[PATH_MAX]; /* the database, whether it exists or not */
	char host[256], job[64], spool[PATH_MAX];
	int64_t rank;
	uint32_t pid;	/* of rtl trace */
	int64_t age_ns; /* since it was written */
	bool is_here;	/* its host is this one */
};

/* The marks of a folder, malloc'd, in the order of their names; what no `rtl trace` can have
 * written is left out. Their number or -errno. */
ssize_t dataset_marks(const char *set, struct dataset_mark **out);
/* Of a mark of this host: whether its `rtl trace`, or a process of the program, still runs. */
bool dataset_mark_runs(const struct dataset_mark *m);

#endif
