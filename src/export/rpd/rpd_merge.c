/* SPDX-License-Identifier: MIT */
/* rpd_merge.c - copies every row of another database, with its ids in new blocks
 *
 * Processes of a further host get a node number, and RPD's strides are added to their pids and GPU
 * ids, as in RPD's multi-node files.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/dbfile.h"
#include "base/text.h"
#include "query/kinds.h"
#include "query/rows.h"
#include "query/transfer.h"
#include "store/changed.h"

/* The offsets of a process of the input. */
struct move {
	int64_t id_first, id_last; /* as in the input */
	int64_t pid, gpu;	   /* added */
};

struct merge {
	struct rpd *r;
	const char *path;
	int64_t base;  /* added to ids */
	int64_t empty; /* the id of a string '' for what the input does not have */
	struct move *moves;
	size_t nr_moves, last;
};

static const struct move *move_of(struct merge *m, int64_t id)
{
	if (m->last < m->nr_moves && id >= m->moves[m->last].id_first &&
	    id <= m->moves[m->last].id_last)
		return &m->moves[m->last];
	for (size_t i = 0; i < m->nr_moves; i++) {
		if (id >= m->moves[i].id_first && id <= m->moves[i].id_last) {
			m->last = i;
			return &m->moves[i];
		}
	}
	return NULL;
}

static void sql_move(sqlite3_context *context, sqlite3_value **argv, bool gpu)
{
	struct merge *m = sqlite3_user_data(context);
	const struct move *move = move_of(m, sqlite3_value_int64(argv[0]));
	int64_t value = sqlite3_value_int64(argv[1]);

	/* NULL or -1: no GPU */
	if (sqlite3_value_type(argv[1]) == SQLITE_NULL)
		sqlite3_result_null(context);
	else if (gpu && value < 0)
		sqlite3_result_int64(context, value);
	else
		sqlite3_result_int64(context,
				     (int64_t)((uint64_t)value + (uint64_t)(!move ? 0 :
									    gpu	  ? move->gpu :
										    move->pid)));
}

static void sql_pid(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	(void)argc;
	sql_move(context, argv, false);
}

static void sql_gpu(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	(void)argc;
	sql_move(context, argv, true);
}

/* Texts of another program's database may have any bytes: each part of one between NULs as
 * text_valid() has it. Other values stay. */
static void sql_valid(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *text = sqlite3_value_type(argv[0]) == SQLITE_TEXT ?
				   (const char *)sqlite3_value_text(argv[0]) :
				   NULL;
	const char *end = text ? text + sqlite3_value_bytes(argv[0]) : NULL;
	sqlite3_str *whole = NULL;

	(void)argc;
	for (const char *at = text; at && at <= end; at += strlen(at) + 1) {
		char *valid = text_valid(at);

		if (valid && !whole) {
			whole = sqlite3_str_new(sqlite3_context_db_handle(context));
			sqlite3_str_append(whole, text, (int)(at - text));
		}
		if (whole) {
			sqlite3_str_appendall(whole, valid ? valid : at);
			if (at + strlen(at) < end)
				sqlite3_str_appendchar(whole, 1, '\0');
		}
		alloc_free(valid);
	}
	if (whole) {
		int size = sqlite3_str_length(whole);

		sqlite3_result_text(context, sqlite3_str_finish(whole), size, sqlite3_free);
	} else {
		sqlite3_result_value(context, argv[0]);
	}
}

