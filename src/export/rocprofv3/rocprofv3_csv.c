/* SPDX-License-Identifier: MIT */
/* rocprofv3_csv.c - rocprofv3's CSV files: their columns, and the rows as SQL
 *
 * Not here: lines and fields (csv.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/csv_columns.h"
#include "export/rocprofv3/rocprofv3_internal.h"

/* ---- traces ---- */

/* Texts of ranges are looked up only where kernels are named after them. */
static const struct csv_column kernel_columns[] = {
	CSV_KERNEL_COLUMNS(
		"G.label", ROCPROFV3_QUEUE,
		"CASE WHEN O.roctxId AND (SELECT renamed FROM temp.rocprofv3_flags) THEN (SELECT U.string "
		"FROM rocpd_api R JOIN rocpd_ustring U ON U.id = R.args_id WHERE R.id = O.roctxId) ELSE "
		"N.name END"),
};
static const struct csv_column counter_columns[] = {
	CSV_COUNTER_COLUMNS("G.label", ROCPROFV3_QUEUE, "N.name"),
};
static const struct csv_column copy_columns[] = {
	CSV_COPY_COLUMNS("F.label", "G.label"),
};
#define PROCESS_ID "(SELECT os_pid FROM rtl_process WHERE ?1 BETWEEN id_first AND id_last)"
static const struct csv_column call_columns[] = {
	OURS("Domain", "H.domain"),
	OURS("Function", "H.name"),
	OURS("Process_Id", PROCESS_ID),
	OURS("Thread_Id", "A.tid"),
	OURS("Correlation_Id", "coalesce(X.correlation_id, 0)"),
	OURS("Start_Timestamp", "A.start"),
	OURS("End_Timestamp", "A.\"end\""),
};
static const struct csv_column marker_columns[] = {
	OURS("Domain", "'MARKER_CORE_API'"),
	OURS("Function", "U.string"),
	OURS("Process_Id", PROCESS_ID),
	OURS("Thread_Id", "A.tid"),
	OURS("Correlation_Id", ROCPROFV3_MARKER_ID("A.id")),
	OURS("Start_Timestamp", "A.start"),
	OURS("End_Timestamp", "A.\"end\""),
};
static const struct csv_column allocation_columns[] = {
	OURS("Kind", "'MEMORY_ALLOCATION'"),
	OURS("Operation",
	     "CASE H.operation WHEN 1 THEN 'MEMORY_ALLOCATION_ALLOCATE' WHEN 2 THEN "
	     "'MEMORY_ALLOCATION_VMEM_ALLOCATE' WHEN 3 THEN 'MEMORY_ALLOCATION_FREE' ELSE "
	     "'MEMORY_ALLOCATION_VMEM_FREE' END"),
	OURS("Agent_Id", "G.label"),
	OURS("Allocation_Size", "coalesce(rocprofv3_arg(U.string, H.size), 0)"),
	OURS("Address", "printf('0x%x', coalesce(rocprofv3_arg(U.string, H.address), 0))"),
	OURS("Correlation_Id", "X.correlation_id"),
	OURS("Start_Timestamp", "A.start"),
	OURS("End_Timestamp", "A.\"end\""),
};
#define SCRATCH_NAME(operation)                                                                    \
	"CASE " operation " WHEN 1 THEN 'SCRATCH_MEMORY_ALLOC' WHEN 2 THEN 'SCRATCH_MEMORY_FREE' " \
	"ELSE 'SCRATCH_MEMORY_ASYNC_RECLAIM' END"
static const struct csv_column scratch_columns[] = {
	OURS("Kind", "'SCRATCH_MEMORY'"),   OURS("Operation", SCRATCH_NAME("W.operation")),
	OURS("Agent_Id", "G.label"),	    OURS("Queue_Id", "W.queue"),
	OURS("Thread_Id", "W.tid"),	    OURS("Alloc_Flags", "W.flags"),
	OURS("Start_Timestamp", "W.start"), OURS("End_Timestamp", "W.\"end\""),
	OURS("Allocation_Size", "W.bytes"),
};

/* ---- agents ---- */

/* "Cu_Count" is cu_count of the SDK's agents. A trace has those that HSA tells; the others are
 * 0. */
