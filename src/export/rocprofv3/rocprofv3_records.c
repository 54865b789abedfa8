/* SPDX-License-Identifier: MIT */
/* rocprofv3_records.c - rocprofv3's JSON: the records of a process
 *
 * Rows are streamed; SQLite sorts them in its temporary files. Times of operations that were not
 * measured are their position on the time axis: readers take the least and the greatest for the
 * length of the trace.
 */
#include <string.h>

#include <stdlib.h>

#include "export/call_args.h"
#include "export/csv_columns.h"
#include "export/rocprofv3/rocprofv3_internal.h"

/* Sizes of structures of rocprofiler-sdk 1.0. */
#define CALL_SIZE 64
#define HIP_CALL_SIZE 176
#define COPY_SIZE 96
#define DISPATCH_SIZE 184
#define DISPATCH_INFO_SIZE 72 /* without its reserved bytes */
#define ALLOCATION_SIZE 88
#define SCRATCH_SIZE 96
#define COUNTED_SIZE 168
#define GRAPH_SIZE 96 /* of 1.3 */
#define GRAPH_LAUNCH 3

static void put_handle(struct json *j, const char *key, int64_t handle)
{
	json_key(j, key);
	json_object(j);
	JSON_KEY(j, "handle");
	json_int(j, handle);
	json_object_end(j);
}

static void put_member(struct json *j, const char *key, int64_t value)
{
	json_key(j, key);
	json_int(j, value);
}

static void put_head(struct json *j, int size, int64_t kind, int64_t operation)
{
	json_bytes(j, "\n", 1);
	put_member(j, "size", size);
	put_member(j, "kind", kind);
	put_member(j, "operation", operation);
}

static void put_correlation(struct json *j, int64_t internal, int64_t external)
{
	JSON_KEY(j, "correlation_id");
	json_object(j);
	put_member(j, "internal", internal);
	put_member(j, "external", external);
}

static void put_times(struct json *j, sqlite3_stmt *row, int first)
{
	put_member(j, "start_timestamp", sqlite3_column_int64(row, first));
	put_member(j, "end_timestamp", sqlite3_column_int64(row, first + 1));
}

static void put_dim(struct json *j, const char *key, sqlite3_stmt *row, int first)
{
	static const char *const axes[] = { "x", "y", "z" };

	json_key(j, key);
	json_object(j);
	for (int i = 0; i < 3; i++)
		put_member(j, axes[i], sqlite3_column_int64(row, first + i));
	json_object_end(j);
}

#define EXTERNAL "CASE WHEN O.roctxId THEN " ROCPROFV3_MARKER_ID("O.roctxId") " ELSE 0 END"

static const char dispatches_sql[] =
	"SELECT O.correlation_id, " EXTERNAL
	", T.tid, O.start, O.end, coalesce(G.handle, 0), " ROCPROFV3_QUEUE ", "
	"Y.kernel_id, S.private_size, S.group_size, S.group_x, S.group_y, S.group_z, S.grid_x, S.grid_y, S.grid_z, "
	"coalesce(M.number, 0), O.id, coalesce(Y.vgpr_count, 0), coalesce(Y.accum_vgpr_count, 0), "
	"coalesce(Y.sgpr_count, 0), " LDS_BLOCKS ", " ROCPROFV3_NODE ROCPROFV3_KERNELS;

/* The times and what was launched. */
static void put_info(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	put_times(j, row, 3);
	JSON_KEY(j, "dispatch_info");
	json_object(j);
	put_member(j, "size", DISPATCH_INFO_SIZE);
	put_handle(j, "agent_id", sqlite3_column_int64(row, 5));
	put_handle(j, "queue_id", sqlite3_column_int64(row, 6));
	put_member(j, "kernel_id", sqlite3_column_int64(row, 7));
	put_member(j, "dispatch_id", (int64_t)number);
	put_member(j, "private_segment_size", sqlite3_column_int64(row, 8));
	put_member(j, "group_segment_size", sqlite3_column_int64(row, 9));
	put_dim(j, "workgroup_size", row, 10);
	put_dim(j, "grid_size", row, 13);
	json_object_end(j);
}

/* Of the newest rocprofv3; older readers pass over members that they don't know. */
static void put_node(struct json *j, sqlite3_stmt *row, int first)
{
	put_member(j, "graph_exec_id", sqlite3_column_int64(row, first));
	put_member(j, "graph_node_id", sqlite3_column_int64(row, first + 1));
}

