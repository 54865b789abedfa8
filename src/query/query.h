/* SPDX-License-Identifier: MIT */
/* query.h - a trace opened for reading: what exporters and commands share
 *
 * A trace is a database of ours or of RPD; a raw trace, or several inputs, become one in a temporary file
 * that has no name any more once it is open. Rows are read one by one: memory grows with names, threads and
 * queues, not with events. One thread. Errors are in the job's result.
 *
 *	job.h		 what a run is asked for and says of itself
 *	identify.h	 what kind of file an input is
 *	cause.h		 which call caused which operation, and on which stream
 *	rows.h		 operations and calls in the order in which they are written
 *	label.h		 names as people read them
 */
#ifndef RTL_QUERY_QUERY_H
#define RTL_QUERY_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/format.h"
#include "query/job.h"
#include "store/verdict.h"

#define QUERY_F_PLACED                                                                             \
	(1 << 16) /* beside enum rec_flags: the times are a place on the axis, not measured */
#define QUERY_UNTIMED (REC_F_INVERTED | REC_F_NO_TIME | REC_F_UNFINISHED | QUERY_F_PLACED)

/* Copies are drawn apart from kernels: their queue numbers begin here, one for each SDMA engine. */
#define QUERY_COPY_QUEUE 10000
#define QUERY_COPY_QUEUE_UNKNOWN 9999

struct query_process {
	int64_t id, id_first, id_last; /* ids of its rows */
	int64_t pid;		       /* unique in the file */
	int64_t rank, world_size;      /* -1: none */
	int64_t first_ns;	       /* its earliest event, 0 not known */
	int64_t realtime_ns;	       /* what turns its times into those of the wall clock */
	char *name;
};

struct query {
	sqlite3 *db;
	const char *path; /* of the (first) input, for messages */
	const struct job_options *opt;
	struct job_result *res;
	struct verdict verdict;
	bool ours;	/* the database has rtl_ tables */
	bool converted; /* it was made of raw traces, or of several inputs */
	bool has_ustring;
	/* from rows_prepare() on */
	bool has_graphs;  /* temp.query_graph tells which operations were replayed by a graph */
	int64_t streams;  /* the highest number of a stream in a process; 0: none is known */
	int64_t first_ns; /* the earliest event of any kind */
	struct query_process *processes;
	size_t nr_processes;
	const struct query_process *only; /* whose rows are read; NULL: all */
	uint64_t done, total;		  /* rows, for the progress bar */
};

/* Opens what `inputs` hold. `convert` makes one database of what is not one: rpd_merge(), which stands above
 * this module. 0, or -errno with res->error; `opt` (not NULL) and `res` stay in use until query_close(). */
int query_open(struct query **out, const char *const *inputs, size_t nr, job_fn convert,
	       const struct job_options *opt, struct job_result *res);
void query_close(struct query *q);
/* Opens a database for reading, as it is. SQLite's code. */
int query_open_file(sqlite3 **db, const char *path);

#define query_fail(q, error, ...) job_fail((q)->res, error, __VA_ARGS__)
int query_fail_memory(struct query *q);
/* The same with what SQLite says. */
int query_fail_sql(struct query *q);
/* SQL that does not compile is an error of the file. 0 or -errno with res->error. */
int query_prepare(struct query *q, sqlite3_stmt **stmt, const char *sql);
/* The same for each of a list; those whose SQL is NULL are left out. */
struct query_sql {
	sqlite3_stmt **stmt;
	const char *sql;
};
int query_prepare_all(struct query *q, const struct query_sql *list, size_t nr);
/* 1: a row; 0: the end; or -errno with res->error. Counts rows for the progress bar. */
int query_step(struct query *q, sqlite3_stmt *stmt);
/* Runs a statement that returns nothing. */
int query_run(struct query *q, const char *sql);
/* The first column of the first row; `otherwise` when there is none or the SQL does not compile. */
int64_t query_number(sqlite3 *db, const char *sql, int64_t otherwise);
/* Column i, "" for NULL and for no row (NULL). Valid until the next step. */
const char *query_text(sqlite3_stmt *row, int i);
/* The row of a statement for ?1 = id, NULL: there is none; and its first column as query_text(). */
sqlite3_stmt *query_row(sqlite3_stmt *stmt, int64_t id);
const char *query_look_up(sqlite3_stmt *stmt, int64_t id);
/* Whether there is a table or view of that name. */
bool query_has(sqlite3 *db, const char *table);

/* Fills processes; of RPD's files there are none. */
int query_read_processes(struct query *q);
/* The process that a row of this id belongs to, or NULL. */
const struct query_process *query_process_of(const struct query *q, int64_t id);
/* The number of a row in its process. */
int64_t query_local_id(const struct query *q, int64_t id);

/* SQL of a name, by ?1; and of a text that CALL_ARGS names. */
#define QUERY_STRING "SELECT string FROM rocpd_string WHERE id = ?1"
const char *query_args_sql(const struct query *q);

#endif
