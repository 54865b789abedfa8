/* SPDX-License-Identifier: MIT */
/* sheet.c - described columns and typed rows */
#include "analysis/sheet.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void sheet_columns(struct sheet *t, const struct sheet_column *columns, size_t nr)
{
	for (size_t i = 0; i < nr && t->nr_columns < SHEET_COLUMNS; i++)
		t->columns[t->nr_columns++] = columns[i];
}

bool sheet_keeps(const struct sheet *t)
{
	return !t->most || t->nr_rows < t->most;
}

void sheet_row(struct sheet *t, const struct sheet_cell *cells)
{
	struct sheet_cell *row;

	t->nr++;
	if (!sheet_keeps(t) || t->failed)
		return;
	row = alloc_grow(t->cells, t->nr_rows, &t->max_rows, 32, t->nr_columns * sizeof(*t->cells));
	if (!row) {
		t->failed = true;
		return;
	}
	t->cells = row;
	row += t->nr_rows++ * t->nr_columns;
	for (size_t i = 0; i < t->nr_columns; i++) {
		row[i] = cells[i];
		row[i].text = NULL;
		if (t->columns[i].unit != SHEET_NAME)
			continue;
		row[i].text = alloc_string(cells[i].text ? cells[i].text : "");
		t->failed |= !row[i].text;
	}
	if (t->failed)
		sheet_limit(t, t->nr_rows - 1);
}

/* NULL: out of memory. */
static char *format_text(const char *fmt, va_list args)
{
	va_list copy;
	char *text;
	int n;

	va_copy(copy, args);
	n = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	text = n < 0 ? NULL : alloc_heap((size_t)n + 1);
	if (text)
		vsnprintf(text, (size_t)n + 1, fmt, args);
	return text;
}

void sheet_note(struct sheet *t, const char *fmt, ...)
{
	char **notes = alloc_grow(t->notes, t->nr_notes, &t->max_notes, 4, sizeof(*notes)), *text;
	va_list args;

	t->failed |= !notes;
	if (!notes)
		return;
	t->notes = notes;
	va_start(args, fmt);
	text = format_text(fmt, args);
	va_end(args);
	t->failed |= !text;
	if (text)
		t->notes[t->nr_notes++] = text;
}

void sheet_missing(struct sheet *t, const char *fmt, ...)
{
	va_list args;

	alloc_free(t->missing);
	va_start(args, fmt);
	t->missing = format_text(fmt, args);
	va_end(args);
	t->failed |= !t->missing;
}

int sheet_check(const struct sheet *t)
{
	return t->failed ? -ENOMEM : 0;
}

void sheet_fini(struct sheet *t)
{
	sheet_limit(t, 0);
	alloc_free(t->cells);
	for (size_t i = 0; i < t->nr_notes; i++)
		alloc_free(t->notes[i]);
	alloc_free(t->notes);
	alloc_free(t->missing);
	*t = (struct sheet){ 0 };
}

void sheet_limit(struct sheet *t, size_t nr)
{
	for (size_t i = nr * t->nr_columns; i < t->nr_rows * t->nr_columns; i++)
		alloc_free((char *)t->cells[i].text);
	if (nr < t->nr_rows)
		t->nr_rows = nr;
}

/* ---- order ---- */

static bool is_column(const struct sheet_column *c, const char *name)
{
	size_t n = strlen(name);

	if (strncasecmp(c->key, name, n) == 0 && (!c->key[n] || c->key[n] == '_'))
		return true;
	return c->title && strcasecmp(c->title, name) == 0;
}

int sheet_compare(const struct sheet_column *c, const struct sheet_cell *x,
		  const struct sheet_cell *y)
{
	if (x->none || y->none)
		return x->none - y->none;
	switch (c->unit) {
	case SHEET_NAME:
		return strcmp(x->text, y->text);
	case SHEET_SHARE:
	case SHEET_RATE:
	case SHEET_REAL:
	case SHEET_RATIO:
		return (x->real < y->real) - (x->real > y->real);
	case SHEET_SPAN:
		return ((int64_t)x->num < (int64_t)y->num) - ((int64_t)x->num > (int64_t)y->num);
	case SHEET_NUMBER:
		return (x->num > y->num) - (x->num < y->num);
	default:
		return (x->num < y->num) - (x->num > y->num);
	}
}

struct order {
	const struct sheet_column *column;
	size_t at;
};

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;

	return sheet_compare(o->column, (const struct sheet_cell *)a + o->at,
			     (const struct sheet_cell *)b + o->at);
}

bool sheet_sort(struct sheet *t, const char *column)
{
	size_t at = t->nr_columns;
	struct order o;

	/* the whole key before its begin: gpu, not gpu_ns */
	for (size_t i = 0; i < t->nr_columns; i++)
		if (strcasecmp(t->columns[i].key, column) == 0)
			at = i;
	for (size_t i = 0; i < t->nr_columns && at == t->nr_columns; i++)
		if (is_column(&t->columns[i], column))
			at = i;
	if (at == t->nr_columns)
		return false;
	o = (struct order){ &t->columns[at], at };
	if (t->nr_rows)
		qsort_r(t->cells, t->nr_rows, t->nr_columns * sizeof(*t->cells), compare_rows, &o);
	return true;
}

/* Puts the items of a row, of `size` bytes each, in another order. */
static void reorder(void *row, const size_t *order, size_t nr, size_t size)
{
	char copy[SHEET_COLUMNS * (sizeof(struct sheet_cell) > sizeof(struct sheet_column) ?
					   sizeof(struct sheet_cell) :
					   sizeof(struct sheet_column))];

	memcpy(copy, row, nr * size);
	for (size_t i = 0; i < nr; i++)
		memcpy((char *)row + i * size, copy + order[i] * size, size);
}

void sheet_put_last(struct sheet *t)
{
	size_t order[SHEET_COLUMNS], nr = 0;

	for (int last = 0; last < 2; last++)
		for (size_t i = 0; i < t->nr_columns; i++)
			if (t->columns[i].is_last == last)
				order[nr++] = i;
	for (size_t r = 0; r < t->nr_rows; r++)
		reorder(&t->cells[r * nr], order, nr, sizeof(*t->cells));
	reorder(t->columns, order, nr, sizeof(*t->columns));
}
