/* SPDX-License-Identifier: MIT */
/* csv_tables.c - the tables of rocprof's CSV files: their columns, and the rows as SQL
 *
 * Statistics are summed by ids, which are few, before names are looked up. Operations without
 * measured times count as calls of no duration.
 */
#include <stddef.h>

#include "export/csv/csv_internal.h"
#include "export/csv_columns.h"

/* ---- statistics ---- */

static const struct csv_column stats[] = {
	SAME("Name", "name"),
	SAME("Calls", "n"),
	SAME("TotalDurationNs", "ns"),
	SAME("AverageNs", "ns / n"),
	SAME("Percentage",
	     "CASE WHEN (SELECT sum(ns) FROM N) > 0 THEN ns * 100.0 / (SELECT sum(ns) "
	     "FROM N) ELSE 0.0 END"),
};

/* `groups` selects id, n, ns */
#define STATS(groups, names)                                                                       \
	"WITH T AS (" groups "), N AS (SELECT D.string AS name, sum(T.n) AS n, sum(T.ns) AS ns "   \
	"FROM T JOIN rocpd_string D ON D.id = T.id " names " GROUP BY 1) SELECT $ FROM N ORDER "   \
	"BY ns DESC, n DESC, name"

#define DURATION(flags)                                                                            \
	"sum(CASE WHEN coalesce(" flags ", 0) & " KINDS_UNTIMED                                    \
	" OR O.\"end\" < O.start THEN 0 ELSE "                                                     \
	"O.\"end\" - O.start END) AS ns"
#define OPS(id, tables, flags)                                                                     \
	"SELECT " id " AS id, count(*) AS n, " DURATION(flags) " FROM " tables " GROUP BY 1"

#define API_GROUPS(where)                                                                          \
	"SELECT A.apiName_id AS id, count(*) AS n, sum(max(A.\"end\" - A.start, 0)) AS ns FROM "   \
	"rocpd_api A " where " GROUP BY 1"
/* RPD has no domains of calls: their names show them */
#define RPD_HIP "D.string <> 'UserMarker' AND D.string NOT LIKE 'hsa%'"
#define RPD_HSA "D.string LIKE 'hsa%'"

/* Kernels with which HIP copies or fills are copies in sums: lists of dispatches have them, as
 * rocprof's and rocprofv3's. */
#define NO_TRANSFER                                                                                \
	"O.description_id NOT IN (SELECT id FROM rocpd_string WHERE " KINDS_IS_BLIT("string") ")"

static const char kernel_stats[] =
	STATS(OPS("O.description_id",
		  "rtl_op_kernel K JOIN rocpd_op O ON O.id = K.op_id WHERE " NO_TRANSFER,
		  "K.flags"),
	      "");
#define TEXT_OF(id)                                                                                \
	"coalesce((SELECT string FROM rocpd_string WHERE id = " id "), (SELECT string FROM "       \
	"temp.query_type WHERE id = " id "))"
static const char copy_stats[] = "WITH T AS (" OPS(
	"O.opType_id", "rtl_op_copy K JOIN rocpd_op O ON O.id = K.op_id",
	"K.flags") " UNION ALL " OPS("-1 - X.type",
				     "temp.query_transfer X JOIN rocpd_op O ON O.id = "
				     "X.op_id JOIN rtl_op_kernel K ON K.op_id = O.id",
				     "K.flags") "), N AS (SELECT " TEXT_OF("T.id") " AS name, sum(n) AS n, "
										   "sum(ns) AS ns FROM T GROUP BY 1) SELECT $ FROM N ORDER BY ns DESC, n DESC, name";
static const char rpd_kernel_stats[] =
	STATS(OPS("O.description_id",
		  "rocpd_op O JOIN rocpd_string Y ON Y.id = O.opType_id WHERE O.gpuId >= 0 AND "
		  "NOT " KINDS_IS_COPY("Y.string") " AND " NO_TRANSFER,
		  "0"),
	      "");
static const char rpd_copy_stats[] =
	STATS(OPS("O.opType_id", "rocpd_op O", "0"), "WHERE " KINDS_IS_COPY("D.string"));

/* ---- traces ---- */

/* rocprof's columns with --stats. A trace lacks the barrier bit and the signal of a packet: they
 * are 0; and the time at which rocprof saw the completion: it is the end. */
static const struct csv_column results_columns[] = {
	OURS("Index", COUNT_FROM_0),
	OURS("KernelName", "Y.demangled"),
	OURS("gpu-id", "O.gpuId"),
	OURS("queue-id", "O.queueId"),
	OURS("queue-index", "O.sequenceId"),
	OURS("pid", "P.pid"),
	OURS("tid", "T.tid"),
	OURS("grd", "S.grid_x * S.grid_y * S.grid_z"),
	OURS("wgr", "S.group_x * S.group_y * S.group_z"),
	OURS("lds", "(S.group_size + 511) / 512 * 512"),
	OURS("scr", "S.private_size"),
	OURS("vgpr", "coalesce(Y.vgpr_count, 0)"),
	OURS("sgpr", "coalesce(Y.sgpr_count, 0)"),
	OURS("fbar", "0"),
	OURS("sig", "'0x0'"),
	OURS("obj", "printf('0x%x', coalesce(Y.object, 0))"),
	OURS("DispatchNs", "A.start"),
	OURS("BeginNs", BEGIN_NS("K.flags")),
	OURS("EndNs", END_NS("K.flags")),
	OURS("CompleteNs", END_NS("K.flags")),
	OURS("DurationNs", DURATION_NS),
};

