/* SPDX-License-Identifier: MIT */
/* rocpd3.c - a process as a database of rocpd (rocprofv3's default format), schema version 3
 *
 * Rows go from one connection to another, one by one: memory does not grow with the trace. Each
 * operation, call and range has an event, whose stack_id and correlation_id are both the trace's
 * correlation id.
 *
 * Fails:    the file is temporary until it is complete.
 * Not here: tables and views (rocpd3_schema.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/call_args.h"
#include "export/output.h"
#include "export/rocprofv3/rocpd3_internal.h"
#include "export/rocprofv3/rocprofv3_internal.h"
#include "rtl_version.h"
#include "store/map.h"

struct rocpd3 {
	struct query *q;
	const char *out;
	sqlite3 *db;
	struct rocpd3_id id;
	int64_t pid, ppid;
	struct map names; /* id of a name in the trace -> id in the file */
	int64_t nr_events;
	int64_t range, range_string; /* the last range that a kernel was in, and its text's id */
	struct json *json;
	sqlite3_stmt *add_string, *find_string, *add_event, *add_arg, *add_region, *add_kernel,
		*add_copy, *add_launch, *add_allocation, *add_scratch, *add_pmc, *add_pmc_event;
	sqlite3_stmt *message;	/* of a range of the trace */
	sqlite3_stmt *counters; /* of a dispatch; NULL: the trace has none */
};

static int fail(struct rocpd3 *r)
{
	int rc = sqlite3_extended_errcode(r->db);
	int error = rc == SQLITE_FULL || rc == SQLITE_IOERR_WRITE ? -ENOSPC :
		    rc == SQLITE_NOMEM				  ? -ENOMEM :
								    -EIO;

	return query_fail(r->q, error, "%s: can't be written: %s", r->out, sqlite3_errmsg(r->db));
}

