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

#include "base/alloc.h"
#include "event/format.h"

#define DEPTH 512 /* slices open at one time on a thread; what is deeper becomes asynchronous */

enum {
	Q_ID,
	Q_PID,
	Q_TID,
	Q_START,
	Q_END,
	Q_NAME,
	Q_ARGS,
	Q_MARKER,
	Q_KIND,
	Q_LEVEL,
	Q_UNCLOSED,
	Q_CORRELATION
};

struct host_writer {
	struct perfetto *p;
	int64_t pid, tid; /* of the last row */
	bool open;
	int64_t nr_pids;
	int64_t ends[DEPTH];
	size_t depth;
};

static int64_t column(sqlite3_stmt *row, int i)
{
	return sqlite3_column_int64(row, i);
}

static const char *text_of(sqlite3_stmt *row, int i)
{
	const unsigned char *text = sqlite3_column_text(row, i);

	return text ? (const char *)text : "";
}

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
			       "rtl_process P ON P.id = T.process_id");
	while (ret == 0 && (ret = perfetto_step(p, row)) == 1) {
		const char *thread = text_of(row, 2);

		snprintf(name, sizeof(name), "%s%s%lld%s", *thread ? thread : "thread",
			 *thread ? " (" : " ", (long long)column(row, 1), *thread ? ")" : "");
		perfetto_meta(p, "thread_name", column(row, 0), column(row, 1), name, 0);
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

static void put_args(struct host_writer *w, sqlite3_stmt *row, bool marker)
{
	const struct perfetto_process *process = perfetto_process_of(w->p, column(row, Q_ID));
	int64_t first = process ? process->id_first : 0;
	struct json *j = &w->p->json;

	JSON_KEY(j, "args");
	json_object(j);
	json_key(j, marker ? "marker" : "api_id");
	json_int(j, column(row, Q_ID) - first);
	if (!marker && *text_of(row, Q_ARGS)) {
		JSON_KEY(j, "args");
		json_text(j, text_of(row, Q_ARGS));
	}
	if (column(row, Q_CORRELATION)) {
		JSON_KEY(j, "corr_id");
		json_int(j, column(row, Q_CORRELATION) - first);
	}
	JSON_KEY(j, "begin_ns");
	json_int(j, column(row, Q_START));
	JSON_KEY(j, "end_ns");
	json_int(j, column(row, Q_END));
	if (column(row, Q_UNCLOSED)) {
		JSON_KEY(j, "unclosed");
		json_bool(j, true);
	}
	json_object_end(j);
}

static void put_event(struct host_writer *w, sqlite3_stmt *row, const char *phase, int64_t ns,
		      int64_t dur)
{
	bool marker = column(row, Q_MARKER) != 0;
	struct json *j = &w->p->json;

	perfetto_event(w->p, phase, column(row, Q_PID), column(row, Q_TID), ns);
	if (*phase == 'X') {
		JSON_KEY(j, "dur");
		json_us(j, dur);
	} else if (*phase == 'i') {
		JSON_KEY(j, "s");
		json_text(j, "t");
	} else {
		JSON_KEY(j, "id");
		json_int(j, column(row, Q_ID));
	}
	JSON_KEY(j, "cat");
	json_text(j, marker ? "marker" : "api");
	JSON_KEY(j, "name");
	json_text(j, text_of(row, marker ? Q_ARGS : Q_NAME));
	if (*phase != 'e')
		put_args(w, row, marker);
	json_object_end(j);
	json_bytes(j, "\n", 1);
}

static void put_row(struct host_writer *w, sqlite3_stmt *row)
{
	int64_t begin = column(row, Q_START), end = column(row, Q_END);
	bool marker = column(row, Q_MARKER) != 0;
	/* RPD has no kinds: an instant is a range without length */
	bool instant = marker && (w->p->ours && sqlite3_column_type(row, Q_KIND) != SQLITE_NULL ?
					  column(row, Q_KIND) == REC_MARKER_MARK :
					  begin == end);

	if (!w->open || w->pid != column(row, Q_PID) || w->tid != column(row, Q_TID))
		introduce(w, column(row, Q_PID), column(row, Q_TID));
	if (begin < w->p->base_ns)
		begin = w->p->base_ns;
	if (instant || end < begin) {
		put_event(w, row, "i", begin, 0);
	} else if (!(marker && column(row, Q_KIND) == REC_MARKER_START) && nests(w, begin, end)) {
		put_event(w, row, "X", begin, end - begin);
	} else {
		put_event(w, row, "b", begin, 0);
		put_event(w, row, "e", end, 0);
	}
}

static const char ours_sql[] =
	"SELECT A.id, A.pid, A.tid, A.start, A.end, N.string, U.string, N.string = 'UserMarker', M.kind, M.level, "
	"M.unclosed, coalesce(X.correlation_id, 0) FROM rocpd_api A JOIN rocpd_string N ON N.id = A.apiName_id JOIN "
	"rocpd_ustring U ON U.id = A.args_id JOIN rocpd_string D ON D.id = A.domain_id LEFT JOIN rtl_marker_data M ON "
	"M.api_id = A.id LEFT JOIN rtl_api_data X ON X.api_id = A.id WHERE D.string <> 'rtl' ORDER BY A.pid, A.tid, "
	"A.start, A.end DESC, A.id";

#define RPD_SQL(args)                                                                                           \
	"SELECT A.id, A.pid, A.tid, A.start, A.\"end\", N.string, U.string, N.string = 'UserMarker', NULL, 0, " \
	"0, 0 FROM rocpd_api A JOIN rocpd_string N ON N.id = A.apiName_id LEFT JOIN " args                      \
	" U ON U.id = A.args_id ORDER BY A.pid, A.tid, A.start, A.\"end\" DESC, A.id"

int perfetto_host_write(struct perfetto *p)
{
	struct host_writer w = { .p = p };
	sqlite3_stmt *row = NULL;
	int ret;

	name_processes(&w);
	ret = name_threads(p);
	if (ret == 0)
		ret = perfetto_prepare(p, &row,
				       p->ours	      ? ours_sql :
				       p->has_ustring ? RPD_SQL("rocpd_ustring") :
							RPD_SQL("rocpd_string"));
	while (ret == 0 && (ret = perfetto_step(p, row)) == 1) {
		put_row(&w, row);
		ret = 0;
	}
	sqlite3_finalize(row);
	return ret;
}
