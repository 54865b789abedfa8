/* SPDX-License-Identifier: MIT */
/* perfetto_gpu.c - operations as Chrome JSON: one process for each GPU, one thread for each lane
 *
 * Operations of one queue may overlap, and a reader drops what overlaps on one track. So a queue
 * has as many lanes as it has operations at one time; rows come sorted by queue and begin, and each
 * goes to the first lane that is free. What has no valid times is an instant, with its flags.
 */
#include "export/perfetto_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "event/format.h"

#define F_PLACED (1 << 16) /* as in the table rtl_flag */
#define UNTIMED (REC_F_INVERTED | REC_F_NO_TIME | REC_F_UNFINISHED | F_PLACED)
#define LABEL_MAX 160u
#define COPY_QUEUE_UNKNOWN 9999 /* queue numbers of copies: docs/formats/database.md */
#define COPY_QUEUE 10000

/* What a track is made for. */
enum track_kind { TRACK_QUEUE, TRACK_RUNTIME, TRACK_BARRIER };

struct lane {
	int64_t end_ns, tid;
};

struct gpu_writer {
	struct perfetto *p;
	/* the track of the last row */
	enum track_kind kind;
	int64_t gpu, queue, block;
	bool copies, open;
	struct lane *lanes;
	size_t nr_lanes, max_lanes;
	int64_t next_tid;
	int64_t *gpus; /* those that were introduced */
	size_t nr_gpus;
	/* texts by id, and where they come from */
	struct perfetto_texts labels, shapes, agents, types;
	sqlite3_stmt *label, *shape, *agent, *type, *cause, *call;
	/* the marker or call of the last arrow */
	int64_t cause_id, cause_pid, cause_tid, cause_ns;
	bool cause_good;
};

/* Columns of every query here. */
enum {
	Q_ID,
	Q_GPU,
	Q_QUEUE,
	Q_SEQUENCE,
	Q_START,
	Q_END,
	Q_DESCRIPTION,
	Q_TYPE,
	Q_MARKER,
	Q_CORRELATION,
	Q_SHAPE,
	Q_FLAGS,
	Q_COPY,
	Q_BYTES,
	Q_SRC,
	Q_DST,
	Q_CALL,
	Q_NR,
};

static int64_t column(sqlite3_stmt *row, int i)
{
	return sqlite3_column_int64(row, i);
}

static const char *text_of(sqlite3_stmt *row, int i)
{
	const unsigned char *text = row ? sqlite3_column_text(row, i) : NULL;

	return text ? (const char *)text : "";
}

/* ---- texts ---- */

/* A name to be read on the track: without the parameter list, and of bounded length. */
static size_t label_size(const char *name)
{
	size_t n = strlen(name), depth = 0, cut = n;

	if (n && name[n - 1] == ')')
		for (size_t i = n; i-- > 0;) {
			depth += name[i] == ')';
			depth -= name[i] == '(' && depth;
			if (!depth) {
				cut = i ? i : n;
				break;
			}
		}
	return cut;
}

static void make_label(struct json *j, sqlite3_stmt *row)
{
	const char *name = text_of(row, 0);
	size_t n = label_size(name);
	char cut[LABEL_MAX + 4];

	if (!*name) {
		json_text(j, "unnamed");
	} else if (n <= LABEL_MAX) {
		json_text_size(j, name, n);
	} else {
		memcpy(cut, name, LABEL_MAX - 3);
		memcpy(cut + LABEL_MAX - 3, "...", 3);
		json_text_size(j, cut, LABEL_MAX);
	}
}

static void make_string(struct json *j, sqlite3_stmt *row)
{
	json_text(j, text_of(row, 0));
}

#define KEY_NUMBER(j, key, value) (JSON_KEY(j, key), json_int((j), (value)))

/* Members of an object that is open in the file: no braces. */
static void make_shape(struct json *j, sqlite3_stmt *row)
{
	const char *mangled = text_of(row, 1);
	size_t n = strlen(mangled);

	if (!row)
		return;
	JSON_KEY(j, "kernel");
	json_text(j, text_of(row, 0));
	JSON_KEY(j, "mangled");
	json_text_size(j, mangled, n > 3 && strcmp(mangled + n - 3, ".kd") == 0 ? n - 3 : n);
	for (int i = 0; i < 2; i++) {
		json_key(j, i ? "workgroup" : "grid");
		json_array(j);
		for (int k = 0; k < 3; k++)
			json_int(j, column(row, 2 + 3 * i + k));
		json_array_end(j);
	}
	KEY_NUMBER(j, "lds_bytes", column(row, 8));
	KEY_NUMBER(j, "scratch_bytes", column(row, 9));
}

