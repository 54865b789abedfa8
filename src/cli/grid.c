/* SPDX-License-Identifier: MIT */
/* grid.c - rows as aligned text, CSV or JSON on stdout
 *
 * Fails:    out of memory ends the process (ui_die_memory).
 * Not here: what the rows are (cmd_summary.c).
 */
#include "cli/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"
#include "export/json.h"

struct grid {
	const struct grid_column *columns;
	size_t nr_columns;
	enum grid_format format;
	unsigned int width;
	bool colour;
	bool scaled;		 /* numbers with units */
	struct grid_cell *cells; /* texts are owned */
	size_t nr_rows, max_rows;
};

struct grid *grid_create(const struct grid_column *columns, size_t nr, enum grid_format format,
			 unsigned int width, bool colour)
{
	struct grid *t = calloc(1, sizeof(*t));

	if (!t)
		ui_die_memory();
	t->columns = columns;
	t->nr_columns = nr;
	t->format = format;
	t->width = width;
	t->colour = colour;
	t->scaled = format == GRID_TEXT;
	return t;
}

void grid_units(struct grid *t, enum grid_units units)
{
	if (units != GRID_UNITS_AUTO)
		t->scaled = units == GRID_UNITS_SCALED;
}

void grid_destroy(struct grid *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_rows * t->nr_columns; i++)
		free((char *)t->cells[i].text);
	free(t->cells);
	free(t);
}

void grid_row(struct grid *t, const struct grid_cell *cells)
{
	struct grid_cell *row;

	if (t->nr_rows == t->max_rows) {
		size_t max = t->max_rows ? t->max_rows * 2 : 32;
		struct grid_cell *grown =
			reallocarray(t->cells, max * t->nr_columns, sizeof(*grown));

		if (!grown)
			ui_die_memory();
		t->cells = grown;
		t->max_rows = max;
	}
	row = t->cells + t->nr_rows++ * t->nr_columns;
	for (size_t i = 0; i < t->nr_columns; i++) {
		row[i] = cells[i];
		if (t->columns[i].unit != GRID_NAME) {
			row[i].text = NULL;
			continue;
		}
		row[i].text = strdup(cells[i].text ? cells[i].text : "");
		if (!row[i].text)
			ui_die_memory();
	}
}

/* Columns on the screen: one for each UTF-8 sequence. */
static size_t text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		if (((unsigned char)*text & 0xc0) != 0x80)
			n++;
	return n;
}

const char *grid_cut(char *buf, size_t size, const char *text, size_t width)
{
	size_t keep = text_width(text) <= width ? width : width > 3 ? width - 3 : 0;
	bool cut = text_width(text) > width;
	size_t used = 0, columns = 0;

	for (const char *c = text; *c && used + 4 < size; c++) {
		bool first = ((unsigned char)*c & 0xc0) != 0x80;

		if (first && columns == keep)
			break;
		if (first &&
		    used + 8 >= size) { /* less space than a whole sequence and the dots take */
			cut = true;
			break;
		}
		columns += first;
		buf[used++] = ((unsigned char)*c < ' ' || *c == 0x7f) ? '?' : *c;
	}
	if (cut && used + 4 <= size) {
		memcpy(buf + used, "...", 3);
		used += 3;
	}
	buf[used] = 0;
	return buf;
}

/* A cell as text, without a unit. */
static const char *raw_text(const struct grid_column *column, const struct grid_cell *cell,
			    char buf[UI_NUMBER_SIZE + 8])
{
	if (column->unit == GRID_SHARE)
		snprintf(buf, UI_NUMBER_SIZE, "%.6f", cell->real);
	else if (column->unit == GRID_RATE)
		snprintf(buf, UI_NUMBER_SIZE, "%.0f", cell->real);
	else if (column->unit == GRID_REAL)
		snprintf(buf, UI_NUMBER_SIZE, "%.15g", cell->real);
	else if (column->unit == GRID_SPAN)
		snprintf(buf, UI_NUMBER_SIZE, "%lld", (long long)cell->num);
	else
		snprintf(buf, UI_NUMBER_SIZE, "%llu", (unsigned long long)cell->num);
	return buf;
}

/* A cell as text, with a unit. Names are returned unchanged. */
static const char *scaled_text(const struct grid_column *column, const struct grid_cell *cell,
			       char buf[UI_NUMBER_SIZE + 8])
{
	switch (column->unit) {
	case GRID_NAME:
		return cell->text;
	case GRID_NUMBER:
		return raw_text(column, cell, buf);
	case GRID_COUNT:
		return ui_count(buf, cell->num);
	case GRID_SPAN:
		if ((int64_t)cell->num < 0) {
			buf[0] = '-';
			ui_time(buf + 1, 0 - cell->num);
			return buf;
		}
		return ui_time(buf, cell->num);
	case GRID_TIME:
		return ui_time(buf, cell->num);
	case GRID_BYTES:
		return ui_bytes(buf, cell->num);
	case GRID_SHARE:
		snprintf(buf, UI_NUMBER_SIZE, "%.1f%%", cell->real * 100.0);
		return buf;
	case GRID_REAL:
		snprintf(buf, UI_NUMBER_SIZE, "%.6g", cell->real);
		return buf;
	case GRID_RATE:
		ui_bytes(buf, cell->real < 0 ? 0 : (uint64_t)cell->real);
		memcpy(buf + strlen(buf), "/s", 3);
		return buf;
	}
	return "";
}

static const char *cell_text(const struct grid *t, const struct grid_column *column,
			     const struct grid_cell *cell, char buf[UI_NUMBER_SIZE + 8])
{
	if (cell->none)
		return "-";
	if (column->unit == GRID_NAME || t->scaled)
		return scaled_text(column, cell, buf);
	return raw_text(column, cell, buf);
}

