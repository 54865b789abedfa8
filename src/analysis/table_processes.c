/* SPDX-License-Identifier: MIT */
/* table_processes.c - a row for each process or rank */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/tables_internal.h"
#include "base/alloc.h"

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

static const struct sheet_column columns[P_NR] = {
	[P_RANK] = { "rank", "RANK", SHEET_NUMBER, 8 },
	[P_PID] = { "pid", "PID", SHEET_NUMBER },
	[P_WALL] = { "wall_ns", "WALL", SHEET_TIME },
	[P_KERNELS] = { "kernels", "KERNELS", SHEET_COUNT },
	[P_KERNEL_TIME] = { "kernel_ns", "KERNEL TIME", SHEET_TIME },
	[P_COPIES] = { "copies", "COPIES", SHEET_COUNT, 2 },
	[P_COPY_TIME] = { "copy_ns", "COPY TIME", SHEET_TIME, 3 },
	[P_CALLS] = { "calls", "CALLS", SHEET_COUNT, 4 },
	[P_CALL_TIME] = { "call_ns", "CALL TIME", SHEET_TIME, 5 },
	[P_ERRORS] = { "errors", "ERRORS", SHEET_COUNT, 6 },
	[P_NAME] = { "name", "COMMAND", SHEET_NAME },
	[P_OF_MEAN] = { "of_mean", NULL, SHEET_REAL },
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

struct processes {
	struct sheet *out;
	bool ranks;
	int64_t slowest; /* the rank or pid with the most work for GPUs */
	double most;	 /* its work, of the mean */
};

static int add_row(void *arg, sqlite3_stmt *row)
{
	struct processes *p = arg;
	struct sheet_cell cells[P_NR] = { { 0 } };

	p->out->all_ns += (uint64_t)sqlite3_column_int64(row, P_KERNEL_TIME) +
			  (uint64_t)sqlite3_column_int64(row, P_COPY_TIME);
	for (int i = 0; i < P_NAME; i++)
		cells[i].num = (uint64_t)sqlite3_column_int64(row, i);
	cells[P_RANK].none = sqlite3_column_type(row, P_RANK) == SQLITE_NULL;
	cells[P_NAME].text = query_text(row, P_NAME);
	cells[P_OF_MEAN].real = sqlite3_column_double(row, P_OF_MEAN);
	cells[P_OF_MEAN].none = sqlite3_column_type(row, P_OF_MEAN) == SQLITE_NULL;
	if (cells[P_OF_MEAN].real > p->most && !(p->ranks && cells[P_RANK].none)) {
		p->most = cells[P_OF_MEAN].real;
		p->slowest = (int64_t)cells[p->ranks ? P_RANK : P_PID].num;
	}
	sheet_row(p->out, cells);
	return 0;
}

int table_processes_end(struct tables_job *job)
{
	struct processes p = { .out = job->out, .ranks = job->kind == TABLES_RANK };
	char sql[sizeof(process_sql) + 1024];
	int ret;

	sheet_columns(job->out, columns, P_NR);
	if (!job->t->q->ours) {
		sheet_missing(job->out, "files of RPD do not describe processes");
		return 0;
	}
	if (p.ranks) {
		job->out->columns[P_PID] = (struct sheet_column){ .key = "processes",
								  .title = "PROCESSES",
								  .unit = SHEET_COUNT };
		job->out->columns[P_NAME] = (struct sheet_column){ .key = "name", .title = "HOST" };
	}
	snprintf(sql, sizeof(sql), process_sql, KINDS_IS_TRANSFER("T.string", "D.string"),
		 p.ranks ? "P.rank, count(*)" : "P.rank, P.pid",
		 p.ranks ? "min(P.host)" : "P.command", p.ranks ? "P.rank" : "P.id");
	ret = tables_rows(job->t, sql, add_row, &p);
	/* how uneven the work is: the most that a rank or process has, of the mean */
	if (ret == 0 && job->out->nr > 1 && p.most > 0)
		sheet_note(job->out,
			   "%s %lld has the most work for GPUs: %.2f times the mean of the %zu %s",
			   p.ranks ? "rank" : "process", (long long)p.slowest, p.most, job->out->nr,
			   p.ranks ? "ranks" : "processes");
	return ret;
}
