/* SPDX-License-Identifier: MIT */
/* pftrace_gpu.c - operations in Perfetto's format: a group of tracks for each GPU, a track for each lane of a queue
 *
 * If streams are known, a second group of each GPU shows the same operations by stream, with another category. An operation without valid
 * times is an instant. A call and the operations that it caused have one flow: its row's id.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/pftrace/pftrace_internal.h"

#define CACHE_MAX (8u << 20)

/* Annotations that many events have, encoded, by the id of a row. */
struct cache {
	struct map index;
	struct proto bytes; /* of all, one behind the other */
	struct piece {
		size_t at, size;
	} * pieces;
	size_t nr, max;
};

/* A kernel, of which there are many shapes. */
struct kernel {
	uint64_t text, mangled; /* interned; 0: the trace does not know it */
	int64_t id, vgpr, accum_vgpr, sgpr;
};

struct writer {
	struct pftrace *t;
	enum rows_order order;
	struct tracks tracks;
	struct track *track; /* of the last operation */
	struct map groups;   /* GPU and kind -> track */
	struct cache shapes, agents, types, streams;
	sqlite3_stmt *label, *symbol, *type, *stream, *graph, *kernel, *agent;
	struct query_texts shape;
	struct map kernel_index; /* row of rtl_kernel_symbol -> kernels */
	struct kernel *kernels;
	size_t nr_kernels, max_kernels;
	struct map gpus; /* GPU -> number of "GPU 0" */
	int64_t gpu;	 /* of the last operation, and its number */
	uint64_t gpu_text;
};

/* ---- cached annotations ---- */

static void put_xyz(struct pftrace *t, struct proto *p, enum pftrace_name name,
		    enum pftrace_name size, sqlite3_stmt *row, int column)
{
	int64_t v[3], all = 1;
	char text[72];
	size_t used = 0;

	for (int i = 0; i < 3; i++) {
		v[i] = sqlite3_column_int64(row, column + i);
		all = (int64_t)((uint64_t)all * (uint64_t)v[i]);
		used += json_digits(text + used, v[i]);
		text[used++] = i < 2 ? ',' : '\0';
	}
	pftrace_put_interned(t, p, name, text);
	pftrace_put_int(p, size, all);
}

/* NULL: out of memory. Valid until the next call. */
static const struct kernel *find_kernel(struct writer *w, int64_t id)
{
	struct kernel *grown, *k;
	sqlite3_stmt *row;
	uint64_t i;

	if (map_get(&w->kernel_index, (uint64_t)id, &i))
		return &w->kernels[i];
	grown = alloc_grow(w->kernels, w->nr_kernels, &w->max_kernels, 64, sizeof(*grown));
	if (grown)
		w->kernels = grown;
	if (!grown || map_put(&w->kernel_index, (uint64_t)id, w->nr_kernels))
		return NULL;
	k = &w->kernels[w->nr_kernels++];
	*k = (struct kernel){ 0 };
	row = query_row(w->kernel, id);
	if (!row)
		return k;
	k->text = pftrace_text(w->t, query_text(row, 0));
	k->mangled = pftrace_text(w->t, query_text(row, 1));
	k->id = sqlite3_column_int64(row, 2);
	k->vgpr = sqlite3_column_int64(row, 3);
	k->accum_vgpr = sqlite3_column_int64(row, 4);
	k->sgpr = sqlite3_column_int64(row, 5);
	return k;
}

/* Writes what belongs to the id of a row; nothing if there is no row. */
typedef void (*make_fn)(struct writer *w, struct proto *p, int64_t id);

/* A kernel and its sizes. */
static void make_shape(struct writer *w, struct proto *p, int64_t id)
{
	sqlite3_stmt *row = query_next_row(&w->shape, id);
	const struct kernel *k = row ? find_kernel(w, sqlite3_column_int64(row, 1)) : NULL;

	p->failed |= row && !k;
	if (!k || !k->text)
		return;
	pftrace_put_iid(p, A_KERNEL, k->text);
	pftrace_put_iid(p, A_MANGLED, k->mangled);
	put_xyz(w->t, p, A_GRID, A_GRID_SIZE, row, 2);
	put_xyz(w->t, p, A_WORKGROUP, A_WORKGROUP_SIZE, row, 5);
	pftrace_put_int(p, A_KERNEL_ID, k->id);
	pftrace_put_int(p, A_LDS, sqlite3_column_int64(row, 8));
	pftrace_put_int(p, A_SCRATCH, sqlite3_column_int64(row, 9));
	pftrace_put_int(p, A_VGPR, k->vgpr);
	pftrace_put_int(p, A_ACCUM_VGPR, k->accum_vgpr);
	pftrace_put_int(p, A_SGPR, k->sgpr);
}

