/* SPDX-License-Identifier: MIT */
/* kineto_events.c - events in kineto's format: the process' threads, and a track for each stream
 *
 * Readers join a call with its operations by args.correlation. An arrow's id is that number, too; if a
 * call caused several operations, the further arrows have other ids.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/kineto/kineto_internal.h"

#define FURTHER (INT64_C(1) << 40) /* ids of further arrows: above all correlation ids */

struct events {
	struct trace_events *t;
	struct trace_event_thread thread;
	struct map tracks; /* streams with metadata events so far: gpu << 32 | stream */
	struct trace_event_texts functions, kernels, shapes, copies;
	sqlite3_stmt *string, *args, *shape, *call, *name, *add_range, *use_call;
	/* operations of one range on one track that are not written yet */
	int64_t range, range_gpu, range_stream, range_first, range_last;
};

/* The number of an operation's stream, from 1. If it is unknown, the queue's number, behind
 * those of the process' streams. */
static int64_t stream_of(const struct query *q, const int64_t *op)
{
	return op[OP_STREAM] ? op[OP_STREAM] : q->streams + op[OP_QUEUE] + 1;
}

static int64_t first_id(const struct events *e, int64_t id)
{
	return id - query_local_id(e->t->q, id);
}

/* ---- threads ---- */

static void introduce_process(struct events *e, int64_t pid)
{
	char name[64];
	const char *text = NULL;

	for (size_t i = 0; i < e->t->q->nr_processes; i++)
		if (e->t->q->processes[i].pid == pid)
			text = e->t->q->processes[i].name;
	snprintf(name, sizeof(name), "process %lld", (long long)pid);
	trace_event_meta(e->t, "process_name", pid, 0, text ? text : name, 0);
	trace_event_meta(e->t, "process_labels", pid, 0, "CPU", 0);
	trace_event_meta(e->t, "process_sort_index", pid, 0, NULL, pid);
}

static void introduce_thread(struct events *e, int64_t pid, int64_t tid)
{
	const char *own = "";
	char name[96];

	if (!e->thread.open || e->thread.pid != pid)
		introduce_process(e, pid);
	if (e->name) {
		sqlite3_reset(e->name);
		sqlite3_bind_int64(e->name, 2, tid);
		own = query_look_up(e->name, pid);
	}
	snprintf(name, sizeof(name), "thread %lld%s%s%s", (long long)tid, *own ? " (" : "", own,
		 *own ? ")" : "");
	trace_event_meta(e->t, "thread_name", pid, tid, name, 0);
	trace_event_meta(e->t, "thread_sort_index", pid, tid, NULL, tid);
	e->thread.open = true;
	e->thread.pid = pid;
	e->thread.tid = tid;
	e->thread.depth = 0;
}

/* Column 0, a function's name, as members. */
static void make_function(struct json *j, sqlite3_stmt *row)
{
	const char *name = query_text(row, 0);

	json_member_text(j, "cat", strncmp(name, "hsa_", 4) == 0 ? "cuda_driver" : "cuda_runtime");
	json_member_text(j, "name", *name ? name : "unnamed");
}

static void put_call_args(struct events *e, const int64_t *row, int64_t first)
{
	struct json *j = e->t->json;

	TRACE_EVENT_NUMBER(j, "correlation",
			   row[CALL_CORRELATION] ? row[CALL_CORRELATION] - first :
						   row[CALL_ID] - first);
	if (row[CALL_STATUS])
		trace_event_args_status(j, query_look_up(e->string, row[CALL_NAME]),
					row[CALL_STATUS]);
	trace_event_args_put(j, query_look_up(e->args, row[CALL_ARGS]));
}