/* Sets an error with the offset of the damage, if SQLite finds it. */
static int fail_damaged(struct merge *m, const char *doing)
{
	struct rpd *r = m->r;
	int rc = sqlite3_errcode(r->db) & 0xff;
	char error[sizeof(r->res->error)];
	char words[256];
	char where[256] = "";
	sqlite3_stmt *stmt = NULL;
	int64_t page_size;

	if (rc == SQLITE_FULL || rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT)
		return rpd_db_fail(r, r->out);
	if (dbfile_explain(m->path, sqlite3_extended_errcode(r->db), error, sizeof(error)))
		return rpd_fail(r, -EBUSY, "%s", error);
	snprintf(words, sizeof(words), "%s", sqlite3_errmsg(r->db));
	if (rc != SQLITE_CORRUPT && rc != SQLITE_NOTADB)
		return rpd_fail(r, rc == SQLITE_IOERR ? -EIO : -EINVAL, "%s: %s: %s", m->path,
				doing, words);
	page_size = rpd_db_int(r, 0, "PRAGMA src.page_size");
	if (sqlite3_prepare_v2(r->db, "PRAGMA src.quick_check(1)", -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(stmt, 0);
		const char *page = text ? strstr(text, "age ") : NULL;
		long long number = page ? strtoll(page + 4, NULL, 10) : 0;

		if (number > 0)
			snprintf(where, sizeof(where), " (page %lld, offset %lld)", number,
				 (number - 1) * (long long)page_size);
	}
	sqlite3_finalize(stmt);
	return rpd_fail(r, -EINVAL,
			"%s: the database is damaged%s: %s: %s; copy it again, or write it again "
			"from its spools (rtl recover)",
			m->path, where, doing, words);
}

static int exec_sql(struct merge *m, const char *doing, const char *fmt, ...)
{
	va_list args;
	char *sql;
	int rc;

	va_start(args, fmt);
	sql = sqlite3_vmprintf(fmt, args);
	va_end(args);
	if (!sql)
		return rpd_fail(m->r, -ENOMEM, "%s: out of memory", m->path);
	rc = sqlite3_exec(m->r->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return rc == SQLITE_OK ? 0 : fail_damaged(m, doing);
}

static int copy_table(struct merge *m, const struct rpd_table *table)
{
	const struct rpd_carry_to to = { m->r, m->base, m->empty };
	char *sql = rpd_carry_sql(&to, table);
	int ret = sql ? exec_sql(m, table->name, "%s", sql) :
			rpd_fail(m->r, -ENOMEM, "%s: out of memory", m->path);

	sqlite3_free(sql);
	return ret;
}

/* The largest id of all rows and of sqlite_sequence; -1: an id is negative. */
static int64_t largest_id(struct merge *m)
{
	int64_t largest = rpd_db_int(m->r, 0,
				     "SELECT max(CAST(value AS INTEGER)) FROM src.rocpd_metadata "
				     "WHERE tag = 'session_count'");
	bool compact = rpd_carry_has(m->r, "rtl_launch", NULL);
	bool bad = false;

	largest = largest > 0 && largest < (INT64_MAX >> 33) ? largest * RPD_BLOCK - 1 : 0;
	for (const struct rpd_table *t = rpd_tables; t->name; t++) {
		const char *column = t->columns[0].name;
		int64_t max;

		if (t->carry == RPD_APART || !rpd_tables_columns(t, compact) ||
		    !rpd_carry_has(m->r, t->name, NULL) || !rpd_carry_has(m->r, t->name, column))
			continue;
		max = rpd_db_int(m->r, 0, "SELECT max(\"%w\") FROM src.\"%w\"", column, t->name);
		bad = bad || rpd_db_int(m->r, 0, "SELECT min(\"%w\") < 0 FROM src.\"%w\"", column,
					t->name) == 1;
		if (max > largest)
			largest = max;
	}
	return bad ? -1 : largest;
}

static int open_source(struct merge *m)
{
	char name[DBFILE_NAME_SIZE];
	sqlite3_stmt *stmt = NULL;
	int ret = 0;

	dbfile_to_read(m->path, name);
	if (sqlite3_prepare_v2(m->r->db, "ATTACH ? AS src", -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_DONE)
		ret = fail_damaged(m, "can't be opened");
	sqlite3_finalize(stmt);
	return ret;
}

/* One process of a database of rtl: its node number in the output, and its row. */
static int take_process(struct merge *m, sqlite3_stmt *stmt)
{
	const char *host = (const char *)sqlite3_column_text(stmt, 2);
	const char *boot = (const char *)sqlite3_column_text(stmt, 3);
	const char *trace = (const char *)sqlite3_column_text(stmt, 4);
	int64_t old_node = sqlite3_column_int64(stmt, 5);
	int64_t node = rpd_node_of(m->r, host ? host : "", boot ? boot : "");
	struct move *moves = alloc_resize(m->moves, m->nr_moves + 1, sizeof(*moves));

	if (node < 0 || !moves)
		return rpd_fail(m->r, -ENOMEM, "%s: out of memory", m->path);
	m->moves = moves;
	if (old_node < 0 || old_node > 1000000)
		return rpd_fail(m->r, -EINVAL,
				"%s: the database is damaged: node %lld in "
				"rtl_process; write it again from its spools",
				m->path, (long long)old_node);
	moves[m->nr_moves++] = (struct move){
		.id_first = sqlite3_column_int64(stmt, 0),
		.id_last = sqlite3_column_int64(stmt, 1),
		.pid = (node - old_node) * RPD_PID_STRIDE,
		.gpu = (node - old_node) * RPD_GPU_STRIDE,
	};
	m->r->res->nr_processes++;
	return trace && trace[0] ? rpd_take_trace(m->r, trace, m->path) : 0;
}

static int take_processes(struct merge *m)
{
	sqlite3_stmt *stmt = NULL;
	int ret = 0;
	int rc = sqlite3_prepare_v2(m->r->db,
				    "SELECT id_first, id_last, host, boot_id, trace_id, node FROM "
				    "src.rtl_process ORDER BY id",
				    -1, &stmt, NULL);

	while (ret == 0 && rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		ret = take_process(m, stmt);
		rc = SQLITE_OK;
	}
	if (ret == 0 && rc != SQLITE_DONE)
		ret = fail_damaged(m, "rtl_process");
	sqlite3_finalize(stmt);
	if (ret < 0)
		return ret;
	return exec_sql(
		m, "rtl_process",
		"INSERT INTO main.rtl_process SELECT id + %lld, rtl_move_pid(id, pid), os_pid, ppid, "
		"rtl_valid(host), (rtl_move_pid(id, pid) - os_pid) / %lld, rtl_valid(boot_id), "
		"rtl_valid(trace_id), rtl_valid(command), rtl_valid(exe), rtl_valid(cwd), rank, world_size, "
		"local_rank, rtl_valid(job), rtl_valid(mode), rtl_valid(version), rtl_valid(clock), start_ns, "
		"end_ns, first_ns, last_ns, rtl_valid(state), rtl_valid(spool), format_version, id_first + %lld, id_last + %lld "
		"FROM src.rtl_process",
		(long long)m->base, (long long)RPD_PID_STRIDE, (long long)m->base,
		(long long)m->base);
}

/* RPD's files have no host and no losses: one row of rtl_process stands for the file, with a
 * note. */
static int add_rpd_process(struct merge *m, int64_t last)
{
	static const char text[] = "from an RPD file, which does not say what was lost";
	int ret = exec_sql(
		m, "rtl_process",
		"INSERT INTO main.rtl_process(id, pid, os_pid, node, state, spool, id_first, "
		"id_last) SELECT %lld, pid, pid, 0, 'rpd', %Q, %lld, %lld FROM (SELECT "
		"coalesce(min(pid), 0) AS pid FROM main.rocpd_api WHERE id BETWEEN %lld AND %lld)",
		(long long)(m->base + 1), m->path, (long long)m->base, (long long)last,
		(long long)m->base, (long long)last);

	if (ret == 0)
		ret = exec_sql(
			m, "rtl_loss_data",
			"INSERT INTO main.rtl_loss_data VALUES (%lld, %lld, 'unknown', 'note', %Q, 1, "
			"0, 0)",
			(long long)(m->base + 1), (long long)(m->base + 1), text);
	m->r->res->nr_processes++;
	m->r->verdict.nr_processes++;
	verdict_add(&m->r->verdict, 0, "unknown", LOAD_NOTE, 1, 0, 0, text);
	return ret;
}

/* What another program changed in the input is in no row of its own. */
static int add_changed(struct merge *m, const struct verdict_row *row)
{
	return exec_sql(m, "rtl_loss_data",
			"INSERT INTO main.rtl_loss_data SELECT (SELECT coalesce(max(id), %lld) + 1 "
			"FROM main.rtl_loss_data WHERE id > %lld), min(id), %Q, %Q, %Q, %lld, 0, 0 "
			"FROM main.rtl_process WHERE id > %lld",
			(long long)m->base, (long long)m->base, row->reason,
			load_class_name(row->class), row->text, (long long)row->count,
			(long long)m->base);
}

static int add_verdict(struct merge *m)
{
	struct verdict *v = alloc_zero(1, sizeof(*v));
	struct load_error err = { "" };
	int ret;

	if (!v)
		return rpd_fail(m->r, -ENOMEM, "%s: out of memory", m->path);
	ret = verdict_of_db(v, m->path, &err);
	if (ret < 0)
		rpd_fail(m->r, ret, "%s", err.text);
	m->r->verdict.nr_processes += v->nr_processes;
	for (size_t i = 0; i < v->nr_rows && ret == 0; i++) {
		const struct verdict_row *row = &v->rows[i];

		verdict_add(&m->r->verdict, row->pid, row->reason, row->class, row->count,
			    row->first_ns, row->last_ns, row->text);
		if (!row->pid && (strcmp(row->reason, CHANGED_REMOVED) == 0 ||
				  strcmp(row->reason, CHANGED_OTHERWISE) == 0))
			ret = add_changed(m, row);
	}
	alloc_free(v);
	return ret;
}

/* The output has its own tags that describe the file; others are copied, under a new name if two
 * inputs have different values. */
static int copy_metadata(struct merge *m, int64_t input)
{
	if (!rpd_carry_has(m->r, "rocpd_metadata", NULL))
		return 0;
	return exec_sql(
		m, "rocpd_metadata",
		"INSERT INTO main.rocpd_metadata(tag, value) SELECT CASE WHEN EXISTS (SELECT 1 FROM "
		"main.rocpd_metadata X WHERE X.tag = S.tag) THEN rtl_valid(S.tag) || '.' || %lld ELSE rtl_valid(S.tag) END, "
		"rtl_valid(S.value) FROM src.rocpd_metadata S WHERE S.tag NOT IN ('gpu_stride', 'pid_stride', "
		"'schema_version', 'rtl_schema_version', 'session_count', '" RPD_REFERENCES_TAG
		"', '" CHANGED_COUNTER_TAG "') AND S.tag NOT LIKE '" CHANGED_ROWS_TAG
		"%%' AND NOT EXISTS (SELECT 1 "
		"FROM main.rocpd_metadata Y WHERE Y.tag = S.tag AND Y.value = S.value)",
		(long long)input);
}

/* Warns of tables that are unknown to this version and not copied. */
static int warn_unknown_tables(struct merge *m)
{
	sqlite3_str *names = sqlite3_str_new(m->r->db);
	sqlite3_stmt *stmt = NULL;
	char *text;

	if (sqlite3_prepare_v2(
		    m->r->db,
		    "SELECT name FROM src.sqlite_master WHERE type = 'table' AND name NOT "
		    "LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
		    -1, &stmt, NULL) == SQLITE_OK) {
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(stmt, 0);
			bool known = false;

			for (const struct rpd_table *t = rpd_tables; t->name && !known; t++)
				known = strcmp(name, t->name) == 0;
			if (!known)
				sqlite3_str_appendf(names, "%s%s",
						    sqlite3_str_length(names) ? ", " : "", name);
		}
	}
	sqlite3_finalize(stmt);
	text = sqlite3_str_finish(names);
	if (text && text[0])
		rpd_warn(m->r, "%s: tables that are unknown to this version were left out: %s",
			 m->path, text);
	sqlite3_free(text);
	return 0;
}

/* RPD up to schema 2 has arguments in rocpd_string. */
static int copy_arguments(struct merge *m)
{
	if (rpd_carry_has(m->r, "rocpd_ustring", NULL) || !rpd_carry_has(m->r, "rocpd_api", NULL))
		return 0;
	return exec_sql(
		m, "rocpd_string",
		"INSERT INTO main.rocpd_ustring(id, string) SELECT id + %lld, rtl_valid(string) FROM "
		"src.rocpd_string WHERE id IN (SELECT args_id FROM src.rocpd_api)",
		(long long)m->base);
}

/* Operations of another program's file: it has no table for each kind, but names their types. */
static void count_foreign(struct merge *m, int64_t last)
{
	static const char sql[] =
		"SELECT count(*) FROM main.rocpd_op O JOIN main.rocpd_string Y ON Y.id = O.opType_id WHERE O.id BETWEEN "
		"%lld AND %lld AND O.gpuId >= 0 AND %s = %d";
	uint64_t nr[2];

	for (int copies = 0; copies < 2; copies++)
		nr[copies] = (uint64_t)rpd_db_int(m->r, 0, sql, (long long)m->base, (long long)last,
						  KINDS_IS_COPY("Y.string"), copies);
	m->r->res->nr_dispatches += nr[0];
	m->r->res->nr_copies += nr[1];
}

static void count_rows(struct merge *m, enum identify_kind kind, int64_t last)
{
	struct job_result *res = m->r->res;
	int64_t first_ns, last_ns;
	uint64_t by_kernels;

#define COUNT(table, column)                                                                       \
	(uint64_t) rpd_db_int(m->r, 0,                                                             \
			      "SELECT count(*) FROM main." table " WHERE " column                  \
			      " BETWEEN %lld AND %lld",                                            \
			      (long long)m->base, (long long)last)
	by_kernels =
		kind != IDENTIFY_OURS ?
			0 :
			COUNT("rocpd_op",
			      "description_id IN (SELECT id FROM main.rocpd_string WHERE " KINDS_IS_BLIT(
				      "string") ") AND id");
	res->nr_dispatches += COUNT("rtl_op_kernel", "op_id") - by_kernels;
	res->nr_internal += COUNT("rtl_op_runtime", "op_id");
	res->nr_copies += COUNT("rtl_op_copy", "op_id") + by_kernels;
	res->nr_barriers += COUNT("rtl_op_barrier", "op_id");
	if (kind != IDENTIFY_OURS)
		count_foreign(m, last);
	res->nr_markers += COUNT("rtl_marker_data", "api_id");
	res->nr_ops += COUNT("rocpd_op", "id");
	/* rows that stand for threads are not calls, and RPD's files do not distinguish markers */
	res->nr_apis += kind == IDENTIFY_OURS ? COUNT("rtl_api_data", "api_id") :
						COUNT("rocpd_api", "id");
	first_ns = rpd_db_int(
		m->r, 0,
		"SELECT min(start) FROM (SELECT min(start) AS start FROM "
		"main.rocpd_op WHERE id BETWEEN %lld AND %lld UNION ALL SELECT min(start) "
		"FROM main.rocpd_api WHERE id BETWEEN %lld AND %lld)",
		(long long)m->base, (long long)last, (long long)m->base, (long long)last);
	last_ns =
		rpd_db_int(m->r, 0,
			   "SELECT max(stop) FROM (SELECT max(\"end\") AS stop FROM main.rocpd_op "
			   "WHERE id BETWEEN %lld AND %lld UNION ALL SELECT max(\"end\") FROM "
			   "main.rocpd_api WHERE id BETWEEN %lld AND %lld)",
			   (long long)m->base, (long long)last, (long long)m->base,
			   (long long)last);
	if (first_ns > 0 && (!res->first_ns || (uint64_t)first_ns < res->first_ns))
		res->first_ns = (uint64_t)first_ns;
	if (last_ns > 0 && (uint64_t)last_ns > res->last_ns)
		res->last_ns = (uint64_t)last_ns;
}

static int copy_all(struct merge *m, enum identify_kind kind, int64_t last)
{
	int64_t input = m->base / RPD_BLOCK;
	int ret = rpd_db_exec(m->r, "BEGIN");

	if (ret == 0)
		ret = kind == IDENTIFY_OURS ? take_processes(m) :
					      exec_sql(m, "rocpd_string",
						       "INSERT INTO main.rocpd_string(id, string) "
						       "VALUES (%lld, '')",
						       (long long)m->empty);
	for (const struct rpd_table *t = rpd_tables; t->name && ret == 0; t++) {
		if (t->carry == RPD_APART || !rpd_tables_columns(t, m->r->is_compact))
			continue;
		if (rpd_carry_has(m->r, t->name, NULL))
			ret = copy_table(m, t);
		else if (kind == IDENTIFY_OURS && t->carry == RPD_REQUIRED)
			ret = rpd_fail(m->r, -EINVAL,
				       "%s: table %s is missing: the database is damaged; write it "
				       "again from its spools",
				       m->path, t->name);
	}
	if (ret == 0)
		ret = copy_arguments(m);
	if (ret == 0)
		ret = copy_metadata(m, input);
	if (ret == 0)
		ret = kind == IDENTIFY_OURS ? add_verdict(m) : add_rpd_process(m, last);
	if (ret == 0)
		ret = rpd_db_exec(m->r, "COMMIT");
	if (ret == 0) {
		count_rows(m, kind, last);
		ret = warn_unknown_tables(m);
	}
	return ret;
}

/* Whether the database has the compact layout; one that can't be read is refused later. */
static bool is_compact(const char *path)
{
	char name[DBFILE_NAME_SIZE];
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	bool has = false;

	if (sqlite3_open_v2(dbfile_to_read(path, name), &db,
			    SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
			    NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(
		    db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'rtl_launch'",
		    -1, &stmt, NULL) == SQLITE_OK)
		has = sqlite3_step(stmt) == SQLITE_ROW;
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return has;
}

bool rpd_merge_is_compact(const char *const *inputs, size_t nr)
{
	char error[512];

	for (size_t i = 0; i < nr; i++) {
		enum identify_kind kind;

		if (identify_file(inputs[i], &kind, error, sizeof(error)) == 0 &&
		    (kind == IDENTIFY_RPD || (kind == IDENTIFY_OURS && !is_compact(inputs[i]))))
			return false;
	}
	return true;
}

int rpd_merge_add(struct rpd *r, const char *path, enum identify_kind kind)
{
	struct merge m = { .r = r, .path = path, .base = r->next_block * RPD_BLOCK };
	int64_t largest, last;
	int ret = open_source(&m);

	if (ret < 0)
		return ret;
	r->has_merged = true;
	sqlite3_create_function(r->db, "rtl_move_pid", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, &m,
				sql_pid, NULL, NULL);
	sqlite3_create_function(r->db, "rtl_move_gpu", 2, SQLITE_UTF8 | SQLITE_DIRECTONLY, &m,
				sql_gpu, NULL, NULL);
	sqlite3_create_function(r->db, "rtl_valid", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &m,
				sql_valid, NULL, NULL);
	largest = largest_id(&m);
	if (largest < 0 || largest > (INT64_MAX >> 1) - m.base)
		ret = rpd_fail(r, -EINVAL,
			       "%s: ids are out of range: the database is damaged; write "
			       "it again from its spools (rtl recover)",
			       path);
	if (ret == 0) {
		/* files of RPD need one id more, for the empty string */
		int64_t blocks = (largest + (kind != IDENTIFY_OURS)) / RPD_BLOCK + 1;

		r->next_block += blocks;
		last = m.base + blocks * RPD_BLOCK - 1;
		m.empty = last;
		ret = copy_all(&m, kind, last);
	}
	if (ret == 0)
		ret = exec_sql(&m, "can't be closed", "DETACH src");
	alloc_free(m.moves);
	return ret;
}
