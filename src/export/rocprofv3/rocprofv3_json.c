/* SPDX-License-Identifier: MIT */
/* rocprofv3_json.c - rocprofv3's JSON: what describes a process
 *
 * One process in a file: readers take the first alone. Keys are in rocprofv3's order, the numbers
 * of kinds and operations those of rocprofiler-sdk 1.0; what it does not number follows behind.
 *
 * Not here: records (rocprofv3_records.c).
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "export/csv_table.h"
#include "export/output.h"
#include "export/rocprofv3/rocprofv3_internal.h"
#include "rtl_version.h"

#define AGENT_SIZE 312 /* of structures of rocprofiler-sdk 1.0 */
#define CODE_OBJECT_SIZE 88
#define KERNEL_SYMBOL_SIZE 88
#define HOST_FUNCTION_SIZE 120

static void put_handle(struct json *j, const char *key, int64_t handle)
{
	json_key(j, key);
	json_object(j);
	json_member_int(j, "handle", handle);
	json_object_end(j);
}

/* Calls `put` for each row of a statement about q->only. */
static int each_row(struct query *q, struct json *j, const char *sql,
		    void (*put)(struct json *j, sqlite3_stmt *row))
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(q, &row, sql);

	if (ret == 0)
		query_bind_range(q, row);
	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		put(j, row);
		ret = j->error;
	}
	sqlite3_finalize(row);
	return ret;
}

/* An array of such rows. */
static int put_array(struct query *q, struct json *j, const char *key, const char *sql,
		     void (*put)(struct json *j, sqlite3_stmt *row))
{
	int ret;

	json_key(j, key);
	json_array(j);
	ret = each_row(q, j, sql, put);
	json_array_end(j);
	json_bytes(j, "\n", 1);
	return ret;
}

/* ---- metadata ---- */

/* The words of a command line as `rtl` records it: those with blanks are in single quotes. */
static void put_words(struct json *j, const char *text)
{
	char *word = alloc_heap(strlen(text) + 1);

	json_array(j);
	while (word && *text) {
		bool quoted = false;
		size_t n = 0;

		text += strspn(text, " ");
		for (; *text && (quoted || *text != ' '); text++) {
			if (*text == '\'')
				quoted = !quoted;
			else
				word[n++] = *text;
		}
		if (n)
			json_text_size(j, word, n);
	}
	json_array_end(j);
	alloc_free(word);
}

static void put_metadata(struct json *j, sqlite3_stmt *row)
{
	static const char *const node[] = { "machine_id", "system_name",   "hostname",	 "release",
					    "version",	  "hardware_name", "domain_name" };

	json_key(j, "node");
	json_object(j);
	json_member_int(j, "id", sqlite3_column_int64(row, 0));
	json_member_int(j, "hash", sqlite3_column_int64(row, 1));
	for (int i = 0; i < 7; i++)
		json_member_text(j, node[i], query_text(row, 2 + i));
	json_object_end(j);
	json_member_int(j, "pid", sqlite3_column_int64(row, 9));
	json_member_int(j, "ppid", sqlite3_column_int64(row, 10));
	json_member_int(j, "init_time", sqlite3_column_int64(row, 11));
	json_member_int(j, "fini_time", sqlite3_column_int64(row, 12));
	json_key(j, "command");
	put_words(j, query_text(row, 13));
	json_key(j, "config");
	json_object(j);
	json_member_text(j, "rocm_trace_lite", RTL_VERSION_STRING);
	json_member_text(j, "state", query_text(row, 14));
	json_object_end(j);
}

static int put_head(struct query *q, struct json *j)
{
	int ret;

	json_key(j, "metadata");
	json_object(j);
	ret = each_row(q, j, ROCPROFV3_PROCESS, put_metadata);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	return ret;
}

/* ---- agents ---- */

/* The member of a column of agent_info.csv: "Cu_Count" is cu_count. */
static void put_agent_column(struct json *j, sqlite3_stmt *row, int i, const char *column)
{
	size_t n = strlen(column);
	char key[64] = "";

	for (size_t k = 0; k < n && k + 1 < sizeof(key); k++)
		key[k] = (char)tolower((unsigned char)column[k]);
	if (n > 6 && strcmp(key + n - 6, "_dim_x") == 0) {
		key[n - 2] = 0;
		json_key(j, key);
		json_object(j);
		for (int axis = 0; axis < 3; axis++) {
			char name[2] = { (char)('x' + axis), 0 };

			json_member_int(j, name, sqlite3_column_int64(row, i + axis));
		}
		json_object_end(j);
	} else if (n > 6 && strncmp(key + n - 6, "_dim_", 5) == 0) {
		return;
	} else if (strcmp(key, "agent_type") == 0) {
		const char *type = query_text(row, i);

		json_member_int(j, "type",
				strcmp(type, "CPU") == 0 ? 1 :
				strcmp(type, "GPU") == 0 ? 2 :
							   0);
	} else if (sqlite3_column_type(row, i) == SQLITE_INTEGER) {
		json_member_int(j, key, sqlite3_column_int64(row, i));
	} else {
		json_member_text(j, key, query_text(row, i));
	}
}

