/* SPDX-License-Identifier: MIT */
/* summary_path.c - the critical path: a row for each call, operation, launch and wait on it */
#include <stdlib.h>

#include "analysis/critical.h"
#include "cli/read/summary.h"
#include "cli/ui.h"

enum { C_TIME, C_SHARE, C_COUNT, C_MEAN, C_KIND, C_NAME, C_NR };

static const struct grid_column columns[C_NR] = {
	[C_TIME] = { "total_ns", "TIME", GRID_TIME },
	[C_SHARE] = { "share", "SHARE", GRID_SHARE },
	[C_COUNT] = { "count", "COUNT", GRID_COUNT },
	[C_MEAN] = { "mean_ns", "MEAN", GRID_TIME, 1 },
	[C_KIND] = { "kind", "KIND", GRID_NAME },
	[C_NAME] = { "name", "NAME", GRID_NAME, .symbol = true },
};

static const char *const kinds[] = {
	[CRITICAL_KERNEL] = "kernel", [CRITICAL_COPY] = "copy",	    [CRITICAL_CALL] = "call",
	[CRITICAL_HOST] = "host",     [CRITICAL_LAUNCH] = "launch", [CRITICAL_WAIT] = "wait",
};

/* malloc'd */
static char *name_of(struct summary *s, const struct critical_part *part)
{
	bool is_type = part->kind == CRITICAL_COPY || part->copy;
	sqlite3_stmt *stmt;
	char *name;

	if (part->kind == CRITICAL_HOST)
		return ui_format("outside of calls");
	stmt = db_query(s->q, is_type ? ROWS_TYPE_NAME : QUERY_STRING);
	name = ui_format("%s", query_look_up(stmt, part->name));
	sqlite3_finalize(stmt);
	return name;
}

static void read_path(struct summary *s, struct critical *c)
{
	if (!s->has_rows)
		db_check(s->q, rows_prepare(s->q));
	s->has_rows = true;
	db_check(s->q, critical_read(s->q, summary_wall(s).work, c));
}

size_t summary_path_print(struct summary *s)
{
	struct grid *grid = summary_grid(s, columns, C_NR);
	struct critical c;
	uint64_t length;
	size_t nr;

	read_path(s, &c);
	length = (uint64_t)(c.end - c.begin);
	s->all_ns = length;
	for (size_t i = 0; i < c.nr && summary_adds(s, i); i++) {
		const struct critical_part *part = &c.parts[i];
		struct grid_cell cells[C_NR] = { { 0 } };
		char *name = name_of(s, part);

		cells[C_TIME].num = part->ns;
		cells[C_SHARE] =
			(struct grid_cell){ .real = length ? (double)part->ns / (double)length : 0,
					    .none = !length };
		cells[C_COUNT].num = part->count;
		cells[C_MEAN].num = part->ns / part->count;
		cells[C_KIND].text = kinds[part->kind];
		cells[C_NAME].text = name;
		grid_row(grid, cells);
		free(name);
	}
	nr = c.nr;
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	critical_fini(&c);
	return nr;
}