static const struct csv_column agent_columns[] = {
	OURS("Node_Id", "coalesce(A.driver_node, A.agent_index)"),
	OURS("Logical_Node_Id", "A.agent_index"),
	OURS("Agent_Type", "A.type"),
	OURS("Cpu_Cores_Count", "CASE A.type WHEN 'CPU' THEN coalesce(A.nr_cu, 0) ELSE 0 END"),
	OURS("Simd_Count",
	     "CASE A.type WHEN 'GPU' THEN coalesce(A.nr_cu * A.simd_per_cu, 0) ELSE 0 END"),
	OURS("Cpu_Core_Id_Base", "0"),
	OURS("Simd_Id_Base", "0"),
	OURS("Max_Waves_Per_Simd", "coalesce(A.max_waves_per_cu / nullif(A.simd_per_cu, 0), 0)"),
	OURS("Lds_Size_In_Kb", "0"),
	OURS("Gds_Size_In_Kb", "0"),
	OURS("Num_Gws", "0"),
	OURS("Wave_Front_Size", "coalesce(A.wave_size, 0)"),
	OURS("Num_Xcc", "0"),
	OURS("Cu_Count", "CASE A.type WHEN 'GPU' THEN coalesce(A.nr_cu, 0) ELSE 0 END"),
	OURS("Array_Count", "0"),
	OURS("Num_Shader_Banks", "0"),
	OURS("Simd_Arrays_Per_Engine", "0"),
	OURS("Cu_Per_Simd_Array", "0"),
	OURS("Simd_Per_Cu", "coalesce(A.simd_per_cu, 0)"),
	OURS("Max_Slots_Scratch_Cu", "0"),
	OURS("Gfx_Target_Version", "rocprofv3_gfx(A.name)"),
	OURS("Vendor_Id", "0"),
	OURS("Device_Id", "0"),
	OURS("Location_Id", "coalesce(A.bdf, 0)"),
	OURS("Domain", "0"),
	OURS("Drm_Render_Minor", "0"),
	OURS("Num_Sdma_Engines", "0"),
	OURS("Num_Sdma_Xgmi_Engines", "0"),
	OURS("Num_Sdma_Queues_Per_Engine", "0"),
	OURS("Num_Cp_Queues", "0"),
	OURS("Max_Engine_Clk_Ccompute",
	     "CASE A.type WHEN 'CPU' THEN coalesce(A.clock_mhz, 0) ELSE 0 END"),
	OURS("Max_Engine_Clk_Fcompute",
	     "CASE A.type WHEN 'GPU' THEN coalesce(A.clock_mhz, 0) ELSE 0 END"),
	OURS("Sdma_Fw_Version", "0"),
	OURS("Fw_Version", "0"),
	OURS("Capability", "0"),
	OURS("Cu_Per_Engine", "0"),
	OURS("Max_Waves_Per_Cu", "coalesce(A.max_waves_per_cu, 0)"),
	OURS("Family_Id", "0"),
	OURS("Workgroup_Max_Size", "0"),
	OURS("Grid_Max_Size", "0"),
	OURS("Local_Mem_Size", "0"),
	OURS("Hive_Id", "0"),
	OURS("Gpu_Id", "0"),
	OURS("Workgroup_Max_Dim_X", "0"),
	OURS("Workgroup_Max_Dim_Y", "0"),
	OURS("Workgroup_Max_Dim_Z", "0"),
	OURS("Grid_Max_Dim_X", "0"),
	OURS("Grid_Max_Dim_Y", "0"),
	OURS("Grid_Max_Dim_Z", "0"),
	OURS("Name", "coalesce(A.name, '')"),
	OURS("Vendor_Name", "coalesce(A.vendor, '')"),
	OURS("Product_Name", "coalesce(A.product, '')"),
	OURS("Model_Name", "''"),
};
#define AGENTS                                                                                     \
	"SELECT $ FROM rtl_agent A WHERE A.process_id = (SELECT id FROM rtl_process WHERE ?1 "     \
	"BETWEEN id_first AND id_last) ORDER BY A.agent_index"

/* ---- statistics ---- */

/* The squares are summed around no mean: their doubles are exact to nine digits for any number of
 * records. */
