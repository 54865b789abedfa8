/* SPDX-License-Identifier: MIT */
/* summary_counter.c - hardware counters and metrics of each kernel */
#include <stdlib.h>
#include <unistd.h>

#include "cli/read/summary.h"
#include "cli/ui.h"

enum { C_KERNEL, C_COUNTER, C_DISPATCHES, C_MEAN, C_MIN, C_MAX, C_TOTAL, C_UNIT, C_NR };

static const struct grid_column columns[C_NR] = {
	[C_KERNEL] = { "kernel", "KERNEL", GRID_NAME, 0, true },
	[C_COUNTER] = { "counter", "COUNTER", GRID_NAME },
	[C_DISPATCHES] = { "dispatches", "DISPATCHES", GRID_COUNT },
	[C_MEAN] = { "mean", "MEAN", GRID_REAL },
	[C_MIN] = { "min", "MIN", GRID_REAL },
	[C_MAX] = { "max", "MAX", GRID_REAL },
	[C_TOTAL] = { "total", "TOTAL", GRID_REAL },
	[C_UNIT] = { "unit", "UNIT", GRID_NAME },
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

static void add_row(struct grid *grid, sqlite3_stmt *stmt)
{
	struct grid_cell cells[C_NR] = { { 0 } };

	cells[C_KERNEL].text = query_text(stmt, C_KERNEL);
	cells[C_COUNTER].text = query_text(stmt, C_COUNTER);
	cells[C_DISPATCHES].num = (uint64_t)sqlite3_column_int64(stmt, C_DISPATCHES);
	cells[C_UNIT].text = query_text(stmt, C_UNIT);
	for (int i = C_MEAN; i <= C_TOTAL; i++)
		cells[i].real = sqlite3_column_double(stmt, i);
	grid_row(grid, cells);
}

size_t summary_counter_print(struct summary *s)
{
	bool has_units = query_has(s->q->db, "rtl_counter_name");
	sqlite3_stmt *stmt = query_has(s->q->db, "rocpd_counter") ?
				     db_query(s->q, has_units ? rows : rows_without_units) :
				     NULL;
	struct grid *grid = summary_grid(s, columns, C_NR);
	size_t nr = 0;

	while (stmt && db_step(s->q, stmt)) {
		if (summary_adds(s, nr))
			add_row(grid, stmt);
		nr++;
	}
	sqlite3_finalize(stmt);
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	return nr;
}
