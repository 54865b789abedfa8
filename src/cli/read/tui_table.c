/* SPDX-License-Identifier: MIT */
/* tui_table.c - tables and texts of `rtl tui`: order, filter, search, details of a row */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/screen.h"
#include "cli/read/tui.h"
#include "cli/ui.h"

void tui_table_forget(struct tui_view *v)
{
	if (v->names)
		names_free(v->names, v->page.table.nr_rows);
	for (size_t i = 0; i < v->nr_lines; i++)
		free(v->lines[i]);
	free(v->lines);
	free(v->rows);
	v->names = NULL;
	v->lines = NULL;
	v->rows = NULL;
	v->nr_lines = v->nr_rows = 0;
	v->laid_out = 0;
	tui_load_free(&v->page);
}

/* ---- layout ---- */

static bool has_table(const struct tui_view *v)
{
	return v->page.table.nr_columns > 0;
}

/* The cell of a row; `buf` is of at least `size` bytes. */
static const char *cell_text(const struct tui_view *v, size_t row, size_t column, char *buf,
			     size_t size)
{
	const struct sheet_cell *cell = sheet_cell(&v->page.table, row, column);
	const struct sheet_column *c = &v->page.table.columns[column];
	char number[GRID_TEXT_SIZE];
	const char *text;

	if (v->names && column == v->name)
		return v->names[row];
	text = grid_text(c, cell, number);
	if (c->unit == SHEET_NAME && !cell->none)
		return grid_name(buf, size, cell, text);
	snprintf(buf, size, "%s", text);
	return buf;
}

/* The column with the names to search in. */
static size_t name_column(const struct sheet *t)
{
	size_t name = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].unit == SHEET_NAME && t->columns[i].title &&
		    (!strcmp(t->columns[i].key, "name") ||
		     strcmp(t->columns[name].key, "name") != 0))
			name = i;
	return name;
}

static void shorten_names(struct tui_view *v)
{
	const struct sheet *t = &v->page.table;
	const char **texts;

	if (v->names)
		names_free(v->names, t->nr_rows);
	v->names = NULL;
	if (!t->columns[v->name].symbol || !t->nr_rows)
		return;
	texts = calloc(t->nr_rows, sizeof(*texts));
	if (!texts)
		ui_die_memory();
	for (size_t r = 0; r < t->nr_rows; r++)
		texts[r] = sheet_cell(t, r, v->name)->text;
	v->names = names_make(texts, t->nr_rows, NAMES_AUTO, v->layout.widths[v->name]);
	free(texts);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct tui_view *v = arg;
	const struct sheet *t = &v->page.table;
	size_t x = *(const size_t *)a, y = *(const size_t *)b, c = (size_t)v->sort;
	int order = sheet_compare(&t->columns[c], sheet_cell(t, x, c), sheet_cell(t, y, c));

	if (order)
		return v->reverse ? -order : order;
	return x < y ? -1 : x > y;
}

/* Which rows are shown, and in which order. */
static void choose_rows(struct tui_view *v)
{
	const struct sheet *t = &v->page.table;
	size_t nr = t->nr_rows;

	free(v->rows);
	v->rows = calloc(nr + 1, sizeof(*v->rows));
	v->nr_rows = 0;
	if (!v->rows)
		ui_die_memory();
	for (size_t r = 0; r < nr; r++) {
		const char *name = sheet_cell(t, r, v->name)->text;

		if (!*v->filter || strcasestr(name ? name : "", v->filter))
			v->rows[v->nr_rows++] = r;
	}
	if (v->sort >= 0)
		qsort_r(v->rows, v->nr_rows, sizeof(*v->rows), compare_rows, v);
	if (v->at >= v->nr_rows)
		v->at = v->nr_rows ? v->nr_rows - 1 : 0;
}

static void add_line(struct tui_view *v, const char *text, size_t size)
{
	v->lines = reallocarray(v->lines, v->nr_lines + 1, sizeof(*v->lines));
	if (!v->lines)
		ui_die_memory();
	v->lines[v->nr_lines++] = ui_format("%.*s", (int)size, text);
}

/* Lines of a text; longer ones are continued below. */
static void wrap_text(struct tui_view *v, const char *text, size_t width)
{
	while (*text) {
		size_t line = strcspn(text, "\n"), size = line;

		if (size > width) {
			for (size = width; size && text[size] != ' '; size--)
				;
			if (!size)
				size = width;
		}
		add_line(v, text, size);
		text += size;
		while (size < line && *text == ' ')
			text++;
		text += *text == '\n';
	}
}

