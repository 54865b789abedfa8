/* SPDX-License-Identifier: MIT */
/* db.h - queries of a database, for tests; an error in SQL ends the test */
#ifndef RTL_SUPPORT_DB_H
#define RTL_SUPPORT_DB_H

#include <stdint.h>

/* The first column of the first row. */
int64_t db_int(const char *path, const char *sql);
/* All rows: columns joined by '|', a newline after each row. Lives until the next call but
 * three. */
const char *db_text(const char *path, const char *sql);
/* Runs statements that change the file. */
void db_exec(const char *path, const char *sql);

/* Makes tables of the views of the compact layout (src/export/rpd/rpd_tables.h), so that any rows
 * can be put into them. Views that read the rows of calls and dispatches themselves are gone. */
void db_make_plain(const char *path);

/* A database as RPD's oldest tracers write it, without streams, processes and clocks; filled by
 * `statements`. */
void db_make_rpd(const char *path, const char *sql);

#endif
