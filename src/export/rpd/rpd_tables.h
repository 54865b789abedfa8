/* SPDX-License-Identifier: MIT */
/* rpd_tables.h - every table of a database and its columns: what makes them, merges them, describes them */
#ifndef RTL_EXPORT_RPD_TABLES_H
#define RTL_EXPORT_RPD_TABLES_H

#include <stddef.h>

struct rpd_column {
	const char *name, *type;
	/* What a merge does with it:
	 *	+  an id: moved		?  an id, or 0 or NULL for none: moved unless so
	 *	p  a pid of the row with the id in the first column; g a GPU id of it
	 *	0  carried over as it is */
	char move;
	const char *
		fallback; /* SQL where the input has no such column; "$empty": the id of a string ''; NULL: 0 for
			       * ids and '' for the rest */
	const char *note; /* for the documentation, or NULL */
};

struct rpd_table {
	const char *name;
	const struct rpd_column *columns; /* the first one is the key */
	size_t nr;
	enum {
		RPD_REQUIRED, /* merged; not there is a fault in a file of ours */
		RPD_OPTIONAL,
		RPD_APART, /* is not merged row by row */
	} carry;
	const char *note;
};

/* In the order in which they are made. Ends in a row whose name is NULL. */
extern const struct rpd_table rpd_tables[];

/* CREATE TABLE, of sqlite3_malloc(); NULL without memory. */
char *rpd_tables_create_sql(const struct rpd_table *table);
/* Their description, as lines of Markdown. */
void rpd_tables_document(void (*put)(const char *line));

#endif
