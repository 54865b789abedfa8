/* SPDX-License-Identifier: MIT */
/* db.c - queries of a database, for tests */
#include "support/db.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define NR_TEXTS 4

static sqlite3 *open_db(const char *path, int flags)
{
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
		FAIL("%s: %s", path, sqlite3_errmsg(db));
	return db;
}

const char *db_text(const char *path, const char *sql)
{
	static char *texts[NR_TEXTS];
	static unsigned int turn;
	sqlite3 *db = open_db(path, SQLITE_OPEN_READONLY);
	sqlite3_str *out = sqlite3_str_new(db);
	sqlite3_stmt *stmt = NULL;
	char **slot = &texts[turn++ % NR_TEXTS];
	int rc;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		FAIL("%s: %s: %s", path, sql, sqlite3_errmsg(db));
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(stmt); i++) {
			const char *text = (const char *)sqlite3_column_text(stmt, i);

			sqlite3_str_appendf(out, "%s%s", i ? "|" : "", text ? text : "NULL");
		}
		sqlite3_str_appendchar(out, 1, '\n');
	}
	if (rc != SQLITE_DONE)
		FAIL("%s: %s: %s", path, sql, sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	sqlite3_free(*slot);
	*slot = sqlite3_str_finish(out);
	sqlite3_close(db);
	return *slot ? *slot : "";
}

int64_t db_int(const char *path, const char *sql)
{
	return strtoll(db_text(path, sql), NULL, 10);
}

void db_exec(const char *path, const char *sql)
{
	sqlite3 *db = open_db(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	char *error = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		FAIL("%s: %s: %s", path, sql, error);
	sqlite3_close(db);
}

void db_make_rpd(const char *path, const char *sql)
{
	static const char schema[] =
		"CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"
		"CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INT, tid INT, start INT, \"end\" "
		"INT, apiName_id INT, args_id INT);"
		"CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INT, queueId INT, sequenceId INT, "
		"start INT, \"end\" INT, description_id INT, opType_id INT);"
		"CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id INT, op_id INT)";

	db_exec(path, schema);
	db_exec(path, sql);
}