static const struct csv_column stats_columns[] = {
	OURS("Name", "name"),
	OURS("Calls", "n"),
	OURS("TotalDurationNs", "ns"),
	OURS("AverageNs", "ns * 1.0 / n"),
	OURS("Percentage",
	     "CASE WHEN (SELECT sum(ns) FROM N) > 0 THEN ns * 100.0 / (SELECT sum(ns) FROM N) ELSE "
	     "0.0 END"),
	OURS("MinNs", "low"),
	OURS("MaxNs", "high"),
	OURS("StdDev",
	     "CASE WHEN n > 1 THEN rocprofv3_root((squares - ns * 1.0 * ns / n) / (n - 1)) ELSE 0.0 "
	     "END"),
};

#define SUMS(id, duration)                                                                         \
	" " id " AS id, count(*) AS n, sum(" duration ") AS ns, min(" duration                     \
	") AS low, max(" duration ") AS high, sum(" duration " * 1.0 * " duration ") AS squares "
#define HOST_NS "max(A.\"end\" - A.start, 0)"
/* `groups` selects sums by an id, `name` is its name */
#define STATS(groups, name, names)                                                                 \
	"WITH S AS (" groups "), N AS (SELECT " name " AS name, sum(S.n) AS n, sum(S.ns) AS ns, "  \
	"min(S.low) AS low, max(S.high) AS high, sum(S.squares) AS squares FROM S " names          \
	" GROUP BY 1) SELECT $ FROM N ORDER BY ns DESC, n DESC, name"

#define KERNEL_SUMS                                                                                                  \
	"SELECT" SUMS(                                                                                               \
		"S.kernel_id",                                                                                       \
		DURATION_NS) "FROM rtl_op_kernel K CROSS JOIN rocpd_op O ON "                                        \
			     "O.id = K.op_id JOIN rtl_shape S ON S.id = K.shape_id WHERE K.op_id BETWEEN ?1 AND ?2 " \
			     "GROUP BY 1"
#define COPY_SUMS                                                                                  \
	"SELECT" SUMS("K.kind", DURATION_NS) "FROM rtl_op_copy K CROSS JOIN rocpd_op O ON O.id = " \
					     "K.op_id WHERE K.op_id BETWEEN ?1 AND ?2 GROUP BY 1"
#define CALL_SUMS(kinds)                                                                           \
	"SELECT" SUMS(                                                                             \
		"A.apiName_id",                                                                    \
		HOST_NS) "FROM rocpd_api A CROSS JOIN "                                            \
			 "temp.rocprofv3_function H ON H.id = A.apiName_id AND H.kind IN (" kinds  \
			 ") WHERE A.id "                                                           \
			 "BETWEEN ?1 AND ?2 GROUP BY 1"
#define MARKER_SUMS                                                                                \
	"SELECT" SUMS("A.args_id",                                                                 \
		      HOST_NS) "FROM rtl_marker_data M CROSS JOIN rocpd_api A ON "                 \
			       "A.id = M.api_id WHERE M.api_id BETWEEN ?1 AND ?2 GROUP BY 1"
#define ALLOCATION_SUMS                                                                                          \
	"SELECT" SUMS(                                                                                           \
		"H.operation",                                                                                   \
		HOST_NS) "FROM rocpd_api A CROSS JOIN "                                                          \
			 "temp.rocprofv3_allocation H ON H.id = A.apiName_id JOIN rtl_api_data X ON X.api_id = " \
			 "A.id AND X.status = 0 WHERE A.id BETWEEN ?1 AND ?2 GROUP BY 1"

#define SCRATCH_SUMS                                                                               \
	"SELECT" SUMS("W.operation", "max(W.\"end\" - W.start, 0)") "FROM temp.rocprofv3_scratch " \
								    "W WHERE W.id BETWEEN ?1 AND " \
								    "?2 GROUP BY 1"

#define COPY_NAME                                                                                    \
	"CASE S.id WHEN 0 THEN 'MEMORY_COPY_HOST_TO_HOST' WHEN 1 THEN 'MEMORY_COPY_HOST_TO_DEVICE' " \
	"WHEN 2 THEN 'MEMORY_COPY_DEVICE_TO_HOST' WHEN 5 THEN 'FILL' WHEN 3 THEN "                   \
	"'MEMORY_COPY_DEVICE_TO_DEVICE' WHEN 4 THEN 'MEMORY_COPY_DEVICE_TO_DEVICE' ELSE "            \
	"'MEMORY_COPY_NONE' END"
