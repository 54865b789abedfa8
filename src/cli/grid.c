/* SPDX-License-Identifier: MIT */
/* grid.c - tables as aligned text, CSV or JSON
 *
 * Fails:    out of memory ends the process (ui_die_memory).
 * Not here: what the rows are (analysis/tables.h, and the commands).
 */
#include "cli/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/exit_status.h"
#include "cli/ui.h"
#include "export/csv_field.h"
#include "export/json_cell.h"

#define MIN_NAME 16 /* a name column is not cut below this */
#define MAX_NEED 40 /* other columns give way to as much of a name that is no symbol */

struct grid_style grid_style(enum grid_format format)
{
	return (struct grid_style){ .format = format,
				    .width = format == GRID_TEXT ? ui_columns(STDOUT_FILENO, 0) : 0,
				    .colour = ui_colour(STDOUT_FILENO) };
}

void grid_order(struct sheet *t, const char *column, uint64_t rows)
{
	char keys[600];
	size_t used = 0;

	if (column && !sheet_sort(t, column)) {
		for (size_t i = 0; i < t->nr_columns && used + 40 < sizeof(keys); i++)
			used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s",
						 i ? ", " : "", t->columns[i].key);
		ui_die(STATUS_USAGE, "--sort: the table has no column '%.40s'; it has %s", column,
		       keys);
	}
	if (rows)
		sheet_limit(t, rows);
}

static bool is_scaled(const struct grid_style *style)
{
	return style->units == GRID_UNITS_AUTO ? style->format == GRID_TEXT :
						 style->units == GRID_UNITS_SCALED;
}

/* Columns on the screen: one for each UTF-8 sequence, and for what becomes '?'. */
static size_t text_width(const char *text)
{
	size_t left = strlen(text), columns = 0, n;

	for (; left; text += n, left -= n, columns++)
		text_is_safe(text, left, &n);
	return columns;
}

const char *grid_cut(char *buf, size_t size, const char *text, size_t width)
{
	size_t keep = text_width(text) <= width ? width : width > 3 ? width - 3 : 0;
	bool cut = text_width(text) > width;
	size_t used = 0, left = strlen(text), n;

	for (size_t columns = 0; left && columns < keep; columns++, text += n, left -= n) {
		bool safe = text_is_safe(text, left, &n);

		if (used + 8 >= size) { /* less space than a whole sequence and the dots take */
			cut = true;
			break;
		}
		memcpy(buf + used, safe ? text : "?", safe ? n : 1);
		used += safe ? n : 1;
	}
	if (cut && used + 4 <= size) {
		memcpy(buf + used, "...", 3);
		used += 3;
	}
	buf[used] = 0;
	return buf;
}

/* A cell as text, without a unit. */
static const char *raw_text(const struct sheet_column *column, const struct sheet_cell *cell,
			    char buf[UI_NUMBER_SIZE + 8])
{
	if (column->unit == SHEET_SHARE)
		snprintf(buf, UI_NUMBER_SIZE, "%.6f", cell->real);
	else if (column->unit == SHEET_RATE)
		snprintf(buf, UI_NUMBER_SIZE, "%.0f", cell->real);
	else if (column->unit == SHEET_REAL)
		snprintf(buf, UI_NUMBER_SIZE, "%.15g", cell->real);
	else if (column->unit == SHEET_RATIO)
		snprintf(buf, UI_NUMBER_SIZE, "%.6f", cell->real);
	else if (column->unit == SHEET_SPAN)
		snprintf(buf, UI_NUMBER_SIZE, "%lld", (long long)cell->num);
	else
		snprintf(buf, UI_NUMBER_SIZE, "%llu", (unsigned long long)cell->num);
	return buf;
}

