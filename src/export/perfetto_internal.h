/* SPDX-License-Identifier: MIT */
/* perfetto_internal.h - what the writers of Chrome JSON share: the one for Perfetto, and kineto's
 *
 *	perfetto.c	 Perfetto's dialect: header, order of things
 *	perfetto_gpu.c	 operations: one process for each GPU, one thread for each lane of a queue
 *	perfetto_host.c	 markers and calls: one process for each traced one, its threads
 *	perfetto_args.c	 recorded arguments as JSON
 *	perfetto_rows.c	 input: operations and calls in the order in which they are written
 *	perfetto_file.c	 input and output as files, processes, time base, texts
 *	kineto.c	 kineto's dialect: header, one file for each process
 *	kineto_events.c	 its events
 */
#ifndef RTL_EXPORT_PERFETTO_INTERNAL_H
#define RTL_EXPORT_PERFETTO_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/format.h"
#include "export/export.h"
#include "export/json.h"
#include "store/map.h"

/* Process ids of GPU tracks: above any pid of a host, below 2^31. */
#define PERFETTO_GPU_PID INT64_C(2000000000)
#define PERFETTO_STREAM_PID INT64_C(2100000000)

#define PERFETTO_PLACED (1 << 16) /* as in the table rtl_flag */
#define PERFETTO_UNTIMED (REC_F_INVERTED | REC_F_NO_TIME | REC_F_UNFINISHED | PERFETTO_PLACED)

struct perfetto_process {
	int64_t id, id_first, id_last; /* ids of its rows */
	int64_t pid;		       /* unique in the file */
	int64_t rank, world_size;      /* -1: none */
	int64_t first_ns;	       /* its earliest event, 0 not known */
	int64_t realtime_ns;	       /* what turns its times into those of the wall clock */
	char *name;
};

/* A JSON text that is made once for each row of a small table, found by the row's id. */
struct perfetto_texts {
	struct map index;
	struct perfetto_text {
		char *json;
		size_t size;
	} * texts;
	size_t nr, size; /* size: bytes of all */
};

struct perfetto {
	sqlite3 *db;
	const char *path; /* of the input, for messages */
	const struct rpd_options *opt;
	struct rpd_result *res;
	bool ours; /* the database has rtl_ tables */
	bool has_ustring;
	bool graphs;	  /* temp.perfetto_graph tells which operations were replayed by a graph */
	int64_t streams;  /* the highest number of a stream in a process; 0: none is known */
	int64_t first_ns; /* the earliest event of any kind */
	int64_t base_ns;  /* what `ts` counts from: the same, but in kineto's dialect */
	struct perfetto_process *processes;
	size_t nr_processes;
	const struct perfetto_process *only; /* whose rows are read; NULL: all */
	uint64_t done, total;
	uint64_t nr_events;
	struct json json;
};

/* ---- perfetto_file.c ---- */

/* Writes one file from an input that is open. 0 or -errno with res->error. */
typedef int (*perfetto_write_fn)(struct perfetto *p, const char *db_path, const char *out);

/* Contract: export_fn, with `write` for the dialect. */
int perfetto_convert(const char *const *inputs, size_t nr, const char *out,
		     const struct rpd_options *opt, struct rpd_result *res,
		     perfetto_write_fn write);
/* Opens `out` (under a temporary name), calls `events` with the JSON writer ready, gives it its name. */
int perfetto_output(struct perfetto *p, const char *out,
		    int (*events)(struct perfetto *p, const char *db_path), const char *db_path);