static void make_type(struct writer *w, struct proto *p, int64_t id)
{
	pftrace_put_interned(w->t, p, A_TYPE, query_look_up(w->type, id));
}

static void make_stream(struct writer *w, struct proto *p, int64_t id)
{
	pftrace_put_interned(w->t, p, A_STREAM, query_look_up(w->stream, id));
}

static void make_src(struct writer *w, struct proto *p, int64_t id)
{
	pftrace_put_interned(w->t, p, A_SRC, query_look_up(w->agent, id));
}

static void make_dst(struct writer *w, struct proto *p, int64_t id)
{
	pftrace_put_interned(w->t, p, A_DST, query_look_up(w->agent, id));
}

/* Begins anew when it is large; interned texts stay. */
static int add_piece(struct writer *w, struct cache *c, int64_t key, make_fn make)
{
	struct piece *grown;
	size_t at;

	if (c->bytes.used > CACHE_MAX) {
		map_clear(&c->index);
		c->bytes.used = c->nr = 0;
	}
	at = c->bytes.used;
	make(w, &c->bytes, key);
	grown = alloc_grow(c->pieces, c->nr, &c->max, 64, sizeof(*grown));
	if (grown)
		c->pieces = grown;
	if (!grown || c->bytes.failed || map_put(&c->index, (uint64_t)key, c->nr))
		return query_fail_memory(w->t->q);
	c->pieces[c->nr++] = (struct piece){ at, c->bytes.used - at };
	return 0;
}

static int put_cached(struct writer *w, struct cache *c, int64_t key, make_fn make)
{
	uint64_t i;
	int ret = 0;

	if (!map_get(&c->index, (uint64_t)key, &i)) {
		ret = add_piece(w, c, key, make);
		i = c->nr - 1;
	}
	if (ret == 0)
		proto_raw(&w->t->packet, c->bytes.buf + c->pieces[i].at, c->pieces[i].size);
	return ret;
}

static void free_cache(struct cache *c)
{
	map_fini(&c->index);
	proto_fini(&c->bytes);
	alloc_free(c->pieces);
}

/* ---- tracks ---- */

static int choose_group(struct writer *w, const int64_t *op)
{
	bool streams = w->track->kind == ROWS_BY_STREAM;
	uint64_t key = (uint64_t)op[OP_GPU] << 1 | streams;
	char name[TRACK_NAME];

	if (map_get(&w->groups, key, &w->track->group))
		return 0;
	tracks_group(w->track, name);
	w->track->group =
		pftrace_track(w->t, &(struct pftrace_track){ .name = name, .pid = -1, .tid = -1 });
	return map_put(&w->groups, key, w->track->group);
}

static int put_gpu(struct writer *w, int64_t gpu)
{
	char name[32];

	if (gpu < 0)
		return 0;
	if (gpu != w->gpu && !map_get(&w->gpus, (uint64_t)gpu, &w->gpu_text)) {
		snprintf(name, sizeof(name), "GPU %lld", (long long)gpu);
		w->gpu_text = pftrace_text(w->t, name);
		if (map_put(&w->gpus, (uint64_t)gpu, w->gpu_text))
			return query_fail_memory(w->t->q);
	}
	w->gpu = gpu;
	pftrace_put_iid(&w->t->packet, A_AGENT, w->gpu_text);
	return 0;
}

static struct lane *find_lane(struct writer *w, const int64_t *op, int64_t begin, int64_t end)
{
	struct lane *lane = tracks_find_lane(&w->track->lanes, begin, end);
	char name[TRACK_NAME];

	if (lane && !lane->id) {
		tracks_name(w->t->q, w->track, op, w->track->lanes.nr - 1, w->stream, name);
		lane->id = pftrace_track(w->t, &(struct pftrace_track){
						       .name = name,
						       .parent = w->track->group,
						       .rank = (int64_t)w->t->nr_tracks,
						       .pid = -1,
						       .tid = -1,
					       });
	}
	return lane;
}

/* ---- events ---- */