static int put_row(void *arg, const int64_t *row, const char *phase, int64_t ns, int64_t dur)
{
	struct events *e = arg;
	int64_t own = row[CALL_MARKER] ? row[CALL_ID] : 0;
	int64_t marker = *phase == 'X' ? trace_event_range(&e->thread) : own;
	int64_t first = first_id(e, row[CALL_ID]);
	struct json *j = e->t->json;
	int ret = 0, error;

	trace_event_call(e->t, row, phase, ns, dur);
	if (row[CALL_MARKER]) {
		TRACE_EVENT_TEXT(j, "cat", "user_annotation");
		TRACE_EVENT_TEXT(j, "name", query_look_up(e->args, row[CALL_ARGS]));
	} else {
		ret = trace_event_put_text(e->t, &e->functions, row[CALL_NAME], e->string,
					   make_function, true);
	}
	JSON_KEY(j, "args");
	json_object(j);
	if (marker)
		TRACE_EVENT_NUMBER(j, "External id", marker - first);
	if (!row[CALL_MARKER])
		put_call_args(e, row, first);
	json_object_end(j);
	error = trace_event_end(e->t);
	return ret ? ret : error;
}

static int take_call(void *arg, const int64_t *row)
{
	struct events *e = arg;

	if (!e->thread.open || e->thread.pid != row[CALL_PID] || e->thread.tid != row[CALL_TID])
		introduce_thread(e, row[CALL_PID], row[CALL_TID]);
	return trace_event_put_call(e->t, &e->thread, row, false, put_row, e);
}

/* ---- operations ---- */

/* The GPU's number on its host; files of several hosts add the node number. */
static int64_t gpu_of(const int64_t *op)
{
	return op[OP_GPU] < 0 ? 0 : op[OP_GPU] % 1000;
}

static bool is_timed(const int64_t *op)
{
	return rows_timed(op[OP_START], op[OP_END], op[OP_FLAGS]) && op[OP_START] > 0;
}

static int introduce_track(struct events *e, int64_t gpu, int64_t stream)
{
	uint64_t key = (uint64_t)gpu << 32 | (uint64_t)stream, seen;
	char name[64];

	if (map_get(&e->tracks, key, &seen))
		return 0;
	if (!map_get(&e->tracks, (uint64_t)gpu << 32, &seen)) {
		const struct query_process *process = e->t->q->only;

		snprintf(name, sizeof(name), "GPU %lld", (long long)gpu);
		trace_event_meta(e->t, "process_name", gpu, 0, process ? process->name : name, 0);
		trace_event_meta(e->t, "process_labels", gpu, 0, name, 0);
		trace_event_meta(e->t, "process_sort_index", gpu, 0, NULL, 5000000 + gpu);
		if (map_put(&e->tracks, (uint64_t)gpu << 32, 1))
			return -ENOMEM;
	}
	snprintf(name, sizeof(name), "stream %lld", (long long)stream);
	trace_event_meta(e->t, "thread_name", gpu, stream, name, 0);
	trace_event_meta(e->t, "thread_sort_index", gpu, stream, NULL, stream);
	return map_put(&e->tracks, key, 1);
}

/* Column 0, RPD's name of a type, as members: readers detect kinds of copies by these names. */
static void make_copy(struct json *j, sqlite3_stmt *row)
{
	static const struct {
		const char *type, *category, *name;
	} names[] = {
		{ "CopyHostToDevice", "gpu_memcpy", "Memcpy HtoD (Host -> Device)" },
		{ "CopyDeviceToHost", "gpu_memcpy", "Memcpy DtoH (Device -> Host)" },
		{ "CopyDeviceToDevice", "gpu_memcpy", "Memcpy DtoD (Device -> Device)" },
		{ "CopyPeerToPeer", "gpu_memcpy", "Memcpy DtoD (Device -> Device)" },
		{ "CopyHostToHost", "gpu_memcpy", "Memcpy HtoH (Host -> Host)" },
		{ "FillBuffer", "gpu_memset", "Memset (Device)" },
	};
	const char *type = query_text(row, 0);
	const char *category = strncmp(type, "Fill", 4) == 0 ? "gpu_memset" : "gpu_memcpy";
	const char *name = type;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(type, names[i].type) == 0) {
			category = names[i].category;
			name = names[i].name;
		}
	json_member_text(j, "cat", category);
	json_member_text(j, "name", name);
}

static void make_kernel(struct json *j, sqlite3_stmt *row)
{
	const char *name = query_text(row, 0);

	json_member_text(j, "cat", "kernel");
	json_member_text(j, "name", *name ? name : "unnamed");
}

