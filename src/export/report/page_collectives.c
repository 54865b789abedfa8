/* SPDX-License-Identifier: MIT */
/* page_collectives.c - collectives of several GPUs as slices: a lane for the ranks that share a
 * communicator or queue
 *
 * A collective is two slices: the time in which those that had come waited for the last one, which
 * has its name and what it did meanwhile, and the transfer. The text of both has its ranks, the
 * last one first, from which the page draws arrows to their kernels. Collectives whose ranks have
 * different clocks are left out.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/collective.h"
#include "base/alloc.h"
#include "export/report/page_internal.h"

/* Ranks of collectives beyond this number come without their kernels. */
#define ARRIVALS_MAX 400000

struct writer {
	struct page *page;
	struct collectives all;
	struct channel {
		struct page_lane *lane;
		int64_t end_ns; /* of its last slice: slices of a row don't overlap */
	} * channels;
	size_t nr, max;
	uint64_t nr_arrivals;
	char *text;
	size_t text_max;
};

/* The channel of the ranks of a collective. */
static struct channel *channel_of(struct writer *w, const struct collective_one *one)
{
	const char *first = w->all.lanes[one->arrivals[0].lane].name;
	char name[128];

	while (w->nr <= one->set) {
		struct channel *more =
			alloc_grow(w->channels, w->nr, &w->max, 8, sizeof(*w->channels));

		if (!more)
			return NULL;
		w->channels = more;
		w->channels[w->nr++] = (struct channel){ .end_ns = INT64_MIN };
	}
	if (!w->channels[one->set].lane) {
		snprintf(name, sizeof(name), "%s %zu of %s and %zu more",
			 one->by_calls ? "communicator" : "queue", one->channel, first,
			 one->nr - 1);
		w->channels[one->set].lane =
			page_lane_begin(w->page, PAGE_COLLECTIVES, "collectives", name, 0);
	}
	return w->channels[one->set].lane ? &w->channels[one->set] : NULL;
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

static int append_arrival(struct writer *w, size_t *at, const struct collective_one *one, size_t i)
{
	const struct collective_arrival *a = &one->arrivals[i];
	char line[128];

	snprintf(line, sizeof(line), "\n%" PRId64 "\t%" PRId64 "\t%s", a->op,
		 one->arrivals[one->last].begin - a->begin, w->all.lanes[a->lane].name);
	return append(w, at, line);
}

/* "NUMBER CLASS CAUSE", and a line "ID WAIT NAME" for each rank, with tabs between them. */
static int make_text(struct writer *w, const struct collective_one *one)
{
	char line[128];
	size_t at = 0;
	int ret;

	snprintf(line, sizeof(line), "%" PRIu64 "\t%s\t%s", one->number,
		 collective_classes[one->class],
		 one->class == COLLECTIVE_SKEW ? collective_causes[one->cause] : "");
	ret = append(w, &at, line);
	if (ret || (w->nr_arrivals += one->nr) > ARRIVALS_MAX)
		return ret;
	ret = append_arrival(w, &at, one, one->last);
	for (size_t i = 0; ret == 0 && i < one->nr; i++)
		if (i != one->last)
			ret = append_arrival(w, &at, one, i);
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

static int put_one(void *arg, const struct collective_one *one)
{
	struct writer *w = arg;
	const struct collective_arrival *last = &one->arrivals[one->last];
	int64_t first = last->begin, end = last->end, middle;
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
	channel = channel_of(w, one);
	if (!channel)
		return -ENOMEM;
	first = first < channel->end_ns ? channel->end_ns : first;
	first = first < w->page->t0 ? w->page->t0 : first;
	if (first >= end)
		return 0;
	middle = last->begin > first ? last->begin : first;
	ret = make_text(w, one);
	if (one->class == COLLECTIVE_SKEW)
		snprintf(waits, sizeof(waits), "wait for %s (%s)", w->all.lanes[last->lane].name,
			 collective_causes[one->cause]);
	else
		snprintf(waits, sizeof(waits), "wait for %s", w->all.lanes[last->lane].name);
	if (ret == 0)
		ret = put_part(w, channel->lane, one, first, middle, waits, false);
	if (ret == 0)
		ret = put_part(w, channel->lane, one, middle, end, one->name, true);
	channel->end_ns = end;
	return ret;
}

int page_collectives_write(struct page *page)
{
	struct writer w = { .page = page };
	int ret;

	if (!collective_may_be(page->q))
		return 0;
	ret = collective_read(page->q, NULL, put_one, &w, &w.all);
	for (size_t i = 0; i < w.nr; i++) {
		int error = page_lane_end(w.channels[i].lane);

		ret = ret ? ret : error;
	}
	collective_fini(&w.all);
	alloc_free(w.channels);
	alloc_free(w.text);
	return ret;
}
