/* SPDX-License-Identifier: MIT */
/* walk_op.c - operations as events, and what they are annotated with */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/walk_internal.h"

/* ---- parts ---- */

/* A kernel and its sizes; nothing if the trace does not know the shape. */
static int add_shape(struct walk *walk, int64_t id, struct walk_notes *to)
{
	struct walk_note notes[WALK_NR];
	sqlite3_stmt *row, *kernel;
	size_t nr = 0;

	if (walk_has(&walk->shapes, (uint64_t)id, to))
		return 0;
	row = query_next_row(&walk->shape, id);
	if (row && walk->kernel_id != sqlite3_column_int64(row, 1)) {
		walk->kernel_id = sqlite3_column_int64(row, 1);
		if (!query_row(walk->kernel, walk->kernel_id))
			walk->kernel_id = 0;
	}
	if (row && walk->kernel_id) {
		kernel = walk->kernel;
		notes[nr++] = walk_text(WALK_KERNEL, query_text(kernel, 0));
		notes[nr++] = walk_text(WALK_MANGLED, query_text(kernel, 1));
		for (int k = 0; k < 2; k++) {
			notes[nr] = (struct walk_note){ .key = k ? WALK_WORKGROUP : WALK_GRID,
							.type = WALK_XYZ };
			for (int i = 0; i < 3; i++)
				notes[nr].xyz[i] = sqlite3_column_int64(row, 2 + 3 * k + i);
			nr++;
		}
		notes[nr++] = walk_int(WALK_KERNEL_ID, sqlite3_column_int64(kernel, 2));
		notes[nr++] = walk_int(WALK_LDS, sqlite3_column_int64(row, 8));
		notes[nr++] = walk_int(WALK_SCRATCH, sqlite3_column_int64(row, 9));
		notes[nr++] = walk_int(WALK_VGPR, sqlite3_column_int64(kernel, 3));
		notes[nr++] = walk_int(WALK_ACCUM_VGPR, sqlite3_column_int64(kernel, 4));
		notes[nr++] = walk_int(WALK_SGPR, sqlite3_column_int64(kernel, 5));
	}
	return walk_keep(walk, &walk->shapes, (uint64_t)id, notes, nr, to);
}

/* An annotation that is a row's first column. */
static int add_text(struct walk *walk, struct kept *kept, enum walk_key key, sqlite3_stmt *stmt,
		    int64_t id, struct walk_notes *to)
{
	struct walk_note note;

	if (walk_has(kept, (uint64_t)id, to))
		return 0;
	note = walk_text(key, query_look_up(stmt, id));
	return walk_keep(walk, kept, (uint64_t)id, &note, 1, to);
}

static int add_stream(struct walk *walk, const struct rows_op *row, struct walk_notes *to)
{
	int64_t key = rows_stream_key(row);
	struct walk_note notes[2];

	if (walk_has(&walk->streams, (uint64_t)key, to))
		return 0;
	notes[0] = walk_int(WALK_STREAM_ID, row->stream - walk->q->streams_from_0);
	notes[1] = walk_text(WALK_STREAM, query_look_up(walk->stream, key));
	return walk_keep(walk, &walk->streams, (uint64_t)key, notes, 2, to);
}

/* Its GPU and its process. */
static int add_location(struct walk *walk, const struct rows_op *row, struct walk_notes *to)
{
	const struct query_process *p = walk->process;
	uint64_t number = p ? (uint64_t)(p - walk->q->processes) + 1 : 0;
	uint64_t key = number << 32 | (uint32_t)row->gpu;
	struct walk_note notes[3];
	char agent[32];
	size_t nr = 0;

	if (walk_has(&walk->gpus, key, to))
		return 0;
	snprintf(agent, sizeof(agent), "GPU %lld", (long long)row->gpu);
	if (row->gpu >= 0)
		notes[nr++] = walk_text(WALK_AGENT, agent);
	if (p)
		notes[nr++] = walk_int(WALK_PID, p->pid);
	if (p && p->rank >= 0)
		notes[nr++] = walk_int(WALK_RANK, p->rank);
	return walk_keep(walk, &walk->gpus, key, notes, nr, to);
}

