/* SPDX-License-Identifier: MIT */
/* grid.c - rows as aligned text, CSV or JSON
 *
 * Fails:    out of memory ends the process (ui_die_memory).
 * Not here: what the rows are (cmd_summary.c).
 */
#include "cli/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cli/exit_status.h"
#include "cli/ui.h"
#include "export/csv_field.h"
#include "export/json.h"

#define MAX_COLUMNS GRID_COLUMNS
#define MIN_NAME 16 /* a name column is not cut below this */
#define MAX_NEED 40 /* other columns give way to as much of a name that is no symbol */

struct grid {
	const struct grid_column *columns;
	struct grid_column *own_columns; /* of a grid that was caught */
	size_t nr_columns;
	enum grid_format format;
	unsigned int width;
	bool colour;
	bool scaled; /* numbers with units */
	enum names_form names;
	const char *order;
	uint64_t max_shown; /* 0: all */
	bool hidden[MAX_COLUMNS];
	struct grid_cell *cells; /* texts are owned */
	size_t nr_rows, max_rows;
};

static grid_take_fn catcher;
static void *catcher_arg;

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

void grid_names(struct grid *t, enum names_form form)
{
	t->names = form;
}

void grid_destroy(struct grid *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_rows * t->nr_columns; i++)
		free((char *)t->cells[i].text);
	free(t->cells);
	free(t->own_columns);
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

void grid_limit(struct grid *t, size_t nr)
{
	for (size_t i = nr * t->nr_columns; i < t->nr_rows * t->nr_columns; i++)
		free((char *)t->cells[i].text);
	if (nr < t->nr_rows)
		t->nr_rows = nr;
}

/* ---- order ---- */

static bool is_column(const struct grid_column *c, const char *name)
{
	size_t n = strlen(name);

	if (strncasecmp(c->key, name, n) == 0 && (!c->key[n] || c->key[n] == '_'))
		return true;
	return c->title && strcasecmp(c->title, name) == 0;
}

struct order {
	size_t column;
	enum grid_unit unit;
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct grid_cell *x = (const struct grid_cell *)a + o->column;
	const struct grid_cell *y = (const struct grid_cell *)b + o->column;

	if (x->none || y->none)
		return x->none - y->none;
	switch (o->unit) {
	case GRID_NAME:
		return strcmp(x->text, y->text);
	case GRID_SHARE:
	case GRID_RATE:
	case GRID_REAL:
		return (x->real < y->real) - (x->real > y->real);
	case GRID_SPAN:
		return ((int64_t)x->num < (int64_t)y->num) - ((int64_t)x->num > (int64_t)y->num);
	case GRID_NUMBER:
		return (x->num > y->num) - (x->num < y->num);
	default:
		return (x->num < y->num) - (x->num > y->num);
	}
}

bool grid_sort(struct grid *t, const char *column)
{
	struct order o = { .column = t->nr_columns };

	/* the whole key before its begin: gpu, not gpu_ns */
	for (size_t i = 0; i < t->nr_columns; i++)
		if (strcasecmp(t->columns[i].key, column) == 0)
			o.column = i;
	for (size_t i = 0; i < t->nr_columns && o.column == t->nr_columns; i++)
		if (is_column(&t->columns[i], column))
			o.column = i;
	if (o.column == t->nr_columns)
		return false;
	o.unit = t->columns[o.column].unit;
	if (t->nr_rows)
		qsort_r(t->cells, t->nr_rows, t->nr_columns * sizeof(*t->cells), compare_rows, &o);
	return true;
}

void grid_order(struct grid *t, const char *column, uint64_t rows)
{
	t->order = column;
	t->max_shown = rows;
}

static void order_rows(struct grid *t)
{
	char keys[600];
	size_t used = 0;

	if (t->order && !grid_sort(t, t->order)) {
		for (size_t i = 0; i < t->nr_columns && used + 40 < sizeof(keys); i++)
			used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s",
						 i ? ", " : "", t->columns[i].key);
		ui_die(STATUS_USAGE, "--sort: the table has no column '%.40s'; it has %s", t->order,
		       keys);
	}
	if (t->max_shown)
		grid_limit(t, t->max_shown);
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
		return cell->is_count ? ui_count(buf, cell->num) : ui_time(buf, cell->num);
	case GRID_BYTES:
		return ui_bytes(buf, cell->num);
	case GRID_SHARE:
		return ui_percent(buf, cell->real);
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