static int run(struct rocpd3 *r, const char *text)
{
	char *sql = rocpd3_sql(text, &r->id);
	int rc = sql ? sqlite3_exec(r->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc == SQLITE_OK ? 0 : fail(r);
}

static int step(struct rocpd3 *r, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : fail(r);
}

/* ---- texts and events ---- */

/* The id of a text. 0, or -errno. */
static int string_id(struct rocpd3 *r, const char *text, int size, int64_t *id)
{
	int rc;

	sqlite3_bind_text(r->find_string, 1, text, size, SQLITE_STATIC);
	rc = sqlite3_step(r->find_string);
	if (rc == SQLITE_ROW)
		*id = sqlite3_column_int64(r->find_string, 0);
	sqlite3_reset(r->find_string);
	if (rc == SQLITE_ROW)
		return 0;
	sqlite3_bind_text(r->add_string, 1, text, size, SQLITE_STATIC);
	rc = step(r, r->add_string);
	*id = sqlite3_last_insert_rowid(r->db);
	return rc;
}

/* The same for a name that has a number in the trace: looked up once. */
static int name_id(struct rocpd3 *r, int64_t number, const char *text, int64_t *id)
{
	uint64_t known;
	int ret;

	if (map_get(&r->names, (uint64_t)number, &known)) {
		*id = (int64_t)known;
		return 0;
	}
	ret = string_id(r, text, -1, id);
	if (ret == 0 && map_put(&r->names, (uint64_t)number, (uint64_t)*id))
		ret = query_fail_memory(r->q);
	return ret;
}

/* Numbers of names that the trace has no number for: kinds, and operations of copies. */
#define OF_KIND(kind) (-1 - (int64_t)(kind))
#define OF_COPY(operation) (-1000 - (int64_t)(operation))

static int add_event(struct rocpd3 *r, int kind, int64_t correlation, int64_t parent,
		     const char *extdata, size_t size)
{
	int64_t category;
	int ret = name_id(r, OF_KIND(kind), names_sdk_buffer_kinds[kind].name, &category);

	if (ret)
		return ret;
	sqlite3_bind_int64(r->add_event, 1, ++r->nr_events);
	sqlite3_bind_int64(r->add_event, 2, category);
	sqlite3_bind_int64(r->add_event, 3, correlation);
	sqlite3_bind_int64(r->add_event, 4, parent);
	sqlite3_bind_text(r->add_event, 5, size ? extdata : "{}", size ? (int)size : 2,
			  SQLITE_STATIC);
	return step(r, r->add_event);
}

/* ---- rows that describe the process ---- */

/* Inserts the rows of a statement about q->only; the columns are those of `insert`. */
static int copy_rows(struct rocpd3 *r, const char *select, const char *insert)
{
	char *sql = rocpd3_sql(insert, &r->id);
	sqlite3_stmt *row = NULL, *add = NULL;
	int ret = query_prepare(r->q, &row, select);

	if (ret == 0 && (!sql || sqlite3_prepare_v2(r->db, sql, -1, &add, NULL)))
		ret = fail(r);
	if (ret == 0)
		query_bind_range(r->q, row);
	while (ret == 0 && (ret = query_step(r->q, row)) == 1) {
		for (int i = 0; i < sqlite3_column_count(row); i++)
			sqlite3_bind_value(add, i + 1, sqlite3_column_value(row, i));
		ret = step(r, add);
	}
	sqlite3_finalize(row);
	sqlite3_finalize(add);
	sqlite3_free(sql);
	return ret;
}

#define PID "(SELECT os_pid FROM rtl_process WHERE ?1 BETWEEN id_first AND id_last)"
#define PROCESS_ID "(SELECT id FROM rtl_process WHERE ?1 BETWEEN id_first AND id_last)"

/* Rows with ids that readers compare: pids, tids, queues, streams, kernels as in the trace; agents
 * from 1; 0: unknown. */
static const char *const described[][2] = {
	{ "SELECT P.os_pid, coalesce(P.ppid, 0), P.os_pid, coalesce(nullif(P.start_ns, 0), P.first_ns), "
	  "max(coalesce(P.end_ns, 0), coalesce(P.last_ns, 0)), coalesce(nullif(P.start_ns, 0), P.first_ns), "
	  "max(coalesce(P.end_ns, 0), coalesce(P.last_ns, 0)), P.command FROM rtl_process P WHERE ?1 BETWEEN "
	  "P.id_first AND P.id_last",
	  "INSERT INTO rocpd_info_process@ (id, nid, ppid, pid, init, fini, \"start\", \"end\", command) VALUES "
	  "(?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)" },
	{ "SELECT DISTINCT T.tid, " PID
	  ", T.tid, coalesce(T.name, ''), T.first_ns FROM rtl_thread T WHERE T.id "
	  "BETWEEN ?1 AND ?2 UNION SELECT DISTINCT A.tid, " PID
	  ", A.tid, '', NULL FROM rocpd_api A WHERE A.id "
	  "BETWEEN ?1 AND ?2 AND A.tid NOT IN (SELECT tid FROM rtl_thread WHERE id BETWEEN ?1 AND ?2)",
	  "INSERT OR IGNORE INTO rocpd_info_thread@ (id, nid, pid, tid, name, \"start\") VALUES (?1, 1, ?2, ?3, ?4, "
	  "?5)" },
	{ "SELECT A.agent_index + 1, " PID ", CASE A.type WHEN 'OTHER' THEN NULL ELSE A.type END, "
	  "coalesce(A.driver_node, A.agent_index), A.agent_index, G.type_index, coalesce(A.name, ''), '', "
	  "coalesce(A.vendor, ''), coalesce(A.product, ''), A.label, json_object('handle', G.handle, 'uuid', "
	  "A.uuid) FROM rtl_agent A JOIN temp.rocprofv3_agent G ON G.id = A.id WHERE A.id BETWEEN ?1 AND ?2",
	  "INSERT INTO rocpd_info_agent@ (id, nid, pid, type, absolute_index, logical_index, type_index, name, "
	  "model_name, vendor_name, product_name, user_name, extdata) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
	  "?9, ?10, ?11, ?12)" },
	{ "SELECT V.number, " PID
	  ", 'Queue ' || V.number FROM temp.rocprofv3_queue V WHERE V.id BETWEEN ?1 AND ?2",
	  "INSERT OR IGNORE INTO rocpd_info_queue@ (id, nid, pid, name) VALUES (?1, 1, ?2, ?3)" },
	{ "SELECT 0, " PID
	  ", 'Default Stream', json_object('handle', '0x0', 'stream_id', 0) UNION ALL SELECT number, " PID
	  ", 'Stream ' || number, "
	  "json_object('handle', name, 'stream_id', number, 'since', since, 'until', until) FROM temp.rocprofv3_stream WHERE process_id = " PROCESS_ID,
	  "INSERT OR IGNORE INTO rocpd_info_stream@ (id, nid, pid, name, extdata) VALUES (?1, 1, ?2, ?3, ?4)" },
	{ "SELECT 0, " PID
	  ", NULL, '', 0, 0, 0, NULL, '{}' WHERE EXISTS (SELECT 1 FROM rtl_kernel_symbol WHERE id "
	  "BETWEEN ?1 AND ?2 AND coalesce(code_object_id, 0) = 0) UNION ALL SELECT C.code_object_id, " PID
	  ", "
	  "A.agent_index + 1, coalesce(C.uri, ''), C.load_base, C.load_size, C.load_delta, CASE WHEN C.uri LIKE "
	  "'file:%' THEN 'FILE' WHEN C.uri <> '' THEN 'MEMORY' END, json_object('size', 88, 'storage_type', CASE WHEN "
	  "C.uri LIKE 'file:%' THEN 1 WHEN C.uri <> '' THEN 2 ELSE 0 END) FROM rtl_code_object C LEFT JOIN rtl_agent A "
	  "ON A.id = C.agent_id WHERE C.id BETWEEN ?1 AND ?2",
	  "INSERT OR IGNORE INTO rocpd_info_code_object@ (id, nid, pid, agent_id, uri, load_base, load_size, "
	  "load_delta, storage_type, extdata) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)" },
	{ "SELECT Y.kernel_id, " PID
	  ", coalesce(C.code_object_id, 0), Y.name, N.name, Y.object, Y.kernarg_size, "
	  "Y.group_size, Y.private_size, coalesce(Y.sgpr_count, 0), coalesce(Y.vgpr_count, 0), "
	  "coalesce(Y.accum_vgpr_count, 0), json_object('size', 88, 'kernel_id', Y.kernel_id, "
	  "'formatted_kernel_name', Y.demangled, 'demangled_kernel_name', Y.demangled, 'truncated_kernel_name', "
	  "N.truncated) FROM rtl_kernel_symbol Y JOIN temp.rocprofv3_kernel N ON N.id = Y.id LEFT JOIN "
	  "rtl_code_object C ON C.id = Y.code_object_id WHERE Y.id BETWEEN ?1 AND ?2",
	  "INSERT OR IGNORE INTO rocpd_info_kernel_symbol@ (id, nid, pid, code_object_id, kernel_name, display_name, "
	  "kernel_object, kernarg_segment_size, group_segment_size, private_segment_size, sgpr_count, "
	  "arch_vgpr_count, accum_vgpr_count, extdata) VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
	  "?13)" },
};

/* What rows refer to and the trace does not describe, because it is incomplete. */
static const char missing_sql[] =
	"INSERT OR IGNORE INTO rocpd_info_agent@ (id, nid, pid, type, name) SELECT 0, 1, pid, 'GPU', 'unknown' "
	"FROM rocpd_kernel_dispatch@ WHERE agent_id = 0 LIMIT 1;"
	"INSERT OR IGNORE INTO rocpd_info_queue@ (id, nid, pid, name) SELECT DISTINCT queue_id, 1, pid, 'Queue ' || "
	"queue_id FROM rocpd_kernel_dispatch@;"
	"INSERT OR IGNORE INTO rocpd_info_stream@ (id, nid, pid, name) SELECT DISTINCT stream_id, 1, pid, 'Stream ' "
	"|| stream_id FROM rocpd_kernel_dispatch@";

/* Agents have the members that they have in JSON, too. */
static int put_agent_details(struct rocpd3 *r)
{
	char *sql = rocpd3_sql(
		"UPDATE rocpd_info_agent@ SET extdata = coalesce(json_patch(extdata, (SELECT value FROM json_each(?1) "
		"WHERE json_extract(value, '$.logical_node_id') + 1 = rocpd_info_agent@.id)), extdata)",
		&r->id);
	struct json_memory agents = { NULL, 0 };
	sqlite3_stmt *update = NULL;
	int ret;

	json_init(r->json, json_write_memory, &agents);
	ret = rocprofv3_json_agents(r->q, r->json);
	if (ret == 0 && json_flush(r->json))
		ret = query_fail_memory(r->q);
	if (ret == 0 &&
	    (!sql || sqlite3_prepare_v2(r->db, sql, -1, &update, NULL) ||
	     sqlite3_bind_text(update, 1, agents.bytes, (int)agents.size, SQLITE_STATIC)))
		ret = fail(r);
	if (ret == 0)
		ret = step(r, update);
	sqlite3_finalize(update);
	sqlite3_free(sql);
	alloc_free(agents.bytes);
	return ret;
}

static int describe(struct rocpd3 *r)
{
	int ret = 0;

	for (size_t i = 0; i < sizeof(described) / sizeof(described[0]) && ret == 0; i++)
		ret = copy_rows(r, described[i][0], described[i][1]);
	if (ret == 0)
		ret = put_agent_details(r);
	return ret;
}

/* ---- operations ---- */

static void bind_ints(sqlite3_stmt *to, sqlite3_stmt *row, int nr)
{
	for (int i = 0; i < nr; i++)
		sqlite3_bind_value(to, i + 1, sqlite3_column_value(row, i));
}

/* The text's id of the range around an operation. */
static int range_string(struct rocpd3 *r, int64_t range, int64_t *id)
{
	const char *text;
	int ret = 0;

	if (range != r->range) {
		text = query_look_up(r->message, range);
		ret = string_id(r, text, -1, &r->range_string);
		r->range = range;
		sqlite3_reset(r->message);
	}
	*id = r->range_string;
	return ret;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* The counters and metrics of each GPU. */
static const char pmc_sql[] =
	"SELECT DISTINCT G.agent_index + 1, coalesce(G.name, ''), W.string FROM rtl_op_kernel K CROSS JOIN "
	"rocpd_counter C ON C.op_id = K.op_id JOIN rocpd_string W ON W.id = C.name_id JOIN rtl_shape S ON S.id = "
	"K.shape_id JOIN rtl_queue Q ON Q.id = S.queue_id JOIN rtl_agent G ON G.id = Q.agent_id WHERE K.op_id "
	"BETWEEN ?1 AND ?2 ORDER BY 1, C.id";

/* What the name is on that GPU. */
static int put_pmc(struct rocpd3 *r, sqlite3_stmt *row)
{
	struct rocprofv3_counter c;
	int ret = rocprofv3_counters_find(r->q, query_text(row, 1), query_text(row, 2), &c);

	if (ret)
		return ret;
	sqlite3_bind_value(r->add_pmc, 1, sqlite3_column_value(row, 0));
	sqlite3_bind_value(r->add_pmc, 2, sqlite3_column_value(row, 2));
	sqlite3_bind_text(r->add_pmc, 3, c.description, -1, SQLITE_STATIC);
	sqlite3_bind_text(r->add_pmc, 4, c.block, -1, SQLITE_STATIC);
	sqlite3_bind_text(r->add_pmc, 5, c.expression, -1, SQLITE_STATIC);
	sqlite3_bind_int64(r->add_pmc, 6, c.event);
	sqlite3_bind_int(r->add_pmc, 7, c.is_constant);
	sqlite3_bind_int(r->add_pmc, 8, c.is_derived);
	sqlite3_bind_text(r->add_pmc, 9, c.unit, -1, SQLITE_STATIC);
	return step(r, r->add_pmc);
}

static int put_pmcs(struct rocpd3 *r)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(r->q, &row, pmc_sql);

	if (ret == 0)
		query_bind_range(r->q, row);
	while (ret == 0 && (ret = query_step(r->q, row)) == 1) {
		ret = put_pmc(r, row);
		if (ret == 0 && !r->counters)
			ret = query_prepare(r->q, &r->counters,
					    "SELECT W.string, C.value FROM rocpd_counter C JOIN "
					    "rocpd_string W ON W.id = C.name_id WHERE C.op_id = ?1 "
					    "ORDER BY C.id");
	}
	sqlite3_finalize(row);
	return ret;
}

/* Those of a dispatch, whose event is the last one. */
static int put_counters(struct rocpd3 *r, int64_t op, int64_t agent)
{
	int ret = 0;

	if (!r->counters)
		return 0;
	sqlite3_bind_int64(r->counters, 1, op);
	while (ret == 0 && (ret = query_step(r->q, r->counters)) == 1) {
		sqlite3_bind_int64(r->add_pmc_event, 1, r->nr_events);
		sqlite3_bind_int64(r->add_pmc_event, 2, agent);
		sqlite3_bind_value(r->add_pmc_event, 3, sqlite3_column_value(r->counters, 0));
		sqlite3_bind_value(r->add_pmc_event, 4, sqlite3_column_value(r->counters, 1));
		ret = step(r, r->add_pmc_event);
	}
	sqlite3_reset(r->counters);
	return ret;
}

/* ---- kernels and copies ---------------------------------------------------------------------- */

static const char kernels_sql[] =
	"SELECT T.tid, coalesce((SELECT agent_index + 1 FROM rtl_agent WHERE id = Q.agent_id), 0), Y.kernel_id, 0, " ROCPROFV3_QUEUE
	", coalesce(M.number, 0), O.start, O.end, S.private_size, S.group_size, S.group_x, S.group_y, "
	"S.group_z, S.grid_x, S.grid_y, S.grid_z, O.correlation_id, O.roctxId, O.description_id, "
	"N.name, O.id, " ROCPROFV3_NODE ROCPROFV3_KERNELS;

static int put_kernel(struct rocpd3 *r, sqlite3_stmt *row, int64_t number)
{
	int64_t range = sqlite3_column_int64(row, 17), region;
	int ret = range ? range_string(r, range, &region) :
			  name_id(r, sqlite3_column_int64(row, 18), query_text(row, 19), &region);

	if (ret == 0)
		ret = add_event(r, ROCPROFV3_KIND_KERNEL, sqlite3_column_int64(row, 16), 0, NULL,
				0);
	if (ret)
		return ret;
	bind_ints(r->add_kernel, row, 16);
	sqlite3_bind_int64(r->add_kernel, 4, number);
	sqlite3_bind_int64(r->add_kernel, 17, region);
	sqlite3_bind_int64(r->add_kernel, 18, r->nr_events);
	sqlite3_bind_value(r->add_kernel, 19, sqlite3_column_value(row, 21));
	sqlite3_bind_value(r->add_kernel, 20, sqlite3_column_value(row, 22));
	ret = step(r, r->add_kernel);
	return ret ? ret :
		     put_counters(r, sqlite3_column_int64(row, 20), sqlite3_column_int64(row, 1));
}

static const char copies_sql[] =
	"SELECT T.tid, O.start, O.end, 0, (SELECT agent_index + 1 FROM rtl_agent WHERE id = K.dst_agent_id), K.dst, "
	"(SELECT agent_index + 1 FROM rtl_agent WHERE id = K.src_agent_id), K.src, K.bytes, coalesce(M.number, 0), "
	"O.correlation_id, O.roctxId, " ROCPROFV3_COPY_OPERATION
	", " ROCPROFV3_NODE ROCPROFV3_COPIES;

static int put_copy(struct rocpd3 *r, sqlite3_stmt *row, int64_t number)
{
	const struct names_sdk_kind *kind = &names_sdk_buffer_kinds[ROCPROFV3_KIND_COPY];
	int64_t range = sqlite3_column_int64(row, 11), name, region = 0;
	int operation = sqlite3_column_int(row, 12);
	int ret = name_id(r, OF_COPY(operation),
			  (uint32_t)operation < kind->nr ? kind->ops[operation] : "FILL", &name);

	(void)number;
	region = name;
	if (ret == 0 && range)
		ret = range_string(r, range, &region);
	if (ret == 0)
		ret = add_event(r, ROCPROFV3_KIND_COPY, sqlite3_column_int64(row, 10), 0, NULL, 0);
	if (ret)
		return ret;
	bind_ints(r->add_copy, row, 10);
	sqlite3_bind_int64(r->add_copy, 4, name);
	sqlite3_bind_int64(r->add_copy, 11, region);
	sqlite3_bind_int64(r->add_copy, 12, r->nr_events);
	sqlite3_bind_value(r->add_copy, 13, sqlite3_column_value(row, 13));
	sqlite3_bind_value(r->add_copy, 14, sqlite3_column_value(row, 14));
	return step(r, r->add_copy);
}

/* ---- launches of graphs ---- */

/* The kernels of a launch may be on several queues: it has none; its agent is that of the first. */
static const char launches_sql[] =
	"SELECT A.tid, (SELECT G.agent_index + 1 FROM rtl_agent G WHERE G.id = C.agent_id), A.start, A.\"end\", L.exec, "
	"coalesce(C.nr, 0), X.correlation_id, coalesce(X.parent_id, 0) FROM temp.rocprofv3_launch L CROSS JOIN rocpd_api A "
	"ON A.id = L.api_id JOIN rtl_api_data X ON X.api_id = A.id LEFT JOIN (" ROCPROFV3_LAUNCHED
	") C ON C.api_id = L.api_id WHERE A.id BETWEEN ?1 AND ?2 ORDER BY A.start, A.id";

static int put_launch(struct rocpd3 *r, sqlite3_stmt *row, int64_t number)
{
	int ret = add_event(r, ROCPROFV3_KIND_GRAPH, sqlite3_column_int64(row, 6),
			    sqlite3_column_int64(row, 7), NULL, 0);

	(void)number;
	if (ret)
		return ret;
	bind_ints(r->add_launch, row, 6);
	sqlite3_bind_int64(r->add_launch, 7, r->nr_events);
	return step(r, r->add_launch);
}

/* ---- calls, ranges, allocations ---- */

static int put_arg(struct rocpd3 *r, int position, const struct call_arg *arg)
{
	sqlite3_bind_int64(r->add_arg, 1, r->nr_events);
	sqlite3_bind_int(r->add_arg, 2, position);
	sqlite3_bind_text(r->add_arg, 3, arg->name_size ? arg->name : "...",
			  arg->name_size ? (int)arg->name_size : 3, SQLITE_STATIC);
	sqlite3_bind_text(r->add_arg, 4, arg->value, (int)arg->value_size, SQLITE_STATIC);
	return step(r, r->add_arg);
}

static int put_args(struct rocpd3 *r, const char *text)
{
	struct call_arg arg = { .name = "args", .name_size = 4, .value = text };
	int ret = 0;

	if (!call_args_is_form(text)) {
		arg.value_size = strlen(text);
		return *text ? put_arg(r, 0, &arg) : 0;
	}
	for (int i = 0; ret == 0 && (text = call_args_next(text, &arg)) != NULL; i++)
		ret = put_arg(r, i, &arg);
	return ret;
}

static int put_region(struct rocpd3 *r, sqlite3_stmt *row, int64_t name)
{
	bind_ints(r->add_region, row, 3);
	sqlite3_bind_int64(r->add_region, 4, name);
	sqlite3_bind_int64(r->add_region, 5, r->nr_events);
	return step(r, r->add_region);
}

#define CALLS(kinds)                                                                                                 \
	"SELECT A.tid, A.start, A.\"end\", H.id, H.kind, coalesce(X.correlation_id, 0), "                            \
	"coalesce(X.parent_id, 0), H.name, (SELECT string FROM rocpd_ustring WHERE id = A.args_id)" ROCPROFV3_CALLS( \
		kinds)

static int put_call(struct rocpd3 *r, sqlite3_stmt *row, int64_t number)
{
	int64_t name;
	int ret = name_id(r, sqlite3_column_int64(row, 3), query_text(row, 7), &name);

	(void)number;
	if (ret == 0)
		ret = add_event(r, sqlite3_column_int(row, 4), sqlite3_column_int64(row, 5),
				sqlite3_column_int64(row, 6), NULL, 0);
	if (ret == 0)
		ret = put_region(r, row, name);
	return ret ? ret : put_args(r, query_text(row, 8));
}

static const char markers_sql[] =
	"SELECT A.tid, A.start, A.\"end\", " ROCPROFV3_MARKER_ID("A.id") ", CASE WHEN M.parent_id THEN " ROCPROFV3_MARKER_ID(
		"M.parent_id") " ELSE 0 END, U.string" ROCPROFV3_MARKERS;

static int put_marker(struct rocpd3 *r, sqlite3_stmt *row, int64_t number)
{
	const char *text = query_text(row, 5);
	int size = sqlite3_column_bytes(row, 5), ret;
	struct json_memory data = { NULL, 0 };
	int64_t name;

	(void)number;
	json_init(r->json, json_write_memory, &data);
	json_object(r->json);
	json_key(r->json, "message");
	json_text_size(r->json, text, (size_t)size);
	json_object_end(r->json);
	ret = json_flush(r->json) ? query_fail_memory(r->q) : string_id(r, text, size, &name);
	if (ret == 0)
		ret = add_event(r, ROCPROFV3_KIND_MARKER_CORE, sqlite3_column_int64(row, 3),
				sqlite3_column_int64(row, 4), data.bytes, data.size);
	alloc_free(data.bytes);
	return ret ? ret : put_region(r, row, name);
}

static const char allocations_sql[] =
	"SELECT A.tid, CASE WHEN H.operation < 3 THEN 'ALLOC' ELSE 'FREE' END, CASE H.operation WHEN 2 THEN "
	"'VIRTUAL' WHEN 4 THEN 'VIRTUAL' ELSE 'REAL' END, A.start, A.\"end\", rocprofv3_arg(U.string, H.address), "
	"coalesce(rocprofv3_arg(U.string, H.size), 0), (SELECT agent_index + 1 FROM rtl_agent WHERE id = G.id), "
	"X.correlation_id" ROCPROFV3_ALLOCATIONS;

static int put_allocation(struct rocpd3 *r, sqlite3_stmt *row, int64_t number)
{
	int ret = add_event(r, ROCPROFV3_KIND_ALLOCATION, sqlite3_column_int64(row, 8), 0, NULL, 0);

	(void)number;
	if (ret)
		return ret;
	bind_ints(r->add_allocation, row, 8);
	sqlite3_bind_int64(r->add_allocation, 9, r->nr_events);
	return step(r, r->add_allocation);
}

static const char scratch_sql[] =
	"SELECT W.tid, CASE W.operation WHEN 1 THEN 'ALLOC' WHEN 2 THEN 'FREE' ELSE 'RECLAIM' END, W.start, W.\"end\", "
	"W.bytes, nullif(W.queue, 0), A.agent_index + 1, json_object('flags', CAST(W.flags AS TEXT)), "
	"W.correlation_id FROM temp.rocprofv3_scratch W LEFT JOIN rtl_agent A ON A.id = W.agent_id WHERE W.id BETWEEN "
	"?1 AND ?2 ORDER BY W.start, W.id";

static int put_scratch(struct rocpd3 *r, sqlite3_stmt *row, int64_t number)
{
	int ret = add_event(r, ROCPROFV3_KIND_SCRATCH, sqlite3_column_int64(row, 8), 0, NULL, 0);

	(void)number;
	if (ret)
		return ret;
	bind_ints(r->add_scratch, row, 8);
	sqlite3_bind_int64(r->add_scratch, 9, r->nr_events);
	return step(r, r->add_scratch);
}

/* ---- the file ---- */

static int put_rows(struct rocpd3 *r, const char *sql,
		    int (*put)(struct rocpd3 *r, sqlite3_stmt *row, int64_t number))
{
	sqlite3_stmt *row = NULL;
	int64_t number = 0;
	int ret = query_prepare(r->q, &row, sql);

	if (ret == 0)
		query_bind_range(r->q, row);
	while (ret == 0 && (ret = query_step(r->q, row)) == 1)
		ret = put(r, row, ++number);
	r->q->res->nr_ops += (uint64_t)number;
	sqlite3_finalize(row);
	return ret;
}

static int put_all(struct rocpd3 *r)
{
	static const struct {
		const char *sql;
		int (*put)(struct rocpd3 *r, sqlite3_stmt *row, int64_t number);
		uint32_t domains;
	} parts[] = {
		{ markers_sql, put_marker, ROCPROFV3_MARKER },
		{ CALLS(ROCPROFV3_HIP_KINDS), put_call, ROCPROFV3_HIP },
		{ CALLS(ROCPROFV3_HSA_KINDS), put_call, ROCPROFV3_HSA },
		{ CALLS(ROCPROFV3_RCCL_KINDS), put_call, ROCPROFV3_RCCL },
		/* counters belong to the rows of dispatches */
		{ kernels_sql, put_kernel, ROCPROFV3_KERNEL | ROCPROFV3_COUNTERS },
		{ copies_sql, put_copy, ROCPROFV3_COPY },
		{ launches_sql, put_launch, ROCPROFV3_HIP_RUNTIME },
		{ allocations_sql, put_allocation, ROCPROFV3_ALLOCATION },
		{ scratch_sql, put_scratch, ROCPROFV3_SCRATCH },
	};
	uint32_t chosen = rocprofv3_files_choice(r->q)->domains;
	int ret = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && ret == 0; i++)
		if (parts[i].domains & chosen)
			ret = put_rows(r, parts[i].sql, parts[i].put);
	return ret;
}

