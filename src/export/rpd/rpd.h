/* SPDX-License-Identifier: MIT */
/* rpd.h - traces as an RPD-compatible SQLite database (docs/formats/database.md)
 *
 * A database is written under a temporary name beside OUT and renamed when it is whole, so that OUT
 * is either what it was before or complete. Inputs are never touched.
 */
#ifndef RTL_EXPORT_RPD_H
#define RTL_EXPORT_RPD_H

#include "query/job.h"

/* Writes one database of the spools. `opt` may be NULL. 0 or -errno with res->error filled:
 * -EEXIST, -ENOSPC, -EIO, -EINVAL (an input is no spool), ... A damaged spool is no error: what can
 * be read is written, the rest counted (bad_chunk) and named in res->warning. No spools at all:
 * an empty, valid database. */
int rpd_write(const char *const *spools, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res);

/* Merges databases (ours, RPD's) and spools, losslessly: every row of every process, ids and
 * references moved to where nothing collides. -EINVAL for what is neither. */
int rpd_merge(const char *const *inputs, size_t nr, const char *out, const struct job_options *opt,
	      struct job_result *res);

#endif