/* A cell as text, with a unit. Names are returned unchanged. */
static const char *scaled_text(const struct sheet_column *column, const struct sheet_cell *cell,
			       char buf[UI_NUMBER_SIZE + 8])
{
	switch (column->unit) {
	case SHEET_NAME:
		return cell->text;
	case SHEET_NUMBER:
		return raw_text(column, cell, buf);
	case SHEET_COUNT:
		return ui_count(buf, cell->num);
	case SHEET_SPAN:
		if ((int64_t)cell->num < 0) {
			buf[0] = '-';
			ui_time(buf + 1, 0 - cell->num);
			return buf;
		}
		return ui_time(buf, cell->num);
	case SHEET_TIME:
		return cell->is_count ? ui_count(buf, cell->num) : ui_time(buf, cell->num);
	case SHEET_BYTES:
		return ui_bytes(buf, cell->num);
	case SHEET_SHARE:
		return ui_percent(buf, cell->real);
	case SHEET_REAL:
		snprintf(buf, UI_NUMBER_SIZE, "%.6g", cell->real);
		return buf;
	case SHEET_RATIO:
		snprintf(buf, UI_NUMBER_SIZE, "%.2f", cell->real);
		return buf;
	case SHEET_RATE:
		ui_bytes(buf, cell->real < 0 ? 0 : (uint64_t)cell->real);
		memcpy(buf + strlen(buf), "/s", 3);
		return buf;
	}
	return "";
}

static const char *cell_text(const struct sheet_column *column, const struct sheet_cell *cell,
			     bool scaled, char buf[UI_NUMBER_SIZE + 8])
{
	if (cell->none)
		return "-";
	if (column->unit == SHEET_NAME || scaled)
		return scaled_text(column, cell, buf);
	return raw_text(column, cell, buf);
}

static void put_cell(const struct sheet_column *column, const char *text, size_t width, bool last)
{
	size_t have = text_width(text);
	int pad = have < width ? (int)(width - have) : 0;

	if (column->unit == SHEET_NAME)
		ui_putf("%s%*s", text, last ? 0 : pad, "");
	else
		ui_putf("%*s%s", pad, "", text);
	if (!last)
		ui_put("  ");
}

/* The texts of a name column, in malloc'd memory. */
static const char **texts_of(const struct sheet *t, size_t column)
{
	const char **texts = calloc(t->nr_rows + 1, sizeof(*texts));

	if (!texts)
		ui_die_memory();
	for (size_t r = 0; r < t->nr_rows; r++) {
		const struct sheet_cell *cell = sheet_cell(t, r, column);

		texts[r] = cell->none ? "-" : cell->text;
	}
	return texts;
}

/* What a name column needs, so that nothing in it has to be cut. */
static size_t needed_width(const struct sheet *t, const struct grid_style *style, size_t column,
			   size_t width)
{
	const char **texts;
	size_t need;

	if (!t->columns[column].symbol)
		return width < MAX_NEED ? width : MAX_NEED;
	if (style->names >= NAMES_MEDIUM)
		return width;
	texts = texts_of(t, column);
	need = names_width(texts, t->nr_rows);
	free(texts);
	/* names without parts to leave out, as those of Tensile, are cut: half of the line is
	 * enough for them */
	if (need > style->width / 2)
		need = style->width / 2;
	if (need < MAX_NEED)
		need = MAX_NEED;
	return need < width ? need : width;
}

static size_t sum_widths(const struct sheet *t, const struct grid_layout *l, size_t but)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (i != but && l->shown[i])
			sum += l->widths[i] + 2;
	return sum;
}

/* Leaves columns out until `need` is free for the name. */
static void drop_columns(const struct sheet *t, struct grid_layout *l, unsigned int width,
			 size_t name, size_t need)
{
	while (sum_widths(t, l, name) + need > width) {
		size_t drop = t->nr_columns;

		for (size_t i = 0; i < t->nr_columns; i++)
			if (i != name && l->shown[i] && t->columns[i].drop &&
			    (drop == t->nr_columns || t->columns[i].drop >= t->columns[drop].drop))
				drop = i;
		if (drop == t->nr_columns)
			return;
		l->shown[drop] = false;
	}
}

/* Where the widest name was shortened as far as it goes, further ones are cut. `have`: the width of
 * all. */