/* Takes the trace's own id, so that the same trace always gives the same file. */
static void make_id(struct rocpd3_id *id, const char *digits)
{
	char text[33] = "00000000000000000000000000000000";

	memcpy(text, digits, strnlen(digits, 32));
	snprintf(id->guid, sizeof(id->guid), "%.8s-%.4s-%.4s-%.4s-%.12s", text, text + 8, text + 12,
		 text + 16, text + 20);
	snprintf(id->suffix, sizeof(id->suffix), "_%.8s_%.4s_%.4s_%.4s_%.12s", text, text + 8,
		 text + 12, text + 16, text + 20);
}

static int put_node(struct rocpd3 *r)
{
	sqlite3_stmt *row = NULL;
	char *sql = NULL;
	int ret = query_prepare(r->q, &row, ROCPROFV3_PROCESS);

	if (ret == 0)
		query_bind_range(r->q, row);
	if (ret == 0)
		ret = query_step(r->q, row);
	make_id(&r->id, ret == 1 ? query_text(row, 15) : "");
	r->pid = ret == 1 ? sqlite3_column_int64(row, 9) : 0;
	r->ppid = ret == 1 ? sqlite3_column_int64(row, 10) : 0;
	if (ret >= 0) {
		char *schema = rocpd3_schema_sql(&r->id);

		ret = schema && !sqlite3_exec(r->db, schema, NULL, NULL, NULL) ? 0 : fail(r);
		sqlite3_free(schema);
	}
	if (ret == 0)
		sql = sqlite3_mprintf(
			"INSERT INTO rocpd_metadata%s (tag, value) VALUES ('schema_version', '3'), ('uuid', '%s'), "
			"('guid', '%s'), ('writer', 'rocm-trace-lite " RTL_VERSION_STRING "');"
			"INSERT INTO rocpd_info_node%s (id, hash, machine_id, system_name, hostname, release, version, "
			"hardware_name, domain_name) VALUES (1, %lld, %Q, %Q, %Q, %Q, '', '', '')",
			r->id.suffix, r->id.suffix, r->id.guid, r->id.suffix,
			(long long)sqlite3_column_int64(row, 1), query_text(row, 2),
			query_text(row, 3), query_text(row, 4), query_text(row, 5));
	if (ret == 0 && (!sql || sqlite3_exec(r->db, sql, NULL, NULL, NULL)))
		ret = fail(r);
	sqlite3_free(sql);
	sqlite3_finalize(row);
	return ret;
}

