/* SPDX-License-Identifier: MIT */
/* rpd_schema.c - makes tables (rpd_tables.c), views and indexes of a database
 *
 * Dispatches on internal queues of the runtime are in rtl_op_runtime and not in rocpd_op: RPD's
 * views count every row of rocpd_op, and those dispatches implement copies that have rows already.
 * docs/formats/database.md describes every view; a change here is a change there.
 */
#include "export/rpd/rpd_internal.h"
#include "query/collectives.h"
#include "query/rowfile.h"
#include "query/transfer.h"

#include <errno.h>

static const char *const first_rows[] = {
	"INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu_stride', '1000'), "
	"('pid_stride', '10000000'), ('schema_version', '3')",
	"INSERT INTO rtl_flag VALUES "
	"(1, 'had_signal', 'the packet came with a signal of the program'), "
	"(2, 'inverted', 'the end lies before the begin, as the GPU wrote it'), "
	"(4, 'no_time', 'the times could not be read'), "
	"(8, 'unfinished', 'not completed when the process ended'), "
	"(16, 'graph', 'came in a batch of packets (earlier versions)'), "
	"(32, 'internal', 'on a queue of the runtime: the inside of a copy or fill'), "
	"(64, 'shared', 'the signal was shared: timed behind a barrier packet'), "
	"(65536, 'placed', 'the times in rocpd_op only give it a position on the axis')",
	NULL,
};

/* RPD's views of schema 3. `kernel` and `copyop` also show operations without a traced call
 * and values that calls lack, from rtl's tables. The grid is in workgroups, as in RPD. */
#define BLOCKS(name, axis)                                                                         \
	"coalesce(C." name ", (S.grid_" axis " + S.group_" axis " - 1) / S.group_" axis            \
	", S.grid_" axis ") AS " name
