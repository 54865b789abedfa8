/* SPDX-License-Identifier: MIT */
/* timeline.h - rows of a trace in the order of their begin, in one pass and bounded memory
 *
 * Rows of a process are nearly in that order in the file. A window of rows is put in order, the
 * processes are merged. Where a row comes later than the window reaches, SQLite sorts instead,
 * which takes longer and needs disk space.
 */
#ifndef RTL_QUERY_TIMELINE_H
#define RTL_QUERY_TIMELINE_H

#include "query/query.h"
#include "query/row.h"

#define TIMELINE_COLUMNS 22 /* at most */

/* row: of timeline_rows.size. Returns 0, or -errno, which ends the reading. */
typedef int (*timeline_fn)(void *arg, const void *row);

/* What most readers want of an operation and of a call. A reader that wants more has a struct that
 * begins with one of them. */
struct timeline_op {
	int64_t begin, end, id, gpu, name, type;
	int64_t marker; /* RPD has none: 0 */
};
ROW_CHECK(struct timeline_op, 7, marker);
#define TIMELINE_OP_OF(marker)                                                                     \
	"O.start, O.\"end\", O.id, O.gpuId, O.description_id, O.opType_id, " marker
#define TIMELINE_OP TIMELINE_OP_OF("O.roctxId")
#define TIMELINE_OP_RPD TIMELINE_OP_OF("0")

struct timeline_call {
	int64_t begin, end, id, name;
};
ROW_CHECK(struct timeline_call, 4, name);
#define TIMELINE_CALL "start, \"end\", id, apiName_id"

/* TIMELINE_HERE: `each` may use q->db. */
/* TIMELINE_APART: another thread reads the file meanwhile, so that `each` may not use q->db. */
/* TIMELINE_TWO: the same, and if there is q->second, two threads do: `from` may have no temporary
 * tables or views, and its ids are those of a column `id`. */
/* TIMELINE_LOOSE: a row that the window does not reach is passed on when it is read, out of order;
 * `reset` is not needed. If there is q->second, another thread reads by it: `from` may have no
 * temporary tables. */
enum timeline_how { TIMELINE_HERE, TIMELINE_APART, TIMELINE_TWO, TIMELINE_LOOSE };

/* SELECT columns FROM from: `from` has no ORDER BY, and "BETWEEN ?1 AND ?2" for ids; the first
 * column is the begin. */
struct timeline_rows {
	const char *columns, *from;
	size_t size; /* bytes of a row (row.h), of which each column sets a member */
	/* Changes columns behind the first, as soon as the row is read: mostly in the order of
	 * `from`. 0, or -errno, which ends the reading. May be NULL. */
	int (*complete)(void *arg, void *row);
	/* Sets the members behind those that the query sets. It may use only `db`, by
	 * which the rows are read on this thread. SQLITE_OK, or an error of SQLite. May be NULL. */
	int (*extend)(void *arg, sqlite3 *db, void *row);
	/* The column of ids, as "O.id", by which `from` reads in order: without it rows of several
	 * processes take longer. */
	const char *id;
	/* The column of begins, as "O.start": rows of processes whose clocks differ are merged by
	 * the wall clock. NULL: by their begin. Needs `id`. */
	const char *by_wall;
	/* The table of which `from` is all rows with these ids, and `columns` are columns: where
	 * two threads read, they take them from its pages (leaves.h). NULL: SQL reads them. */
	const char *table;
};

/* Reads the rows. `reset` is called when the rows begin again, after a part of them was passed. 0
 * or -errno with q->res->error. */
int timeline_read(struct query *q, const struct timeline_rows *rows, enum timeline_how how,
		  timeline_fn each, void (*reset)(void *arg), void *arg);

#endif