/* kineto's grids are in blocks. */
static void make_shape(struct json *j, sqlite3_stmt *row)
{
	if (!row)
		return;
	json_key(j, "grid");
	json_array(j);
	for (int i = 0; i < 3; i++) {
		int64_t items = sqlite3_column_int64(row, i),
			group = sqlite3_column_int64(row, 3 + i);

		json_int(j, group ? (items + group - 1) / group : items);
	}
	json_array_end(j);
	json_key(j, "block");
	json_array(j);
	for (int i = 3; i < 6; i++)
		json_int(j, sqlite3_column_int64(row, i));
	json_array_end(j);
	json_member_int(j, "shared memory", sqlite3_column_int64(row, 6));
	if (sqlite3_column_type(row, 7) != SQLITE_NULL)
		json_member_int(j, "registers per thread", sqlite3_column_int64(row, 7));
}

static int put_op_args(struct events *e, const int64_t *op, int64_t gpu, int64_t stream,
		       int64_t correlation, bool timed)
{
	int64_t ns = op[OP_END] - op[OP_START];
	struct json *j = e->t->json;
	int ret = 0;

	JSON_KEY(j, "args");
	json_object(j);
	if (op[OP_MARKER])
		TRACE_EVENT_NUMBER(j, "External id", op[OP_MARKER] - first_id(e, op[OP_ID]));
	TRACE_EVENT_NUMBER(j, "device", gpu);
	TRACE_EVENT_NUMBER(j, "context", 0);
	TRACE_EVENT_NUMBER(j, "stream", stream);
	TRACE_EVENT_NUMBER(j, "hsa_queue", op[OP_QUEUE]);
	TRACE_EVENT_NUMBER(j, "correlation", correlation);
	if (!op[OP_COPY]) {
		TRACE_EVENT_TEXT(j, "kind", "Dispatch Kernel");
		if (op[OP_SHAPE])
			ret = trace_event_put_text(e->t, &e->shapes, op[OP_SHAPE], e->shape,
						   make_shape, true);
	} else if (e->t->q->ours) {
		TRACE_EVENT_NUMBER(j, "bytes", op[OP_BYTES]);
		JSON_KEY(j, "memory bandwidth (GB/s)");
		json_double(j, timed && ns > 0 ? (double)(op[OP_BYTES] * 1000 / ns) / 1000 : 0);
	}
	json_object_end(j);
	return ret;
}

/* Whether this is the first arrow from the call. */
static bool is_first(struct events *e, int64_t call)
{
	sqlite3_bind_int64(e->use_call, 1, call);
	sqlite3_step(e->use_call);
	return sqlite3_reset(e->use_call) == SQLITE_OK && sqlite3_changes(e->t->q->db) > 0;
}

/* An arrow from the begin of the call, where readers search for it. */
static void put_arrow(struct events *e, const int64_t *op, int64_t gpu, int64_t stream,
		      int64_t correlation)
{
	int64_t id = correlation, begin = op[OP_START], call_ns;
	struct json *j = e->t->json;

	if (!op[OP_CALL] || !query_row(e->call, op[OP_CALL]))
		return;
	call_ns = sqlite3_column_int64(e->call, 2);
	if (begin < call_ns)
		begin = call_ns;
	if (begin >= op[OP_END] || call_ns >= sqlite3_column_int64(e->call, 3))
		return; /* no slice that the arrow could end in */
	if (!is_first(e, op[OP_CALL]))
		id = FURTHER + op[OP_ID] - first_id(e, op[OP_ID]);
	for (int to = 0; to < 2; to++) {
		trace_event_begin(e->t, to ? "f" : "s", to ? gpu : sqlite3_column_int64(e->call, 0),
				  to ? stream : sqlite3_column_int64(e->call, 1),
				  to ? begin : call_ns);
		TRACE_EVENT_NUMBER(j, "id", id);
		TRACE_EVENT_TEXT(j, "cat", "ac2g");
		TRACE_EVENT_TEXT(j, "name", "ac2g");
		if (to)
			TRACE_EVENT_TEXT(j, "bp", "e");
		trace_event_end(e->t);
	}
}

/* The correlation number of a call and its operations: the call's id. */
static int64_t correlation_of(struct events *e, const int64_t *op)
{
	int64_t first = first_id(e, op[OP_ID]), own;

	if (!op[OP_CALL])
		return op[OP_CORRELATION] ? op[OP_CORRELATION] - first : 0;
	own = query_row(e->call, op[OP_CALL]) ? sqlite3_column_int64(e->call, 4) : 0;
	return (own ? own : op[OP_CALL]) - first;
}