static void lay_out(struct tui_view *v, unsigned int width)
{
	if (v->laid_out == width)
		return;
	v->laid_out = width;
	if (has_table(v)) {
		struct grid_style style = { .width = width - 1 };

		v->name = name_column(&v->page.table);
		grid_lay_out(&v->page.table, &style, &v->layout);
		shorten_names(v);
		choose_rows(v);
	} else if (v->page.text) {
		for (size_t i = 0; i < v->nr_lines; i++)
			free(v->lines[i]);
		v->nr_lines = 0;
		wrap_text(v, v->page.text, width - 1);
	}
}

/* ---- details of a row ---- */

static enum lane_kind kind_of(enum tui_tab tab)
{
	return tab == TAB_CALLS ? LANE_CALLS : tab == TAB_RANGES ? LANE_RANGES : LANE_KERNELS;
}

static bool has_histogram(enum tui_tab tab)
{
	return tab == TAB_KERNELS || tab == TAB_CALLS || tab == TAB_RANGES;
}

static const char *row_name(const struct tui_view *v, size_t row)
{
	const char *name = sheet_cell(&v->page.table, row, v->name)->text;

	return name ? name : "";
}

static void put_field(struct tui_view *v, size_t row, size_t column, int y)
{
	const struct sheet_column *c = &v->page.table.columns[column];
	char buf[GRID_TEXT_SIZE], key[40];

	snprintf(key, sizeof(key), "%-12s", c->title ? c->title : c->key);
	screen_put(y, 2, SCREEN_FAINT, key, 20, 0);
	screen_put(y, 22, SCREEN_PLAIN, grid_text(c, sheet_cell(&v->page.table, row, column), buf),
		   1000, 0);
}

/* As many bars as there are lines: each is some buckets. */
static void draw_histogram(const struct tui *t, int y, int lines)
{
	unsigned int first = TUI_BUCKETS, last = 0, step;
	uint64_t most = 0, sums[64] = { 0 };
	int nr = 0, width = screen_columns() - 38;
	char text[300];

	for (unsigned int i = 0; i < TUI_BUCKETS; i++)
		if (t->buckets[i]) {
			first = first == TUI_BUCKETS ? i : first;
			last = i;
		}
	if (first == TUI_BUCKETS || lines < 1 || width < 4) {
		screen_put(y, 2, SCREEN_FAINT, "no durations", 40, 0);
		return;
	}
	lines = lines > 20 ? 20 : lines;
	step = (last - first) / (unsigned int)lines + 1;
	for (unsigned int i = first; i <= last; i += step, nr++) {
		for (unsigned int k = i; k < i + step && k < TUI_BUCKETS; k++)
			sums[nr] += t->buckets[k];
		most = sums[nr] > most ? sums[nr] : most;
	}
	for (int i = 0; i < nr; i++) {
		unsigned int bucket = first + (unsigned int)i * step;
		int bar = (int)((double)sums[i] * width / (double)most + 0.5);
		char from[UI_NUMBER_SIZE], to[UI_NUMBER_SIZE], count[UI_NUMBER_SIZE];
		size_t used;

		snprintf(text, sizeof(text), "%9s - %9s %10s ",
			 ui_time(from, tui_bucket_ns(bucket)),
			 ui_time(to, tui_bucket_ns(bucket + step)), ui_count(count, sums[i]));
		screen_put(y + i, 2, SCREEN_PLAIN, text, 34, 0);
		text[0] = 0;
		used = 0;
		for (int k = 0; k < (bar ? bar : sums[i] > 0) && used + 4 < sizeof(text); k++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
						 screen_is_utf8() ? "\xe2\x96\x88" : "#");
		screen_put(y + i, 35, SCREEN_SLICE, text, width, 0);
	}
}

static void ask_histogram(struct tui *t, const char *name)
{
	struct tui_ask ask = { .histogram = ui_format("%s", name),
			       .histogram_kind = kind_of(t->tab),
			       .by_stream = t->lanes.by_stream };

	tui_time_ask(&ask);
	t->lanes.is_stale = true;
}

static void draw_detail(struct tui *t, struct tui_view *v)
{
	int y = TUI_TOP, rows = tui_height() + TUI_TOP, width = screen_columns() - 2;
	const char *name = row_name(v, v->detail);
	size_t size = strlen(name), nr_shown = 0;

	for (size_t used = 0; used < size && y < rows - 4; y++) {
		char line[512];
		size_t n = size - used < (size_t)width ? size - used : (size_t)width;

		snprintf(line, sizeof(line), "%.*s", (int)n, name + used);
		screen_put(y, 1, SCREEN_STRONG, line, width, 0);
		used += n < sizeof(line) ? n : sizeof(line) - 1;
	}
	y++;
	for (size_t i = 0; i < v->page.table.nr_columns; i++)
		if (i != v->name && !sheet_cell(&v->page.table, v->detail, i)->none)
			nr_shown++;
	for (size_t i = 0; i < v->page.table.nr_columns && y < rows; i++) {
		if (i == v->name || sheet_cell(&v->page.table, v->detail, i)->none)
			continue;
		/* the histogram has at least half of the screen */
		if (has_histogram(t->tab) && !v->page.table.columns[i].title)
			continue;
		if (has_histogram(t->tab) && nr_shown > 4 && y > TUI_TOP + tui_height() / 2)
			break;
		put_field(v, v->detail, i, y++);
	}
	if (!has_histogram(t->tab) || y + 3 > rows)
		return;
	y++;
	screen_put(y++, 2, SCREEN_FAINT, "durations", 40, 0);
	if (t->histogram && strcmp(t->histogram, name) == 0)
		draw_histogram(t, y, rows - y);
	else
		screen_put(y, 2, SCREEN_FAINT, "reading...", 40, 0);
}

