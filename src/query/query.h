/* SPDX-License-Identifier: MIT */
/* query.h - a trace opened for reading by exporters and commands
 *
 * A trace is a database of rtl or of RPD; a raw trace, or several inputs, are first converted to
 * one in a temporary file, which is unlinked as soon as it is open. Rows are read one by one:
 * memory grows with names, threads and queues, not with events. One thread. Errors are in the job's
 * result.
 *
 *	job.h		 options and results of a job
 *	identify.h	 what kind of file an input is
 *	cause.h		 the call that caused each operation, and its stream
 *	rows.h		 operations and calls in the order of writing
 *	timeline.h	 rows by their begin, in bounded memory
 *	slice.h		 a part of a trace
 *	transfer.h	 copies and fills by kernels of HIP
 *	label.h		 short, readable names
 *	apart.h		 labels that tell kernels apart
 *	near.h		 names that are like a text, for messages
 */
#ifndef RTL_QUERY_QUERY_H
#define RTL_QUERY_QUERY_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/job.h"
#include "spool/format.h"
#include "store/verdict.h"

#define QUERY_F_PLACED                                                                             \
	(1                                                                                         \
	 << 16) /* beside enum rec_flags: the times are not measured, but a position on the time axis */
#define QUERY_UNTIMED (REC_F_INVERTED | REC_F_NO_TIME | REC_F_UNFINISHED | QUERY_F_PLACED)

/* Copies have tracks of their own: their queue numbers begin here, one for each SDMA engine. */
#define QUERY_COPY_QUEUE 10000
#define QUERY_COPY_QUEUE_UNKNOWN 9999

/* Kinds of rows; a call of another library is of none. */
enum query_kind {
	QUERY_KERNEL = 1 << 0,
	QUERY_COPY = 1 << 1,
	QUERY_MARKER = 1 << 2,
	QUERY_HIP = 1 << 3,
	QUERY_HSA = 1 << 4,
	QUERY_SCRATCH = 1 << 5,
};

struct query_process {
	int64_t id, id_first, id_last; /* ids of its rows */
	int64_t pid;		       /* unique in the file */
	int64_t rank, world_size;      /* -1: none */
	int64_t first_ns;	       /* its earliest event, 0: unknown */
	int64_t realtime_ns;	       /* wall clock time = its time + this */
	char *name;
	char *host, *boot_id;	/* "": unknown */
	int64_t time_offset_ns; /* of its time namespace: its time = that of the boot + this */
	/* the same for processes whose times can be compared: those of a boot and a time namespace;
	 * from 0, by process */
	size_t clock;
	int64_t wall_ns; /* realtime_ns of the first process of its clock */
};

struct query {
	sqlite3 *db;
	const char *path; /* of the (first) input, for messages */
	const struct job_options *opt;
	struct job_result *res;
	sqlite3 *
		/* with job_options.twice: a connection to the same file, for another thread */
		second;
	struct verdict verdict;
	struct rowfile *rows; /* beside the database; NULL: none */
	bool ours;	      /* the database has rtl_ tables */
	bool is_compact;      /* rows of calls have rtl_launch_id: no table repeats their ids */
	bool converted;	      /* from raw traces, or from several inputs */
	bool has_ustring;
	int8_t has_args; /* of query_has_args(): 1, -1; 0: not known yet */
	/* set by rows_prepare() */
	struct transfers
		*transfers; /* kernels with which HIP copies or fills; NULL: there are none */
	bool is_prepared;   /* by rows_prepare(); cause_make() ends it */
	bool has_graphs;    /* temp.query_graph lists the operations of graph launches */
	int64_t streams;    /* the highest number of a stream in a process; 0: no stream is known */
	int64_t first_ns;   /* the earliest event of any kind */
	struct query_process *processes;
	size_t nr_processes;
	/* query_stream has the number of a stream + 1: 0 is the default stream, as in rocprofv3 */
	bool streams_from_0;
	/* counters are named after agents, as by rocprofv3: temp.query_agent (id: rtl_agent, block:
	 * id >> 32 of the process's operations, gpu_id, name: "Agent [1]", type: "GPU"); what
	 * calls allocate is in temp.query_allocated (api_id, start, end, agent_id, bytes: negative
	 * where they are released) */
	bool names_agents;
	bool as_dispatched; /* the format lists each dispatch as such, those of HIP's copies, too */
	uint32_t left_out;  /* enum query_kind: writers of viewers' formats leave these rows out */
	const struct query_process *only; /* read the rows of this process; NULL: of all */
	uint64_t done, total;		  /* rows, for the progress bar */
	/* before rows_prepare(): causes are those of rows_by_time() and rows_ops(), and no
	 * statement reads temp.query_cause */
	bool reads_rows;
	/* before rows_prepare(): first_ns is not needed; finding it reads all operations */
	bool no_origin;
	bool causes_ordered;	 /* cause_read() finds them; temp.query_cause is empty */
	struct query_scan *scan; /* of query_scan() */
	bool has_scan;		 /* SQLite knows its function */
	/* of blocks.h: which one reads by db and by second, and whether SQLite knows its function,
	 * which it takes back only while no statement is at work */
	struct blocks_reader *reading[2];
	bool has_blocks[2];
};

