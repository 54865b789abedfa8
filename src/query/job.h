/* SPDX-License-Identifier: MIT */
/* job.h - options and results of a job: a run that reads traces and writes an output
 *
 * Plain structures of the caller. One thread.
 */
#ifndef RTL_QUERY_JOB_H
#define RTL_QUERY_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;
struct rowfile;

/* Who may read the output. Arguments of calls can be a program's data. */
enum job_access {
	/* its owner alone if it has arguments of calls, else as the umask has it */
	JOB_ACCESS_CONTENT,
	JOB_ACCESS_UMASK,
	JOB_ACCESS_OWNER,
};

struct job_options {
	bool force; /* replace an existing OUT; otherwise -EEXIST */
	enum job_access access;
	/* Called with the work done and its total, in bytes or rows, a few times a second at most.
	 * May be NULL. A non-zero return ends the job with -ECANCELED; it leaves no files. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	/* More pairs for rtl_info with pid 0, which describe the file (as "command_line"):
	 * key, value, key, value, NULL. May be NULL. */
	const char *const *identity;
	/* An unfinished database that rpd_grow() left: the job continues with it. May be NULL. */
	const char *unfinished;
	bool keeps_unfinished; /* it is only read: the job continues with a copy */
	/* Of rpd_grow(): how many bytes of a trace are converted at a time; 0: INDEX_PART. */
	uint64_t part_bytes;
	/* Options of the format, a structure of the format's own header. NULL: what it does
	 * without. */
	const void *format;
	/* Of a database that is made for one command: where the rows of operations and calls go
	 * (query/rowfile.h). NULL: into it. */
	struct rowfile *rows;
	bool twice;	    /* of query_open(): with a second connection */
	bool has_basenames; /* kernels have the bare names of their functions */
};

struct job_result {
	char error[1024];   /* message for the user; "" on success */
	char warning[1024]; /* the last damage or other part that was left out, or "" */
	uint64_t nr_processes, nr_dispatches, nr_internal, nr_copies, nr_barriers, nr_apis,
		nr_markers;
	uint64_t nr_files; /* files written, by a format of several */
	char where
		/* of rocprofv3's formats: DIR/NAME_*, of the first process that has files */
		[1024];
	uint64_t nr_where;	    /* processes that have files */
	uint64_t nr_ops;	    /* rows of rocpd_op, or events */
	uint64_t nr_gpus;	    /* GPUs with operations */
	uint64_t nr_lost;	    /* sum over reasons of class LOSS */
	uint64_t nr_unknown;	    /* records of unknown type */
	uint64_t first_ns, last_ns; /* span of all times, 0 without any */
	bool complete;		    /* the verdict (store/verdict.h) */
	char verdict[512];	    /* verdict.line */
};

/* Writes `out` from inputs: spools or databases. `opt` may be NULL. 0 or -errno with res->error
 * filled. */
typedef int (*job_fn)(const char *const *inputs, size_t nr, const char *out,
		      const struct job_options *opt, struct job_result *res);

/* Sets res->error unless it is set: the first error is the cause of later ones. Returns `error`. */
int job_fail(struct job_result *res, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void job_warn(struct job_result *res, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

bool job_is_private(const struct job_options *opt, bool has_args);

struct verdict;
void job_verdict(struct job_result *res, const struct verdict *verdict);

#endif
