/* SPDX-License-Identifier: MIT */
/* rpd.h - traces as an RPD-compatible SQLite database (docs/formats/database.md)
 *
 * A database is written under a temporary name beside OUT and renamed when it is complete, so that
 * OUT is either unchanged or complete. Inputs are never changed.
 */
#ifndef RTL_EXPORT_RPD_H
#define RTL_EXPORT_RPD_H

#include "query/job.h"

/* Writes one database from the spools. `opt` may be NULL. 0 or -errno with res->error filled:
 * -EEXIST, -ENOSPC, -EIO, -EINVAL (an input is not a spool), ... A damaged spool is not an error:
 * its readable chunks are written, the others counted (bad_chunk) and described in res->warning.
 * Without spools the database is empty and valid. */
int rpd_write(const char *const *spools, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res);

/* Merges databases (rtl's, RPD's) and spools, losslessly: every row of every process, with ids and
 * references changed so that they don't collide. -EINVAL for other files. */
int rpd_merge(const char *const *inputs, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res);

/* A database that grows with its traces. It has a temporary name, and what a later process needs to
 * continue with it (job_options.unfinished), also after this one was killed: `rpd_write` of the
 * same traces does, and gives it its name.
 *
 * Threads: one at a time. */
struct rpd;
int rpd_grow(struct rpd **out, const char *path, const struct job_options *opt,
	     struct job_result *res);
const char *rpd_grow_file(const struct rpd *r);
/* Writes what was added to the spool since the last call. After an error the job can only be
 * ended. */
int rpd_grow_add(struct rpd *r, const char *spool);
/* From here on the rows are in the file. */
int rpd_grow_commit(struct rpd *r);
/* What of the spool's disk half has rows. */
uint64_t rpd_grow_offset(const struct rpd *r, const char *spool);
/* Leaves the file as it was at the last rpd_grow_commit(). */
void rpd_grow_end(struct rpd *r);
/* The number of this file among those of the trace, from 1. */
uint32_t rpd_grow_part(const struct rpd *r);

/* Begins the next file of the trace with what follows from here on (rpd_split.c). It is committed;
 * this one has all its rows, and is to be finished, or ended: then it continues as if there were no
 * next one. `opt` and `res` are those of the next. */
int rpd_grow_split(struct rpd *r, struct rpd **next, const struct job_options *opt,
		   struct job_result *res);
/* After rpd_grow_split(): completes the file, gives it the name `path`, and frees the job, also
 * after an error. */
int rpd_grow_finish(struct rpd *r, const char *path);
/* Gives a copy of the file at `path` the name `name`, if it has all its rows; -EAGAIN: it can be
 * continued. -EINVAL: it is of no input. 0, or -errno with res->error. */
int rpd_publish(const char *path, const char *const *inputs, size_t nr, const char *name,
		const struct job_options *opt, struct job_result *res);
/* Whether the file can be continued. */
bool rpd_grow_is_unfinished(const char *path);

#endif