/* ---- tracks ---- */

static int introduce_gpu(struct gpu_writer *w, int64_t gpu)
{
	int64_t *grown;
	char name[64];

	for (size_t i = 0; i < w->nr_gpus; i++)
		if (w->gpus[i] == gpu)
			return 0;
	grown = alloc_resize(w->gpus, w->nr_gpus + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	w->gpus = grown;
	grown[w->nr_gpus++] = gpu;
	if (gpu >= 0)
		snprintf(name, sizeof(name), "GPU %lld", (long long)gpu);
	else
		snprintf(name, sizeof(name), "operations of no GPU");
	perfetto_meta(w->p, "process_name", PERFETTO_GPU_PID + gpu, 0, name, 0);
	perfetto_meta(w->p, "process_sort_index", PERFETTO_GPU_PID + gpu, 0, NULL, 1000000 + gpu);
	return 0;
}

static void name_lane(struct gpu_writer *w, size_t lane, int64_t id)
{
	const struct perfetto_process *process = perfetto_process_of(w->p, id);
	int64_t pid = PERFETTO_GPU_PID + w->gpu;
	char name[128], of[48] = "", more[32] = "";

	if (process && w->p->nr_processes > 1)
		snprintf(of, sizeof(of), " (pid %lld)", (long long)process->pid);
	if (lane)
		snprintf(more, sizeof(more), " #%zu", lane + 1);
	if (w->kind == TRACK_RUNTIME)
		snprintf(name, sizeof(name), "runtime's queue %lld%s%s", (long long)w->queue, of,
			 more);
	else if (w->kind == TRACK_BARRIER)
		snprintf(name, sizeof(name), "queue %lld barriers%s%s", (long long)w->queue, of,
			 more);
	else if (w->copies && w->queue >= COPY_QUEUE && w->p->ours)
		snprintf(name, sizeof(name), "copies, engine %lld%s%s",
			 (long long)w->queue - COPY_QUEUE, of, more);
	else if (w->copies && w->queue == COPY_QUEUE_UNKNOWN && w->p->ours)
		snprintf(name, sizeof(name), "copies%s%s", of, more);
	else
		snprintf(name, sizeof(name), "queue %lld%s%s", (long long)w->queue, of, more);
	perfetto_meta(w->p, "thread_name", pid, w->lanes[lane].tid, name, 0);
	perfetto_meta(w->p, "thread_sort_index", pid, w->lanes[lane].tid, NULL, w->lanes[lane].tid);
}

/* The lane for an operation of the current track, made when all are taken. NULL: no memory. */
static struct lane *find_lane(struct gpu_writer *w, int64_t id, int64_t begin, int64_t end)
{
	for (size_t i = 0; i < w->nr_lanes; i++)
		if (w->lanes[i].end_ns <= begin) {
			w->lanes[i].end_ns = end;
			return &w->lanes[i];
		}
	if (w->nr_lanes == w->max_lanes) {
		size_t max = w->max_lanes ? w->max_lanes * 2 : 8;
		struct lane *grown = alloc_resize(w->lanes, max, sizeof(*grown));

		if (!grown)
			return NULL;
		w->lanes = grown;
		w->max_lanes = max;
	}
	w->lanes[w->nr_lanes] = (struct lane){ .end_ns = end, .tid = w->next_tid++ };
	name_lane(w, w->nr_lanes, id);
	return &w->lanes[w->nr_lanes++];
}

static int choose_track(struct gpu_writer *w, const int64_t *op, enum track_kind kind)
{
	int64_t gpu = op[Q_GPU], queue = op[Q_QUEUE], block = op[Q_ID] >> 32;

	if (w->open && w->kind == kind && w->gpu == gpu && w->queue == queue && w->block == block)
		return 0;
	w->open = true;
	w->kind = kind;
	w->gpu = gpu;
	w->queue = queue;
	w->block = block;
	w->copies = op[Q_COPY] != 0;
	w->nr_lanes = 0;
	return introduce_gpu(w, gpu);
}

/* ---- events ---- */

static void put_flags(struct json *j, int64_t flags)
{
	static const struct {
		int64_t bit;
		const char *name;
	} names[] = {
		{ REC_F_HAD_SIGNAL, "had_signal" }, { REC_F_INVERTED, "inverted" },
		{ REC_F_NO_TIME, "no_time" },	    { REC_F_UNFINISHED, "unfinished" },
		{ REC_F_GRAPH, "graph" },	    { REC_F_INTERNAL, "internal" },
		{ REC_F_SHARED, "shared" },
	};

	if (!(flags & 0x7f))
		return;
	JSON_KEY(j, "flags");
	json_array(j);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & names[i].bit)
			json_text(j, names[i].name);
	json_array_end(j);
}

