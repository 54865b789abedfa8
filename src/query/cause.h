/* SPDX-License-Identifier: MIT */
/* cause.h - which call caused which operation, and on which stream it was
 *
 * Made for one connection, as temporary tables, which SQLite keeps in a file: memory does not grow with the
 * trace. Works on databases of ours and of RPD.
 *	query_cause	 op_id (primary key), api_id: the row of the call, stream: its handle as text, NULL where
 *			 it is not known
 *	query_stream	 block (id >> 32 of the operations of a process), name: the handle, number: from 1 in
 *			 the order of first operations
 */
#ifndef RTL_QUERY_CAUSE_H
#define RTL_QUERY_CAUSE_H

#include "query/query.h"

/* streams: false leaves those out, which takes half the time; true sets q->streams. 0 or -errno. */
int cause_make(struct query *q, bool streams);

#endif
