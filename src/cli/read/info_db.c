/* SPDX-License-Identifier: MIT */
/* info_db.c - a trace's metadata and counts, from its database */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/read/info.h"
#include "cli/ui.h"
#include "query/rows.h"
#include "store/changed.h"

static const char *keep_column(sqlite3_stmt *stmt, int column)
{
	return ui_format("%s", query_text(stmt, column));
}

static uint64_t column_number(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

static int64_t column_or_minus_1(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ?
		       -1 :
		       sqlite3_column_int64(stmt, column);
}

/* Counts the rows of a table whose ids are in the block of a process. */
static uint64_t count_block(struct query *q, const char *from, int64_t first, int64_t last)
{
	char *sql = ui_format("SELECT count(*) FROM %s BETWEEN %lld AND %lld", from,
			      (long long)first, (long long)last);
	uint64_t n = (uint64_t)query_number(q->db, sql, 0);

	free(sql);
	return n;
}

static void read_agents(struct query *q, struct info_process *p, int64_t id)
{
	sqlite3_stmt *stmt =
		db_query(q, "SELECT gpu_index, nr_cu, clock_mhz, wave_size, type, name, product, "
			    "uuid, (SELECT count(*) FROM rtl_queue Q WHERE Q.agent_id = A.id) "
			    "FROM rtl_agent A WHERE process_id = ?1 ORDER BY agent_index");

	sqlite3_bind_int64(stmt, 1, id);
	while (db_step(q, stmt)) {
		struct info_agent *a;

		p->agents = info_grow(p->agents, &p->nr_agents, sizeof(*p->agents));
		a = &p->agents[p->nr_agents - 1];
		a->gpu = column_or_minus_1(stmt, 0);
		a->nr_cu = column_number(stmt, 1);
		a->clock_mhz = column_number(stmt, 2);
		a->wave_size = column_number(stmt, 3);
		a->type = keep_column(stmt, 4);
		a->name = keep_column(stmt, 5);
		a->product = keep_column(stmt, 6);
		a->uuid = keep_column(stmt, 7);
		a->nr_queues = column_number(stmt, 8);
	}
	sqlite3_finalize(stmt);
}

static void read_more(struct query *q, struct info_process *p, int64_t id)
{
	sqlite3_stmt *stmt =
		db_query(q, "SELECT value FROM rtl_info WHERE process_id = ?1 AND key = 'library'");

	sqlite3_bind_int64(stmt, 1, id);
	while (db_step(q, stmt)) {
		p->libraries = info_grow(p->libraries, &p->nr_libraries, sizeof(*p->libraries));
		p->libraries[p->nr_libraries - 1] = keep_column(stmt, 0);
	}
	sqlite3_finalize(stmt);
	stmt = db_query(
		q,
		"SELECT realtime_ns - system_ns FROM rtl_clock WHERE process_id = ?1 ORDER BY id LIMIT 1");
	sqlite3_bind_int64(stmt, 1, id);
	if (db_step(q, stmt))
		p->realtime_offset_ns = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	stmt = db_query(
		q,
		"SELECT (SELECT count(*) FROM rtl_clock WHERE process_id = ?1), (SELECT count(*) "
		"FROM rtl_thread WHERE process_id = ?1), (SELECT count(*) FROM rtl_kernel_symbol "
		"WHERE process_id = ?1)");
	sqlite3_bind_int64(stmt, 1, id);
	if (db_step(q, stmt)) {
		p->nr_clocks = column_number(stmt, 0);
		p->nr_threads = column_number(stmt, 1);
		p->nr_kernels = column_number(stmt, 2);
	}
	sqlite3_finalize(stmt);
}

/* Distinct functions among the calls of a process. */
static uint64_t count_functions(struct query *q, int64_t first, int64_t last)
{
	char *sql = ui_format(
		"SELECT count(DISTINCT A.apiName_id) FROM rocpd_api A JOIN rtl_api_data X "
		"ON X.api_id = A.id WHERE A.id BETWEEN %lld AND %lld",
		(long long)first, (long long)last);
	uint64_t n = (uint64_t)query_number(q->db, sql, 0);

	free(sql);
	return n;
}

/* Whether another program removed rows: those of RPD's tables, while rtl's tables still have their
 * part. */
static bool has_removed_rows(const struct query *q)
{
	for (size_t i = 0; i < q->verdict.nr_rows; i++)
		if (strcmp(q->verdict.rows[i].reason, CHANGED_REMOVED) == 0)
			return true;
	return false;
}

static void read_counts(struct query *q, struct info_process *p, int64_t first, int64_t last)
{
#define OF_OP " JOIN rocpd_op O ON O.id = op_id"
#define OF_API " JOIN rocpd_api A ON A.id = api_id"
	bool cut = has_removed_rows(q);

	p->counts.dispatches = count_block(q,
					   cut ? "rtl_op_kernel" OF_OP " WHERE op_id" :
						 "rtl_op_kernel WHERE op_id",
					   first, last);
	p->counts.internal = count_block(q, "rtl_op_runtime WHERE op_id", first, last);
	p->counts.copies =
		count_block(q, cut ? "rtl_op_copy" OF_OP " WHERE op_id" : "rtl_op_copy WHERE op_id",
			    first, last);
	/* kernels with which HIP copies or fills */
	if (query_number(q->db,
			 "SELECT EXISTS (SELECT 1 FROM rocpd_string WHERE " KINDS_IS_BLIT(
				 "string") ")",
			 0)) {
		uint64_t n = count_block(
			q,
			"rocpd_op WHERE description_id IN (SELECT id FROM rocpd_string WHERE " KINDS_IS_BLIT(
				"string") ") AND id",
			first, last);

		p->counts.dispatches -= n < p->counts.dispatches ? n : p->counts.dispatches;
		p->counts.copies += n;
	}
	p->counts.barriers = count_block(q, "rtl_op_barrier WHERE op_id", first, last);
	p->counts.markers = count_block(q,
					cut ? "rtl_marker_data" OF_API " WHERE api_id" :
					      "rtl_marker_data WHERE api_id",
					first, last);
	p->counts.apis = count_block(q,
				     cut ? "rtl_api_data" OF_API " WHERE api_id" :
					   "rtl_api_data WHERE api_id",
				     first, last);
	/* the query reads every call */
	if (p->counts.apis)
		p->nr_functions = count_functions(q, first, last);
}

static void read_processes(struct info *info, struct query *q)
{
	sqlite3_stmt *stmt =
		db_query(q,
			 "SELECT id, os_pid, ppid, rank, world_size, local_rank, host, command, "
			 "exe, cwd, job, mode, version, clock, state, spool, start_ns, first_ns, "
			 "last_ns, id_first, id_last FROM rtl_process ORDER BY id");

	while (db_step(q, stmt)) {
		int64_t id = sqlite3_column_int64(stmt, 0);
		struct info_process *p;

		info->processes = info_grow(info->processes, &info->nr_processes, sizeof(*p));
		p = &info->processes[info->nr_processes - 1];
		p->pid = column_number(stmt, 1);
		p->ppid = column_number(stmt, 2);
		p->rank = column_or_minus_1(stmt, 3);
		p->world_size = column_or_minus_1(stmt, 4);
		p->local_rank = column_or_minus_1(stmt, 5);
		p->host = keep_column(stmt, 6);
		p->command = keep_column(stmt, 7);
		p->exe = keep_column(stmt, 8);
		p->cwd = keep_column(stmt, 9);
		p->job = keep_column(stmt, 10);
		p->mode = keep_column(stmt, 11);
		p->version = keep_column(stmt, 12);
		p->clock = keep_column(stmt, 13);
		p->state = keep_column(stmt, 14);
		p->spool = keep_column(stmt, 15);
		p->start_ns = column_number(stmt, 16);
		p->first_ns = column_number(stmt, 17);
		p->last_ns = column_number(stmt, 18);
		read_counts(q, p, sqlite3_column_int64(stmt, 19), sqlite3_column_int64(stmt, 20));
		read_agents(q, p, id);
		read_more(q, p, id);
	}
	sqlite3_finalize(stmt);
}

void info_db_read(struct info *info)
{
	struct query *q = db_open(info->path);

	info->kind = q->ours ? "database" : "RPD database";
	info->version = "";
	info->schema =
		ui_format("RPD schema %lld",
			  (long long)query_number(
				  q->db,
				  "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'",
				  1));
	info->verdict = q->verdict;
	if (q->ours) {
		read_processes(info, q);
		for (size_t i = 0; i < info->nr_processes && !*info->version; i++)
			info->version = info->processes[i].version;
	} else {
		info->counts.copies = (uint64_t)query_number(
			q->db,
			"SELECT count(*) FROM rocpd_op O JOIN rocpd_string T ON T.id = O.opType_id JOIN rocpd_string D ON D.id = O.description_id WHERE " KINDS_IS_COPY(
				"T.string") " OR " KINDS_IS_BLIT("D.string"),
			0);
		info->counts.dispatches = (uint64_t)query_number(
			q->db,
			"SELECT count(*) FROM rocpd_op O JOIN rocpd_string T ON T.id = O.opType_id JOIN rocpd_string D ON D.id = O.description_id WHERE O.gpuId >= 0 AND NOT " KINDS_IS_COPY(
				"T.string") " AND NOT " KINDS_IS_BLIT("D.string"),
			0);
		info->counts.apis =
			(uint64_t)query_number(q->db, "SELECT count(*) FROM rocpd_api", 0);
		if (changed_rpd(q->db)) {
			info->warnings = info_grow(info->warnings, &info->nr_warnings,
						   sizeof(*info->warnings));
			info->warnings[info->nr_warnings - 1] =
				"rows were removed from the file after it was written";
		}
	}
	query_close(q);
}
