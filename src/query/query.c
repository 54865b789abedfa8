/* SPDX-License-Identifier: MIT */
/* query.c - a trace opened for reading, its processes, SQL with error messages
 *
 * Fails:    leaves no files: the temporary database is unlinked as soon as it is open. SIGKILL
 *           during the conversion leaves it.
 */
#include "query/query.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/dbfile.h"
#include "base/temporary.h"
#include "query/identify.h"
#include "query/rowfile.h"
#include "query/transfer.h"
#include "store/map.h"

#define PROGRESS_ROWS 4096u

/* ---- SQL ---- */

int query_fail_memory(struct query *q)
{
	return query_fail(q, -ENOMEM, "%s: out of memory", q->path);
}

int query_fail_sql(struct query *q)
{
	return query_fail_db(q, q->db);
}

int query_fail_db(struct query *q, sqlite3 *db)
{
	int rc = sqlite3_extended_errcode(db);
	char error[sizeof(q->res->error)];

	if (dbfile_explain(q->path, rc, error, sizeof(error)))
		return query_fail(q, -EBUSY, "%s", error);
	if (rc == SQLITE_FULL || rc == SQLITE_IOERR_WRITE)
		return query_fail(
			q, -ENOSPC,
			"%s: no space to sort its rows: %s; choose another directory with TMPDIR",
			q->path, sqlite3_errmsg(db));
	if (rc == SQLITE_NOMEM)
		return query_fail_memory(q);
	return query_fail(q, -EIO, "%s: damaged: %s", q->path, sqlite3_errmsg(db));
}

int query_prepare(struct query *q, sqlite3_stmt **stmt, const char *sql)
{
	char error[sizeof(q->res->error)];

	if (sqlite3_prepare_v2(q->db, sql, -1, stmt, NULL) == SQLITE_OK)
		return 0;
	if (dbfile_explain(q->path, sqlite3_extended_errcode(q->db), error, sizeof(error)))
		return query_fail(q, -EBUSY, "%s", error);
	return query_fail(q, -EINVAL, "%s: can't be read as a trace: %s", q->path,
			  sqlite3_errmsg(q->db));
}

int query_prepare_all(struct query *q, const struct query_sql *list, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++)
		if (list[i].sql)
			ret = query_prepare(q, list[i].stmt, list[i].sql);
	return ret;
}

int query_step(struct query *q, sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt), ret;

	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : query_fail_sql(q);
	ret = query_progress(q);
	return ret ? ret : 1;
}

int query_progress(struct query *q)
{
	if (++q->done % PROGRESS_ROWS == 0 && q->opt->progress &&
	    q->opt->progress(q->opt->progress_arg, q->done < q->total ? q->done : q->total,
			     q->total) != 0)
		return query_fail(q, -ECANCELED, "%s: stopped", q->path);
	return 0;
}

struct query_scan {
	int (*take)(void *arg, sqlite3_value **columns);
	void *arg;
	int ret;
};

/* An aggregate function, whose arguments are the columns. */
static void sql_take(sqlite3_context *context, int nr, sqlite3_value **values)
{
	struct query *q = sqlite3_user_data(context);
	struct query_scan *scan = q->scan;

	(void)nr;
	scan->ret = query_progress(q);
	if (scan->ret == 0)
		scan->ret = scan->take(scan->arg, values);
	if (scan->ret)
		sqlite3_result_error_code(context, SQLITE_INTERRUPT);
}

static void sql_taken(sqlite3_context *context)
{
	sqlite3_result_null(context);
}