int rocprofv3_json_agents(struct query *q, struct json *j)
{
	static const char *const empty[] = { "mem_banks", "caches", "io_links" };
	const struct csv_table *t = rocprofv3_csv_table("agent_info");
	sqlite3_stmt *row = NULL;
	int64_t of_type[3] = { 0, 0, 0 };
	int ret = csv_table_prepare(q, t, &row);

	json_array(j);
	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		const char *type = query_text(row, 2);
		int kind = strcmp(type, "CPU") == 0 ? 1 : strcmp(type, "GPU") == 0 ? 2 : 0;

		json_object(j);
		json_member_int(j, "size", AGENT_SIZE);
		put_handle(j, "id", 2048 + sqlite3_column_int64(row, 0));
		for (size_t i = 0; i < t->nr; i++)
			put_agent_column(j, row, (int)i, t->columns[i].name);
		json_member_int(j, "logical_node_type_id", of_type[kind]++);
		for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
			json_key(j, empty[i]);
			json_array(j);
			json_array_end(j);
		}
		json_object_end(j);
		ret = j->error;
	}
	json_array_end(j);
	sqlite3_finalize(row);
	return ret;
}

static int put_agents(struct query *q, struct json *j)
{
	int ret;

	json_key(j, "agents");
	ret = rocprofv3_json_agents(q, j);
	json_bytes(j, "\n", 1);
	return ret;
}

/* ---- strings ---- */

static void put_name(void *arg, const char *name)
{
	json_text(arg, name);
}

/* The kinds of one table, each with its operations by their numbers. */
static int put_kinds(struct query *q, struct json *j, const char *key,
		     const struct names_sdk_kind *kinds, int nr, bool records)
{
	int ret = 0;

	json_key(j, key);
	json_array(j);
	for (int i = 0; i < nr && ret == 0; i++) {
		json_object(j);
		json_member_text(j, "kind", kinds[i].name);
		json_key(j, "operations");
		json_array(j);
		for (uint32_t k = 0; k < kinds[i].nr; k++)
			json_text(j, kinds[i].ops[k]);
		if (records)
			ret = rocprofv3_names_more(q, i, put_name, j);
		if (records && i == ROCPROFV3_KIND_COPY)
			json_text(j, "FILL");
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
	return ret;
}

static void put_message(struct json *j, sqlite3_stmt *row)
{
	json_object(j);
	json_member_int(j, "key", sqlite3_column_int64(row, 0));
	json_key(j, "value");
	json_text_size(j, query_text(row, 1), (size_t)sqlite3_column_bytes(row, 1));
	json_object_end(j);
}

static void put_empty(struct json *j, const char *key)
{
	json_key(j, key);
	json_array(j);
	json_array_end(j);
}

static int put_strings(struct query *q, struct json *j)
{
	static const char *const empty[] = { "pc_sample_instructions", "pc_sample_comments",
					     "att_filenames", "code_object_snapshot_filenames" };
	bool markers = rocprofv3_files_choice(q)->domains & ROCPROFV3_MARKER;
	int ret;

	json_key(j, "strings");
	json_object(j);
	ret = put_kinds(q, j, "callback_records", names_sdk_callback_kinds,
			NAMES_SDK_CALLBACK_KINDS, false);
	if (ret == 0)
		ret = put_kinds(q, j, "buffer_records", names_sdk_buffer_kinds,
				NAMES_SDK_BUFFER_KINDS, true);
	if (ret == 0 && markers)
		ret = put_array(q, j, "marker_api",
				"SELECT " ROCPROFV3_MARKER_ID(
					"A.id") ", U.string" ROCPROFV3_MARKERS,
				put_message);
	else
		put_empty(j, "marker_api");
	json_key(j, "correlation_id");
	json_object(j);
	put_empty(j, "external");
	json_object_end(j);
	json_key(j, "counters");
	json_object(j);
	put_empty(j, "dimension_ids");
	json_object_end(j);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		put_empty(j, empty[i]);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	return ret;
}

/* ---- code ---- */

/* Readers index these arrays by ids, as rocprofv3 does: entry N is N, 0 and gaps are placeholders.
 * An array beyond this many gaps is of a damaged trace. */
#define MAX_GAPS (1 << 20)

struct indexed {
	const char *key, *sql; /* the id is column 0, in order */
	void (*put)(struct json *j, sqlite3_stmt *row, int64_t id);
	void (*put_gap)(struct json *j, int64_t id);
};

static int put_indexed(struct query *q, struct json *j, const struct indexed *x)
{
	int64_t next = 0, nr_gaps = 0;
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(q, &row, x->sql);

	json_key(j, x->key);
	json_array(j);
	if (ret == 0)
		query_bind_range(q, row);
	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		int64_t id = sqlite3_column_int64(row, 0);

		ret = 0;
		if (id < next)
			continue;
		nr_gaps += id - next;
		if (nr_gaps > MAX_GAPS)
			ret = query_fail(q, -EINVAL, "%s: %s: the id %lld is not of a trace",
					 q->path, x->key, (long long)id);
		for (; ret == 0 && next < id; next++)
			x->put_gap(j, next);
		if (ret == 0)
			x->put(j, row, next++);
		ret = ret ? ret : j->error;
	}
	if (ret == 0 && !next)
		x->put_gap(j, 0);
	json_array_end(j);
	json_bytes(j, "\n", 1);
	sqlite3_finalize(row);
	return ret;
}

