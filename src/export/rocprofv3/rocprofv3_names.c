/* SPDX-License-Identifier: MIT */
/* rocprofv3_names.c - numbers of functions, names of kernels, numbers of agents, as temporary
 * tables
 *
 * They are small: one row for each function, kernel and agent of the trace.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/call_args.h"
#include "export/rocprofv3/rocprofv3_internal.h"
#include "store/map.h"

/* ---- functions ---- */

/* Names that the trace has for functions that the SDK numbers under another one. */
static const char *const renamed[][2] = {
	{ "hipGetDeviceProperties", "hipGetDevicePropertiesR0000" },
	{ "hipChooseDevice", "hipChooseDeviceR0000" },
};

static int64_t find_operation(int kind, const char *name)
{
	const struct names_sdk_kind *k = &names_sdk_buffer_kinds[kind];

	for (size_t i = 0; i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (strcmp(name, renamed[i][0]) == 0)
			name = renamed[i][1];
	for (uint32_t i = 0; i < k->nr; i++)
		if (strcmp(k->ops[i], name) == 0)
			return i;
	return -1;
}

/* The kind of a function that no table has. */
static int guess_kind(const char *domain, const char *name)
{
	if (strcmp(domain, "hip") == 0)
		return strncmp(name, "__", 2) == 0 ? ROCPROFV3_KIND_HIP_COMPILER :
						     ROCPROFV3_KIND_HIP_RUNTIME;
	if (strcmp(domain, "rccl") == 0)
		return ROCPROFV3_KIND_RCCL;
	return strncmp(name, "hsa_amd_", 8) == 0	 ? ROCPROFV3_KIND_HSA_AMD :
	       strncmp(name, "hsa_ext_program", 15) == 0 ? ROCPROFV3_KIND_HSA_FINALIZE :
	       strncmp(name, "hsa_ext_", 8) == 0	 ? ROCPROFV3_KIND_HSA_IMAGE :
							   ROCPROFV3_KIND_HSA_CORE;
}

static int find_kind(const char *domain, const char *name, int64_t *operation)
{
	static const int kinds[] = { ROCPROFV3_KIND_HIP_RUNTIME, ROCPROFV3_KIND_HIP_COMPILER,
				     ROCPROFV3_KIND_HSA_CORE,	 ROCPROFV3_KIND_HSA_AMD,
				     ROCPROFV3_KIND_HSA_IMAGE,	 ROCPROFV3_KIND_HSA_FINALIZE,
				     ROCPROFV3_KIND_RCCL };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		*operation = find_operation(kinds[i], name);
		if (*operation >= 0)
			return kinds[i];
	}
	return guess_kind(domain, name);
}

static uint32_t domain_of(int kind)
{
	switch (kind) {
	case ROCPROFV3_KIND_HIP_RUNTIME:
		return ROCPROFV3_HIP_RUNTIME;
	case ROCPROFV3_KIND_HIP_COMPILER:
		return ROCPROFV3_HIP_COMPILER;
	case ROCPROFV3_KIND_HSA_AMD:
		return ROCPROFV3_HSA_AMD;
	case ROCPROFV3_KIND_HSA_IMAGE:
		return ROCPROFV3_HSA_IMAGE;
	case ROCPROFV3_KIND_HSA_FINALIZE:
		return ROCPROFV3_HSA_FINALIZE;
	case ROCPROFV3_KIND_RCCL:
		return ROCPROFV3_RCCL;
	default:
		return ROCPROFV3_HSA_CORE;
	}
}

/* Functions that allocate and release memory: operation, and the names of the arguments for size
 * and address. */
static const struct allocation {
	const char *name, *size, *address;
	int operation;
	const char *pool; /* NULL: none */
} allocations[] = {
	{ "hsa_memory_allocate", "size", "*ptr", 1, "region" },
	{ "hsa_amd_memory_pool_allocate", "size", "*ptr", 1, "memory_pool" },
	{ "hsa_amd_vmem_handle_create", "size", "*memory_handle", 2, "pool" },
	{ "hsa_memory_free", "", "ptr", 3, NULL },
	{ "hsa_amd_memory_pool_free", "", "ptr", 3, NULL },
	{ "hsa_amd_vmem_handle_release", "", "memory_handle", 4, NULL },
	{ "hipMalloc", "size", "*ptr", 1, NULL },
	{ "hipExtMallocWithFlags", "sizeBytes", "*ptr", 1, NULL },
	{ "hipMallocManaged", "size", "*dev_ptr", 1, NULL },
	{ "hipMallocAsync", "size", "*dev_ptr", 1, NULL },
	{ "hipMallocFromPoolAsync", "size", "*dev_ptr", 1, NULL },
	{ "hipHostMalloc", "size", "*ptr", 1, NULL },
	{ "hipHostAlloc", "size", "*ptr", 1, NULL },
	{ "hipMallocHost", "size", "*ptr", 1, NULL },
	{ "hipMemAllocHost", "size", "*ptr", 1, NULL },
	{ "hipFree", "", "ptr", 3, NULL },
	{ "hipFreeAsync", "", "dev_ptr", 3, NULL },
	{ "hipHostFree", "", "ptr", 3, NULL },
	{ "hipFreeHost", "", "ptr", 3, NULL },
};