static int add_flags(struct walk *walk, int64_t flags, struct walk_notes *to)
{
	const struct walk_note note = { .key = WALK_FLAGS, .type = WALK_BITS, .number = flags };

	if (!flags || walk_has(&walk->flags, (uint64_t)flags, to))
		return 0;
	return walk_keep(walk, &walk->flags, (uint64_t)flags, &note, 1, to);
}

/* ---- annotations of one operation ---- */

static void add_graph(struct walk *walk, const struct rows_op *row, struct walk_notes *to)
{
	if (!walk->graph || !row->call || !query_row(walk->graph, row->id))
		return;
	walk_add(to, walk_text(WALK_GRAPH_EXEC, query_text(walk->graph, 0)));
	walk_add_int(to, WALK_GRAPH_REPLAY, sqlite3_column_int64(walk->graph, 1));
	walk_add_int(to, WALK_GRAPH_NODE, sqlite3_column_int64(walk->graph, 2));
}

static const char *counter_name(const struct walk *walk, int64_t id)
{
	for (size_t i = 0; i < walk->nr_counters; i++)
		if (walk->counters[i].id == id)
			return walk->counters[i].name;
	return "";
}

static int add_counters(struct walk *walk, int64_t id, struct walk_notes *to)
{
	struct walk_note *grown;

	if (!walk->counter)
		return 0;
	sqlite3_reset(walk->counter);
	sqlite3_bind_int64(walk->counter, 1, id);
	while (sqlite3_step(walk->counter) == SQLITE_ROW) {
		grown = alloc_grow(to->own, to->nr, &to->max, WALK_NOTES, sizeof(*grown));
		if (!grown)
			return query_fail_memory(walk->q);
		to->own = grown;
		walk_add(to,
			 (struct walk_note){
				 .key = WALK_COUNTER,
				 .type = WALK_REAL,
				 .text = counter_name(walk, sqlite3_column_int64(walk->counter, 0)),
				 .real = sqlite3_column_double(walk->counter, 1) });
	}
	return 0;
}

static int annotate(struct walk *walk, const struct rows_op *row, struct walk_notes *to)
{
	int64_t first = walk->op.first;
	bool is_copy = row->copy && walk->q->ours;
	int ret = 0;

	if (row->shape)
		ret = add_shape(walk, row->shape, to);
	else if (row->type && !is_copy)
		ret = add_text(walk, &walk->kinds, WALK_TYPE, walk->type, row->type, to);
	if (ret == 0 && is_copy)
		ret = add_text(walk, &walk->sources, WALK_SRC, walk->agent, row->src, to);
	if (ret == 0 && is_copy)
		ret = add_text(walk, &walk->targets, WALK_DST, walk->agent, row->dst, to);
	if (ret == 0)
		ret = add_location(walk, row, to);
	if (ret == 0 && row->stream)
		ret = add_stream(walk, row, to);
	if (ret == 0)
		ret = add_flags(walk, row->flags & TRACK_FLAG_MASK, to);
	if (is_copy) {
		double rate = tracks_rate(row);

		if (row->bytes)
			walk_add_int(to, WALK_BYTES, row->bytes);
		if (rate > 0)
			walk_add(to, (struct walk_note){
					     .key = WALK_RATE, .type = WALK_REAL, .real = rate });
	}
	walk_add_int(to, WALK_QUEUE, row->queue);
	walk_add_int(to, WALK_PACKET, row->sequence);
	if (row->correlation)
		walk_add_int(to, WALK_CORR_ID, row->correlation - first);
	if (row->call)
		walk_add_int(to, WALK_API_ID, row->call - first);
	if (row->marker)
		walk_add_int(to, WALK_MARKER, row->marker - first);
	add_graph(walk, row, to);
	walk_add_int(to, WALK_BEGIN_NS, row->start);
	walk_add_int(to, WALK_END_NS, row->end);
	return ret ? ret : add_counters(walk, row->id, to);
}

