/* SPDX-License-Identifier: MIT */
/* pftrace_collective.c - collectives of several GPUs in Perfetto's format: a track for each
 * communicator or queue
 *
 * A slice for each collective, from the first arrival to the end, with two below it: the time in
 * which those that had come waited for the last one, which has its name and what it did meanwhile,
 * and the transfer.
 */
#include <stdio.h>

#include "base/alloc.h"
#include "export/pftrace/pftrace_internal.h"

struct pftrace_collectives {
	uint64_t group;
	uint64_t *tracks;
	size_t nr, max;
};

/* 0: out of memory. */
static uint64_t track_of(struct pftrace *t, const struct collective_slices *slices)
{
	struct pftrace_collectives *c = t->collectives;

	if (!c->group)
		c->group = pftrace_track(t, &(struct pftrace_track){
						    .name = "collectives", .pid = -1, .tid = -1 });
	while (c->nr <= slices->track) {
		uint64_t *more = alloc_grow(c->tracks, c->nr, &c->max, 8, sizeof(*more));

		if (!more)
			return 0;
		c->tracks = more;
		c->tracks[c->nr++] = 0;
	}
	if (!c->tracks[slices->track])
		c->tracks[slices->track] =
			pftrace_track(t, &(struct pftrace_track){ .name = slices->track_name,
								  .parent = c->group,
								  .rank = (int64_t)slices->track,
								  .pid = -1,
								  .tid = -1 });
	return c->tracks[slices->track];
}

static int put_part(struct pftrace *t, uint64_t track, int64_t begin, int64_t end, const char *name)
{
	int ret;

	if (begin >= end)
		return 0;
	pftrace_begin(t, TYPE_BEGIN, track, begin);
	proto_uint(&t->packet, EVENT_CATEGORY, C_COLLECTIVE);
	pftrace_name(t, &t->packet, name);
	ret = pftrace_end(t);
	return ret ? ret : pftrace_slice_end(t, track, end);
}

static int put_one(void *trace, const struct walk_collective *collective)
{
	struct pftrace *t = trace;
	const struct collective_slices *s = collective->slices;
	uint64_t track = track_of(t, s);
	int ret;

	if (!track)
		return query_fail_memory(t->q);
	pftrace_begin(t, TYPE_BEGIN, track, s->begin);
	proto_uint(&t->packet, EVENT_CATEGORY, C_COLLECTIVE);
	pftrace_name(t, &t->packet, s->one->name);
	pftrace_put_all(t, &collective->notes);
	ret = pftrace_end(t);
	if (ret == 0)
		ret = put_part(t, track, s->begin, s->middle, s->wait);
	if (ret == 0)
		ret = put_part(t, track, s->middle, s->end, "transfer");
	return ret ? ret : pftrace_slice_end(t, track, s->end);
}

int pftrace_collectives(struct pftrace *t)
{
	struct pftrace_collectives c = { 0 };
	int ret;

	t->collectives = &c;
	ret = walk_collectives(t->walk, put_one);
	t->collectives = NULL;
	alloc_free(c.tracks);
	return ret;
}

/* ---- arrows ---- */

void pftrace_flows_begin(struct pftrace *t, int64_t op)
{
	struct walk_joint joint;
	size_t number;

	if (walk_joint(t->walk, op, &joint, &number) && number == 0)
		for (size_t i = 1; i < joint.nr; i++)
			proto_fixed64(&t->packet, EVENT_FLOW,
				      PFTRACE_FLOW_OF_COLLECTIVE(joint.ops[i]));
}

void pftrace_flows_end(struct pftrace *t, int64_t op)
{
	struct walk_joint joint;
	size_t number;

	if (walk_joint(t->walk, op, &joint, &number) && number > 0)
		proto_fixed64(&t->packet, EVENT_FLOW, PFTRACE_FLOW_OF_COLLECTIVE(op));
}