/* ---- drawing ---- */

static void keep_in_view(struct tui_view *v, size_t nr, size_t height)
{
	if (v->at >= nr)
		v->at = nr ? nr - 1 : 0;
	if (v->at < v->top)
		v->top = v->at;
	if (height && v->at >= v->top + height)
		v->top = v->at - height + 1;
	if (v->top + height > nr)
		v->top = nr > height ? nr - height : 0;
}

static void draw_header(const struct tui_view *v)
{
	int x = 1;

	screen_put(TUI_TOP, 0, SCREEN_BAR, "", 0, screen_columns());
	for (size_t i = 0; i < v->page.table.nr_columns; i++) {
		const struct sheet_column *c = &v->page.table.columns[i];
		char title[64];
		int pad;

		if (!v->layout.shown[i])
			continue;
		snprintf(title, sizeof(title), "%s%s", c->title,
			 v->sort == (int)i ? (v->reverse ? "-" : "+") : "");
		pad = c->unit == SHEET_NAME ? 0 : (int)v->layout.widths[i] - (int)strlen(title);
		screen_put(TUI_TOP,
			   x + (pad > 0		 ? pad :
				pad < 0 && x > 1 ? -1 :
						   0),
			   SCREEN_BAR, title, screen_columns(), 0);
		x += (int)v->layout.widths[i] + 2;
	}
}

static void draw_grid(struct tui_view *v)
{
	size_t height = (size_t)tui_height() - 1, name_size;
	char *name, *whole;

	keep_in_view(v, v->nr_rows, height);
	draw_header(v);
	name_size = 4 * (size_t)screen_columns() + 16;
	name = malloc(2 * name_size);
	if (!name)
		ui_die_memory();
	whole = name + name_size;
	for (size_t i = 0; i < height && v->top + i < v->nr_rows; i++) {
		size_t row = v->rows[v->top + i];
		bool is_at = v->top + i == v->at;
		int y = TUI_TOP + 1 + (int)i, x = 1;

		if (is_at)
			screen_put(y, 0, SCREEN_SELECTED, "", 0, screen_columns());
		for (size_t c = 0; c < v->page.table.nr_columns; c++) {
			const char *text;
			int pad;

			if (!v->layout.shown[c])
				continue;
			text = cell_text(v, row, c, whole, name_size);
			if (v->page.table.columns[c].unit == SHEET_NAME)
				text = grid_cut(name, name_size, text, v->layout.widths[c]);
			pad = v->page.table.columns[c].unit == SHEET_NAME ?
				      0 :
				      (int)v->layout.widths[c] - (int)strlen(text);
			screen_put(y, x + (pad > 0 ? pad : 0),
				   is_at ? SCREEN_SELECTED : SCREEN_PLAIN, text, screen_columns(),
				   0);
			x += (int)v->layout.widths[c] + 2;
		}
	}
	free(name);
}

static void draw_text(const struct tui *t, struct tui_view *v)
{
	size_t height = (size_t)tui_height();

	if (v->top + height > v->nr_lines)
		v->top = v->nr_lines > height ? v->nr_lines - height : 0;
	for (size_t i = 0; i < height && v->top + i < v->nr_lines; i++) {
		const char *line = v->lines[v->top + i];
		bool title = *line >= 'A' && *line <= 'Z' &&
			     !strpbrk(line, "abcdefghijklmnopqrstuvwxyz");
		bool found = *t->search && strcasestr(line, t->search);

		screen_put(TUI_TOP + (int)i, 0,
			   found ? SCREEN_SELECTED :
			   title ? SCREEN_STRONG :
				   SCREEN_PLAIN,
			   line, screen_columns(), 0);
	}
}

static void ask_page(struct tui *t, struct tui_view *v, unsigned int width)
{
	if (v->is_ready && (!v->page.text || v->page.width == width || t->tab == TAB_FINDINGS))
		return;
	if (!v->is_asked)
		tui_load_ask(t->tab, width);
	v->is_asked = true;
}

