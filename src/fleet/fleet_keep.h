/* SPDX-License-Identifier: MIT */
/* fleet_keep.h - bounds a data set: deletes its oldest ranks as whole folders
 *
 * A rank is as old as its last event, by its host's clock, or, where that is not known, as its
 * folder. Only folders that hold nothing but the files of a data set are deleted, in directories
 * that are open, and never what a link leads to. A folder gets a name that no engine finds before
 * the first of its files goes.
 *
 * Threads:  one.
 */
#ifndef RTL_FLEET_FLEET_KEEP_H
#define RTL_FLEET_FLEET_KEEP_H

#include "fleet/fleet_set.h"

struct fleet_keep {
	uint64_t max_age_ns; /* 0: any */
	uint64_t max_bytes;  /* of all ranks together; 0: any */
	int64_t now_ns;	     /* since 1970 */
	bool dry_run;	     /* nothing is deleted */
	/* Called for each rank that is, or would be, deleted. */
	void (*deleted)(void *arg, const struct fleet_rank *rank, int64_t last_ns, uint64_t bytes);
	void *arg;
	/* results */
	size_t nr_deleted;
	uint64_t bytes_deleted, bytes_left;
};

/* 0 or -ENOMEM. What can't be deleted stays, as a problem of the set. */
int fleet_keep(struct fleet_set *set, struct fleet_keep *k);

#endif
