/* SPDX-License-Identifier: MIT */
/* tracks.c - which track of a viewer an event goes to */
#include "export/tracks.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "query/label.h"

/* ---- strips ---- */

struct track_strip *tracks_find_strip(struct track_strips *l, int64_t begin, int64_t end)
{
	struct track_strip *grown;

	for (size_t i = 0; i < l->nr; i++)
		if (l->strips[i].end_ns <= begin) {
			l->strips[i].end_ns = end;
			return &l->strips[i];
		}
	grown = alloc_grow(l->strips, l->nr, &l->max, 8, sizeof(*grown));
	if (!grown)
		return NULL;
	l->strips = grown;
	grown[l->nr] = (struct track_strip){ .end_ns = end };
	return &grown[l->nr++];
}

void tracks_fini_strips(struct track_strips *l)
{
	alloc_free(l->strips);
}

/* ---- operations ---- */

bool tracks_begins(struct track *t, const struct rows_op *op, enum rows_order kind)
{
	int64_t gpu = op->gpu, queue = op->queue, block = op->id >> 32;

	if (t->open && t->kind == kind && t->gpu == gpu && t->queue == queue && t->block == block)
		return false;
	t->open = true;
	t->kind = kind;
	t->gpu = gpu;
	t->queue = queue;
	t->block = block;
	t->copies = op->copy != 0;
	t->strips.nr = 0;
	return true;
}

static bool is_of(const struct track *t, const struct rows_op *op, enum rows_order kind)
{
	return t->kind == kind && t->gpu == op->gpu && t->queue == op->queue &&
	       t->block == op->id >> 32;
}

/* Few tracks share one, which costs a comparison. */
static uint64_t hash_of(const struct rows_op *op, enum rows_order kind)
{
	const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);

	return (((uint64_t)op->id >> 32) * prime + (uint64_t)op->gpu) * prime +
	       (uint64_t)op->queue * 4 + kind;
}

struct track *tracks_of(struct tracks *t, const struct rows_op *op, enum rows_order kind,
			bool *fresh)
{
	struct track **grown, *track;
	uint64_t hash, i;

	*fresh = false;
	if (t->last && is_of(t->last, op, kind))
		return t->last;
	for (hash = hash_of(op, kind); map_get(&t->index, hash, &i); hash++)
		if (is_of(t->all[i], op, kind))
			return t->last = t->all[i];
	grown = alloc_grow(t->all, t->nr, &t->max, 16, sizeof(struct track *));
	if (!grown)
		return NULL;
	t->all = grown;
	track = alloc_zero(1, sizeof(*track));
	if (!track || map_put(&t->index, hash, t->nr)) {
		alloc_free(track);
		return NULL;
	}
	t->all[t->nr++] = track;
	*fresh = tracks_begins(track, op, kind);
	return t->last = track;
}

void tracks_fini(struct tracks *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		tracks_fini_strips(&t->all[i]->strips);
		alloc_free(t->all[i]);
	}
	alloc_free(t->all);
	map_fini(&t->index);
}

int tracks_show(const struct rows_op *op, enum rows_order *order,
		int (*show)(void *arg, const struct rows_op *op), void *arg)
{
	struct rows_op on_stream = *op;
	int ret;

	*order = ROWS_BY_QUEUE;
	ret = show(arg, op);
	if (ret || !op->stream)
		return ret;
	on_stream.queue = op->stream;
	*order = ROWS_BY_STREAM;
	return show(arg, &on_stream);
}

const struct track_flag track_flags[TRACK_FLAGS] = {
	{ REC_F_HAD_SIGNAL, "had_signal" }, { REC_F_INVERTED, "inverted" },
	{ REC_F_NO_TIME, "no_time" },	    { REC_F_UNFINISHED, "unfinished" },
	{ REC_F_GRAPH, "graph" },	    { REC_F_INTERNAL, "internal" },
	{ REC_F_SHARED, "shared" },
};