static const char *const rpd_views[] = {
	"CREATE VIEW api AS SELECT rocpd_api.id, pid, tid, start, end, D.string AS domain, C.string AS "
	"category, A.string AS apiName, B.string AS args FROM rocpd_api INNER JOIN rocpd_string A ON "
	"A.id = rocpd_api.apiName_id INNER JOIN rocpd_ustring B ON B.id = rocpd_api.args_id INNER JOIN "
	"rocpd_string C ON C.id = rocpd_api.category_id INNER JOIN rocpd_string D ON D.id = "
	"rocpd_api.domain_id",
	"CREATE VIEW op AS SELECT rocpd_op.id, gpuId, queueId, sequenceId, start, end, A.string AS "
	"description, B.string AS opType FROM rocpd_op INNER JOIN rocpd_string A ON A.id = "
	"rocpd_op.description_id INNER JOIN rocpd_string B ON B.id = rocpd_op.opType_id",
	"CREATE VIEW busy AS SELECT A.gpuId, GpuTime, WallTime, GpuTime * 1.0 / WallTime AS Busy FROM "
	"(SELECT gpuId, sum(end - start) AS GpuTime FROM rocpd_op GROUP BY gpuId) A INNER JOIN (SELECT "
	"max(end) - min(start) AS WallTime FROM rocpd_op)",
	/* grouped by id before the names are looked up: ids are few, rows are many */
	"CREATE VIEW top AS SELECT Name, sum(Calls) AS TotalCalls, sum(Total) / 1000.0 AS "
	"TotalDuration_us, sum(Total) / sum(Calls) / 1000.0 AS Ave_us, sum(Total) * 100.0 / (SELECT "
	"sum(end - start) FROM rocpd_op) AS Percentage FROM (SELECT CASE WHEN D.string = '' THEN "
	"T.string ELSE D.string END AS Name, A.Calls AS Calls, A.Total AS Total FROM (SELECT "
	"description_id, opType_id, count(*) AS Calls, sum(end - start) AS Total FROM rocpd_op GROUP BY "
	"description_id, opType_id) A JOIN rocpd_string D ON D.id = A.description_id JOIN rocpd_string "
	"T ON T.id = A.opType_id) GROUP BY Name ORDER BY TotalDuration_us DESC",
	"CREATE VIEW copy AS SELECT B.id, pid, tid, start, end, C.string AS apiName, stream, size, "
	"width, height, kind, dst, src, dstDevice, srcDevice, sync, pinned FROM rocpd_copyapi A JOIN "
	"rocpd_api B ON B.id = A.api_ptr_id JOIN rocpd_string C ON C.id = B.apiName_id",
	"CREATE VIEW copyop AS SELECT B.id, gpuId, queueId, sequenceId, B.start, B.end, (B.end - "
	"B.start) AS duration, coalesce(C.stream, '') AS stream, coalesce(CASE WHEN E.string LIKE 'hipMemcpy%Batch%' "
	"THEN coalesce(K.bytes, 0) END, nullif(C.size, 0), K.bytes, 0) AS size, "
	"coalesce(C.width, 0) AS width, coalesce(C.height, 0) AS height, coalesce(nullif(C.kind, -1), K.kind, -1) AS "
	"kind, coalesce(C.dst, printf('0x%x', K.dst)) AS dst, coalesce(C.src, printf('0x%x', K.src)) AS "
	"src, coalesce(nullif(C.dstDevice, -1), DA.gpu_id, -1) AS dstDevice, coalesce(nullif(C.srcDevice, -1), SA.gpu_id, -1) "
	"AS srcDevice, coalesce(C.sync, 0) AS sync, coalesce(C.pinned, 0) AS pinned, E.string AS apiName "
	"FROM rocpd_api_ops A JOIN rocpd_op B ON B.id = A.op_id LEFT JOIN rocpd_copyapi C ON "
	"C.api_ptr_id = A.api_id LEFT JOIN rtl_op_copy K ON K.op_id = B.id LEFT JOIN rtl_api_copy X ON X.api_id = A.api_id LEFT "
	"JOIN rtl_agent DA ON DA.id = coalesce(K.dst_agent_id, X.dst_agent_id) LEFT JOIN rtl_agent SA ON "
	"SA.id = coalesce(K.src_agent_id, X.src_agent_id) JOIN rocpd_api D ON "
	"D.id = A.api_id JOIN rocpd_string E ON E.id = D.apiName_id WHERE C.api_ptr_id IS NOT NULL OR "
	"K.op_id IS NOT NULL",
	"CREATE VIEW stackframe AS SELECT A.id, A.api_ptr_id, A.depth, B.string AS name FROM "
	"rocpd_stackframe A JOIN rocpd_string B ON B.id = A.name_id",
#define STRIDE(tag) "(SELECT CAST(value AS integer) FROM rocpd_metadata WHERE tag = '" tag "')"
	"CREATE VIEW napi AS SELECT id, pid / " STRIDE("pid_stride") " AS node, pid % " STRIDE(
		"pid_stride") " AS pid, tid, start, end, domain, category, apiName, args FROM api",
	"CREATE VIEW nop AS SELECT id, gpuId / " STRIDE("gpu_stride") " AS node, gpuId % " STRIDE(
		"gpu_stride") " AS gpuId, queueId, sequenceId, start, end, description, opType FROM op",
	NULL,
};

#define NO_BEGIN(f) "CASE WHEN " f " & 65536 THEN 0 ELSE "
#define NO_END(f) "CASE WHEN " f " & 65544 THEN 0 ELSE "

