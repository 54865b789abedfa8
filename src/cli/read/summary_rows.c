/* SPDX-License-Identifier: MIT */
/* summary_rows.c - kernels, calls, copies and markers of a database, grouped by name
 *
 * Reads every row once. Operations without valid times (unfinished, none written,
 * inverted) are counted, but not in the times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/summary.h"
#include "cli/ui.h"
#include "query/cause.h"
#include "query/transfer.h"

/* A name by its id, for stats_group_of(). */
struct lookup {
	sqlite3_stmt *stmt;
	int64_t id;
};

static const char *look_up_name(void *arg)
{
	struct lookup *l = arg;
	sqlite3_stmt *row = query_row(l->stmt, l->id);

	return row ? query_text(row, 0) : "?";
}

static struct stats_group *group_of(struct summary *s, struct lookup *names, int64_t id)
{
	names->id = id;
	return stats_group_of(s->stats, (uint64_t)id, look_up_name, names);
}

static bool add_to_group(struct summary *s, struct stats_group *g, int64_t begin, int64_t end,
			 int64_t flags)
{
	if (!rows_timed(begin, end, flags)) {
		stats_add_untimed(g);
		s->nr_untimed++;
		return false;
	}
	stats_add(s->stats, g, (uint64_t)end - (uint64_t)begin);
	return true;
}

static void mark_gpu(struct stats_group *g, int64_t gpu)
{
	/* in files of several hosts: node number of the host * 1000 + GPU of the host */
	if (gpu >= 0)
		g->gpus |= UINT64_C(1) << (gpu % 1000 > 63 ? 63 : gpu % 1000);
}

enum kinds_op summary_rows_kind(struct summary *s, int64_t name, int64_t type)
{
	if (!s->kinds.is_read)
		db_check(s->q, kinds_read(s->q, &s->kinds));
	return kinds_of(&s->kinds, name, type);
}

/* Reads every operation. Columns: id of the name, for `name_sql`; GPU, begin, end, flags, type; begin and end of its call, NULL if unknown. */
static void read_kernels(struct summary *s, const char *sql, const char *name_sql)
{
	struct lookup names = { .stmt = db_query(s->q, name_sql) };
	sqlite3_stmt *stmt = db_query(s->q, sql);

	while (db_step(s->q, stmt)) {
		int64_t type = sqlite3_column_int64(stmt, 5), begin = sqlite3_column_int64(stmt, 2);
		enum kinds_op kind =
			type ? summary_rows_kind(s, sqlite3_column_int64(stmt, 0), type) :
			       KINDS_KERNEL;
		struct stats_group *g;

		if (kind == KINDS_ENGINE || (kind == KINDS_BLIT && !s->internal))
			continue;
		g = group_of(s, &names, sqlite3_column_int64(stmt, 0));
		mark_gpu(g, sqlite3_column_int64(stmt, 1));
		if (!add_to_group(s, g, begin, sqlite3_column_int64(stmt, 3),
				  sqlite3_column_int64(stmt, 4)) ||
		    sqlite3_column_type(stmt, 6) == SQLITE_NULL)
			continue;
		s->nr_joined++;
		stats_add_value(s->stats, g, STATS_LAUNCH, begin - sqlite3_column_int64(stmt, 6));
		stats_add_value(s->stats, g, STATS_DELAY, begin - sqlite3_column_int64(stmt, 7));
	}
	sqlite3_finalize(stmt);
	sqlite3_finalize(names.stmt);
}

/* the correlation id of an operation is the id of its call, if calls were recorded at all */
#define CALL_OURS                                                                                  \
	" LEFT JOIN rtl_api_data X ON X.api_id = O.correlation_id LEFT JOIN rocpd_api A ON A.id = X.api_id"
#define CALL_RPD                                                                                   \
	" LEFT JOIN query_cause L ON L.op_id = O.id LEFT JOIN rocpd_api A ON A.id = L.api_id"
#define MANGLED                                                                                    \
	"SELECT coalesce((SELECT replace(Y.name, '.kd', '') FROM rtl_kernel_symbol Y WHERE "       \
	"Y.demangled = S.string), S.string) FROM rocpd_string S WHERE S.id = ?1"

/* --internal: kernels of the runtimes: those of ROCr for copies and fills, and HIP's own. */
static void read_internal(struct summary *s)
{
	char *sql =
		ui_format("SELECT S.kernel_id, R.gpu_id, R.begin_ns, R.end_ns, R.flags, 0, NULL, "
			  "NULL FROM %s R JOIN rtl_shape S ON S.id = R.shape_id",
			  slice_is_set(&s->filter) ? "query_runtime" : "rtl_op_runtime");

	read_kernels(s, sql, "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1");
	free(sql);
	/* ids of symbols and of texts are not the same */
	stats_forget_keys(s->stats);
	read_kernels(
		s,
		"SELECT O.description_id, O.gpuId, O.start, O.end, coalesce(K.flags, 0), O.opType_id, "
		"NULL, NULL FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id WHERE O.gpuId "
		">= 0 AND O.description_id IN (SELECT id FROM rocpd_string WHERE string GLOB "
		"'__amd_rocclr_*')",
		QUERY_STRING);
}