#define ALLOCATION_NAME                                                                            \
	"CASE S.id WHEN 1 THEN 'MEMORY_ALLOCATION_ALLOCATE' WHEN 2 THEN "                          \
	"'MEMORY_ALLOCATION_VMEM_ALLOCATE' WHEN 3 THEN 'MEMORY_ALLOCATION_FREE' ELSE "             \
	"'MEMORY_ALLOCATION_VMEM_FREE' END"

#define DOMAIN_OF(bit, label, sums)                                                                \
	"SELECT '" label "' AS id, n, ns, low, high, squares FROM (" sums ") WHERE "               \
	"(SELECT domains FROM temp.rocprofv3_flags) & " bit

#define OR(domain) " UNION ALL " domain
#define OF_HIP DOMAIN_OF("24", "HIP_API", CALL_SUMS(ROCPROFV3_HIP_KINDS))
#define OF_HSA DOMAIN_OF("480", "HSA_API", CALL_SUMS(ROCPROFV3_HSA_KINDS))
#define OF_SCRATCH DOMAIN_OF("8192", "SCRATCH_MEMORY", SCRATCH_SUMS)
#define OF_RCCL DOMAIN_OF("4096", "RCCL_API", CALL_SUMS(ROCPROFV3_RCCL_KINDS))

static const char domain_stats[] =
	STATS(DOMAIN_OF("1", "KERNEL_DISPATCH", KERNEL_SUMS)
		      OR(DOMAIN_OF("2", "MEMORY_COPY", COPY_SUMS))
			      OR(DOMAIN_OF("4", "MARKER_API", MARKER_SUMS)) OR(OF_HIP) OR(OF_HSA)
				      OR(DOMAIN_OF("512", "MEMORY_ALLOCATION", ALLOCATION_SUMS))
					      OR(OF_RCCL) OR(OF_SCRATCH),
	      "S.id", "");

/* ---- the files ---- */

#define SELECTED(file, cols, sql, asked)                                                           \
	{                                                                                          \
		.name = file, .columns = cols, .nr = sizeof(cols) / sizeof(cols[0]), .ours = sql,  \
		.domains = asked                                                                   \
	}

static const struct csv_table tables[] = {
	{ .name = "agent_info",
	  .columns = agent_columns,
	  .nr = sizeof(agent_columns) / sizeof(agent_columns[0]),
	  .ours = AGENTS,
	  .always = true,
	  .domains = ROCPROFV3_ALL },
	SELECTED("kernel_trace", kernel_columns, "SELECT $" ROCPROFV3_KERNELS, ROCPROFV3_KERNEL),
	SELECTED("hip_api_trace", call_columns, "SELECT $" ROCPROFV3_CALLS(ROCPROFV3_HIP_KINDS),
		 ROCPROFV3_HIP),
	SELECTED("hsa_api_trace", call_columns, "SELECT $" ROCPROFV3_CALLS(ROCPROFV3_HSA_KINDS),
		 ROCPROFV3_HSA),
	SELECTED("rccl_api_trace", call_columns, "SELECT $" ROCPROFV3_CALLS(ROCPROFV3_RCCL_KINDS),
		 ROCPROFV3_RCCL),
	SELECTED("marker_api_trace", marker_columns, "SELECT $" ROCPROFV3_MARKERS,
		 ROCPROFV3_MARKER),
	SELECTED("memory_copy_trace", copy_columns, "SELECT $" ROCPROFV3_COPIES, ROCPROFV3_COPY),
	SELECTED("memory_allocation_trace", allocation_columns, "SELECT $" ROCPROFV3_ALLOCATIONS,
		 ROCPROFV3_ALLOCATION),
	SELECTED("scratch_memory_trace", scratch_columns, "SELECT $" ROCPROFV3_SCRATCHES,
		 ROCPROFV3_SCRATCH),
	SELECTED("counter_collection", counter_columns,
		 "SELECT $" ROCPROFV3_OF_KERNELS CSV_COUNTERS
		 "WHERE K.op_id BETWEEN ?1 AND ?2 ORDER BY O.start, O.id, C.id",
		 ROCPROFV3_COUNTERS),
	SELECTED("kernel_stats", stats_columns,
		 STATS(KERNEL_SUMS, "Y.name", "JOIN temp.rocprofv3_kernel Y ON Y.id = S.id"),
		 ROCPROFV3_KERNEL | ROCPROFV3_STATS),
	SELECTED("hip_api_stats", stats_columns,
		 STATS(CALL_SUMS(ROCPROFV3_HIP_KINDS), "D.string",
		       "JOIN rocpd_string D ON D.id = S.id"),
		 ROCPROFV3_HIP | ROCPROFV3_STATS),
	SELECTED("hsa_api_stats", stats_columns,
		 STATS(CALL_SUMS(ROCPROFV3_HSA_KINDS), "D.string",
		       "JOIN rocpd_string D ON D.id = S.id"),
		 ROCPROFV3_HSA | ROCPROFV3_STATS),
	SELECTED("rccl_api_stats", stats_columns,
		 STATS(CALL_SUMS(ROCPROFV3_RCCL_KINDS), "D.string",
		       "JOIN rocpd_string D ON D.id = S.id"),
		 ROCPROFV3_RCCL | ROCPROFV3_STATS),
	SELECTED("marker_api_stats", stats_columns,
		 STATS(MARKER_SUMS, "U.string", "JOIN rocpd_ustring U ON U.id = S.id"),
		 ROCPROFV3_MARKER | ROCPROFV3_STATS),
	SELECTED("memory_copy_stats", stats_columns, STATS(COPY_SUMS, COPY_NAME, ""),
		 ROCPROFV3_COPY | ROCPROFV3_STATS),
	SELECTED("memory_allocation_stats", stats_columns,
		 STATS(ALLOCATION_SUMS, ALLOCATION_NAME, ""),
		 ROCPROFV3_ALLOCATION | ROCPROFV3_STATS),
	SELECTED("scratch_memory_stats", stats_columns,
		 STATS(SCRATCH_SUMS, SCRATCH_NAME("S.id"), ""),
		 ROCPROFV3_SCRATCH | ROCPROFV3_STATS),
	SELECTED("domain_stats", stats_columns, domain_stats, ROCPROFV3_STATS),
	{ .name = NULL },
};