static const char *const rtl_views[] = {
	"CREATE VIEW rtl_collective AS WITH collective AS MATERIALIZED (SELECT id, demangled AS name FROM "
	"rtl_kernel_symbol WHERE " COLLECTIVES_IN_SYMBOLS
	") SELECT K.op_id, C.name AS kernel, P.pid, P.rank, O.gpuId AS "
	"agent, O.queueId AS queue, row_number() OVER (PARTITION BY P.id, O.gpuId, O.queueId ORDER BY O.start, "
	"K.op_id) AS number, " NO_BEGIN("K.flags") "O.start END AS begin_ns, " NO_END(
		"K.flags") "O.end END AS end_ns, O.correlation_id, O.roctxId AS marker_id, K.flags FROM rtl_op_kernel K JOIN "
			   "rtl_shape S ON S.id = K.shape_id JOIN collective C ON C.id = S.kernel_id JOIN rocpd_op O ON O.id "
			   "= K.op_id JOIN rtl_process P ON K.op_id BETWEEN P.id_first AND P.id_last",
	"CREATE VIEW rtl_copy AS SELECT K.op_id, " KINDS_VIEW_OF(
		"K.kind") " AS kind, K.bytes, coalesce(S.label, '') AS src, "
			  "coalesce(D.label, '') AS dst, " NO_BEGIN("K.flags") "O.start END AS begin_ns, " NO_END(
				  "K.flags") "O.end END AS end_ns, O.correlation_id, O.roctxId AS marker_id FROM "
					     "rtl_op_copy K JOIN rocpd_op O ON O.id = K.op_id LEFT JOIN rtl_agent S ON S.id = K.src_agent_id "
					     "LEFT JOIN rtl_agent D ON D.id = K.dst_agent_id",
	"CREATE " TRANSFER_VIEW,
	/* Calls without an operation: where something is lost or left out, that may be theirs. One
	 * that does not wait may have been captured. */
	"CREATE VIEW rtl_host_copy AS WITH copied AS (SELECT C.api_ptr_id AS api_id, " TRANSFER_CALLED
	" AS number, CASE WHEN C.size > 0 THEN C.size ELSE C.width * C.height END AS bytes, C.sync, X.src_agent_id, "
	"X.dst_agent_id FROM rocpd_copyapi C LEFT JOIN rtl_api_copy X ON X.api_id = C.api_ptr_id LEFT JOIN rtl_agent S "
	"ON S.id = X.src_agent_id LEFT JOIN rtl_agent D ON D.id = X.dst_agent_id) SELECT A.id AS api_id, A.pid, A.tid, "
	"N.string AS name, " KINDS_VIEW_OF("C.number") " AS kind, C.bytes, " TRANSFER_AGENT("C.src_agent_id") " AS src, " TRANSFER_AGENT(
		"C.dst_agent_id") " AS dst, A.start AS begin_ns, A.end AS end_ns, coalesce(D.correlation_id, 0) AS correlation_id "
				  "FROM copied C JOIN rocpd_api A ON A.id = C.api_id JOIN rocpd_string N ON N.id = "
				  "A.apiName_id JOIN rtl_api_data D ON D.api_id = A.id WHERE C.bytes > 0 AND (C.sync OR "
				  "A.pid NOT IN (SELECT B.pid FROM rocpd_graphapi G JOIN rocpd_api B ON B.id = "
				  "G.api_ptr_id)) AND D.status = 0 AND D.parent_id = 0 AND N.string LIKE 'hip%Memcpy%' "
				  "AND A.id NOT IN (SELECT api_id FROM rocpd_api_ops) AND NOT EXISTS (SELECT 1 FROM "
				  "rtl_loss_data L JOIN rtl_process P ON P.id = L.process_id WHERE P.pid = A.pid AND "
				  "L.class <> 'note')",
	"CREATE VIEW rtl_marker AS SELECT M.api_id AS marker_id, A.pid, A.tid, CASE M.kind WHEN 0 THEN "
	"'mark' WHEN 1 THEN 'push' WHEN 2 THEN 'start' ELSE 'unknown' END || CASE WHEN M.unclosed THEN "
	"'-unclosed' ELSE '' END AS kind, U.string AS message, A.start AS begin_ns, A.end AS end_ns, "
	"M.level FROM rtl_marker_data M JOIN rocpd_api A ON A.id = M.api_id JOIN rocpd_ustring U ON U.id "
	"= A.args_id",
	"CREATE VIEW rtl_loss AS SELECT P.pid, L.reason, L.count, L.first_ns, L.last_ns, L.class, L.text "
	"FROM rtl_loss_data L JOIN rtl_process P ON P.id = L.process_id",
	/* a handle may be reused for another executable: launches belong to the last instantiation
	 * that ended before they began */
	"CREATE VIEW rtl_graph_op AS WITH launch AS (SELECT G.api_ptr_id AS api_id, A.pid, A.start, "
	"G.graphExec AS exec, (SELECT I.api_ptr_id FROM rocpd_graphapi I JOIN rocpd_api B ON B.id = "
	"I.api_ptr_id WHERE I.graphExec = G.graphExec AND B.pid = A.pid AND B.end <= A.start ORDER BY B.end "
	"DESC, B.id DESC LIMIT 1) AS made FROM rocpd_graphLaunchapi G JOIN rocpd_api A ON A.id = "
	"G.api_ptr_id), replay AS (SELECT api_id, exec, made, row_number() OVER (PARTITION BY pid, exec, made "
	"ORDER BY start, api_id) AS replay, dense_rank() OVER (ORDER BY pid, coalesce(made, 0), exec) AS "
	"exec_id FROM launch) SELECT L.op_id, R.api_id, R.exec, R.exec_id, coalesce(I.graph, '') AS graph, R.replay, row_number() OVER (PARTITION BY R.api_id ORDER BY O.queueId, O.sequenceId, "
	"O.id) AS node FROM rocpd_api_ops L CROSS JOIN replay R ON R.api_id = L.api_id CROSS JOIN rocpd_op O "
	"ON O.id = L.op_id LEFT JOIN rocpd_graphapi I ON I.api_ptr_id = R.made",
	/* every operation with its process and thread */
	"CREATE VIEW rtl_op AS SELECT X.op_id, P.id AS process_id, P.pid, T.tid, X.type, X.flags FROM "
	"(SELECT op_id, thread_id, flags, 'kernel' AS type FROM rtl_op_kernel UNION ALL SELECT op_id, "
	"thread_id, flags, 'copy' FROM rtl_op_copy UNION ALL SELECT op_id, thread_id, flags, 'runtime' "
	"FROM rtl_op_runtime UNION ALL SELECT op_id, thread_id, flags, 'barrier' FROM rtl_op_barrier) X "
	"JOIN rtl_thread T ON T.id = X.thread_id JOIN rtl_process P ON P.id = T.process_id",
	"CREATE VIEW rtl_barrier AS SELECT B.op_id, B.gpu_id AS agent, B.queue_id AS queue, "
	"B.packet_index, B.begin_ns, B.end_ns, B.correlation_id, CASE B.packet_type WHEN 3 THEN "
	"'barrier_and' WHEN 5 THEN 'barrier_or' WHEN 0 THEN 'vendor' ELSE 'packet_' || B.packet_type END "
	"AS type, B.flags FROM rtl_op_barrier B",
	"CREATE VIEW rtl_counter AS SELECT C.op_id, D.kernel, D.agent, N.string AS counter, C.value, "
	"coalesce(U.unit, '') AS unit FROM rocpd_counter C JOIN rocpd_string N ON N.id = C.name_id JOIN "
	"rtl_dispatch D ON D.op_id = C.op_id LEFT JOIN rtl_counter_name U ON U.id = C.name_id",
	"CREATE VIEW rtl_counter_sample AS SELECT C.op_id, N.string AS counter, C.instance, C.sample, "
	"C.value FROM rtl_op_counter C JOIN rocpd_string N ON N.id = C.name_id",
	NULL,
};

