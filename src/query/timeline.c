/* SPDX-License-Identifier: MIT */
/* timeline.c - rows of a trace in the order of their begin
 *
 * Each process has a cursor with a heap of its next rows, of which the earliest is passed on.
 */
#include "query/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { WINDOW = 64 << 10, MAX_CURSORS = 256 };

struct item {
	int64_t v[TIMELINE_COLUMNS];
};

struct cursor {
	sqlite3_stmt *stmt;
	struct item *heap; /* the earliest first */
	size_t nr, max;
	bool done;
	int64_t passed; /* the begin of the last row that was passed on */
};

static void push_item(struct cursor *c, const struct item *item)
{
	size_t at = c->nr++;

	while (at && c->heap[(at - 1) / 2].v[0] > item->v[0]) {
		c->heap[at] = c->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	c->heap[at] = *item;
}

static void pop_item(struct cursor *c, struct item *out)
{
	struct item last = c->heap[--c->nr];
	size_t at = 0;

	*out = c->heap[0];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= c->nr)
			break;
		if (child + 1 < c->nr && c->heap[child + 1].v[0] < c->heap[child].v[0])
			child++;
		if (c->heap[child].v[0] >= last.v[0])
			break;
		c->heap[at] = c->heap[child];
		at = child;
	}
	c->heap[at] = last;
}

/* One more row into the heap. -EAGAIN: it belongs in front of rows that were passed on. */
static int take_row(struct query *q, struct cursor *c)
{
	struct item item = { { 0 } };
	int nr, ret = query_step(q, c->stmt);

	if (ret <= 0) {
		c->done = true;
		return ret;
	}
	nr = sqlite3_column_count(c->stmt);
	for (int i = 0; i < nr && i < TIMELINE_COLUMNS; i++)
		item.v[i] = sqlite3_column_int64(c->stmt, i);
	if (item.v[0] < c->passed)
		return -EAGAIN;
	push_item(c, &item);
	return 0;
}

static int open_cursors(struct query *q, const char *sql, struct cursor *cursors, size_t nr)
{
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		struct cursor *c = &cursors[i];

		c->max = WINDOW / nr < 256 ? 256 : WINDOW / nr;
		c->passed = INT64_MIN;
		c->heap = alloc_heap(c->max * sizeof(*c->heap));
		ret = c->heap ? query_prepare(q, &c->stmt, sql) : query_fail_memory(q);
		if (ret)
			break;
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
		struct cursor *first = NULL;
		struct item item;

		for (size_t i = 0; i < nr; i++)
			if (cursors[i].nr &&
			    (!first || cursors[i].heap[0].v[0] < first->heap[0].v[0]))
				first = &cursors[i];
		if (!first)
			return 0;
		pop_item(first, &item);
		first->passed = item.v[0];
		ret = each(arg, item.v);
		if (ret == 0 && !first->done)
			ret = take_row(q, first);
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
		alloc_free(cursors[i].heap);
	}
	alloc_free(cursors);
	if (ret != -EAGAIN)
		return ret;
	reset(arg);
	return read_sorted(q, sql, each, arg);
}