struct making {
	struct query *q;
	sqlite3_stmt *function, *allocation, *known;
	int64_t more[NAMES_SDK_BUFFER_KINDS]; /* functions of a kind without a number so far */
};

static int run_insert(struct query *q, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : query_fail_sql(q);
}

static int add_allocation(struct making *m, int64_t id, const char *name)
{
	for (size_t i = 0; i < sizeof(allocations) / sizeof(allocations[0]); i++) {
		const struct allocation *a = &allocations[i];

		if (strcmp(a->name, name) != 0)
			continue;
		sqlite3_bind_int64(m->allocation, 1, id);
		sqlite3_bind_int(m->allocation, 2, a->operation);
		sqlite3_bind_text(m->allocation, 3, a->size, -1, SQLITE_STATIC);
		sqlite3_bind_text(m->allocation, 4, a->address, -1, SQLITE_STATIC);
		sqlite3_bind_int(m->allocation, 5, strncmp(name, "hsa_", 4) == 0);
		sqlite3_bind_text(m->allocation, 6, a->pool, -1, SQLITE_STATIC);
		return run_insert(m->q, m->allocation);
	}
	return 0;
}

/* The number of a function that the SDK does not number; it may have several ids. */
static int64_t further_operation(struct making *m, int kind, const char *name)
{
	int64_t operation = names_sdk_buffer_kinds[kind].nr + m->more[kind];

	sqlite3_bind_int(m->known, 1, kind);
	sqlite3_bind_text(m->known, 2, name, -1, SQLITE_STATIC);
	if (sqlite3_step(m->known) == SQLITE_ROW)
		operation = sqlite3_column_int64(m->known, 0);
	else
		m->more[kind]++;
	sqlite3_reset(m->known);
	return operation;
}

static int add_function(struct making *m, sqlite3_stmt *row)
{
	const struct rocprofv3_choice *choice = rocprofv3_files_choice(m->q);
	int64_t id = sqlite3_column_int64(row, 0), operation;
	const char *name = query_text(row, 1);
	int kind = find_kind(query_text(row, 2), name, &operation), ret = 0;

	if (choice->domains & ROCPROFV3_ALLOCATION)
		ret = add_allocation(m, id, name);
	if (ret || !(choice->domains & domain_of(kind)))
		return ret;
	if (operation < 0)
		operation = further_operation(m, kind, name);
	sqlite3_bind_int64(m->function, 1, id);
	sqlite3_bind_text(m->function, 2, name, -1, SQLITE_TRANSIENT);
	sqlite3_bind_int(m->function, 3, kind);
	sqlite3_bind_text(m->function, 4, names_sdk_buffer_kinds[kind].name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(m->function, 5, operation);
	return run_insert(m->q, m->function);
}

static int make_functions(struct query *q)
{
	struct making m = { .q = q };
	sqlite3_stmt *row = NULL;
	const struct query_sql all[] = {
		{ &m.function,
		  "INSERT OR IGNORE INTO temp.rocprofv3_function VALUES (?1, ?2, ?3, ?4, ?5)" },
		{ &m.allocation,
		  "INSERT OR IGNORE INTO temp.rocprofv3_allocation VALUES (?1, ?2, ?3, ?4, ?5, ?6)" },
		{ &m.known,
		  "SELECT operation FROM temp.rocprofv3_function WHERE kind = ?1 AND name = ?2" },
		{ &row,
		  "SELECT F.id, N.string, D.string FROM (SELECT DISTINCT apiName_id AS id, domain_id "
		  "FROM rocpd_api) F JOIN rocpd_string N ON N.id = F.id JOIN rocpd_string D ON D.id = "
		  "F.domain_id WHERE D.string IN ('hip', 'hsa', 'rccl') ORDER BY F.id" },
	};
	int ret = query_prepare_all(q, all, sizeof(all) / sizeof(all[0]));

	while (ret == 0 && (ret = query_step(q, row)) == 1)
		ret = add_function(&m, row);
	sqlite3_finalize(row);
	sqlite3_finalize(m.function);
	sqlite3_finalize(m.allocation);
	sqlite3_finalize(m.known);
	/* HIP's functions call HSA's: each allocation once */
	return ret ? ret :
		     query_run(q, "DELETE FROM temp.rocprofv3_allocation WHERE NOT hsa AND EXISTS "
				  "(SELECT 1 FROM temp.rocprofv3_allocation WHERE hsa)");
}

int rocprofv3_names_more(struct query *q, int kind, void (*each)(void *arg, const char *name),
			 void *arg)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(
		q, &row,
		"SELECT DISTINCT operation, name FROM temp.rocprofv3_function WHERE kind = ?1 "
		"AND operation >= ?2 ORDER BY operation");

	if (row) {
		sqlite3_bind_int(row, 1, kind);
		sqlite3_bind_int64(row, 2, names_sdk_buffer_kinds[kind].nr);
	}
	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		each(arg, query_text(row, 1));
		ret = 0;
	}
	sqlite3_finalize(row);
	return ret;
}

