/* SPDX-License-Identifier: MIT */
/* collective_tracks.c - collectives as slices of tracks, which viewers show */
#include "analysis/collective_tracks.h"

#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"

struct tracks_reader {
	struct query *q;
	struct collectives all;
	int64_t *ends; /* of the last slice of each track */
	size_t nr, max;
	collective_slices_fn put;
	void *arg;
};

/* The end of the last slice of a track; NULL: out of memory. */
static int64_t *end_of(struct tracks_reader *r, size_t track)
{
	while (r->nr <= track) {
		int64_t *more = alloc_grow(r->ends, r->nr, &r->max, 8, sizeof(*r->ends));

		if (!more)
			return NULL;
		r->ends = more;
		r->ends[r->nr++] = INT64_MIN;
	}
	return &r->ends[track];
}

static int take(void *arg, const struct collective_one *one)
{
	struct tracks_reader *r = arg;
	const struct collective_arrival *last = &one->arrivals[one->last];
	const char *last_name = r->all.parties[last->party].name;
	struct collective_slices slices = { .one = one,
					    .parties = r->all.parties,
					    .track = one->set,
					    .begin = last->begin,
					    .end = last->end };
	int64_t *before;
	char track[128], wait[160];

	for (size_t i = 0; i < one->nr; i++) {
		const struct collective_arrival *a = &one->arrivals[i];

		if (a->error || a->end <= a->begin)
			return 0;
		slices.begin = a->begin < slices.begin ? a->begin : slices.begin;
		slices.end = a->end > slices.end ? a->end : slices.end;
	}
	slices.skew_ns = last->begin - slices.begin;
	slices.transfer_ns = slices.end - last->begin;
	before = end_of(r, one->set);
	if (!before)
		return query_fail_memory(r->q);
	slices.begin = slices.begin < *before ? *before : slices.begin;
	if (slices.begin >= slices.end)
		return 0;
	*before = slices.end;
	slices.middle = last->begin > slices.begin ? last->begin : slices.begin;
	snprintf(track, sizeof(track), "%s %zu of %s and %zu more",
		 one->by_calls ? "communicator" : "queue", one->channel,
		 r->all.parties[one->arrivals[0].party].name, one->nr - 1);
	if (one->class == COLLECTIVE_SKEW)
		snprintf(wait, sizeof(wait), "wait for %s (%s)", last_name,
			 collective_causes[one->cause]);
	else
		snprintf(wait, sizeof(wait), "wait for %s", last_name);
	slices.track_name = track;
	slices.wait = wait;
	return r->put(r->arg, &slices);
}

int collective_tracks_read(struct query *q, collective_slices_fn put, void *arg)
{
	struct tracks_reader r = { .q = q, .put = put, .arg = arg };
	int ret;

	if (!collective_may_be(q))
		return 0;
	ret = collective_read(q, NULL, take, &r, &r.all);
	collective_fini(&r.all);
	alloc_free(r.ends);
	return ret;
}
