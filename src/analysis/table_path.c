/* SPDX-License-Identifier: MIT */
/* table_path.c - the critical path: a row for each call, operation, launch and wait on it */
#include "analysis/critical.h"
#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "query/rows.h"

enum { C_TIME, C_SHARE, C_COUNT, C_MEAN, C_KIND, C_NAME, C_NR };

static const struct sheet_column columns[C_NR] = {
	[C_TIME] = { "total_ns", "TIME", SHEET_TIME },
	[C_SHARE] = { "share", "SHARE", SHEET_SHARE },
	[C_COUNT] = { "count", "COUNT", SHEET_COUNT },
	[C_MEAN] = { "mean_ns", "MEAN", SHEET_TIME, 1 },
	[C_KIND] = { "kind", "KIND", SHEET_NAME },
	[C_NAME] = { "name", "NAME", SHEET_NAME, .symbol = true },
};

static const char *const kinds[] = {
	[CRITICAL_KERNEL] = "kernel", [CRITICAL_COPY] = "copy",	    [CRITICAL_CALL] = "call",
	[CRITICAL_HOST] = "host",     [CRITICAL_LAUNCH] = "launch", [CRITICAL_WAIT] = "wait",
};

/* The caller's to free. */
static int name_of(struct query *q, const struct critical_part *part, char **out)
{
	bool is_type = part->kind == CRITICAL_COPY || part->copy;
	sqlite3_stmt *stmt = NULL;
	int ret = 0;

	if (part->kind != CRITICAL_HOST)
		ret = query_prepare(q, &stmt, is_type ? ROWS_TYPE_NAME : QUERY_STRING);
	*out = ret ? NULL :
		     alloc_string(stmt ? query_look_up(stmt, part->name) : "outside of calls");
	sqlite3_finalize(stmt);
	return ret ? ret : *out ? 0 : query_fail_memory(q);
}

static int read_path(struct tables *t, struct critical *c)
{
	int ret = t->has_rows ? 0 : rows_prepare(t->q);

	t->has_rows = true;
	return ret ? ret : critical_read(t->q, tables_wall(t).work, c);
}

static int add_row(struct tables_job *job, const struct critical_part *part)
{
	uint64_t length = job->out->all_ns;
	struct sheet_cell cells[C_NR] = { { 0 } };
	char *name;
	int ret = name_of(job->t->q, part, &name);

	if (ret)
		return ret;
	cells[C_TIME].num = part->ns;
	cells[C_SHARE] =
		(struct sheet_cell){ .real = length ? (double)part->ns / (double)length : 0,
				     .none = !length };
	cells[C_COUNT].num = part->count;
	cells[C_MEAN].num = part->ns / part->count;
	cells[C_KIND].text = kinds[part->kind];
	cells[C_NAME].text = name;
	sheet_row(job->out, cells);
	alloc_free(name);
	return 0;
}

int table_path_end(struct tables_job *job)
{
	struct critical c = { 0 };
	int ret = read_path(job->t, &c);

	sheet_columns(job->out, columns, C_NR);
	if (ret == 0)
		job->out->all_ns = (uint64_t)(c.end - c.begin);
	for (size_t i = 0; ret == 0 && i < c.nr; i++)
		ret = add_row(job, &c.parts[i]);
	critical_fini(&c);
	if (ret == 0 && digest_lacks_calls(job->t->q))
		sheet_note(
			job->out,
			"calls of HIP were left out of the recording (--calls): their time is \"outside of calls\", and what waits for them is not known");
	return ret;
}
