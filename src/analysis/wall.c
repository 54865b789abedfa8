/* SPDX-License-Identifier: MIT */
/* wall.c - the time that a trace is about */
#include "analysis/wall.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/mpi_function.h"
#include "query/kinds.h"

static int64_t least(sqlite3 *db, const char *sql, int64_t so_far)
{
	int64_t ns = query_number(db, sql, INT64_MAX);

	/* min() of nothing is NULL, which reads as 0 */
	return ns > 0 && ns < so_far ? ns : so_far;
}

static int64_t most(sqlite3 *db, const char *sql, int64_t so_far)
{
	int64_t ns = query_number(db, sql, 0);

	return ns > so_far ? ns : so_far;
}

static const char *part_of(struct query *q)
{
	if (!q->ours)
		return NULL;
	if (query_number(q->db, "SELECT EXISTS (SELECT 1 FROM rtl_loss WHERE reason = 'paused')",
			 0))
		return "recording was paused";
	if (query_number(q->db,
			 "SELECT EXISTS (SELECT 1 FROM rtl_loss WHERE reason = 'flight_recorder')",
			 0))
		return "a flight recorder kept these";
	return NULL;
}

static void read_whole(struct query *q, struct wall *w)
{
	w->begin = INT64_MAX;
	if (q->ours) {
		if (!w->part)
			w->begin = least(q->db,
					 "SELECT min(start_ns) FROM rtl_process WHERE start_ns > 0",
					 w->begin);
		w->begin = least(q->db, "SELECT min(first_ns) FROM rtl_process WHERE first_ns > 0",
				 w->begin);
		if (!w->part)
			w->end = most(q->db, "SELECT max(end_ns) FROM rtl_process", w->end);
		w->end = most(q->db, "SELECT max(last_ns) FROM rtl_process", w->end);
	}
	/* a file of RPD, or one whose processes have no times */
	if (w->begin >= w->end) {
		w->begin = least(q->db, "SELECT min(start) FROM main.rocpd_op WHERE start > 0",
				 w->begin);
		w->begin = least(q->db, "SELECT min(start) FROM main.rocpd_api WHERE start > 0",
				 w->begin);
		w->end = most(q->db, "SELECT max(\"end\") FROM main.rocpd_op", w->end);
		w->end = most(q->db, "SELECT max(\"end\") FROM main.rocpd_api", w->end);
	}
	if (w->begin > w->end)
		w->begin = w->end = 0;
}

/* Functions that return when another rank has done its part. */
static bool waits_for_rank(const char *name)
{
	switch (mpi_function_kind_of(name)) {
	case MPI_CALL_SEND:
	case MPI_CALL_RECV:
	case MPI_CALL_SENDRECV:
	case MPI_CALL_MRECV:
	case MPI_CALL_COLLECTIVE:
	case MPI_CALL_MAKES:
	case MPI_CALL_MAKES_INTER:
		return true;
	case MPI_CALL_WAIT:
	case MPI_CALL_WAIT_ALL:
	case MPI_CALL_WAIT_ANY:
	case MPI_CALL_WAIT_SOME:
		return strncasecmp(name, "MPI_Test", 8) != 0;
	default:
		return strcasecmp(name, "MPI_Probe") == 0 || strcasecmp(name, "MPI_Mprobe") == 0;
	}
}

/* The first call of one of the functions from `low` to before `high` in the order of names. */
static void find_call(sqlite3 *db, const char *low, const char *high, bool (*is)(const char *),
		      int64_t *ns, char name[64])
{
	static const char begin[] =
		"SELECT A.start, S.string FROM main.rocpd_api A JOIN main.rocpd_string S ON S.id = "
		"A.apiName_id WHERE A.start > 0 AND A.apiName_id IN (";
	sqlite3_stmt *stmt = NULL;
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;
	int nr = 0;

	*ns = 0;
	name[0] = 0;
	sqlite3_str_appendall(sql, begin);
	if (sqlite3_prepare_v2(
		    db, "SELECT id, string FROM main.rocpd_string WHERE string >= ? AND string < ?",
		    -1, &stmt, NULL) == SQLITE_OK) {
		sqlite3_bind_text(stmt, 1, low, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 2, high, -1, SQLITE_STATIC);
		while (sqlite3_step(stmt) == SQLITE_ROW) {
			const char *string = (const char *)sqlite3_column_text(stmt, 1);

			if (string && is(string))
				sqlite3_str_appendf(sql, "%s%lld", nr++ ? "," : "",
						    sqlite3_column_int64(stmt, 0));
		}
	}
	sqlite3_finalize(stmt);
	sqlite3_str_appendall(sql, ") ORDER BY A.start LIMIT 1");
	text = sqlite3_str_finish(sql);
	if (nr && text && sqlite3_prepare_v2(db, text, -1, &stmt, NULL) == SQLITE_OK) {
		if (sqlite3_step(stmt) == SQLITE_ROW) {
			*ns = sqlite3_column_int64(stmt, 0);
			snprintf(name, 64, "%s", (const char *)sqlite3_column_text(stmt, 1));
		}
		sqlite3_finalize(stmt);
	}
	sqlite3_free(text);
}

void wall_read(struct query *q, const struct slice *part, struct wall *w)
{
	*w = (struct wall){ .part = part_of(q) };
	read_whole(q, w);
	if (part && part->has_time) {
		w->begin = part->from_ns > w->begin ? part->from_ns : w->begin;
		w->end = part->to_ns < w->end ? part->to_ns : w->end;
		w->end = w->end < w->begin ? w->begin : w->end;
	}
	w->ns = (uint64_t)(w->end - w->begin);
	if (part && part->nr_spans) {
		w->ns = 0;
		for (size_t i = 0; i < part->nr_spans; i++)
			w->ns += (uint64_t)(part->spans[i].end - part->spans[i].begin);
	}
	w->work = w->begin;
	w->work_ns = w->ns;
	w->has_startup = !w->part && !(part && slice_is_set(part));
	if (w->has_startup)
		find_call(q->db, "MPI_", "MPI`", waits_for_rank, &w->waits_ns, w->until);
}

void wall_start(struct query *q, struct wall *w, int64_t first)
{
	if (!w->has_startup)
		return;
	if (w->waits_ns && (!first || w->waits_ns < first))
		first = w->waits_ns;
	else if (first)
		w->until[0] = 0;
	else
		find_call(q->db, "h", "i", kinds_synchronizes, &first, w->until);
	if (first <= w->begin || first >= w->end)
		return;
	w->work = first;
	w->startup_ns = (uint64_t)(first - w->begin);
	w->work_ns = w->ns - w->startup_ns;
}

const char *wall_until(const struct wall *w, char text[WALL_UNTIL])
{
	snprintf(text, WALL_UNTIL,
		 w->until[0] ? "%s(), the first call that waits" : "the first operation", w->until);
	return text;
}

const char *wall_first_sql(const struct query *q)
{
	return q->ours ?
		       "SELECT min(start) FROM rocpd_op WHERE gpuId >= 0 AND \"end\" >= start AND id "
		       "NOT IN (SELECT op_id FROM rtl_op_kernel WHERE flags & " KINDS_UNTIMED
		       " UNION ALL SELECT op_id FROM rtl_op_copy WHERE flags & " KINDS_UNTIMED ")" :
		       "SELECT min(start) FROM rocpd_op WHERE gpuId >= 0 AND \"end\" >= start";
}