static void put_cell(const struct grid_column *column, const char *text, size_t width, bool last)
{
	size_t have = text_width(text);
	int pad = have < width ? (int)(width - have) : 0;

	if (column->unit == GRID_NAME)
		ui_putf("%s%*s", text, last ? 0 : pad, "");
	else
		ui_putf("%*s%s", pad, "", text);
	if (!last)
		ui_put("  ");
}

#define MAX_COLUMNS 24
#define MIN_NAME 16 /* a name column is not cut below this */

/* The widths of all columns; shrinks the widest name column to fit the terminal. */
static void measure_columns(const struct grid *t, size_t widths[MAX_COLUMNS])
{
	char buf[UI_NUMBER_SIZE + 8];
	size_t sum = 0, widest = 0;

	for (size_t i = 0; i < t->nr_columns; i++) {
		widths[i] = 0;
		if (!t->columns[i].title)
			continue;
		widths[i] = strlen(t->columns[i].title);
		for (size_t r = 0; r < t->nr_rows; r++) {
			const struct grid_cell *cell = &t->cells[r * t->nr_columns + i];
			size_t n = text_width(cell_text(t, &t->columns[i], cell, buf));

			if (n > widths[i])
				widths[i] = n;
		}
		sum += widths[i] + 2;
		if (t->columns[i].unit == GRID_NAME &&
		    (t->columns[widest].unit != GRID_NAME || widths[i] > widths[widest]))
			widest = i;
	}
	if (sum > 2)
		sum -= 2;
	if (!t->width || sum <= t->width || t->columns[widest].unit != GRID_NAME)
		return;
	if (widths[widest] > sum - t->width + MIN_NAME)
		widths[widest] -= sum - t->width;
	else if (widths[widest] > MIN_NAME)
		widths[widest] = MIN_NAME;
}

static size_t longest_name(const struct grid *t)
{
	size_t longest = 0;

	for (size_t i = 0; i < t->nr_rows * t->nr_columns; i++) {
		size_t n = t->cells[i].text ? strlen(t->cells[i].text) : 0;

		if (n > longest)
			longest = n;
	}
	return longest;
}

static void print_text(const struct grid *t)
{
	size_t widths[MAX_COLUMNS], last = 0, name_size = longest_name(t) + 16;
	char *name = malloc(name_size);
	char buf[UI_NUMBER_SIZE + 8];

	if (!name)
		ui_die_memory();
	measure_columns(t, widths);
	for (size_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].title)
			last = i;
	if (t->colour)
		ui_put("\033[1m");
	for (size_t i = 0; i < t->nr_columns; i++)
		if (t->columns[i].title)
			put_cell(&t->columns[i], t->columns[i].title, widths[i], i == last);
	ui_put(t->colour ? "\033[0m\n" : "\n");
	for (size_t r = 0; r < t->nr_rows; r++) {
		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct grid_column *column = &t->columns[i];
			const char *text;

			if (!column->title)
				continue;
			text = cell_text(t, column, &t->cells[r * t->nr_columns + i], buf);
			if (column->unit == GRID_NAME)
				text = grid_cut(name, name_size, text, widths[i]);
			put_cell(column, text, widths[i], i == last);
		}
		ui_put("\n");
	}
	free(name);
}

static void csv_text(const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		ui_put(text);
		return;
	}
	ui_put("\"");
	for (; *text; text++) {
		if (*text == '"')
			ui_put("\"");
		ui_putf("%c", *text);
	}
	ui_put("\"");
}

static void print_csv(const struct grid *t)
{
	char buf[UI_NUMBER_SIZE + 8];

	for (size_t i = 0; i < t->nr_columns; i++)
		ui_putf("%s%s", i ? "," : "", t->columns[i].key);
	ui_put("\n");
	for (size_t r = 0; r < t->nr_rows; r++) {
		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct grid_cell *cell = &t->cells[r * t->nr_columns + i];

			if (i)
				ui_put(",");
			if (cell->none)
				continue;
			csv_text(cell_text(t, &t->columns[i], cell, buf));
		}
		ui_put("\n");
	}
}

static void print_json(const struct grid *t)
{
	struct json *j = malloc(sizeof(*j));
	char buf[UI_NUMBER_SIZE + 8];

	if (!j)
		ui_die_memory();
	json_init(j, json_write_file, stdout);
	json_array(j);
	for (size_t r = 0; r < t->nr_rows; r++) {
		json_bytes(j, r ? "" : "\n ", r ? 0 : 2);
		json_object(j);
		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct grid_cell *cell = &t->cells[r * t->nr_columns + i];

			json_key(j, t->columns[i].key);
			if (cell->none)
				json_null(j);
			else if (t->columns[i].unit == GRID_NAME || t->scaled)
				json_text(j, cell_text(t, &t->columns[i], cell, buf));
			else if (t->columns[i].unit == GRID_SPAN)
				json_int(j, (int64_t)cell->num);
			else if (t->columns[i].unit == GRID_SHARE ||
				 t->columns[i].unit == GRID_RATE || t->columns[i].unit == GRID_REAL)
				json_double(j, cell->real);
			else
				json_uint(j, cell->num);
		}
		json_object_end(j);
		json_bytes(j, "\n", 1);
	}
	json_array_end(j);
	json_bytes(j, "\n", 1);
	json_flush(j); /* an error shows in ui_flush() */
	free(j);
}

void grid_print(struct grid *t)
{
	if (t->format == GRID_JSON)
		print_json(t);
	else if (t->format == GRID_CSV)
		print_csv(t);
	else
		print_text(t);
	ui_flush();
}
