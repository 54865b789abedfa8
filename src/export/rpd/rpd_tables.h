/* SPDX-License-Identifier: MIT */
/* rpd_tables.h - every table of a database and its columns: how to create, merge and document
 * them */
#ifndef RTL_EXPORT_RPD_TABLES_H
#define RTL_EXPORT_RPD_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* SQL about a row of rocpd_op in the compact layout (below): the id of its call, and whether it has
 * one */
#define RPD_COMPACT_API(op) "coalesce(" op ".rtl_api_id, " op ".correlation_id)"
#define RPD_COMPACT_LINKED(op) op ".rtl_api_id IS NOT 0"

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
	bool is_compact;  /* only in the compact layout */
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
	/* The rows of operations and calls have two layouts. In the plain one, of files that have
	 * rows of other programs or of earlier versions, they are in tables as RPD has them. In the
	 * compact one a row has what other tables would repeat its id for, and those are views. */
	enum {
		RPD_EITHER,
		RPD_PLAIN, /* a view in the other one */
		RPD_COMPACT,
	} layout;
	const char *view; /* of RPD_PLAIN: its rows in the compact layout, SQL */
};

/* In the order of creation. Ends in a row whose name is NULL. */
extern const struct rpd_table rpd_tables[];

/* The number of columns in that layout; 0: it is no table there. */
size_t rpd_tables_columns(const struct rpd_table *table, bool is_compact);
/* CREATE TABLE, or CREATE VIEW of a table that the layout does not have, with the triggers by which
 * RPD's tools remove its rows; to be released with sqlite3_free(). NULL: out of memory. */
char *rpd_tables_create_sql(const struct rpd_table *table, bool is_compact);
/* INSERT into rocpd_metadata: the columns with ids of rocpd_string, in the form in which RPD's
 * tools that give strings new ids look for them; to be released the same way. */
#define RPD_REFERENCES_TAG "references::rocpd_string.id"
char *rpd_tables_references_sql(bool is_compact);
/* CREATE VIRTUAL TABLE of a table whose rows are in a rowfile; the same. */
char *rpd_tables_virtual_sql(const struct rpd_table *table);
/* Documents all tables as lines of Markdown. */
void rpd_tables_document(void (*put)(const char *line));

#endif
