/* SPDX-License-Identifier: MIT */
/* rows.h - operations and calls of a trace, in the order in which exporters write them
 *
 * A row is an array of numbers; texts are looked up by their ids later, so that sorting moves
 * numbers only.
 */
#ifndef RTL_QUERY_ROWS_H
#define RTL_QUERY_ROWS_H

#include "query/query.h"
#include "query/transfer.h"

/* Columns of an operation; 0 where unknown. */
enum rows_op {
	OP_ID,
	OP_GPU,
	OP_QUEUE, /* with ROWS_BY_STREAM: the number of the stream in its process */
	OP_SEQUENCE,
	OP_START,
	OP_END,
	OP_NAME, /* id in rocpd_string; of a kernel symbol with ROWS_RUNTIME */
	OP_TYPE,
	OP_MARKER,
	OP_CORRELATION,
	OP_SHAPE,
	OP_FLAGS,
	OP_COPY, /* 1: a copy or fill; with a shape: by a kernel of HIP, of OP_NAME */
	OP_BYTES,
	OP_SRC,
	OP_DST,
	OP_CALL,   /* row of the call that caused it */
	OP_STREAM, /* number of its stream in its process, from 1 */
	/* of its call, if rows_by_time() knows them; OP_CALL_END is 0 otherwise */
	OP_CALL_PID,
	OP_CALL_TID,
	OP_CALL_START,
	OP_CALL_END,
	OP_NR,
};

enum rows_order { ROWS_BY_QUEUE, ROWS_BY_STREAM, ROWS_RUNTIME, ROWS_BARRIERS };

/* A row of rocpd_api that is a marker or a call. */
enum rows_call {
	CALL_ID,
	CALL_PID,
	CALL_TID,
	CALL_START,
	CALL_END,
	CALL_NAME, /* ids of texts */
	CALL_ARGS,
	CALL_MARKER, /* 1: a marker, its message is CALL_ARGS */
	CALL_KIND,   /* enum rec_marker_kind, -1: unknown */
	CALL_UNCLOSED,
	CALL_CORRELATION,
	CALL_STATUS,
	CALL_PARENT,
	CALL_NR,
};

/* Returns 0, or -errno, which ends the reading. */
typedef int (*rows_fn)(void *arg, const int64_t *row);

/* Call it before reading rows, once or again: finds processes, the earliest time, the call of each
 * operation, streams and graphs. */
int rows_prepare(struct query *q);
/* Reads operations sorted by GPU, queue (or stream), process and begin. */
int rows_ops(struct query *q, enum rows_order order, rows_fn each, void *arg);
/* Reads operations, those of ROWS_BY_QUEUE, nearly by their begin, which takes no sorting: a few
 * may come late. Operations of the runtime and barriers are not among them. */
int rows_by_time(struct query *q, rows_fn each, void *arg);
/* Reads calls and markers sorted by process, thread and begin, the longest first. */
int rows_calls(struct query *q, rows_fn each, void *arg);

/* SQL for a stream's name; ?1: rows_stream_key() of an operation on it. */
#define ROWS_STREAM_NAME                                                                           \
	"SELECT name FROM temp.query_stream WHERE number = ?1 >> 32 AND block = ?1 & 4294967295"
int64_t rows_stream_key(const int64_t *op);
/* SQL for the name of a row's OP_TYPE, ?1. */
#define ROWS_TYPE_NAME TRANSFER_TYPE_NAME
/* Whether a row is of a kind that is written (query.left_out); `domain` is label_domain() of a
 * call's name. */
bool rows_has_op(const struct query *q, const int64_t *op);
bool rows_has_call(const struct query *q, const int64_t *call, const char *domain);
/* Whether the times were measured: neither missing nor only a position on the time axis. */
bool rows_timed(int64_t begin, int64_t end, int64_t flags);

#endif
