/* SPDX-License-Identifier: MIT */
/* cause.c - finds the call that caused each operation, and its stream
 *
 * Threads:  a cause_reader is used by two: one reads causes and appends streams to its list, the
 *           other writes these down. A row that names a stream is passed on after the stream was
 *           appended.
 */
#include "query/cause.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "query/rows.h"
#include "store/map.h"

static bool begins_with(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* SQL function: the handle in "..., stream=0x1234, ..." of a call's arguments. Copies and fills
 * without a stream argument use the null stream, or (_spt) the per-thread stream. */
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
#define STREAM_IN                                                                                  \
	"(SELECT CASE stream WHEN '' THEN NULL WHEN '(nil)' THEN '0x0' ELSE stream END FROM %s "   \
	"WHERE %s = L.api_id), "
/* the same of rocpd_kernelapi where that is a view, without its lookups for each mention of the
 * column */
#define STREAM_OF_LAUNCH                                                                           \
	"(SELECT nullif(W.stream, '') FROM rocpd_api V CROSS JOIN rtl_launch W ON W.id = "         \
	"V.rtl_launch_id WHERE V.id = L.api_id), "

static const char *const stream_tables[] = { "rocpd_kernelapi", "rocpd_copyapi",
					     "rocpd_graphLaunchapi" };

/* The column that names the call; NULL: the table is none, or of a schema that is not known.
 * rocm-trace-lite 0.3 in C++ has api_id. */
static const char *call_column(sqlite3 *db, const char *table)
{
	static const char *const names[] = { "api_ptr_id", "api_id" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (query_has_column(db, table, "stream") && query_has_column(db, table, names[i]))
			return names[i];
	return NULL;
}

#define STREAM_OF_CALL(strings)                                                                    \
	"(SELECT query_stream_of(U.string, N.string) FROM rocpd_api A JOIN rocpd_string N ON "     \
	"N.id = A.apiName_id LEFT JOIN " strings " U ON U.id = A.args_id WHERE A.id = L.api_id)"

/* The SQL of a stream's handle, by a row L of rocpd_api_ops. `launches`: in that of a launch,
 * too. */
static void stream_sql(const struct query *q, bool launches, char *stream, size_t size)
{
	char tables[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(stream_tables) / sizeof(stream_tables[0]); i++) {
		const char *column = call_column(q->db, stream_tables[i]);

		if (i == 0 && q->is_compact)
			used += (size_t)snprintf(tables, sizeof(tables), "%s",
						 launches ? STREAM_OF_LAUNCH : "");
		else if (column)
			used += (size_t)snprintf(tables + used, sizeof(tables) - used, STREAM_IN,
						 stream_tables[i], column);
	}
	snprintf(stream, size, "coalesce(%s%s, NULL)", tables,
		 q->has_ustring ? STREAM_OF_CALL("rocpd_ustring") : STREAM_OF_CALL("rocpd_string"));
}

/* An RPD file may join several calls to one operation: takes the first. */
static int fill_causes(struct query *q, bool streams)
{
	char stream[3072] = "NULL", sql[4096];

	if (streams)
		stream_sql(q, true, stream, sizeof(stream));
	snprintf(
		sql, sizeof(sql),
		"INSERT OR IGNORE INTO query_cause SELECT op_id, api_id, %s FROM rocpd_api_ops L %s",
		stream, q->ours ? calls_sql : "");
	return sqlite3_exec(q->db, sql, NULL, NULL, NULL);
}

static const char streams_sql[] =
	"INSERT INTO query_stream SELECT op_id >> 32, stream, row_number() OVER (PARTITION BY op_id >> "
	"32 ORDER BY min(op_id)) FROM query_cause WHERE stream IS NOT NULL GROUP BY op_id >> 32, stream";

static int add_function(sqlite3 *db)
{
	int rc = sqlite3_create_function(db, "query_stream_of", 2,
					 SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, sql_stream_of,
					 NULL, NULL);

	/* busy: it is there already, and rows of another table are being read */
	return rc == SQLITE_BUSY ? SQLITE_OK : rc;
}

int cause_make(struct query *q, bool streams)
{
	int rc = add_function(q->db);

	q->is_prepared = false;
	q->causes_ordered = false;
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(q->db, tables_sql, NULL, NULL, NULL);
	/* the text of an error is that of the connection's last call */
	if (rc != SQLITE_OK)
		return query_fail_sql(q);
	/* operations of a trace without calls are joined to rows of threads alone */
	if (q->ours &&
	    !query_number(q->db, "SELECT EXISTS (SELECT 1 FROM rtl_api_data LIMIT 1)", 1))
		return 0;
	rc = fill_causes(q, streams);
	if (rc == SQLITE_OK && streams)
		rc = sqlite3_exec(q->db, streams_sql, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return query_fail_sql(q);
	if (streams)
		q->streams = query_number(q->db, "SELECT max(number) FROM query_stream", 0);
	return 0;
}

/* ---- causes beside operations ---- */

/* Launches whose streams are known at once: a trace has some thousands, mostly. */
enum { LAUNCHES_MAX = 1 << 17 };

/* In a list, in the order in which they were found. */
struct stream {
	struct stream *next; /* __atomic: see find_stream() */
	int64_t block, number;
	char name[];
};

struct cause_reader {
	struct query *q;
	char sql[4096];
	sqlite3_stmt *row, *launch;
	/* of a file with a table of causes: they are read in step with the operations */
	struct map others; /* domains of rows that are no calls */
	int64_t op;	   /* of the row; INT64_MAX: there is none */
	/* of a compact file: what was found for launches, and for the last call without one */
	struct map launches;
	int64_t call, number;
	struct map streams;	    /* addresses, by the hash of their names */
	struct map numbers;	    /* by block: how many streams it has */
	struct stream first, *last; /* of the thread that reads; `first` is none */
	/* of the other: it and those before it are in query_stream */
	struct stream *named;
	sqlite3_stmt *insert;
};

/* The first and the last operation. */
static int check_order(void *arg, sqlite3_value **columns)
{
	int64_t *ops = arg, op = sqlite3_value_int64(columns[0]);

	if (op < ops[1] || (ops[1] >= 0 && op >> 32 != ops[0] >> 32))
		return -ERANGE;
	if (ops[1] < 0)
		ops[0] = op;
	ops[1] = op;
	return 0;
}

int cause_prepare(struct query *q)
{
	int64_t ops[2] = { -1, -1 };
	int rc, ret = 0;

	if (!q->ours || !query_has(q->db, "rocpd_api_ops") ||
	    !query_number(q->db, "SELECT EXISTS (SELECT 1 FROM rtl_api_data LIMIT 1)", 1))
		return cause_make(q, true);
	/* a compact file has them in the rows of operations */
	if (!q->is_compact)
		ret = q->nr_processes > 1 ?
			      -ERANGE :
			      query_scan(q, "L.op_id", "rocpd_api_ops L WHERE ?1 <= ?2",
					 check_order, ops);
	if (ret == -ERANGE)
		return cause_make(q, true);
	if (ret)
		return ret;
	rc = sqlite3_exec(q->db, tables_sql, NULL, NULL, NULL);
	q->is_prepared = false;
	q->causes_ordered = true;
	return rc == SQLITE_OK ? 0 : query_fail_sql(q);
}

int cause_open(struct query *q, struct cause_reader **out)
{
	struct cause_reader *r = alloc_zero(1, sizeof(*r));
	char stream[3072];
	int ret = 0;

	*out = r;
	if (!r)
		return query_fail_memory(q);
	r->q = q;
	r->last = r->named = &r->first;
	stream_sql(q, false, stream, sizeof(stream));
	if (q->is_compact) {
		snprintf(r->sql, sizeof(r->sql), "SELECT %s FROM (SELECT ?1 AS api_id) L", stream);
	} else {
		snprintf(
			r->sql, sizeof(r->sql),
			"SELECT L.op_id, L.api_id, %s, A.domain_id, A.pid, A.tid, A.start, A.\"end\" FROM "
			"rocpd_api_ops L LEFT JOIN rocpd_api A ON A.id = L.api_id ORDER BY L.id",
			stream);
		ret = query_ids(q, &r->others, "rtl");
	}
	if (ret == 0)
		ret = query_prepare(q, &r->insert,
				    "INSERT OR IGNORE INTO temp.query_stream VALUES (?1, ?2, ?3)");
	return ret;
}

void cause_close(struct cause_reader *r)
{
	if (!r)
		return;
	sqlite3_finalize(r->row);
	sqlite3_finalize(r->launch);
	sqlite3_finalize(r->insert);
	for (struct stream *s = r->first.next, *next; s; s = next) {
		next = s->next;
		alloc_free(s);
	}
	map_fini(&r->others);
	map_fini(&r->launches);
	map_fini(&r->streams);
	map_fini(&r->numbers);
	alloc_free(r);
}

/* NULL: out of memory. */
static struct stream *add_stream(struct cause_reader *r, int64_t block, const char *name,
				 size_t size, uint64_t hash)
{
	struct stream *s = alloc_zero(1, sizeof(*s) + size + 1);
	uint64_t nr = 0;

	map_get(&r->numbers, (uint64_t)block, &nr);
	if (!s || map_put(&r->numbers, (uint64_t)block, nr + 1) ||
	    map_put(&r->streams, hash, (uint64_t)(uintptr_t)s)) {
		alloc_free(s);
		return NULL;
	}
	s->block = block;
	s->number = (int64_t)nr + 1;
	memcpy(s->name, name, size);
	/* pairs with the acquire of cause_name_streams() */
	__atomic_store_n(&r->last->next, s, __ATOMIC_RELEASE);
	return r->last = s;
}

/* The number of the stream whose handle a column is, from 1; 0: it is NULL. -1: out of memory. */
static int64_t find_stream(struct cause_reader *r, int64_t block, sqlite3_stmt *row, int column)
{
	const struct stream *s;
	uint64_t hash, found;
	const char *name;
	size_t size;

	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return 0;
	name = query_text(row, column);
	size = strlen(name);
	hash = map_hash(name, size) ^ (uint64_t)block;
	for (; map_get(&r->streams, hash, &found); hash++) {
		s = (const struct stream *)(uintptr_t)found;
		if (s->block == block && strcmp(s->name, name) == 0)
			return s->number;
	}
	s = add_stream(r, block, name, size, hash);
	return s ? s->number : -1;
}

/* ---- in rows of operations ---- */

/* Sets *number by a statement for one id. */
static int find_by(struct cause_reader *r, sqlite3_stmt *stmt, int64_t id, int64_t block,
		   int64_t *number)
{
	int rc;

	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, id);
	rc = sqlite3_step(stmt);
	*number = rc == SQLITE_ROW ? find_stream(r, block, stmt, 0) : 0;
	if (*number < 0)
		return SQLITE_NOMEM;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Of a call that is no launch, or one whose stream is not known. Operations of a graph have one
 * call. */
static int find_by_call(struct cause_reader *r, const struct rows_op *op, int64_t *number)
{
	int rc = SQLITE_OK;

	if (r->call != op->call) {
		rc = find_by(r, r->row, op->call, op->id >> 32, &r->number);
		r->call = op->call;
	}
	*number = r->number;
	return rc;
}

/* `stream` is the row of the launch, 0: the call is none. */
static int read_compact(struct cause_reader *r, struct rows_op *op)
{
	int64_t launch = op->stream, block = op->id >> 32, number = 0;
	uint64_t key = (uint64_t)launch ^ (uint64_t)block << 40, known;
	int rc = SQLITE_OK;

	op->stream = 0;
	if (!op->call)
		return SQLITE_OK;
	if (launch && map_get(&r->launches, key, &known)) {
		number = (int64_t)known;
	} else if (launch) {
		rc = find_by(r, r->launch, launch, block, &number);
		if (r->launches.nr == LAUNCHES_MAX)
			map_clear(&r->launches);
		if (rc == SQLITE_OK && map_put(&r->launches, key, (uint64_t)number))
			rc = SQLITE_NOMEM;
	}
	if (rc == SQLITE_OK && !number)
		rc = find_by_call(r, op, &number);
	op->stream = number;
	return rc;
}

/* ---- in a table ---- */

static int next_cause(struct cause_reader *r)
{
	uint64_t found;
	int rc;

	do
		rc = sqlite3_step(r->row);
	while (rc == SQLITE_ROW &&
	       map_get(&r->others, (uint64_t)sqlite3_column_int64(r->row, 3), &found));
	r->op = rc == SQLITE_ROW ? sqlite3_column_int64(r->row, 0) : INT64_MAX;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int read_table(struct cause_reader *r, struct rows_op *op)
{
	int rc = SQLITE_OK;

	memset(&op->call, 0, sizeof(*op) - offsetof(struct rows_op, call));
	while (rc == SQLITE_OK && r->op < op->id)
		rc = next_cause(r);
	if (rc != SQLITE_OK || r->op != op->id)
		return rc;
	op->call = sqlite3_column_int64(r->row, 1);
	op->stream = find_stream(r, op->id >> 32, r->row, 2);
	op->call_pid = sqlite3_column_int64(r->row, 4);
	op->call_tid = sqlite3_column_int64(r->row, 5);
	op->call_start = sqlite3_column_int64(r->row, 6);
	op->call_end = sqlite3_column_int64(r->row, 7);
	return op->stream < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- both ---- */

/* The first time: on the thread, and the connection, that reads. */
static int begin(struct cause_reader *r, sqlite3 *db)
{
	int rc = add_function(db);

	r->op = INT64_MIN;
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db, r->sql, -1, &r->row, NULL);
	if (rc == SQLITE_OK && r->q->is_compact)
		rc = sqlite3_prepare_v2(db,
					"SELECT nullif(stream, '') FROM rtl_launch WHERE id = ?1",
					-1, &r->launch, NULL);
	return rc;
}

int cause_read(struct cause_reader *r, sqlite3 *db, struct rows_op *op)
{
	int rc = r->row ? SQLITE_OK : begin(r, db);

	if (rc != SQLITE_OK)
		return rc;
	return r->q->is_compact ? read_compact(r, op) : read_table(r, op);
}

int cause_name_streams(struct cause_reader *r)
{
	struct stream *next;

	while ((next = __atomic_load_n(&r->named->next, __ATOMIC_ACQUIRE))) {
		r->named = next;
		sqlite3_reset(r->insert);
		sqlite3_bind_int64(r->insert, 1, next->block);
		sqlite3_bind_text(r->insert, 2, next->name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(r->insert, 3, next->number);
		if (sqlite3_step(r->insert) != SQLITE_DONE)
			return query_fail_sql(r->q);
		if (next->number > r->q->streams)
			r->q->streams = next->number;
	}
	return 0;
}
