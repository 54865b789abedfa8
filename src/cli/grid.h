/* SPDX-License-Identifier: MIT */
/* grid.h - prints rows in one of three forms
 *
 *   table  units scaled, columns aligned, as wide as the terminal: columns that may be left out give way to the widest
 *          name column, which is shortened last (names.h where it has kernels, else cut with "...")
 *   csv    RFC 4180: header of column keys, integers in ns and bytes, whole names
 *   json   an array of objects with the same keys
 * Columns' keys are stable; a new column is added at the end.
 */
#ifndef RTL_CLI_GRID_H
#define RTL_CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/names.h"

enum grid_format { GRID_TEXT, GRID_CSV, GRID_JSON };
#define GRID_FORMATS "table|csv|json" /* in the order of enum grid_format */

/* How numbers are printed. AUTO: scaled in a table, else raw. */
enum grid_units { GRID_UNITS_AUTO, GRID_UNITS_SCALED, GRID_UNITS_RAW };
#define GRID_UNITS "auto|scaled|raw" /* in the order of enum grid_units */

/* GRID_SPAN is a time that may be negative, GRID_NUMBER an identity: a pid. */
enum grid_unit {
	GRID_NAME,
	GRID_NUMBER,
	GRID_COUNT,
	GRID_TIME,
	GRID_SPAN,
	GRID_BYTES,
	GRID_SHARE,
	GRID_RATE,
	GRID_REAL
};

struct grid_column {
	const char *key;   /* in csv and json: "total_ns" */
	const char *title; /* in the table: "TOTAL"; NULL: not in the table */
	enum grid_unit unit;
	/* In a table that is too wide the column with the highest number is left out first; 0: never. */
	unsigned char drop;
	bool symbol;   /* GRID_NAME: names of kernels */
	bool is_typed; /* GRID_NAME: users give it to other commands; others are cut first */
};

/* GRID_NAME: text. GRID_SHARE: real, 0..1. GRID_RATE: real, bytes a second. GRID_REAL: real, any number. GRID_SPAN: num as int64_t.
 * Otherwise num. */
struct grid_cell {
	const char *text;
	uint64_t num;
	double real;
	bool none;     /* no value: "-" / empty / null */
	bool is_count; /* in a column of GRID_TIME of a table: a number instead */
};

struct grid;

/* columns is borrowed for the table's life. width 0: no limit (names are never cut). */
struct grid *grid_create(const struct grid_column *columns, size_t nr, enum grid_format format,
			 unsigned int width, bool colour);
void grid_destroy(struct grid *grid);
void grid_units(struct grid *grid, enum grid_units units);
/* The form of symbols in a table. */
void grid_names(struct grid *grid, enum names_form form);
/* The column to sort by when the rows are printed, NULL: as they were added; at most `rows` of them, 0: all. An unknown column ends the
 * process with a message. */
void grid_order(struct grid *grid, const char *column, uint64_t rows);
/* Copies the cells, one for each column. */
void grid_row(struct grid *grid, const struct grid_cell *cells);
/* Sorts the rows by a column, the largest number or the first name first. `column` is its key, the key's begin up to a '_', or its title, in any
 * case. false: there is none of that name. */
bool grid_sort(struct grid *grid, const char *column);
/* Only the first `nr` rows are printed. */
void grid_limit(struct grid *grid, size_t nr);
/* Writes everything to stdout. */
void grid_print(struct grid *grid);

/* ---- for a screen, which draws the rows itself ---- */

#define GRID_COLUMNS 32 /* at most */
#define GRID_TEXT_SIZE 40

/* Gets each grid from here on instead of grid_print()'s output, and owns it. NULL: none, as at first. */
typedef void (*grid_take_fn)(struct grid *grid, void *arg);
void grid_catch(grid_take_fn take, void *arg);

/* The widths of the columns on a screen, 0: no limit; leaves columns out that don't fit. Returns the column that is
 * shortened. */
size_t grid_layout(struct grid *grid, unsigned int width, size_t widths[GRID_COLUMNS]);
size_t grid_nr_rows(const struct grid *grid);
size_t grid_nr_columns(const struct grid *grid);
const struct grid_column *grid_column(const struct grid *grid, size_t column);
bool grid_is_shown(const struct grid *grid, size_t column);
const struct grid_cell *grid_cell(const struct grid *grid, size_t row, size_t column);
/* The cell as in a table; in buf, or the cell's own. */
const char *grid_text(const struct grid *grid, size_t row, size_t column, char buf[GRID_TEXT_SIZE]);

/* Cuts text to width columns and ends it in "..."; returns buf, of at least width + 4 bytes. Keeps UTF-8
 * sequences whole; what is not safe (base/text.h) becomes '?'. */
const char *grid_cut(char *buf, size_t size, const char *text, size_t width);

#endif
