/* SPDX-License-Identifier: MIT */
/* export_cause.h - which call caused which operation, and on which stream it was
 *
 * Made for one connection, as temporary tables, which SQLite keeps in a file: memory does not grow with the
 * trace. Works on databases of ours and of RPD.
 *	export_cause	 op_id (primary key), api_id: the row of the call, stream: its handle as text, NULL where
 *			 it is not known
 *	export_stream	 block (id >> 32 of the operations of a process), name: the handle, number: from 1 in
 *			 the order of first operations
 */
#ifndef RTL_EXPORT_EXPORT_CAUSE_H
#define RTL_EXPORT_EXPORT_CAUSE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct export_cause {
	int64_t nr_calls;   /* of those that caused something, 0 or 1: whether there are any */
	int64_t nr_streams; /* the highest number of a stream; 0: none is known */
};

/* streams: false leaves those out, which takes half the time. SQLITE_OK, or SQLite's code, with the message in
 * the connection. */
int export_cause_make(sqlite3 *db, bool streams, struct export_cause *out);

/* Whether there is a table or view of that name. */
bool export_cause_has(sqlite3 *db, const char *table);

/* "null", "per thread" or the handle as it is. */
const char *export_cause_stream_name(const char *handle);

#endif
