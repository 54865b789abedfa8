/* SPDX-License-Identifier: MIT */
/* sheet.h - a table: described columns and typed rows, which an analysis fills and every output
 * draws
 *
 * The terminal, CSV, JSON, the screens of rtl tui (cli/grid.h) and the page of rtl report draw the
 * same table. Texts are copied. Where memory runs out the table remembers it, and further rows are
 * left out: sheet_check() at the end says so. One thread at a time.
 */
#ifndef RTL_ANALYSIS_SHEET_H
#define RTL_ANALYSIS_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHEET_COLUMNS 40 /* at most */

/* Of the numbers of a column. */
enum sheet_unit {
	SHEET_NAME,   /* text */
	SHEET_NUMBER, /* an identity, such as a pid: the smallest is first */
	SHEET_COUNT,
	SHEET_TIME, /* ns */
	SHEET_SPAN, /* ns, may be negative: num as int64_t */
	SHEET_BYTES,
	SHEET_SHARE, /* real, 0..1 */
	SHEET_RATE,  /* real, bytes a second */
	SHEET_REAL,  /* real */
	SHEET_RATIO  /* real, near 1 */
};

struct sheet_column {
	const char *key;   /* in CSV and JSON, stable: "total_ns" */
	const char *title; /* on a screen: "TOTAL"; NULL: not there */
	enum sheet_unit unit;
	/* On a screen that is too narrow the column with the highest number is left out first; 0:
	 * never. */
	unsigned char drop;
	bool symbol;   /* SHEET_NAME: names of kernels, which may be shortened */
	bool is_typed; /* SHEET_NAME: users give it to other commands; others are cut first */
	bool is_last;  /* on a screen behind the columns that were added later */
};

struct sheet_cell {
	const char *text;
	uint64_t num;
	double real;
	bool none;     /* no value */
	bool is_count; /* in a column of SHEET_TIME: a number instead */
	/* of SHEET_NAME, on a screen alone: the depth in a tree, and what is put behind the text */
	unsigned char depth;
	const char *mark; /* as long as the table; NULL: nothing */
};

/* Begins zeroed. */
struct sheet {
	struct sheet_column columns[SHEET_COLUMNS];
	size_t nr_columns;
	struct sheet_cell *cells; /* of a row behind those of the row before */
	size_t nr_rows, max_rows;
	uint64_t most;	     /* rows that are kept, 0: all */
	size_t nr;	     /* rows that there are, kept or not */
	uint64_t all_ns;     /* time of all of them */
	uint64_t nr_untimed; /* operations or calls in them without valid times */
	char **notes;	     /* lines about the whole */
	size_t nr_notes, max_notes;
	char *missing; /* why the file can't have such a table; NULL: it can */
	bool failed;   /* private: out of memory */
};

/* Adds columns; their keys and titles have to live as long as the table. */
void sheet_columns(struct sheet *t, const struct sheet_column *columns, size_t nr);
/* Whether sheet_row() would keep a row. */
bool sheet_keeps(const struct sheet *t);
/* Counts a row, and copies its cells, one for each column, if it is kept. */
void sheet_row(struct sheet *t, const struct sheet_cell *cells);
void sheet_note(struct sheet *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void sheet_missing(struct sheet *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 0, or -ENOMEM: something was left out. */
int sheet_check(const struct sheet *t);
void sheet_fini(struct sheet *t);

/* < 0: the cell x is in front of y in a sorted column: the largest number or the first name; cells
 * without a value are last. */
int sheet_compare(const struct sheet_column *column, const struct sheet_cell *x,
		  const struct sheet_cell *y);
/* Sorts the rows by a column. `column` is its key, the key's begin up to a '_', or its title, in
 * any case. false: there is none of that name. */
bool sheet_sort(struct sheet *t, const char *column);
/* Keeps the first `nr` rows. */
void sheet_limit(struct sheet *t, size_t nr);
/* Moves the columns with is_last behind the others. */
void sheet_put_last(struct sheet *t);

static inline const struct sheet_cell *sheet_cell(const struct sheet *t, size_t row, size_t column)
{
#ifdef RTL_DEBUG_CHECKS
	if (row >= t->nr_rows || column >= t->nr_columns)
		__builtin_trap();
#endif
	return &t->cells[row * t->nr_columns + column];
}

#endif