static void put_flags(struct proto *p, int64_t flags)
{
	char text[128] = "";
	size_t used = 0;

	if (!(flags & TRACK_FLAG_MASK))
		return;
	for (size_t i = 0; i < TRACK_FLAGS; i++)
		if (flags & track_flags[i].bit)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " " : "", track_flags[i].name);
	pftrace_put_text(p, A_FLAGS, text);
}

static int put_copy(struct writer *w, const int64_t *op)
{
	double rate = tracks_rate(op);
	int ret;

	pftrace_put_int(&w->t->packet, A_BYTES, op[OP_BYTES]);
	if (rate > 0)
		pftrace_put_double(&w->t->packet, A_RATE, rate);
	ret = put_cached(w, &w->agents, op[OP_SRC] << 1, make_src);
	return ret ? ret : put_cached(w, &w->agents, op[OP_DST] << 1 | 1, make_dst);
}

static void put_graph(struct writer *w, const int64_t *op)
{
	struct proto *p = &w->t->packet;

	if (!w->graph || !op[OP_CALL] || !query_row(w->graph, op[OP_ID]))
		return;
	pftrace_put_text(p, A_GRAPH_EXEC, query_text(w->graph, 0));
	pftrace_put_int(p, A_GRAPH_REPLAY, sqlite3_column_int64(w->graph, 1));
	pftrace_put_int(p, A_GRAPH_NODE, sqlite3_column_int64(w->graph, 2));
}

static int put_annotations(struct writer *w, const int64_t *op)
{
	const struct query_process *process = query_process_of(w->t->q, op[OP_ID]);
	int64_t first = process ? process->id_first : 0;
	struct proto *p = &w->t->packet;
	int ret = 0;

	if (op[OP_COPY] && w->t->q->ours)
		ret = put_copy(w, op);
	if (ret == 0 && op[OP_SHAPE])
		ret = put_cached(w, &w->shapes, op[OP_SHAPE], make_shape);
	else if (op[OP_TYPE] && !(op[OP_COPY] && w->t->q->ours))
		ret = put_cached(w, &w->types, op[OP_TYPE], make_type);
	if (ret == 0)
		ret = put_gpu(w, op[OP_GPU]);
	if (process)
		pftrace_put_int(p, A_PID, process->pid);
	pftrace_put_int(p, A_QUEUE, op[OP_QUEUE]);
	pftrace_put_int(p, A_PACKET, op[OP_SEQUENCE]);
	pftrace_put_int(p, A_STREAM_ID, op[OP_STREAM] - (w->t->q->streams_from_0 && op[OP_STREAM]));
	if (ret == 0 && op[OP_STREAM])
		ret = put_cached(w, &w->streams, rows_stream_key(op), make_stream);
	pftrace_put_int(p, A_CORR_ID, op[OP_CORRELATION] ? op[OP_CORRELATION] - first : 0);
	if (op[OP_CALL])
		pftrace_put_int(p, A_API_ID, op[OP_CALL] - first);
	if (op[OP_MARKER])
		pftrace_put_int(p, A_MARKER, op[OP_MARKER] - first);
	put_graph(w, op);
	pftrace_put_int(p, A_BEGIN_NS, op[OP_START]);
	pftrace_put_int(p, A_END_NS, op[OP_END]);
	pftrace_put_int(p, A_DELTA_NS, op[OP_END] - op[OP_START]);
	put_flags(p, op[OP_FLAGS]);
	return ret;
}

static enum pftrace_category category_of(const struct writer *w, const int64_t *op)
{
	switch (w->track->kind) {
	case ROWS_BY_STREAM:
		return C_STREAM;
	case ROWS_RUNTIME:
		return C_RUNTIME;
	case ROWS_BARRIERS:
		return C_BARRIER;
	case ROWS_BY_QUEUE:
		break;
	}
	return op[OP_COPY] ? C_COPY : C_KERNEL;
}

static void put_name(struct writer *w, const int64_t *op)
{
	if (w->track->kind == ROWS_BARRIERS)
		pftrace_name_text(w->t, NAME_BARRIER, 0, "barrier");
	else if (w->track->kind == ROWS_RUNTIME) /* OP_NAME is a kernel symbol */
		pftrace_name(w->t, NAME_SYMBOL, op[OP_NAME], w->symbol, true);
	else if (op[OP_COPY])
		pftrace_name(w->t, NAME_TYPE, op[OP_TYPE], w->type, false);
	else
		pftrace_name(w->t, NAME_KERNEL, op[OP_NAME], w->label, true);
}

