/* SPDX-License-Identifier: MIT */
/* csv_internal.h - shared by the files of the CSV writer
 *
 *	csv.c		 files, lines, fields
 *	csv_tables.c	 the tables: their columns, and the rows as SQL
 */
#ifndef RTL_EXPORT_CSV_INTERNAL_H
#define RTL_EXPORT_CSV_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

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
};

/* Ends in a row whose name is NULL. The SQL reads the tables of cause.h. */
extern const struct csv_table csv_tables[];

#endif