static int put_cached(struct gpu_writer *w, struct perfetto_texts *texts, sqlite3_stmt *stmt,
		      int64_t key, perfetto_make_fn make, bool members)
{
	const struct perfetto_text *text = perfetto_text(w->p, texts, key, stmt, make);
	struct json *j = &w->p->json;

	if (!text)
		return -ENOMEM;
	if (text->size || !members)
		json_raw(j, text->json, text->size);
	return 0;
}

static int put_args(struct gpu_writer *w, const int64_t *op)
{
	const struct perfetto_process *process = perfetto_process_of(w->p, op[Q_ID]);
	int64_t first = process ? process->id_first : 0, begin = op[Q_START];
	struct json *j = &w->p->json;
	int ret = 0;

	JSON_KEY(j, "args");
	json_object(j);
	if (op[Q_SHAPE]) {
		ret = put_cached(w, &w->shapes, w->shape, op[Q_SHAPE], make_shape, true);
	} else if (op[Q_COPY]) {
		KEY_NUMBER(j, "bytes", op[Q_BYTES]);
		JSON_KEY(j, "src");
		ret = put_cached(w, &w->agents, w->agent, op[Q_SRC], make_string, false);
		JSON_KEY(j, "dst");
		if (ret == 0)
			ret = put_cached(w, &w->agents, w->agent, op[Q_DST], make_string, false);
	} else if (op[Q_TYPE]) {
		JSON_KEY(j, "type");
		ret = put_cached(w, &w->types, w->type, op[Q_TYPE], make_string, false);
	}
	if (process)
		KEY_NUMBER(j, "pid", process->pid);
	KEY_NUMBER(j, "queue", op[Q_QUEUE]);
	KEY_NUMBER(j, "packet", op[Q_SEQUENCE]);
	if (op[Q_CORRELATION])
		KEY_NUMBER(j, "corr_id", op[Q_CORRELATION] - first);
	if (op[Q_MARKER])
		KEY_NUMBER(j, "marker", op[Q_MARKER] - first);
	KEY_NUMBER(j, "begin_ns", begin);
	KEY_NUMBER(j, "end_ns", op[Q_END]);
	put_flags(j, op[Q_FLAGS]);
	json_object_end(j);
	return ret;
}

/* Looks for the row that caused an operation: its place is where the arrow begins. */
static bool find_cause(struct gpu_writer *w, int64_t id, sqlite3_stmt *stmt)
{
	if (w->cause_id == id)
		return w->cause_good;
	w->cause_id = id;
	sqlite3_reset(stmt);
	sqlite3_bind_int64(stmt, 1, id);
	w->cause_good = sqlite3_step(stmt) == SQLITE_ROW;
	if (w->cause_good) {
		w->cause_pid = sqlite3_column_int64(stmt, 0);
		w->cause_tid = sqlite3_column_int64(stmt, 1);
		w->cause_ns = sqlite3_column_int64(stmt, 2);
	}
	return w->cause_good;
}

/* An arrow to the operation from its marker, or from the call that launched it. */
static void put_arrow(struct gpu_writer *w, const int64_t *op, int64_t tid, int64_t begin)
{
	int64_t call = w->call ? op[Q_CALL] : 0, marker = op[Q_MARKER];
	struct json *j = &w->p->json;
	bool found = call && find_cause(w, call, w->call);

	if (!found)
		found = marker && w->cause && find_cause(w, marker, w->cause);
	if (!found || w->cause_ns > begin)
		return;
	for (int end = 0; end < 2; end++) {
		perfetto_event(w->p, end ? "f" : "s",
			       end ? PERFETTO_GPU_PID + w->gpu : w->cause_pid,
			       end ? tid : w->cause_tid, end ? begin : w->cause_ns);
		if (end) {
			JSON_KEY(j, "bp");
			json_text(j, "e");
		}
		JSON_KEY(j, "id");
		json_int(j, op[Q_ID]);
		JSON_KEY(j, "cat");
		json_text(j, "launch");
		JSON_KEY(j, "name");
		json_text(j, "launch");
		json_object_end(j);
		json_bytes(j, "\n", 1);
	}
}

