/* SPDX-License-Identifier: MIT */
/* chrome_trace_host.c - markers and calls as Chrome JSON: one process for each traced process
 *
 * Calls and ranges of a thread nest: they are slices on the thread's track. Ranges of start and stop may overlap
 * others, and so may damaged ones: they become asynchronous events, which have tracks of their
 * own. An instant marker is an instant.
 */
#include "export/chrome_trace/chrome_trace_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "query/label.h"

enum { MADE_BYTES = 2 << 20, MADE_SIZE_BITS = 20 };

/* Arguments as JSON, by the id of their text: programs repeat them. The oldest ones are not removed before all are. */
struct made_args {
	struct map index; /* offset << MADE_SIZE_BITS | size */
	char *bytes;
	size_t used;
};

struct host_writer {
	struct trace_events *t;
	int64_t nr_pids;
	struct trace_event_thread thread;
	struct trace_event_texts names;
	sqlite3_stmt *name;
	struct query_texts args;
	struct made_args made;
};

static void name_process(struct host_writer *w, int64_t pid, const char *name)
{
	trace_event_meta(w->t, "process_name", pid, 0, name, 0);
	trace_event_meta(w->t, "process_sort_index", pid, 0, NULL, w->nr_pids++);
}

static bool is_known(const struct query *q, int64_t pid)
{
	for (size_t i = 0; i < q->nr_processes; i++)
		if (q->processes[i].pid == pid)
			return true;
	return false;
}

static void introduce_thread(struct host_writer *w, int64_t pid, int64_t tid)
{
	struct trace_event_thread *thread = &w->thread;
	char name[64];

	if ((!thread->open || thread->pid != pid) && !is_known(w->t->q, pid)) {
		snprintf(name, sizeof(name), "process %lld", (long long)pid);
		name_process(w, pid, name);
	}
	thread->open = true;
	thread->pid = pid;
	thread->tid = tid;
	thread->depth = 0;
}

/* Writes the known names of threads. */
static int name_threads(struct trace_events *t)
{
	sqlite3_stmt *row = NULL;
	char name[96];
	int ret;

	if (!t->q->ours)
		return 0;
	ret = query_prepare(t->q, &row,
			    "SELECT P.pid, T.tid, coalesce(T.name, '') FROM rtl_thread T JOIN "
			    "rtl_process P ON P.id = T.process_id WHERE T.tid <> 0");
	while (ret == 0 && (ret = query_step(t->q, row)) == 1) {
		const char *thread = query_text(row, 2);

		snprintf(name, sizeof(name), "%s%s%lld%s", *thread ? thread : "thread",
			 *thread ? " (" : " ", (long long)sqlite3_column_int64(row, 1),
			 *thread ? ")" : "");
		trace_event_meta(t, "thread_name", sqlite3_column_int64(row, 0),
				 sqlite3_column_int64(row, 1), name, 0);
		ret = 0;
	}
	sqlite3_finalize(row);
	return ret;
}

static void keep_args(struct made_args *made, int64_t id, const char *json, size_t size)
{
	if (!made->bytes)
		made->bytes = alloc_heap(MADE_BYTES);
	/* without memory they are made again */
	if (!made->bytes || size > MADE_BYTES)
		return;
	if (made->used + size > MADE_BYTES) {
		map_clear(&made->index);
		made->used = 0;
	}
	if (map_put(&made->index, (uint64_t)id, (uint64_t)made->used << MADE_SIZE_BITS | size))
		return;
	memcpy(made->bytes + made->used, json, size);
	made->used += size;
}

/* The first member of the open object. */
static void put_call_args(struct host_writer *w, int64_t id)
{
	struct json *j = w->t->json;
	const char *text;
	uint64_t found;
	size_t from;

	if (map_get(&w->made.index, (uint64_t)id, &found)) {
		size_t size = found & ((UINT64_C(1) << MADE_SIZE_BITS) - 1);

		if (size)
			json_raw(j, w->made.bytes + (found >> MADE_SIZE_BITS), size);
		return;
	}
	text = query_texts_get(&w->args, id);
	if (strlen(text) > TRACE_EVENT_SHORT) {
		trace_event_args_put(j, text);
		return;
	}
	json_reserve(j, TRACE_EVENT_SPACE + 64);
	from = j->used;
	trace_event_args_put(j, text);
	keep_args(&w->made, id, j->buf + from, j->used - from);
}

