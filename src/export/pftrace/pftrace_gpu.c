/* SPDX-License-Identifier: MIT */
/* pftrace_gpu.c - operations in Perfetto's format: a group of tracks for each GPU, a track for each
 * strip of a queue
 *
 * If streams are known, a second group of each GPU shows the same operations by stream, with
 * another category. An operation without valid times is an instant. A call and the operations that
 * it caused have one flow: its row's id. Kernels of a collective have others
 * (pftrace_collective.c).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/pftrace/pftrace_internal.h"

struct pftrace_gpu {
	struct tracks tracks;
	struct map groups; /* GPU and kind -> track */
	sqlite3_stmt *stream;
};

/* ---- tracks ---- */

static int choose_group(struct pftrace *t, struct track *track)
{
	uint64_t key = (uint64_t)track->gpu << 1 | (track->kind == ROWS_BY_STREAM);
	char name[TRACK_NAME];

	if (map_get(&t->gpu->groups, key, &track->group))
		return 0;
	tracks_group(track, name);
	track->group =
		pftrace_track(t, &(struct pftrace_track){ .name = name, .pid = -1, .tid = -1 });
	return map_put(&t->gpu->groups, key, track->group);
}

/* NULL: out of memory. */
static struct track_strip *find_strip(struct pftrace *t, const struct walk_operation *op)
{
	bool fresh;
	struct track *track = tracks_of(&t->gpu->tracks, op->row, op->kind, &fresh);
	struct track_strip *strip = track ? tracks_find_strip(&track->strips, op->begin, op->end) :
					    NULL;
	char name[TRACK_NAME];

	if (!strip || (fresh && choose_group(t, track)))
		return NULL;
	if (!strip->id) {
		tracks_name(t->q, track, op->row, track->strips.nr - 1, t->gpu->stream, name);
		strip->id = pftrace_track(t, &(struct pftrace_track){
						     .name = name,
						     .parent = track->group,
						     .rank = (int64_t)t->nr_tracks,
						     .pid = -1,
						     .tid = -1,
					     });
	}
	return strip;
}

/* ---- events ---- */

static enum pftrace_category category_of(const struct walk_operation *op)
{
	switch (op->kind) {
	case ROWS_BY_STREAM:
		return C_STREAM;
	case ROWS_RUNTIME:
		return C_RUNTIME;
	case ROWS_BARRIERS:
		return C_BARRIER;
	case ROWS_BY_QUEUE:
		break;
	}
	return op->row->copy ? C_COPY : C_KERNEL;
}

/* What TraceLens reads of every operation. */
static void put_required(struct proto *p, const struct rows_op *row)
{
	if (!row->stream)
		pftrace_put_int(p, PFTRACE_OF(WALK_STREAM_ID), 0);
	if (!row->correlation)
		pftrace_put_int(p, PFTRACE_OF(WALK_CORR_ID), 0);
	pftrace_put_int(p, A_DELTA_NS, row->end - row->start);
}

int pftrace_gpu_put(void *trace, const struct walk_operation *op)
{
	struct pftrace *t = trace;
	const struct rows_op *row = op->row;
	int64_t cause = row->call ? row->call : row->marker;
	struct proto *p = &t->packet;
	struct track_strip *strip = find_strip(t, op);
	int ret;

	if (!strip)
		return query_fail_memory(t->q);
	pftrace_begin(t, op->timed ? TYPE_BEGIN : TYPE_INSTANT, strip->id, op->begin);
	proto_uint(p, EVENT_CATEGORY, category_of(op));
	proto_raw(p, op->name.bytes, op->name.size);
	pftrace_put_all(t, &op->notes);
	if (op->kind != ROWS_BY_STREAM)
		put_required(p, row);
	if (op->kind == ROWS_BY_QUEUE && cause)
		proto_fixed64(p, EVENT_FLOW, (uint64_t)cause);
	if (op->kind == ROWS_BY_QUEUE && op->timed)
		pftrace_flows_begin(t, row->id);
	ret = pftrace_end(t);
	if (ret || !op->timed)
		return ret;
	pftrace_slice_end_begin(t, strip->id, op->end);
	if (op->kind == ROWS_BY_QUEUE)
		pftrace_flows_end(t, row->id);
	return pftrace_end(t);
}

int pftrace_gpu_begin(struct pftrace *t)
{
	t->gpu = alloc_zero(1, sizeof(*t->gpu));
	return t->gpu ? query_prepare(t->q, &t->gpu->stream, ROWS_STREAM_NAME) :
			query_fail_memory(t->q);
}

void pftrace_gpu_end(struct pftrace *t)
{
	if (!t->gpu)
		return;
	sqlite3_finalize(t->gpu->stream);
	tracks_fini(&t->gpu->tracks);
	map_fini(&t->gpu->groups);
	alloc_free(t->gpu);
}
