/* SPDX-License-Identifier: MIT */
/* db.h - a database opened for reading: ours, RPD's, or a spool that is made into one on the way */
#ifndef RTL_CLI_DB_H
#define RTL_CLI_DB_H

#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "export/rpd/rpd.h"

struct db {
	sqlite3 *sql;
	const char *path;	  /* as the user gave it */
	enum rpd_kind kind;	  /* RPD_KIND_OURS or _RPD */
	bool spool;		  /* `path` is a raw trace; what is open was made of it */
	char temporary[PATH_MAX]; /* its name while it is made */
};

/* Opens it, or ends the process with words: the file can't be read, is no trace. A spool is
 * converted to a temporary database first. */
void db_open(struct db *db, const char *path);
void db_close(struct db *db);

/* Whether there is a table or view of that name. */
bool db_has(struct db *db, const char *name);
/* A prepared statement; SQL that does not compile ends the process, naming the file. */
sqlite3_stmt *db_query(struct db *db, const char *sql);
/* The next row: true, or false at the end; a damaged file ends the process. */
bool db_step(struct db *db, sqlite3_stmt *stmt);
/* A text column, "" for NULL; valid until the next step. */
const char *db_text(sqlite3_stmt *stmt, int column);
/* The first column of the first row; `otherwise` when there is none or the SQL does not compile. */
int64_t db_number(struct db *db, const char *sql, int64_t otherwise);

/* GPUs with an operation in the database at path; 0 when it can't be told. */
int db_count_gpus(const char *path);

#endif
