/* SPDX-License-Identifier: MIT */
/* rpd_tables.h - every table of a database and its columns: how to create, merge and document
 * them */
#ifndef RTL_EXPORT_RPD_TABLES_H
#define RTL_EXPORT_RPD_TABLES_H

#include <stddef.h>

struct rpd_column {
	const char *name, *type;
	/* What a merge does with the column:
	 *	+  an id: adds the input's base		?  the same, but keeps 0 and NULL
	 *	p  a pid, g a GPU id of the process of the row's id: adds the process' offset
	 *	0  copies it */
	char move;
	const char *
		/* SQL for an input without such a column; "$empty": the id of a string ''; NULL: 0
		 * for ids and '' for others */
		fallback;
	const char *note; /* for the documentation, or NULL */
};

struct rpd_table {
	const char *name;
	const struct rpd_column *columns; /* the first one is the key */
	size_t nr;
	enum {
		RPD_REQUIRED, /* merged; a database of rtl without it is damaged */
		RPD_OPTIONAL,
		RPD_APART, /* not merged row by row */
	} carry;
	const char *note;
};

/* In the order of creation. Ends in a row whose name is NULL. */
extern const struct rpd_table rpd_tables[];

/* CREATE TABLE, to be released with sqlite3_free(); NULL: out of memory. */
char *rpd_tables_create_sql(const struct rpd_table *table);
/* The same for a table whose rows are in a rowfile. */
char *rpd_tables_virtual_sql(const struct rpd_table *table);
/* Documents all tables as lines of Markdown. */
void rpd_tables_document(void (*put)(const char *line));

#endif
