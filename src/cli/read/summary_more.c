/* SPDX-License-Identifier: MIT */
/* summary_more.c - a row for each process, rank, graph, kind of failed call, or time without work */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/summary.h"
#include "cli/ui.h"
#include "store/args.h"

/* ---- processes and ranks ---- */

enum {
	P_RANK,
	P_PID,
	P_WALL,
	P_KERNELS,
	P_KERNEL_TIME,
	P_COPIES,
	P_COPY_TIME,
	P_CALLS,
	P_CALL_TIME,
	P_ERRORS,
	P_NAME,
	P_OF_MEAN,
	P_NR
};

static const struct grid_column process_columns[P_NR] = {
	[P_RANK] = { "rank", "RANK", GRID_NUMBER, 8 },
	[P_PID] = { "pid", "PID", GRID_NUMBER },
	[P_WALL] = { "wall_ns", "WALL", GRID_TIME },
	[P_KERNELS] = { "kernels", "KERNELS", GRID_COUNT },
	[P_KERNEL_TIME] = { "kernel_ns", "KERNEL TIME", GRID_TIME },
	[P_COPIES] = { "copies", "COPIES", GRID_COUNT, 2 },
	[P_COPY_TIME] = { "copy_ns", "COPY TIME", GRID_TIME, 3 },
	[P_CALLS] = { "calls", "CALLS", GRID_COUNT, 4 },
	[P_CALL_TIME] = { "call_ns", "CALL TIME", GRID_TIME, 5 },
	[P_ERRORS] = { "errors", "ERRORS", GRID_COUNT, 6 },
	[P_NAME] = { "name", "COMMAND", GRID_NAME },
	[P_OF_MEAN] = { "of_mean", NULL, GRID_REAL },
};

/* The time of a process' kernels and copies. */
#define GPU_NS "sum(coalesce(kns, 0) + coalesce(cns, 0))"

/* Columns of a process, in the order above. */
static const char process_sql[] =
	"WITH op AS (SELECT id >> 32 AS block, description_id AS d, opType_id AS t, count(*) AS n, sum(CASE "
	"WHEN \"end\" > start THEN \"end\" - start ELSE 0 END) AS ns FROM rocpd_op GROUP BY 1, 2, 3), kind AS "
	"(SELECT block, n, ns, %s AS copy FROM op JOIN rocpd_string D ON D.id = d "
	"JOIN rocpd_string T ON T.id = t), ops AS (SELECT block, sum(n * (NOT copy)) AS k, sum(ns * (NOT "
	"copy)) AS kns, sum(n * copy) AS c, sum(ns * copy) AS cns FROM kind GROUP BY 1), calls AS (SELECT "
	"A.id >> 32 AS block, count(*) AS n, sum(CASE WHEN X.parent_id = 0 THEN A.end - A.start ELSE 0 END) "
	"AS ns, sum(X.status <> 0) AS bad FROM rtl_api_data X JOIN rocpd_api A ON A.id = X.api_id GROUP BY 1) "
	"SELECT %s, max(CASE WHEN P.end_ns > P.start_ns THEN P.end_ns - P.start_ns ELSE P.last_ns - "
	"P.first_ns END), sum(coalesce(k, 0)), sum(coalesce(kns, 0)), sum(coalesce(c, 0)), sum(coalesce(cns, "
	"0)), sum(coalesce(L.n, 0)), sum(coalesce(L.ns, 0)), sum(coalesce(L.bad, 0)), %s, " GPU_NS
	" / nullif(avg(" GPU_NS ") OVER (), 0) FROM rtl_process P "
	"LEFT JOIN ops ON ops.block BETWEEN P.id_first >> 32 AND P.id_last >> 32 LEFT JOIN calls L ON L.block "
	"BETWEEN P.id_first >> 32 AND P.id_last >> 32 GROUP BY %s ORDER BY 5 DESC, 1";