static const char objects_sql[] =
	"SELECT C.code_object_id, coalesce(G.handle, 0), coalesce(G.hsa, 0), coalesce(C.uri, ''), "
	"coalesce(C.load_base, 0), coalesce(C.load_size, 0), coalesce(C.load_delta, 0) FROM rtl_code_object C "
	"LEFT JOIN (SELECT A.id, B.handle, A.handle AS hsa FROM rtl_agent A JOIN temp.rocprofv3_agent B ON "
	"B.id = A.id) G ON G.id = C.agent_id WHERE C.id BETWEEN ?1 AND ?2 ORDER BY C.code_object_id, C.id";

/* row NULL: a placeholder. */
static void put_object(struct json *j, sqlite3_stmt *row, int64_t id)
{
	static const char *const keys[] = { "load_base", "load_size", "load_delta" };
	const char *uri = row ? query_text(row, 3) : "";
	bool is_file = strncmp(uri, "file:", 5) == 0;

	json_object(j);
	json_member_int(j, "size", row ? CODE_OBJECT_SIZE : 0);
	json_member_int(j, "code_object_id", row ? id : 0);
	put_handle(j, "rocp_agent", row ? sqlite3_column_int64(row, 1) : 0);
	put_handle(j, "hsa_agent", row ? sqlite3_column_int64(row, 2) : 0);
	json_member_text(j, "uri", uri);
	for (int i = 0; i < 3; i++)
		json_member_int(j, keys[i], row ? sqlite3_column_int64(row, 4 + i) : 0);
	json_member_int(j, "storage_type", is_file ? 1 : *uri ? 2 : 0);
	json_object_end(j);
}

static void put_object_gap(struct json *j, int64_t id)
{
	put_object(j, NULL, id);
}

static const char symbols_sql[] =
	"SELECT Y.kernel_id, coalesce(C.code_object_id, 0), coalesce(Y.object, 0), coalesce(Y.kernarg_size, 0), "
	"0, coalesce(Y.group_size, 0), coalesce(Y.private_size, 0), coalesce(Y.sgpr_count, 0), "
	"coalesce(Y.vgpr_count, 0), coalesce(Y.accum_vgpr_count, 0), Y.name, Y.demangled, N.truncated FROM "
	"rtl_kernel_symbol Y JOIN temp.rocprofv3_kernel N ON N.id = Y.id LEFT JOIN rtl_code_object C ON C.id = "
	"Y.code_object_id WHERE Y.id BETWEEN ?1 AND ?2 ORDER BY Y.kernel_id, Y.id";