static bool is_shown(const struct grid *t, size_t column)
{
	return t->columns[column].title && !t->hidden[column];
}

/* The texts of a name column, in malloc'd memory. */
static const char **texts_of(const struct grid *t, size_t column)
{
	const char **texts = calloc(t->nr_rows + 1, sizeof(*texts));

	if (!texts)
		ui_die_memory();
	for (size_t r = 0; r < t->nr_rows; r++) {
		const struct grid_cell *cell = &t->cells[r * t->nr_columns + column];

		texts[r] = cell->none ? "-" : cell->text;
	}
	return texts;
}

/* What a name column needs, so that nothing in it has to be cut. */
static size_t needed_width(const struct grid *t, size_t column, size_t width)
{
	const char **texts;
	size_t need;

	if (!t->columns[column].symbol)
		return width < MAX_NEED ? width : MAX_NEED;
	if (t->names >= NAMES_MEDIUM)
		return width;
	texts = texts_of(t, column);
	need = names_width(texts, t->nr_rows);
	free(texts);
	/* names without parts to leave out, as those of Tensile, are cut: half of the line is enough for them */
	if (need > t->width / 2)
		need = t->width / 2;
	if (need < MAX_NEED)
		need = MAX_NEED;
	return need < width ? need : width;
}

static size_t sum_widths(const struct grid *t, const size_t widths[MAX_COLUMNS], size_t but)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->nr_columns; i++)
		if (i != but && is_shown(t, i))
			sum += widths[i] + 2;
	return sum;
}

/* Leaves columns out until `need` is free for the name. */
static void drop_columns(struct grid *t, const size_t widths[MAX_COLUMNS], size_t name, size_t need)
{
	while (sum_widths(t, widths, name) + need > t->width) {
		size_t drop = t->nr_columns;

		for (size_t i = 0; i < t->nr_columns; i++)
			if (i != name && is_shown(t, i) && t->columns[i].drop &&
			    (drop == t->nr_columns || t->columns[i].drop >= t->columns[drop].drop))
				drop = i;
		if (drop == t->nr_columns)
			return;
		t->hidden[drop] = true;
	}
}

/* Where the widest name was shortened as far as it goes, further ones are cut. `have`: the width of all. */
static void cut_others(const struct grid *t, size_t widths[MAX_COLUMNS], size_t widest, size_t have)
{
	for (size_t i = 0; i < t->nr_columns && have > t->width; i++) {
		size_t cut = have - t->width;

		if (i == widest || !is_shown(t, i) || t->columns[i].unit != GRID_NAME ||
		    widths[i] <= MIN_NAME || t->columns[i].is_typed)
			continue;
		if (cut > widths[i] - MIN_NAME)
			cut = widths[i] - MIN_NAME;
		widths[i] -= cut;
		have -= cut;
	}
}

/* The widths of all columns. Where they are too wide for the terminal, leaves out columns, then shortens the widest name. Returns the
 * column that is shortened. */
static size_t measure_columns(struct grid *t, size_t widths[MAX_COLUMNS])
{
	char buf[UI_NUMBER_SIZE + 8];
	size_t widest = 0, others;

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
		if (t->columns[i].unit == GRID_NAME &&
		    (t->columns[widest].unit != GRID_NAME || widths[i] > widths[widest]))
			widest = i;
	}
	if (!t->width || t->columns[widest].unit != GRID_NAME)
		return widest;
	drop_columns(t, widths, widest, needed_width(t, widest, widths[widest]));
	others = sum_widths(t, widths, widest);
	if (others + widths[widest] > t->width)
		widths[widest] = t->width > others + MIN_NAME ? t->width - others :
				 widths[widest] > MIN_NAME    ? MIN_NAME :
								widths[widest];
	cut_others(t, widths, widest, others + widths[widest]);
	return widest;
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