/* Views that are read often: in the compact layout they read the rows themselves, not those of
 * another view. */
#define KERNEL(from, where)                                                                                                     \
	"CREATE VIEW kernel AS SELECT B.id, gpuId, queueId, sequenceId, B.start, B.end, (B.end - B.start) AS "                  \
	"duration, coalesce(C.stream, '') AS stream, " BLOCKS("gridX", "x") ", " BLOCKS("gridY", "y") ", " BLOCKS(              \
		"gridZ",                                                                                                        \
		"z") ", coalesce(C.workgroupX, S.group_x) AS workgroupX, coalesce(C.workgroupY, S.group_y) AS "                 \
		     "workgroupY, coalesce(C.workgroupZ, S.group_z) AS workgroupZ, coalesce(C.groupSegmentSize, S.group_size) " \
		     "AS groupSegmentSize, coalesce(S.private_size, C.privateSegmentSize) AS privateSegmentSize, D.string AS "  \
		     "kernelName FROM " from                                                                                    \
		     " JOIN rocpd_string D ON D.id = coalesce(C.kernelName_id, B.description_id) "                              \
		     "WHERE " where
#define DISPATCH(id, kernel, from)                                                                                                \
	"CREATE VIEW rtl_dispatch AS SELECT " id                                                                                  \
	" AS op_id, Y.demangled AS kernel, O.gpuId AS agent, O.queueId AS "                                                       \
	"queue, O.sequenceId AS packet_index, " kernel "begin_ticks AS begin_ticks, " kernel                                      \
	"end_ticks AS "                                                                                                           \
	"end_ticks, " NO_BEGIN(kernel "flags") "O.start END AS begin_ns, " NO_END(                                                \
		kernel                                                                                                            \
		"flags") "O.end END AS "                                                                                          \
			 "end_ns, S.grid_x, S.grid_y, S.grid_z, S.group_x, S.group_y, S.group_z, O.correlation_id, O.roctxId AS " \
			 "marker_id, " kernel "flags AS flags FROM " from                                                         \
			 " JOIN rtl_shape S ON S.id = " kernel "shape_id JOIN "                                                   \
			 "rtl_kernel_symbol Y ON Y.id = S.kernel_id UNION ALL SELECT R.op_id, Y.demangled, R.gpu_id, "            \
			 "R.queue_id, R.packet_index, R.begin_ticks, R.end_ticks, R.begin_ns, R.end_ns, S.grid_x, "               \
			 "S.grid_y, S.grid_z, S.group_x, S.group_y, S.group_z, R.correlation_id, R.marker_id, R.flags "           \
			 "FROM rtl_op_runtime R JOIN rtl_shape S ON S.id = R.shape_id JOIN rtl_kernel_symbol Y ON Y.id = S.kernel_id"