static int put_op(struct gpu_writer *w, const int64_t *op, enum track_kind kind)
{
	static const char *const categories[] = { "kernel", "runtime", "barrier" };
	int64_t begin = op[Q_START], end = op[Q_END];
	bool timed = !(op[Q_FLAGS] & UNTIMED) && end >= begin && begin > 0;
	struct json *j = &w->p->json;
	struct lane *lane;
	int ret = choose_track(w, op, kind);

	if (ret < 0)
		return ret;
	if (begin < w->p->base_ns)
		begin = w->p->base_ns; /* one that has no begin */
	lane = find_lane(w, op[Q_ID], begin, timed ? end : begin);
	if (!lane)
		return -ENOMEM;
	perfetto_event(w->p, timed ? "X" : "i", PERFETTO_GPU_PID + w->gpu, lane->tid, begin);
	json_key(j, timed ? "dur" : "s");
	if (timed)
		json_us(j, end - begin);
	else
		json_text(j, "t");
	JSON_KEY(j, "cat");
	json_text(j, op[Q_COPY] ? "copy" : categories[kind]);
	JSON_KEY(j, "name");
	if (kind == TRACK_BARRIER)
		json_text(j, "barrier");
	else
		ret = op[Q_COPY] ?
			      put_cached(w, &w->types, w->type, op[Q_TYPE], make_string, false) :
			      put_cached(w, &w->labels, w->label, op[Q_DESCRIPTION], make_label,
					 false);
	if (ret == 0)
		ret = put_args(w, op);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	if (ret == 0 && kind == TRACK_QUEUE && timed)
		put_arrow(w, op, lane->tid, begin);
	return ret;
}

static int write_rows(struct gpu_writer *w, const char *sql, enum track_kind kind)
{
	sqlite3_stmt *row = NULL;
	int ret = perfetto_prepare(w->p, &row, sql);
	int64_t op[Q_NR];

	w->open = false;
	while (ret == 0 && (ret = perfetto_step(w->p, row)) == 1) {
		for (int i = 0; i < Q_NR; i++)
			op[i] = column(row, i);
		ret = put_op(w, op, kind);
		if (ret == -ENOMEM && !w->p->res->error[0])
			snprintf(w->p->res->error, sizeof(w->p->res->error), "%s: out of memory",
				 w->p->path);
	}
	sqlite3_finalize(row);
	return ret;
}

/* ---- queries ---- */

#define ORDER " ORDER BY 2, 3, O.id >> 32, 5"

static const char ours_sql[] =
	"SELECT O.id, O.gpuId, O.queueId, O.sequenceId, O.start, O.end, O.description_id, O.opType_id, O.roctxId, "
	"O.correlation_id, K.shape_id, coalesce(K.flags, C.flags, 0), C.op_id IS NOT NULL, C.bytes, C.src_agent_id, "
	"C.dst_agent_id, 0 FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON "
	"C.op_id = O.id" ORDER;

/* the same with the call that launched it, where calls were traced */
static const char ours_calls_sql[] =
	"SELECT O.id, O.gpuId, O.queueId, O.sequenceId, O.start, O.end, O.description_id, O.opType_id, O.roctxId, "
	"O.correlation_id, K.shape_id, coalesce(K.flags, C.flags, 0), C.op_id IS NOT NULL, C.bytes, C.src_agent_id, "
	"C.dst_agent_id, L.api_id FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy "
	"C ON C.op_id = O.id LEFT JOIN (SELECT op_id, min(api_id) AS api_id FROM rocpd_api_ops GROUP BY op_id) L ON "
	"L.op_id = O.id" ORDER;

static const char rpd_sql[] =
	"SELECT O.id, O.gpuId, O.queueId, O.sequenceId, O.start, O.\"end\", O.description_id, O.opType_id, 0, 0, 0, "
	"0, T.string LIKE 'Copy%' OR T.string LIKE 'Fill%' OR T.string LIKE 'Mem%', 0, 0, 0, L.api_id FROM rocpd_op "
	"O JOIN rocpd_string T ON T.id = O.opType_id LEFT JOIN (SELECT op_id, min(api_id) AS api_id FROM "
	"rocpd_api_ops GROUP BY op_id) L ON L.op_id = O.id" ORDER;

