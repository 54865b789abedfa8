/* SPDX-License-Identifier: MIT */
/* tui_lanes.c - the timeline of `rtl tui` on the screen
 *
 * A row for each queue, stream, thread or group of ranks with collectives, a column for a part of
 * the time. While a new picture is made, the last one is shown, moved and scaled to what is asked
 * for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/screen.h"
#include "cli/read/tui.h"
#include "cli/ui.h"

#define DETAIL_ROWS 5

static int label_width(void)
{
	int width = screen_columns() / 4;

	return width < 12 ? 12 : width > 28 ? 28 : width;
}

static int nr_columns(void)
{
	int nr = screen_columns() - label_width() - 1;

	return nr < 4 ? 4 : nr;
}

static int nr_rows(void)
{
	int nr = tui_height() - 1 - DETAIL_ROWS;

	return nr < 1 ? 1 : nr;
}

static int64_t shown_begin(const struct tui_lanes *l)
{
	return l->end > l->begin ? l->begin : l->picture ? l->picture->trace_begin : 0;
}

static int64_t shown_end(const struct tui_lanes *l)
{
	return l->end > l->begin ? l->end : l->picture ? l->picture->trace_end : 1;
}

static double column_ns(const struct tui_lanes *l)
{
	return (double)(shown_end(l) - shown_begin(l)) / nr_columns();
}

void tui_lanes_ask(struct tui *t, int find, const char *text)
{
	struct tui_lanes *l = &t->lanes;
	int64_t width = (int64_t)column_ns(l);
	struct tui_ask ask = {
		.begin = l->begin,
		.end = l->end,
		.columns = (size_t)nr_columns(),
		.first_lane = l->top,
		.max_lanes = (size_t)nr_rows(),
		.by_stream = l->by_stream,
		.lane = l->lane,
		.at = l->at,
		.at_end = l->at + (l->is_pinned || width < 1 ? 1 : width),
		.find = find,
	};

	snprintf(ask.text, sizeof(ask.text), "%s", text ? text : "");
	l->asked = tui_time_ask(&ask);
	l->is_stale = false;
	l->is_finding = find != 0;
}

/* Moves what is shown, so that a slice is in it. */
static void go_to(struct tui_lanes *l, const struct tui_spot *spot)
{
	int64_t span = shown_end(l) - shown_begin(l);

	l->lane = spot->lane;
	l->at = spot->begin;
	l->is_pinned = true;
	if (spot->begin < shown_begin(l) || spot->begin >= shown_end(l)) {
		l->begin = spot->begin - span / 3;
		l->end = l->begin + span;
	}
	l->is_stale = true;
}

void tui_lanes_take(struct tui *t)
{
	struct tui_picture *p = tui_time_take();
	struct tui_lanes *l = &t->lanes;

	if (p && p->histogram) {
		free(t->buckets);
		free(t->histogram);
		t->buckets = p->buckets;
		t->histogram = p->histogram;
		p->buckets = NULL;
		p->histogram = NULL;
	}
	if (p && p->columns) {
		tui_time_free(l->picture);
		l->picture = p;
		if (!l->at)
			l->at = p->trace_begin;
		if (p->is_find)
			l->is_finding = false;
		if (p->is_find && p->found.is_known)
			go_to(l, &p->found);
		else if (p->is_find)
			tui_say(t, "there is no further one");
		if (l->lane >= p->nr_lanes)
			l->lane = p->nr_lanes ? p->nr_lanes - 1 : 0;
	} else {
		tui_time_free(p);
	}
	if (t->tab == TAB_TIMELINE && l->is_stale && !l->is_finding)
		tui_lanes_ask(t, 0, NULL);
}

/* ---- drawing ---- */

/* A round number of ns, at least `ns`. */
static double round_step(double ns)
{
	double step = 1;

	while (step * 10 < ns)
		step *= 10;
	return step >= ns     ? step :
	       step * 2 >= ns ? step * 2 :
	       step * 5 >= ns ? step * 5 :
				step * 10;
}

