/* SPDX-License-Identifier: MIT */
/* rocpd3_schema.c - tables and views of rocpd's database, schema version 3
 *
 * Tables have a suffix that no other file has, so that several files can be attached to one
 * connection; a view of the plain name stands for each. '@' is the suffix, '#' the id of the file.
 */
#include <stdio.h>
#include <string.h>

#include "export/rocprofv3/rocpd3_internal.h"

/* clang-format off */
static const struct part {
	const char *name, *sql;
} tables[] = {
	{ "rocpd_metadata",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT NULL" },
	{ "rocpd_string",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', string TEXT NOT NULL "
	  "UNIQUE ON CONFLICT ABORT" },
	{ "rocpd_info_node",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', hash BIGINT NOT NULL,"
	  " machine_id TEXT NOT NULL, system_name TEXT, hostname TEXT, release TEXT, version TEXT, "
	  "hardware_name TEXT, domain_name TEXT" },
	{ "rocpd_info_process",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), ppid INTEGER, pid INTEGER NOT NULL, init BIGINT, fini BIGINT, "
	  "\"start\" BIGINT, \"end\" BIGINT, command TEXT, environment JSONB NOT NULL DEFAULT '{}', extdata JSONB "
	  "NOT NULL DEFAULT '{}'" },
	{ "rocpd_info_thread",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), ppid INTEGER, pid INTEGER NOT NULL REFERENCES "
	  "rocpd_info_process@(id), tid INTEGER NOT NULL, name TEXT, \"start\" BIGINT, \"end\" BIGINT, extdata "
	  "JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_info_agent",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), type TEXT "
	  "CHECK (type IN ('CPU', 'GPU', 'NIC')), absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, "
	  "uuid INTEGER, name TEXT, model_name TEXT, vendor_name TEXT, product_name TEXT, user_name TEXT, "
	  "extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_info_queue",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), name TEXT,"
	  " extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_info_stream",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), name TEXT,"
	  " extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_info_pmc",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), agent_id "
	  "INTEGER REFERENCES rocpd_info_agent@(id), target_arch TEXT CHECK (target_arch IN ('CPU', 'GPU', 'NIC')), "
	  "event_code INT, instance_id INTEGER, name TEXT NOT NULL, symbol TEXT NOT NULL, description TEXT, "
	  "long_description TEXT DEFAULT '', component TEXT, units TEXT DEFAULT '', value_type TEXT CHECK "
	  "(value_type IN ('ABS', 'ACCUM', 'RELATIVE')), block TEXT, expression TEXT, is_constant INTEGER, "
	  "is_derived INTEGER, spm_support INTEGER, extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_info_code_object",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), agent_id "
	  "INTEGER REFERENCES rocpd_info_agent@(id), uri TEXT, load_base BIGINT, load_size BIGINT, load_delta "
	  "BIGINT, storage_type TEXT CHECK (storage_type IN ('FILE', 'MEMORY')), extdata JSONB NOT NULL DEFAULT"
	  " '{}'" },
	{ "rocpd_info_kernel_symbol",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), "
	  "code_object_id INTEGER NOT NULL REFERENCES rocpd_info_code_object@(id), kernel_name TEXT, "
	  "display_name TEXT, kernel_object INTEGER, kernarg_segment_size INTEGER, kernarg_segment_alignment "
	  "INTEGER, group_segment_size INTEGER, private_segment_size INTEGER, sgpr_count INTEGER, "
	  "arch_vgpr_count INTEGER, accum_vgpr_count INTEGER, extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_track",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER REFERENCES rocpd_info_process@(id), tid INTEGER "
	  "REFERENCES rocpd_info_thread@(id), name_id INTEGER REFERENCES rocpd_string@(id), extdata JSONB NOT "
	  "NULL DEFAULT '{}'" },
	{ "rocpd_event",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', category_id INTEGER "
	  "REFERENCES rocpd_string@(id), stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER, "
	  "call_stack JSONB NOT NULL DEFAULT '{}', line_info JSONB NOT NULL DEFAULT '{}', extdata JSONB NOT "
	  "NULL DEFAULT '{}'" },
	{ "rocpd_arg",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', event_id INTEGER NOT "
	  "NULL REFERENCES rocpd_event@(id), position INTEGER NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL,"
	  " value TEXT, extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_pmc_event",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', event_id INTEGER "
	  "REFERENCES rocpd_event@(id), sample_id INTEGER REFERENCES rocpd_sample@(id), pmc_id INTEGER NOT NULL "
	  "REFERENCES rocpd_info_pmc@(id), value REAL DEFAULT 0.0, xcc INTEGER, shader_engine INTEGER, instance "
	  "INTEGER, shader_array INTEGER, wgp INTEGER, extdata JSONB DEFAULT '{}'" },
	{ "rocpd_region",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), tid "
	  "INTEGER NOT NULL REFERENCES rocpd_info_thread@(id), \"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL, "
	  "name_id INTEGER NOT NULL REFERENCES rocpd_string@(id), event_id INTEGER REFERENCES rocpd_event@(id),"
	  " extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_sample",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', track_id INTEGER NOT "
	  "NULL REFERENCES rocpd_track@(id), timestamp BIGINT NOT NULL, event_id INTEGER REFERENCES "
	  "rocpd_event@(id), extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_kernel_dispatch",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), tid "
	  "INTEGER REFERENCES rocpd_info_thread@(id), agent_id INTEGER NOT NULL REFERENCES "
	  "rocpd_info_agent@(id), kernel_id INTEGER NOT NULL REFERENCES rocpd_info_kernel_symbol@(id), "
	  "dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL REFERENCES rocpd_info_queue@(id), stream_id "
	  "INTEGER NOT NULL REFERENCES rocpd_info_stream@(id), \"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL, "
	  "private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, "
	  "workgroup_size_y INTEGER NOT NULL, workgroup_size_z INTEGER NOT NULL, grid_size_x INTEGER NOT NULL, "
	  "grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, graph_exec_id INTEGER NOT NULL DEFAULT 0, "
	  "graph_node_id INTEGER NOT NULL DEFAULT 0, region_name_id INTEGER REFERENCES rocpd_string@(id), event_id INTEGER REFERENCES rocpd_event@(id), extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_memory_copy",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), tid "
	  "INTEGER REFERENCES rocpd_info_thread@(id), \"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL, name_id "
	  "INTEGER NOT NULL REFERENCES rocpd_string@(id), dst_agent_id INTEGER REFERENCES "
	  "rocpd_info_agent@(id), dst_address INTEGER, src_agent_id INTEGER REFERENCES rocpd_info_agent@(id), "
	  "src_address INTEGER, size INTEGER NOT NULL, queue_id INTEGER REFERENCES rocpd_info_queue@(id), "
	  "stream_id INTEGER REFERENCES rocpd_info_stream@(id), graph_exec_id INTEGER NOT NULL DEFAULT 0, "
	  "graph_node_id INTEGER NOT NULL DEFAULT 0, region_name_id INTEGER REFERENCES rocpd_string@(id), event_id "
	  "INTEGER REFERENCES rocpd_event@(id), extdata JSONB NOT NULL DEFAULT '{}'" },
	{ "rocpd_memory_allocate",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), tid "
	  "INTEGER REFERENCES rocpd_info_thread@(id), agent_id INTEGER REFERENCES rocpd_info_agent@(id), type "
	  "TEXT CHECK (type IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')), level TEXT CHECK (level IN ('REAL', "
	  "'VIRTUAL', 'SCRATCH')), \"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL, address INTEGER, size "
	  "INTEGER NOT NULL, queue_id INTEGER REFERENCES rocpd_info_queue@(id), stream_id INTEGER REFERENCES "
	  "rocpd_info_stream@(id), event_id INTEGER REFERENCES rocpd_event@(id), extdata JSONB NOT NULL DEFAULT"
	  " '{}'" },
	{ "rocpd_graph_launch",
	  "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL DEFAULT '#', nid INTEGER NOT NULL "
	  "REFERENCES rocpd_info_node@(id), pid INTEGER NOT NULL REFERENCES rocpd_info_process@(id), tid "
	  "INTEGER REFERENCES rocpd_info_thread@(id), agent_id INTEGER REFERENCES rocpd_info_agent@(id), "
	  "queue_id INTEGER REFERENCES rocpd_info_queue@(id), \"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL, "
	  "graph_exec_id INTEGER NOT NULL, kernel_dispatch_count INTEGER NOT NULL DEFAULT 0, event_id INTEGER "
	  "REFERENCES rocpd_event@(id), extdata JSONB NOT NULL DEFAULT '{}'" },
	{ NULL, NULL },
}, views[] = {
	{ "code_objects",
	  "SELECT C.id, C.guid, C.nid, P.pid, A.absolute_index AS agent_abs_index, C.uri, C.load_base, "
	  "C.load_size, C.load_delta, C.storage_type AS storage_type_str, json_extract(C.extdata, '$.size') AS "
	  "code_object_size, json_extract(C.extdata, '$.storage_type') AS storage_type, json_extract(C.extdata,"
	  " '$.memory_base') AS memory_base, json_extract(C.extdata, '$.memory_size') AS memory_size FROM "
	  "rocpd_info_code_object C LEFT JOIN rocpd_info_agent A ON A.id = C.agent_id AND A.guid = C.guid JOIN "
	  "rocpd_info_process P ON P.id = C.pid AND P.guid = C.guid" },
	{ "kernel_symbols",
	  "SELECT S.id, S.guid, S.nid, P.pid, S.code_object_id, S.kernel_name, S.display_name, S.kernel_object,"
	  " S.kernarg_segment_size, S.kernarg_segment_alignment, S.group_segment_size, S.private_segment_size, "
	  "S.sgpr_count, S.arch_vgpr_count, S.accum_vgpr_count, json_extract(S.extdata, '$.size') AS "
	  "kernel_symbol_size, json_extract(S.extdata, '$.kernel_id') AS kernel_id, json_extract(S.extdata, "
	  "'$.kernel_code_entry_byte_offset') AS kernel_code_entry_byte_offset, json_extract(S.extdata, "
	  "'$.formatted_kernel_name') AS formatted_kernel_name, json_extract(S.extdata, "
	  "'$.demangled_kernel_name') AS demangled_kernel_name, json_extract(S.extdata, "
	  "'$.truncated_kernel_name') AS truncated_kernel_name, json_extract(S.extdata, "
	  "'$.kernel_address.handle') AS kernel_address FROM rocpd_info_kernel_symbol S JOIN rocpd_info_process"
	  " P ON P.id = S.pid AND P.guid = S.guid" },
	{ "processes",
	  "SELECT N.id AS nid, N.machine_id, N.system_name, N.hostname, N.release AS system_release, N.version "
	  "AS system_version, P.guid, P.ppid, P.pid, P.init, P.\"start\", P.\"end\", P.fini, P.command FROM "
	  "rocpd_info_process P JOIN rocpd_info_node N ON N.id = P.nid AND N.guid = P.guid" },
	{ "threads",
	  "SELECT N.id AS nid, N.machine_id, N.system_name, N.hostname, N.release AS system_release, N.version "
	  "AS system_version, P.guid, P.ppid, P.pid, T.tid, T.\"start\", T.\"end\", T.name FROM rocpd_info_thread T"
	  " JOIN rocpd_info_process P ON P.id = T.pid AND P.guid = T.guid JOIN rocpd_info_node N ON N.id = "
	  "T.nid AND N.guid = T.guid" },
	{ "regions",
	  "SELECT R.id, R.guid, C.string AS category, S.string AS name, R.nid, P.pid, T.tid, R.\"start\", "
	  "R.\"end\", (R.\"end\" - R.\"start\") AS duration, R.event_id, E.stack_id, E.parent_stack_id, "
	  "E.correlation_id AS corr_id, E.extdata, E.call_stack, E.line_info FROM rocpd_region R JOIN "
	  "rocpd_event E ON E.id = R.event_id AND E.guid = R.guid JOIN rocpd_string C ON C.id = E.category_id "
	  "AND C.guid = E.guid JOIN rocpd_string S ON S.id = R.name_id AND S.guid = R.guid JOIN "
	  "rocpd_info_process P ON P.id = R.pid AND P.guid = R.guid JOIN rocpd_info_thread T ON T.id = R.tid "
	  "AND T.guid = R.guid" },
	{ "region_args",
	  "SELECT R.id, R.guid, R.nid, P.pid, A.type, A.name, A.value FROM rocpd_region R JOIN rocpd_arg A ON "
	  "A.event_id = R.event_id AND A.guid = R.guid JOIN rocpd_info_process P ON P.id = R.pid AND P.guid = "
	  "R.guid" },
	{ "samples",
	  "SELECT R.id, R.guid, C.string AS category, S.string AS name, K.nid, P.pid, T.tid, R.timestamp, "
	  "R.event_id, E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id, E.extdata, E.call_stack, "
	  "E.line_info FROM rocpd_sample R JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid JOIN "
	  "rocpd_string C ON C.id = E.category_id AND C.guid = E.guid JOIN rocpd_track K ON K.id = R.track_id "
	  "AND K.guid = R.guid JOIN rocpd_string S ON S.id = K.name_id AND S.guid = K.guid LEFT JOIN "
	  "rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid LEFT JOIN rocpd_info_thread T ON T.id = "
	  "K.tid AND T.guid = K.guid" },
	{ "sample_regions",
	  "SELECT R.id, R.guid, C.string AS category, S.string AS name, K.nid, P.pid, T.tid, R.timestamp AS "
	  "\"start\", R.timestamp AS \"END\", (R.timestamp - R.timestamp) AS duration, R.event_id, E.stack_id, "
	  "E.parent_stack_id, E.correlation_id AS corr_id, E.extdata, E.call_stack, E.line_info FROM "
	  "rocpd_sample R JOIN rocpd_event E ON E.id = R.event_id AND E.guid = R.guid JOIN rocpd_string C ON "
	  "C.id = E.category_id AND C.guid = E.guid JOIN rocpd_track K ON K.id = R.track_id AND K.guid = R.guid"
	  " JOIN rocpd_string S ON S.id = K.name_id AND S.guid = K.guid LEFT JOIN rocpd_info_process P ON P.id "
	  "= K.pid AND P.guid = K.guid LEFT JOIN rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid" },
	{ "regions_and_samples",
	  "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions" },
	{ "kernels",
	  "SELECT K.id, K.guid, T.tid, C.string AS category, R.string AS region, S.display_name AS name, K.nid,"
	  " P.pid, A.absolute_index AS agent_abs_index, A.logical_index AS agent_log_index, A.type_index AS "
	  "agent_type_index, A.type AS agent_type, S.code_object_id, K.kernel_id, K.dispatch_id, K.stream_id, "
	  "K.queue_id, Q.name AS queue, M.name AS stream, K.\"start\", K.\"end\", (K.\"end\" - K.\"start\") AS "
	  "duration, K.grid_size_x AS grid_x, K.grid_size_y AS grid_y, K.grid_size_z AS grid_z, "
	  "K.workgroup_size_x AS workgroup_x, K.workgroup_size_y AS workgroup_y, K.workgroup_size_z AS "
	  "workgroup_z, K.group_segment_size AS lds_size, K.private_segment_size AS scratch_size, "
	  "S.arch_vgpr_count AS vgpr_count, S.accum_vgpr_count, S.sgpr_count, S.group_segment_size AS "
	  "static_lds_size, S.private_segment_size AS static_scratch_size, E.stack_id, E.parent_stack_id, "
	  "E.correlation_id AS corr_id FROM rocpd_kernel_dispatch K JOIN rocpd_info_agent A ON A.id = "
	  "K.agent_id AND A.guid = K.guid JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = "
	  "K.guid JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid LEFT JOIN rocpd_info_thread T "
	  "ON T.id = K.tid AND T.guid = K.guid JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid JOIN"
	  " rocpd_string C ON C.id = E.category_id AND C.guid = E.guid LEFT JOIN rocpd_string R ON R.id = "
	  "K.region_name_id AND R.guid = K.guid LEFT JOIN rocpd_info_queue Q ON Q.id = K.queue_id AND Q.guid = "
	  "K.guid LEFT JOIN rocpd_info_stream M ON M.id = K.stream_id AND M.guid = K.guid" },
	{ "pmc_info",
	  "SELECT I.id, I.guid, I.nid, P.pid, A.absolute_index AS agent_abs_index, I.is_constant, I.is_derived,"
	  " I.name, I.description, I.block, I.expression FROM rocpd_info_pmc I LEFT JOIN rocpd_info_agent A ON "
	  "A.id = I.agent_id AND A.guid = I.guid JOIN rocpd_info_process P ON P.id = I.pid AND P.guid = I.guid" },
	{ "pmc_events",
	  "SELECT X.id, X.guid, X.pmc_id, E.id AS event_id, C.string AS category, S.display_name AS name, "
	  "K.nid, P.pid, K.dispatch_id, K.\"start\", K.\"end\", (K.\"end\" - K.\"start\") AS duration, I.name AS "
	  "counter_name, X.value AS counter_value FROM rocpd_pmc_event X JOIN rocpd_info_pmc I ON I.id = "
	  "X.pmc_id AND I.guid = X.guid JOIN rocpd_event E ON E.id = X.event_id AND E.guid = X.guid JOIN "
	  "rocpd_string C ON C.id = E.category_id AND C.guid = E.guid JOIN rocpd_kernel_dispatch K ON "
	  "K.event_id = X.event_id AND K.guid = X.guid JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id "
	  "AND S.guid = K.guid JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid" },
	{ "events_args",
	  "SELECT E.id AS event_id, C.string AS category, E.stack_id, E.parent_stack_id, E.correlation_id, "
	  "A.position AS arg_position, A.type AS arg_type, A.name AS arg_name, A.value AS arg_value, "
	  "E.call_stack, E.line_info, A.extdata FROM rocpd_event E JOIN rocpd_string C ON C.id = E.category_id "
	  "AND C.guid = E.guid JOIN rocpd_arg A ON A.event_id = E.id AND A.guid = E.guid" },
	{ "stream_args",
	  "SELECT A.id AS argument_id, A.event_id, A.position AS arg_position, A.type AS arg_type, A.value AS "
	  "arg_value, json_extract(M.extdata, '$.stream_id') AS stream_id, M.nid, P.pid, M.name AS stream_name,"
	  " M.extdata FROM rocpd_arg A JOIN rocpd_region R ON R.event_id = A.event_id AND R.guid = A.guid JOIN "
	  "rocpd_info_stream M ON M.guid = A.guid AND json_extract(M.extdata, '$.handle') = A.value AND "
	  "R.\"start\" >= coalesce(json_extract(M.extdata, '$.since'), 0) AND R.\"start\" < "
	  "coalesce(json_extract(M.extdata, '$.until'), 9223372036854775807) JOIN rocpd_info_process P ON P.id = "
	  "M.pid AND P.guid = M.guid WHERE A.name = 'stream'" },
	{ "memory_copies",
	  "SELECT K.id, K.guid, C.string AS category, K.nid, P.pid, T.tid, K.\"start\", K.\"end\", (K.\"end\" - "
	  "K.\"start\") AS duration, S.string AS name, R.string AS region_name, K.stream_id, K.queue_id, M.name "
	  "AS stream_name, Q.name AS queue_name, K.size, D.name AS dst_device, D.absolute_index AS "
	  "dst_agent_abs_index, D.logical_index AS dst_agent_log_index, D.type_index AS dst_agent_type_index, "
	  "D.type AS dst_agent_type, K.dst_address, F.name AS src_device, F.absolute_index AS "
	  "src_agent_abs_index, F.logical_index AS src_agent_log_index, F.type_index AS src_agent_type_index, "
	  "F.type AS src_agent_type, K.src_address, E.stack_id, E.parent_stack_id, E.correlation_id AS corr_id "
	  "FROM rocpd_memory_copy K JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid JOIN "
	  "rocpd_string C ON C.id = E.category_id AND C.guid = E.guid JOIN rocpd_string S ON S.id = K.name_id "
	  "AND S.guid = K.guid JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid LEFT JOIN "
	  "rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid LEFT JOIN rocpd_string R ON R.id = "
	  "K.region_name_id AND R.guid = K.guid LEFT JOIN rocpd_info_stream M ON M.id = K.stream_id AND M.guid "
	  "= K.guid LEFT JOIN rocpd_info_queue Q ON Q.id = K.queue_id AND Q.guid = K.guid LEFT JOIN "
	  "rocpd_info_agent D ON D.id = K.dst_agent_id AND D.guid = K.guid LEFT JOIN rocpd_info_agent F ON F.id"
	  " = K.src_agent_id AND F.guid = K.guid" },
	{ "memory_allocations",
	  "SELECT K.id, K.guid, C.string AS category, K.nid, P.pid, T.tid, K.\"start\", K.\"end\", (K.\"end\" - "
	  "K.\"start\") AS duration, K.type, K.level, A.name AS agent_name, A.absolute_index AS agent_abs_index, "
	  "A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type, "
	  "K.address, K.size, K.queue_id, Q.name AS queue_name, K.stream_id, M.name AS stream_name, E.stack_id,"
	  " E.parent_stack_id, E.correlation_id AS corr_id FROM rocpd_memory_allocate K JOIN rocpd_event E ON "
	  "E.id = K.event_id AND E.guid = K.guid JOIN rocpd_string C ON C.id = E.category_id AND C.guid = "
	  "E.guid JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid LEFT JOIN rocpd_info_thread T "
	  "ON T.id = K.tid AND T.guid = K.guid LEFT JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = "
	  "K.guid LEFT JOIN rocpd_info_queue Q ON Q.id = K.queue_id AND Q.guid = K.guid LEFT JOIN "
	  "rocpd_info_stream M ON M.id = K.stream_id AND M.guid = K.guid" },
	{ "scratch_memory",
	  "SELECT K.id, K.guid, K.nid, P.pid, K.type AS operation, A.name AS agent_name, A.absolute_index AS "
	  "agent_abs_index, A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS "
	  "agent_type, K.queue_id, T.tid, json_extract(K.extdata, '$.flags') AS alloc_flags, K.\"start\", "
	  "K.\"end\", (K.\"end\" - K.\"start\") AS duration, K.size, K.address, E.correlation_id, E.stack_id, "
	  "E.parent_stack_id, E.correlation_id AS corr_id, C.string AS category, E.extdata AS event_extdata "
	  "FROM rocpd_memory_allocate K JOIN rocpd_event E ON E.id = K.event_id AND E.guid = K.guid JOIN "
	  "rocpd_string C ON C.id = E.category_id AND C.guid = E.guid JOIN rocpd_info_process P ON P.id = K.pid"
	  " AND P.guid = K.guid LEFT JOIN rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid LEFT JOIN "
	  "rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid WHERE K.level = 'SCRATCH'" },
	{ "counters_collection",
	  "SELECT min(X.id) AS id, X.guid, K.dispatch_id, K.kernel_id, E.id AS event_id, E.correlation_id, "
	  "E.stack_id, E.parent_stack_id, P.pid, T.tid, K.agent_id, A.absolute_index AS agent_abs_index, "
	  "A.logical_index AS agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type, "
	  "K.queue_id, K.grid_size_x, K.grid_size_y, K.grid_size_z, (K.grid_size_x * K.grid_size_y * "
	  "K.grid_size_z) AS grid_size, S.display_name AS kernel_name, R.string AS kernel_region, "
	  "K.workgroup_size_x, K.workgroup_size_y, K.workgroup_size_z, (K.workgroup_size_x * K.workgroup_size_y"
	  " * K.workgroup_size_z) AS workgroup_size, K.group_segment_size AS lds_block_size, "
	  "K.private_segment_size AS scratch_size, S.arch_vgpr_count AS vgpr_count, S.accum_vgpr_count, "
	  "S.sgpr_count, I.name AS counter_name, I.symbol AS counter_symbol, I.component, I.description, "
	  "I.block, I.expression, I.value_type, I.id AS counter_id, sum(X.value) AS value, K.\"start\", K.\"end\", "
	  "I.is_constant, I.is_derived, (K.\"end\" - K.\"start\") AS duration, C.string AS category, K.nid, "
	  "E.extdata, S.code_object_id FROM rocpd_pmc_event X JOIN rocpd_info_pmc I ON I.id = X.pmc_id AND "
	  "I.guid = X.guid JOIN rocpd_event E ON E.id = X.event_id AND E.guid = X.guid JOIN rocpd_string C ON "
	  "C.id = E.category_id AND C.guid = E.guid JOIN rocpd_kernel_dispatch K ON K.event_id = X.event_id AND"
	  " K.guid = X.guid JOIN rocpd_info_agent A ON A.id = K.agent_id AND A.guid = K.guid JOIN "
	  "rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid = K.guid JOIN rocpd_info_process P ON "
	  "P.id = K.pid AND P.guid = K.guid LEFT JOIN rocpd_info_thread T ON T.id = K.tid AND T.guid = K.guid "
	  "LEFT JOIN rocpd_string R ON R.id = K.region_name_id AND R.guid = K.guid WHERE X.sample_id "
	  "IS NULL GROUP BY X.guid, K.dispatch_id, I.id" },
	{ "spm_counters",
	  "SELECT X.id, X.guid, K.dispatch_id, K.kernel_id, E.id AS event_id, E.correlation_id, E.stack_id, "
	  "E.parent_stack_id, P.pid, T.tid, K.agent_id, A.absolute_index AS agent_abs_index, A.logical_index AS "
	  "agent_log_index, A.type_index AS agent_type_index, A.type AS agent_type, K.queue_id, K.grid_size_x, "
	  "K.grid_size_y, K.grid_size_z, (K.grid_size_x * K.grid_size_y * K.grid_size_z) AS grid_size, "
	  "S.display_name AS kernel_name, R.string AS kernel_region, K.workgroup_size_x, K.workgroup_size_y, "
	  "K.workgroup_size_z, (K.workgroup_size_x * K.workgroup_size_y * K.workgroup_size_z) AS workgroup_size, "
	  "K.group_segment_size AS lds_block_size, K.private_segment_size AS scratch_size, S.arch_vgpr_count AS "
	  "vgpr_count, S.accum_vgpr_count, S.sgpr_count, I.name AS counter_name, I.symbol AS counter_symbol, "
	  "I.component, I.description, I.block, I.expression, I.value_type, I.id AS counter_id, X.xcc, "
	  "X.shader_engine, X.instance, X.value, Y.timestamp, I.is_constant, I.is_derived, C.string AS category, "
	  "K.nid, E.extdata, S.code_object_id FROM rocpd_pmc_event X JOIN rocpd_sample Y ON Y.id = X.sample_id AND "
	  "Y.guid = X.guid JOIN rocpd_info_pmc I ON I.id = X.pmc_id AND I.guid = X.guid JOIN rocpd_event E ON "
	  "E.id = X.event_id AND E.guid = X.guid JOIN rocpd_string C ON C.id = E.category_id AND C.guid = E.guid "
	  "JOIN rocpd_kernel_dispatch K ON K.event_id = X.event_id AND K.guid = X.guid JOIN rocpd_info_agent A ON "
	  "A.id = K.agent_id AND A.guid = K.guid JOIN rocpd_info_kernel_symbol S ON S.id = K.kernel_id AND S.guid "
	  "= K.guid JOIN rocpd_info_process P ON P.id = K.pid AND P.guid = K.guid LEFT JOIN rocpd_info_thread T "
	  "ON T.id = K.tid AND T.guid = K.guid LEFT JOIN rocpd_string R ON R.id = K.region_name_id AND R.guid = "
	  "K.guid" },
	{ "top_kernels",
	  "SELECT name, count(*) AS total_calls, sum(duration) AS total_duration, (sum(duration) * 1.0 / "
	  "count(*)) AS average, (sum(duration) * 100.0 / nullif((SELECT sum(duration) FROM kernels), 0)) AS "
	  "percentage FROM kernels GROUP BY name ORDER BY total_duration DESC" },
	{ "busy",
	  "SELECT B.agent_id, A.type, B.GpuTime, W.WallTime, (B.GpuTime * 1.0 / nullif(W.WallTime, 0)) AS Busy "
	  "FROM (SELECT agent_id, guid, sum(\"end\" - \"start\") AS GpuTime FROM (SELECT agent_id, guid, \"start\", "
	  "\"end\" FROM rocpd_kernel_dispatch UNION ALL SELECT dst_agent_id, guid, \"start\", \"end\" FROM "
	  "rocpd_memory_copy WHERE dst_agent_id IS NOT NULL) GROUP BY agent_id, guid) B JOIN rocpd_info_agent A"
	  " ON A.id = B.agent_id AND A.guid = B.guid JOIN (SELECT max(\"end\") - min(\"start\") AS WallTime FROM "
	  "(SELECT agent_id, guid, \"start\", \"end\" FROM rocpd_kernel_dispatch UNION ALL SELECT dst_agent_id, "
	  "guid, \"start\", \"end\" FROM rocpd_memory_copy WHERE dst_agent_id IS NOT NULL)) W" },
	{ "top",
	  "SELECT name, count(*) AS total_calls, sum(duration) AS total_duration, (sum(duration) * 1.0 / "
	  "count(*)) AS average, (sum(duration) * 100.0 / nullif((SELECT sum(duration) FROM (SELECT name, "
	  "duration FROM kernels UNION ALL SELECT name, duration FROM memory_copies UNION ALL SELECT name, "
	  "duration FROM regions)), 0)) AS percentage FROM (SELECT name, duration FROM kernels UNION ALL SELECT"
	  " name, duration FROM memory_copies UNION ALL SELECT name, duration FROM regions) GROUP BY name ORDER"
	  " BY total_duration DESC" },
	{ NULL, NULL },
};
/* clang-format on */

