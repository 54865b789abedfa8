/* SPDX-License-Identifier: MIT */
/* chrome_trace_gpu.c - operations as Chrome JSON: one process for each GPU, one thread for each lane
 *
 * Operations of one queue may overlap, but readers drop overlapping slices of one track. So a queue
 * has as many lanes as it has simultaneous operations; rows come by their begin, and each
 * goes to the first free lane of its queue. An operation without valid times is an instant, with its flags.
 *
 * If streams are known, a second process of each GPU shows the same operations by stream, with
 * another category, so that readers that count kernels by category count each once.
 */
#include "export/chrome_trace/chrome_trace_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/tracks.h"
#include "query/label.h"

struct gpu_writer {
	struct trace_events *t;
	enum rows_order order; /* of the rows being read */
	struct tracks tracks;
	struct track *track; /* of the last row */
	int64_t pid;
	int64_t next_tid;
	int64_t *pids; /* processes with metadata events so far */
	size_t nr_pids;
	/* texts by id, and the statements that read them */
	struct trace_event_texts labels, symbols, shapes, agents, types, streams;
	sqlite3_stmt *label, *symbol, *shape, *agent, *type, *stream, *graph, *cause, *call;
	/* the marker or call of the last arrow */
	int64_t cause_id, cause_pid, cause_tid, cause_begin, cause_end;
	bool cause_good;
};

/* ---- texts ---- */

static void make_label(struct json *j, sqlite3_stmt *row)
{
	char label[LABEL_SIZE];

	json_text(j, label_kernel(label, query_text(row, 0)));
}

/* Members of the open object: no braces. */
static void make_shape(struct json *j, sqlite3_stmt *row)
{
	const char *mangled = query_text(row, 1);
	size_t n = strlen(mangled);

	if (!row)
		return;
	TRACE_EVENT_TEXT(j, "kernel", query_text(row, 0));
	JSON_KEY(j, "mangled");
	json_text_size(j, mangled, n > 3 && strcmp(mangled + n - 3, ".kd") == 0 ? n - 3 : n);
	for (int i = 0; i < 2; i++) {
		json_key(j, i ? "workgroup" : "grid");
		json_array(j);
		for (int k = 0; k < 3; k++)
			json_int(j, sqlite3_column_int64(row, 2 + 3 * i + k));
		json_array_end(j);
	}
	TRACE_EVENT_NUMBER(j, "lds_bytes", sqlite3_column_int64(row, 8));
	TRACE_EVENT_NUMBER(j, "scratch_bytes", sqlite3_column_int64(row, 9));
}

/* ---- tracks ---- */

