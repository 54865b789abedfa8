/* SPDX-License-Identifier: MIT */
/* index_evicted.c - a trace whose front was removed (spool/format.h, REMOVED CHUNKS)
 *
 * Removed records are neither lost nor missing: they count as read, and as left out if a flight
 * recorder removed them. Chunks are removed in the order of draining, which is not that of time:
 * what is there of the time before the last removed record is left out, too, so that the trace has
 * everything or nothing of any moment. The time of a record is its end. A call is kept for an
 * operation of it that is kept, and so is a range.
 */
#include "store/index_internal.h"

#include <errno.h>

#include "base/alloc.h"

/* Whether records of that type are in the database, and not only what they refer to. */
static bool is_content(uint32_t type)
{
	return type == REC_DISPATCH || type == REC_DISPATCH_WIDE || type == REC_COPY ||
	       type == REC_BARRIER || type == REC_API || type == REC_MARKER || type == REC_SCRATCH;
}

int index_evicted_take(struct index *index, const struct rec_head *rec)
{
	const struct rec_written *w = (const struct rec_written *)rec;
	struct store_totals *t = &index->totals;

	if (rec->type == REC_EVICTED_OPS)
		return flow_recorded(&index->flow, rec->id, w->count);
	if (rec->type == REC_EVICTED) {
		t->evicted_first_ns = ((const struct rec_evicted *)rec)->first_ns;
		t->evicted_last_ns = ((const struct rec_evicted *)rec)->last_ns;
	} else if (rec->id < SPOOL_WRITTEN_TYPES) {
		index->flow.read[rec->id] += w->count;
		t->evicted += is_content(rec->id) ? w->count : 0;
	}
	return 0;
}

static uint64_t window_of(const struct index *index)
{
	return load_facts(index->load)->window_ns;
}

/* The end of an operation, or of an event of scratch memory, as far as it is known; 0: it is
 * not. */
static uint64_t end_of(const struct rec_head *rec)
{
	const struct rec_dispatch *d = (const struct rec_dispatch *)rec;

	if (rec->flags & (REC_F_NO_TIME | REC_F_UNFINISHED))
		return 0;
	switch (rec->type) {
	case REC_SCRATCH:
		return ((const struct rec_scratch *)rec)->end_ns;
	case REC_DISPATCH:
		return d->begin_ns + d->ns;
	case REC_DISPATCH_WIDE:
		return ((const struct rec_dispatch_wide *)rec)->end_ns;
	case REC_COPY:
		return ((const struct rec_copy *)rec)->end_ns;
	default:
		return ((const struct rec_barrier *)rec)->end_ns;
	}
}

bool index_evicted_op(const struct index *index, const struct rec_head *rec)
{
	uint64_t end = window_of(index) ? end_of(rec) : 0;

	return end && end <= window_of(index);
}

int index_evicted_need(struct index *index, uint64_t correlation, uint64_t marker)
{
	int ret = 0;

	if (!window_of(index))
		return 0;
	if (correlation)
		ret = ids_add(&index->needed_calls, correlation);
	if (marker && ret == 0)
		ret = ids_add(&index->needed_markers, marker);
	return ret;
}

/* Pass 1: the records before the window are kept apart until it is known which of them are
 * needed. */
static int add_old(struct index *index, uint8_t type, uint64_t id)
{
	struct index_old *old = index_meta_add(&index->old, sizeof(*old));

	if (!old)
		return -ENOMEM;
	old->type = type;
	old->id = id;
	return 0;
}

int index_evicted_call(struct index *index, const struct rec_api *a)
{
	if (!window_of(index) || a->end_ns > window_of(index))
		return 0;
	return add_old(index, REC_API, a->correlation);
}

int index_evicted_marker(struct index *index, const struct rec_head *rec)
{
	const struct rec_marker *m = (const struct rec_marker *)rec;
	const struct rec_end *e = (const struct rec_end *)rec;

	if (!window_of(index))
		return 0;
	if (rec->type == REC_MARKER_END)
		return e->time_ns <= window_of(index) ? add_old(index, REC_MARKER_END, e->marker) :
							0;
	if (m->kind == REC_MARKER_MARK && m->time_ns <= window_of(index))
		return add_old(index, REC_MARKER, m->marker);
	return ids_add(&index->markers, m->marker);
}

int index_evicted_finish(struct index *index)
{
	const struct index_old *old = index->old.items;
	struct store_totals *t = &index->totals;
	int ret = 0;

	for (size_t i = 0; i < index->old.nr && ret == 0; i++) {
		bool is_call = old[i].type == REC_API;

		if (ids_has(is_call ? &index->needed_calls : &index->needed_markers, old[i].id))
			continue;
		if (!is_call && old[i].type == REC_MARKER_END &&
		    !ids_has(&index->markers, old[i].id))
			continue; /* its range was removed */
		ret = ids_add(is_call ? &index->left_calls : &index->left_markers, old[i].id);
		t->evicted++;
		t->apis -= is_call;
		t->markers -= !is_call;
	}
	alloc_free(index->old.items);
	index->old = (struct index_list){ 0 };
	return ret;
}

bool index_evicted_is_left(const struct index *index, const struct rec_head *rec)
{
	const struct rec_marker *m = (const struct rec_marker *)rec;

	if (!window_of(index))
		return false;
	switch (rec->type) {
	case REC_API:
		return ids_has(&index->left_calls, ((const struct rec_api *)rec)->correlation);
	case REC_MARKER:
		return ids_has(&index->left_markers, m->marker);
	case REC_MARKER_END:
		return ids_has(&index->left_markers, ((const struct rec_end *)rec)->marker) ||
		       !ids_has(&index->markers, ((const struct rec_end *)rec)->marker);
	default:
		return index_evicted_op(index, rec);
	}
}

void index_evicted_range(const struct index *index, uint64_t *marker)
{
	if (window_of(index) && *marker &&
	    (!ids_has(&index->markers, *marker) || ids_has(&index->left_markers, *marker)))
		*marker = 0;
}

bool index_evicted_called(const struct index *index, uint64_t correlation)
{
	return !window_of(index) || !ids_has(&index->left_calls, correlation);
}

void index_evicted_free(struct index *index)
{
	ids_fini(&index->needed_calls);
	ids_fini(&index->needed_markers);
	ids_fini(&index->markers);
	ids_fini(&index->left_calls);
	ids_fini(&index->left_markers);
	alloc_free(index->old.items);
}