double tracks_rate(const struct rows_op *op)
{
	int64_t ns = op->end - op->start;

	if (ns <= 0 || op->bytes <= 0 || (op->flags & QUERY_UNTIMED))
		return 0;
	return (double)(op->bytes * 1000 / ns) / 1000;
}

/* "stream 2 (0x5581ab30)"; "stream 2" where its number is its name */
static void name_stream(bool streams_from_0, const struct track *t, const struct rows_op *op,
			sqlite3_stmt *stream, char *name, size_t size)
{
	const char *handle = query_look_up(stream, rows_stream_key(op));

	if (streams_from_0)
		snprintf(name, size, "stream %s", handle);
	else
		snprintf(name, size, "stream %lld (%s)", (long long)t->queue, label_stream(handle));
}

void tracks_name(const struct query *q, const struct track *t, const struct rows_op *op,
		 size_t strip, sqlite3_stmt *stream, char name[TRACK_NAME])
{
	const struct query_process *process = query_process_of(q, op->id);
	char base[96], of[48] = "", more[32] = "";
	long long queue = (long long)t->queue;

	if (process && q->nr_processes > 1)
		snprintf(of, sizeof(of), " (pid %lld)", (long long)process->pid);
	if (strip)
		snprintf(more, sizeof(more), " #%zu", strip + 1);
	if (t->kind == ROWS_BY_STREAM)
		name_stream(q->streams_from_0, t, op, stream, base, sizeof(base));
	else if (t->kind == ROWS_RUNTIME)
		snprintf(base, sizeof(base), "runtime's queue %lld", queue);
	else if (t->kind == ROWS_BARRIERS)
		snprintf(base, sizeof(base), "queue %lld barriers", queue);
	else if (t->copies && t->queue >= QUERY_COPY_QUEUE && q->ours)
		snprintf(base, sizeof(base), "copies, engine %lld", queue - QUERY_COPY_QUEUE);
	else if (t->copies && t->queue == QUERY_COPY_QUEUE_UNKNOWN && q->ours)
		snprintf(base, sizeof(base), "copies");
	else
		snprintf(base, sizeof(base), "queue %lld", queue);
	snprintf(name, TRACK_NAME, "%s%s%s", base, of, more);
}

void tracks_group(const struct track *t, char name[TRACK_NAME])
{
	const char *by = t->kind == ROWS_BY_STREAM ? " by stream" : "";

	if (t->gpu >= 0)
		snprintf(name, TRACK_NAME, "GPU %lld%s", (long long)t->gpu, by);
	else
		snprintf(name, TRACK_NAME, "operations of no GPU%s", by);
}

/* ---- threads ---- */

int tracks_until(struct nest *n, int64_t begin, nest_end_fn end, void *arg)
{
	int ret = 0;

	while (ret == 0 && n->depth && n->open[n->depth - 1].end_ns <= begin) {
		n->depth--;
		ret = end(arg, n->open[n->depth].end_ns, n->open[n->depth].id);
	}
	return ret;
}

bool tracks_open(struct nest *n, int64_t begin, int64_t end, int64_t id)
{
	if (end < begin || n->depth == NEST_DEPTH ||
	    (n->depth && end > n->open[n->depth - 1].end_ns))
		return false;
	n->open[n->depth].end_ns = end;
	n->open[n->depth++].id = id;
	return true;
}

int64_t tracks_top(const struct nest *n)
{
	return n->depth ? n->open[n->depth - 1].id : 0;
}

enum track_shape tracks_shape_of(const struct query *q, const struct rows_call *row, int64_t *begin)
{
	bool marker = row->marker != 0;
	/* RPD has no kinds of markers: an instant is a range without length */
	bool instant = marker &&
		       (row->kind < 0 ? row->start == row->end : row->kind == REC_MARKER_MARK);

	*begin = row->start < q->first_ns ? q->first_ns : row->start;
	if (instant || row->end < *begin)
		return TRACK_INSTANT;
	return marker && row->kind == REC_MARKER_START ? TRACK_APART : TRACK_SLICE;
}