/* Opens the trace in `inputs`. `convert` converts raw traces and several inputs to one database: it
 * is rpd_merge(), passed as a function because this module may not call the export module. 0, or
 * -errno with res->error; `opt` (not NULL) and `res` stay in use until query_close(). */
int query_open(struct query **out, const char *const *inputs, size_t nr, job_fn convert,
	       const struct job_options *opt, struct job_result *res);
void query_close(struct query *q);
/* Opens a database for reading. Returns SQLite's code. */
int query_open_file(sqlite3 **db, const char *path);

#define query_fail(q, error, ...) job_fail((q)->res, error, __VA_ARGS__)
int query_fail_memory(struct query *q);
/* The same with SQLite's message; and with that of another connection. */
int query_fail_sql(struct query *q);
int query_fail_db(struct query *q, sqlite3 *db);
/* Prepares a statement; if it does not compile, the file is faulty. 0 or -errno with res->error. */
int query_prepare(struct query *q, sqlite3_stmt **stmt, const char *sql);
/* The same for each statement of a list whose SQL is not NULL. */
struct query_sql {
	sqlite3_stmt **stmt;
	const char *sql;
};
int query_prepare_all(struct query *q, const struct query_sql *list, size_t nr);
/* 1: a row; 0: the end; or -errno with res->error. Counts rows for the progress bar. */
int query_step(struct query *q, sqlite3_stmt *stmt);
/* Reads the rows of SELECT columns FROM from, without leaving SQLite's loop, which takes a third of
 * the time of query_step(). The range of query_bind_range() is ?1 and ?2. `take` returns 0, or
 * -errno, which ends the reading; it may not call query_scan(). */
int query_scan(struct query *q, const char *columns, const char *from,
	       int (*take)(void *arg, sqlite3_value **columns), void *arg);
/* Counts a row for the progress bar. 0, or -ECANCELED with res->error. */
int query_progress(struct query *q);
/* Runs a statement that returns nothing. */
int query_run(struct query *q, const char *sql);
/* The first column of the first row; `otherwise` if there is no row or the SQL does not compile. */
int64_t query_number(sqlite3 *db, const char *sql, int64_t otherwise);
/* Text of column i; "" if it is NULL or `row` is NULL. Valid until the next step. */
const char *query_text(sqlite3_stmt *row, int i);
/* The row of a statement for ?1 = id, NULL if there is none; and the text of its first column. */
sqlite3_stmt *query_row(sqlite3_stmt *stmt, int64_t id);
const char *query_look_up(sqlite3_stmt *stmt, int64_t id);
/* Whether a table or view of that name exists. */
bool query_has(sqlite3 *db, const char *table);
/* Whether the table exists and has that column. */
bool query_has_column(sqlite3 *db, const char *table, const char *column);

/* SQL: whether a database of rtl has arguments of calls; those of markers are their texts. */
#define QUERY_HAS_ARGS_OURS                                                                        \
	"SELECT EXISTS(SELECT 1 FROM rtl_api WHERE args <> '' AND name <> 'UserMarker')"
bool query_has_args(struct query *q);

/* Fills q->processes, when it is first called; databases of RPD have none. */
int query_read_processes(struct query *q);
/* Traces that do not name their boot have the clock of their host. */
bool query_has_same_clock(const struct query_process *a, const struct query_process *b);
/* The process that a row of this id belongs to, or NULL. */
const struct query_process *query_process_of(const struct query *q, int64_t id);
/* Whether the process has operations, calls or markers. */
bool query_has_events(const struct query *q, const struct query_process *process);
/* Binds ?1 and ?2 to the first and the last id of the rows to read: those of q->only, or all. */
void query_bind_range(const struct query *q, sqlite3_stmt *stmt);
/* The id of a row relative to its process. */
int64_t query_local_id(const struct query *q, int64_t id);

/* SQL for the name with id ?1; and for the text with an id as in rows_call.args. */
#define QUERY_STRING "SELECT string FROM rocpd_string WHERE id = ?1"
const char *query_args_sql(const struct query *q);

/* Adds the ids of a text in rocpd_string to `ids`. 0 or -errno with res->error. */
struct map;
int query_ids(struct query *q, struct map *ids, const char *text);

/* The texts with ids as in rows_call.args, of which many are a little above the id before. */
struct query_texts {
	sqlite3_stmt *stmt;
	bool open; /* it has a row, with this id */
	int64_t id;
};
int query_texts_begin(struct query *q, struct query_texts *texts);
/* The same for any statement "SELECT id, ... WHERE id >= ?1 ORDER BY id". NULL: there is no row
 * with this id. */
sqlite3_stmt *query_next_row(struct query_texts *rows, int64_t id);
/* "" if there is none. Valid until the next one. */
const char *query_texts_get(struct query_texts *texts, int64_t id);
void query_texts_end(struct query_texts *texts);

#endif
