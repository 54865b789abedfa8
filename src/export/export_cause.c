/* SPDX-License-Identifier: MIT */
/* export_cause.c - which call caused which operation, and on which stream it was */
#include "export/export_cause.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The handle in "..., stream=0x1234, ..." of a call's arguments. Copies and fills that take no stream go to
 * the null stream, or (_spt) to the thread's. */
static void stream_of(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const char *name = (const char *)sqlite3_value_text(values[1]);

	(void)nr;
	for (const char *at = text; at && (at = strstr(at, "stream=0x")); at++) {
		if (at == text || (at >= text + 2 && at[-2] == ',' && at[-1] == ' ')) {
			at += strlen("stream=");
			sqlite3_result_text(context, at, (int)strcspn(at, ", "), SQLITE_TRANSIENT);
			return;
		}
	}
	if (name && (begins(name, "hipMemcpy") || begins(name, "hipMemset")) &&
	    !strstr(name, "Async"))
		sqlite3_result_text(context, strstr(name, "_spt") ? "0x2" : "0x0", 3,
				    SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

const char *export_cause_stream_name(const char *handle)
{
	return strcmp(handle, "0x0") == 0 ? "null" :
	       strcmp(handle, "0x2") == 0 ? "per thread" : /* hipStreamPerThread */
					    handle;
}

bool export_cause_has(sqlite3 *db, const char *table)
{
	sqlite3_stmt *stmt = NULL;
	bool has = false;

	if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE name = ?1", -1, &stmt,
			       NULL) == SQLITE_OK) {
		sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
		has = sqlite3_step(stmt) == SQLITE_ROW;
	}
	sqlite3_finalize(stmt);
	return has;
}

static int64_t number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t value = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

static const char tables_sql[] =
	"PRAGMA temp_store=FILE;"
	"CREATE TEMP TABLE IF NOT EXISTS export_cause (op_id INTEGER PRIMARY KEY, api_id INTEGER NOT "
	"NULL, stream TEXT);"
	"CREATE TEMP TABLE IF NOT EXISTS export_stream (block INTEGER, name TEXT, number INTEGER, "
	"PRIMARY KEY (block, name)) WITHOUT ROWID;"
	"DELETE FROM export_cause; DELETE FROM export_stream";

/* rows of domain "rtl" stand for threads, they are no calls */
static const char calls_sql[] =
	"WHERE api_id NOT IN (SELECT A.id FROM rocpd_api A JOIN rocpd_string D ON D.id = A.domain_id WHERE "
	"D.string = 'rtl')";

/* RPD writes handles as %p does: no stream is "(nil)" */
#define STREAM_IN(table)                                                                            \
	"(SELECT CASE stream WHEN '' THEN NULL WHEN '(nil)' THEN '0x0' ELSE stream END FROM " table \
	" WHERE api_ptr_id = L.api_id), "

static const char *const stream_tables[][2] = {
	{ "rocpd_kernelapi", STREAM_IN("rocpd_kernelapi") },
	{ "rocpd_copyapi", STREAM_IN("rocpd_copyapi") },
	{ "rocpd_graphLaunchapi", STREAM_IN("rocpd_graphLaunchapi") },
};

#define STREAM_OF_CALL(strings)                                                                    \
	"(SELECT export_stream_of(U.string, N.string) FROM rocpd_api A JOIN rocpd_string N ON "    \
	"N.id = A.apiName_id LEFT JOIN " strings " U ON U.id = A.args_id WHERE A.id = L.api_id)"

/* Of several calls that an RPD file may join to one operation the first counts. */
static int fill(sqlite3 *db, bool streams)
{
	char stream[3072] = "NULL", tables[1024] = "", sql[4096];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(stream_tables) / sizeof(stream_tables[0]); i++)
		if (export_cause_has(db, stream_tables[i][0]))
			used += (size_t)snprintf(tables + used, sizeof(tables) - used, "%s",
						 stream_tables[i][1]);
	if (streams)
		snprintf(stream, sizeof(stream), "coalesce(%s%s, NULL)", tables,
			 export_cause_has(db, "rocpd_ustring") ? STREAM_OF_CALL("rocpd_ustring") :
								 STREAM_OF_CALL("rocpd_string"));
	snprintf(
		sql, sizeof(sql),
		"INSERT OR IGNORE INTO export_cause SELECT op_id, api_id, %s FROM rocpd_api_ops L %s",
		stream, export_cause_has(db, "rtl_op_kernel") ? calls_sql : "");
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static const char streams_sql[] =
	"INSERT INTO export_stream SELECT op_id >> 32, stream, row_number() OVER (PARTITION BY op_id >> "
	"32 ORDER BY min(op_id)) FROM export_cause WHERE stream IS NOT NULL GROUP BY op_id >> 32, stream";

int export_cause_make(sqlite3 *db, bool streams, struct export_cause *out)
{
	int rc = sqlite3_create_function(db, "export_stream_of", 2,
					 SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, stream_of, NULL,
					 NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, tables_sql, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = fill(db, streams);
	if (rc == SQLITE_OK && streams)
		rc = sqlite3_exec(db, streams_sql, NULL, NULL, NULL);
	out->nr_calls = number(db, "SELECT EXISTS (SELECT 1 FROM export_cause)");
	out->nr_streams = number(db, "SELECT max(number) FROM export_stream");
	return rc;
}