static void cut_others(const struct sheet *t, struct grid_layout *l, unsigned int width,
		       size_t widest, size_t have)
{
	for (size_t i = 0; i < t->nr_columns && have > width; i++) {
		size_t cut = have - width;

		if (i == widest || !l->shown[i] || t->columns[i].unit != SHEET_NAME ||
		    l->widths[i] <= MIN_NAME || t->columns[i].is_typed)
			continue;
		if (cut > l->widths[i] - MIN_NAME)
			cut = l->widths[i] - MIN_NAME;
		l->widths[i] -= cut;
		have -= cut;
	}
}

static size_t cell_width(const struct sheet_column *column, const struct sheet_cell *cell,
			 bool scaled)
{
	char buf[UI_NUMBER_SIZE + 8];
	size_t width = text_width(cell_text(column, cell, scaled, buf));

	if (column->unit != SHEET_NAME || cell->none)
		return width;
	return width + 2u * cell->depth + (cell->mark ? text_width(cell->mark) : 0);
}

size_t grid_lay_out(const struct sheet *t, const struct grid_style *style, struct grid_layout *l)
{
	size_t widest = 0, others;

	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct sheet_column *c = &t->columns[i];

		if (!c->title)
			continue;
		l->shown[i] = true;
		l->widths[i] = strlen(c->title);
		for (size_t r = 0; r < t->nr_rows; r++) {
			size_t n = cell_width(c, sheet_cell(t, r, i), is_scaled(style));

			if (n > l->widths[i])
				l->widths[i] = n;
		}
		if (c->unit == SHEET_NAME &&
		    (t->columns[widest].unit != SHEET_NAME || l->widths[i] > l->widths[widest]))
			widest = i;
	}
	if (!style->width || t->columns[widest].unit != SHEET_NAME)
		return widest;
	drop_columns(t, l, style->width, widest, needed_width(t, style, widest, l->widths[widest]));
	others = sum_widths(t, l, widest);
	if (others + l->widths[widest] > style->width)
		l->widths[widest] = style->width > others + MIN_NAME ? style->width - others :
				    l->widths[widest] > MIN_NAME     ? MIN_NAME :
								       l->widths[widest];
	cut_others(t, l, style->width, widest, others + l->widths[widest]);
	return widest;
}

const char *grid_text(const struct sheet_column *column, const struct sheet_cell *cell,
		      char buf[GRID_TEXT_SIZE])
{
	return cell_text(column, cell, true, buf);
}

const char *grid_name(char *buf, size_t size, const struct sheet_cell *cell, const char *text)
{
	if (!cell->depth && !cell->mark)
		return text;
	snprintf(buf, size, "%*s%s%s", 2 * cell->depth, "", text, cell->mark ? cell->mark : "");
	return buf;
}

/* Space for any name with its depth and mark, cut or not. */
static size_t longest_name(const struct sheet *t)
{
	size_t longest = 0;

	for (size_t i = 0; i < t->nr_rows * t->nr_columns; i++) {
		const struct sheet_cell *cell = &t->cells[i];
		size_t n = (cell->text ? strlen(cell->text) : 0) + 2u * cell->depth +
			   (cell->mark ? strlen(cell->mark) : 0);

		if (n > longest)
			longest = n;
	}
	return longest;
}

/* Shorter names of kernels, of each row; NULL: the column has none. */
static char **short_names(const struct sheet *t, const struct grid_style *style,
			  const struct grid_layout *l, size_t column, size_t widest)
{
	const char **texts;
	char **names;

	if (!t->columns[column].symbol || !l->shown[column])
		return NULL;
	texts = texts_of(t, column);
	names = names_make(texts, t->nr_rows, style->names,
			   style->width && column == widest ? l->widths[column] : 0);
	free(texts);
	return names;
}

