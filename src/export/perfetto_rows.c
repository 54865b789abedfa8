/* SPDX-License-Identifier: MIT */
/* perfetto_rows.c - operations and calls of a database, in the order in which they are written
 *
 * What joins them is put into temporary tables first, which SQLite keeps in a file: memory does not
 * grow with the trace.
 *	perfetto_cause	 op_id, the row of the call that caused it, which of its operations it is, stream
 *	perfetto_stream	 streams of a process (block: id >> 32) in the order of their first operation
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/perfetto_internal.h"

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
		sqlite3_result_text(context, strstr(name, "_spt") ? "0x2" : "0x0", 3, SQLITE_STATIC);
	else
		sqlite3_result_null(context);
}

static const char cause_sql[] =
	"CREATE TEMP TABLE perfetto_cause (op_id INTEGER PRIMARY KEY, api_id INTEGER NOT NULL, nth "
	"INTEGER NOT NULL, stream TEXT);"
	"CREATE TEMP TABLE perfetto_stream (block INTEGER, name TEXT, number INTEGER, PRIMARY KEY "
	"(block, name)) WITHOUT ROWID";

/* Of several calls that an RPD file may join to one operation the first counts. */
#define FILL_CAUSE(stream, call)                                                                   \
	"INSERT INTO perfetto_cause SELECT L.op_id, L.api_id, row_number() OVER (PARTITION BY "    \
	"L.api_id ORDER BY L.op_id), " stream " FROM (SELECT op_id, min(api_id) AS api_id FROM "   \
	"rocpd_api_ops WHERE op_id IS NOT NULL AND api_id IS NOT NULL " call " GROUP BY op_id) L " \
	"ORDER BY L.op_id"

/* rows of domain "rtl" stand for threads, they are no calls */
#define IS_CALL                                                                                    \
	"AND api_id NOT IN (SELECT A.id FROM rocpd_api A JOIN rocpd_string D ON D.id = "           \
	"A.domain_id WHERE D.string = 'rtl')"

/* RPD writes handles as %p does: no stream is "(nil)" */
#define STREAM_IN(table)                                                                           \
	"(SELECT CASE stream WHEN '' THEN NULL WHEN '(nil)' THEN '0x0' ELSE stream END FROM "      \
	table " WHERE api_ptr_id = L.api_id)"
#define STREAM_KNOWN                                                                             \
	"coalesce(" STREAM_IN("rocpd_kernelapi") ", " STREAM_IN("rocpd_copyapi") ", (SELECT "      \
	"perfetto_stream_of(U.string, N.string) FROM rocpd_api A JOIN rocpd_string N ON N.id = "   \
	"A.apiName_id JOIN rocpd_ustring U ON U.id = A.args_id WHERE A.id = L.api_id))"

static const char streams_sql[] =
	"INSERT INTO perfetto_stream SELECT op_id >> 32, stream, row_number() OVER (PARTITION BY "
	"op_id >> 32 ORDER BY min(op_id)) FROM perfetto_cause WHERE stream IS NOT NULL GROUP BY "
	"op_id >> 32, stream";

int perfetto_rows_prepare(struct perfetto *p)
{
	const char *fill = FILL_CAUSE("NULL", "");
	int ret = 0;

	if (sqlite3_create_function(p->db, "perfetto_stream_of", 2,
				    SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, stream_of, NULL,
				    NULL) != SQLITE_OK)
		return perfetto_fail(p, -ENOMEM, "%s: out of memory", p->path);
	if (p->ours)
		fill = FILL_CAUSE(STREAM_KNOWN, IS_CALL);
	else if (perfetto_has(p, "rocpd_kernelapi") && perfetto_has(p, "rocpd_copyapi") &&
		 p->has_ustring)
		fill = FILL_CAUSE(STREAM_KNOWN, "");
	ret = perfetto_run(p, cause_sql);
	if (ret == 0)
		ret = perfetto_run(p, fill);
	if (ret == 0)
		ret = perfetto_run(p, streams_sql);
	p->calls = perfetto_number(p, "SELECT count(*) FROM (SELECT 1 FROM perfetto_cause LIMIT 1)",
				   0) > 0;
	p->streams = perfetto_number(p, "SELECT max(number) FROM perfetto_stream", 0);
	return ret;
}

int64_t perfetto_rows_stream_key(const int64_t *op)
{
	return op[OP_STREAM] << 32 | (op[OP_ID] >> 32 & UINT32_MAX);
}

const char *perfetto_rows_args_sql(const struct perfetto *p)
{
	return p->has_ustring ? "SELECT string FROM rocpd_ustring WHERE id = ?1" :
				"SELECT string FROM rocpd_string WHERE id = ?1";
}

/* ---- operations ---- */

#define RANGE(id) " " id " BETWEEN ?1 AND ?2"
#define ORDER " ORDER BY 2, 3, O.id >> 32, 5"
#define ORDER_OWN " ORDER BY 2, 3, O.op_id >> 32, 5"

#define OURS(queue)                                                                            \
	"SELECT O.id, O.gpuId, " queue ", O.sequenceId, O.start, O.end, O.description_id, "    \
	"O.opType_id, O.roctxId, O.correlation_id, K.shape_id, coalesce(K.flags, C.flags, 0), " \
	"C.op_id IS NOT NULL, C.bytes, C.src_agent_id, C.dst_agent_id, L.api_id, L.nth, "       \
	"S.number FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN "       \
	"rtl_op_copy C ON C.op_id = O.id "

