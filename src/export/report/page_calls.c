/* SPDX-License-Identifier: MIT */
/* page_calls.c - calls and ranges as slices: two lanes for each thread */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/report/page_internal.h"

struct call_writer {
	struct page *page;
	bool open;
	int64_t pid, tid; /* of the last row */
	struct page_lane *calls, *ranges;
	sqlite3_stmt *args, *thread;
};

static int end_lanes(struct call_writer *w)
{
	int ret = page_lane_end(w->ranges), error = page_lane_end(w->calls);

	w->ranges = w->calls = NULL;
	return ret ? ret : error;
}

static struct page_lane *begin_lane(struct call_writer *w, bool ranges)
{
	const struct query *q = w->page->q;
	char group[512], name[160];
	const char *thread = "";

	snprintf(group, sizeof(group), "process %lld", (long long)w->pid);
	for (size_t i = 0; i < q->nr_processes; i++)
		if (q->processes[i].pid == w->pid)
			snprintf(group, sizeof(group), "%s", q->processes[i].name);
	if (w->thread) {
		sqlite3_reset(w->thread);
		sqlite3_bind_int64(w->thread, 1, w->pid);
		sqlite3_bind_int64(w->thread, 2, w->tid);
		if (sqlite3_step(w->thread) == SQLITE_ROW)
			thread = query_text(w->thread, 0);
	}
	snprintf(name, sizeof(name), "%s of thread %lld%s%s%s", ranges ? "ranges" : "calls",
		 (long long)w->tid, *thread ? " (" : "", thread, *thread ? ")" : "");
	return page_lane_begin(w->page, ranges ? PAGE_RANGES : PAGE_CALLS, group, name, w->pid);
}

static int64_t find_name(struct page *page, const struct rows_call *row)
{
	int64_t name = page_names_of(&page->names, row->marker ? PAGE_MESSAGE : PAGE_STRING,
				     row->marker ? row->args : row->name);

	return name ? name : page_names_add(&page->names, PAGE_UNNAMED);
}

static int take_call(void *arg, const struct rows_call *row)
{
	struct call_writer *w = arg;
	struct page *page = w->page;
	bool marker = row->marker != 0, timed = row->end >= row->start;
	int64_t begin = row->start < page->t0 ? page->t0 : row->start;
	struct page_slice slice = {
		.begin = begin - page->t0,
		.duration = timed ? row->end - begin : 0,
		.name = find_name(page, row),
		.flags = marker ? (row->unclosed ? REC_F_UNFINISHED : 0) :
			 !timed ? REC_F_INVERTED :
				  0,
		.id = row->id,
		.call = marker ? 0 : row->parent,
		.extra = marker ? row->kind : row->status,
	};
	struct page_lane **lane = marker ? &w->ranges : &w->calls;
	const char *args = NULL;
	int ret = 0;

	if (slice.name < 0)
		return -ENOMEM;
	if (!w->open || w->pid != row->pid || w->tid != row->tid) {
		ret = end_lanes(w);
		w->open = true;
		w->pid = row->pid;
		w->tid = row->tid;
	}
	if (ret == 0 && !*lane) {
		*lane = begin_lane(w, marker);
		ret = *lane ? 0 : -ENOMEM;
	}
	if (!marker && page->args)
		args = query_look_up(w->args, row->args);
	return ret == 0 ? page_lane_add(*lane, &slice, args) : ret;
}

int page_calls_write(struct page *page)
{
	struct call_writer w = { .page = page };
	const struct query_sql all[] = {
		{ &w.args, query_args_sql(page->q) },
		{ &w.thread,
		  page->q->ours ?
			  "SELECT coalesce(T.name, '') FROM rtl_thread T JOIN rtl_process P ON "
			  "P.id = T.process_id WHERE P.pid = ?1 AND T.tid = ?2" :
			  NULL },
	};
	int ret = query_prepare_all(page->q, all, sizeof(all) / sizeof(all[0])), error;

	if (ret == 0)
		ret = rows_calls(page->q, take_call, &w);
	error = end_lanes(&w);
	sqlite3_finalize(w.args);
	sqlite3_finalize(w.thread);
	return ret ? ret : error;
}