static int put_op(struct writer *w, const int64_t *op)
{
	int64_t begin = op[OP_START], end = op[OP_END];
	bool timed = rows_timed(begin, end, op[OP_FLAGS]) && begin > 0;
	int64_t cause = op[OP_CALL] ? op[OP_CALL] : op[OP_MARKER];
	struct proto *p = &w->t->packet;
	struct lane *lane;
	int ret = 0, error;

	if (begin < w->t->q->first_ns)
		begin = w->t->q->first_ns; /* no begin */
	lane = find_lane(w, op, begin, timed ? end : begin);
	if (!lane)
		return query_fail_memory(w->t->q);
	pftrace_begin(w->t, timed ? TYPE_BEGIN : TYPE_INSTANT, lane->id, begin);
	proto_uint(p, EVENT_CATEGORY, category_of(w, op));
	put_name(w, op);
	if (w->track->kind == ROWS_BY_STREAM)
		pftrace_put_int(p, A_OP, op[OP_ID]);
	else
		ret = put_annotations(w, op);
	if (w->track->kind == ROWS_BY_QUEUE && cause)
		proto_fixed64(p, EVENT_FLOW, (uint64_t)cause);
	error = pftrace_end(w->t);
	if (error == 0 && timed)
		error = pftrace_slice_end(w->t, lane->id, end);
	return ret ? ret : error;
}

static int take_row(void *arg, const int64_t *op)
{
	struct writer *w = arg;
	bool fresh;
	int ret = 0;

	if (!rows_has_op(w->t->q, op))
		return 0;
	w->track = tracks_of(&w->tracks, op, w->order, &fresh);
	if (!w->track)
		return query_fail_memory(w->t->q);
	if (fresh)
		ret = choose_group(w, op);
	return ret == 0 ? put_op(w, op) : ret;
}

static int take_op(void *arg, const int64_t *op)
{
	struct writer *w = arg;

	return tracks_show(op, &w->order, take_row, w);
}

static int write_rows(struct writer *w, enum rows_order order)
{
	w->order = order;
	return rows_ops(w->t->q, order, take_row, w);
}

static int prepare_writer(struct writer *w)
{
	struct query *q = w->t->q;
	const struct query_sql all[] = {
		{ &w->label, QUERY_STRING },
		{ &w->type, ROWS_TYPE_NAME },
		{ &w->stream, ROWS_STREAM_NAME },
		{ &w->graph,
		  q->has_graphs ?
			  "SELECT exec, replay, node FROM temp.query_graph WHERE op_id = ?1" :
			  NULL },
		/* databases of rtl only */
		{ &w->shape.stmt,
		  "SELECT id, kernel_id, grid_x, grid_y, grid_z, group_x, group_y, group_z, "
		  "group_size, private_size FROM rtl_shape WHERE id >= ?1 ORDER BY id" },
		{ &w->kernel, "SELECT demangled, name, kernel_id, vgpr_count, accum_vgpr_count, "
			      "sgpr_count FROM rtl_kernel_symbol WHERE id = ?1" },
		{ &w->agent, "SELECT label FROM rtl_agent WHERE id = ?1 >> 1" },
		{ &w->symbol, "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1" },
	};

	return query_prepare_all(q, all, q->ours ? sizeof(all) / sizeof(all[0]) : 4);
}

static void free_writer(struct writer *w)
{
	sqlite3_stmt *const stmts[] = { w->label, w->symbol, w->type, w->kernel,
					w->agent, w->stream, w->graph };

	for (size_t i = 0; i < sizeof(stmts) / sizeof(stmts[0]); i++)
		sqlite3_finalize(stmts[i]);
	query_texts_end(&w->shape);
	map_fini(&w->kernel_index);
	alloc_free(w->kernels);
	free_cache(&w->shapes);
	free_cache(&w->agents);
	free_cache(&w->types);
	free_cache(&w->streams);
	tracks_fini(&w->tracks);
	map_fini(&w->groups);
	map_fini(&w->gpus);
}

int pftrace_gpu_write(struct pftrace *t)
{
	struct writer w = { .t = t };
	int ret = prepare_writer(&w);

	w.gpu = INT64_MIN;
	if (ret == 0)
		ret = rows_by_time(t->q, take_op, &w);
	if (ret == 0)
		ret = write_rows(&w, ROWS_RUNTIME);
	if (ret == 0)
		ret = write_rows(&w, ROWS_BARRIERS);
	free_writer(&w);
	return ret;
}