static const char runtime_sql[] =
	"SELECT O.op_id, O.gpu_id, O.queue_id, O.packet_index, O.begin_ns, O.end_ns, S.kernel_id, 0, O.marker_id, "
	"O.correlation_id, O.shape_id, O.flags, 0, 0, 0, 0, 0 FROM rtl_op_runtime O JOIN rtl_shape S ON S.id = "
	"O.shape_id ORDER BY 2, 3, O.op_id >> 32, 5";

static const char barrier_sql[] =
	"SELECT O.op_id, coalesce(O.gpu_id, -1), O.queue_id, O.packet_index, O.begin_ns, O.end_ns, 0, 0, 0, "
	"O.correlation_id, 0, O.flags, 0, 0, 0, 0, 0 FROM rtl_op_barrier O ORDER BY 2, 3, O.op_id >> 32, 5";

static int prepare(struct gpu_writer *w, bool *calls)
{
	struct perfetto *p = w->p;
	sqlite3_stmt *any = NULL;
	int ret = perfetto_prepare(p, &w->label, "SELECT string FROM rocpd_string WHERE id = ?1");

	*calls = !p->ours;
	if (ret == 0)
		ret = perfetto_prepare(p, &w->type,
				       "SELECT string FROM rocpd_string WHERE id = ?1");
	if (ret == 0 && p->ours)
		ret = perfetto_prepare(
			p, &w->shape,
			"SELECT Y.demangled, Y.name, S.grid_x, S.grid_y, S.grid_z, "
			"S.group_x, S.group_y, S.group_z, S.group_size, "
			"S.private_size FROM rtl_shape S JOIN rtl_kernel_symbol Y ON "
			"Y.id = S.kernel_id WHERE S.id = ?1");
	if (ret == 0 && p->ours)
		ret = perfetto_prepare(p, &w->agent, "SELECT label FROM rtl_agent WHERE id = ?1");
	/* ranges of start and stop lie on no thread's track: no arrow can begin there */
	if (ret == 0 && p->ours)
		ret = perfetto_prepare(p, &w->cause,
				       "SELECT A.pid, A.tid, A.start FROM rocpd_api A JOIN "
				       "rtl_marker_data M ON M.api_id = A.id WHERE A.id = ?1 AND "
				       "M.kind <> 2");
	if (ret == 0 && p->ours)
		ret = perfetto_prepare(p, &any, "SELECT 1 FROM rtl_api LIMIT 1");
	if (any)
		*calls = sqlite3_step(any) == SQLITE_ROW;
	sqlite3_finalize(any);
	if (ret == 0 && *calls)
		ret = perfetto_prepare(
			p, &w->call,
			p->ours ? "SELECT pid, tid, begin_ns FROM rtl_api WHERE "
				  "api_id = ?1" :
				  "SELECT pid, tid, start FROM rocpd_api WHERE id = ?1");
	return ret;
}

static void fini(struct gpu_writer *w)
{
	sqlite3_stmt *const stmts[] = { w->label, w->type, w->shape, w->agent, w->cause, w->call };

	for (size_t i = 0; i < sizeof(stmts) / sizeof(stmts[0]); i++)
		sqlite3_finalize(stmts[i]);
	perfetto_texts_fini(&w->labels);
	perfetto_texts_fini(&w->types);
	perfetto_texts_fini(&w->shapes);
	perfetto_texts_fini(&w->agents);
	alloc_free(w->lanes);
	alloc_free(w->gpus);
}

int perfetto_gpu_write(struct perfetto *p)
{
	struct gpu_writer w = { .p = p, .next_tid = 1 };
	bool calls;
	int ret = prepare(&w, &calls);

	if (ret == 0)
		ret = write_rows(&w,
				 !p->ours ? rpd_sql :
				 calls	  ? ours_calls_sql :
					    ours_sql,
				 TRACK_QUEUE);
	if (ret == 0 && p->ours) {
		/* names of the runtime's kernels are those of their symbols */
		sqlite3_finalize(w.label);
		w.label = NULL;
		perfetto_texts_fini(&w.labels);
		memset(&w.labels, 0, sizeof(w.labels));
		ret = perfetto_prepare(p, &w.label,
				       "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1");
		if (ret == 0)
			ret = write_rows(&w, runtime_sql, TRACK_RUNTIME);
		if (ret == 0)
			ret = write_rows(&w, barrier_sql, TRACK_BARRIER);
	}
	fini(&w);
	return ret;
}