int query_scan(struct query *q, const char *columns, const char *from,
	       int (*take)(void *arg, sqlite3_value **columns), void *arg)
{
	struct query_scan scan = { take, arg, 0 };
	sqlite3_stmt *stmt = NULL;
	char *sql;
	int ret;

	if (!q->has_scan && sqlite3_create_function(q->db, "query_take", -1, SQLITE_UTF8, q, NULL,
						    sql_take, sql_taken) != SQLITE_OK)
		return query_fail_sql(q);
	q->has_scan = true;
	sql = sqlite3_mprintf("SELECT query_take(%s) FROM %s", columns, from);
	ret = sql ? query_prepare(q, &stmt, sql) : query_fail_memory(q);
	sqlite3_free(sql);
	if (ret)
		return ret;
	query_bind_range(q, stmt);
	q->scan = &scan;
	if (sqlite3_step(stmt) != SQLITE_ROW)
		ret = scan.ret ? scan.ret : query_fail_sql(q);
	sqlite3_finalize(stmt);
	return ret;
}

int query_run(struct query *q, const char *sql)
{
	return sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : query_fail_sql(q);
}

int64_t query_number(sqlite3 *db, const char *sql, int64_t otherwise)
{
	int64_t value = otherwise;
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return otherwise;
	if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

const char *query_text(sqlite3_stmt *row, int i)
{
	const unsigned char *text = row ? sqlite3_column_text(row, i) : NULL;

	return text ? (const char *)text : "";
}

sqlite3_stmt *query_row(sqlite3_stmt *stmt, int64_t id)
{
	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, id);
	return sqlite3_step(stmt) == SQLITE_ROW ? stmt : NULL;
}

const char *query_look_up(sqlite3_stmt *stmt, int64_t id)
{
	return query_text(query_row(stmt, id), 0);
}

/* Not by sqlite3_table_column_metadata(), in which SQLite 3.53 reads an address of its own making
 * for a virtual table. A qualified name is never taken for a text. */
bool query_has_column(sqlite3 *db, const char *table, const char *column)
{
	char *sql =
		sqlite3_mprintf("SELECT \"%w\".\"%w\" FROM \"%w\" LIMIT 0", table, column, table);
	sqlite3_stmt *stmt = NULL;
	bool has = sql && sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK;

	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return has;
}

bool query_has(sqlite3 *db, const char *table)
{
	sqlite3_stmt *stmt = NULL;
	bool has = false;

	if (sqlite3_prepare_v2(db, "SELECT 1 FROM sqlite_master WHERE name = ?1", -1, &stmt,
			       NULL) == SQLITE_OK) {
		sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
		has = sqlite3_step(stmt) == SQLITE_ROW;
	}
	sqlite3_finalize(stmt);
	return has;
}

const char *query_args_sql(const struct query *q)
{
	return q->has_ustring ? "SELECT string FROM rocpd_ustring WHERE id = ?1" : QUERY_STRING;
}

int query_ids(struct query *q, struct map *ids, const char *text)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(q, &row, "SELECT id FROM rocpd_string WHERE string = ?1");

	if (ret == 0)
		sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC);
	while (ret == 0 && (ret = query_step(q, row)) == 1)
		ret = map_put(ids, (uint64_t)sqlite3_column_int64(row, 0), 0) ?
			      query_fail_memory(q) :
			      0;
	sqlite3_finalize(row);
	return ret;
}

int query_texts_begin(struct query *q, struct query_texts *texts)
{
	*texts = (struct query_texts){ .open = false };
	return query_prepare(
		q, &texts->stmt,
		q->has_ustring ? "SELECT id, string FROM rocpd_ustring WHERE id >= ?1 ORDER BY id" :
				 "SELECT id, string FROM rocpd_string WHERE id >= ?1 ORDER BY id");
}

sqlite3_stmt *query_next_row(struct query_texts *rows, int64_t id)
{
	/* a step takes a fifth of the time of a search */
	for (int i = 0; i < 4 && rows->open && rows->id < id; i++) {
		rows->open = sqlite3_step(rows->stmt) == SQLITE_ROW;
		rows->id = rows->open ? sqlite3_column_int64(rows->stmt, 0) : 0;
	}
	if (!rows->open || rows->id != id) {
		rows->open = query_row(rows->stmt, id) != NULL;
		rows->id = rows->open ? sqlite3_column_int64(rows->stmt, 0) : 0;
	}
	return rows->open && rows->id == id ? rows->stmt : NULL;
}