/* Times from the begin of the trace; where they would all look alike, from what is shown. */
static void draw_axis(const struct tui_lanes *l)
{
	double ns = column_ns(l), step = round_step(ns * 16), begin, from;
	char text[UI_NUMBER_SIZE + 8], span[UI_NUMBER_SIZE];
	bool is_far;

	begin = (double)(shown_begin(l) - l->picture->trace_begin);
	is_far = begin / step > 500;
	screen_put(TUI_TOP, 0, SCREEN_BAR, "", 0, screen_columns());
	ui_time(span, (uint64_t)(shown_end(l) - shown_begin(l)));
	screen_put(TUI_TOP, 1, SCREEN_BAR, span, label_width() - 1, 0);
	from = is_far ? 0 : (double)(int64_t)(begin / step) * step - begin;
	for (double at = from; at < ns * nr_columns(); at += step) {
		int column = (int)(at / ns + 0.5);
		size_t used;

		if (at < 0 || column + 12 > nr_columns())
			continue;
		used = (size_t)snprintf(text, sizeof(text), "%s%s",
					screen_is_utf8() ? "\xe2\x94\x82" : "|",
					is_far && at > 0 ? "+" : "");
		ui_time(text + used, (uint64_t)(is_far && at > 0 ? at : begin + at));
		screen_put(TUI_TOP, label_width() + 1 + column, SCREEN_BAR, text, 14, 0);
	}
}

static const char *glyph_of(float share)
{
	static const char *const blocks[] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
					      "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
					      "\xe2\x96\x87", "\xe2\x96\x88" };
	static const char *const ascii[] = { ".", ".", ":", ":", "=", "=", "#", "#" };
	int i = (int)(share * 8);

	i = i < 0 ? 0 : i > 7 ? 7 : i;
	return screen_is_utf8() ? blocks[i] : ascii[i];
}

static int colour_of(const char *name)
{
	return (int)(map_hash(name, strlen(name)) % SCREEN_SLICES);
}

/* The cell of the last picture at a column of what is shown now; NULL: it had nothing there. */
static const struct tui_cell *cell_at(const struct tui_lanes *l, size_t row, int column)
{
	const struct tui_picture *p = l->picture;
	double at = (double)(shown_begin(l) - p->begin) + ((double)column + 0.5) * column_ns(l);
	double old = at * (double)p->columns / (double)(p->end - p->begin);
	size_t lane = l->top + row;

	if (old < 0 || old >= (double)p->columns || lane < p->first_lane ||
	    lane >= p->first_lane + p->rows)
		return NULL;
	return &p->cells[(lane - p->first_lane) * p->columns + (size_t)old];
}

static bool is_same(const struct tui_cell *a, const struct tui_cell *b)
{
	return a && b && a->id && a->id == b->id && a->name == b->name;
}

/* One slice over several columns shows its name, behind a mark for its begin. Returns the
 * columns. */
static int draw_run(const struct tui_lanes *l, size_t row, int column, int y)
{
	const struct tui_cell *cell = cell_at(l, row, column);
	const char *name = l->picture->names[cell->name];
	const char *mark = screen_is_utf8() && !screen_is_plain() ? "\xe2\x96\x8f" : "|";
	enum screen_style style = SCREEN_FILLED + (unsigned int)colour_of(name);
	/* texts of ranges are no names of C++ */
	bool is_kernel = l->picture->kinds[l->top + row - l->picture->first_lane] == LANE_KERNELS;
	int nr = 1, x = label_width() + 1 + column;
	char **texts;

	while (column + nr < nr_columns() && is_same(cell, cell_at(l, row, column + nr)))
		nr++;
	if (nr < 3)
		return 0;
	screen_put(y, x, style, mark, 1, 0);
	if (!is_kernel) {
		screen_put(y, x + 1, style, name, nr - 1, nr - 1);
		return nr;
	}
	texts = names_make(&name, 1, nr > 40 ? NAMES_AUTO : NAMES_SHORT,
			   nr > 16 ? (size_t)nr - 1 : 0);
	screen_put(y, x + 1, style, texts[0], nr - 1, nr - 1);
	names_free(texts, 1);
	return nr;
}

static void draw_lane(const struct tui_lanes *l, size_t row)
{
	int y = TUI_TOP + 1 + (int)row,
	    cursor = (int)((double)(l->at - shown_begin(l)) / column_ns(l));
	bool is_at = l->top + row == l->lane;
	size_t lane = l->top + row - l->picture->first_lane;

	if (lane < l->picture->rows)
		screen_put(y, 0, is_at ? SCREEN_SELECTED : SCREEN_PLAIN, l->picture->lanes[lane],
			   label_width(), label_width());
	for (int c = 0; c < nr_columns();) {
		const struct tui_cell *cell = cell_at(l, row, c);
		int run = 0;

		if (cell && cell->name >= 0 && cell->id)
			run = draw_run(l, row, c, y);
		else if (!cell || cell->name < 0)
			run = 1;
		if (!run) {
			screen_put(y, label_width() + 1 + c,
				   SCREEN_SLICE + colour_of(l->picture->names[cell->name]),
				   glyph_of(cell->share), 1, 0);
			run = 1;
		}
		c += run;
	}
	if (is_at && cursor >= 0 && cursor < nr_columns()) {
		const struct tui_cell *cell = cell_at(l, row, cursor);

		screen_put(y, label_width() + 1 + cursor, SCREEN_SELECTED,
			   cell && cell->name >= 0 ? (screen_is_utf8() ? "\xe2\x97\x86" : "@") :
						     "+",
			   1, 1);
	}
}