/* row NULL: a placeholder, whose names are "0" at index 0 and "" elsewhere. */
static void put_symbol(struct json *j, sqlite3_stmt *row, int64_t id)
{
	static const char *const keys[] = {
		"kernel_object",      "kernarg_segment_size", "kernarg_segment_alignment",
		"group_segment_size", "private_segment_size", "sgpr_count",
		"arch_vgpr_count",    "accum_vgpr_count"
	};
	static const char *const names[] = { "formatted_kernel_name", "demangled_kernel_name",
					     "truncated_kernel_name" };
	static const int columns[] = { 11, 11, 12 };

	json_object(j);
	json_member_int(j, "size", row ? KERNEL_SYMBOL_SIZE : 0);
	json_member_int(j, "kernel_id", row ? id : 0);
	json_member_int(j, "code_object_id", row ? sqlite3_column_int64(row, 1) : 0);
	json_member_text(j, "kernel_name", row ? query_text(row, 10) : "");
	for (int i = 0; i < 8; i++)
		json_member_int(j, keys[i], row ? sqlite3_column_int64(row, 2 + i) : 0);
	for (int i = 0; i < 3; i++)
		json_member_text(j, names[i], row ? query_text(row, columns[i]) : id ? "" : "0");
	json_object_end(j);
}

static void put_symbol_gap(struct json *j, int64_t id)
{
	put_symbol(j, NULL, id);
}

/* Functions of the host that were registered for the kernels of loaded code objects, in the order
 * of the kernels; then those that a trace does not have as registered, of one that was attached to,
 * by their first launch. hipLaunchCooperativeKernel() has the function as `f`. */
#define REGISTERED_OF                                                                                      \
	"rtl_kernel_symbol R, json_each(CASE WHEN json_valid('[' || R.host_functions || ']') THEN '[' || " \
	"R.host_functions || ']' ELSE '[]' END) J"
#define FUNCTIONS(registered)                                                                                           \
	"WITH launched AS (SELECT L.op_id, A.args_id, N.string AS name, S.kernel_id FROM query_cause L JOIN rocpd_api " \
	"A ON A.id = L.api_id JOIN rocpd_string N ON N.id = A.apiName_id AND N.string GLOB 'hip*Launch*Kernel*' JOIN "  \
	"rtl_op_kernel K ON K.op_id = L.op_id JOIN rtl_shape S ON S.id = K.shape_id WHERE L.op_id BETWEEN ?1 AND ?2), " \
	"texts AS (SELECT min(op_id) AS op_id, args_id, name, kernel_id FROM launched GROUP BY args_id, name, "         \
	"kernel_id), functions AS (SELECT min(T.op_id) AS op_id, T.kernel_id, CAST(coalesce(rocprofv3_arg(U.string, "   \
	"'function_address'), CASE WHEN T.name GLOB 'hipLaunchCooperativeKernel*' THEN rocprofv3_arg(U.string, 'f') "   \
	"END) AS INTEGER) AS address FROM texts T JOIN rocpd_ustring U ON U.id = T.args_id GROUP BY 2, 3), registered " \
	"AS (" registered                                                                                               \
	"), every AS (SELECT *, 0 AS later FROM registered UNION ALL SELECT op_id, kernel_id, "                         \
	"address, 1 FROM functions WHERE address IS NOT NULL AND (kernel_id, address) NOT IN (SELECT kernel_id, "       \
	"address FROM registered)) SELECT row_number() OVER (ORDER BY F.later, F.at), Y.kernel_id, "                    \
	"coalesce(C.code_object_id, 0), F.address, Y.name, Y.demangled, N.truncated FROM every F JOIN "                 \
	"rtl_kernel_symbol Y ON Y.id = F.kernel_id JOIN temp.rocprofv3_kernel N ON N.id = Y.id LEFT JOIN "              \
	"rtl_code_object C ON C.id = Y.code_object_id ORDER BY 1"
static const char functions_sql[] = FUNCTIONS(
	"SELECT (R.id << 32) + J.key AS at, R.id AS kernel_id, CAST(J.value AS INTEGER) AS address FROM " REGISTERED_OF
	" WHERE R.host_functions IS NOT NULL AND R.id BETWEEN ?1 AND ?2");
/* of a database without that column */
static const char launched_sql[] =
	FUNCTIONS("SELECT 0 AS at, 0 AS kernel_id, 0 AS address WHERE 0");