/* ---- SQL functions ---- */

/* The number of an argument: 4096, 0x7f00. */
static void sql_arg(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	const char *name = (const char *)sqlite3_value_text(values[1]);
	struct call_arg arg;

	(void)nr;
	if (text && name && *name && call_args_find(text, name, &arg) && arg.value[0] >= '0' &&
	    arg.value[0] <= '9')
		sqlite3_result_int64(context, (int64_t)strtoull(arg.value, NULL, 0));
	else
		sqlite3_result_null(context);
}

/* The square root; 0 of what rounding made negative. */
static void sql_root(sqlite3_context *context, int nr, sqlite3_value **values)
{
	double value = sqlite3_value_double(values[0]);

	(void)nr;
	sqlite3_result_double(context, value > 0 ? sqrt(value) : 0);
}

static void sql_hash(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const void *text = sqlite3_value_text(values[0]);
	int size = sqlite3_value_bytes(values[0]);

	(void)nr;
	sqlite3_result_int64(context,
			     text ? (int64_t)(map_hash(text, (size_t)size) & INT64_MAX) : 0);
}

/* "gfx90a" -> 90010: major, minor and stepping; the last two digits are minor and stepping, in
 * hexadecimal. */
static void sql_gfx(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const char *isa = (const char *)sqlite3_value_text(values[0]);
	size_t n = isa && strncmp(isa, "gfx", 3) == 0 ? strlen(isa) : 0;
	long last;

	(void)nr;
	if (n < 6 || strspn(isa + 3, "0123456789abcdef") != n - 3) {
		sqlite3_result_int(context, 0);
		return;
	}
	last = strtol(isa + n - 2, NULL, 16);
	sqlite3_result_int64(context,
			     strtol(isa + 3, NULL, 10) / (isa[n - 1] <= '9' ? 100 : 10) * 10000 +
				     last / 16 * 100 + last % 16);
}

/* The index of what opens the bracket that closes at size - 1; `size` if nothing does. */
static size_t skip_back(const char *text, size_t size, char open, char close)
{
	size_t depth = 0;

	for (size_t i = size; i-- > 0;) {
		depth += text[i] == close;
		depth -= text[i] == open && depth;
		if (!depth)
			return i;
	}
	return size;
}

/* The bare name of a function: "void a::f<int>(float*)" -> "f". */
static void sql_truncated(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	size_t end = text ? strlen(text) : 0, begin;

	(void)nr;
	if (end && text[end - 1] == ']') /* " [clone .kd]" */
		end = skip_back(text, end, '[', ']');
	while (end && text[end - 1] == ' ')
		end--;
	if (end && text[end - 1] == ')')
		end = skip_back(text, end, '(', ')');
	if (end && text[end - 1] == '>')
		end = skip_back(text, end, '<', '>');
	for (begin = end; begin && text[begin - 1] != ' ' && text[begin - 1] != ':'; begin--)
		;
	if (begin < end)
		sqlite3_result_text(context, text + begin, (int)(end - begin), SQLITE_TRANSIENT);
	else
		sqlite3_result_value(context, values[0]);
}