/* Replaces the names of kernels by shorter ones. */
static void shorten_names(struct grid *t, const size_t widths[MAX_COLUMNS], size_t widest)
{
	for (size_t i = 0; i < t->nr_columns; i++) {
		const char **texts;
		char **names;

		if (!t->columns[i].symbol || !is_shown(t, i))
			continue;
		texts = texts_of(t, i);
		names = names_make(texts, t->nr_rows, t->names,
				   t->width && i == widest ? widths[i] : 0);
		for (size_t r = 0; r < t->nr_rows; r++) {
			struct grid_cell *cell = &t->cells[r * t->nr_columns + i];

			free((char *)cell->text);
			cell->text = names[r];
		}
		free(names);
		free(texts);
	}
}

static void print_text(struct grid *t)
{
	size_t widths[MAX_COLUMNS], last = 0, name_size = longest_name(t) + 16, widest;
	char *name = malloc(name_size);
	char buf[UI_NUMBER_SIZE + 8];

	if (!name)
		ui_die_memory();
	widest = measure_columns(t, widths);
	shorten_names(t, widths, widest);
	for (size_t i = 0; i < t->nr_columns; i++)
		if (is_shown(t, i))
			last = i;
	if (t->colour)
		ui_put_raw("\033[1m");
	for (size_t i = 0; i < t->nr_columns; i++)
		if (is_shown(t, i))
			put_cell(&t->columns[i], t->columns[i].title, widths[i], i == last);
	ui_put_raw(t->colour ? "\033[0m\n" : "\n");
	for (size_t r = 0; r < t->nr_rows; r++) {
		for (size_t i = 0; i < t->nr_columns; i++) {
			const struct grid_column *column = &t->columns[i];
			const char *text;

			if (!is_shown(t, i))
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

static void put_bytes(void *arg, const char *bytes, size_t size)
{
	(void)arg;
	if (fwrite(bytes, 1, size, ui_output_file()) != size)
		ui_flush();
}

static void csv_text(const char *text)
{
	csv_field(put_bytes, NULL, text, false);
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
			if (t->columns[i].unit == GRID_NAME)
				csv_text(cell_text(t, &t->columns[i], cell, buf));
			else
				ui_putf("%s", cell_text(t, &t->columns[i], cell, buf));
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
	json_init(j, json_write_file, ui_output_file());
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

/* ---- for a screen ---- */

void grid_catch(grid_take_fn take, void *arg)
{
	catcher = take;
	catcher_arg = arg;
}

/* Moves the rows to a grid that the catcher owns. */
static void pass_on(struct grid *t)
{
	struct grid *moved = malloc(sizeof(*moved));
	size_t size = t->nr_columns * sizeof(*t->columns);

	if (!moved)
		ui_die_memory();
	*moved = *t;
	moved->own_columns = malloc(size);
	if (!moved->own_columns)
		ui_die_memory();
	memcpy(moved->own_columns, t->columns, size);
	moved->columns = moved->own_columns;
	t->cells = NULL;
	t->nr_rows = t->max_rows = 0;
	catcher(moved, catcher_arg);
}

size_t grid_layout(struct grid *t, unsigned int width, size_t widths[GRID_COLUMNS])
{
	memset(t->hidden, 0, sizeof(t->hidden));
	t->width = width;
	return measure_columns(t, widths);
}

size_t grid_nr_rows(const struct grid *t)
{
	return t->nr_rows;
}

size_t grid_nr_columns(const struct grid *t)
{
	return t->nr_columns;
}

const struct grid_column *grid_column(const struct grid *t, size_t column)
{
	return &t->columns[column];
}

bool grid_is_shown(const struct grid *t, size_t column)
{
	return is_shown(t, column);
}

const struct grid_cell *grid_cell(const struct grid *t, size_t row, size_t column)
{
	return &t->cells[row * t->nr_columns + column];
}

const char *grid_text(const struct grid *t, size_t row, size_t column, char buf[GRID_TEXT_SIZE])
{
	return cell_text(t, &t->columns[column], grid_cell(t, row, column), buf);
}

void grid_print(struct grid *t)
{
	order_rows(t);
	if (catcher) {
		pass_on(t);
		return;
	}
	if (t->format == GRID_JSON)
		print_json(t);
	else if (t->format == GRID_CSV)
		print_csv(t);
	else
		print_text(t);
	ui_flush();
}