static int take_op(void *arg, const int64_t *op)
{
	struct events *e = arg;
	int64_t gpu = gpu_of(op), stream = stream_of(e->t->q, op);
	bool timed = is_timed(op);
	int64_t correlation = correlation_of(e, op);
	int ret = introduce_track(e, gpu, stream), error;

	trace_event_op(e->t, op, gpu, stream, timed);
	if (ret == 0)
		ret = op[OP_COPY] ? trace_event_put_text(e->t, &e->copies, op[OP_TYPE], e->string,
							 make_copy, true) :
				    trace_event_put_text(e->t, &e->kernels, op[OP_NAME], e->string,
							 make_kernel, true);
	if (ret == 0)
		ret = put_op_args(e, op, gpu, stream, correlation, timed);
	error = trace_event_end(e->t);
	if (timed)
		put_arrow(e, op, gpu, stream, correlation);
	return ret ? ret : error;
}

/* ---- ranges on the GPU ---- */

/* Writes the range around operations of the same track; it has to come before them. */
static int flush_range(struct events *e)
{
	const int64_t values[] = { e->range, e->range_gpu, e->range_stream, e->range_first,
				   e->range_last };

	if (!e->range)
		return 0;
	for (int i = 0; i < 5; i++)
		sqlite3_bind_int64(e->add_range, i + 1, values[i]);
	e->range = 0;
	sqlite3_step(e->add_range);
	if (sqlite3_reset(e->add_range) == SQLITE_OK)
		return 0;
	return query_fail(e->t->q, -ENOSPC, "%s: no space for a temporary table: %s", e->t->q->path,
			  sqlite3_errmsg(e->t->q->db));
}

static int take_range(void *arg, const int64_t *op)
{
	struct events *e = arg;
	int64_t gpu = gpu_of(op), stream = stream_of(e->t->q, op);
	int ret = 0;

	if (!op[OP_MARKER] || !is_timed(op))
		return 0;
	if (e->range != op[OP_MARKER] || e->range_gpu != gpu || e->range_stream != stream) {
		ret = flush_range(e);
		e->range = op[OP_MARKER];
		e->range_gpu = gpu;
		e->range_stream = stream;
		e->range_first = op[OP_START];
		e->range_last = op[OP_END];
	}
	if (op[OP_START] < e->range_first)
		e->range_first = op[OP_START];
	if (op[OP_END] > e->range_last)
		e->range_last = op[OP_END];
	return ret;
}

/* A range on the GPU: from the first to the last operation that was launched within it, or within an inner range. */
static const char ranges_sql[] =
	"WITH RECURSIVE up(marker, gpu, stream, first, last, depth) AS (SELECT marker, gpu, stream, "
	"first, last, 0 FROM temp.kineto_range UNION ALL SELECT M.parent_id, gpu, stream, first, last, "
	"depth + 1 FROM up JOIN rtl_marker_data M ON M.api_id = up.marker WHERE M.parent_id > 0 AND depth "
	"< 512) SELECT U.marker, U.gpu, U.stream, min(U.first), max(U.last), T.string FROM up U JOIN "
	"rocpd_api A ON A.id = U.marker JOIN rocpd_ustring T ON T.id = A.args_id GROUP BY U.marker, "
	"U.gpu, U.stream ORDER BY 4, 5 DESC";

