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

/* The same for a reader that takes operations in the order of their ids, as rows_by_time() does:
 * sets q->causes_ordered if the causes of a process are in that order in the file. Then the tables
 * stay empty, and causes are read beside operations, which takes a third of the time. Otherwise it
 * makes the tables. 0 or -errno with q->res->error. */
int cause_prepare(struct query *q);

struct cause_reader;
/* After cause_prepare() set q->causes_ordered. */
int cause_open(struct query *q, struct cause_reader **out);
/* Sets `call` and all behind it by the cause of an operation, if it has one; ids of operations
 * never become less. May run on another thread than the others; always with the
 * same connection. SQLITE_OK, or an error of SQLite. */
int cause_read(struct cause_reader *r, sqlite3 *db, struct rows_op *op);
/* Puts the stream of an operation, and those that were found before it, into query_stream. The row
 * has been taken over from cause_read()'s thread. 0 or -errno with q->res->error. */
int cause_name_stream(struct cause_reader *r, const struct rows_op *op);
/* The thread of cause_read() has ended. NULL is ignored. */
void cause_close(struct cause_reader *r);

#endif
