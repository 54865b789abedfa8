/* SPDX-License-Identifier: MIT */
/* jsonl.c - a trace as JSON lines: an object for each row of the database's stable views, under the
 * names of their columns
 *
 * Rows are written as they are read, in the order of the file. Nothing is kept in memory; SQLite
 * keeps HIP's kernels that copy in a temporary file, whose calls have to be known.
 */
#include "export/jsonl/jsonl.h"

#include "export/json.h"
#include "export/output.h"
#include "query/rows.h"
#include "query/transfer.h"
#include "rtl_version.h"

struct kind {
	const char *record;	/* its name in the lines */
	const char *needs;	/* the table or view of a database of rtl; older ones may lack it */
	const char *ours, *rpd; /* the rows as SQL; NULL: none */
	const char *rpd_old;	/* without rocpd_ustring, if that differs */
};

/* The process and the thread that submitted an operation, by the table that has its thread, or one
 * of two; and its stream. */
#define THREAD(what, table)                                                                        \
	"(SELECT " what " FROM " table " K JOIN rtl_thread T ON T.id = K.thread_id JOIN "          \
	"rtl_process P ON P.id = T.process_id WHERE K.op_id = V.op_id)"
#define STREAM(id) "(SELECT stream FROM temp.query_cause WHERE op_id = " id ")"
#define SUBMITTED(pid, tid) pid " AS pid, " tid " AS tid, " STREAM("V.op_id") " AS stream"
#define IN(table) SUBMITTED(THREAD("P.pid", table), THREAD("T.tid", table))
#define EITHER(a, b)                                                                               \
	SUBMITTED("coalesce(" THREAD("P.pid", a) ", " THREAD("P.pid", b) ")",                      \
		  "coalesce(" THREAD("T.tid", a) ", " THREAD("T.tid", b) ")")

#define RPD_OP                                                                                     \
	"O.id AS op_id, O.gpuId AS agent, O.queueId AS queue, O.sequenceId AS packet_index, "      \
	"O.start AS begin_ns, O.\"end\" AS end_ns, coalesce((SELECT api_id FROM temp.query_cause " \
	"WHERE op_id = O.id), 0) AS correlation_id, " STREAM("O.id") " AS stream"
#define RPD_OPS(name, where)                                                                       \
	"SELECT " name ", " RPD_OP                                                                 \
	" FROM rocpd_op O JOIN rocpd_string D ON D.id = O.description_id JOIN rocpd_string Y "     \
	"ON Y.id = O.opType_id WHERE " where
#define RPD_CALLS(columns, strings, where)                                                         \
	"SELECT " columns ", A.pid, A.tid, A.start AS begin_ns, A.\"end\" AS end_ns FROM "         \
	"rocpd_api A JOIN rocpd_string N ON N.id = A.apiName_id JOIN " strings                     \
	" U ON U.id = A.args_id WHERE N.string " where
#define RPD_API(strings)                                                                           \
	RPD_CALLS("A.id AS api_id, N.string AS name, A.id AS correlation_id, U.string AS args",    \
		  strings, "<> 'UserMarker'")
#define RPD_MARKER(strings)                                                                        \
	RPD_CALLS("A.id AS marker_id, U.string AS message", strings, "= 'UserMarker'")