/* ---- tables ---- */

static const char tables_sql[] =
	"DROP TABLE IF EXISTS temp.rocprofv3_function; DROP TABLE IF EXISTS temp.rocprofv3_allocation;"
	"DROP TABLE IF EXISTS temp.rocprofv3_kernel; DROP TABLE IF EXISTS temp.rocprofv3_agent;"
	"DROP TABLE IF EXISTS temp.rocprofv3_flags; DROP TABLE IF EXISTS temp.rocprofv3_queue;"
	"DROP TABLE IF EXISTS temp.rocprofv3_stream; DROP TABLE IF EXISTS temp.rocprofv3_scratch;"
	"DROP TABLE IF EXISTS temp.rocprofv3_pool;"
	"CREATE TEMP TABLE rocprofv3_function (id INTEGER PRIMARY KEY, name TEXT, kind INTEGER, domain TEXT, "
	"operation INTEGER);"
	"CREATE TEMP TABLE rocprofv3_allocation (id INTEGER PRIMARY KEY, operation INTEGER, size TEXT, "
	"address TEXT, hsa INTEGER, pool TEXT);"
	"CREATE TEMP TABLE rocprofv3_pool (block INTEGER, handle INTEGER, agent_id INTEGER, PRIMARY KEY (block, handle)) WITHOUT "
	"ROWID;"
	"CREATE TEMP TABLE rocprofv3_kernel (id INTEGER PRIMARY KEY, name TEXT, truncated TEXT);"
	"CREATE TEMP TABLE rocprofv3_agent (id INTEGER PRIMARY KEY, handle INTEGER, label TEXT, "
	"type_index INTEGER);"
	"CREATE TEMP TABLE rocprofv3_queue (id INTEGER PRIMARY KEY, number INTEGER);"
	"CREATE TEMP TABLE rocprofv3_stream (process_id INTEGER, name TEXT, since INTEGER, until INTEGER, "
	"number INTEGER, PRIMARY KEY (process_id, name, since)) WITHOUT ROWID;"
	"CREATE TEMP TABLE rocprofv3_scratch (id INTEGER PRIMARY KEY, operation INTEGER, tid INTEGER, start INTEGER, "
	"\"end\" INTEGER, agent_id INTEGER, queue INTEGER, flags INTEGER, bytes INTEGER, correlation_id INTEGER);"
	"CREATE TEMP TABLE rocprofv3_flags (renamed INTEGER, domains INTEGER)";

/* Handles are those of librocprofiler-sdk: 2048 + the node. */
static const char agents_sql[] =
	"INSERT INTO temp.rocprofv3_agent SELECT id, 2048 + coalesce(driver_node, agent_index), CASE ?1 WHEN 1 "
	"THEN 'Agent ' || coalesce(driver_node, agent_index) WHEN 2 THEN CASE type WHEN 'OTHER' THEN 'UNK' ELSE "
	"type END || ' ' || type_index ELSE 'Agent ' || agent_index END, type_index FROM "
	"(SELECT id, driver_node, agent_index, type, row_number() OVER (PARTITION BY process_id, type ORDER BY "
	"agent_index) - 1 AS type_index FROM rtl_agent)";

static const char queues_sql[] =
	"INSERT INTO temp.rocprofv3_queue SELECT id, row_number() OVER (PARTITION BY process_id ORDER BY internal, "
	"queue_id) FROM rtl_queue";

/* Streams that were made, and handles that were used before the first of that name was made: their
 * making was not recorded. 0x1 is the legacy default stream. */
static const char streams_sql[] =
	"INSERT INTO temp.rocprofv3_stream WITH made AS MATERIALIZED (SELECT P.id AS process_id, printf('0x%x', "
	"rocprofv3_arg(U.string, '*stream')) AS name, A.\"end\" AS since FROM rocpd_api A JOIN rocpd_ustring U ON U.id "
	"= A.args_id JOIN rtl_api_data X ON X.api_id = A.id AND X.status = 0 JOIN rtl_process P ON A.id BETWEEN "
	"P.id_first AND P.id_last WHERE A.apiName_id IN (SELECT id FROM rocpd_string WHERE string GLOB "
	"'hip*StreamCreate*') AND rocprofv3_arg(U.string, '*stream')), used AS MATERIALIZED (SELECT P.id AS process_id, "
	"L.stream AS name, min(L.start) AS first FROM (SELECT min(Q.op_id) AS op_id, Q.stream, min(B.start) AS start "
	"FROM query_cause Q JOIN rocpd_api B ON B.id = Q.api_id WHERE Q.stream NOT IN ('0x0', '0x1') GROUP BY Q.op_id >> "
	"32, Q.stream) L JOIN rtl_process P ON L.op_id BETWEEN P.id_first AND P.id_last GROUP BY 1, 2), streams AS "
	"(SELECT process_id, name, since, since AS at FROM made UNION SELECT process_id, name, 0, first FROM used U WHERE "
	"NOT EXISTS (SELECT 1 FROM made M WHERE M.process_id = U.process_id AND M.name = U.name AND M.since <= U.first)) "
	"SELECT process_id, name, since, lead(since, 1, 9223372036854775807) OVER (PARTITION BY process_id, name ORDER BY "
	"since), row_number() OVER (PARTITION BY process_id ORDER BY at, name) FROM streams";

