/* SPDX-License-Identifier: MIT */
/* cause.h - finds the call that caused each operation, and its stream
 *
 * The results are temporary tables of one connection, which SQLite keeps in a file: memory does not
 * grow with the trace. Works on databases of rtl and of RPD.
 *	query_cause	 op_id (primary key), api_id: the row of the call, stream: its handle as
 *			 text, NULL if unknown
 *	query_stream	 block (id >> 32 of the operations of a process), name: the handle, number:
 *			 from 1 in the order of first operations
 */
#ifndef RTL_QUERY_CAUSE_H
#define RTL_QUERY_CAUSE_H

#include "query/query.h"

struct rows_op;

/* Makes the tables. streams: false leaves the streams out, which takes half the time; true sets
 * q->streams. 0 or -errno with q->res->error. */
int cause_make(struct query *q, bool streams);

/* The same for a reader that takes operations by rows_ops() or rows_by_time() alone: sets
 * q->causes_ordered if the file has causes in the rows of operations, or those of its process in
 * the order of ids. Then the tables stay empty, and causes are read beside operations, which takes
 * a third of the time. Otherwise it makes the tables. 0 or -errno with q->res->error. */
int cause_prepare(struct query *q);

struct cause_reader;
/* After cause_prepare() set q->causes_ordered. */
int cause_open(struct query *q, struct cause_reader **out);
/* SQL: of a compact file, `call` and all behind it of an operation O, for cause_read(); and what
 * they are joined by. */
#define CAUSE_COLUMNS                                                                              \
	"CASE WHEN O.rtl_api_id IS NOT 0 AND (A.id IS NULL OR A.rtl_parent_id IS NOT NULL) THEN "  \
	"coalesce(O.rtl_api_id, O.correlation_id) END, A.rtl_launch_id, A.pid, A.tid, A.start, "   \
	"A.\"end\""
#define CAUSE_NR 6
#define CAUSE_JOIN "LEFT JOIN rocpd_api A ON A.id = coalesce(O.rtl_api_id, O.correlation_id) "
/* Sets `call` and all behind it by the cause of an operation, if it has one: of a compact file by
 * CAUSE_COLUMNS, which were read; of another one by ids of operations that never become less. Ids
 * of a process never become less. May run on another thread than the others; always with the same
 * connection. SQLITE_OK, or an error of SQLite. */
int cause_read(struct cause_reader *r, sqlite3 *db, struct rows_op *op);
/* Puts the streams that were found into query_stream, at least those of rows that were taken over
 * from cause_read()'s thread. HOT, where there is none. 0 or -errno with q->res->error. */
int cause_name_streams(struct cause_reader *r);
/* The thread of cause_read() has ended. NULL is ignored. */
void cause_close(struct cause_reader *r);

#endif