/* Statistics are written if both they and their domain are. */
static bool is_chosen(const struct query *q, const struct csv_table *t)
{
	uint32_t chosen = rocprofv3_files_choice(q)->domains;
	uint32_t of_domain = t->domains & ~(uint32_t)ROCPROFV3_STATS;

	if (t->domains == ROCPROFV3_ALL)
		return true;
	if (t->domains & ROCPROFV3_STATS && !(chosen & ROCPROFV3_STATS))
		return false;
	return !of_domain || chosen & of_domain;
}

const struct csv_table *rocprofv3_csv_table(const char *name)
{
	const struct csv_table *t = tables;

	while (strcmp(t->name, name) != 0)
		t++;
	return t;
}

static bool name_table(char name[ROCPROFV3_NAME_SIZE], const char *stem, const struct csv_table *t)
{
	return snprintf(name, ROCPROFV3_NAME_SIZE, "%s_%s.csv", stem, t->name) <
	       ROCPROFV3_NAME_SIZE;
}

static bool any_exists(struct query *q, const char *stem)
{
	char name[ROCPROFV3_NAME_SIZE];

	for (const struct csv_table *t = tables; t->name; t++)
		if (is_chosen(q, t) && name_table(name, stem, t) && access(name, F_OK) == 0)
			return true;
	return false;
}

static int write_tables(struct query *q, const char *stem)
{
	char name[ROCPROFV3_NAME_SIZE];
	int nr = 0;

	for (const struct csv_table *t = tables; t->name; t++) {
		int ret;

		if (!is_chosen(q, t))
			continue;
		if (!name_table(name, stem, t))
			return query_fail(q, -ENAMETOOLONG, "%s: the name is too long", stem);
		ret = csv_table_write(q, t, name);
		if (ret < 0)
			return ret;
		nr += ret;
	}
	return nr;
}

int rocprofv3_csv_write(struct query *q, const char *out)
{
	static const char *const none[] = { NULL };
	static const struct rocprofv3_form form = {
		.format = "rocprofv3-csv",
		.suffix = "",
		.endings = none,
		.exists = any_exists,
		.write = write_tables,
	};

	q->total *= 2; /* each row for its trace and for its statistics */
	return rocprofv3_files_write(q, out, &form);
}

void rocprofv3_csv_document(void (*put)(const char *line))
{
	put("");
	put("## Columns of rocprofv3's CSV files");
	put("");
	put("| file | columns |");
	put("|---|---|");
	for (const struct csv_table *t = tables; t->name; t++)
		csv_table_document(put, t);
}