/* Traces that earlier versions wrote have no such table. */
static const char scratch_sql[] =
	"INSERT INTO temp.rocprofv3_scratch SELECT W.id, CASE W.operation WHEN 'alloc' THEN 1 WHEN 'free' THEN 2 ELSE 3 "
	"END, T.tid, W.begin_ns, W.end_ns, Q.agent_id, coalesce(V.number, 0), W.flags, W.bytes, W.correlation_id FROM "
	"rtl_scratch W JOIN rtl_thread T ON T.id = W.thread_id LEFT JOIN rtl_queue Q ON Q.id = W.queue_id LEFT JOIN "
	"temp.rocprofv3_queue V ON V.id = W.queue_id";

/* rtl_info has a pool as "HANDLE AGENT". A region of HSA's core has the handle of its pool. */
static const char pools_sql[] =
	"INSERT OR REPLACE INTO temp.rocprofv3_pool SELECT A.id >> 32, CAST(I.value AS INTEGER), A.id FROM rtl_info I JOIN "
	"rtl_agent A ON A.process_id = I.process_id AND A.agent_index = CAST(substr(I.value, instr(I.value, ' ') + 1) AS "
	"INTEGER) WHERE I.key = 'memory_pool' ORDER BY I.id";

static const char kernels_sql[] =
	"INSERT INTO temp.rocprofv3_kernel SELECT id, CASE WHEN ?1 THEN name WHEN ?2 THEN "
	"rocprofv3_truncated(demangled) ELSE demangled END, rocprofv3_truncated(demangled) FROM "
	"rtl_kernel_symbol";

/* Runs a statement with two numbers. */
static int fill_table(struct query *q, const char *sql, int first, int second)
{
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(q, &stmt, sql);

	if (ret == 0) {
		sqlite3_bind_int(stmt, 1, first);
		sqlite3_bind_int(stmt, 2, second);
		ret = query_step(q, stmt);
	}
	sqlite3_finalize(stmt);
	return ret;
}

static int make_functions_of_sql(struct query *q)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;

	if (sqlite3_create_function(q->db, "rocprofv3_arg", 2, flags, NULL, sql_arg, NULL, NULL) ||
	    sqlite3_create_function(q->db, "rocprofv3_truncated", 1, flags, NULL, sql_truncated,
				    NULL, NULL) ||
	    sqlite3_create_function(q->db, "rocprofv3_gfx", 1, flags, NULL, sql_gfx, NULL, NULL) ||
	    sqlite3_create_function(q->db, "rocprofv3_hash", 1, flags, NULL, sql_hash, NULL,
				    NULL) ||
	    sqlite3_create_function(q->db, "rocprofv3_root", 1, flags, NULL, sql_root, NULL, NULL))
		return query_fail_sql(q);
	return 0;
}

/* Temporary views go before the tables of the same name. */
int rocprofv3_names_shorten(struct query *q)
{
	static const char views[] =
		"CREATE TEMP VIEW rocpd_string AS SELECT id, CASE WHEN id IN (SELECT description_id FROM "
		"main.rocpd_op) THEN rocprofv3_truncated(string) ELSE string END AS string FROM main.rocpd_string; "
		"CREATE TEMP VIEW rtl_kernel_symbol AS SELECT id, process_id, kernel_id, name, "
		"rocprofv3_truncated(demangled) AS demangled, object, code_object_id, agent_id, kernarg_size, "
		"group_size, private_size, vgpr_count, accum_vgpr_count, sgpr_count, rsrc1, rsrc2, rsrc3 FROM "
		"main.rtl_kernel_symbol;";
	int ret = make_functions_of_sql(q);

	return ret || !q->ours ? ret : query_run(q, views);
}

