/* SPDX-License-Identifier: MIT */
/* chrome_trace_internal.h - shared by the writers of Chrome JSON: the one for Perfetto, and kineto's
 *
 *	chrome_trace.c		Perfetto's dialect: header, order of events
 *	chrome_trace_gpu.c	operations: one process for each GPU, one thread for each lane of a queue
 *	chrome_trace_host.c	markers and calls: one process for each traced process, with its threads
 *	chrome_trace_event.c	events, and cached texts in them
 *	chrome_trace_args.c	recorded arguments as JSON
 *	kineto.c		kineto's dialect: header, one file for each process
 *	kineto_events.c		its events
 */
#ifndef RTL_EXPORT_CHROME_TRACE_INTERNAL_H
#define RTL_EXPORT_CHROME_TRACE_INTERNAL_H

#include "export/json.h"
#include "query/rows.h"
#include "store/map.h"

/* Process ids of GPU tracks: above any pid of a host, below 2^31. */
#define CHROME_TRACE_GPU_PID INT64_C(2000000000)
#define CHROME_TRACE_STREAM_PID INT64_C(2100000000)

/* A file being written. */
struct chrome_trace {
	struct query *q;
	struct json *json;
	int64_t base_ns; /* time 0 of `ts` */
	uint64_t nr_events;
};

/* ---- chrome_trace_event.c ---- */

/* A cache of JSON texts, one for each row of a small table, by the row's id. */
struct chrome_trace_texts {
	struct map index;
	struct chrome_trace_text {
		char *json;
		size_t size;
	} * texts;
	size_t nr, size; /* size: bytes of all */
};

/* Writes one value (or members) from a row, which may be NULL. */
typedef void (*chrome_trace_make_fn)(struct json *j, sqlite3_stmt *row);
/* Writes the text for key, which `make` makes from the statement's row for ?1 = key: as a value, or as members of
 * the open object (then it may be empty). 0 or -ENOMEM with the error in the job's result. */
int chrome_trace_put_text(struct chrome_trace *t, struct chrome_trace_texts *texts, int64_t key,
			  sqlite3_stmt *stmt, chrome_trace_make_fn make, bool members);
void chrome_trace_texts_fini(struct chrome_trace_texts *texts);
/* A chrome_trace_make_fn: column 0 as a string. */
void chrome_trace_make_string(struct json *j, sqlite3_stmt *row);

/* The beginning of an event: {"ph":"X","pid":..,"tid":..,"ts":..; the caller goes on with keys. */
void chrome_trace_event(struct chrome_trace *t, const char *phase, int64_t pid, int64_t tid,
			int64_t ns);
/* The same for a row of enum rows_call, with the member that its phase needs: a duration, a scope or an id. */
void chrome_trace_call(struct chrome_trace *t, const int64_t *row, const char *phase, int64_t ns,
		       int64_t dur);
/* The same for an operation: a slice, or an instant if it has no valid times. */
void chrome_trace_op(struct chrome_trace *t, const int64_t *op, int64_t pid, int64_t tid,
		     bool timed);
/* 0 or the output's error. */
int chrome_trace_event_end(struct chrome_trace *t);
/* A whole metadata event whose argument is a text or, with NULL, a number. */
void chrome_trace_meta(struct chrome_trace *t, const char *what, int64_t pid, int64_t tid,
		       const char *text, int64_t number);

#define CHROME_TRACE_TEXT(j, key, text) (JSON_KEY(j, key), json_text((j), (text)))
#define CHROME_TRACE_NUMBER(j, key, value) JSON_INT(j, key, value)

/* Slices of a thread nest, up to this depth; deeper ones become asynchronous events. */
#define CHROME_TRACE_DEPTH 512

struct chrome_trace_thread {
	int64_t pid, tid; /* of the last row */
	bool open;
	size_t depth;
	struct {
		int64_t end_ns;
		int64_t marker; /* of the range, or of the range around the call; 0: none */
	} slices[CHROME_TRACE_DEPTH];
};

/* Writes a row of enum rows_call with `put`: one event, or two (asynchronous) if it overlaps an open slice of the thread or
 * `apart` is set. 0 or -errno. */
typedef int (*chrome_trace_put_fn)(void *arg, const int64_t *row, const char *phase, int64_t ns,
				   int64_t dur);
int chrome_trace_put_call(struct chrome_trace *t, struct chrome_trace_thread *thread,
			  const int64_t *row, bool apart, chrome_trace_put_fn put, void *arg);
/* The range around the last slice, or its own; 0: none. */
int64_t chrome_trace_range(const struct chrome_trace_thread *thread);

/* ---- chrome_trace_args.c ---- */

/* Writes arguments in the form of store/args.h ("name=value, name=value") as a JSON object with a member for
 * each; returns false and writes nothing if the text has another form. */
bool chrome_trace_args_write(struct json *j, const char *text);
/* The JSON of arguments of at most CHROME_TRACE_SHORT bytes takes at most CHROME_TRACE_SPACE. */
#define CHROME_TRACE_SHORT 2048u
#define CHROME_TRACE_SPACE (8 * CHROME_TRACE_SHORT)
/* "args": the object, or the text unchanged. Nothing for "". */
void chrome_trace_args_put(struct json *j, const char *text);
/* "status", and "error" with the name of an error status. Members of the open object. */
void chrome_trace_args_status(struct json *j, const char *function, int64_t status);

/* ---- the parts of Perfetto's dialect ---- */

int chrome_trace_gpu_write(struct chrome_trace *t);
int chrome_trace_host_write(struct chrome_trace *t);

#endif
