/* SPDX-License-Identifier: MIT */
/* chrome_trace_host.c - markers and calls as Chrome JSON: one process for each traced process
 *
 * Calls and ranges of a thread nest: they are slices on the thread's track. Ranges of start and
 * stop may overlap others, and so may damaged ones: they become asynchronous events, which have
 * tracks of their own. An instant marker is an instant.
 */
#include "export/chrome_trace/chrome_trace_internal.h"

#include <stdio.h>
#include <string.h>

static void name_process(struct chrome_trace *t, int64_t pid, const char *name)
{
	trace_event_meta(&t->events, "process_name", pid, 0, name, 0);
	trace_event_meta(&t->events, "process_sort_index", pid, 0, NULL, t->nr_processes++);
}

static bool is_known(const struct query *q, int64_t pid)
{
	for (size_t i = 0; i < q->nr_processes; i++)
		if (q->processes[i].pid == pid)
			return true;
	return false;
}

static void introduce_thread(struct chrome_trace *t, int64_t pid, int64_t tid)
{
	struct trace_event_thread *thread = &t->thread;
	char name[64];

	if ((!thread->open || thread->pid != pid) && !is_known(t->events.q, pid)) {
		snprintf(name, sizeof(name), "process %lld", (long long)pid);
		name_process(t, pid, name);
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

/* ---- events ---- */

/* The event has it. */
#define SKIP (UINT64_C(1) << WALK_TID)

struct putting {
	struct chrome_trace *t;
	const struct walk_call *call;
};

static int put_event(void *arg, const struct rows_call *row, const char *phase, int64_t ns,
		     int64_t dur)
{
	const struct putting *p = arg;
	struct trace_events *e = &p->t->events;
	struct json *j = e->json;

	trace_event_call(e, row, phase, ns, dur);
	if (row->marker) {
		JSON_LITERAL(j, "cat", "marker");
		TRACE_EVENT_TEXT(j, "name", p->call->message);
	} else {
		trace_event_members(j, &p->call->name);
	}
	if (*phase != 'e') {
		JSON_KEY(j, "args");
		json_object(j);
		trace_event_all_notes(j, &p->call->notes, SKIP);
		json_object_end(j);
	}
	return trace_event_end(e);
}

int chrome_trace_host_put(void *trace, const struct walk_call *call)
{
	struct chrome_trace *t = trace;
	const struct rows_call *row = call->row;
	struct putting p = { t, call };
	bool apart = row->marker && row->kind == REC_MARKER_START;

	if (!t->thread.open || t->thread.pid != row->pid || t->thread.tid != row->tid)
		introduce_thread(t, row->pid, row->tid);
	return trace_event_put_call(&t->events, &t->thread, row, apart, put_event, &p);
}

int chrome_trace_host_begin(struct chrome_trace *t)
{
	const struct query *q = t->events.q;

	/* all processes of the file, with their names */
	for (size_t i = 0; i < q->nr_processes; i++)
		name_process(t, q->processes[i].pid, q->processes[i].name);
	return name_threads(&t->events);
}
