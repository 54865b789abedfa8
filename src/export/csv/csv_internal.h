/* SPDX-License-Identifier: MIT */
/* csv_internal.h - shared by the files of rocprof's CSV writer
 *
 *	csv.c		 the files: their names, and which there are
 *	csv_tables.c	 the tables: their columns, and the rows as SQL
 */
#ifndef RTL_EXPORT_CSV_CSV_INTERNAL_H
#define RTL_EXPORT_CSV_CSV_INTERNAL_H

#include "export/csv_table.h"

/* Ends in a row whose name is NULL. The SQL reads the tables of cause.h. */
extern const struct csv_table csv_tables[];

/* Of results.csv, by the options of rocprof (csv_table.has_column, csv_table.is_plain). */
bool csv_has_column(const struct query *q, const char *name);
bool csv_is_plain(const struct query *q);

#endif
