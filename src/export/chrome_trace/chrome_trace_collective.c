/* SPDX-License-Identifier: MIT */
/* chrome_trace_collective.c - collectives of several GPUs as Chrome JSON: one process, with one
 * thread for each communicator or queue
 *
 * A slice for each collective, from the first arrival to the end, with two below it: the wait for
 * the last rank, and the transfer. Arrows lead from the kernel of the last rank to those that
 * waited for it; they are written after the operations, when the track of each is known.
 */
#include "base/alloc.h"
#include "export/chrome_trace/chrome_trace_internal.h"

struct chrome_trace_collectives {
	bool *introduced; /* threads that have their name */
	size_t nr, max;
	/* where the kernels are that arrows join; tid 0: nowhere */
	struct location {
		int32_t pid, tid;
	} * locations;
	size_t nr_locations, max_locations;
};

/* ---- slices ---- */

static bool introduce(struct chrome_trace *t, const struct collective_slices *slices)
{
	struct chrome_trace_collectives *c = t->collectives;
	int64_t pid = CHROME_TRACE_COLLECTIVE_PID;

	if (!c->nr) {
		trace_event_meta(&t->events, "process_name", pid, 0, "collectives", 0);
		trace_event_meta(&t->events, "process_sort_index", pid, 0, NULL, pid);
	}
	while (c->nr <= slices->track) {
		bool *more = alloc_grow(c->introduced, c->nr, &c->max, 8, sizeof(*more));

		if (!more)
			return false;
		c->introduced = more;
		more[c->nr++] = false;
	}
	if (!c->introduced[slices->track])
		trace_event_meta(&t->events, "thread_name", pid, (int64_t)slices->track + 1,
				 slices->track_name, 0);
	c->introduced[slices->track] = true;
	return true;
}

static int put_slice(struct chrome_trace *t, const struct collective_slices *slices, int64_t begin,
		     int64_t end, const char *name, const struct walk_notes *notes)
{
	struct json *j = t->events.json;

	begin = begin < t->events.base_ns ? t->events.base_ns : begin;
	if (begin >= end)
		return 0;
	trace_event_begin(&t->events, "X", CHROME_TRACE_COLLECTIVE_PID, (int64_t)slices->track + 1,
			  begin);
	JSON_US(j, "dur", end - begin);
	JSON_LITERAL(j, "cat", "collective");
	TRACE_EVENT_TEXT(j, "name", name);
	if (notes) {
		JSON_KEY(j, "args");
		json_object(j);
		trace_event_all_notes(j, notes, 0);
		json_object_end(j);
	}
	return trace_event_end(&t->events);
}

static int put_one(void *trace, const struct walk_collective *collective)
{
	struct chrome_trace *t = trace;
	const struct collective_slices *s = collective->slices;
	int ret;

	if (!introduce(t, s))
		return query_fail_memory(t->events.q);
	ret = put_slice(t, s, s->begin, s->end, s->one->name, &collective->notes);
	if (ret == 0)
		ret = put_slice(t, s, s->begin, s->middle, s->wait, NULL);
	return ret ? ret : put_slice(t, s, s->middle, s->end, "transfer", NULL);
}

int chrome_trace_collectives(struct chrome_trace *t)
{
	t->collectives = alloc_zero(1, sizeof(*t->collectives));
	return t->collectives ? walk_collectives(t->walk, put_one) : query_fail_memory(t->events.q);
}

void chrome_trace_collectives_end(struct chrome_trace *t)
{
	if (!t->collectives)
		return;
	alloc_free(t->collectives->introduced);
	alloc_free(t->collectives->locations);
	alloc_free(t->collectives);
}

/* ---- arrows ---- */

int chrome_trace_locate(struct chrome_trace *t, int64_t op, int64_t pid, int64_t tid)
{
	struct chrome_trace_collectives *c = t->collectives;
	struct walk_joint joint;
	size_t number;

	if (!walk_joint(t->walk, op, &joint, &number))
		return 0;
	while (c->nr_locations <= joint.first + number) {
		struct location *more = alloc_grow(c->locations, c->nr_locations, &c->max_locations,
						   64, sizeof(*more));

		if (!more)
			return query_fail_memory(t->events.q);
		c->locations = more;
		more[c->nr_locations++] = (struct location){ 0, 0 };
	}
	c->locations[joint.first + number] = (struct location){ (int32_t)pid, (int32_t)tid };
	return 0;
}

int chrome_trace_arrows(struct chrome_trace *t)
{
	const struct chrome_trace_collectives *c = t->collectives;
	struct walk_joint joint;
	int ret = 0;

	for (size_t at = 0; ret == 0 && walk_joint_next(t->walk, &at, &joint);)
		for (size_t i = 1; ret == 0 && i < joint.nr; i++) {
			const struct location *from = &c->locations[joint.first],
					      *to = &c->locations[joint.first + i];

			/* operations that a part of a trace leaves out have no location */
			if (joint.first + i < c->nr_locations && from->tid && to->tid &&
			    joint.begin >= t->events.base_ns)
				/* at one time: the begin of the last rank's kernel, when the others
				 * are open */
				ret = chrome_trace_arrow(t, "collective", joint.ops[i],
							 &(struct chrome_trace_point){
								 from->pid, from->tid,
								 joint.begin },
							 &(struct chrome_trace_point){
								 to->pid, to->tid, joint.begin });
		}
	return ret;
}