int rocprofv3_names_for_viewer(struct query *q)
{
	static const char renumber[] =
		"UPDATE temp.query_cause SET stream = CAST(coalesce((SELECT M.number FROM rtl_process P JOIN "
		"temp.rocprofv3_stream M ON M.process_id = P.id AND M.name = query_cause.stream JOIN rocpd_api B ON B.id = "
		"query_cause.api_id AND M.since <= B.start AND M.until > B.start WHERE query_cause.op_id BETWEEN P.id_first AND "
		"P.id_last), 0) AS TEXT) WHERE stream IS NOT NULL; "
		"DELETE FROM temp.query_stream; "
		"INSERT INTO temp.query_stream SELECT DISTINCT op_id >> 32, stream, stream + 1 FROM "
		"temp.query_cause WHERE stream IS NOT NULL;";
	/* "Agent 1" is "Agent [1]" there */
	static const char agents[] =
		"DROP TABLE IF EXISTS temp.query_agent; CREATE TEMP TABLE query_agent (id INTEGER PRIMARY KEY, block INTEGER, "
		"gpu_id INTEGER, name TEXT, type TEXT, UNIQUE (block, gpu_id)); INSERT OR IGNORE INTO temp.query_agent SELECT "
		"A.id, P.id_first >> 32, A.gpu_id, replace(G.label, ' ', ' [') || ']', CASE A.type WHEN 'OTHER' THEN 'UNK' ELSE "
		"A.type END FROM temp.rocprofv3_agent G JOIN rtl_agent A ON A.id = G.id JOIN rtl_process P ON P.id = A.process_id";
	/* what is released is what was allocated last at that address */
	static const char allocated[] =
		"DROP TABLE IF EXISTS temp.query_allocated; CREATE TEMP TABLE query_allocated AS WITH call AS MATERIALIZED (SELECT "
		"A.id AS api_id, A.start, A.\"end\", H.operation < 3 AS is_new, O.agent_id, coalesce(rocprofv3_arg(U.string, "
		"H.size), 0) AS bytes, rocprofv3_arg(U.string, H.address) AS address FROM rocpd_api A CROSS JOIN "
		"temp.rocprofv3_allocation H ON H.id = A.apiName_id JOIN rtl_api_data X ON X.api_id = A.id AND X.status = 0 JOIN "
		"rocpd_ustring U ON U.id = A.args_id LEFT JOIN temp.rocprofv3_pool O ON O.block = A.id >> 32 AND O.handle = "
		"rocprofv3_arg(U.string, H.pool)), matched AS (SELECT *, lag(is_new) OVER w AS is_there, lag(agent_id) OVER w AS "
		"its_agent, lag(bytes) OVER w AS its_bytes FROM call WHERE address > 0 WINDOW w AS (PARTITION BY api_id >> 32, "
		"address ORDER BY start, api_id)) SELECT api_id, start, \"end\", CASE WHEN is_new THEN agent_id ELSE its_agent END "
		"AS agent_id, CASE WHEN is_new THEN bytes ELSE -its_bytes END AS bytes FROM matched WHERE is_new OR is_there";
	int ret;

	q->streams_from_0 = true;
	q->names_agents = true;
	ret = query_run(q, renumber);
	if (ret == 0)
		ret = query_run(q, agents);
	return ret ? ret : query_run(q, allocated);
}

int rocprofv3_names_make(struct query *q)
{
	const struct rocprofv3_choice *choice = rocprofv3_files_choice(q);
	int ret = make_functions_of_sql(q);

	if (ret == 0)
		ret = query_run(q, tables_sql);
	if (ret == 0)
		ret = fill_table(q, agents_sql, (int)choice->index, 0);
	if (ret == 0)
		ret = query_run(q, queues_sql);
	if (ret == 0)
		ret = query_run(q, streams_sql);
	if (ret == 0)
		ret = query_run(q, pools_sql);
	if (ret == 0 && query_has(q->db, "rtl_scratch"))
		ret = query_run(q, scratch_sql);
	if (ret == 0)
		ret = fill_table(q, kernels_sql, choice->mangled, choice->truncated);
	if (ret == 0)
		ret = fill_table(q, "INSERT INTO temp.rocprofv3_flags VALUES (?1, ?2)",
				 choice->renamed, (int)choice->domains);
	return ret ? ret : make_functions(q);
}
