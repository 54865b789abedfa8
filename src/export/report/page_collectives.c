/* SPDX-License-Identifier: MIT */
/* page_collectives.c - collectives of several GPUs as slices: a lane for the ranks that share a
 * communicator or queue
 *
 * A collective is two slices: the time in which those that had come waited for the last one, which
 * has its name and what it did meanwhile, and the transfer. The text of both has its ranks, the
 * last one first, from which the page draws arrows to their kernels.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/collective_tracks.h"
#include "base/alloc.h"
#include "export/report/page_internal.h"

/* Ranks of collectives beyond this number come without their kernels. */
#define ARRIVALS_MAX 400000

struct writer {
	struct page *page;
	struct page_lane **lanes; /* of each track; NULL: not begun */
	size_t nr, max;
	uint64_t nr_arrivals;
	char *text;
	size_t text_max;
};

/* The lane of a track; NULL: out of memory. */
static struct page_lane *lane_of(struct writer *w, const struct collective_slices *slices)
{
	while (w->nr <= slices->track) {
		struct page_lane **more =
			alloc_grow(w->lanes, w->nr, &w->max, 8, sizeof(*w->lanes));

		if (!more)
			return NULL;
		w->lanes = more;
		w->lanes[w->nr++] = NULL;
	}
	if (!w->lanes[slices->track])
		w->lanes[slices->track] = page_lane_begin(w->page, PAGE_COLLECTIVES, "collectives",
							  slices->track_name, 0);
	return w->lanes[slices->track];
}

static int append(struct writer *w, size_t *at, const char *text)
{
	size_t size = strlen(text);

	if (*at + size >= w->text_max) {
		size_t max = 2 * (*at + size + 1);
		char *grown = alloc_resize(w->text, max, 1);

		if (!grown)
			return -ENOMEM;
		w->text = grown;
		w->text_max = max;
	}
	memcpy(w->text + *at, text, size + 1);
	*at += size;
	return 0;
}

static int append_arrival(struct writer *w, size_t *at, const struct collective_slices *slices,
			  size_t i)
{
	const struct collective_one *one = slices->one;
	const struct collective_arrival *a = &one->arrivals[i];
	/* a call of MPI, whose ids are not those of kernels */
	bool is_call = slices->parties[a->party].gpu < 0;
	char line[128];

	snprintf(line, sizeof(line), "\n%" PRId64 "\t%" PRId64 "\t%s", is_call ? -a->op : a->op,
		 one->arrivals[one->last].begin - a->begin, slices->parties[a->party].name);
	return append(w, at, line);
}

/* "NUMBER CLASS CAUSE", and a line "ID WAIT NAME" for each rank, with tabs between them; -ID of a
 * call of MPI. */
static int make_text(struct writer *w, const struct collective_slices *slices)
{
	const struct collective_one *one = slices->one;
	char line[128];
	size_t at = 0;
	int ret;

	snprintf(line, sizeof(line), "%" PRIu64 "\t%s\t%s", one->number,
		 collective_classes[one->class],
		 one->class == COLLECTIVE_SKEW ? collective_causes[one->cause] : "");
	ret = append(w, &at, line);
	if (ret || (w->nr_arrivals += one->nr) > ARRIVALS_MAX)
		return ret;
	ret = append_arrival(w, &at, slices, one->last);
	for (size_t i = 0; ret == 0 && i < one->nr; i++)
		if (i != one->last)
			ret = append_arrival(w, &at, slices, i);
	return ret;
}

static int put_part(struct writer *w, struct page_lane *lane, const struct collective_one *one,
		    int64_t begin, int64_t end, const char *name, bool is_transfer)
{
	struct page *page = w->page;
	struct page_slice slice = { .begin = begin - page->t0,
				    .duration = end - begin,
				    .name = page_names_add(&page->names, name),
				    .id = (int64_t)one->number,
				    .bytes = is_transfer ? (int64_t)one->arrivals[one->last].bytes :
							   0 };

	if (begin >= end)
		return 0;
	return slice.name < 0 ? -ENOMEM : page_lane_add(lane, &slice, w->text);
}

static int put_one(void *arg, const struct collective_slices *slices)
{
	struct writer *w = arg;
	const struct collective_one *one = slices->one;
	struct page_lane *lane = lane_of(w, slices);
	int64_t t0 = w->page->t0, begin = slices->begin < t0 ? t0 : slices->begin,
		middle = slices->middle < t0 ? t0 : slices->middle;
	int ret;

	if (!lane)
		return -ENOMEM;
	if (begin >= slices->end)
		return 0;
	ret = make_text(w, slices);
	if (ret == 0)
		ret = put_part(w, lane, one, begin, middle, slices->wait, false);
	if (ret == 0)
		ret = put_part(w, lane, one, middle, slices->end, one->name, true);
	return ret;
}

int page_collectives_write(struct page *page)
{
	struct writer w = { .page = page };
	int ret = collective_tracks_read(page->q, put_one, &w);

	for (size_t i = 0; i < w.nr; i++) {
		int error = page_lane_end(w.lanes[i]);

		ret = ret ? ret : error;
	}
	alloc_free(w.lanes);
	alloc_free(w.text);
	return ret;
}