static void put_row(const struct sheet *t, const struct grid_style *style,
		    const struct grid_layout *l, size_t r, char *const *const names[SHEET_COLUMNS],
		    char *name, size_t size)
{
	char buf[UI_NUMBER_SIZE + 8], *whole = name + size;
	size_t last = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (l->shown[i])
			last = i;
	for (size_t i = 0; i < t->nr_columns; i++) {
		const struct sheet_column *column = &t->columns[i];
		const struct sheet_cell *cell = sheet_cell(t, r, i);
		const char *text;

		if (!l->shown[i])
			continue;
		text = names[i] && !cell->none ? names[i][r] :
						 cell_text(column, cell, is_scaled(style), buf);
		if (column->unit == SHEET_NAME)
			text = grid_cut(name, size, grid_name(whole, size, cell, text),
					l->widths[i]);
		put_cell(column, text, l->widths[i], i == last);
	}
	ui_put("\n");
}

static void print_text(const struct sheet *t, const struct grid_style *style)
{
	size_t last = 0, size = longest_name(t) + 16, widest;
	char *name = malloc(2 * size), **names[SHEET_COLUMNS] = { NULL };
	struct grid_layout l;

	if (!name)
		ui_die_memory();
	widest = grid_lay_out(t, style, &l);
	for (size_t i = 0; i < t->nr_columns; i++) {
		names[i] = short_names(t, style, &l, i, widest);
		if (l.shown[i])
			last = i;
	}
	if (style->colour)
		ui_put_raw("\033[1m");
	for (size_t i = 0; i < t->nr_columns; i++)
		if (l.shown[i])
			put_cell(&t->columns[i], t->columns[i].title, l.widths[i], i == last);
	ui_put_raw(style->colour ? "\033[0m\n" : "\n");
	for (size_t r = 0; r < t->nr_rows; r++)
		put_row(t, style, &l, r, (char *const *const *)names, name, size);
	for (size_t i = 0; i < t->nr_columns; i++)
		names_free(names[i], names[i] ? t->nr_rows : 0);
	free(name);
}

static void put_bytes(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	if (fwrite(bytes, 1, size, ui_output_file()) != size)
		ui_flush();
}

static void print_csv(const struct sheet *t, bool scaled)
{
	char buf[UI_NUMBER_SIZE + 8];

	for (size_t i = 0; i < t->nr_columns; i++)
		ui_putf("%s%s", i ? "," : "", t->columns[i].key);
	ui_put("\n");
	for (size_t r = 0; r < t->nr_rows; r++) {
		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct sheet_cell *cell = sheet_cell(t, r, i);

			if (i)
				ui_put(",");
			if (cell->none)
				continue;
			if (t->columns[i].unit == SHEET_NAME)
				csv_field(put_bytes, NULL, cell->text, false);
			else
				ui_putf("%s", cell_text(&t->columns[i], cell, scaled, buf));
		}
		ui_put("\n");
	}
}

static void put_json_cell(struct json *j, const struct sheet_column *column,
			  const struct sheet_cell *cell, bool scaled)
{
	char buf[UI_NUMBER_SIZE + 8];

	if (cell->none || !scaled) {
		json_cell(j, column, cell);
		return;
	}
	json_key(j, column->key);
	json_text(j, cell_text(column, cell, scaled, buf));
}

static void print_json(const struct sheet *t, bool scaled)
{
	struct json *j = malloc(sizeof(*j));

	if (!j)
		ui_die_memory();
	json_init(j, json_write_file, ui_output_file());
	json_array(j);
	for (size_t r = 0; r < t->nr_rows; r++) {
		json_bytes(j, r ? "" : "\n ", r ? 0 : 2);
		json_object(j);
		for (size_t i = 0; i < t->nr_columns; i++)
			put_json_cell(j, &t->columns[i], sheet_cell(t, r, i), scaled);
		json_object_end(j);
		json_bytes(j, "\n", 1);
	}
	json_array_end(j);
	json_bytes(j, "\n", 1);
	json_flush(j); /* an error shows in ui_flush() */
	free(j);
}

void grid_print(const struct sheet *t, const struct grid_style *style)
{
	if (sheet_check(t))
		ui_die_memory();
	if (style->format == GRID_JSON)
		print_json(t, is_scaled(style));
	else if (style->format == GRID_CSV)
		print_csv(t, is_scaled(style));
	else
		print_text(t, style);
	ui_flush();
}
