/* SPDX-License-Identifier: MIT */
/* wall.c - the time that a trace is about */
#include "analysis/wall.h"

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
}

void wall_start(struct wall *w, int64_t first)
{
	if (!w->has_startup || first <= w->begin || first >= w->end)
		return;
	w->work = first;
	w->startup_ns = (uint64_t)(first - w->begin);
	w->work_ns = w->ns - w->startup_ns;
}

const char *wall_first_sql(const struct query *q)
{
	return q->ours ?
		       "SELECT min(start) FROM rocpd_op WHERE gpuId >= 0 AND \"end\" >= start AND id "
		       "NOT IN (SELECT op_id FROM rtl_op_kernel WHERE flags & " KINDS_UNTIMED
		       " UNION ALL SELECT op_id FROM rtl_op_copy WHERE flags & " KINDS_UNTIMED ")" :
		       "SELECT min(start) FROM rocpd_op WHERE gpuId >= 0 AND \"end\" >= start";
}
