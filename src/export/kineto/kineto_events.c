/* SPDX-License-Identifier: MIT */
/* kineto_events.c - events in kineto's format: the process' threads, and a track for each stream
 *
 * Readers join a call with its operations by args.correlation. An arrow's id is that number, too;
 * if a call caused several operations, the further arrows have other ids.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/kineto/kineto_internal.h"

#define FURTHER (INT64_C(1) << 40) /* ids of further arrows: above all correlation ids */

struct events {
	struct trace_events *t;
	struct walk *walk;
	struct trace_event_maker *maker;
	struct trace_event_thread thread;
	struct map tracks; /* streams with metadata events so far: gpu << 32 | stream */
	sqlite3_stmt *name, *add_range, *use_call;
	/* operations of one range on one track that are not written yet */
	int64_t range, range_gpu, range_stream, range_first, range_last;
};

/* The number of an operation's stream, from 1. If it is unknown, the queue's number, behind
 * those of the process' streams. */
static int64_t stream_of(const struct query *q, const struct rows_op *op)
{
	return op->stream ? op->stream : q->streams + op->queue + 1;
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

/* What an event has under another name, which readers require, or says itself. */
#define BIT(key) (UINT64_C(1) << WALK_##key)
#define SKIP_CALL                                                                                  \
	(BIT(TID) | BIT(API_ID) | BIT(MARKER) | BIT(BEGIN_NS) | BIT(END_NS) | BIT(CORR_ID))
#define SKIP_OP                                                                                    \
	(BIT(KERNEL) | BIT(GRID) | BIT(WORKGROUP) | BIT(LDS) | BIT(VGPR) | BIT(TYPE) |             \
	 BIT(AGENT) | BIT(QUEUE) | BIT(STREAM_ID) | BIT(STREAM) | BIT(CORR_ID) | BIT(MARKER) |     \
	 BIT(BYTES) | BIT(RATE) | BIT(BEGIN_NS) | BIT(END_NS))

struct putting {
	struct events *e;
	const struct walk_call *call;
};

static int put_row(void *arg, const struct rows_call *row, const char *phase, int64_t ns,
		   int64_t dur)
{
	const struct putting *p = arg;
	struct events *e = p->e;
	int64_t own = row->marker ? row->id : 0;
	int64_t marker = *phase == 'X' ? trace_event_range(&e->thread) : own;
	int64_t first = p->call->first;
	struct json *j = e->t->json;

	trace_event_call(e->t, row, phase, ns, dur);
	if (row->marker) {
		JSON_LITERAL(j, "cat", "user_annotation");
		TRACE_EVENT_TEXT(j, "name", p->call->message);
	} else {
		trace_event_members(j, &p->call->name);
	}
	JSON_KEY(j, "args");
	json_object(j);
	if (marker)
		TRACE_EVENT_NUMBER(j, "External id", marker - first);
	if (!row->marker)
		TRACE_EVENT_NUMBER(j, "correlation",
				   row->correlation ? row->correlation - first : row->id - first);
	trace_event_all_notes(j, &p->call->notes, SKIP_CALL | (row->status ? 0 : BIT(STATUS)));
	json_object_end(j);
	return trace_event_end(e->t);
}

static int take_call(void *arg, const struct walk_call *call)
{
	struct events *e = arg;
	const struct rows_call *row = call->row;
	struct putting p = { e, call };

	if (!e->thread.open || e->thread.pid != row->pid || e->thread.tid != row->tid)
		introduce_thread(e, row->pid, row->tid);
	return trace_event_put_call(e->t, &e->thread, row, false, put_row, &p);
}

/* ---- operations ---- */

/* The GPU's number on its host; files of several hosts add the node number. */
static int64_t gpu_of(const struct rows_op *op)
{
	return op->gpu < 0 ? 0 : op->gpu % 1000;
}

static bool is_timed(const struct rows_op *op)
{
	return rows_timed(op->start, op->end, op->flags) && op->start > 0;
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

/* RPD's name of a type as members: readers detect kinds of copies by these names. */
static void put_copy(struct json *j, const char *type)
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

/* A walk_ops.name. */
static int encode_name(void *arg, enum walk_what what, const char *text, struct kept_part *to)
{
	struct events *e = arg;
	struct json *j = trace_event_make(e->maker);

	if (what == WALK_COPY_NAME) {
		put_copy(j, text);
		return trace_event_made(e->maker, to);
	}
	json_member_text(j, "cat",
			 what == WALK_KERNEL_NAME      ? "kernel" :
			 strncmp(text, "hsa_", 4) == 0 ? "cuda_driver" :
							 "cuda_runtime");
	json_member_text(j, "name", *text ? text : "unnamed");
	return trace_event_made(e->maker, to);
}

static const struct walk_note *find_note(const struct walk_note *notes, size_t nr,
					 enum walk_key key)
{
	for (size_t i = 0; i < nr; i++)
		if (notes[i].key == key)
			return &notes[i];
	return NULL;
}

/* kineto's grids are in blocks. */
static void put_shape(struct json *j, const struct walk_note *notes, size_t nr)
{
	const struct walk_note *grid = find_note(notes, nr, WALK_GRID);
	const struct walk_note *block = find_note(notes, nr, WALK_WORKGROUP);
	const struct walk_note *lds = find_note(notes, nr, WALK_LDS);
	const struct walk_note *vgpr = find_note(notes, nr, WALK_VGPR);

	if (grid && block) {
		json_key(j, "grid");
		json_array(j);
		for (int i = 0; i < 3; i++)
			json_int(j, block->xyz[i] ?
					    (grid->xyz[i] + block->xyz[i] - 1) / block->xyz[i] :
					    grid->xyz[i]);
		json_array_end(j);
		json_key(j, "block");
		json_array(j);
		for (int i = 0; i < 3; i++)
			json_int(j, block->xyz[i]);
		json_array_end(j);
	}
	if (lds)
		json_member_int(j, "shared memory", lds->number);
	if (vgpr && vgpr->number)
		json_member_int(j, "registers per thread", vgpr->number);
}

/* A walk_ops.encode. */
static int encode_notes(void *arg, const struct walk_note *notes, size_t nr, struct kept_part *to)
{
	struct events *e = arg;
	struct json *j = trace_event_make(e->maker);

	put_shape(j, notes, nr);
	trace_event_notes(j, notes, nr, SKIP_OP);
	return trace_event_made(e->maker, to);
}

static void put_op_args(struct events *e, const struct walk_operation *op, int64_t gpu,
			int64_t stream, int64_t correlation)
{
	const struct rows_op *row = op->row;
	int64_t ns = row->end - row->start;
	struct json *j = e->t->json;

	JSON_KEY(j, "args");
	json_object(j);
	if (row->marker)
		TRACE_EVENT_NUMBER(j, "External id", row->marker - op->first);
	TRACE_EVENT_NUMBER(j, "device", gpu);
	TRACE_EVENT_NUMBER(j, "context", 0);
	TRACE_EVENT_NUMBER(j, "stream", stream);
	TRACE_EVENT_NUMBER(j, "hsa_queue", row->queue);
	TRACE_EVENT_NUMBER(j, "correlation", correlation);
	if (!row->copy) {
		JSON_LITERAL(j, "kind", "Dispatch Kernel");
	} else if (e->t->q->ours) {
		TRACE_EVENT_NUMBER(j, "bytes", row->bytes);
		JSON_KEY(j, "memory bandwidth (GB/s)");
		json_double(j, op->timed && ns > 0 ? (double)(row->bytes * 1000 / ns) / 1000 : 0);
	}
	trace_event_all_notes(j, &op->notes, SKIP_OP);
	json_object_end(j);
}

/* Whether this is the first arrow from the call. */
static bool is_first(struct events *e, int64_t call)
{
	sqlite3_bind_int64(e->use_call, 1, call);
	sqlite3_step(e->use_call);
	return sqlite3_reset(e->use_call) == SQLITE_OK && sqlite3_changes(e->t->q->db) > 0;
}

/* An arrow from the begin of the call, where readers search for it. */
static void put_arrow(struct events *e, const struct walk_operation *op,
		      const struct walk_cause *call, int64_t gpu, int64_t stream,
		      int64_t correlation)
{
	const struct rows_op *row = op->row;
	int64_t id = correlation, begin = row->start;
	struct json *j = e->t->json;

	if (begin < call->begin)
		begin = call->begin;
	if (begin >= row->end || call->begin >= call->end)
		return; /* no slice that the arrow could end in */
	if (!is_first(e, row->call))
		id = FURTHER + row->id - op->first;
	for (int to = 0; to < 2; to++) {
		trace_event_begin(e->t, to ? "f" : "s", to ? gpu : call->pid,
				  to ? stream : call->tid, to ? begin : call->begin);
		TRACE_EVENT_NUMBER(j, "id", id);
		TRACE_EVENT_TEXT(j, "cat", "ac2g");
		TRACE_EVENT_TEXT(j, "name", "ac2g");
		if (to)
			TRACE_EVENT_TEXT(j, "bp", "e");
		trace_event_end(e->t);
	}
}

/* The correlation number of a call and its operations: the call's id. `call`: NULL if it is not
 * known. */
static int64_t correlation_of(const struct walk_operation *op, const struct walk_cause *call)
{
	const struct rows_op *row = op->row;

	if (!row->call)
		return row->correlation ? row->correlation - op->first : 0;
	return (call && call->correlation ? call->correlation : row->call) - op->first;
}

static int take_op(void *arg, const struct walk_operation *op)
{
	struct events *e = arg;
	const struct rows_op *row = op->row;
	int64_t gpu = gpu_of(row), stream = stream_of(e->t->q, row), correlation;
	struct walk_cause cause;
	bool has_call = row->call && walk_cause(e->walk, row, &cause) && cause.is_call;
	int ret = introduce_track(e, gpu, stream), error;

	correlation = correlation_of(op, has_call ? &cause : NULL);
	trace_event_op(e->t, row, gpu, stream, op->timed);
	trace_event_members(e->t->json, &op->name);
	put_op_args(e, op, gpu, stream, correlation);
	error = trace_event_end(e->t);
	if (op->timed && has_call)
		put_arrow(e, op, &cause, gpu, stream, correlation);
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

static int take_range(void *arg, const struct rows_op *op)
{
	struct events *e = arg;
	int64_t gpu = gpu_of(op), stream = stream_of(e->t->q, op);
	int ret = 0;

	if (!op->marker || !is_timed(op))
		return 0;
	if (e->range != op->marker || e->range_gpu != gpu || e->range_stream != stream) {
		ret = flush_range(e);
		e->range = op->marker;
		e->range_gpu = gpu;
		e->range_stream = stream;
		e->range_first = op->start;
		e->range_last = op->end;
	}
	if (op->start < e->range_first)
		e->range_first = op->start;
	if (op->end > e->range_last)
		e->range_last = op->end;
	return ret;
}

/* A range on the GPU: from the first to the last operation that was launched within it, or within
 * an inner range. */
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
		/* databases of rtl only */
		{ &e->name, "SELECT T.name FROM rtl_thread T JOIN rtl_process P ON P.id = "
			    "T.process_id WHERE P.pid = ?1 AND T.tid = ?2" },
	};
	int ret = query_run(q, "CREATE TEMP TABLE IF NOT EXISTS kineto_range (marker INTEGER, "
			       "gpu INTEGER, stream INTEGER, first INTEGER, last INTEGER, "
			       "PRIMARY KEY (marker, gpu, stream)) WITHOUT ROWID; "
			       "DELETE FROM kineto_range; CREATE TEMP TABLE IF NOT EXISTS "
			       "kineto_call (api_id INTEGER PRIMARY KEY); DELETE FROM kineto_call");

	return ret ? ret : query_prepare_all(q, all, q->ours ? sizeof(all) / sizeof(all[0]) : 2);
}

static void free_events(struct events *e)
{
	sqlite3_finalize(e->add_range);
	sqlite3_finalize(e->use_call);
	sqlite3_finalize(e->name);
	trace_event_maker_free(e->maker);
	walk_end(e->walk);
	map_fini(&e->tracks);
}

int kineto_events_write(struct trace_events *t)
{
	static const struct walk_ops ops = {
		.operation = take_op, .call = take_call, .name = encode_name, .encode = encode_notes
	};
	struct events e = { .t = t, .maker = trace_event_maker_new() };
	int ret = e.maker ? prepare_events(&e) : query_fail_memory(t->q);

	if (ret == 0)
		ret = walk_begin(&e.walk, t->q, &ops, &e);
	if (ret == 0)
		ret = walk_calls(e.walk);
	if (ret == 0)
		ret = write_ranges(&e);
	if (ret == 0)
		ret = walk_operations_by(e.walk, ROWS_BY_QUEUE);
	free_events(&e);
	return ret;
}