static void put_args(struct host_writer *w, const int64_t *row)
{
	int64_t first = row[CALL_ID] - query_local_id(w->t->q, row[CALL_ID]);
	struct json *j = w->t->json;

	JSON_KEY(j, "args");
	json_object(j);
	if (!row[CALL_MARKER])
		put_call_args(w, row[CALL_ARGS]);
	if (!row[CALL_MARKER] && w->t->q->ours)
		trace_event_args_status(j,
					row[CALL_STATUS] ? query_look_up(w->name, row[CALL_NAME]) :
							   "",
					row[CALL_STATUS]);
	if (row[CALL_MARKER])
		TRACE_EVENT_NUMBER(j, "marker", row[CALL_ID] - first);
	else
		TRACE_EVENT_NUMBER(j, "api_id", row[CALL_ID] - first);
	if (row[CALL_CORRELATION])
		TRACE_EVENT_NUMBER(j, "corr_id", row[CALL_CORRELATION] - first);
	if (row[CALL_PARENT])
		TRACE_EVENT_NUMBER(j, "parent_id", row[CALL_PARENT] - first);
	TRACE_EVENT_NUMBER(j, "begin_ns", row[CALL_START]);
	TRACE_EVENT_NUMBER(j, "end_ns", row[CALL_END]);
	if (row[CALL_UNCLOSED]) {
		JSON_KEY(j, "unclosed");
		json_bool(j, true);
	}
	json_object_end(j);
}

/* Column 0 as the name of a call. */
static void make_call(struct json *j, sqlite3_stmt *row)
{
	const char *name = query_text(row, 0);

	json_member_text(j, "cat", label_domain(name));
	json_member_text(j, "name", *name ? name : "unnamed");
}

static int put_event(void *arg, const int64_t *row, const char *phase, int64_t ns, int64_t dur)
{
	struct host_writer *w = arg;
	struct json *j = w->t->json;
	int ret = 0, error;

	trace_event_call(w->t, row, phase, ns, dur);
	if (row[CALL_MARKER]) {
		JSON_LITERAL(j, "cat", "marker");
		TRACE_EVENT_TEXT(j, "name", query_texts_get(&w->args, row[CALL_ARGS]));
	} else {
		ret = trace_event_put_text(w->t, &w->names, row[CALL_NAME], w->name, make_call,
					   true);
	}
	if (*phase != 'e')
		put_args(w, row);
	error = trace_event_end(w->t);
	return ret ? ret : error;
}

static int take_row(void *arg, const int64_t *row)
{
	struct host_writer *w = arg;
	bool apart = row[CALL_MARKER] && row[CALL_KIND] == REC_MARKER_START;

	if (!w->thread.open || w->thread.pid != row[CALL_PID] || w->thread.tid != row[CALL_TID])
		introduce_thread(w, row[CALL_PID], row[CALL_TID]);
	return trace_event_put_call(w->t, &w->thread, row, apart, put_event, w);
}

int chrome_trace_host_write(struct trace_events *t)
{
	struct host_writer w = { .t = t };
	struct query *q = t->q;
	int ret;

	/* all processes of the file, with their names */
	for (size_t i = 0; i < q->nr_processes; i++)
		name_process(&w, q->processes[i].pid, q->processes[i].name);
	ret = name_threads(t);
	if (ret == 0)
		ret = query_prepare(q, &w.name, QUERY_STRING);
	if (ret == 0)
		ret = query_texts_begin(q, &w.args);
	if (ret == 0)
		ret = rows_calls(q, take_row, &w);
	sqlite3_finalize(w.name);
	query_texts_end(&w.args);
	map_fini(&w.made.index);
	alloc_free(w.made.bytes);
	trace_event_texts_fini(&w.names);
	return ret;
}