const char *query_texts_get(struct query_texts *texts, int64_t id)
{
	return query_text(query_next_row(texts, id), 1);
}

void query_texts_end(struct query_texts *texts)
{
	sqlite3_finalize(texts->stmt);
}

bool query_has_args(struct query *q)
{
	char sql[512] = QUERY_HAS_ARGS_OURS;

	if (q->has_args)
		return q->has_args > 0;
	if (!q->ours)
		snprintf(
			sql, sizeof(sql),
			"SELECT EXISTS(SELECT 1 FROM rocpd_api A JOIN %s U ON U.id = A.args_id JOIN "
			"rocpd_string N ON N.id = A.apiName_id WHERE U.string <> '' AND N.string <> "
			"'UserMarker')",
			q->has_ustring ? "rocpd_ustring" : "rocpd_string");
	/* what can't be read is not shown */
	q->has_args = query_has(q->db, "rocpd_api") && query_number(q->db, sql, 1) ? 1 : -1;
	return q->has_args > 0;
}

/* ---- processes ---- */

const struct query_process *query_process_of(const struct query *q, int64_t id)
{
	for (size_t i = 0; i < q->nr_processes; i++)
		if (id >= q->processes[i].id_first && id <= q->processes[i].id_last)
			return &q->processes[i];
	return NULL;
}

bool query_has_events(const struct query *q, const struct query_process *process)
{
	char sql[512];

	snprintf(
		sql, sizeof(sql),
		"SELECT EXISTS (SELECT 1 FROM rocpd_op WHERE id BETWEEN %1$lld AND %2$lld) OR EXISTS (SELECT "
		"1 FROM rocpd_api A JOIN rocpd_string D ON D.id = A.domain_id WHERE A.id BETWEEN %1$lld AND "
		"%2$lld AND D.string <> 'rtl')",
		(long long)process->id_first, (long long)process->id_last);
	return query_number(q->db, sql, 0) != 0;
}

void query_bind_range(const struct query *q, sqlite3_stmt *stmt)
{
	sqlite3_bind_int64(stmt, 1, q->only ? q->only->id_first : INT64_MIN);
	sqlite3_bind_int64(stmt, 2, q->only ? q->only->id_last : INT64_MAX);
}

int64_t query_local_id(const struct query *q, int64_t id)
{
	const struct query_process *process = query_process_of(q, id);

	return id - (process ? process->id_first : 0);
}

/* "./app --n 1 (rank 0, pid 1234)" */
static char *make_name(sqlite3_stmt *row)
{
	char name[512], rank[32] = "";

	if (sqlite3_column_int64(row, 4) >= 0)
		snprintf(rank, sizeof(rank), "rank %lld, ",
			 (long long)sqlite3_column_int64(row, 4));
	if (snprintf(name, sizeof(name) - 64, "%s", query_text(row, 6)) >= (int)sizeof(name) - 64)
		memcpy(name + sizeof(name) - 68, "...", 4);
	snprintf(name + strlen(name), 64, " (%spid %lld)", rank,
		 (long long)sqlite3_column_int64(row, 5));
	return alloc_string(name);
}

bool query_has_same_clock(const struct query_process *a, const struct query_process *b)
{
	if (strcmp(a->boot_id, b->boot_id) != 0 || a->time_offset_ns != b->time_offset_ns)
		return false;
	return *a->boot_id || strcmp(a->host, b->host) == 0;
}

/* Of the last process. */
static void find_clock(struct query *q, struct query_process *process)
{
	size_t nr = 0;

	process->wall_ns = process->realtime_ns;
	for (const struct query_process *p = q->processes; p < process; p++) {
		if (query_has_same_clock(p, process)) {
			process->clock = p->clock;
			process->wall_ns = p->wall_ns;
			return;
		}
		nr = p->clock >= nr ? p->clock + 1 : nr;
	}
	process->clock = nr;
}