static void put_dispatch(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	put_head(j, DISPATCH_SIZE, ROCPROFV3_KIND_KERNEL, 2);
	put_member(j, "thread_id", sqlite3_column_int64(row, 2));
	put_correlation(j, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
	json_object_end(j);
	put_info(j, row, number);
	put_handle(j, "stream_id", sqlite3_column_int64(row, 16));
	put_node(j, row, 22);
}

#define CALLS(kinds)                                                                               \
	"SELECT H.kind, H.operation, coalesce(X.correlation_id, 0), coalesce(X.parent_id, 0), "    \
	"A.start, A.\"end\", A.tid" ROCPROFV3_CALLS(kinds)

static void put_call(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	int64_t kind = sqlite3_column_int64(row, 0);
	bool is_hip = kind == ROCPROFV3_KIND_HIP_RUNTIME || kind == ROCPROFV3_KIND_HIP_COMPILER;

	(void)number;
	put_head(j, is_hip ? HIP_CALL_SIZE : CALL_SIZE, kind, sqlite3_column_int64(row, 1));
	put_correlation(j, sqlite3_column_int64(row, 2), 0);
	put_member(j, "ancestor", sqlite3_column_int64(row, 3));
	json_object_end(j);
	put_times(j, row, 4);
	put_member(j, "thread_id", sqlite3_column_int64(row, 6));
}

/* The stream is that of the call's argument; its name is as cause.c finds it. */
static const char hip_calls_sql[] =
	"SELECT H.kind, H.operation, coalesce(X.correlation_id, 0), coalesce(X.parent_id, 0), A.start, A.\"end\", A.tid, "
	"U.string, X.status, coalesce((SELECT M.number FROM temp.rocprofv3_stream M WHERE M.process_id = (SELECT id FROM "
	"rtl_process WHERE ?1 BETWEEN id_first AND id_last) AND M.name = query_stream_of(U.string, H.name) AND M.since <= "
	"A.start AND M.until > A.start), 0) FROM rocpd_api A CROSS JOIN temp.rocprofv3_function H ON H.id = A.apiName_id "
	"AND H.kind IN (" ROCPROFV3_HIP_KINDS
	") LEFT JOIN rocpd_ustring U ON U.id = A.args_id LEFT JOIN rtl_api_data X ON X.api_id = A.id WHERE A.id BETWEEN ?1 "
	"AND ?2 ORDER BY A.start, A.id";

/* Finds the parameter `name` in "ptr:void**;size:unsigned long". The size of its type; 0: there is
 * none. */
static size_t find_type(const char *params, const char *name, size_t name_size, const char **type)
{
	while (params && *params) {
		size_t size = strcspn(params, ";"), of_name = strcspn(params, ":");

		if (of_name == name_size && memcmp(params, name, name_size) == 0) {
			*type = params + of_name + 1;
			return size - of_name - 1;
		}
		params += size + (params[size] != 0);
	}
	return 0;
}

/* "*ptr" has the type to which that of ptr points. */
static void put_type(struct json *j, const struct call_arg *a, const char *params)
{
	bool pointed = *a->name == '*';
	const char *type = "";
	size_t size = find_type(params, a->name + pointed, a->name_size - pointed, &type);

	if (pointed && size)
		size -= type[size - 1] == '*' ? 1 : size;
	JSON_KEY(j, "type");
	json_text_size(j, type, size);
}

static void put_arg(struct json *j, const struct call_arg *a, const char *params)
{
	json_object(j);
	put_type(j, a, params);
	JSON_KEY(j, "name");
	json_text_size(j, a->name, a->name_size);
	JSON_KEY(j, "value");
	json_text_size(j, a->value, a->value_size);
	json_object_end(j);
}

/* The parameters in their order, then what pointers pointed to ("*ptr"). A trace has no types: they
 * are those of the SDK's `params`. Returns the value that the call returned, if it is no status. */
static int64_t put_args(struct json *j, const char *text, const char *params)
{
	bool is_form = call_args_is_form(text);
	int64_t returned = 0;
	struct call_arg a;

	JSON_KEY(j, "args");
	json_array(j);
	for (int pointed = 0; pointed < 2 && is_form; pointed++)
		for (const char *at = text; (at = call_args_next(at, &a)) != NULL;) {
			if (a.name_size == 6 && memcmp(a.name, "return", 6) == 0)
				returned = (int64_t)strtoull(a.value, NULL, 0);
			else if (a.name_size && (*a.name == '*') == pointed)
				put_arg(j, &a, params);
		}
	json_array_end(j);
	return returned;
}

static void put_hip_call(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	const struct names_sdk_kind *kind = &names_sdk_buffer_kinds[sqlite3_column_int64(row, 0)];
	int64_t operation = sqlite3_column_int64(row, 1), value;

	put_call(j, row, number);
	value = put_args(j, query_text(row, 7),
			 kind->params && operation < kind->nr ? kind->params[operation] : NULL);
	if (sqlite3_column_type(row, 8) != SQLITE_NULL)
		value = sqlite3_column_int64(row, 8);
	JSON_KEY(j, "retval");
	json_object(j);
	put_member(j, "uint64_t_retval", value);
	json_object_end(j);
	put_handle(j, "stream_id", sqlite3_column_int64(row, 9));
}

/* roctxMarkA, roctxRangePushA, roctxRangeStartA */
static const char markers_sql[] =
	"SELECT 7, CASE M.kind WHEN 0 THEN 0 WHEN 1 THEN 1 ELSE 3 END, " ROCPROFV3_MARKER_ID(
		"A.id") ", CASE WHEN M.parent_id THEN " ROCPROFV3_MARKER_ID("M.parent_id") " ELSE 0 END, "
											   "A.start, A.\"end\", A.tid" ROCPROFV3_MARKERS;

static const char copies_sql[] =
	"SELECT O.correlation_id, " EXTERNAL ", T.tid, O.start, O.end, " ROCPROFV3_COPY_OPERATION
	", coalesce(G.handle, 0), coalesce(F.handle, 0), K.bytes, printf('0x%016x', K.dst), printf('0x%016x', K.src), "
	"coalesce(M.number, 0), " ROCPROFV3_NODE ROCPROFV3_COPIES;

static void put_copy(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	(void)number;
	put_head(j, COPY_SIZE, ROCPROFV3_KIND_COPY, sqlite3_column_int64(row, 5));
	put_correlation(j, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
	json_object_end(j);
	put_member(j, "thread_id", sqlite3_column_int64(row, 2));
	put_times(j, row, 3);
	put_handle(j, "dst_agent_id", sqlite3_column_int64(row, 6));
	put_handle(j, "src_agent_id", sqlite3_column_int64(row, 7));
	put_member(j, "bytes", sqlite3_column_int64(row, 8));
	json_member_text(j, "dst_address", query_text(row, 9));
	json_member_text(j, "src_address", query_text(row, 10));
	put_handle(j, "stream_id", sqlite3_column_int64(row, 11));
	put_node(j, row, 12);
}

static const char allocations_sql[] =
	"SELECT X.correlation_id, A.tid, A.start, A.\"end\", H.operation, coalesce(rocprofv3_arg(U.string, "
	"H.size), 0), printf('0x%016x', coalesce(rocprofv3_arg(U.string, H.address), 0)), "
	"coalesce(G.handle, 0)" ROCPROFV3_ALLOCATIONS;

static void put_allocation(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	(void)number;
	put_head(j, ALLOCATION_SIZE, ROCPROFV3_KIND_ALLOCATION, sqlite3_column_int64(row, 4));
	put_correlation(j, sqlite3_column_int64(row, 0), 0);
	put_member(j, "ancestor", 0);
	json_object_end(j);
	put_member(j, "thread_id", sqlite3_column_int64(row, 1));
	put_times(j, row, 2);
	put_handle(j, "agent_id", sqlite3_column_int64(row, 7));
	json_member_text(j, "address", query_text(row, 6));
	put_member(j, "allocation_size", sqlite3_column_int64(row, 5));
}

static const char scratch_sql[] =
	"SELECT W.operation, coalesce(G.handle, 0), W.queue, W.tid, W.start, W.\"end\", W.correlation_id, "
	"W.flags, W.bytes" ROCPROFV3_SCRATCHES;

static void put_scratch(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	(void)number;
	put_head(j, SCRATCH_SIZE, ROCPROFV3_KIND_SCRATCH, sqlite3_column_int64(row, 0));
	put_handle(j, "agent_id", sqlite3_column_int64(row, 1));
	put_handle(j, "queue_id", sqlite3_column_int64(row, 2));
	put_member(j, "thread_id", sqlite3_column_int64(row, 3));
	put_times(j, row, 4);
	put_correlation(j, sqlite3_column_int64(row, 6), 0);
	put_member(j, "ancestor", 0);
	json_object_end(j);
	put_member(j, "flags", sqlite3_column_int64(row, 7));
	put_member(j, "allocation_size", sqlite3_column_int64(row, 8));
}

/* A launch of a graph. Its kernels may be on several queues: it has none. */
static const char launches_sql[] =
	"SELECT X.correlation_id, coalesce(X.parent_id, 0), A.tid, A.start, A.\"end\", coalesce(G.handle, 0), L.exec, "
	"coalesce(C.nr, 0) FROM temp.rocprofv3_launch L CROSS JOIN rocpd_api A ON A.id = L.api_id JOIN rtl_api_data X ON "
	"X.api_id = A.id LEFT JOIN (" ROCPROFV3_LAUNCHED
	") C ON C.api_id = L.api_id LEFT JOIN temp.rocprofv3_agent G ON G.id = "
	"C.agent_id WHERE A.id BETWEEN ?1 AND ?2 ORDER BY A.start, A.id";

static void put_launch(struct json *j, sqlite3_stmt *row, uint64_t number)
{
	(void)number;
	put_head(j, GRAPH_SIZE, ROCPROFV3_KIND_GRAPH, GRAPH_LAUNCH);
	put_correlation(j, sqlite3_column_int64(row, 0), 0);
	put_member(j, "ancestor", sqlite3_column_int64(row, 1));
	json_object_end(j);
	put_member(j, "thread_id", sqlite3_column_int64(row, 2));
	put_times(j, row, 3);
	put_handle(j, "agent_id", sqlite3_column_int64(row, 5));
	put_handle(j, "queue_id", 0);
	put_handle(j, "graph_exec_id", sqlite3_column_int64(row, 6));
	put_member(j, "kernel_dispatch_count", sqlite3_column_int64(row, 7));
}

static int put_records(struct query *q, struct json *j, const char *sql,
		       void (*put)(struct json *j, sqlite3_stmt *row, uint64_t number))
{
	sqlite3_stmt *row = NULL;
	uint64_t number = 0;
	int ret = query_prepare(q, &row, sql);

	if (ret == 0)
		query_bind_range(q, row);
	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		json_object(j);
		put(j, row, ++number);
		json_object_end(j);
		ret = j->error;
	}
	q->res->nr_ops += number;
	sqlite3_finalize(row);
	return ret;
}

/* ---- counters -------------------------------------------------------------------------------- */

static int put_description(struct query *q, struct json *j, sqlite3_stmt *row)
{
	struct rocprofv3_counter c;
	int ret = rocprofv3_counters_find(q, query_text(row, 2), query_text(row, 3), &c);

	json_bytes(j, "\n", 1);
	json_object(j);
	put_handle(j, "agent_id", sqlite3_column_int64(row, 1));
	put_handle(j, "id", sqlite3_column_int64(row, 0));
	put_member(j, "is_constant", c.is_constant);
	put_member(j, "is_derived", c.is_derived);
	json_member_text(j, "name", query_text(row, 3));
	json_member_text(j, "description", c.description);
	json_member_text(j, "block", c.block);
	json_member_text(j, "expression", c.expression);
	JSON_KEY(j, "dimension_ids");
	json_array(j);
	json_array_end(j);
	json_object_end(j);
	return ret;
}

int rocprofv3_records_counters(struct query *q, struct json *j)
{
	sqlite3_stmt *row = NULL;
	int ret = rocprofv3_counters_make(q);

	JSON_KEY(j, "counters");
	json_array(j);
	if (ret == 0)
		ret = query_prepare(
			q, &row, "SELECT id, agent, gpu, name FROM rocprofv3_counter ORDER BY id");
	while (ret == 0 && (ret = query_step(q, row)) == 1)
		ret = put_description(q, j, row);
	json_array_end(j);
	sqlite3_finalize(row);
	return ret;
}

static int put_values(struct query *q, struct json *j, sqlite3_stmt *value)
{
	int ret = 1;

	JSON_KEY(j, "records");
	json_array(j);
	for (; ret == 1; ret = query_step(q, value)) {
		json_object(j);
		put_handle(j, "counter_id", sqlite3_column_int64(value, 0));
		JSON_KEY(j, "value");
		json_double(j, sqlite3_column_double(value, 1));
		json_object_end(j);
	}
	json_array_end(j);
	return ret;
}

/* A dispatch and its values; nothing if it has none. */
static int put_counted(struct query *q, struct json *j, sqlite3_stmt *row, sqlite3_stmt *value,
		       uint64_t number)
{
	int ret;

	sqlite3_reset(value);
	sqlite3_bind_int64(value, 1, sqlite3_column_int64(row, 17));
	sqlite3_bind_int64(value, 2, sqlite3_column_int64(row, 5));
	ret = query_step(q, value);
	if (ret != 1)
		return ret;
	json_bytes(j, "\n", 1);
	json_object(j);
	JSON_KEY(j, "dispatch_data");
	json_object(j);
	put_member(j, "size", COUNTED_SIZE);
	put_correlation(j, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1));
	json_object_end(j);
	put_info(j, row, number);
	json_object_end(j);
	ret = put_values(q, j, value);
	put_member(j, "thread_id", sqlite3_column_int64(row, 2));
	put_member(j, "arch_vgpr_count", sqlite3_column_int64(row, 18));
	put_member(j, "accum_vgpr_count", sqlite3_column_int64(row, 19));
	put_member(j, "sgpr_count", sqlite3_column_int64(row, 20));
	put_member(j, "lds_block_size_v", sqlite3_column_int64(row, 21));
	json_object_end(j);
	return ret ? ret : j->error;
}

