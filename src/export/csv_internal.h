/* SPDX-License-Identifier: MIT */
/* csv_internal.h - what the files of the CSV writer share
 *
 *	csv.c		 files, lines, fields
 *	csv_tables.c	 the tables: their columns, and the rows as SQL
 */
#ifndef RTL_EXPORT_CSV_INTERNAL_H
#define RTL_EXPORT_CSV_INTERNAL_H

#include <stdbool.h>

struct csv_table {
	const char *name;	/* OUT.name.csv; "results": OUT.csv */
	const char *header;	/* the first line, without its end */
	const char *ours, *rpd; /* the rows, from a database of ours and of RPD; NULL: has none */
	int number;   /* the column that counts the rows, which the SQL has as NULL; -1: none */
	int first;    /* what it counts from */
	bool always;  /* written without rows, too */
	bool no_file; /* for csv_print() alone */
};

/* Ends in a row whose name is NULL. They need cause.h's tables. */
extern const struct csv_table csv_tables[];

#endif
