/* SPDX-License-Identifier: MIT */
/* cause.h - finds the call that caused each operation, and its stream
 *
 * The results are temporary tables of one connection, which SQLite keeps in a file: memory does not grow with the
 * trace. Works on databases of rtl and of RPD.
 *	query_cause	 op_id (primary key), api_id: the row of the call, stream: its handle as text, NULL if
 *			 unknown
 *	query_stream	 block (id >> 32 of the operations of a process), name: the handle, number: from 1 in
 *			 the order of first operations
 */
#ifndef RTL_QUERY_CAUSE_H
#define RTL_QUERY_CAUSE_H

#include "query/query.h"

/* Makes the tables. streams: false leaves the streams out, which takes half the time; true sets q->streams.
 * 0 or -errno with q->res->error. */
int cause_make(struct query *q, bool streams);

#endif
