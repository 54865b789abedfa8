/* SPDX-License-Identifier: MIT */
/* rowfile_internal.h - shared by rowfile.c, the files, and rowfile_table.c, SQLite's view of
 * them */
#ifndef RTL_QUERY_ROWFILE_INTERNAL_H
#define RTL_QUERY_ROWFILE_INTERNAL_H

#include "query/rowfile.h"
#include "store/map.h"

/* ids of a page of the index, and rows that are read at a time */
enum { ROWFILE_PAGE = 1024, ROWFILE_BLOCK = 128, ROWFILE_COLUMNS = 24 };

/* Rows in the order in which they were added, and an index of their locations, plus 1, by id: pages
 * of ids that have a row. */
struct rowfile_rows {
	size_t columns;
	int rows, index; /* file descriptors */
	uint64_t nr;	 /* of the file; of ids: nr_ids */
	uint64_t nr_ids;
	size_t start; /* the column of a row's begin */
	int64_t first_ns;
	struct map pages; /* number of a page (id / ROWFILE_PAGE) to its location in the index */
	uint64_t *order;  /* numbers of pages, in order if `sorted` */
	size_t nr_pages, max_pages;
	bool sorted;
	/* the page that was changed last */
	bool dirty;
	uint64_t page, location;
	uint32_t slots[ROWFILE_PAGE];
	uint64_t changes; /* readers' copies are valid while it does not change */
};

enum rowfile_kind { ROWFILE_OPS, ROWFILE_APIS, ROWFILE_NR };

struct rowfile {
	struct rowfile_rows kinds[ROWFILE_NR];
};

/* Rows of either kind are moved as 64-bit words: struct rowfile_op or rowfile_api. */

/* As rowfile_add_ops(), of rows->columns words each. */
int rowfile_add(struct rowfile_rows *rows, const int64_t *words, size_t nr);
/* What was added can be read, in the order of ids. 0 or -errno. */
int rowfile_sync(struct rowfile_rows *rows);

/* Reads rows by their ids. Zeroed, with `rows` set, it is valid. */
struct rowfile_reader {
	struct rowfile_rows *rows;
	uint64_t changes;
	/* the rest of a range */
	size_t at; /* in rows->order */
	uint32_t slot;
	int64_t last;
	/* copies of what was read last */
	bool has_page, has_block;
	uint64_t page, block;
	uint32_t slots[ROWFILE_PAGE];
	int64_t values[ROWFILE_BLOCK * ROWFILE_COLUMNS];
};

/* 1: *words is set to a row, until the next call; 0: there is none; or -errno. */
int rowfile_find(struct rowfile_reader *r, int64_t id, const int64_t **words);
/* Rows of [first, last] come from rowfile_next(), in order. */
void rowfile_range(struct rowfile_reader *r, int64_t first, int64_t last);
int rowfile_next(struct rowfile_reader *r, const int64_t **words);
/* Replaces the row of the id words[0], which exists. 0 or -errno. */
int rowfile_change(struct rowfile_reader *r, const int64_t *words);

#endif