static const struct kind kinds[] = {
	{ "process", "rtl_process",
	  "SELECT pid, os_pid, host, command, rank, world_size, start_ns, first_ns, last_ns, end_ns, "
	  "state FROM rtl_process",
	  NULL, NULL },
	/* kernels that HIP copies or fills with are copies */
	{ "dispatch", "rtl_dispatch",
	  "SELECT V.*, " EITHER(
		  "rtl_op_kernel",
		  "rtl_op_runtime") " FROM rtl_dispatch V WHERE NOT " KINDS_IS_BLIT("V.kernel"),
	  RPD_OPS("D.string AS kernel", "O.gpuId >= 0 AND NOT " KINDS_IS_COPY(
						"Y.string") " AND NOT " KINDS_IS_BLIT("D.string")),
	  NULL },
	{ "copy", "rtl_op_copy",
	  "SELECT V.*, " EITHER("rtl_op_copy", "rtl_op_kernel") " FROM temp.rtl_transfer V",
	  RPD_OPS("CASE WHEN D.string = '' THEN Y.string ELSE D.string END AS kind",
		  KINDS_IS_COPY("Y.string") " OR " KINDS_IS_BLIT("D.string")),
	  NULL },
	{ "barrier", "rtl_barrier", "SELECT V.*, " IN("rtl_op_barrier") " FROM rtl_barrier V", NULL,
	  NULL },
	{ "api", "rtl_api", "SELECT * FROM rtl_api", RPD_API("rocpd_ustring"),
	  RPD_API("rocpd_string") },
	{ "marker", "rtl_marker", "SELECT * FROM rtl_marker", RPD_MARKER("rocpd_ustring"),
	  RPD_MARKER("rocpd_string") },
	{ "counter", "rtl_counter_name",
	  "SELECT C.op_id, N.string AS counter, C.value, coalesce(U.unit, '') AS unit FROM "
	  "rocpd_counter C JOIN rocpd_string N ON N.id = C.name_id LEFT JOIN rtl_counter_name U ON "
	  "U.id = C.name_id",
	  NULL, NULL },
	{ "loss", "rtl_loss", "SELECT * FROM rtl_loss", NULL, NULL },
};
enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void begin_line(struct json *j, const char *record)
{
	j->more[0] = false; /* no comma between lines */
	json_object(j);
	json_member_text(j, "record", record);
}

static void end_line(struct json *j)
{
	json_object_end(j);
	json_bytes(j, "\n", 1);
}

static void put_column(struct json *j, sqlite3_stmt *row, int i)
{
	json_key(j, sqlite3_column_name(row, i));
	switch (sqlite3_column_type(row, i)) {
	case SQLITE_INTEGER:
		json_int(j, sqlite3_column_int64(row, i));
		break;
	case SQLITE_FLOAT:
		json_double(j, sqlite3_column_double(row, i));
		break;
	case SQLITE_NULL:
		json_null(j);
		break;
	default:
		json_text(j, query_text(row, i));
	}
}

static const char *rows_of(const struct query *q, const struct kind *kind)
{
	if (q->ours)
		return query_has(q->db, kind->needs) ? kind->ours : NULL;
	return q->has_ustring || !kind->rpd_old ? kind->rpd : kind->rpd_old;
}

static int put_kind(struct query *q, struct json *j, const struct kind *kind)
{
	const char *sql = rows_of(q, kind);
	sqlite3_stmt *row = NULL;
	int ret = sql ? query_prepare(q, &row, sql) : 0;

	while (row && ret == 0 && (ret = query_step(q, row)) == 1) {
		begin_line(j, kind->record);
		for (int i = 0; i < sqlite3_column_count(row); i++)
			put_column(j, row, i);
		end_line(j);
		q->res->nr_ops++;
		ret = j->error;
	}
	sqlite3_finalize(row);
	return ret;
}

static int fill(void *arg, struct json *j)
{
	struct query *q = arg;
	int ret = q->ours ? transfer_define(q) : 0;

	begin_line(j, "trace");
	json_member_int(j, "format", 1);
	json_member_text(j, "version", RTL_VERSION_STRING);
	json_key(j, "complete");
	json_bool(j, q->verdict.complete);
	json_member_text(j, "verdict", q->verdict.line);
	end_line(j);
	for (size_t i = 0; i < NR_KINDS && ret == 0; i++)
		ret = put_kind(q, j, &kinds[i]);
	return ret;
}

int jsonl_write(struct query *q, const char *out)
{
	return output_write(q, out, fill, q);
}