void tui_table_draw(struct tui *t)
{
	struct tui_view *v = &t->views[t->tab];
	unsigned int width = (unsigned int)screen_columns();

	ask_page(t, v, width);
	if (!v->is_ready) {
		screen_put(TUI_TOP + 1, 2, SCREEN_FAINT, "reading...", 40, 0);
		return;
	}
	lay_out(v, width);
	if (v->is_detail && has_table(v))
		draw_detail(t, v);
	else if (v->page.table.nr_rows)
		draw_grid(v);
	else if (v->page.text)
		draw_text(t, v);
	else
		screen_put(TUI_TOP + 1, 2, SCREEN_FAINT,
			   v->page.note ? v->page.note : "nothing of this kind is in the trace",
			   screen_columns() - 3, 0);
}

/* ---- keys ---- */

static void choose_sort(struct tui *t, struct tui_view *v, int step)
{
	int nr = (int)v->page.table.nr_columns, c = v->sort;

	for (int i = 0; i <= nr; i++) {
		c = c + step < -1 ? nr - 1 : c + step >= nr ? -1 : c + step;
		if (c < 0 || v->layout.shown[c])
			break;
	}
	v->sort = c;
	v->at = 0;
	choose_rows(v);
	tui_say(t, c < 0 ? "the longest first, as rtl summary has them" : "sorted by %s",
		c < 0 ? "" : v->page.table.columns[c].title);
}

static bool move(struct tui_view *v, size_t *at, size_t nr, int key)
{
	size_t page = (size_t)tui_height() - 1;

	(void)v;
	switch (key) {
	case SCREEN_UP:
	case 'k':
		*at -= *at > 0;
		return true;
	case SCREEN_DOWN:
	case 'j':
		*at += *at + 1 < nr;
		return true;
	case SCREEN_PAGE_UP:
		*at -= *at > page ? page : *at;
		return true;
	case SCREEN_PAGE_DOWN:
	case ' ':
		*at = *at + page < nr ? *at + page : nr ? nr - 1 : 0;
		return true;
	case SCREEN_FIRST:
	case 'g':
		*at = 0;
		return true;
	case SCREEN_LAST:
	case 'G':
		*at = nr ? nr - 1 : 0;
		return true;
	}
	return false;
}

static bool grid_key(struct tui *t, struct tui_view *v, int key)
{
	if (v->is_detail) {
		if (key != SCREEN_ESCAPE && key != SCREEN_ENTER && key != SCREEN_LEFT &&
		    key != SCREEN_BACKSPACE)
			return false;
		v->is_detail = false;
		return true;
	}
	if (move(v, &v->at, v->nr_rows, key))
		return true;
	switch (key) {
	case SCREEN_ENTER:
		if (v->at >= v->nr_rows)
			return true;
		v->is_detail = true;
		v->detail = v->rows[v->at];
		if (has_histogram(t->tab))
			ask_histogram(t, row_name(v, v->detail));
		return true;
	case SCREEN_F1 + 5:
	case '>':
		choose_sort(t, v, 1);
		return true;
	case '<':
		choose_sort(t, v, -1);
		return true;
	case 'I':
		v->reverse = !v->reverse;
		choose_rows(v);
		return true;
	case SCREEN_ESCAPE:
		*v->filter = 0;
		choose_rows(v);
		return true;
	}
	return false;
}

bool tui_table_key(struct tui *t, int key)
{
	struct tui_view *v = &t->views[t->tab];

	if (!v->is_ready)
		return false;
	if (has_table(v))
		return grid_key(t, v, key);
	return v->page.text && move(v, &v->top, v->nr_lines, key);
}

void tui_table_search(struct tui *t, int step)
{
	struct tui_view *v = &t->views[t->tab];
	size_t nr = has_table(v) ? v->nr_rows : v->nr_lines, at = has_table(v) ? v->at : v->top;

	if (!v->is_ready || !nr || !*t->search)
		return;
	for (size_t i = 0; i < nr; i++) {
		const char *text;

		at = (at + nr + (size_t)step) % nr;
		text = has_table(v) ? sheet_cell(&v->page.table, v->rows[at], v->name)->text :
				      v->lines[at];
		if (text && strcasestr(text, t->search)) {
			*(has_table(v) ? &v->at : &v->top) = at;
			return;
		}
	}
	tui_say(t, "'%s' is not here", t->search);
}

void tui_table_filter(struct tui *t)
{
	struct tui_view *v = &t->views[t->tab];

	if (!has_table(v))
		return;
	snprintf(v->filter, sizeof(v->filter), "%s", t->typed);
	v->at = 0;
	choose_rows(v);
	if (!v->nr_rows)
		tui_say(t, "'%s' is in no name; Esc shows all rows", v->filter);
}