void summary_rows_kernels(struct summary *s)
{
	bool ours = s->q->ours, untimed, calls;
	char *sql;

	if (s->internal && !ours) {
		ui_say("%s: was not written by rtl: the runtime's internal kernels are not marked as such",
		       s->q->path);
		return;
	}
	if (s->internal) {
		read_internal(s);
		return;
	}
	if (!ours) {
		db_check(s->q, cause_make(s->q, false));
		read_kernels(
			s,
			"SELECT O.description_id, O.gpuId, O.start, O.\"end\", 0, O.opType_id, "
			"A.start, A.\"end\" FROM rocpd_op O" CALL_RPD " WHERE O.gpuId >= 0",
			QUERY_STRING);
		return;
	}
	/* what a trace has none of is not joined: that takes half of the time */
	untimed = query_number(
		s->q->db,
		"SELECT EXISTS (SELECT 1 FROM rtl_op_kernel WHERE flags & " KINDS_UNTIMED ")", 1);
	calls = query_number(s->q->db, "SELECT EXISTS (SELECT 1 FROM rtl_api_data)", 1);
	sql = ui_format(
		"SELECT O.description_id, O.gpuId, O.start, O.end, %s, O.opType_id, %s FROM "
		"rocpd_op O%s%s WHERE O.gpuId >= 0",
		untimed ? "coalesce(K.flags, 0)" : "0", calls ? "A.start, A.end" : "NULL, NULL",
		untimed ? " LEFT JOIN rtl_op_kernel K ON K.op_id = O.id" : "",
		calls ? CALL_OURS : "");
	read_kernels(s, sql, s->names == NAMES_MANGLED ? MANGLED : QUERY_STRING);
	free(sql);
}

void summary_rows_copies(struct summary *s)
{
	sqlite3_stmt *stmt;

	db_check(s->q, transfer_view(s->q));
	stmt = db_query(s->q, "SELECT name, agent, begin_ns, end_ns, flags, bytes, means FROM "
			      "temp.query_copy");
	while (db_step(s->q, stmt)) {
		const char *kind = query_text(stmt, 0), *means = query_text(stmt, 6);
		struct stats_group *g;
		char name[200];

		snprintf(name, sizeof(name), s->internal ? "%s by %s" : "%s", kind, means);
		g = stats_group(s->stats, name);
		mark_gpu(g, sqlite3_column_int64(stmt, 1));
		g->bytes += (uint64_t)sqlite3_column_int64(stmt, 5);
		add_to_group(s, g, sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3),
			     sqlite3_column_int64(stmt, 4));
	}
	sqlite3_finalize(stmt);
}

/* Columns of calls: id of the name, begin, end, status (0 if unknown). */
void summary_rows_calls(struct summary *s)
{
	static const char *const ours[] = { "NOT IN ('rtl', 'roctx')", "= 'hip'", "= 'hsa'",
					    "= 'rccl'", "= 'mpi'" };
	static const char *const rpd[] = { "", "AND N.string NOT LIKE 'hsa%'",
					   "AND N.string LIKE 'hsa%'", "AND N.string LIKE 'nccl%'",
					   "AND N.string LIKE 'MPI/_%' ESCAPE '/'" };
	struct lookup names = { .stmt = db_query(s->q, QUERY_STRING) };
	sqlite3_stmt *stmt;
	char sql[512];

	if (s->q->ours)
		snprintf(
			sql, sizeof(sql),
			"SELECT A.apiName_id, A.start, A.end, coalesce(X.status, 0) FROM rocpd_api A JOIN "
			"rocpd_string D ON D.id = A.domain_id LEFT JOIN rtl_api_data X ON X.api_id = A.id "
			"WHERE D.string %s",
			ours[s->domain]);
	else
		snprintf(
			sql, sizeof(sql),
			"SELECT A.apiName_id, A.start, A.\"end\", 0 FROM rocpd_api A JOIN rocpd_string N ON "
			"N.id = A.apiName_id WHERE N.string <> 'UserMarker' %s",
			rpd[s->domain]);
	stmt = db_query(s->q, sql);
	while (db_step(s->q, stmt)) {
		struct stats_group *g = group_of(s, &names, sqlite3_column_int64(stmt, 0));
		bool failed = sqlite3_column_int64(stmt, 3) != 0;

		add_to_group(s, g, sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2), 0);
		g->errors += failed;
		s->nr_errors += failed;
	}
	sqlite3_finalize(stmt);
	sqlite3_finalize(names.stmt);
}

/* Columns of markers: message, begin, end. */
static void read_markers(struct summary *s, const char *sql)
{
	sqlite3_stmt *stmt = db_query(s->q, sql);

	while (db_step(s->q, stmt))
		add_to_group(s, stats_group(s->stats, query_text(stmt, 0)),
			     sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2), 0);
	sqlite3_finalize(stmt);
}

#define RPD_MARKERS(strings)                                                                       \
	"SELECT U.string, A.start, A.\"end\" FROM rocpd_api A JOIN rocpd_string N ON N.id = "      \
	"A.apiName_id JOIN " strings " U ON U.id = A.args_id WHERE N.string = 'UserMarker'"

void summary_rows_markers(struct summary *s)
{
	sqlite3_stmt *stmt;

	if (!s->q->ours) {
		read_markers(s, s->q->has_ustring ? RPD_MARKERS("rocpd_ustring") :
						    RPD_MARKERS("rocpd_string"));
		return;
	}
	read_markers(s, "SELECT message, begin_ns, end_ns FROM rtl_marker");
	/* the time of kernels and copies with this marker as their innermost range */
	stmt = db_query(
		s->q, "SELECT U.string, sum(X.ns) FROM (SELECT roctxId AS id, sum(end - start) AS "
		      "ns FROM rocpd_op WHERE roctxId <> 0 GROUP BY roctxId) X JOIN rocpd_api A "
		      "ON A.id = X.id JOIN rocpd_ustring U ON U.id = A.args_id GROUP BY U.string");
	while (db_step(s->q, stmt))
		stats_group(s->stats, query_text(stmt, 0))->extra_ns +=
			(uint64_t)sqlite3_column_int64(stmt, 1);
	sqlite3_finalize(stmt);
}