static int write_ranges(struct events *e)
{
	struct json *j = e->t->json;
	sqlite3_stmt *row = NULL;
	int ret;

	if (!e->t->q->ours ||
	    !query_number(e->t->q->db, "SELECT EXISTS (SELECT 1 FROM rocpd_op WHERE roctxId <> 0)",
			  0))
		return 0;
	ret = rows_ops(e->t->q, ROWS_BY_QUEUE, take_range, e);
	if (ret == 0)
		ret = flush_range(e);
	if (ret == 0)
		ret = query_prepare(e->t->q, &row, ranges_sql);
	while (ret == 0 && (ret = query_step(e->t->q, row)) == 1) {
		int64_t marker = sqlite3_column_int64(row, 0), first = sqlite3_column_int64(row, 3);

		ret = introduce_track(e, sqlite3_column_int64(row, 1),
				      sqlite3_column_int64(row, 2));
		if (ret)
			break;
		trace_event_begin(e->t, "X", sqlite3_column_int64(row, 1),
				  sqlite3_column_int64(row, 2), first);
		JSON_KEY(j, "dur");
		json_us(j, sqlite3_column_int64(row, 4) - first);
		TRACE_EVENT_TEXT(j, "cat", "gpu_user_annotation");
		TRACE_EVENT_TEXT(j, "name", query_text(row, 5));
		JSON_KEY(j, "args");
		json_object(j);
		TRACE_EVENT_NUMBER(j, "External id", marker - first_id(e, marker));
		TRACE_EVENT_NUMBER(j, "device", sqlite3_column_int64(row, 1));
		TRACE_EVENT_NUMBER(j, "stream", sqlite3_column_int64(row, 2));
		json_object_end(j);
		trace_event_end(e->t);
	}
	sqlite3_finalize(row);
	return ret;
}

/* ---- writing the file ---- */

static int prepare_events(struct events *e)
{
	struct query *q = e->t->q;
	const struct query_sql all[] = {
		{ &e->add_range,
		  "INSERT INTO kineto_range VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO "
		  "UPDATE SET first = min(first, ?4), last = max(last, ?5)" },
		{ &e->use_call, "INSERT OR IGNORE INTO kineto_call VALUES (?1)" },
		{ &e->string, ROWS_TYPE_NAME },
		{ &e->args, query_args_sql(q) },
		{ &e->call,
		  q->ours ?
			  "SELECT A.pid, A.tid, A.start, A.end, X.correlation_id FROM rocpd_api A "
			  "LEFT JOIN rtl_api_data X ON X.api_id = A.id WHERE A.id = ?1" :
			  "SELECT pid, tid, start, \"end\", 0 FROM rocpd_api WHERE id = ?1" },
		/* databases of rtl only */
		{ &e->name, "SELECT T.name FROM rtl_thread T JOIN rtl_process P ON P.id = "
			    "T.process_id WHERE P.pid = ?1 AND T.tid = ?2" },
		{ &e->shape,
		  "SELECT S.grid_x, S.grid_y, S.grid_z, S.group_x, S.group_y, S.group_z, "
		  "S.group_size, Y.vgpr_count FROM rtl_shape S JOIN rtl_kernel_symbol Y ON "
		  "Y.id = S.kernel_id WHERE S.id = ?1" },
	};
	int ret = query_run(q, "CREATE TEMP TABLE IF NOT EXISTS kineto_range (marker INTEGER, "
			       "gpu INTEGER, stream INTEGER, first INTEGER, last INTEGER, "
			       "PRIMARY KEY (marker, gpu, stream)) WITHOUT ROWID; "
			       "DELETE FROM kineto_range; CREATE TEMP TABLE IF NOT EXISTS "
			       "kineto_call (api_id INTEGER PRIMARY KEY); DELETE FROM kineto_call");

	return ret ? ret : query_prepare_all(q, all, q->ours ? sizeof(all) / sizeof(all[0]) : 5);
}

static void free_events(struct events *e)
{
	sqlite3_finalize(e->add_range);
	sqlite3_finalize(e->use_call);
	sqlite3_finalize(e->string);
	sqlite3_finalize(e->args);
	sqlite3_finalize(e->call);
	sqlite3_finalize(e->shape);
	sqlite3_finalize(e->name);
	trace_event_texts_fini(&e->functions);
	trace_event_texts_fini(&e->kernels);
	trace_event_texts_fini(&e->shapes);
	trace_event_texts_fini(&e->copies);
	map_fini(&e->tracks);
}

int kineto_events_write(struct trace_events *t)
{
	struct events e = { .t = t };
	int ret = prepare_events(&e);

	if (ret == 0)
		ret = rows_calls(t->q, take_call, &e);
	if (ret == 0)
		ret = write_ranges(&e);
	if (ret == 0)
		ret = rows_ops(t->q, ROWS_BY_QUEUE, take_op, &e);
	free_events(&e);
	return ret;
}
