/* SPDX-License-Identifier: MIT */
/* rpd.h - traces as an RPD-compatible SQLite database (docs/formats/database.md)
 *
 * A database is written under a temporary name beside OUT and renamed when it is whole, so that OUT
 * is either what it was before or complete. Inputs are never touched.
 */
#ifndef RTL_EXPORT_RPD_H
#define RTL_EXPORT_RPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpd_options {
	bool force; /* replace an existing OUT; otherwise -EEXIST */
	/* Bytes done of bytes in all, a few times a second at most. May be NULL. Non-zero return: stop
	 * with -ECANCELED, nothing is left behind. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	/* More key/value pairs for rtl_info with pid 0 (about the file, as "command_line"); NULL-ended
	 * pairs key, value, key, value, NULL. May be NULL. */
	const char *const *identity;
};

struct rpd_result {
	char error[1024];   /* what went wrong, for the user; "" on success */
	char warning[1024]; /* "" or what was left out: the last damage seen */
	uint64_t nr_processes, nr_dispatches, nr_internal, nr_copies, nr_barriers, nr_apis,
		nr_markers;
	uint64_t nr_ops;	    /* rows of rocpd_op */
	uint64_t nr_lost;	    /* sum over reasons of class LOSS */
	uint64_t nr_unknown;	    /* records of unknown type */
	uint64_t first_ns, last_ns; /* span of all times, 0 when there are none */
	bool complete;		    /* the verdict (store/verdict.h) */
	char verdict[256];	    /* its line */
};

/* Writes one database of the spools. `opt` may be NULL. 0 or -errno with res->error filled:
 * -EEXIST, -ENOSPC, -EIO, -EINVAL (an input is no spool), ... A damaged spool is no error: what can
 * be read is written, the rest counted (bad_chunk) and told in res->warning. No spools at all:
 * an empty, valid database. */
int rpd_write(const char *const *spools, size_t nr, const char *out, const struct rpd_options *opt,
	      struct rpd_result *res);

/* Merges databases (ours, RPD's) and spools, losslessly: every row of every process, ids and
 * references moved to where nothing collides. -EINVAL for what is neither. */
int rpd_merge(const char *const *inputs, size_t nr, const char *out, const struct rpd_options *opt,
	      struct rpd_result *res);

/* What a file is. */
enum rpd_kind {
	RPD_KIND_OTHER,	 /* none of these */
	RPD_KIND_SPOOL,	 /* a trace's disk or memory half */
	RPD_KIND_OURS,	 /* a database of ours */
	RPD_KIND_RPD,	 /* an RPD database without rtl_ tables */
	RPD_KIND_SQLITE, /* some other SQLite database */
};
/* 0 with *kind, or -errno with error (of size bytes) filled when the file can't be read. */
int rpd_identify(const char *path, enum rpd_kind *kind, char *error, size_t size);

#endif