int query_read_processes(struct query *q)
{
	static const char sql[] =
		"SELECT P.id, id_first, id_last, pid, coalesce(rank, -1), os_pid, coalesce(command, ''), "
		"coalesce(world_size, -1), coalesce((SELECT realtime_ns - system_ns FROM rtl_clock C WHERE "
		"C.process_id = P.id AND agent_id IS NULL ORDER BY system_ns LIMIT 1), 0), coalesce(first_ns, "
		"0), coalesce(host, ''), coalesce(boot_id, ''), (SELECT CAST(value AS INTEGER) FROM rtl_info I WHERE "
		"I.process_id = P.id AND key = 'time_offset_ns') FROM rtl_process P ORDER BY P.id";
	sqlite3_stmt *row = NULL;
	/* they are there once */
	int ret = q->ours && !q->nr_processes ? query_prepare(q, &row, sql) : 0;

	while (row && ret == 0 && (ret = query_step(q, row)) == 1) {
		struct query_process *grown =
			alloc_resize(q->processes, q->nr_processes + 1, sizeof(*grown));

		ret = grown ? 0 : query_fail_memory(q);
		if (!grown)
			break;
		q->processes = grown;
		grown[q->nr_processes++] = (struct query_process){
			.id = sqlite3_column_int64(row, 0),
			.id_first = sqlite3_column_int64(row, 1),
			.id_last = sqlite3_column_int64(row, 2),
			.pid = sqlite3_column_int64(row, 3),
			.rank = sqlite3_column_int64(row, 4),
			.world_size = sqlite3_column_int64(row, 7),
			.realtime_ns = sqlite3_column_int64(row, 8),
			.first_ns = sqlite3_column_int64(row, 9),
			.name = make_name(row),
			.host = alloc_string(query_text(row, 10)),
			.boot_id = alloc_string(query_text(row, 11)),
			.time_offset_ns = sqlite3_column_int64(row, 12),
		};
		if (!grown[q->nr_processes - 1].host || !grown[q->nr_processes - 1].boot_id)
			ret = query_fail_memory(q);
		else
			find_clock(q, &grown[q->nr_processes - 1]);
	}
	sqlite3_finalize(row);
	return ret;
}

/* ---- open ---- */

int query_open_file(sqlite3 **db, const char *path)
{
	char name[DBFILE_NAME_SIZE];
	int rc = sqlite3_open_v2(dbfile_to_read(path, name), db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI,
				 NULL);

	if (rc == SQLITE_OK) {
		sqlite3_busy_timeout(*db, 2000);
		sqlite3_exec(*db, "PRAGMA cache_size=-12288; PRAGMA temp_store=FILE", NULL, NULL,
			     NULL);
	}
	return rc;
}

static int open_connection(struct query *q, sqlite3 **db, const char *file)
{
	if (query_open_file(db, file) != SQLITE_OK ||
	    (q->rows && rowfile_attach(q->rows, *db) != SQLITE_OK))
		return query_fail(q, -EINVAL, "%s: %s", q->path, sqlite3_errmsg(*db));
	return 0;
}

static int open_database(struct query *q, const char *file)
{
	struct load_error error;
	int ret = open_connection(q, &q->db, file);

	if (ret == 0 && q->opt->twice)
		ret = open_connection(q, &q->second, file);
	if (ret < 0)
		return ret;
	q->ours = query_has(q->db, "rtl_op_kernel");
	q->is_compact = query_has(q->db, "rtl_launch") &&
			query_has_column(q->db, "rocpd_api", "rtl_launch_id");
	q->has_ustring = query_has(q->db, "rocpd_ustring");
	/* if the verdict is unknown, its line says so: no error */
	verdict_of_db(&q->verdict, file, &error);
	return 0;
}

static int fail_temporary(struct query *q, const char *path, int error)
{
	return query_fail(q, error, "%s: %s; choose another directory with TMPDIR", path,
			  strerror(-error));
}

