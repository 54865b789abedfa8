/* SPDX-License-Identifier: MIT */
/* csv_columns.h - columns and rows as SQL that CSV files of rocprof and of rocprofv3 have in common
 *
 * KINDS_UNTIMED is the mask of the flags of operations without measured times (not
 * written, or inverted), 65536 and 65544 those of a begin and an end that are only positions on the
 * time axis, as in the view rtl_dispatch.
 */
#ifndef RTL_EXPORT_CSV_COLUMNS_H
#define RTL_EXPORT_CSV_COLUMNS_H

#include "export/csv_table.h"
#include "query/rows.h"
#include "query/transfer.h"

/* clang-format off */
#define BOTH(name, ours, rpd) { name, ours, rpd }
#define SAME(name, sql) { name, sql, sql }
#define OURS(name, sql) { name, sql, "NULL" }
#define TABLE(file, cols, rows, rows_rpd, written, none) \
	{ .name = file, .columns = cols, .nr = sizeof(cols) / sizeof(cols[0]), .ours = rows, .rpd = rows_rpd, \
	  .always = written, .no_file = none }
/* clang-format on */
#define COUNT_FROM_0 "NULL AS count_from_0"
#define COUNT_FROM_1 "NULL AS count_from_1"

#define OF_DOMAIN(domains)                                                                         \
	"WHERE A.domain_id IN (SELECT id FROM rocpd_string WHERE string IN (" domains "))"

#define BEGIN_NS(flags) "CASE WHEN " flags " & 65536 THEN 0 ELSE O.start END"
#define END_NS(flags) "CASE WHEN " flags " & 65544 THEN 0 ELSE O.end END"
#define DURATION_NS                                                                                \
	"CASE WHEN K.flags & " KINDS_UNTIMED " OR O.end < O.start THEN 0 ELSE O.end - O.start END"

/* rocprofv3 has what the kernel itself declares, without what a launch adds, in blocks of 512
 * bytes. */
#define LDS_BLOCKS "(coalesce(Y.group_size, S.group_size) + 511) / 512 * 512"

#define KERNELS                                                                                       \
	"SELECT $ FROM rtl_op_kernel K CROSS JOIN rocpd_op O ON O.id = K.op_id JOIN rtl_shape S ON "  \
	"S.id = K.shape_id JOIN rtl_kernel_symbol Y ON Y.id = S.kernel_id JOIN rtl_thread T ON T.id " \
	"= K.thread_id "

#define STREAM                                                                                     \
	"LEFT JOIN query_cause L ON L.op_id = O.id LEFT JOIN query_stream M ON M.block = O.id "    \
	">> 32 AND M.name = L.stream "

#define CSV_KERNEL_COLUMNS(agent, queue, kernel)                                                   \
	SAME("Kind", "'KERNEL_DISPATCH'"), BOTH("Agent_Id", agent, "O.gpuId"),                     \
		BOTH("Queue_Id", queue, "O.queueId"), SAME("Stream_Id", "coalesce(M.number, 0)"),  \
		OURS("Thread_Id", "T.tid"), SAME("Dispatch_Id", COUNT_FROM_1),                     \
		BOTH("Kernel_Id", "Y.kernel_id", "O.description_id"),                              \
		BOTH("Kernel_Name", kernel, "D.string"),                                           \
		BOTH("Correlation_Id", "O.correlation_id", "L.api_id"),                            \
		BOTH("Start_Timestamp", BEGIN_NS("K.flags"), "O.start"),                           \
		BOTH("End_Timestamp", END_NS("K.flags"), "O.\"end\""),                             \
		OURS("LDS_Block_Size", LDS_BLOCKS), OURS("Scratch_Size", "S.private_size"),        \
		OURS("VGPR_Count", "coalesce(Y.vgpr_count, 0)"),                                   \
		OURS("Accum_VGPR_Count", "coalesce(Y.accum_vgpr_count, 0)"),                       \
		OURS("SGPR_Count", "coalesce(Y.sgpr_count, 0)"),                                   \
		OURS("Workgroup_Size_X", "S.group_x"), OURS("Workgroup_Size_Y", "S.group_y"),      \
		OURS("Workgroup_Size_Z", "S.group_z"), OURS("Grid_Size_X", "S.grid_x"),            \
		OURS("Grid_Size_Y", "S.grid_y"), OURS("Grid_Size_Z", "S.grid_z")
