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

void db_make_plain(const char *path)
{
	db_exec(path,
		"CREATE TABLE l(id INTEGER PRIMARY KEY, api_id, op_id); INSERT INTO l SELECT * FROM rocpd_api_ops;"
		"CREATE TABLE k(api_ptr_id INTEGER PRIMARY KEY, stream, gridX, gridY, gridZ, workgroupX, workgroupY, "
		"workgroupZ, groupSegmentSize, privateSegmentSize, kernelName_id); INSERT INTO k SELECT * FROM "
		"rocpd_kernelapi;"
		"CREATE TABLE d(api_id INTEGER PRIMARY KEY, status, correlation_id, parent_id); INSERT INTO d SELECT "
		"* FROM rtl_api_data;"
		"CREATE TABLE o(op_id INTEGER PRIMARY KEY, thread_id, shape_id, flags, begin_ticks, end_ticks); "
		"INSERT INTO o SELECT * FROM rtl_op_kernel;"
		"DROP VIEW rocpd_api_ops; DROP VIEW rocpd_kernelapi; DROP VIEW rtl_api_data; DROP VIEW rtl_op_kernel;"
		"DROP VIEW kernel; DROP VIEW rtl_dispatch; DROP VIEW rtl_api; DROP VIEW rtl_stream; DROP TABLE rtl_launch;"
		"PRAGMA legacy_alter_table = 1;"
		"ALTER TABLE l RENAME TO rocpd_api_ops; ALTER TABLE k RENAME TO rocpd_kernelapi;"
		"ALTER TABLE d RENAME TO rtl_api_data; ALTER TABLE o RENAME TO rtl_op_kernel");
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