#define API(status, correlation, parent, from)                                                                          \
	"CREATE VIEW rtl_api AS SELECT A.id AS api_id, A.pid, A.tid, D.string AS domain, N.string AS name, A.start AS " \
	"begin_ns, A.end AS end_ns, " status " AS status, " correlation                                                 \
	" AS correlation_id, coalesce(" parent ", 0) "                                                                  \
	"AS parent_id, U.string AS args FROM rocpd_api A JOIN rocpd_string N ON N.id = A.apiName_id JOIN "              \
	"rocpd_string D ON D.id = A.domain_id JOIN rocpd_ustring U ON U.id = A.args_id" from                            \
	" WHERE D.string NOT IN "                                                                                       \
	"('rtl', 'roctx')"
/* by the streams of launches and the queues of their dispatches */
#define STREAM(flags, from, where)                                                                             \
	"CREATE VIEW rtl_stream AS SELECT A.pid, coalesce(C.stream, G.stream) AS stream, O.queueId AS queue, " \
	"O.gpuId AS gpu, min(CASE WHEN " flags                                                                 \
	" & 65536 THEN NULL ELSE O.start END) AS first_ns, max(CASE WHEN " flags                               \
	" & 65536 THEN NULL ELSE O.end END) AS last_ns, count(*) AS ops FROM " from " LEFT JOIN "              \
	"rocpd_graphLaunchapi G ON G.api_ptr_id = A.id WHERE " where                                           \
	"coalesce(C.stream, G.stream) IS NOT NULL GROUP BY "                                                   \
	"A.pid, coalesce(C.stream, G.stream), O.queueId, O.gpuId"

static const char *const plain_views[] = {
	KERNEL("rocpd_api_ops A JOIN rocpd_op B ON B.id = A.op_id LEFT JOIN rocpd_kernelapi C ON C.api_ptr_id = "
	       "A.api_id LEFT JOIN rtl_op_kernel K ON K.op_id = B.id LEFT JOIN rtl_shape S ON S.id = K.shape_id",
	       "C.api_ptr_id IS NOT NULL OR K.op_id IS NOT NULL"),
	DISPATCH("K.op_id", "K.", "rtl_op_kernel K JOIN rocpd_op O ON O.id = K.op_id"),
	API("X.status", "coalesce(X.correlation_id, 0)", "X.parent_id",
	    " LEFT JOIN rtl_api_data X ON X.api_id = A.id"),
	STREAM("K.flags",
	       "rocpd_api_ops L CROSS JOIN rtl_op_kernel K ON K.op_id = L.op_id CROSS JOIN rocpd_op O ON O.id = "
	       "L.op_id CROSS JOIN rocpd_api A ON A.id = L.api_id LEFT JOIN rocpd_kernelapi C ON C.api_ptr_id = A.id",
	       ""),
	NULL,
};

static const char *const compact_views[] = {
	KERNEL("rocpd_op B LEFT JOIN rocpd_api P ON P.id = " RPD_COMPACT_API(
		       "B") " LEFT JOIN rtl_launch C ON C.id = "
			    "P.rtl_launch_id LEFT JOIN rtl_shape S ON S.id = B.rtl_shape_id",
	       RPD_COMPACT_LINKED("B") " AND (C.id IS NOT NULL OR B.rtl_shape_id IS NOT NULL)"),
	DISPATCH("O.id", "O.rtl_", "rocpd_op O"),
	API("A.rtl_status",
	    "CASE WHEN A.rtl_parent_id IS NULL THEN 0 ELSE coalesce(A.rtl_correlation_id, A.id) END",
	    "A.rtl_parent_id", ""),
	STREAM("O.rtl_flags",
	       "rocpd_op O CROSS JOIN rocpd_api A ON A.id = " RPD_COMPACT_API(
		       "O") " LEFT JOIN rtl_launch C ON C.id = "
			    "A.rtl_launch_id",
	       "O.rtl_shape_id IS NOT NULL AND " RPD_COMPACT_LINKED("O") " AND "),
	NULL,
};