/* Makes the rowfile if all inputs are raw traces: rows of databases are copied by SQL. */
static int open_rows(struct query *q, const char *const *inputs, size_t nr)
{
	int ret;

	for (size_t i = 0; i < nr; i++) {
		char error[sizeof(q->res->error)];
		enum identify_kind kind;

		/* the conversion reports errors */
		if (identify_file(inputs[i], &kind, error, sizeof(error)) < 0 ||
		    kind != IDENTIFY_SPOOL)
			return 0;
	}
	ret = rowfile_new(&q->rows);
	return ret ? fail_temporary(q, temporary_directory(), ret) : 0;
}

/* Converts the inputs to a database in a temporary file, which is unlinked as soon as it is
 * open. */
static int open_converted(struct query *q, const char *const *inputs, size_t nr, job_fn convert)
{
	struct job_options inner = { .force = true,
				     .access = JOB_ACCESS_OWNER,
				     .progress = q->opt->progress,
				     .progress_arg = q->opt->progress_arg };
	char tmp[PATH_MAX];
	int fd, ret = open_rows(q, inputs, nr);

	if (ret < 0)
		return ret;
	inner.rows = q->rows;
	q->converted = true;
	snprintf(tmp, sizeof(tmp), "%s/rtl-XXXXXX.db", temporary_directory());
	fd = mkstemps(tmp, 3);
	if (fd < 0)
		return fail_temporary(q, tmp, -errno);
	temporary_add(tmp);
	close(fd);
	ret = convert(inputs, nr, tmp, &inner, q->res);
	if (ret == 0 && q->rows) {
		ret = rowfile_seal(q->rows);
		ret = ret ? fail_temporary(q, tmp, ret) : 0;
	}
	if (ret == 0)
		ret = open_database(q, tmp);
	temporary_delete(tmp);
	return ret;
}

static int open_inputs(struct query *q, const char *const *inputs, size_t nr, job_fn convert)
{
	char error[sizeof(q->res->error)];
	enum identify_kind kind;
	int ret = identify_file(inputs[0], &kind, error, sizeof(error));

	if (ret < 0)
		return query_fail(q, ret, "%s", error);
	if (nr > 1 || kind == IDENTIFY_SPOOL)
		return open_converted(q, inputs, nr, convert);
	if (kind == IDENTIFY_OURS || kind == IDENTIFY_RPD)
		return open_database(q, inputs[0]);
	return query_fail(
		q, -EINVAL,
		kind == IDENTIFY_SQLITE ?
			"%s: is an SQLite database, but not of a trace: it has no table rocpd_op; "
			"give the file that rtl trace -o wrote" :
			"%s: is not a trace: neither a database of rtl or RPD nor a raw trace; give the "
			"file that rtl trace -o wrote",
		inputs[0]);
}

int query_open(struct query **out, const char *const *inputs, size_t nr, job_fn convert,
	       const struct job_options *opt, struct job_result *res)
{
	struct query *q;
	int ret;

	memset(res, 0, sizeof(*res));
	*out = NULL;
	if (nr == 0)
		return job_fail(res, -EINVAL, "nothing to read");
	q = alloc_zero(1, sizeof(*q));
	if (!q)
		return job_fail(res, -ENOMEM, "%s: out of memory", inputs[0]);
	q->path = inputs[0];
	q->opt = opt;
	q->res = res;
	ret = open_inputs(q, inputs, nr, convert);
	job_verdict(res, &q->verdict);
	if (ret < 0)
		query_close(q);
	else
		*out = q;
	return ret;
}

static void free_process(struct query_process *process)
{
	alloc_free(process->name);
	alloc_free(process->host);
	alloc_free(process->boot_id);
}

void query_close(struct query *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->nr_processes; i++)
		free_process(&q->processes[i]);
	alloc_free(q->processes);
	transfer_end(q);
	sqlite3_close(q->db);
	sqlite3_close(q->second);
	rowfile_free(q->rows);
	alloc_free(q);
}
