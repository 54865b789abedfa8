/* SPDX-License-Identifier: MIT */
/* db.h - a trace opened for a command: an unreadable file ends the process */
#ifndef RTL_CLI_DB_H
#define RTL_CLI_DB_H

#include "query/query.h"

/* Opens the trace, with q->second, or ends the process with a message. A raw trace is converted
 * first. */
struct query *db_open(const char *path);
/* The same for several traces of a job, which are merged in a temporary file first. `nr`: at least
 * 1. */
struct query *db_open_all(const char *const *paths, size_t nr);
/* A prepared statement; if the SQL does not compile, ends the process with a message that names the
 * file. */
sqlite3_stmt *db_query(struct query *q, const char *sql);
/* The next row: true, or false at the end; a damaged file ends the process. */
bool db_step(struct query *q, sqlite3_stmt *stmt);
/* Ends the process with the error in q->res, if `ret` is one. Returns it. */
int db_check(const struct query *q, int ret);
/* If `err` is an error, ends the process with the result's message, or with "stopped". */
void db_check_job(const struct job_result *res, int err);

#endif
