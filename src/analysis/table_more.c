/* SPDX-License-Identifier: MIT */
/* table_more.c - a row for each graph, kind of failed call, or time without work */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables_internal.h"
#include "base/alloc.h"

/* ---- graphs ---- */

enum { G_TOTAL, G_LAUNCHES, G_MEAN, G_OPS, G_SPAN, G_HOST, G_ID, G_EXEC, G_NR };

static const struct sheet_column graph_columns[G_NR] = {
	[G_TOTAL] = { "total_ns", "GPU TIME", SHEET_TIME },
	[G_LAUNCHES] = { "launches", "LAUNCHES", SHEET_COUNT },
	[G_MEAN] = { "mean_ns", "MEAN", SHEET_TIME },
	[G_OPS] = { "ops", "OPS", SHEET_COUNT },
	[G_SPAN] = { "span_mean_ns", "MEAN SPAN", SHEET_TIME },
	[G_HOST] = { "call_mean_ns", "MEAN CALL", SHEET_TIME, 1 },
	[G_ID] = { "graph", "GRAPH", SHEET_NUMBER },
	[G_EXEC] = { "exec", "EXEC", SHEET_NAME },
};

static int add_graph(void *arg, sqlite3_stmt *row)
{
	struct sheet_cell cells[G_NR] = { { 0 } };
	struct sheet *out = arg;

	for (int i = 0; i < G_EXEC; i++)
		cells[i].num = (uint64_t)sqlite3_column_int64(row, i);
	out->all_ns += cells[G_TOTAL].num;
	cells[G_EXEC].text = query_text(row, G_EXEC);
	sheet_row(out, cells);
	return 0;
}

int table_more_graphs(struct tables_job *job)
{
	static const char sql[] =
		"WITH launch AS (SELECT G.exec_id, G.exec, G.api_id, count(*) AS ops, sum(O.end - O.start) AS "
		"ns, max(O.end) - min(O.start) AS span FROM rtl_graph_op G JOIN rocpd_op O ON O.id = G.op_id "
		"GROUP BY G.api_id) SELECT sum(ns), count(*), avg(ns), sum(ops), avg(span), avg(A.end - "
		"A.start), exec_id, exec FROM launch L JOIN rocpd_api A ON A.id = L.api_id GROUP BY exec_id "
		"ORDER BY 1 DESC";
	struct query *q = job->t->q;

	sheet_columns(job->out, graph_columns, G_NR);
	if (!q->ours || !query_has(q->db, "rtl_graph_op"))
		return 0;
	return tables_rows(job->t, sql, add_graph, job->out);
}

/* ---- failed calls ---- */

enum { E_COUNT, E_STATUS, E_ERROR, E_FIRST, E_NAME, E_NR };

static const struct sheet_column error_columns[E_NR] = {
	[E_COUNT] = { "calls", "CALLS", SHEET_COUNT },
	[E_STATUS] = { "status", "STATUS", SHEET_NUMBER },
	[E_ERROR] = { "error", "ERROR", SHEET_NAME },
	[E_FIRST] = { "first_ns", "FIRST AT", SHEET_TIME },
	[E_NAME] = { "name", "FUNCTION", SHEET_NAME },
};

int table_more_errors(struct tables_job *job)
{
	struct digest *d;
	int ret = tables_digest(job->t, &d);

	sheet_columns(job->out, error_columns, E_NR);
	for (size_t i = 0; ret == 0 && i < d->nr_errors; i++) {
		const struct digest_error *e = &d->errors[i];
		struct sheet_cell cells[E_NR] = { { 0 } };
		char buf[32];

		cells[E_COUNT].num = e->count;
		cells[E_STATUS].num = (uint64_t)e->status;
		cells[E_ERROR].text = tables_error_name(e, buf);
		cells[E_FIRST].num =
			e->first_ns > d->wall.begin ? (uint64_t)(e->first_ns - d->wall.begin) : 0;
		cells[E_NAME].text = e->function;
		sheet_row(job->out, cells);
	}
	return ret;
}

/* ---- gaps ---- */

enum { HOST_NAME = 300 }; /* bytes of a function's name */

enum { A_GPU, A_BEGIN, A_TIME, A_SHARE, A_HOST, A_BEFORE, A_AFTER, A_NR };

