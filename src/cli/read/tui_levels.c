/* SPDX-License-Identifier: MIT */
/* tui_levels.c - bins of lanes, and blocks of rows */
#include "cli/read/tui_levels.h"

#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"

static void *resize(void *p, size_t nr, size_t size)
{
	p = reallocarray(p, nr, size);
	if (!p)
		ui_die_memory();
	return p;
}

void tui_levels_init(struct levels *l, int64_t begin)
{
	*l = (struct levels){ .begin = begin, .end = begin, .width = 64, .nr_bins = LEVELS_BINS };
}

void tui_levels_fini(struct levels *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->lanes[i].name);
		free(l->lanes[i].bins);
	}
	free(l->lanes);
	free(l->order);
	map_fini(&l->by_key);
	for (int i = 0; i < TUI_TABLES; i++)
		free(l->tables[i].blocks);
}

/* ---- lanes ---- */

static int compare_lanes(const struct level_lane *x, const struct level_lane *y)
{
	bool x_host = x->kind >= LANE_RANGES, y_host = y->kind >= LANE_RANGES;

	if (x_host != y_host)
		return x_host - y_host;
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	/* a thread's ranges are above its calls; copies below the queues of the process */
	if (x_host && x->which != y->which)
		return x->which < y->which ? -1 : 1;
	if (!x_host && x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->which != y->which)
		return x->which < y->which ? -1 : 1;
	return x->level < y->level ? -1 : x->level > y->level;
}

static void merge_pairs(struct level_bin *bins, size_t nr)
{
	for (size_t i = 0; i < nr / 2; i++) {
		const struct level_bin a = bins[2 * i], b = bins[2 * i + 1];

		bins[i] = a.best >= b.best ? a : b;
		bins[i].busy = a.busy + b.busy;
		bins[i].nr = a.nr + b.nr;
	}
}

/* Bins twice as long; the second half of them is empty then. */
static void double_width(struct levels *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		merge_pairs(l->lanes[i].bins, l->nr_bins);
		memset(l->lanes[i].bins + l->nr_bins / 2, 0,
		       l->nr_bins / 2 * sizeof(*l->lanes[i].bins));
	}
	l->width *= 2;
}

/* Half as many bins, each twice as long. */
static void halve_bins(struct levels *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		merge_pairs(l->lanes[i].bins, l->nr_bins);
		l->lanes[i].bins =
			resize(l->lanes[i].bins, l->nr_bins / 2, sizeof(*l->lanes[i].bins));
	}
	l->width *= 2;
	l->nr_bins /= 2;
}

static size_t add_lane(struct levels *l, const struct level_lane *lane)
{
	size_t at = l->nr, i;

	while ((l->nr + 1) * l->nr_bins > LEVELS_MAX_BINS && l->nr_bins > 64)
		halve_bins(l);
	if (l->nr == l->max) {
		l->max = l->max ? 2 * l->max : 32;
		l->lanes = resize(l->lanes, l->max, sizeof(*l->lanes));
		l->order = resize(l->order, l->max, sizeof(*l->order));
	}
	l->lanes[at] = *lane;
	l->lanes[at].bins = calloc(l->nr_bins, sizeof(struct level_bin));
	if (!l->lanes[at].bins)
		ui_die_memory();
	for (i = l->nr; i && compare_lanes(lane, &l->lanes[l->order[i - 1]]) < 0; i--)
		l->order[i] = l->order[i - 1];
	l->order[i] = at;
	l->nr++;
	return at;
}

size_t tui_levels_lane(struct levels *l, enum lane_kind kind, int64_t of, int64_t which,
		       int64_t level, bool *is_new)
{
	const struct level_lane lane = { .kind = kind, .of = of, .which = which, .level = level };
	const int64_t parts[] = { (int64_t)kind, of, which, level };
	uint64_t key = map_hash(parts, sizeof(parts)), at;

	*is_new = false;
	for (; map_get(&l->by_key, key, &at); key++)
		if (compare_lanes(&l->lanes[at], &lane) == 0)
			return at;
	*is_new = true;
	at = add_lane(l, &lane);
	if (map_put(&l->by_key, key, at))
		ui_die_memory();
	return at;
}

/* ---- blocks ---- */

void tui_levels_row(struct levels *l, enum tui_table table, int64_t id, int64_t begin, int64_t end)
{
	struct level_blocks *t = &l->tables[table];
	struct level_block *b;

	if (!t->nr || t->in_last == BLOCK_ROWS) {
		if (t->nr == t->max) {
			t->max = t->max ? 2 * t->max : 64;
			t->blocks = resize(t->blocks, t->max, sizeof(*t->blocks));
		}
		t->blocks[t->nr++] = (struct level_block){ id, id, INT64_MAX, INT64_MIN };
		t->in_last = 0;
	}
	b = &t->blocks[t->nr - 1];
	b->last_id = id;
	t->in_last++;
	if (end < begin)
		return;
	b->begin = begin < b->begin ? begin : b->begin;
	b->end = end > b->end ? end : b->end;
}

uint64_t tui_levels_rows(const struct levels *l, enum tui_table table, int64_t begin, int64_t end)
{
	const struct level_blocks *t = &l->tables[table];
	uint64_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		if (t->blocks[i].begin <= end && t->blocks[i].end >= begin)
			nr += BLOCK_ROWS;
	return nr;
}

/* ---- bins ---- */

void tui_levels_slice(struct levels *l, size_t lane, int64_t begin, int64_t end, uint32_t name)
{
	float ns = (float)(end - begin);
	size_t first, last;

	if (end > l->end)
		l->end = end;
	while ((end - l->begin) / l->width >= (int64_t)l->nr_bins)
		double_width(l);
	first = (size_t)((begin - l->begin) / l->width);
	last = (size_t)((end - l->begin) / l->width);
	l->lanes[lane].nr++;
	for (size_t i = first; i <= last; i++) {
		struct level_bin *bin = &l->lanes[lane].bins[i];
		int64_t at = l->begin + (int64_t)i * l->width, until = at + l->width;

		bin->busy += (float)((end < until ? end : until) - (begin > at ? begin : at));
		bin->nr += i == first;
		if (ns >= bin->best) {
			bin->best = ns;
			bin->name_plus_1 = name + 1;
		}
	}
}

struct level_bin tui_levels_sum(const struct levels *l, size_t lane, int64_t begin, int64_t end)
{
	struct level_bin sum = { 0 };
	int64_t i = (begin - l->begin) / l->width, last = (end - 1 - l->begin) / l->width;

	for (i = i < 0 ? 0 : i; i <= last && i < (int64_t)l->nr_bins; i++) {
		const struct level_bin *bin = &l->lanes[lane].bins[i];
		int64_t at = l->begin + i * l->width, until = at + l->width;
		int64_t in = (end < until ? end : until) - (begin > at ? begin : at);

		sum.busy += bin->busy * (float)in / (float)l->width;
		sum.nr += bin->nr;
		if (bin->nr + (bin->busy > 0) && bin->best >= sum.best) {
			sum.best = bin->best;
			sum.name_plus_1 = bin->name_plus_1;
		}
	}
	return sum;
}