static void draw_details(const struct tui_lanes *l)
{
	const struct tui_picture *p = l->picture;
	int y = TUI_TOP + 1 + nr_rows();
	char text[200], time[UI_NUMBER_SIZE], rows[UI_NUMBER_SIZE];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "at %.9f s",
				(double)(l->at - p->trace_begin) / 1e9);
	if (l->mark)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "   %s%s from the mark",
					 l->at < l->mark ? "-" : "",
					 ui_time(time, (uint64_t)llabs(l->at - l->mark)));
	if (!p->is_read)
		used += (size_t)
			snprintf(text + used, sizeof(text) - used, "   reading: %.0f%% of %s rows",
				 p->nr_total ? 100.0 * (double)p->nr_read / (double)p->nr_total : 0,
				 ui_count(rows, p->nr_total));
	if (!p->is_exact)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "   height: share of the time");
	if (l->top + (size_t)nr_rows() < p->nr_lanes)
		snprintf(text + used, sizeof(text) - used, "   %zu more rows below",
			 p->nr_lanes - l->top - (size_t)nr_rows());
	screen_put(y++, 0, SCREEN_BAR, text, screen_columns(), screen_columns());
	if (!p->details || p->self.lane != l->lane)
		return;
	for (const char *line = p->details; *line && y < TUI_TOP + tui_height(); y++) {
		size_t size = strcspn(line, "\n");
		char *copy = ui_format("%.*s", (int)size, line);

		screen_put(y, 1, line == p->details ? SCREEN_STRONG : SCREEN_PLAIN, copy,
			   screen_columns() - 1, 0);
		free(copy);
		line += size + (line[size] == '\n');
	}
}

void tui_lanes_draw(struct tui *t)
{
	struct tui_lanes *l = &t->lanes;

	if (!l->picture) {
		if (!l->asked)
			tui_lanes_ask(t, 0, NULL);
		screen_put(TUI_TOP + 1, 2, SCREEN_FAINT, "reading...", 40, 0);
		return;
	}
	if (l->lane < l->top)
		l->top = l->lane;
	if (l->lane >= l->top + (size_t)nr_rows())
		l->top = l->lane - (size_t)nr_rows() + 1;
	if (l->top != l->picture->first_lane || l->picture->columns != (size_t)nr_columns() ||
	    (l->picture->rows < (size_t)nr_rows() &&
	     l->picture->first_lane + l->picture->rows < l->picture->nr_lanes))
		l->is_stale = l->is_stale || l->asked == l->picture->serial;
	if (!l->picture->nr_lanes && l->picture->is_read) {
		screen_put(TUI_TOP + 1, 2, SCREEN_FAINT,
			   "there is neither an operation nor a call in the trace",
			   screen_columns(), 0);
		return;
	}
	draw_axis(l);
	for (size_t row = 0; row < (size_t)nr_rows(); row++)
		draw_lane(l, row);
	draw_details(l);
}

/* ---- keys ---- */

/* The part around a time that stays in its column. */
static void zoom(struct tui_lanes *l, double factor)
{
	double span = (double)(shown_end(l) - shown_begin(l)), new_span = span * factor;
	double share = (double)(l->at - shown_begin(l)) / span;
	int64_t whole = l->picture->trace_end - l->picture->trace_begin;

	if (new_span < nr_columns())
		new_span = nr_columns(); /* 1 ns for each column */
	if (share < 0 || share > 1)
		share = 0.5;
	if (new_span >= (double)whole) {
		l->begin = l->end = 0;
		return;
	}
	l->begin = l->at - (int64_t)(share * new_span);
	if (l->begin < l->picture->trace_begin)
		l->begin = l->picture->trace_begin;
	l->end = l->begin + (int64_t)new_span;
}

