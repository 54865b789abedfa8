/* SPDX-License-Identifier: MIT */
/* rpd.h - traces as an RPD-compatible SQLite database (docs/formats/database.md)
 *
 * A database is written under a temporary name beside OUT and renamed when it is complete, so that OUT
 * is either unchanged or complete. Inputs are never changed.
 */
#ifndef RTL_EXPORT_RPD_H
#define RTL_EXPORT_RPD_H

#include "query/job.h"

/* Writes one database from the spools. `opt` may be NULL. 0 or -errno with res->error filled:
 * -EEXIST, -ENOSPC, -EIO, -EINVAL (an input is not a spool), ... A damaged spool is not an error: its readable
 * chunks are written, the others counted (bad_chunk) and described in res->warning. Without spools
 * the database is empty and valid. */
int rpd_write(const char *const *spools, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res);

/* Merges databases (rtl's, RPD's) and spools, losslessly: every row of every process, with ids and
 * references changed so that they don't collide. -EINVAL for other files. */
int rpd_merge(const char *const *inputs, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res);

#endif
