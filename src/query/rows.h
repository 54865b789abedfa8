/* SPDX-License-Identifier: MIT */
/* rows.h - operations and calls of a trace, in the order in which exporters write them
 *
 * Texts are looked up by their ids later, so that sorting moves numbers only.
 */
#ifndef RTL_QUERY_ROWS_H
#define RTL_QUERY_ROWS_H

#include "query/query.h"
#include "query/row.h"
#include "query/transfer.h"

/* An operation; 0 where unknown. */
struct rows_op {
	int64_t start, id, gpu;
	int64_t queue; /* with ROWS_BY_STREAM: the number of the stream in its process */
	int64_t sequence, end;
	int64_t name; /* id in rocpd_string; of a kernel symbol with ROWS_RUNTIME */
	int64_t type, marker, correlation, shape, flags;
	int64_t copy; /* 1: a copy or fill; with a shape: by a kernel of HIP, of `name` */
	int64_t bytes, src, dst;
	int64_t call;	/* row of the call that caused it */
	int64_t stream; /* number of its stream in its process, from 1 */
	/* of its call, if rows_by_time() knows them; call_end is 0 otherwise */
	int64_t call_pid, call_tid, call_start, call_end;
};
ROW_CHECK(struct rows_op, 22, call_end);

enum rows_order { ROWS_BY_QUEUE, ROWS_BY_STREAM, ROWS_RUNTIME, ROWS_BARRIERS };

/* A row of rocpd_api that is a marker or a call. */
struct rows_call {
	int64_t id, pid, tid, start, end;
	int64_t name, args; /* ids of texts */
	int64_t marker;	    /* 1: a marker, its message is `args` */
	int64_t kind;	    /* enum rec_marker_kind, -1: unknown */
	int64_t unclosed, correlation, status, parent;
};
ROW_CHECK(struct rows_call, 13, parent);

/* Return 0, or -errno, which ends the reading. */
typedef int (*rows_op_fn)(void *arg, const struct rows_op *op);
typedef int (*rows_call_fn)(void *arg, const struct rows_call *call);

/* Call it before reading rows, once or again: finds processes, the earliest time, the call of each
 * operation, streams and graphs. */
int rows_prepare(struct query *q);
/* Reads operations sorted by GPU, queue (or stream), process and begin. */
int rows_ops(struct query *q, enum rows_order order, rows_op_fn each, void *arg);
/* Reads operations, those of ROWS_BY_QUEUE, nearly by their begin, which takes no sorting: a few
 * may come late. Operations of the runtime and barriers are not among them. */
int rows_by_time(struct query *q, rows_op_fn each, void *arg);
/* Reads calls and markers sorted by process, thread and begin, the longest first. */
int rows_calls(struct query *q, rows_call_fn each, void *arg);

/* SQL for a stream's name; ?1: rows_stream_key() of an operation on it. */
#define ROWS_STREAM_NAME                                                                           \
	"SELECT name FROM temp.query_stream WHERE number = ?1 >> 32 AND block = ?1 & 4294967295"
int64_t rows_stream_key(const struct rows_op *op);
/* SQL for the name of an operation's type, ?1. */
#define ROWS_TYPE_NAME TRANSFER_TYPE_NAME
/* Whether a row is of a kind that is written (query.left_out); `domain` is label_domain() of a
 * call's name. */
bool rows_has_op(const struct query *q, const struct rows_op *op);
bool rows_has_call(const struct query *q, const struct rows_call *call, const char *domain);
/* Whether the times were measured: neither missing nor only a position on the time axis. */
bool rows_timed(int64_t begin, int64_t end, int64_t flags);

#endif
