/* SPDX-License-Identifier: MIT */
/* chrome_trace_host.c - markers and calls as Chrome JSON: one process for each traced process
 *
 * Calls and ranges of a thread nest: they are slices on the thread's track. Ranges of start and stop may overlap
 * others, and so may damaged ones: they become asynchronous events, which have tracks of their
 * own. An instant marker is an instant.
 */
#include "export/chrome_trace/chrome_trace_internal.h"

#include <stdio.h>

#include "query/label.h"

struct host_writer {
	struct chrome_trace *t;
	int64_t nr_pids;
	struct chrome_trace_thread thread;
	struct chrome_trace_texts names;
	sqlite3_stmt *name, *args;
};

static void name_process(struct host_writer *w, int64_t pid, const char *name)
{
	chrome_trace_meta(w->t, "process_name", pid, 0, name, 0);
	chrome_trace_meta(w->t, "process_sort_index", pid, 0, NULL, w->nr_pids++);
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
	struct chrome_trace_thread *thread = &w->thread;
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
static int name_threads(struct chrome_trace *t)
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
		chrome_trace_meta(t, "thread_name", sqlite3_column_int64(row, 0),
				  sqlite3_column_int64(row, 1), name, 0);
		ret = 0;
	}
	sqlite3_finalize(row);
	return ret;
}

static void put_args(struct host_writer *w, const int64_t *row, const char *text)
{
	int64_t first = row[CALL_ID] - query_local_id(w->t->q, row[CALL_ID]);
	struct json *j = w->t->json;

	JSON_KEY(j, "args");
	json_object(j);
	if (!row[CALL_MARKER])
		chrome_trace_args_put(j, text);
	if (!row[CALL_MARKER] && w->t->q->ours)
		chrome_trace_args_status(j,
					 row[CALL_STATUS] ? query_look_up(w->name, row[CALL_NAME]) :
							    "",
					 row[CALL_STATUS]);
	json_key(j, row[CALL_MARKER] ? "marker" : "api_id");
	json_int(j, row[CALL_ID] - first);
	if (row[CALL_CORRELATION])
		CHROME_TRACE_NUMBER(j, "corr_id", row[CALL_CORRELATION] - first);
	if (row[CALL_PARENT])
		CHROME_TRACE_NUMBER(j, "parent_id", row[CALL_PARENT] - first);
	CHROME_TRACE_NUMBER(j, "begin_ns", row[CALL_START]);
	CHROME_TRACE_NUMBER(j, "end_ns", row[CALL_END]);
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
	const char *text = query_look_up(w->args, row[CALL_ARGS]);
	struct json *j = w->t->json;
	int ret = 0, error;

	chrome_trace_call(w->t, row, phase, ns, dur);
	if (row[CALL_MARKER]) {
		CHROME_TRACE_TEXT(j, "cat", "marker");
		CHROME_TRACE_TEXT(j, "name", text);
	} else {
		ret = chrome_trace_put_text(w->t, &w->names, row[CALL_NAME], w->name, make_call,
					    true);
	}
	if (*phase != 'e')
		put_args(w, row, text);
	error = chrome_trace_event_end(w->t);
	return ret ? ret : error;
}

static int take_row(void *arg, const int64_t *row)
{
	struct host_writer *w = arg;
	bool apart = row[CALL_MARKER] && row[CALL_KIND] == REC_MARKER_START;

	if (!w->thread.open || w->thread.pid != row[CALL_PID] || w->thread.tid != row[CALL_TID])
		introduce_thread(w, row[CALL_PID], row[CALL_TID]);
	return chrome_trace_put_call(w->t, &w->thread, row, apart, put_event, w);
}

int chrome_trace_host_write(struct chrome_trace *t)
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
		ret = query_prepare(q, &w.args, query_args_sql(q));
	if (ret == 0)
		ret = rows_calls(q, take_row, &w);
	sqlite3_finalize(w.name);
	sqlite3_finalize(w.args);
	chrome_trace_texts_fini(&w.names);
	return ret;
}
