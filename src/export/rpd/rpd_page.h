/* SPDX-License-Identifier: MIT */
/* rpd_page.h - rows in SQLite's file format, as one leaf page of a table
 * (sqlite.org/fileformat2.html)
 *
 * Single-threaded.
 */
#ifndef RTL_EXPORT_RPD_PAGE_H
#define RTL_EXPORT_RPD_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RPD_PAGE_SIZE 16384u
#define RPD_PAGE_COLUMNS 24 /* of a row, at most */
#define RPD_PAGE_TEXT 18    /* bytes of a text, at most */

/* A row that is being made: the types of its values, and the values. */
struct rpd_cell {
	int64_t id;
	size_t nr, size;
	unsigned char types[RPD_PAGE_COLUMNS];
	unsigned char values[RPD_PAGE_COLUMNS * RPD_PAGE_TEXT + 8];
};

enum { /* types of values in a record */
       RPD_TYPE_NULL,
       RPD_TYPE_ZERO = 8,
       RPD_TYPE_TEXT = 13,
};

static inline void rpd_cell_begin(struct rpd_cell *cell, int64_t id)
{
	cell->id = id;
	cell->size = 0;
	/* the value of a table's key is the id of the cell */
	cell->types[0] = RPD_TYPE_NULL;
	cell->nr = 1;
}

static inline void rpd_cell_null(struct rpd_cell *cell)
{
	cell->types[cell->nr++] = RPD_TYPE_NULL;
}

static inline void rpd_cell_int(struct rpd_cell *cell, int64_t value)
{
	/* by the number of bits that a value has beside its sign: 1, 2, 3, 4, 6, 8 bytes */
	static const unsigned char types[9] = { 1, 1, 2, 3, 4, 5, 5, 6, 6 };
	static const unsigned char sizes[9] = { 1, 1, 2, 3, 4, 6, 6, 8, 8 };
	uint64_t bits = (uint64_t)(value ^ value >> 63), big_endian;
	size_t bytes;

	if (bits < 2 && value >= 0) {
		cell->types[cell->nr++] = (unsigned char)(RPD_TYPE_ZERO + value);
		return;
	}
	bytes = (size_t)(64 - __builtin_clzll(bits | 1)) / 8 + 1;
	big_endian = __builtin_bswap64((uint64_t)value << (64 - 8 * sizes[bytes]));
	/* more than its bytes: the next value overwrites the others */
	memcpy(cell->values + cell->size, &big_endian, sizeof(big_endian));
	cell->types[cell->nr++] = types[bytes];
	cell->size += sizes[bytes];
}

/* size: RPD_PAGE_TEXT at most. */
static inline void rpd_cell_text(struct rpd_cell *cell, const char *text, size_t size)
{
	memcpy(cell->values + cell->size, text, size);
	cell->types[cell->nr++] = (unsigned char)(RPD_TYPE_TEXT + 2 * size);
	cell->size += size;
}

struct rpd_page {
	unsigned char *bytes; /* RPD_PAGE_SIZE */
	size_t nr;	      /* rows */
	size_t begin;	      /* of the last one */
};

void rpd_page_clear(struct rpd_page *page);
/* Adds the row behind those that are there. False: there is no space. */
bool rpd_page_add(struct rpd_page *page, const struct rpd_cell *cell);

#endif