/* operations without measured times are few: readers need not look at the others for them */
static const char untimed_copies[] =
	"CREATE INDEX rtl_copy_untimed ON rtl_op_copy (flags) WHERE flags & " KINDS_UNTIMED;
static const char untimed_kernels[] =
	"CREATE INDEX rtl_kernel_untimed ON rocpd_op (rtl_flags) WHERE rtl_flags & " KINDS_UNTIMED;

/* of the compact layout, which a file that grows has */
const char *const rpd_schema_untimed[] = { untimed_copies, untimed_kernels, NULL };

static const char *const indexes[] = {
	"CREATE INDEX \"rocpd_strin_string_c7b9cd_idx\" ON \"rocpd_string\" (\"string\")",
	"CREATE INDEX \"rocpd_ustri_string_84d4a7_idx\" ON \"rocpd_ustring\" (\"string\")",
	"CREATE INDEX rtl_graphapi_exec ON rocpd_graphapi (graphExec)",
	untimed_copies,
	NULL,
};

/* not of a virtual table */
static const char kernel_index[] =
	"CREATE INDEX rtl_kernel_untimed ON rtl_op_kernel (flags) WHERE flags & " KINDS_UNTIMED;

static int run_statements(struct rpd *r, const char *const *sql)
{
	int ret = 0;

	for (; *sql && ret == 0; sql++)
		ret = rpd_db_exec(r, *sql);
	return ret;
}

static int create_indexes(struct rpd *r)
{
	int ret = run_statements(r, indexes);

	if (ret < 0 || r->opt->rows)
		return ret;
	return rpd_db_exec(r, r->is_compact ? untimed_kernels : kernel_index);
}

/* Runs a statement and releases it. */
static int run_made(struct rpd *r, char *sql)
{
	int ret = sql ? rpd_db_exec(r, sql) : rpd_fail(r, -ENOMEM, "%s: out of memory", r->out);

	sqlite3_free(sql);
	return ret;
}

int rpd_schema_create(struct rpd *r)
{
	int ret = rpd_db_exec(r, "BEGIN");

	/* launches without the name of their kernel so far */
	if (ret == 0)
		ret = rpd_db_execf(r, "CREATE %sTABLE rtl_unnamed (api_id INTEGER PRIMARY KEY)",
				   r->keeps_state ? "" : "TEMP ");
	if (ret == 0)
		ret = rpd_counter_create(r);
	for (const struct rpd_table *t = rpd_tables; t->name && ret == 0; t++)
		ret = run_made(r, r->opt->rows && rowfile_has(t->name) ?
					  rpd_tables_virtual_sql(t) :
					  rpd_tables_create_sql(t, r->is_compact));
	if (ret == 0)
		ret = run_statements(r, first_rows);
	if (ret == 0)
		ret = rpd_db_execf(
			r,
			"INSERT INTO rocpd_metadata(tag, value) VALUES ('rtl_schema_version', '%d')",
			r->is_compact ? 2 : 1);
	if (ret == 0)
		ret = run_made(r, rpd_tables_references_sql(r->is_compact));
	/* an index is made at the end where that takes no more time than with each row */
	if (ret == 0 && r->keeps_state)
		ret = create_indexes(r);
	return ret == 0 ? rpd_db_exec(r, "COMMIT") : ret;
}

int rpd_schema_finish(struct rpd *r)
{
	int ret = rpd_transaction(r);

	if (ret == 0)
		ret = rpd_db_exec(r, "DROP TABLE rtl_unnamed");
	if (ret == 0)
		ret = rpd_counter_finish(r);
	if (ret == 0)
		ret = run_statements(r, r->is_compact ? compact_views : plain_views);
	if (ret == 0)
		ret = run_statements(r, rpd_views);
	if (ret == 0)
		ret = run_statements(r, rtl_views);
	if (ret == 0 && !r->keeps_state)
		ret = create_indexes(r);
	return ret;
}
