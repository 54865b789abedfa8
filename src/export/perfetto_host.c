/* SPDX-License-Identifier: MIT */
/* perfetto_host.c - markers and calls as Chrome JSON: one process for each traced one
 *
 * What a thread did nests: a slice on the thread's track. Ranges of start and stop may overlap
 * anything, and so may damaged nesting: those become asynchronous events, which have tracks of their
 * own. An instant marker is an instant.
 */
#include "export/perfetto_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 512 /* slices open at one time on a thread; what is deeper becomes asynchronous */

struct host_writer {
	struct perfetto *p;
	int64_t pid, tid; /* of the last row */
	bool open;
	int64_t nr_pids;
	int64_t ends[DEPTH];
	size_t depth;
	struct perfetto_texts names;
	sqlite3_stmt *name, *args;
};

/* Processes that the file tells of, with what their names should say. */
static void name_processes(struct host_writer *w)
{
	struct perfetto *p = w->p;

	for (size_t i = 0; i < p->nr_processes; i++) {
		perfetto_meta(p, "process_name", p->processes[i].pid, 0, p->processes[i].name, 0);
		perfetto_meta(p, "process_sort_index", p->processes[i].pid, 0, NULL, w->nr_pids++);
	}
}

static bool is_known(const struct perfetto *p, int64_t pid)
{
	for (size_t i = 0; i < p->nr_processes; i++)
		if (p->processes[i].pid == pid)
			return true;
	return false;
}

static void introduce(struct host_writer *w, int64_t pid, int64_t tid)
{
	char name[64];

	if ((!w->open || w->pid != pid) && !is_known(w->p, pid)) {
		snprintf(name, sizeof(name), "process %lld", (long long)pid);
		perfetto_meta(w->p, "process_name", pid, 0, name, 0);
		perfetto_meta(w->p, "process_sort_index", pid, 0, NULL, w->nr_pids++);
	}
	w->open = true;
	w->pid = pid;
	w->tid = tid;
	w->depth = 0;
}

/* Names of threads, where they are known. */
static int name_threads(struct perfetto *p)
{
	sqlite3_stmt *row = NULL;
	char name[96];
	int ret;

	if (!p->ours)
		return 0;
	ret = perfetto_prepare(p, &row,
			       "SELECT P.pid, T.tid, coalesce(T.name, '') FROM rtl_thread T JOIN "
			       "rtl_process P ON P.id = T.process_id WHERE T.tid <> 0");
	while (ret == 0 && (ret = perfetto_step(p, row)) == 1) {
		const char *thread = perfetto_column_text(row, 2);

		snprintf(name, sizeof(name), "%s%s%lld%s", *thread ? thread : "thread",
			 *thread ? " (" : " ", (long long)sqlite3_column_int64(row, 1),
			 *thread ? ")" : "");
		perfetto_meta(p, "thread_name", sqlite3_column_int64(row, 0),
			      sqlite3_column_int64(row, 1), name, 0);
		ret = 0;
	}
	sqlite3_finalize(row);
	return ret;
}

/* Whether it lies within what is open on the thread; then it is open too. */
static bool nests(struct host_writer *w, int64_t begin, int64_t end)
{
	while (w->depth && w->ends[w->depth - 1] <= begin)
		w->depth--;
	if (end < begin || w->depth == DEPTH || (w->depth && end > w->ends[w->depth - 1]))
		return false;
	w->ends[w->depth++] = end;
	return true;
}

/* The arguments of a call, or the message of a marker. Valid until the next call. */
static const char *text_of(struct host_writer *w, const int64_t *row)
{
	sqlite3_reset(w->args);
	sqlite3_bind_int64(w->args, 1, row[CALL_ARGS]);
	return perfetto_column_text(sqlite3_step(w->args) == SQLITE_ROW ? w->args : NULL, 0);
}

static const char *function_of(struct host_writer *w, const int64_t *row)
{
	sqlite3_reset(w->name);
	sqlite3_bind_int64(w->name, 1, row[CALL_NAME]);
	return perfetto_column_text(sqlite3_step(w->name) == SQLITE_ROW ? w->name : NULL, 0);
}

