/* SPDX-License-Identifier: MIT */
/* csv_tables.c - the tables of rocprof's CSV files: their columns, and the rows as SQL
 *
 * Statistics are summed by ids, which are few, before names are looked up. What is no measurement (times that
 * were not written, or are inverted) counts as a call of no duration. 65550 are the flags of those, 65536
 * and 65544 those of a begin and an end that are only places on the axis, as in the view rtl_dispatch.
 */
#include <stddef.h>

#include "export/csv_internal.h"

/* ---- statistics ---- */

#define STATS_HEADER "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\""

/* from `groups`, which gives id, n, ns */
#define STATS(groups, names)                                                                       \
	"WITH T AS (" groups "), N AS (SELECT D.string AS name, sum(T.n) AS n, sum(T.ns) AS ns "   \
	"FROM T JOIN rocpd_string D ON D.id = T.id " names " GROUP BY 1) SELECT name, n, ns, "     \
	"ns / n, CASE WHEN (SELECT sum(ns) FROM N) > 0 THEN ns * 100.0 / (SELECT sum(ns) FROM "    \
	"N) ELSE 0.0 END FROM N ORDER BY ns DESC, n DESC, name"

#define DURATION(flags)                                                                            \
	"sum(CASE WHEN coalesce(" flags ", 0) & 65550 OR O.\"end\" < O.start THEN 0 ELSE "         \
	"O.\"end\" - O.start END) AS ns"
#define OPS(id, tables, flags)                                                                     \
	"SELECT " id " AS id, count(*) AS n, " DURATION(flags) " FROM " tables " GROUP BY 1"

#define API_GROUPS(where)                                                                          \
	"SELECT A.apiName_id AS id, count(*) AS n, sum(max(A.\"end\" - A.start, 0)) AS ns FROM "   \
	"rocpd_api A " where " GROUP BY 1"
#define OF_DOMAIN(domains)                                                                         \
	"WHERE A.domain_id IN (SELECT id FROM rocpd_string WHERE string IN (" domains "))"

/* RPD's names of types tell copies, as ours do, and names of calls their domain */
#define IS_COPY(type) "(" type " LIKE 'Copy%' OR " type " LIKE 'Fill%' OR " type " LIKE 'Mem%')"
#define RPD_HIP "D.string <> 'UserMarker' AND D.string NOT LIKE 'hsa%'"
#define RPD_HSA "D.string LIKE 'hsa%'"

static const char kernel_stats[] =
	STATS(OPS("O.description_id", "rtl_op_kernel K JOIN rocpd_op O ON O.id = K.op_id",
		  "K.flags"),
	      "");
static const char copy_stats[] =
	STATS(OPS("O.opType_id", "rtl_op_copy K JOIN rocpd_op O ON O.id = K.op_id", "K.flags"), "");
static const char rpd_kernel_stats[] =
	STATS(OPS("O.description_id",
		  "rocpd_op O JOIN rocpd_string Y ON Y.id = O.opType_id WHERE O.gpuId >= 0 AND "
		  "NOT " IS_COPY("Y.string"),
		  "0"),
	      "");
static const char rpd_copy_stats[] =
	STATS(OPS("O.opType_id", "rocpd_op O", "0"), "WHERE " IS_COPY("D.string"));

/* ---- traces ---- */

#define BEGIN_NS(flags) "CASE WHEN " flags " & 65536 THEN 0 ELSE O.start END"
#define END_NS(flags) "CASE WHEN " flags " & 65544 THEN 0 ELSE O.end END"
#define DURATION_NS "CASE WHEN K.flags & 65550 OR O.end < O.start THEN 0 ELSE O.end - O.start END"

/* rocprof's, with --stats. What a trace does not hold: barriers and signals of a packet are 0; the end
 * stands for the moment at which somebody saw it. */