/* rocprofv3's columns of a counter or metric of a dispatch: C is rocpd_counter, W its name. */
#define CSV_COUNTER_COLUMNS(agent, queue, kernel)                                                  \
	OURS("Correlation_Id", "O.correlation_id"),                                                \
		OURS("Dispatch_Id", "dense_rank() OVER (ORDER BY O.start, O.id)"),                 \
		OURS("Agent_Id", agent), OURS("Queue_Id", queue),                                  \
		OURS("Process_Id",                                                                 \
		     "(SELECT os_pid FROM rtl_process P WHERE P.id = T.process_id)"),              \
		OURS("Thread_Id", "T.tid"), OURS("Grid_Size", "S.grid_x * S.grid_y * S.grid_z"),   \
		OURS("Kernel_Id", "Y.kernel_id"), OURS("Kernel_Name", kernel),                     \
		OURS("Workgroup_Size", "S.group_x * S.group_y * S.group_z"),                       \
		OURS("LDS_Block_Size", LDS_BLOCKS), OURS("Scratch_Size", "S.private_size"),        \
		OURS("VGPR_Count", "coalesce(Y.vgpr_count, 0)"),                                   \
		OURS("Accum_VGPR_Count", "coalesce(Y.accum_vgpr_count, 0)"),                       \
		OURS("SGPR_Count", "coalesce(Y.sgpr_count, 0)"), OURS("Counter_Name", "W.string"), \
		OURS("Counter_Value", "C.value"), OURS("Start_Timestamp", BEGIN_NS("K.flags")),    \
		OURS("End_Timestamp", END_NS("K.flags"))
#define CSV_COUNTERS                                                                               \
	"CROSS JOIN rocpd_counter C ON C.op_id = O.id JOIN rocpd_string W ON W.id = C.name_id "
#define CSV_OF_AGENT                                                                               \
	"LEFT JOIN rtl_queue Q ON Q.id = S.queue_id LEFT JOIN rtl_agent G ON G.id = Q.agent_id "
#define CSV_COPY_COLUMNS(src, dst)                                                                            \
	OURS("Kind", "'MEMORY_COPY'"),                                                                        \
		OURS("Direction",                                                                             \
		     "CASE K.kind WHEN 0 THEN 'MEMORY_COPY_HOST_TO_HOST' WHEN 1 THEN "                        \
		     "'MEMORY_COPY_HOST_TO_DEVICE' WHEN 2 THEN 'MEMORY_COPY_DEVICE_TO_HOST' WHEN 3 THEN "     \
		     "'MEMORY_COPY_DEVICE_TO_DEVICE' WHEN 4 THEN 'MEMORY_COPY_DEVICE_TO_DEVICE' WHEN 5 THEN " \
		     "'FILL' ELSE 'MEMORY_COPY_NONE' END"),                                                   \
		OURS("Stream_Id", "coalesce(M.number, 0)"), OURS("Source_Agent_Id", src),                     \
		OURS("Destination_Agent_Id", dst), OURS("Correlation_Id", "O.correlation_id"),                \
		OURS("Start_Timestamp", BEGIN_NS("K.flags")),                                                 \
		OURS("End_Timestamp", END_NS("K.flags"))
#define API_COLUMNS(domain, function, correlation)                                                 \
	SAME("Domain", domain), SAME("Function", function), SAME("Process_Id", "A.pid"),           \
		SAME("Thread_Id", "A.tid"), BOTH("Correlation_Id", correlation, "A.id"),           \
		SAME("Start_Timestamp", "A.start"), SAME("End_Timestamp", "A.\"end\"")

#endif