static void pan(struct tui_lanes *l, double share)
{
	int64_t span = shown_end(l) - shown_begin(l), by = (int64_t)((double)span * share);
	int64_t begin = shown_begin(l) + by;

	if (l->end <= l->begin)
		return; /* all is shown */
	if (begin + span > l->picture->trace_end)
		begin = l->picture->trace_end - span;
	if (begin < l->picture->trace_begin)
		begin = l->picture->trace_begin;
	l->begin = begin;
	l->end = begin + span;
}

/* The cursor to a column, which may be beside what is shown. */
static void move_cursor(struct tui_lanes *l, int step)
{
	double ns = column_ns(l);
	int64_t column = (int64_t)((double)(l->at - shown_begin(l)) / ns) + step;

	if (column < 0 || column >= nr_columns()) {
		pan(l, step < 0 ? -0.5 : 0.5);
		column = (int64_t)((double)(l->at - shown_begin(l)) / ns) + step;
	}
	column = column < 0 ? 0 : column >= nr_columns() ? nr_columns() - 1 : column;
	/* within the column, not at its edge, which is a matter of rounding */
	l->at = shown_begin(l) + (int64_t)((double)column * ns + 0.5);
	if ((double)(l->at - shown_begin(l)) < (double)column * ns)
		l->at++;
	l->is_pinned = false;
}

static void show_slice(struct tui_lanes *l)
{
	const struct tui_spot *s = &l->picture->self;
	int64_t span = s->end - s->begin;

	if (!s->is_known)
		return;
	span = span < 10 ? 10 : span;
	l->begin = s->begin - span / 2;
	l->end = s->end + span / 2;
	l->at = s->begin;
	l->is_pinned = true;
}

static bool move_lane(struct tui_lanes *l, int key)
{
	size_t last = l->picture->nr_lanes ? l->picture->nr_lanes - 1 : 0, page = (size_t)nr_rows();

	if (key == SCREEN_UP || key == 'k')
		l->lane -= l->lane > 0;
	else if (key == SCREEN_DOWN || key == 'j')
		l->lane += l->lane < last;
	else if (key == SCREEN_PAGE_UP)
		l->lane -= l->lane > page ? page : l->lane;
	else if (key == SCREEN_PAGE_DOWN)
		l->lane = l->lane + page < last ? l->lane + page : last;
	else
		return false;
	return true;
}

static void go_to_end(struct tui_lanes *l, bool last)
{
	pan(l, last ? 1e18 / (double)(shown_end(l) - shown_begin(l)) :
		      -1e18 / (double)(shown_end(l) - shown_begin(l)));
	l->at = last ? shown_end(l) - (int64_t)column_ns(l) - 1 : shown_begin(l);
	l->is_pinned = false;
}

static bool change_part(struct tui *t, int key)
{
	struct tui_lanes *l = &t->lanes;

	switch (key) {
	case SCREEN_LEFT:
	case 'h':
		move_cursor(l, -1);
		break;
	case SCREEN_RIGHT:
	case 'l':
		move_cursor(l, 1);
		break;
	case 'a':
	case 'd':
		pan(l, key == 'a' ? -0.25 : 0.25);
		break;
	case '+':
	case '=':
	case 'w':
		zoom(l, 0.5);
		break;
	case '-':
	case 's':
		zoom(l, 2);
		break;
	case '0':
		l->begin = l->end = 0;
		break;
	case SCREEN_FIRST:
	case SCREEN_LAST:
		go_to_end(l, key == SCREEN_LAST);
		break;
	case SCREEN_ENTER:
		show_slice(l);
		break;
	default:
		return move_lane(l, key);
	}
	return true;
}

bool tui_lanes_key(struct tui *t, int key)
{
	struct tui_lanes *l = &t->lanes;

	if (!l->picture)
		return false;
	switch (key) {
	case ']':
	case '[':
		tui_lanes_ask(t, key == ']' ? 1 : -1, NULL);
		return true;
	case 'g':
		if (l->picture->other.is_known)
			go_to(l, &l->picture->other);
		else
			tui_say(t, "nothing is joined to what the cursor is on");
		return true;
	case 'm':
		l->mark = l->mark == l->at ? 0 : l->at;
		return true;
	case 't':
		l->by_stream = !l->by_stream;
		l->top = l->lane = 0;
		tui_say(t, l->by_stream ? "rows of streams" : "rows of queues");
		l->is_stale = true;
		return true;
	}
	if (!change_part(t, key))
		return false;
	l->is_stale = true;
	return true;
}

void tui_lanes_search(struct tui *t, int step)
{
	if (t->lanes.picture && *t->search)
		tui_lanes_ask(t, step, t->search);
}