int rocprofv3_records_counted(struct query *q, struct json *j)
{
	sqlite3_stmt *row = NULL, *value = NULL;
	uint64_t number = 0;
	int ret = 0;

	JSON_KEY(j, "counter_collection");
	json_array(j);
	if (rocprofv3_files_choice(q)->domains & ROCPROFV3_COUNTERS)
		ret = query_prepare(q, &row, dispatches_sql);
	if (ret == 0 && row)
		ret = query_prepare(
			q, &value,
			"SELECT R.id, C.value FROM rocpd_counter C JOIN rocpd_string W ON W.id = C.name_id JOIN "
			"rocprofv3_counter R ON R.name = W.string AND R.agent = ?2 WHERE C.op_id = ?1 ORDER BY C.id");
	if (ret == 0 && row)
		query_bind_range(q, row);
	while (ret == 0 && row && (ret = query_step(q, row)) == 1)
		ret = put_counted(q, j, row, value, ++number);
	json_array_end(j);
	sqlite3_finalize(row);
	sqlite3_finalize(value);
	return ret;
}

/* ---- all ------------------------------------------------------------------------------------- */

int rocprofv3_records_write(struct query *q, struct json *j)
{
	static const struct {
		const char *key, *sql;
		void (*put)(struct json *j, sqlite3_stmt *row, uint64_t number);
		uint32_t domains;
	} records[] = {
		{ "kernel_dispatch", dispatches_sql, put_dispatch, ROCPROFV3_KERNEL },
		{ "hip_api", hip_calls_sql, put_hip_call, ROCPROFV3_HIP },
		{ "hsa_api", CALLS(ROCPROFV3_HSA_KINDS), put_call, ROCPROFV3_HSA },
		{ "marker_api", markers_sql, put_call, ROCPROFV3_MARKER },
		{ "rccl_api", CALLS(ROCPROFV3_RCCL_KINDS), put_call, ROCPROFV3_RCCL },
		{ "memory_copy", copies_sql, put_copy, ROCPROFV3_COPY },
		{ "memory_allocation", allocations_sql, put_allocation, ROCPROFV3_ALLOCATION },
		{ "scratch_memory", scratch_sql, put_scratch, ROCPROFV3_SCRATCH },
		{ "rocdecode_api", NULL, NULL, 0 },
		{ "rocjpeg_api", NULL, NULL, 0 },
		{ "pc_sample_host_trap", NULL, NULL, 0 },
		{ "pc_sample_stochastic", NULL, NULL, 0 },
		{ "hip_graph", launches_sql, put_launch, ROCPROFV3_HIP_RUNTIME },
	};
	uint32_t chosen = rocprofv3_files_choice(q)->domains;
	int ret = 0;

	json_key(j, "buffer_records");
	json_object(j);
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]) && ret == 0; i++) {
		json_key(j, records[i].key);
		json_array(j);
		if (records[i].domains & chosen)
			ret = put_records(q, j, records[i].sql, records[i].put);
		json_array_end(j);
	}
	json_object_end(j);
	return ret;
}