static const char results[] = KERNELS
	"JOIN rtl_process P ON P.id = T.process_id LEFT JOIN query_cause L ON L.op_id = "
	"O.id LEFT JOIN rocpd_api A ON A.id = L.api_id ORDER BY P.pid, O.start, O.id";

static const struct csv_column kernel_trace_columns[] = {
	CSV_KERNEL_COLUMNS("G.agent_index", "O.queueId", "Y.demangled"),
};

static const char kernel_trace[] = KERNELS CSV_OF_AGENT STREAM "ORDER BY O.start, O.id";

static const struct csv_column counter_columns[] = {
	CSV_COUNTER_COLUMNS("G.agent_index", "O.queueId", "Y.demangled"),
};

static const char counters[] = KERNELS CSV_COUNTERS CSV_OF_AGENT "ORDER BY O.start, O.id, C.id";

static const char rpd_kernel_trace[] =
	"SELECT $ FROM rocpd_op O JOIN rocpd_string D ON D.id = O.description_id JOIN rocpd_string Y "
	"ON Y.id = O.opType_id " STREAM
	"WHERE O.gpuId >= 0 AND NOT " KINDS_IS_COPY("Y.string") " ORDER BY O.start, O.id";

static const struct csv_column copy_trace_columns[] = {
	CSV_COPY_COLUMNS("F.agent_index", "G.agent_index"),
};

static const char copy_trace[] =
	"SELECT $ FROM rtl_op_copy K CROSS JOIN rocpd_op O ON O.id = K.op_id LEFT JOIN rtl_agent F ON "
	"F.id = K.src_agent_id LEFT JOIN rtl_agent G ON G.id = K.dst_agent_id " STREAM
	"ORDER BY O.start, O.id";

static const struct csv_column hip_trace_columns[] = {
	API_COLUMNS("CASE WHEN D.string LIKE '\\_\\_%' ESCAPE '\\' THEN 'HIP_COMPILER_API' ELSE "
		    "'HIP_RUNTIME_API' END",
		    "D.string", "coalesce(X.correlation_id, 0)"),
};
static const struct csv_column hsa_trace_columns[] = {
	API_COLUMNS(
		"CASE WHEN D.string LIKE 'hsa\\_amd\\_%' ESCAPE '\\' THEN 'HSA_AMD_EXT_API' WHEN "
		"D.string LIKE 'hsa\\_ext\\_program%' ESCAPE '\\' THEN 'HSA_FINALIZE_EXT_API' WHEN "
		"D.string LIKE 'hsa\\_ext\\_%' ESCAPE '\\' THEN 'HSA_IMAGE_EXT_API' ELSE "
		"'HSA_CORE_API' END",
		"D.string", "coalesce(X.correlation_id, 0)"),
};
static const struct csv_column marker_trace_columns[] = {
	API_COLUMNS("'MARKER_CORE_API'", "U.string", "0"),
};

#define API_TRACE(domain)                                                                          \
	"SELECT $ FROM rocpd_api A JOIN rocpd_string D ON D.id = A.apiName_id LEFT JOIN "          \
	"rtl_api_data X ON X.api_id = A.id " OF_DOMAIN(domain) " ORDER BY A.start, A.id"
#define RPD_API_TRACE(where)                                                                       \
	"SELECT $ FROM rocpd_api A JOIN rocpd_string D ON D.id = A.apiName_id WHERE " where        \
	" ORDER BY A.start, A.id"

static const char marker_trace[] =
	"SELECT $ FROM rtl_marker_data M JOIN rocpd_api A ON A.id = M.api_id JOIN rocpd_ustring U ON "
	"U.id = A.args_id ORDER BY A.start, A.id";

const struct csv_table csv_tables[] = {
	{ .name = "results",
	  .columns = results_columns,
	  .nr = sizeof(results_columns) / sizeof(results_columns[0]),
	  .ours = results,
	  .always = true,
	  .before_counters = "obj",
	  .has_column = csv_has_column,
	  .is_plain = csv_is_plain },
	TABLE("stats", stats, kernel_stats, rpd_kernel_stats, true, false),
	TABLE("hip_stats", stats, STATS(API_GROUPS(OF_DOMAIN("'hip'")), ""),
	      STATS(API_GROUPS(""), "WHERE " RPD_HIP), false, false),
	TABLE("hsa_stats", stats, STATS(API_GROUPS(OF_DOMAIN("'hsa'")), ""),
	      STATS(API_GROUPS(""), "WHERE " RPD_HSA), false, false),
	TABLE("api_stats", stats, STATS(API_GROUPS(OF_DOMAIN("'hip', 'hsa'")), ""),
	      STATS(API_GROUPS(""), "WHERE D.string <> 'UserMarker'"), false, true),
	TABLE("copy_stats", stats, copy_stats, rpd_copy_stats, false, false),
	TABLE("kernel_trace", kernel_trace_columns, kernel_trace, rpd_kernel_trace, true, false),
	TABLE("hip_api_trace", hip_trace_columns, API_TRACE("'hip'"), RPD_API_TRACE(RPD_HIP), false,
	      false),
	TABLE("hsa_api_trace", hsa_trace_columns, API_TRACE("'hsa'"), RPD_API_TRACE(RPD_HSA), false,
	      false),
	TABLE("memory_copy_trace", copy_trace_columns, copy_trace, NULL, false, false),
	TABLE("counter_collection", counter_columns, counters, NULL, false, false),
	TABLE("marker_api_trace", marker_trace_columns, marker_trace, NULL, false, false),
	{ .name = NULL },
};
