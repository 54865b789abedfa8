/* SPDX-License-Identifier: MIT */
/* pftrace_collective.c - collectives of several GPUs in Perfetto's format: a track for each
 * communicator or queue
 *
 * A slice for each collective, from the first arrival to the end, with two below it: the time in
 * which those that had come waited for the last one, which has its name and what it did meanwhile,
 * and the transfer. Collectives whose ranks have different clocks are left out.
 */
#include <errno.h>
#include <stdio.h>

#include "analysis/collective.h"
#include "base/alloc.h"
#include "export/pftrace/pftrace_internal.h"

struct writer {
	struct pftrace *t;
	struct collectives all;
	uint64_t group;
	struct channel {
		uint64_t track;
		int64_t end_ns; /* of its last slice: slices of a track don't overlap */
	} * channels;
	size_t nr, max;
};

static struct channel *channel_of(struct writer *w, size_t number)
{
	struct pftrace *t = w->t;
	char name[48];

	if (!w->group)
		w->group = pftrace_track(t, &(struct pftrace_track){
						    .name = "collectives", .pid = -1, .tid = -1 });
	while (w->nr <= number) {
		struct channel *more =
			alloc_grow(w->channels, w->nr, &w->max, 8, sizeof(*w->channels));

		if (!more)
			return NULL;
		w->channels = more;
		snprintf(name, sizeof(name), "collectives %zu", w->nr);
		w->channels[w->nr] = (struct channel){
			.track = pftrace_track(t, &(struct pftrace_track){ .name = name,
									   .parent = w->group,
									   .rank = (int64_t)w->nr,
									   .pid = -1,
									   .tid = -1 }),
			.end_ns = INT64_MIN,
		};
		w->nr++;
	}
	return &w->channels[number];
}

static int put_whole(struct pftrace *t, uint64_t track, int64_t ns,
		     const struct collective_one *one, int64_t skew, int64_t transfer)
{
	struct proto *p = &t->packet;

	pftrace_begin(t, TYPE_BEGIN, track, ns);
	proto_uint(p, EVENT_CATEGORY, C_COLLECTIVE);
	pftrace_name(t, p, one->name);
	pftrace_put_int(p, A_NUMBER, (int64_t)one->number);
	pftrace_put_interned(t, p, A_CLASS, collective_classes[one->class]);
	pftrace_put_int(p, A_SKEW_NS, skew);
	pftrace_put_int(p, A_TRANSFER_NS, transfer);
	if (one->arrivals[one->last].bytes)
		pftrace_put_int(p, PFTRACE_OF(WALK_BYTES), (int64_t)one->arrivals[one->last].bytes);
	return pftrace_end(t);
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

static int put_one(void *arg, const struct collective_one *one)
{
	struct writer *w = arg;
	const struct collective_arrival *last = &one->arrivals[one->last];
	int64_t first = last->begin, end = last->end, begin;
	struct channel *channel;
	char waits[160];
	int ret;

	for (size_t i = 0; i < one->nr; i++) {
		const struct collective_arrival *a = &one->arrivals[i];

		if (a->error || a->end <= a->begin)
			return 0;
		first = a->begin < first ? a->begin : first;
		end = a->end > end ? a->end : end;
	}
	channel = channel_of(w, one->set);
	if (!channel)
		return query_fail_memory(w->t->q);
	begin = first < channel->end_ns ? channel->end_ns : first;
	if (begin >= end)
		return 0;
	snprintf(waits, sizeof(waits), "wait for %s (%s)", w->all.lanes[last->lane].name,
		 collective_causes[one->cause]);
	ret = put_whole(w->t, channel->track, begin, one, last->begin - first, end - last->begin);
	if (ret == 0)
		ret = put_part(w->t, channel->track, begin, last->begin, waits);
	if (ret == 0)
		ret = put_part(w->t, channel->track, begin > last->begin ? begin : last->begin, end,
			       "transfer");
	if (ret == 0)
		ret = pftrace_slice_end(w->t, channel->track, end);
	channel->end_ns = end;
	return ret;
}

int pftrace_collectives(struct pftrace *t)
{
	struct writer w = { .t = t };
	int ret;

	if (t->q->only || !collective_may_be(t->q))
		return 0;
	ret = collective_read(t->q, NULL, put_one, &w, &w.all);
	collective_fini(&w.all);
	alloc_free(w.channels);
	return ret == -ENOMEM ? query_fail_memory(t->q) : ret;
}
