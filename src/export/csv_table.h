/* SPDX-License-Identifier: MIT */
/* csv_table.h - a table of a trace as a CSV file: its columns, and its rows as SQL
 *
 * Text is in quotes (RFC 4180) and UTF-8, numbers are plain. Columns that rocprof's and rocprofv3's
 * files have in common are in csv_columns.h. One thread.
 */
#ifndef RTL_EXPORT_CSV_TABLE_H
#define RTL_EXPORT_CSV_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "export/json.h"
#include "query/query.h"

struct csv_column {
	const char *name;
	const char *ours, *rpd; /* its value as SQL, for a database of rtl and of RPD */
};

struct csv_table {
	const char *name; /* OUT.name.csv; "results": OUT.csv */
	const struct csv_column *columns;
	size_t nr;
	const char *ours, *rpd; /* the rows as SQL, with $ for the columns; NULL: no such rows */
	bool always;		/* written even without rows */
	bool no_file;		/* only for csv_print() */
	uint32_t domains;	/* of rocprofv3: is written if one of them is */
	const char *
		/* each counter of the trace is a column behind this one; NULL: none is */
		before_counters;
	/* Whether the column is written, and whether the header has no quotes. NULL: all are, and
	 * it has. */
	bool (*has_column)(const struct query *q, const char *column);
	bool (*is_plain)(const struct query *q);
};

/* Writes the table's rows of q->only, to which ?1 and ?2 in the SQL are bound, to a file. 1: wrote
 * it; 0: no rows, and none is written; or -errno with q->res->error. */
int csv_table_write(struct query *q, const struct csv_table *t, const char *name);
/* A statement for those rows, whose columns are the table's; or -errno with q->res->error. */
int csv_table_prepare(struct query *q, const struct csv_table *t, sqlite3_stmt **row);
/* The table's rows as SQL; NULL: such a trace has none. */
const char *csv_table_rows(const struct query *q, const struct csv_table *t);
/* Writes at most `rows` rows (0: all) from the statement's current one on; `more` is the result of
 * the step to that one. 0 or -errno. */
int csv_table_put(struct json *j, struct query *q, const struct csv_table *t, sqlite3_stmt *row,
		  int more, uint64_t rows);
/* One line of Markdown: the table's columns. */
void csv_table_document(void (*put)(const char *line), const struct csv_table *t);

#endif
