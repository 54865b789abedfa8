/* SPDX-License-Identifier: MIT */
/* cause.c - finds the call that caused each operation, and its stream */
#include "query/cause.h"

#include <stdio.h>
#include <string.h>

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* SQL function: the handle in "..., stream=0x1234, ..." of a call's arguments. Copies and fills without a stream
 * argument use the null stream, or (_spt) the per-thread stream. */
static void sql_stream_of(sqlite3_context *context, int nr, sqlite3_value **values)
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
	if (name && (begins_with(name, "hipMemcpy") || begins_with(name, "hipMemset")) &&
	    !strstr(name, "Async"))
		sqlite3_result_text(context, strstr(name, "_spt") ? "0x2" : "0x0", 3,
				    SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

static const char tables_sql[] =
	"PRAGMA temp_store=FILE;"
	"CREATE TEMP TABLE IF NOT EXISTS query_cause (op_id INTEGER PRIMARY KEY, api_id INTEGER NOT "
	"NULL, stream TEXT);"
	"CREATE TEMP TABLE IF NOT EXISTS query_stream (block INTEGER, name TEXT, number INTEGER, "
	"PRIMARY KEY (block, name)) WITHOUT ROWID;"
	"DELETE FROM query_cause; DELETE FROM query_stream";

/* rows of domain "rtl" stand for threads and are not calls */
static const char calls_sql[] =
	"WHERE api_id NOT IN (SELECT A.id FROM rocpd_api A JOIN rocpd_string D ON D.id = A.domain_id WHERE "
	"D.string = 'rtl')";

/* RPD writes handles with %p: the null stream is "(nil)" */
#define STREAM_IN(table)                                                                            \
	"(SELECT CASE stream WHEN '' THEN NULL WHEN '(nil)' THEN '0x0' ELSE stream END FROM " table \
	" WHERE api_ptr_id = L.api_id), "

static const char *const stream_tables[][2] = {
	{ "rocpd_kernelapi", STREAM_IN("rocpd_kernelapi") },
	{ "rocpd_copyapi", STREAM_IN("rocpd_copyapi") },
	{ "rocpd_graphLaunchapi", STREAM_IN("rocpd_graphLaunchapi") },
};

#define STREAM_OF_CALL(strings)                                                                    \
	"(SELECT query_stream_of(U.string, N.string) FROM rocpd_api A JOIN rocpd_string N ON "     \
	"N.id = A.apiName_id LEFT JOIN " strings " U ON U.id = A.args_id WHERE A.id = L.api_id)"

/* An RPD file may join several calls to one operation: takes the first. */
static int fill_causes(struct query *q, bool streams)
{
	char stream[3072] = "NULL", tables[1024] = "", sql[4096];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(stream_tables) / sizeof(stream_tables[0]); i++)
		if (query_has(q->db, stream_tables[i][0]))
			used += (size_t)snprintf(tables + used, sizeof(tables) - used, "%s",
						 stream_tables[i][1]);
	if (streams)
		snprintf(stream, sizeof(stream), "coalesce(%s%s, NULL)", tables,
			 q->has_ustring ? STREAM_OF_CALL("rocpd_ustring") :
					  STREAM_OF_CALL("rocpd_string"));
	snprintf(
		sql, sizeof(sql),
		"INSERT OR IGNORE INTO query_cause SELECT op_id, api_id, %s FROM rocpd_api_ops L %s",
		stream, q->ours ? calls_sql : "");
	return sqlite3_exec(q->db, sql, NULL, NULL, NULL);
}

static const char streams_sql[] =
	"INSERT INTO query_stream SELECT op_id >> 32, stream, row_number() OVER (PARTITION BY op_id >> "
	"32 ORDER BY min(op_id)) FROM query_cause WHERE stream IS NOT NULL GROUP BY op_id >> 32, stream";

int cause_make(struct query *q, bool streams)
{
	int rc = sqlite3_create_function(q->db, "query_stream_of", 2,
					 SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_stream_of,
					 NULL, NULL);

	q->is_prepared = false;
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(q->db, tables_sql, NULL, NULL, NULL);
	/* operations of a trace without calls are joined to rows of threads alone */
	if (q->ours &&
	    !query_number(q->db, "SELECT EXISTS (SELECT 1 FROM rtl_api_data LIMIT 1)", 1))
		streams = false;
	else if (rc == SQLITE_OK)
		rc = fill_causes(q, streams);
	if (rc == SQLITE_OK && streams)
		rc = sqlite3_exec(q->db, streams_sql, NULL, NULL, NULL);
	if (streams)
		q->streams = query_number(q->db, "SELECT max(number) FROM query_stream", 0);
	return rc == SQLITE_OK ? 0 : query_fail_sql(q);
}