static void put_args(struct host_writer *w, const int64_t *row, const char *text)
{
	const struct perfetto_process *process = perfetto_process_of(w->p, row[CALL_ID]);
	int64_t first = process ? process->id_first : 0;
	struct json *j = &w->p->json;

	JSON_KEY(j, "args");
	json_object(j);
	if (!row[CALL_MARKER] && *text) {
		JSON_KEY(j, "args");
		if (!perfetto_args_write(j, text))
			json_text(j, text);
	}
	if (!row[CALL_MARKER] && w->p->ours)
		perfetto_args_status(j, row[CALL_STATUS] ? function_of(w, row) : "",
				     row[CALL_STATUS]);
	json_key(j, row[CALL_MARKER] ? "marker" : "api_id");
	json_int(j, row[CALL_ID] - first);
	if (row[CALL_CORRELATION])
		PERFETTO_NUMBER(j, "corr_id", row[CALL_CORRELATION] - first);
	if (row[CALL_PARENT])
		PERFETTO_NUMBER(j, "parent_id", row[CALL_PARENT] - first);
	PERFETTO_NUMBER(j, "begin_ns", row[CALL_START]);
	PERFETTO_NUMBER(j, "end_ns", row[CALL_END]);
	if (row[CALL_UNCLOSED]) {
		JSON_KEY(j, "unclosed");
		json_bool(j, true);
	}
	json_object_end(j);
}

static int put_event(struct host_writer *w, const int64_t *row, const char *phase, int64_t ns,
		     int64_t dur)
{
	const char *text = text_of(w, row);
	struct json *j = &w->p->json;
	int ret = 0;

	perfetto_call(w->p, row, phase, ns, dur);
	if (row[CALL_MARKER]) {
		JSON_KEY(j, "cat");
		json_text(j, "marker");
		JSON_KEY(j, "name");
		json_text(j, text);
	} else {
		ret = perfetto_put_text(w->p, &w->names, row[CALL_NAME], w->name,
					perfetto_make_call, true);
	}
	if (*phase != 'e')
		put_args(w, row, text);
	perfetto_event_end(w->p);
	return ret;
}

static int take_row(void *arg, const int64_t *row)
{
	struct host_writer *w = arg;
	int64_t begin = row[CALL_START], end = row[CALL_END];
	/* RPD has no kinds: an instant is a range without length */
	bool instant = row[CALL_MARKER] &&
		       (row[CALL_KIND] < 0 ? begin == end : row[CALL_KIND] == REC_MARKER_MARK);
	bool apart = row[CALL_MARKER] && row[CALL_KIND] == REC_MARKER_START;
	int ret;

	if (!w->open || w->pid != row[CALL_PID] || w->tid != row[CALL_TID])
		introduce(w, row[CALL_PID], row[CALL_TID]);
	if (begin < w->p->base_ns)
		begin = w->p->base_ns;
	if (instant || end < begin)
		return put_event(w, row, "i", begin, 0);
	if (!apart && nests(w, begin, end))
		return put_event(w, row, "X", begin, end - begin);
	ret = put_event(w, row, "b", begin, 0);
	return ret == 0 ? put_event(w, row, "e", end, 0) : ret;
}

int perfetto_host_write(struct perfetto *p)
{
	struct host_writer w = { .p = p };
	int ret;

	name_processes(&w);
	ret = name_threads(p);
	if (ret == 0)
		ret = perfetto_prepare(p, &w.name, "SELECT string FROM rocpd_string WHERE id = ?1");
	if (ret == 0)
		ret = perfetto_prepare(p, &w.args, perfetto_rows_args_sql(p));
	if (ret == 0)
		ret = perfetto_rows_calls(p, take_row, &w);
	sqlite3_finalize(w.name);
	sqlite3_finalize(w.args);
	perfetto_texts_fini(&w.names);
	return ret;
}
