/* SPDX-License-Identifier: MIT */
/* csv_internal.h - what the files of the CSV writer share
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
	const char *ours, *rpd; /* its value, as SQL, from a database of ours and of RPD */
};

struct csv_table {
	const char *name; /* OUT.name.csv; "results": OUT.csv */
	const struct csv_column *columns;
	size_t nr;
	const char *ours, *rpd; /* the rows, as SQL with $ for the columns; NULL: has none */
	bool always;		/* written without rows, too */
	bool no_file;		/* for csv_print() alone */
};

/* Ends in a row whose name is NULL. They need cause.h's tables. */
extern const struct csv_table csv_tables[];

#endif