static int introduce_gpu(struct gpu_writer *w)
{
	int64_t *grown;
	char name[TRACK_NAME];

	for (size_t i = 0; i < w->nr_pids; i++)
		if (w->pids[i] == w->pid)
			return 0;
	grown = alloc_resize(w->pids, w->nr_pids + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	w->pids = grown;
	grown[w->nr_pids++] = w->pid;
	tracks_group(w->track, name);
	trace_event_meta(w->t, "process_name", w->pid, 0, name, 0);
	trace_event_meta(w->t, "process_sort_index", w->pid, 0, NULL,
			 1000000 + 2 * w->track->gpu + (w->track->kind == ROWS_BY_STREAM ? 1 : 0));
	return 0;
}

static void name_lane(struct gpu_writer *w, int64_t tid, const int64_t *op)
{
	char name[TRACK_NAME];

	tracks_name(w->t->q, w->track, op, w->track->lanes.nr - 1, w->stream, name);
	trace_event_meta(w->t, "thread_name", w->pid, tid, name, 0);
	trace_event_meta(w->t, "thread_sort_index", w->pid, tid, NULL, tid);
}

/* The thread of the first free lane of the current track, or of a new one. -ENOMEM. */
static int64_t find_lane(struct gpu_writer *w, const int64_t *op, int64_t begin, int64_t end)
{
	struct lane *lane = tracks_find_lane(&w->track->lanes, begin, end);

	if (!lane)
		return -ENOMEM;
	if (!lane->id) {
		lane->id = (uint64_t)w->next_tid++;
		name_lane(w, (int64_t)lane->id, op);
	}
	return (int64_t)lane->id;
}

static int choose_track(struct gpu_writer *w, const int64_t *op, enum rows_order kind)
{
	bool fresh;

	w->track = tracks_of(&w->tracks, op, kind, &fresh);
	if (!w->track)
		return -ENOMEM;
	w->pid = (kind == ROWS_BY_STREAM ? CHROME_TRACE_STREAM_PID : CHROME_TRACE_GPU_PID) +
		 op[OP_GPU];
	return fresh ? introduce_gpu(w) : 0;
}

/* ---- events ---- */

static void put_flags(struct json *j, int64_t flags)
{
	if (!(flags & TRACK_FLAG_MASK))
		return;
	JSON_KEY(j, "flags");
	json_array(j);
	for (size_t i = 0; i < TRACK_FLAGS; i++)
		if (flags & track_flags[i].bit)
			json_text(j, track_flags[i].name);
	json_array_end(j);
}

static int put_copy(struct gpu_writer *w, const int64_t *op)
{
	double rate = tracks_rate(op);
	struct json *j = w->t->json;
	int ret;

	TRACE_EVENT_NUMBER(j, "bytes", op[OP_BYTES]);
	if (rate > 0) {
		JSON_KEY(j, "gb_per_s");
		json_double(j, rate);
	}
	JSON_KEY(j, "src");
	ret = trace_event_put_text(w->t, &w->agents, op[OP_SRC], w->agent, trace_event_make_string,
				   false);
	JSON_KEY(j, "dst");
	if (ret == 0)
		ret = trace_event_put_text(w->t, &w->agents, op[OP_DST], w->agent,
					   trace_event_make_string, false);
	return ret;
}

/* For an operation of a graph: the executable graph and the number of its launch. */
static void put_graph(struct gpu_writer *w, const int64_t *op)
{
	struct json *j = w->t->json;

	if (!w->graph || !op[OP_CALL] || !query_row(w->graph, op[OP_ID]))
		return;
	TRACE_EVENT_TEXT(j, "graph_exec", query_text(w->graph, 0));
	TRACE_EVENT_NUMBER(j, "graph_replay", sqlite3_column_int64(w->graph, 1));
	TRACE_EVENT_NUMBER(j, "graph_node", sqlite3_column_int64(w->graph, 2));
}

static int put_args(struct gpu_writer *w, const int64_t *op)
{
	const struct query_process *process = query_process_of(w->t->q, op[OP_ID]);
	int64_t first = process ? process->id_first : 0;
	struct json *j = w->t->json;
	int ret = 0;

	if (op[OP_COPY] && w->t->q->ours)
		ret = put_copy(w, op);
	if (ret == 0 && op[OP_SHAPE]) {
		ret = trace_event_put_text(w->t, &w->shapes, op[OP_SHAPE], w->shape, make_shape,
					   true);
	} else if (op[OP_TYPE] && !(op[OP_COPY] && w->t->q->ours)) {
		JSON_KEY(j, "type");
		ret = trace_event_put_text(w->t, &w->types, op[OP_TYPE], w->type,
					   trace_event_make_string, false);
	}
	if (process)
		TRACE_EVENT_NUMBER(j, "pid", process->pid);
	TRACE_EVENT_NUMBER(j, "queue", op[OP_QUEUE]);
	TRACE_EVENT_NUMBER(j, "packet", op[OP_SEQUENCE]);
	if (ret == 0 && op[OP_STREAM]) {
		JSON_KEY(j, "stream");
		ret = trace_event_put_text(w->t, &w->streams, rows_stream_key(op), w->stream,
					   trace_event_make_string, false);
	}
	if (op[OP_CALL])
		TRACE_EVENT_NUMBER(j, "api_id", op[OP_CALL] - first);
	put_graph(w, op);
	if (op[OP_CORRELATION])
		TRACE_EVENT_NUMBER(j, "corr_id", op[OP_CORRELATION] - first);
	if (op[OP_MARKER])
		TRACE_EVENT_NUMBER(j, "marker", op[OP_MARKER] - first);
	TRACE_EVENT_NUMBER(j, "begin_ns", op[OP_START]);
	TRACE_EVENT_NUMBER(j, "end_ns", op[OP_END]);
	put_flags(j, op[OP_FLAGS]);
	return ret;
}

/* Finds the row that caused an operation, from which the arrow begins. */
static bool find_cause(struct gpu_writer *w, int64_t id, sqlite3_stmt *stmt)
{
	if (w->cause_id == id)
		return w->cause_good;
	w->cause_id = id;
	w->cause_good = query_row(stmt, id) != NULL;
	if (w->cause_good) {
		w->cause_pid = sqlite3_column_int64(stmt, 0);
		w->cause_tid = sqlite3_column_int64(stmt, 1);
		w->cause_begin = sqlite3_column_int64(stmt, 2);
		w->cause_end = sqlite3_column_int64(stmt, 3);
	}
	return w->cause_good;
}

/* The call that caused an operation. */
static bool find_call(struct gpu_writer *w, const int64_t *op)
{
	if (!op[OP_CALL_END])
		return find_cause(w, op[OP_CALL], w->call);
	w->cause_id = op[OP_CALL];
	w->cause_pid = op[OP_CALL_PID];
	w->cause_tid = op[OP_CALL_TID];
	w->cause_begin = op[OP_CALL_START];
	w->cause_end = op[OP_CALL_END];
	return w->cause_good = true;
}

/* An arrow to the operation from the call that caused it, else from its marker. It begins at the
 * call's begin, where no inner call is open yet, so that viewers bind it to the call itself. Viewers
 * do not bind arrows to slices without length. */
static void put_arrow(struct gpu_writer *w, const int64_t *op, int64_t tid)
{
	int64_t begin = op[OP_START], end = op[OP_END];
	bool call = op[OP_CALL] && find_call(w, op);
	struct json *j = w->t->json;

	if (!call && !(op[OP_MARKER] && w->cause && find_cause(w, op[OP_MARKER], w->cause)))
		return;
	/* clocks of host and GPU may differ a little: an arrow must not end before its begin */
	if (begin < w->cause_begin)
		begin = w->cause_begin;
	if (begin >= end || w->cause_begin >= w->cause_end)
		return;
	for (int to = 0; to < 2; to++) {
		trace_event_begin(w->t, to ? "f" : "s", to ? w->pid : w->cause_pid,
				  to ? tid : w->cause_tid, to ? begin : w->cause_begin);
		if (to)
			JSON_LITERAL(j, "bp", "e");
		TRACE_EVENT_NUMBER(j, "id", op[OP_ID]);
		if (call) {
			JSON_LITERAL(j, "cat", "api_op");
			JSON_LITERAL(j, "name", "api_op");
		} else {
			JSON_LITERAL(j, "cat", "launch");
			JSON_LITERAL(j, "name", "launch");
		}
		trace_event_end(w->t);
	}
}

static const char *category_of(const struct gpu_writer *w, const int64_t *op)
{
	switch (w->track->kind) {
	case ROWS_BY_STREAM:
		return "stream";
	case ROWS_RUNTIME:
		return "runtime";
	case ROWS_BARRIERS:
		return "barrier";
	case ROWS_BY_QUEUE:
		break;
	}
	return op[OP_COPY] ? "copy" : "kernel";
}

static int put_name(struct gpu_writer *w, const int64_t *op)
{
	struct json *j = w->t->json;

	JSON_KEY(j, "name");
	if (w->track->kind == ROWS_BARRIERS)
		json_text(j, "barrier");
	else if (w->track->kind == ROWS_RUNTIME) /* OP_NAME is a kernel symbol */
		return trace_event_put_text(w->t, &w->symbols, op[OP_NAME], w->symbol, make_label,
					    false);
	else if (op[OP_COPY])
		return trace_event_put_text(w->t, &w->types, op[OP_TYPE], w->type,
					    trace_event_make_string, false);
	else
		return trace_event_put_text(w->t, &w->labels, op[OP_NAME], w->label, make_label,
					    false);
	return 0;
}

static int put_op(struct gpu_writer *w, const int64_t *op)
{
	int64_t begin = op[OP_START], end = op[OP_END];
	bool timed = rows_timed(begin, end, op[OP_FLAGS]) && begin > 0;
	struct json *j = w->t->json;
	int64_t tid;
	int ret, error;

	if (begin < w->t->base_ns)
		begin = w->t->base_ns; /* no begin */
	tid = find_lane(w, op, begin, timed ? end : begin);
	if (tid < 0)
		return (int)tid;
	trace_event_op(w->t, op, w->pid, tid, timed);
	TRACE_EVENT_TEXT(j, "cat", category_of(w, op));
	ret = put_name(w, op);
	JSON_KEY(j, "args");
	json_object(j);
	if (ret == 0 && w->track->kind == ROWS_BY_STREAM)
		TRACE_EVENT_NUMBER(j, "op", op[OP_ID]);
	else if (ret == 0)
		ret = put_args(w, op);
	json_object_end(j);
	error = trace_event_end(w->t);
	if (ret == 0 && w->track->kind == ROWS_BY_QUEUE && timed)
		put_arrow(w, op, tid);
	return ret ? ret : error;
}

static int take_row(void *arg, const int64_t *op)
{
	struct gpu_writer *w = arg;
	int ret = choose_track(w, op, w->order);

	return ret == 0 ? put_op(w, op) : ret;
}

static int take_op(void *arg, const int64_t *op)
{
	struct gpu_writer *w = arg;

	return tracks_show(op, &w->order, take_row, w);
}

static int write_rows(struct gpu_writer *w, enum rows_order order)
{
	w->order = order;
	return rows_ops(w->t->q, order, take_row, w);
}

/* ---- writing the events ---- */

static int prepare_writer(struct gpu_writer *w)
{
	struct query *q = w->t->q;
	const struct query_sql all[] = {
		{ &w->label, QUERY_STRING },
		{ &w->type, ROWS_TYPE_NAME },
		{ &w->stream, ROWS_STREAM_NAME },
		{ &w->call, "SELECT pid, tid, start, \"end\" FROM rocpd_api WHERE id = ?1" },
		{ &w->graph,
		  q->has_graphs ?
			  "SELECT exec, replay, node FROM temp.query_graph WHERE op_id = ?1" :
			  NULL },
		/* databases of rtl only */
		{ &w->shape, "SELECT Y.demangled, Y.name, S.grid_x, S.grid_y, S.grid_z, S.group_x, "
			     "S.group_y, S.group_z, S.group_size, S.private_size FROM rtl_shape S "
			     "JOIN rtl_kernel_symbol Y ON Y.id = S.kernel_id WHERE S.id = ?1" },
		{ &w->agent, "SELECT label FROM rtl_agent WHERE id = ?1" },
		{ &w->symbol, "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1" },
		/* ranges of start and stop are not on a thread's track: no arrow can begin there */
		{ &w->cause,
		  "SELECT A.pid, A.tid, A.start, A.end FROM rocpd_api A JOIN "
		  "rtl_marker_data M ON M.api_id = A.id WHERE A.id = ?1 AND M.kind <> 2" },
	};

	return query_prepare_all(q, all, q->ours ? sizeof(all) / sizeof(all[0]) : 5);
}

static void free_writer(struct gpu_writer *w)
{
	sqlite3_stmt *const stmts[] = { w->label,  w->symbol, w->type,	w->shape, w->agent,
					w->stream, w->graph,  w->cause, w->call };

	for (size_t i = 0; i < sizeof(stmts) / sizeof(stmts[0]); i++)
		sqlite3_finalize(stmts[i]);
	trace_event_texts_fini(&w->labels);
	trace_event_texts_fini(&w->symbols);
	trace_event_texts_fini(&w->types);
	trace_event_texts_fini(&w->shapes);
	trace_event_texts_fini(&w->agents);
	trace_event_texts_fini(&w->streams);
	tracks_fini(&w->tracks);
	alloc_free(w->pids);
}

int chrome_trace_gpu_write(struct trace_events *t)
{
	struct gpu_writer w = { .t = t, .next_tid = 1 };
	int ret = prepare_writer(&w);

	if (ret == 0)
		ret = rows_by_time(t->q, take_op, &w);
	if (ret == 0)
		ret = write_rows(&w, ROWS_RUNTIME);
	if (ret == 0)
		ret = write_rows(&w, ROWS_BARRIERS);
	free_writer(&w);
	return ret;
}