/* RPD has no sizes of operations; its names of types tell copies */
#define RPD(queue)                                                                             \
	"SELECT O.id, O.gpuId, " queue ", O.sequenceId, O.start, O.\"end\", O.description_id, " \
	"O.opType_id, 0, 0, 0, 0, T.string LIKE 'Copy%' OR T.string LIKE 'Fill%' OR T.string "  \
	"LIKE 'Mem%', 0, 0, 0, L.api_id, L.nth, S.number FROM rocpd_op O JOIN rocpd_string T "  \
	"ON T.id = O.opType_id "

#define ANY_STREAM                                                                             \
	"LEFT JOIN perfetto_cause L ON L.op_id = O.id LEFT JOIN perfetto_stream S ON S.block = " \
	"O.id >> 32 AND S.name = L.stream WHERE" RANGE("O.id") ORDER
#define KNOWN_STREAM                                                                         \
	"JOIN perfetto_cause L ON L.op_id = O.id JOIN perfetto_stream S ON S.block = O.id >> " \
	"32 AND S.name = L.stream WHERE" RANGE("O.id") ORDER

static const char runtime_sql[] =
	"SELECT O.op_id, O.gpu_id, O.queue_id, O.packet_index, O.begin_ns, O.end_ns, S.kernel_id, 0, "
	"O.marker_id, O.correlation_id, O.shape_id, O.flags, 0, 0, 0, 0, 0, 0, 0 FROM rtl_op_runtime O "
	"JOIN rtl_shape S ON S.id = O.shape_id WHERE" RANGE("O.op_id") ORDER_OWN;

static const char barriers_sql[] =
	"SELECT O.op_id, coalesce(O.gpu_id, -1), O.queue_id, O.packet_index, O.begin_ns, O.end_ns, 0, "
	"0, 0, O.correlation_id, 0, O.flags, 0, 0, 0, 0, 0, 0, 0 FROM rtl_op_barrier O "
	"WHERE" RANGE("O.op_id") ORDER_OWN;

static const char *const ops_sql[2][4] = {
	{ RPD("O.queueId") ANY_STREAM, RPD("S.number") KNOWN_STREAM, NULL, NULL },
	{ OURS("O.queueId") ANY_STREAM, OURS("S.number") KNOWN_STREAM, runtime_sql, barriers_sql },
};

static int visit(struct perfetto *p, const char *sql, int nr, perfetto_row_fn each, void *arg)
{
	int64_t columns[(int)OP_NR > (int)CALL_NR ? (int)OP_NR : (int)CALL_NR];
	sqlite3_stmt *row = NULL;
	int ret = perfetto_prepare(p, &row, sql);

	if (ret == 0) {
		sqlite3_bind_int64(row, 1, p->only ? p->only->id_first : INT64_MIN);
		sqlite3_bind_int64(row, 2, p->only ? p->only->id_last : INT64_MAX);
	}
	while (ret == 0 && (ret = perfetto_step(p, row)) == 1) {
		for (int i = 0; i < nr; i++)
			columns[i] = sqlite3_column_int64(row, i);
		ret = each(arg, columns);
		if (ret == -ENOMEM)
			perfetto_fail(p, ret, "%s: out of memory", p->path);
	}
	sqlite3_finalize(row);
	return ret;
}

int perfetto_rows_ops(struct perfetto *p, enum perfetto_order order, perfetto_row_fn each,
		      void *arg)
{
	const char *sql = ops_sql[p->ours][order];

	return sql ? visit(p, sql, OP_NR, each, arg) : 0;
}

/* ---- markers and calls ---- */

/* texts are looked up by their ids later: sorting moves numbers alone */
static const char ours_calls_sql[] =
	"SELECT A.id, A.pid, A.tid, A.start, A.end, A.apiName_id, A.args_id, N.string = 'UserMarker', "
	"coalesce(M.kind, -1), M.unclosed, X.correlation_id, X.status, X.parent_id FROM rocpd_api A JOIN "
	"rocpd_string N ON N.id = A.apiName_id JOIN rocpd_string D ON D.id = A.domain_id LEFT JOIN "
	"rtl_marker_data M ON M.api_id = A.id LEFT JOIN rtl_api_data X ON X.api_id = A.id WHERE D.string "
	"<> 'rtl' AND" RANGE("A.id") " ORDER BY A.pid, A.tid, A.start, A.end DESC, A.id";

static const char rpd_calls_sql[] =
	"SELECT A.id, A.pid, A.tid, A.start, A.\"end\", A.apiName_id, A.args_id, N.string = "
	"'UserMarker', -1, 0, 0, 0, 0 FROM rocpd_api A JOIN rocpd_string N ON N.id = A.apiName_id "
	"WHERE" RANGE("A.id") " ORDER BY A.pid, A.tid, A.start, A.\"end\" DESC, A.id";

int perfetto_rows_calls(struct perfetto *p, perfetto_row_fn each, void *arg)
{
	return visit(p, p->ours ? ours_calls_sql : rpd_calls_sql, CALL_NR, each, arg);
}
