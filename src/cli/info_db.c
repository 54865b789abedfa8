/* SPDX-License-Identifier: MIT */
/* info_db.c - what is known of a trace, from its database */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/info.h"
#include "cli/ui.h"

static const char *keep(sqlite3_stmt *stmt, int column)
{
	return ui_format("%s", db_text(stmt, column));
}

static uint64_t number(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

static int64_t or_minus_1(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ?
		       -1 :
		       sqlite3_column_int64(stmt, column);
}

/* Rows of a table whose ids lie in the block of a process. */
static uint64_t count_block(struct db *db, const char *from, int64_t first, int64_t last)
{
	char *sql = ui_format("SELECT count(*) FROM %s BETWEEN %lld AND %lld", from,
			      (long long)first, (long long)last);
	uint64_t n = (uint64_t)db_number(db, sql, 0);

	free(sql);
	return n;
}

static void read_agents(struct db *db, struct info_process *p, int64_t id)
{
	sqlite3_stmt *stmt =
		db_query(db, "SELECT gpu_index, nr_cu, clock_mhz, wave_size, type, name, product, "
			     "uuid, (SELECT count(*) FROM rtl_queue Q WHERE Q.agent_id = A.id) "
			     "FROM rtl_agent A WHERE process_id = ?1 ORDER BY agent_index");

	sqlite3_bind_int64(stmt, 1, id);
	while (db_step(db, stmt)) {
		struct info_agent *a;

		p->agents = info_grow(p->agents, &p->nr_agents, sizeof(*p->agents));
		a = &p->agents[p->nr_agents - 1];
		a->gpu = or_minus_1(stmt, 0);
		a->nr_cu = number(stmt, 1);
		a->clock_mhz = number(stmt, 2);
		a->wave_size = number(stmt, 3);
		a->type = keep(stmt, 4);
		a->name = keep(stmt, 5);
		a->product = keep(stmt, 6);
		a->uuid = keep(stmt, 7);
		a->nr_queues = number(stmt, 8);
	}
	sqlite3_finalize(stmt);
}

static void read_more(struct db *db, struct info_process *p, int64_t id)
{
	sqlite3_stmt *stmt =
		db_query(db,
			 "SELECT value FROM rtl_info WHERE process_id = ?1 AND key = 'library'");

	sqlite3_bind_int64(stmt, 1, id);
	while (db_step(db, stmt)) {
		p->libraries = info_grow(p->libraries, &p->nr_libraries, sizeof(*p->libraries));
		p->libraries[p->nr_libraries - 1] = keep(stmt, 0);
	}
	sqlite3_finalize(stmt);
	stmt = db_query(
		db,
		"SELECT realtime_ns - system_ns FROM rtl_clock WHERE process_id = ?1 ORDER BY id LIMIT 1");
	sqlite3_bind_int64(stmt, 1, id);
	if (db_step(db, stmt))
		p->realtime_offset_ns = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	stmt = db_query(
		db,
		"SELECT (SELECT count(*) FROM rtl_clock WHERE process_id = ?1), (SELECT count(*) "
		"FROM rtl_thread WHERE process_id = ?1), (SELECT count(*) FROM rtl_kernel_symbol "
		"WHERE process_id = ?1)");
	sqlite3_bind_int64(stmt, 1, id);
	if (db_step(db, stmt)) {
		p->nr_clocks = number(stmt, 0);
		p->nr_threads = number(stmt, 1);
		p->nr_kernels = number(stmt, 2);
	}
	sqlite3_finalize(stmt);
}

/* Different functions among the calls of a process. */
static uint64_t count_functions(struct db *db, int64_t first, int64_t last)
{
	char *sql = ui_format(
		"SELECT count(DISTINCT A.apiName_id) FROM rocpd_api A JOIN rtl_api_data X "
		"ON X.api_id = A.id WHERE A.id BETWEEN %lld AND %lld",
		(long long)first, (long long)last);
	uint64_t n = (uint64_t)db_number(db, sql, 0);

	free(sql);
	return n;
}

static void read_counts(struct db *db, struct info_process *p, int64_t first, int64_t last)
{
	p->counts.dispatches = count_block(db, "rtl_op_kernel WHERE op_id", first, last);
	p->counts.internal = count_block(db, "rtl_op_runtime WHERE op_id", first, last);
	p->counts.copies = count_block(db, "rtl_op_copy WHERE op_id", first, last);
	p->counts.barriers = count_block(db, "rtl_op_barrier WHERE op_id", first, last);
	p->counts.markers = count_block(db, "rtl_marker_data WHERE api_id", first, last);
	p->counts.apis = count_block(db, "rtl_api_data WHERE api_id", first, last);
	/* without calls there is nothing to look through */
	if (p->counts.apis)
		p->nr_functions = count_functions(db, first, last);
}

static void read_processes(struct info *info, struct db *db)
{
	sqlite3_stmt *stmt =
		db_query(db,
			 "SELECT id, os_pid, ppid, rank, world_size, local_rank, host, command, "
			 "exe, cwd, job, mode, version, clock, state, spool, start_ns, first_ns, "
			 "last_ns, id_first, id_last FROM rtl_process ORDER BY id");

	while (db_step(db, stmt)) {
		const char **texts[] = {
			NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
		};
		int64_t id = sqlite3_column_int64(stmt, 0);
		struct info_process *p;

		info->processes = info_grow(info->processes, &info->nr_processes, sizeof(*p));
		p = &info->processes[info->nr_processes - 1];
		texts[0] = &p->host, texts[1] = &p->command, texts[2] = &p->exe, texts[3] = &p->cwd;
		texts[4] = &p->job, texts[5] = &p->mode, texts[6] = &p->version,
		texts[7] = &p->clock;
		texts[8] = &p->state, texts[9] = &p->spool;
		p->pid = number(stmt, 1);
		p->ppid = number(stmt, 2);
		p->rank = or_minus_1(stmt, 3);
		p->world_size = or_minus_1(stmt, 4);
		p->local_rank = or_minus_1(stmt, 5);
		for (int i = 0; i < 10; i++)
			*texts[i] = keep(stmt, 6 + i);
		p->start_ns = number(stmt, 16);
		p->first_ns = number(stmt, 17);
		p->last_ns = number(stmt, 18);
		read_counts(db, p, sqlite3_column_int64(stmt, 19), sqlite3_column_int64(stmt, 20));
		read_agents(db, p, id);
		read_more(db, p, id);
	}
	sqlite3_finalize(stmt);
}

void info_db_read(struct info *info, const char *path, enum rpd_kind kind)
{
	struct load_error error;
	struct db db;

	db_open(&db, path);
	info->kind = kind == RPD_KIND_OURS ? "database" : "RPD database";
	info->version = "";
	info->schema = ui_format("RPD schema %lld",
				 (long long)db_number(&db,
						      "SELECT value FROM rocpd_metadata "
						      "WHERE tag = 'schema_version'",
						      1));
	if (kind == RPD_KIND_OURS) {
		read_processes(info, &db);
		verdict_of_db(&info->verdict, path, &error);
		for (size_t i = 0; i < info->nr_processes && !*info->version; i++)
			info->version = info->processes[i].version;
	} else {
		verdict_of_db(&info->verdict, path, &error);
		info->counts.dispatches =
			(uint64_t)db_number(&db, "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0",
					    0);
		info->counts.apis = (uint64_t)db_number(&db, "SELECT count(*) FROM rocpd_api", 0);
	}
	db_close(&db);
}