/* How uneven the work is: the most that a rank or process has, of the mean. */
static void say_slowest(bool ranks, size_t nr, int64_t slowest, double of_mean)
{
	if (nr > 1 && of_mean > 0)
		ui_say("%s %lld has the most work for GPUs: %.2f times the mean of the %zu %s",
		       ranks ? "rank" : "process", (long long)slowest, of_mean, nr,
		       ranks ? "ranks" : "processes");
}

size_t summary_more_processes(struct summary *s)
{
	bool ranks = s->by == SUMMARY_RANK;
	struct grid_column chosen[P_NR];
	struct grid *grid;
	sqlite3_stmt *stmt;
	int64_t slowest = 0;
	double most = 0;
	size_t nr = 0;
	char *sql;

	memcpy(chosen, process_columns, sizeof(chosen));
	if (ranks)
		chosen[P_PID] = (struct grid_column){ .key = "processes",
						      .title = "PROCESSES",
						      .unit = GRID_COUNT };
	if (!s->q->ours) {
		ui_say("%s: files of RPD do not describe processes", s->q->path);
		return 0;
	}
	sql = ui_format(process_sql, KINDS_IS_TRANSFER("T.string", "D.string"),
			ranks ? "P.rank, count(*)" : "P.rank, P.pid",
			ranks ? "min(P.host)" : "P.command", ranks ? "P.rank" : "P.id");
	if (ranks)
		chosen[P_NAME] = (struct grid_column){ .key = "name", .title = "HOST" };
	stmt = db_query(s->q, sql);
	grid = summary_grid(s, chosen, P_NR);
	while (db_step(s->q, stmt)) {
		struct grid_cell cells[P_NR] = { { 0 } };

		s->all_ns += (uint64_t)sqlite3_column_int64(stmt, P_KERNEL_TIME) +
			     (uint64_t)sqlite3_column_int64(stmt, P_COPY_TIME);
		for (int i = 0; i < P_NAME; i++)
			cells[i].num = (uint64_t)sqlite3_column_int64(stmt, i);
		cells[P_RANK].none = sqlite3_column_type(stmt, P_RANK) == SQLITE_NULL;
		cells[P_NAME].text = query_text(stmt, P_NAME);
		cells[P_OF_MEAN].real = sqlite3_column_double(stmt, P_OF_MEAN);
		cells[P_OF_MEAN].none = sqlite3_column_type(stmt, P_OF_MEAN) == SQLITE_NULL;
		if (cells[P_OF_MEAN].real > most && !(ranks && cells[P_RANK].none)) {
			most = cells[P_OF_MEAN].real;
			slowest = (int64_t)cells[ranks ? P_RANK : P_PID].num;
		}
		if (summary_adds(s, nr++))
			grid_row(grid, cells);
	}
	sqlite3_finalize(stmt);
	free(sql);
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	if (s->format == GRID_TEXT)
		say_slowest(ranks, nr, slowest, most);
	return nr;
}

/* ---- graphs ---- */

enum { G_TOTAL, G_LAUNCHES, G_MEAN, G_OPS, G_SPAN, G_HOST, G_ID, G_EXEC, G_NR };

static const struct grid_column graph_columns[G_NR] = {
	[G_TOTAL] = { "total_ns", "GPU TIME", GRID_TIME },
	[G_LAUNCHES] = { "launches", "LAUNCHES", GRID_COUNT },
	[G_MEAN] = { "mean_ns", "MEAN", GRID_TIME },
	[G_OPS] = { "ops", "OPS", GRID_COUNT },
	[G_SPAN] = { "span_mean_ns", "MEAN SPAN", GRID_TIME },
	[G_HOST] = { "call_mean_ns", "MEAN CALL", GRID_TIME, 1 },
	[G_ID] = { "graph", "GRAPH", GRID_NUMBER },
	[G_EXEC] = { "exec", "EXEC", GRID_NAME },
};