/* res->error, if it is still empty. Returns `error`. */
int perfetto_fail(struct perfetto *p, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with what SQLite says. */
int perfetto_fail_sql(struct perfetto *p);
/* SQL that does not compile is an error of the file. 0 or -errno with res->error. */
int perfetto_prepare(struct perfetto *p, sqlite3_stmt **stmt, const char *sql);
/* 1: a row; 0: the end; or -errno with res->error. Counts rows for the progress bar. */
int perfetto_step(struct perfetto *p, sqlite3_stmt *stmt);
/* Runs a statement that returns nothing. */
int perfetto_run(struct perfetto *p, const char *sql);
/* The first column of the first row. */
int64_t perfetto_number(struct perfetto *p, const char *sql, int64_t otherwise);
/* The process that a row of this id belongs to, or NULL. */
const struct perfetto_process *perfetto_process_of(const struct perfetto *p, int64_t id);

/* The text for key, made from the statement's row for ?1 = key by `make`, which writes one value (or
 * members) to a JSON writer. Valid until the next call. NULL: no memory, res->error is set. */
typedef void (*perfetto_make_fn)(struct json *j, sqlite3_stmt *row);
const struct perfetto_text *perfetto_text(struct perfetto *p, struct perfetto_texts *texts,
					  int64_t key, sqlite3_stmt *stmt, perfetto_make_fn make);
/* Writes it: as a value, or as members of the object that is open (then it may be empty). */
int perfetto_put_text(struct perfetto *p, struct perfetto_texts *texts, int64_t key,
		      sqlite3_stmt *stmt, perfetto_make_fn make, bool members);
void perfetto_texts_fini(struct perfetto_texts *texts);
/* A perfetto_make_fn: column 0 as a string. */
void perfetto_make_string(struct json *j, sqlite3_stmt *row);
/* Column 0 as the name of a call: members "cat" and "name". */
void perfetto_make_call(struct json *j, sqlite3_stmt *row);
/* Column i, "" for NULL and for no row. */
const char *perfetto_column_text(sqlite3_stmt *row, int i);

/* The beginning of an event: {"ph":"X","pid":..,"tid":..,"ts":..; the caller goes on with keys. */
void perfetto_event(struct perfetto *p, const char *phase, int64_t pid, int64_t tid, int64_t ns);
/* The same for a row of enum perfetto_call, with what its phase needs: a duration, a scope or an id. */
void perfetto_call(struct perfetto *p, const int64_t *row, const char *phase, int64_t ns,
		   int64_t dur);
void perfetto_event_end(struct perfetto *p);
/* A whole metadata event whose argument is a text or, with NULL, a number. */
void perfetto_meta(struct perfetto *p, const char *what, int64_t pid, int64_t tid, const char *text,
		   int64_t number);

#define PERFETTO_NUMBER(j, key, value) (JSON_KEY(j, key), json_int((j), (value)))

/* ---- perfetto_rows.c ---- */

/* What is known of an operation: numbers, 0 where there is none. */
enum perfetto_op {
	OP_ID,
	OP_GPU,
	OP_QUEUE, /* with PERFETTO_BY_STREAM the stream's number in its process */
	OP_SEQUENCE,
	OP_START,
	OP_END,
	OP_NAME, /* id in rocpd_string; of a kernel symbol with PERFETTO_RUNTIME */
	OP_TYPE,
	OP_MARKER,
	OP_CORRELATION,
	OP_SHAPE,
	OP_FLAGS,
	OP_COPY, /* 1: a copy or fill */
	OP_BYTES,
	OP_SRC,
	OP_DST,
	OP_CALL,   /* row of the call that caused it */
	OP_STREAM, /* number of its stream in its process, from 1 */
	OP_NR,
};

enum perfetto_order { PERFETTO_BY_QUEUE, PERFETTO_BY_STREAM, PERFETTO_RUNTIME, PERFETTO_BARRIERS };

/* A row of rocpd_api that is a marker or a call. */
enum perfetto_call {
	CALL_ID,
	CALL_PID,
	CALL_TID,
	CALL_START,
	CALL_END,
	CALL_NAME, /* ids of texts */
	CALL_ARGS,
	CALL_MARKER, /* 1: a marker, its message is CALL_ARGS */
	CALL_KIND,   /* enum rec_marker_kind, -1 not known */
	CALL_UNCLOSED,
	CALL_CORRELATION,
	CALL_STATUS,
	CALL_PARENT,
	CALL_NR,
};

/* The callback returns 0 or -errno, which ends it. */
typedef int (*perfetto_row_fn)(void *arg, const int64_t *row);

/* Finds out which call caused which operation, and the streams. Before any rows. */
int perfetto_rows_prepare(struct perfetto *p);
/* By GPU, queue (or stream), process and begin. */
int perfetto_rows_ops(struct perfetto *p, enum perfetto_order order, perfetto_row_fn each,
		      void *arg);
/* By process, thread and begin, the longest first. */
int perfetto_rows_calls(struct perfetto *p, perfetto_row_fn each, void *arg);
/* SQL of a stream's name: ?1 is its number << 32 | the number of its process' block. */
#define PERFETTO_STREAM_NAME                                                                       \
	"SELECT name FROM temp.export_stream WHERE number = ?1 >> 32 AND block = ?1 & 4294967295"
/* Of an operation. */
int64_t perfetto_rows_stream_key(const int64_t *op);
/* SQL of a text that CALL_ARGS names, by ?1. */
const char *perfetto_rows_args_sql(const struct perfetto *p);

/* ---- perfetto_args.c ---- */

/* Arguments as store/args.h writes them ("name=value, name=value") as one JSON object with a member for
 * each; false, and nothing is written, where the text has another form. */
bool perfetto_args_write(struct json *j, const char *text);
/* "status", and "error" with the name of what is not success. Members of the object that is open. */
void perfetto_args_status(struct json *j, const char *function, int64_t status);

int perfetto_gpu_write(struct perfetto *p);
int perfetto_host_write(struct perfetto *p);

#endif
