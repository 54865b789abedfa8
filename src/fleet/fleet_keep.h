/* SPDX-License-Identifier: MIT */
/* fleet_keep.h - bounds a data set: deletes its oldest jobs as whole folders
 *
 * A job is as old as the last event of all of its ranks, by their hosts' clocks, or, where a rank's
 * is not known, as its folder. It is kept or deleted as a whole: what is left of a job would answer
 * questions as if it were all of it. Only folders that hold nothing but ranks with the files of a
 * data set are deleted, in directories that are open, and never what a link leads to. A job's
 * folder gets a name that no engine finds before the first of its files goes; what a deletion that
 * was killed has left under such a name goes with the next one.
 *
 * Threads:  one.
 */
#ifndef RTL_FLEET_FLEET_KEEP_H
#define RTL_FLEET_FLEET_KEEP_H

#include "fleet/fleet_set.h"

struct fleet_keep_job {
	const char *job, *folder; /* its name, and job=JOB in the data set */
	size_t nr_ranks;
	int64_t last_ns; /* since 1970 */
	uint64_t bytes;	 /* on the disk */
};

struct fleet_keep {
	uint64_t max_age_ns; /* 0: any */
	uint64_t max_bytes;  /* of all jobs together; 0: any */
	int64_t now_ns;	     /* since 1970 */
	bool dry_run;	     /* nothing is deleted */
	/* Why a job that should go is kept nevertheless; NULL: it is not. */
	const char *(*why_kept)(void *arg, const char *job);
	/* Called for each job that is, or would be, deleted. */
	void (*deleted)(void *arg, const struct fleet_keep_job *job);
	void *arg;
	/* results */
	size_t nr_deleted;
	uint64_t bytes_deleted, bytes_left;
};

/* 0 or -ENOMEM. What can't be deleted stays, as a problem of the set. */
int fleet_keep(struct fleet_set *set, struct fleet_keep *k);

#endif
