/* SPDX-License-Identifier: MIT */
/* table_counters.c - hardware counters and metrics of each kernel */
#include "analysis/tables_internal.h"

enum { C_KERNEL, C_COUNTER, C_DISPATCHES, C_MEAN, C_MIN, C_MAX, C_TOTAL, C_UNIT, C_NR };

static const struct sheet_column columns[C_NR] = {
	[C_KERNEL] = { "kernel", "KERNEL", SHEET_NAME, 0, true },
	[C_COUNTER] = { "counter", "COUNTER", SHEET_NAME },
	[C_DISPATCHES] = { "dispatches", "DISPATCHES", SHEET_COUNT },
	[C_MEAN] = { "mean", "MEAN", SHEET_REAL },
	[C_MIN] = { "min", "MIN", SHEET_REAL },
	[C_MAX] = { "max", "MAX", SHEET_REAL },
	[C_TOTAL] = { "total", "TOTAL", SHEET_REAL },
	[C_UNIT] = { "unit", "UNIT", SHEET_NAME },
};

/* The kernel that took the longest first; its counters in the order in which they were named. */
#define ROWS(unit, join)                                                                                     \
	"SELECT K.string, N.string, count(*), avg(C.value), min(C.value), max(C.value), sum(C.value), " unit \
	" FROM rocpd_counter C JOIN rocpd_op O ON O.id = C.op_id JOIN rocpd_string K ON K.id = "             \
	"O.description_id JOIN rocpd_string N ON N.id = C.name_id " join                                     \
	" GROUP BY K.string, N.string ORDER BY "                                                             \
	"sum(sum(O.\"end\" - O.start)) OVER (PARTITION BY K.string) DESC, K.string, min(C.id)"
static const char rows[] =
	ROWS("coalesce(max(U.unit), '')", "LEFT JOIN rtl_counter_name U ON U.id = C.name_id");
/* of databases without that table */
static const char rows_without_units[] = ROWS("''", "");

static int add_row(void *arg, sqlite3_stmt *row)
{
	struct sheet_cell cells[C_NR] = { { 0 } };

	cells[C_KERNEL].text = query_text(row, C_KERNEL);
	cells[C_COUNTER].text = query_text(row, C_COUNTER);
	cells[C_DISPATCHES].num = (uint64_t)sqlite3_column_int64(row, C_DISPATCHES);
	cells[C_UNIT].text = query_text(row, C_UNIT);
	for (int i = C_MEAN; i <= C_TOTAL; i++)
		cells[i].real = sqlite3_column_double(row, i);
	sheet_row(arg, cells);
	return 0;
}

int table_counters_end(struct tables_job *job)
{
	sqlite3 *db = job->t->q->db;

	sheet_columns(job->out, columns, C_NR);
	if (!query_has(db, "rocpd_counter"))
		return 0;
	return tables_rows(job->t, query_has(db, "rtl_counter_name") ? rows : rows_without_units,
			   add_row, job->out);
}
