/* SPDX-License-Identifier: MIT */
/* grid.h - draws a table (analysis/sheet.h) in one of three forms
 *
 *   table  units scaled, columns aligned, as wide as the terminal: columns that may be left out
 *          give way to the widest name column, which is shortened last (names.h where it has
 *          kernels, else cut with "...")
 *   csv    RFC 4180: header of column keys, integers in ns and bytes, whole names
 *   json   an array of objects with the same keys
 * Columns' keys are stable; a new column is added at the end.
 */
#ifndef RTL_CLI_GRID_H
#define RTL_CLI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/sheet.h"
#include "cli/names.h"

enum grid_format { GRID_TEXT, GRID_CSV, GRID_JSON };
#define GRID_FORMATS "table|csv|json" /* in the order of enum grid_format */

/* How numbers are printed. AUTO: scaled in a table, else raw. */
enum grid_units { GRID_UNITS_AUTO, GRID_UNITS_SCALED, GRID_UNITS_RAW };
#define GRID_UNITS "auto|scaled|raw" /* in the order of enum grid_units */

struct grid_style {
	enum grid_format format;
	enum grid_units units;
	enum names_form names; /* of symbols, in a table */
	unsigned int width;    /* 0: no limit, names are never cut */
	bool colour;
};

/* For stdout: as wide as the terminal, if the form is a table, and in colour if the terminal has
 * that. */
struct grid_style grid_style(enum grid_format format);
/* Sorts by a column, NULL: not at all, and keeps at most `rows` rows, 0: all. An unknown column
 * ends the process with a message. */
void grid_order(struct sheet *t, const char *column, uint64_t rows);
/* Writes everything to stdout. Ends the process if memory ran out while the table was made. */
void grid_print(const struct sheet *t, const struct grid_style *style);

/* ---- for a screen, which draws the rows itself ---- */

#define GRID_TEXT_SIZE 40

struct grid_layout {
	size_t widths[SHEET_COLUMNS];
	bool shown[SHEET_COLUMNS];
};

/* The widths of the columns; leaves columns out that don't fit. Returns the column that is
 * shortened. */
size_t grid_lay_out(const struct sheet *t, const struct grid_style *style, struct grid_layout *out);
/* The cell as in a table; in buf, or the cell's own. */
const char *grid_text(const struct sheet_column *column, const struct sheet_cell *cell,
		      char buf[GRID_TEXT_SIZE]);
/* The text of a cell of SHEET_NAME, or a shorter one for it, with its depth and its mark; in buf,
 * or `text` itself. */
const char *grid_name(char *buf, size_t size, const struct sheet_cell *cell, const char *text);

/* Cuts text to width columns and ends it in "..."; returns buf, of at least width + 4 bytes. Keeps
 * UTF-8 sequences whole; what is not safe (base/text.h) becomes '?'. */
const char *grid_cut(char *buf, size_t size, const char *text, size_t width);

#endif