size_t summary_more_graphs(struct summary *s)
{
	static const char sql[] =
		"WITH launch AS (SELECT G.exec_id, G.exec, G.api_id, count(*) AS ops, sum(O.end - O.start) AS "
		"ns, max(O.end) - min(O.start) AS span FROM rtl_graph_op G JOIN rocpd_op O ON O.id = G.op_id "
		"GROUP BY G.api_id) SELECT sum(ns), count(*), avg(ns), sum(ops), avg(span), avg(A.end - "
		"A.start), exec_id, exec FROM launch L JOIN rocpd_api A ON A.id = L.api_id GROUP BY exec_id "
		"ORDER BY 1 DESC";
	sqlite3_stmt *stmt;
	struct grid *grid;
	size_t nr = 0;

	if (!s->q->ours || !query_has(s->q->db, "rtl_graph_op"))
		return 0;
	stmt = db_query(s->q, sql);
	grid = summary_grid(s, graph_columns, G_NR);
	while (db_step(s->q, stmt)) {
		struct grid_cell cells[G_NR] = { { 0 } };

		for (int i = 0; i < G_EXEC; i++)
			cells[i].num = (uint64_t)sqlite3_column_int64(stmt, i);
		s->all_ns += cells[G_TOTAL].num;
		cells[G_EXEC].text = query_text(stmt, G_EXEC);
		if (summary_adds(s, nr++))
			grid_row(grid, cells);
	}
	sqlite3_finalize(stmt);
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	return nr;
}

/* ---- failed calls ---- */

enum { E_COUNT, E_STATUS, E_ERROR, E_FIRST, E_NAME, E_NR };

static const struct grid_column error_columns[E_NR] = {
	[E_COUNT] = { "calls", "CALLS", GRID_COUNT },
	[E_STATUS] = { "status", "STATUS", GRID_NUMBER },
	[E_ERROR] = { "error", "ERROR", GRID_NAME },
	[E_FIRST] = { "first_ns", "FIRST AT", GRID_TIME },
	[E_NAME] = { "name", "FUNCTION", GRID_NAME },
};