static const char results[] =
	"SELECT NULL, Y.demangled, O.gpuId, O.queueId, O.sequenceId, P.pid, T.tid, S.grid_x * "
	"S.grid_y * S.grid_z, S.group_x * S.group_y * S.group_z, (S.group_size + 511) / 512 * 512, "
	"S.private_size, coalesce(Y.vgpr_count, 0), coalesce(Y.sgpr_count, 0), 0, '0x0', "
	"printf('0x%x', coalesce(Y.object, 0)), A.start, " BEGIN_NS("K.flags") ", " END_NS(
		"K.flags") ", " END_NS("K.flags") ", " DURATION_NS
						  " FROM rtl_op_kernel K CROSS JOIN rocpd_op O ON "
						  "O.id = K.op_id JOIN rtl_shape S ON S.id = "
						  "K.shape_id JOIN rtl_kernel_symbol Y ON Y.id = "
						  "S.kernel_id JOIN rtl_thread T ON T.id = "
						  "K.thread_id JOIN rtl_process P ON P.id = "
						  "T.process_id LEFT JOIN query_cause L ON "
						  "L.op_id = O.id LEFT JOIN rocpd_api A ON A.id "
						  "= L.api_id ORDER BY P.pid, O.start, O.id";

#define STREAM                                                                                     \
	"LEFT JOIN query_cause L ON L.op_id = O.id LEFT JOIN query_stream M ON M.block = O.id "    \
	">> 32 AND M.name = L.stream "

static const char kernel_trace[] =
	"SELECT 'KERNEL_DISPATCH', G.agent_index, O.queueId, coalesce(M.number, 0), T.tid, NULL, "
	"Y.kernel_id, Y.demangled, O.correlation_id, " BEGIN_NS("K.flags") ", " END_NS(
		"K.flags") ", S.group_size, S.private_size, coalesce(Y.vgpr_count, 0), "
			   "coalesce(Y.accum_vgpr_count, 0), coalesce(Y.sgpr_count, 0), S.group_x, "
			   "S.group_y, S.group_z, S.grid_x, S.grid_y, S.grid_z FROM rtl_op_kernel "
			   "K CROSS JOIN rocpd_op O ON O.id = K.op_id JOIN rtl_shape S ON S.id = "
			   "K.shape_id JOIN rtl_kernel_symbol Y ON Y.id = S.kernel_id JOIN "
			   "rtl_thread T ON T.id = K.thread_id LEFT JOIN rtl_queue Q ON Q.id = "
			   "S.queue_id LEFT JOIN rtl_agent G ON G.id = Q.agent_id " STREAM
			   "ORDER BY O.start, O.id";

static const char rpd_kernel_trace[] =
	"SELECT 'KERNEL_DISPATCH', O.gpuId, O.queueId, coalesce(M.number, 0), NULL, NULL, "
	"O.description_id, D.string, L.api_id, O.start, O.\"end\", NULL, NULL, NULL, NULL, NULL, "
	"NULL, NULL, NULL, NULL, NULL, NULL FROM rocpd_op O JOIN rocpd_string D ON D.id = "
	"O.description_id JOIN rocpd_string Y ON Y.id = O.opType_id " STREAM
	"WHERE O.gpuId >= 0 AND NOT " IS_COPY("Y.string") " ORDER BY O.start, O.id";

static const char copy_trace[] =
	"SELECT 'MEMORY_COPY', CASE K.kind WHEN 0 THEN 'MEMORY_COPY_HOST_TO_HOST' WHEN 1 THEN "
	"'MEMORY_COPY_HOST_TO_DEVICE' WHEN 2 THEN 'MEMORY_COPY_DEVICE_TO_HOST' WHEN 3 THEN "
	"'MEMORY_COPY_DEVICE_TO_DEVICE' WHEN 4 THEN 'MEMORY_COPY_DEVICE_TO_DEVICE' WHEN 5 THEN "
	"'FILL' ELSE 'MEMORY_COPY_NONE' END, coalesce(M.number, 0), F.agent_index, G.agent_index, "
	"O.correlation_id, " BEGIN_NS("K.flags") ", " END_NS(
		"K.flags") " FROM rtl_op_copy K CROSS JOIN rocpd_op O ON O.id = K.op_id LEFT JOIN "
			   "rtl_agent F ON F.id = K.src_agent_id LEFT JOIN rtl_agent G ON G.id = "
			   "K.dst_agent_id " STREAM "ORDER BY O.start, O.id";