static const struct sheet_column gap_columns[A_NR] = {
	[A_GPU] = { "gpu", "GPU", SHEET_NUMBER },
	[A_BEGIN] = { "begin_ns", "AT", SHEET_TIME },
	[A_TIME] = { "gap_ns", "GAP", SHEET_TIME },
	[A_SHARE] = { "share", "SHARE", SHEET_SHARE, 1 },
	[A_HOST] = { "host", "THE HOST WAS IN", SHEET_NAME },
	[A_BEFORE] = { "before", "BEHIND", SHEET_NAME, 3, true },
	[A_AFTER] = { "after", "IN FRONT OF", SHEET_NAME, 2, true },
};

/* What the host did in an explained gap: "hipFree 40%, outside of calls". */
static int host_of(struct digest *d, const struct digest_gap *g, char *text, size_t size)
{
	uint64_t length = (uint64_t)(g->end - g->begin), in_calls = 0;
	size_t used = 0;

	*text = 0;
	for (int i = 0; i < DIGEST_HOST && g->host && g->host[i].ns; i++) {
		double share = length ? 100.0 * (double)g->host[i].ns / (double)length : 0;
		const char *name;

		in_calls += g->host[i].ns;
		if (share < 5 || i >= 2)
			continue;
		name = digest_name(d, g->host[i].name);
		if (!name)
			return -ENOMEM;
		used += (size_t)snprintf(text + used, size - used, "%s%.*s %.0f%%",
					 used ? ", " : "", HOST_NAME, name,
					 share > 100 ? 100 : share);
	}
	/* several threads may be in calls at once; of a trace without calls nothing is known */
	if (in_calls < length / 2 && d->nr_calls)
		snprintf(text + used, size - used, "%soutside of %scalls", used ? ", else " : "",
			 d->has_all_calls ? "" : "recorded ");
	return 0;
}

/* The caller's to free; NULL: out of memory. */
static char *name_of(struct digest *d, int64_t id, const char *otherwise)
{
	const char *name = id < 0 ? otherwise : digest_name(d, id);

	return name ? alloc_string(name) : NULL;
}

static int add_gap(struct tables_job *job, struct digest *d, const struct digest_gpu *l,
		   const struct digest_gap *g)
{
	struct sheet_cell cells[A_NR] = { { 0 } };
	char host[3 * HOST_NAME], *before = name_of(d, g->before, "(begin)");
	char *after = name_of(d, g->after, "(end)");
	int ret = before && after ? host_of(d, g, host, sizeof(host)) : -ENOMEM;

	cells[A_GPU] = (struct sheet_cell){ .num = (uint64_t)l->gpu, .none = l->gpu < 0 };
	cells[A_BEGIN].num = (uint64_t)(g->begin - d->wall.begin);
	cells[A_TIME].num = (uint64_t)(g->end - g->begin);
	cells[A_SHARE] = (struct sheet_cell){
		.real = d->wall.work_ns ? (double)(g->end - g->begin) / (double)d->wall.work_ns : 0,
		.none = !d->wall.work_ns
	};
	cells[A_HOST].text = host;
	cells[A_BEFORE].text = before;
	cells[A_AFTER].text = after;
	if (ret == 0)
		sheet_row(job->out, cells);
	alloc_free(before);
	alloc_free(after);
	return ret ? query_fail_memory(d->q) : 0;
}

int table_more_gaps(struct tables_job *job)
{
	uint64_t most = job->t->most;
	struct sheet *out = job->out;
	struct digest *d;
	size_t nr = 0;
	int ret = tables_digest(job->t, &d);

	sheet_columns(out, gap_columns, A_NR);
	/* of each GPU the longest; then those of all GPUs */
	out->most = 0;
	/* a program without operations has one gap, of no GPU */
	for (size_t i = ret == 0 && d->nr_gpus > 1 ? 1 : 0; ret == 0 && i < d->nr_gpus; i++) {
		struct digest_gpu *l = &d->gpus[i];
		size_t listed = most && most < l->nr_kept ? most : l->nr_kept;

		ret = digest_explain(d, l, listed);
		for (size_t g = 0; ret == 0 && g < listed; g++)
			ret = add_gap(job, d, l, &l->gaps[g]);
		nr += l->nr_gaps;
		out->all_ns += l->idle_ns;
	}
	if (ret)
		return ret;
	out->nr = nr;
	if (!job->t->is_sorted) {
		sheet_sort(out, "gap_ns");
		if (most)
			sheet_limit(out, most);
	}
	return 0;
}