static void put_function(struct json *j, sqlite3_stmt *row, int64_t id)
{
	static const char *const dims[] = { "thread_ids", "block_ids", "block_dims", "grid_dims" };
	static const char *const names[] = { "formatted_host_function_name",
					     "demangled_host_function_name",
					     "truncated_host_function_name" };
	static const int columns[] = { 5, 5, 6 };
	const char *device = row ? query_text(row, 4) : "";
	size_t size = strlen(device);

	if (size > 3 && strcmp(device + size - 3, ".kd") == 0)
		size -= 3;
	json_object(j);
	json_member_int(j, "size", row ? HOST_FUNCTION_SIZE : 0);
	json_member_int(j, "host_function_id", row ? id : 0);
	json_member_int(j, "kernel_id", row ? sqlite3_column_int64(row, 1) : 0);
	json_member_int(j, "code_object_id", row ? sqlite3_column_int64(row, 2) : 0);
	put_handle(j, "host_function", row ? sqlite3_column_int64(row, 3) : 0);
	put_handle(j, "modules", 0);
	json_key(j, "device_function");
	json_text_size(j, device, size);
	json_member_int(j, "thread_limit", 0);
	for (int i = 0; i < 4; i++) {
		json_key(j, dims[i]);
		json_object(j);
		json_member_int(j, "x", 0);
		json_member_int(j, "y", 0);
		json_member_int(j, "z", 0);
		json_object_end(j);
	}
	json_member_int(j, "workgroup_size", 0);
	for (int i = 0; i < 3; i++)
		json_member_text(j, names[i], row ? query_text(row, columns[i]) : "");
	json_object_end(j);
}

static void put_function_gap(struct json *j, int64_t id)
{
	put_function(j, NULL, id);
}

static int put_code(struct query *q, struct json *j)
{
	const bool has_registered =
		sqlite3_table_column_metadata(q->db, "main", "rtl_kernel_symbol", "host_functions",
					      NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
	const struct indexed all[] = {
		{ "code_objects", objects_sql, put_object, put_object_gap },
		{ "kernel_symbols", symbols_sql, put_symbol, put_symbol_gap },
		{ "host_functions", has_registered ? functions_sql : launched_sql, put_function,
		  put_function_gap },
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && ret == 0; i++)
		ret = put_indexed(q, j, &all[i]);
	return ret;
}

/* ---- the file ---- */

static void put_summary(struct json *j, sqlite3_stmt *row)
{
	json_object(j);
	json_member_text(j, "domain", query_text(row, 0));
	json_key(j, "stats");
	json_object(j);
	json_member_int(j, "count", sqlite3_column_int64(row, 1));
	json_member_int(j, "sum", sqlite3_column_int64(row, 2));
	json_key(j, "mean");
	json_double(j, sqlite3_column_double(row, 3));
	json_member_int(j, "min", sqlite3_column_int64(row, 5));
	json_member_int(j, "max", sqlite3_column_int64(row, 6));
	json_key(j, "stddev");
	json_double(j, sqlite3_column_double(row, 7));
	json_object_end(j);
	json_object_end(j);
}

static int put_summaries(struct query *q, struct json *j)
{
	sqlite3_stmt *row = NULL;
	int ret = 0;

	json_key(j, "summary");
	json_array(j);
	if (rocprofv3_files_choice(q)->domains & ROCPROFV3_STATS)
		ret = csv_table_prepare(q, rocprofv3_csv_table("domain_stats"), &row);
	while (row && ret == 0 && (ret = query_step(q, row)) == 1) {
		put_summary(j, row);
		ret = j->error;
	}
	json_array_end(j);
	json_bytes(j, "\n", 1);
	sqlite3_finalize(row);
	return ret;
}

static int put_process(struct query *q, struct json *j)
{
	int ret = rocprofv3_graphs_make(q);

	if (ret == 0)
		ret = put_head(q, j);
	if (ret == 0)
		ret = put_agents(q, j);
	if (ret == 0)
		ret = rocprofv3_records_counters(q, j);
	if (ret == 0)
		ret = put_strings(q, j);
	if (ret == 0)
		ret = put_code(q, j);
	if (ret == 0)
		ret = put_summaries(q, j);
	json_key(j, "callback_records");
	json_object(j);
	if (ret == 0)
		ret = rocprofv3_records_counted(q, j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	return ret ? ret : rocprofv3_records_write(q, j);
}

static int fill_file(void *arg, struct json *j)
{
	int ret;

	json_object(j);
	json_key(j, "rocprofiler-sdk-tool");
	json_array(j);
	json_object(j);
	ret = put_process(arg, j);
	json_object_end(j);
	json_array_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	return ret;
}

static int write_file(struct query *q, const char *name)
{
	int ret = output_write(q, name, fill_file, q);

	return ret ? ret : 1;
}

int rocprofv3_json_write(struct query *q, const char *out)
{
	static const char *const endings[] = { ".json", ".json.gz", NULL };
	static const struct rocprofv3_form form = {
		.format = "rocprofv3-json",
		.suffix = "_results.json",
		.endings = endings,
		.write = write_file,
	};

	return rocprofv3_files_write(q, out, &form);
}
