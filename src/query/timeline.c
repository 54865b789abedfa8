/* SPDX-License-Identifier: MIT */
/* timeline.c - rows of a trace in the order of their begin
 *
 * Each process has a cursor with a window of its next rows, as runs of rows in order, of which the earliest is passed on.
 */
#include "query/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { WINDOW = 64 << 10, MAX_CURSORS = 256, MAX_RUNS = 128, NONE = UINT32_MAX };

struct item {
	int64_t v[TIMELINE_COLUMNS];
	uint32_t next; /* of its run, or of the free ones */
};

/* Rows in order: those of a thread's chunk, mostly. */
struct run {
	int64_t first_ns, last_ns; /* begins of its first and last row */
	uint32_t first, last;
};

struct cursor {
	sqlite3_stmt *stmt;
	struct item *items;
	size_t nr, max;
	uint32_t free;
	struct run runs[MAX_RUNS];
	size_t nr_runs, hot, nr_columns; /* hot: the run that took the last row */
	bool done;
	int64_t passed; /* the begin of the last row that was passed on */
};

/* The run that a row can be added to: the one whose last row is nearest. -EAGAIN: there are too many. */
static int choose_run(struct cursor *c, int64_t begin, struct run **out)
{
	struct run *best = &c->runs[c->hot];

	/* rows are in order for long stretches: the next one is behind that before it */
	if (c->hot < c->nr_runs && best->last_ns <= begin && c->nr_runs == 1) {
		*out = best;
		return 0;
	}
	best = NULL;
	for (size_t i = 0; i < c->nr_runs; i++) {
		struct run *r = &c->runs[i];

		if (r->last_ns <= begin && (!best || r->last_ns > best->last_ns))
			best = r;
	}
	if (!best) {
		if (c->nr_runs == MAX_RUNS)
			return -EAGAIN;
		best = &c->runs[c->nr_runs++];
		*best = (struct run){ .first = NONE, .last = NONE };
	}
	c->hot = (size_t)(best - c->runs);
	*out = best;
	return 0;
}

/* One more row. -EAGAIN: it belongs in front of rows that were passed on. */
static int take_row(struct query *q, struct cursor *c)
{
	uint32_t at = c->free;
	struct item *item = &c->items[at];
	int ret = query_step(q, c->stmt);
	struct run *run;

	if (ret <= 0) {
		c->done = true;
		return ret;
	}
	for (size_t i = 0; i < c->nr_columns; i++)
		item->v[i] = sqlite3_column_int64(c->stmt, (int)i);
	if (item->v[0] < c->passed)
		return -EAGAIN;
	ret = choose_run(c, item->v[0], &run);
	if (ret)
		return ret;
	c->free = item->next;
	item->next = NONE;
	if (run->last == NONE) {
		run->first = at;
		run->first_ns = item->v[0];
	} else {
		c->items[run->last].next = at;
	}
	run->last = at;
	run->last_ns = item->v[0];
	c->nr++;
	return 0;
}

/* The run with the earliest row, NULL: there is none. */
static struct run *earliest_run(struct cursor *c)
{
	struct run *first = c->nr_runs ? &c->runs[0] : NULL;

	for (size_t i = 1; i < c->nr_runs; i++)
		if (c->runs[i].first_ns < first->first_ns)
			first = &c->runs[i];
	return first;
}

/* Removes the first row of a run; its bytes stay until the next row is taken. */
static const int64_t *pass_row(struct cursor *c, struct run *run)
{
	uint32_t at = run->first;
	struct item *item = &c->items[at];

	c->passed = item->v[0];
	run->first = item->next;
	if (run->first == NONE) {
		*run = c->runs[--c->nr_runs];
		c->hot = 0;
	} else {
		run->first_ns = c->items[run->first].v[0];
	}
	item->next = c->free;
	c->free = at;
	c->nr--;
	return item->v;
}

static int open_cursors(struct query *q, const char *sql, struct cursor *cursors, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		struct cursor *c = &cursors[i];

		c->max = WINDOW / nr < 256 ? 256 : WINDOW / nr;
		c->passed = INT64_MIN;
		c->items = alloc_heap((c->max + 1) * sizeof(*c->items));
		ret = c->items ? query_prepare(q, &c->stmt, sql) : query_fail_memory(q);
		if (ret)
			break;
		memset(c->items, 0, (c->max + 1) * sizeof(*c->items));
		for (size_t n = 0; n <= c->max; n++)
			c->items[n].next = n < c->max ? (uint32_t)n + 1 : NONE;
		c->nr_columns = (size_t)sqlite3_column_count(c->stmt);
		if (c->nr_columns > TIMELINE_COLUMNS)
			c->nr_columns = TIMELINE_COLUMNS;
		sqlite3_bind_int64(c->stmt, 1, nr > 1 ? q->processes[i].id_first : INT64_MIN);
		sqlite3_bind_int64(c->stmt, 2, nr > 1 ? q->processes[i].id_last : INT64_MAX);
		while (ret == 0 && !c->done && c->nr < c->max)
			ret = take_row(q, c);
	}
	return ret;
}

static int merge_cursors(struct query *q, struct cursor *cursors, size_t nr, timeline_fn each,
			 void *arg)
{
	int ret = 0;

	while (ret == 0) {
		struct cursor *from = NULL;
		struct run *first = NULL;

		for (size_t i = 0; i < nr; i++) {
			struct run *run = earliest_run(&cursors[i]);

			if (run && (!first || run->first_ns < first->first_ns)) {
				first = run;
				from = &cursors[i];
			}
		}
		if (!first)
			return 0;
		ret = each(arg, pass_row(from, first));
		if (ret == 0 && !from->done)
			ret = take_row(q, from);
	}
	return ret;
}

static int read_sorted(struct query *q, const char *sql, timeline_fn each, void *arg)
{
	char *sorted = sqlite3_mprintf("%s ORDER BY 1", sql);
	sqlite3_stmt *row = NULL;
	int nr, ret = sorted ? query_prepare(q, &row, sorted) : query_fail_memory(q);

	sqlite3_free(sorted);
	if (ret)
		return ret;
	sqlite3_bind_int64(row, 1, INT64_MIN);
	sqlite3_bind_int64(row, 2, INT64_MAX);
	nr = sqlite3_column_count(row);
	while ((ret = query_step(q, row)) == 1) {
		int64_t v[TIMELINE_COLUMNS] = { 0 };

		for (int i = 0; i < nr && i < TIMELINE_COLUMNS; i++)
			v[i] = sqlite3_column_int64(row, i);
		ret = each(arg, v);
		if (ret)
			break;
	}
	sqlite3_finalize(row);
	return ret;
}

int timeline_read(struct query *q, const char *sql, timeline_fn each, void (*reset)(void *arg),
		  void *arg)
{
	size_t nr = q->nr_processes > 1 ? q->nr_processes : 1;
	struct cursor *cursors;
	int ret;

	if (nr > MAX_CURSORS)
		return read_sorted(q, sql, each, arg);
	cursors = alloc_zero(nr, sizeof(*cursors));
	if (!cursors)
		return query_fail_memory(q);
	ret = open_cursors(q, sql, cursors, nr);
	if (ret == 0)
		ret = merge_cursors(q, cursors, nr, each, arg);
	for (size_t i = 0; i < nr; i++) {
		sqlite3_finalize(cursors[i].stmt);
		alloc_free(cursors[i].items);
	}
	alloc_free(cursors);
	if (ret != -EAGAIN)
		return ret;
	reset(arg);
	return read_sorted(q, sql, each, arg);
}