#define API_TRACE(domain, name)                                                                    \
	"SELECT " name                                                                             \
	", D.string, A.pid, A.tid, coalesce(X.correlation_id, 0), A.start, A.end FROM rocpd_api "  \
	"A JOIN rocpd_string D ON D.id = A.apiName_id LEFT JOIN rtl_api_data X ON X.api_id = "     \
	"A.id " OF_DOMAIN(domain) " ORDER BY A.start, A.id"
#define RPD_API_TRACE(where, name)                                                                 \
	"SELECT " name ", D.string, A.pid, A.tid, A.id, A.start, A.\"end\" FROM rocpd_api A JOIN " \
	"rocpd_string D ON D.id = A.apiName_id WHERE " where " ORDER BY A.start, A.id"
#define HIP_NAME                                                                                   \
	"CASE WHEN D.string LIKE '\\_\\_%' ESCAPE '\\' THEN 'HIP_COMPILER_API' ELSE "              \
	"'HIP_RUNTIME_API' END"
#define HSA_NAME                                                                                   \
	"CASE WHEN D.string LIKE 'hsa\\_amd\\_%' ESCAPE '\\' THEN 'HSA_AMD_EXT_API' WHEN "         \
	"D.string LIKE 'hsa\\_ext\\_program%' ESCAPE '\\' THEN 'HSA_FINALIZE_EXT_API' WHEN "       \
	"D.string LIKE 'hsa\\_ext\\_%' ESCAPE '\\' THEN 'HSA_IMAGE_EXT_API' ELSE "                 \
	"'HSA_CORE_API' END"

static const char marker_trace[] =
	"SELECT 'MARKER_CORE_API', U.string, A.pid, A.tid, 0, A.start, A.end FROM rtl_marker_data "
	"M JOIN rocpd_api A ON A.id = M.api_id JOIN rocpd_ustring U ON U.id = A.args_id ORDER BY "
	"A.start, A.id";

#define API_HEADER                                                                                 \
	"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","                 \
	"\"Start_Timestamp\",\"End_Timestamp\""

const struct csv_table csv_tables[] = {
	{ "results",
	  "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\","
	  "\"wgr\",\"lds\",\"scr\",\"vgpr\",\"sgpr\",\"fbar\",\"sig\",\"obj\",\"DispatchNs\","
	  "\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"",
	  results, NULL, 0, 0, true, false },
	{ "stats", STATS_HEADER, kernel_stats, rpd_kernel_stats, -1, 0, true, false },
	{ "hip_stats", STATS_HEADER, STATS(API_GROUPS(OF_DOMAIN("'hip'")), ""),
	  STATS(API_GROUPS(""), "WHERE " RPD_HIP), -1, 0, false, false },
	{ "hsa_stats", STATS_HEADER, STATS(API_GROUPS(OF_DOMAIN("'hsa'")), ""),
	  STATS(API_GROUPS(""), "WHERE " RPD_HSA), -1, 0, false, false },
	{ "api_stats", STATS_HEADER, STATS(API_GROUPS(OF_DOMAIN("'hip', 'hsa'")), ""),
	  STATS(API_GROUPS(""), "WHERE D.string <> 'UserMarker'"), -1, 0, false, true },
	{ "copy_stats", STATS_HEADER, copy_stats, rpd_copy_stats, -1, 0, false, false },
	{ "kernel_trace",
	  "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
	  "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
	  "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
	  "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
	  "\"Grid_Size_Y\",\"Grid_Size_Z\"",
	  kernel_trace, rpd_kernel_trace, 5, 1, true, false },
	{ "hip_api_trace", API_HEADER, API_TRACE("'hip'", HIP_NAME),
	  RPD_API_TRACE(RPD_HIP, HIP_NAME), -1, 0, false, false },
	{ "hsa_api_trace", API_HEADER, API_TRACE("'hsa'", HSA_NAME),
	  RPD_API_TRACE(RPD_HSA, HSA_NAME), -1, 0, false, false },
	{ "memory_copy_trace",
	  "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
	  "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"",
	  copy_trace, NULL, -1, 0, false, false },
	{ "marker_api_trace", API_HEADER, marker_trace, NULL, -1, 0, false, false },
	{ NULL, NULL, NULL, NULL, -1, 0, false, false },
};