const char *summary_more_error_name(const struct digest_error *e, char buf[32])
{
	/* an older name has the same value, and comes first in the enumeration */
	static const struct {
		int64_t status;
		const char *name;
	} renamed[] = { { 2, "hipErrorOutOfMemory" },
			{ 3, "hipErrorNotInitialized" },
			{ 205, "hipErrorMapFailed" },
			{ 400, "hipErrorInvalidHandle" } };
	const char *name = args_enum(e->status_type, (uint64_t)e->status);
	bool is_hip = strcmp(e->status_type, "hipError_t") == 0;

	for (size_t i = 0; is_hip && i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (renamed[i].status == e->status)
			name = renamed[i].name;
	snprintf(buf, 32, "error %lld", (long long)e->status);
	return name ? name : buf;
}

size_t summary_more_errors(struct summary *s)
{
	struct digest *d = summary_digest(s);
	struct grid *grid = summary_grid(s, error_columns, E_NR);

	for (size_t i = 0; i < d->nr_errors && summary_adds(s, i); i++) {
		const struct digest_error *e = &d->errors[i];
		struct grid_cell cells[E_NR] = { { 0 } };
		char buf[32];

		cells[E_COUNT].num = e->count;
		cells[E_STATUS].num = (uint64_t)e->status;
		cells[E_ERROR].text = summary_more_error_name(e, buf);
		cells[E_FIRST].num =
			e->first_ns > d->wall.begin ? (uint64_t)(e->first_ns - d->wall.begin) : 0;
		cells[E_NAME].text = e->function;
		grid_row(grid, cells);
	}
	if (d->nr_errors || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	return d->nr_errors;
}

/* ---- gaps ---- */

enum { A_GPU, A_BEGIN, A_TIME, A_SHARE, A_HOST, A_BEFORE, A_AFTER, A_NR };

static const struct grid_column gap_columns[A_NR] = {
	[A_GPU] = { "gpu", "GPU", GRID_NUMBER },
	[A_BEGIN] = { "begin_ns", "AT", GRID_TIME },
	[A_TIME] = { "gap_ns", "GAP", GRID_TIME },
	[A_SHARE] = { "share", "SHARE", GRID_SHARE, 1 },
	[A_HOST] = { "host", "THE HOST WAS IN", GRID_NAME },
	[A_BEFORE] = { "before", "BEHIND", GRID_NAME, 3, true },
	[A_AFTER] = { "after", "IN FRONT OF", GRID_NAME, 2, true },
};

static const char *name_of(struct digest *d, int64_t id)
{
	const char *name = digest_name(d, id);

	if (!name)
		ui_die_memory();
	return name;
}

char *summary_more_gap_host(struct digest *d, const struct digest_gap *g)
{
	uint64_t length = (uint64_t)(g->end - g->begin), in_calls = 0;
	char *text = ui_format("%s", "");

	for (int i = 0; i < DIGEST_HOST && g->host && g->host[i].ns; i++) {
		double share = length ? 100.0 * (double)g->host[i].ns / (double)length : 0;
		char *more;

		in_calls += g->host[i].ns;
		if (share < 5 || i >= 2)
			continue;
		more = ui_format("%s%s%s %.0f%%", text, *text ? ", " : "",
				 name_of(d, g->host[i].name), share > 100 ? 100 : share);
		free(text);
		text = more;
	}
	/* several threads may be in calls at once */
	if (in_calls < length / 2) {
		char *more = ui_format("%s%soutside of calls", text, *text ? ", else " : "");

		free(text);
		text = more;
	}
	return text;
}

static void add_gap_row(struct summary *s, struct grid *grid, const struct digest_lane *l,
			const struct digest_gap *g)
{
	struct digest *d = s->digest;
	struct grid_cell cells[A_NR] = { { 0 } };
	char *host = summary_more_gap_host(d, g);
	char *before = ui_format("%s", g->before < 0 ? "(begin)" : name_of(d, g->before));
	char *after = ui_format("%s", g->after < 0 ? "(end)" : name_of(d, g->after));

	cells[A_GPU] = (struct grid_cell){ .num = (uint64_t)l->gpu, .none = l->gpu < 0 };
	cells[A_BEGIN].num = (uint64_t)(g->begin - d->wall.begin);
	cells[A_TIME].num = (uint64_t)(g->end - g->begin);
	cells[A_SHARE] = (struct grid_cell){
		.real = d->wall.work_ns ? (double)(g->end - g->begin) / (double)d->wall.work_ns : 0,
		.none = !d->wall.work_ns
	};
	cells[A_HOST].text = host;
	cells[A_BEFORE].text = before;
	cells[A_AFTER].text = after;
	grid_row(grid, cells);
	free(host);
	free(before);
	free(after);
}

size_t summary_more_gaps(struct summary *s)
{
	struct digest *d = summary_digest(s);
	struct grid *grid = summary_grid(s, gap_columns, A_NR);
	size_t nr = 0;

	/* a program without operations has one gap, of no GPU */
	for (size_t i = d->nr_lanes > 1 ? 1 : 0; i < d->nr_lanes; i++) {
		struct digest_lane *l = &d->lanes[i];
		size_t most = s->rows && s->rows < l->nr_kept ? s->rows : l->nr_kept;

		db_check(d->q, digest_explain(d, l, most));
		for (size_t g = 0; g < most; g++)
			add_gap_row(s, grid, l, &l->gaps[g]);
		nr += l->nr_gaps;
		s->all_ns += l->idle_ns;
	}
	/* those of all GPUs, the longest first */
	grid_sort(grid, s->sort ? s->sort : "gap_ns");
	if (s->rows)
		grid_limit(grid, s->rows);
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	return nr;
}
