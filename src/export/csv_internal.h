/* SPDX-License-Identifier: MIT */
/* csv_internal.h - shared by the files of the CSV writer
 *
 *	csv.c		 files, lines, fields
 *	csv_tables.c	 rocprof's tables: their columns, and the rows as SQL
 *	csv_columns.h	 columns that rocprof and rocprofv3 have in common
 *	rocprofv3/rocprofv3_csv.c  rocprofv3's tables
 */
#ifndef RTL_EXPORT_CSV_INTERNAL_H
#define RTL_EXPORT_CSV_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

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
};

/* rocprof's results.csv has a column for each counter of the trace, behind this one. */
#define CSV_BEFORE_COUNTERS "obj"

/* Ends in a row whose name is NULL. The SQL reads the tables of cause.h. */
extern const struct csv_table csv_tables[];

/* Writes the table's rows of q->only, to which ?1 and ?2 in the SQL are bound, to a file. 1: wrote it; 0: no rows, and none is
 * written; or -errno with q->res->error. */
int csv_write_table(struct query *q, const struct csv_table *t, const char *name);
/* A statement for those rows, whose columns are the table's; or -errno with q->res->error. */
int csv_prepare(struct query *q, const struct csv_table *t, sqlite3_stmt **row);
/* One line of Markdown: the table's columns. */
void csv_document_table(void (*put)(const char *line), const struct csv_table *t);

#endif