/* Appends SQL with the suffix for '@' and the id for '#'. */
static void append(sqlite3_str *sql, const char *text, const struct rocpd3_id *id)
{
	for (; *text; text++) {
		if (*text == '@')
			sqlite3_str_appendall(sql, id->suffix);
		else if (*text == '#')
			sqlite3_str_appendall(sql, id->guid);
		else
			sqlite3_str_appendchar(sql, 1, *text);
	}
}

char *rocpd3_sql(const char *text, const struct rocpd3_id *id)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	append(sql, text, id);
	return sqlite3_str_finish(sql);
}

char *rocpd3_schema_sql(const struct rocpd3_id *id)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	for (const struct part *t = tables; t->name; t++) {
		sqlite3_str_appendf(sql, "CREATE TABLE %s%s (", t->name, id->suffix);
		append(sql, t->sql, id);
		sqlite3_str_appendf(sql, "); CREATE VIEW %s AS SELECT * FROM %s%s;", t->name,
				    t->name, id->suffix);
	}
	for (const struct part *v = views; v->name; v++)
		sqlite3_str_appendf(sql, "CREATE VIEW %s AS %s;", v->name, v->sql);
	return sqlite3_str_finish(sql);
}

void rocpd3_document(void (*put)(const char *line))
{
	put("");
	put("## Tables and views of rocpd's database");
	put("");
	put("A table's name ends in a suffix of the file, `rocpd_string_0123_...`; the view `rocpd_string` shows it.");
	put("");
	put("| kind | names |");
	put("|---|---|");
	for (int i = 0; i < 2; i++) {
		sqlite3_str *line = sqlite3_str_new(NULL);
		char *text;

		sqlite3_str_appendf(line, "| %s | ", i ? "views" : "tables");
		for (const struct part *t = i ? views : tables; t->name; t++)
			sqlite3_str_appendf(line, "%s`%s`", t == (i ? views : tables) ? "" : ", ",
					    t->name);
		sqlite3_str_appendall(line, " |");
		text = sqlite3_str_finish(line);
		if (text)
			put(text);
		sqlite3_free(text);
	}
}