static int prepare(struct rocpd3 *r)
{
	const struct {
		sqlite3_stmt **stmt;
		const char *sql;
	} all[] = {
		{ &r->add_string, "INSERT INTO rocpd_string@ (string) VALUES (?1)" },
		{ &r->find_string, "SELECT id FROM rocpd_string@ WHERE string = ?1" },
		{ &r->add_event,
		  "INSERT INTO rocpd_event@ (id, category_id, stack_id, correlation_id, parent_stack_id, extdata) "
		  "VALUES (?1, ?2, ?3, ?3, ?4, ?5)" },
		{ &r->add_arg,
		  "INSERT INTO rocpd_arg@ (event_id, position, type, name, value) VALUES (?1, ?2, '', "
		  "?3, ?4)" },
		{ &r->add_region,
		  "INSERT INTO rocpd_region@ (nid, pid, tid, \"start\", \"end\", name_id, event_id) "
		  "VALUES (1, %lld, ?1, ?2, ?3, ?4, ?5)" },
		{ &r->add_kernel,
		  "INSERT INTO rocpd_kernel_dispatch@ (nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, "
		  "stream_id, \"start\", \"end\", private_segment_size, group_segment_size, workgroup_size_x, "
		  "workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, region_name_id, "
		  "event_id, graph_exec_id, graph_node_id) VALUES (1, %lld, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
		  "?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)" },
		{ &r->add_launch,
		  "INSERT INTO rocpd_graph_launch@ (nid, pid, tid, agent_id, \"start\", \"end\", graph_exec_id, "
		  "kernel_dispatch_count, event_id) VALUES (1, %lld, ?1, ?2, ?3, ?4, ?5, ?6, ?7)" },
		{ &r->add_copy,
		  "INSERT INTO rocpd_memory_copy@ (nid, pid, tid, \"start\", \"end\", name_id, dst_agent_id, "
		  "dst_address, src_agent_id, src_address, size, stream_id, region_name_id, event_id, graph_exec_id, "
		  "graph_node_id) VALUES (1, %lld, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)" },
		{ &r->add_allocation,
		  "INSERT INTO rocpd_memory_allocate@ (nid, pid, tid, type, level, \"start\", \"end\", address, size, "
		  "agent_id, event_id) VALUES (1, %lld, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)" },
		{ &r->add_scratch,
		  "INSERT INTO rocpd_memory_allocate@ (nid, pid, tid, type, level, \"start\", \"end\", address, size, "
		  "queue_id, stream_id, agent_id, extdata, event_id) VALUES (1, %lld, ?1, ?2, 'SCRATCH', ?3, ?4, 0, "
		  "?5, ?6, 0, ?7, ?8, ?9)" },
		{ &r->add_pmc,
		  "INSERT INTO rocpd_info_pmc@ (nid, pid, agent_id, target_arch, name, symbol, description, component, "
		  "value_type, block, expression, event_code, is_constant, is_derived, units) VALUES (1, %lld, ?1, 'GPU', ?2, "
		  "?2, ?3, 'rocm', 'ABS', ?4, ?5, ?6, ?7, ?8, ?9)" },
		{ &r->add_pmc_event,
		  "INSERT INTO rocpd_pmc_event@ (event_id, pmc_id, value) VALUES (?1, (SELECT id FROM "
		  "rocpd_info_pmc@ WHERE agent_id = ?2 AND name = ?3), ?4)" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *text = rocpd3_sql(all[i].sql, &r->id);
		char *sql = text ? sqlite3_mprintf(text, (long long)r->pid) : NULL;
		int rc = sql ? sqlite3_prepare_v3(r->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
						  all[i].stmt, NULL) :
			       SQLITE_NOMEM;

		sqlite3_free(text);
		sqlite3_free(sql);
		if (rc != SQLITE_OK)
			return fail(r);
	}
	return query_prepare(
		r->q, &r->message,
		"SELECT U.string FROM rocpd_api A JOIN rocpd_ustring U ON U.id = A.args_id WHERE "
		"A.id = ?1");
}

static int open_database(struct rocpd3 *r, const char *tmp)
{
	if (sqlite3_open_v2(tmp, &r->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		return fail(r);
	return run(
		r,
		"PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA "
		"locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384; PRAGMA temp_store = FILE; BEGIN");
}

static void close_database(struct rocpd3 *r)
{
	sqlite3_stmt *const all[] = { r->add_string,  r->find_string,	 r->add_event,
				      r->add_arg,     r->add_region,	 r->add_kernel,
				      r->add_copy,    r->add_allocation, r->message,
				      r->add_pmc,     r->add_pmc_event,	 r->counters,
				      r->add_scratch, r->add_launch };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(all[i]);
	sqlite3_close(r->db);
	map_fini(&r->names);
	alloc_free(r->json);
}

static int fill_file(void *arg, const char *tmp)
{
	struct rocpd3 *r = arg;
	int ret = open_database(r, tmp);

	r->json = alloc_heap(sizeof(*r->json));
	if (ret == 0 && !r->json)
		ret = query_fail_memory(r->q);
	if (ret == 0)
		ret = put_node(r);
	if (ret == 0)
		ret = prepare(r);
	if (ret == 0)
		ret = describe(r);
	if (ret == 0 && rocprofv3_files_choice(r->q)->domains & ROCPROFV3_COUNTERS)
		ret = put_pmcs(r);
	if (ret == 0)
		ret = rocprofv3_graphs_make(r->q);
	if (ret == 0)
		ret = put_all(r);
	if (ret == 0)
		ret = run(r, missing_sql);
	if (ret == 0)
		ret = run(r, "COMMIT");
	close_database(r);
	return ret;
}

static int write_file(struct query *q, const char *name)
{
	struct rocpd3 r = { .q = q, .out = name };
	int ret = output_write_database(q, name, fill_file, &r);

	return ret ? ret : 1;
}

int rocpd3_write(struct query *q, const char *out)
{
	static const char *const endings[] = { ".db", NULL };
	static const struct rocprofv3_form form = {
		.format = "rocpd3",
		.suffix = "_results.db",
		.endings = endings,
		.write = write_file,
	};

	return rocprofv3_files_write(q, out, &form);
}