/* ---- operations ---- */

static int name_op(struct walk *walk, const struct rows_op *row, struct kept_part *name)
{
	if (walk->kind == ROWS_BARRIERS)
		return walk_name(walk, &walk->barrier, 0, WALK_BARRIER_NAME, NULL, name);
	if (walk->kind == ROWS_RUNTIME) /* `name` is a kernel symbol */
		return walk_name(walk, &walk->symbols, row->name, WALK_KERNEL_NAME, walk->symbol,
				 name);
	if (row->copy)
		return walk_name(walk, &walk->types, row->type, WALK_COPY_NAME, walk->type, name);
	return walk_name(walk, &walk->kernels, row->name, WALK_KERNEL_NAME, walk->string, name);
}

static int pass_op(void *arg, const struct rows_op *row)
{
	struct walk *walk = arg;
	struct walk_operation *op = &walk->op;
	const struct query_process *p = walk->process;
	int64_t earliest = walk->q->first_ns;
	int ret;

	if (!rows_has_op(walk->q, row))
		return 0;
	if (!p || row->id < p->id_first || row->id > p->id_last)
		p = walk->process = query_process_of(walk->q, row->id);
	op->row = row;
	op->kind = walk->kind;
	op->first = p ? p->id_first : 0;
	op->timed = rows_timed(row->start, row->end, row->flags) && row->start > 0;
	/* without a begin it is at the first event */
	op->begin = row->start < earliest ? earliest : row->start;
	op->end = op->timed ? row->end : op->begin;
	op->notes.nr_parts = op->notes.nr = 0;
	ret = name_op(walk, row, &op->name);
	if (ret == 0 && walk->kind == ROWS_BY_STREAM)
		walk_add_int(&op->notes, WALK_OP, row->id);
	else if (ret == 0)
		ret = annotate(walk, row, &op->notes);
	return ret ? ret : walk->ops->operation(walk->w, op);
}

static int pass_twice(void *arg, const struct rows_op *row)
{
	struct walk *walk = arg;

	return tracks_show(row, &walk->kind, pass_op, walk);
}

int walk_operations_by(struct walk *walk, enum rows_order order)
{
	walk->kind = order;
	return rows_ops(walk->q, order, pass_op, walk);
}

int walk_operations(struct walk *walk)
{
	int ret = rows_by_time(walk->q, pass_twice, walk);

	if (ret == 0)
		ret = walk_operations_by(walk, ROWS_RUNTIME);
	return ret ? ret : walk_operations_by(walk, ROWS_BARRIERS);
}

/* ---- causes ---- */

static bool find_cause(struct walk *walk, int64_t id, sqlite3_stmt *stmt)
{
	struct walk_cause *c = &walk->last;

	if (c->id == id)
		return walk->last_good;
	c->id = id;
	walk->last_good = query_row(stmt, id) != NULL;
	if (walk->last_good)
		*c = (struct walk_cause){ .id = id,
					  .pid = sqlite3_column_int64(stmt, 0),
					  .tid = sqlite3_column_int64(stmt, 1),
					  .begin = sqlite3_column_int64(stmt, 2),
					  .end = sqlite3_column_int64(stmt, 3),
					  .correlation = sqlite3_column_int64(stmt, 4),
					  .is_call = stmt == walk->call };
	return walk->last_good;
}

bool walk_cause(struct walk *walk, const struct rows_op *op, struct walk_cause *cause)
{
	bool found;

	if (op->call && op->call_end) {
		*cause = (struct walk_cause){ op->call,	    op->call_pid,
					      op->call_tid, op->call_start,
					      op->call_end, op->correlation,
					      true };
		return true;
	}
	found = op->call && find_cause(walk, op->call, walk->call);
	if (!found)
		found = op->marker && walk->cause && find_cause(walk, op->marker, walk->cause);
	if (found)
		*cause = walk->last;
	return found;
}
