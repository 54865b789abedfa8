/* SPDX-License-Identifier: MIT */
/* leaves.c - rows of numbers of a table, taken from its pages
 *
 * The format is that of sqlite.org/fileformat2.html. A table is a tree of pages: those inside have
 * the highest id of each page below, the leaves have rows. A row is the size of its record, its id,
 * and the record: the size of the record's header, a type for each value, and the values.
 *
 * Fails:    believes nothing that it reads: what is not as it has to be is not read.
 */
#include "query/leaves.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum {
	LEVELS = 6, /* of a tree: 2^40 rows of the smallest pages */
	COLUMNS = 32,
	HEADER = 100, /* of the file */
	BEHIND = 32,  /* bytes that numbers at the end of a page may be read beyond it */
	INSIDE = 5,   /* types of pages */
	LEAF = 13,
	TYPE_NULL = 0, /* types of values */
	TYPE_LONG = 6,
	TYPE_ZERO = 8,
	TYPE_ONE = 9,
	TYPE_TEXT = 12, /* and blobs */
	NOT_WANTED = -1,
};

struct page {
	uint32_t number; /* 0: none is read */
	bool is_leaf;
	size_t nr, at; /* cells; the next one */
	unsigned char *bytes;
};

struct leaves {
	sqlite3_file *file;
	uint32_t root;
	size_t size, usable; /* of a page */
	/* of each column of the table, up to the last one that is wanted: which value of a row */
	int to[COLUMNS];
	size_t nr_columns;
	int id;		/* the value that is the id, which a record does not have */
	bool has_zeros; /* of a row: values that are no column */
	size_t nr_values;
	struct page path[LEVELS]; /* from the root to a leaf */
	size_t depth;		  /* of the leaf */
};

/* Bytes of a value by its type, below TYPE_TEXT. 10 and 11 are in no file. */
static const unsigned char sizes[TYPE_TEXT] = { 0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0 };

static uint32_t get_16(const unsigned char *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get_32(const unsigned char *at)
{
	return get_16(at) << 16 | get_16(at + 2);
}

/* 7 bits in a byte, the highest ones first; the ninth byte has 8. Returns what is behind. */
static const unsigned char *get_long_number(const unsigned char *at, uint64_t *value)
{
	*value = 0;
	for (int i = 0; i < 8; i++) {
		*value = *value << 7 | (*at & 0x7f);
		if (!(*at++ & 0x80))
			return at;
	}
	*value = *value << 8 | *at++;
	return at;
}

static inline const unsigned char *get_number(const unsigned char *at, uint64_t *value)
{
	if (*at & 0x80)
		return get_long_number(at, value);
	*value = *at;
	return at + 1;
}

/* ---- pages ---- */

static const unsigned char *cell(const struct leaves *l, const struct page *p, size_t i)
{
	size_t at = get_16(p->bytes + (p->is_leaf ? 8 : 12) + 2 * i);

	return at < l->usable ? p->bytes + at : NULL;
}

static bool load(const struct leaves *l, struct page *p, uint32_t number)
{
	size_t cells;

	if (p->number && p->number == number)
		return true;
	p->number = 0;
	if (!p->bytes)
		p->bytes = alloc_zero(1, l->size + BEHIND);
	if (!p->bytes || number < 2 ||
	    l->file->pMethods->xRead(l->file, p->bytes, (int)l->size,
				     (sqlite3_int64)(number - 1) * (sqlite3_int64)l->size) !=
		    SQLITE_OK)
		return false;
	p->is_leaf = p->bytes[0] == LEAF;
	p->nr = get_16(p->bytes + 3);
	cells = (p->is_leaf ? 8 : 12) + 2 * p->nr;
	if ((!p->is_leaf && p->bytes[0] != INSIDE) || !p->nr || cells > l->usable)
		return false;
	p->number = number;
	return true;
}

/* The id of a cell, of pages inside the highest one below it. */
static bool get_id(const struct leaves *l, const struct page *p, size_t i, int64_t *id)
{
	const unsigned char *at = cell(l, p, i);
	uint64_t value;

	if (!at)
		return false;
	at = p->is_leaf ? get_number(at, &value) : at + 4;
	get_number(at, &value);
	*id = (int64_t)value;
	return true;
}

/* Goes down from a page to the leaf that has the first row from `id` on, if any of its leaves
 * has. */
static bool descend(struct leaves *l, size_t level, uint32_t number, int64_t id)
{
	for (; level < LEVELS; level++) {
		struct page *p = &l->path[level];
		size_t low = 0, high;

		if (!load(l, p, number))
			return false;
		for (high = p->nr; low < high;) {
			size_t mid = (low + high) / 2;
			int64_t here;

			if (!get_id(l, p, mid, &here))
				return false;
			if (here < id)
				low = mid + 1;
			else
				high = mid;
		}
		p->at = low;
		if (p->is_leaf) {
			l->depth = level;
			return true;
		}
		if (low < p->nr && !cell(l, p, low))
			return false;
		number = get_32(low < p->nr ? cell(l, p, low) : p->bytes + 8);
	}
	return false;
}

/* The leaf behind. 1, 0: there is none, -1. */
static int next_leaf(struct leaves *l)
{
	for (size_t level = l->depth; level-- > 0;) {
		struct page *p = &l->path[level];
		const unsigned char *at = p->bytes + 8;

		if (p->at >= p->nr)
			continue;
		if (++p->at < p->nr)
			at = cell(l, p, p->at);
		return at && descend(l, level + 1, get_32(at), INT64_MIN) ? 1 : -1;
	}
	return 0;
}

/* ---- rows ---- */

static inline bool get_value(const unsigned char *at, uint64_t type, int64_t *value)
{
	uint64_t bytes;

	if (type > TYPE_LONG || type == TYPE_NULL) {
		*value = type == TYPE_ONE;
		/* of NULL as sqlite3_value_int64() says */
		return type == TYPE_ZERO || type == TYPE_ONE || type == TYPE_NULL;
	}
	memcpy(&bytes, at, sizeof(bytes));
	*value = (int64_t)__builtin_bswap64(bytes) >> (64 - 8 * sizes[type]);
	return true;
}

/* The values of a record in [at, end). */
static bool get_record(const struct leaves *l, const unsigned char *at, const unsigned char *end,
		       int64_t *out)
{
	const unsigned char *values, *types, *types_end;
	uint64_t header, type;

	types = get_number(at, &header);
	if (header > (uint64_t)(end - at))
		return false;
	values = types_end = at + header;
	for (size_t i = 0; i < l->nr_columns; i++) {
		int to = l->to[i];

		/* a column that was added to the table later has its value from there */
		if (types >= types_end || values > end)
			return false;
		types = get_number(types, &type);
		if (to != NOT_WANTED && !get_value(values, type, &out[to]))
			return false;
		if (type < TYPE_TEXT)
			values += sizes[type];
		else if ((type - TYPE_TEXT) / 2 <= (uint64_t)(end - values))
			values += (type - TYPE_TEXT) / 2;
		else
			return false;
	}
	return types <= types_end && values <= end;
}

int64_t leaves_read(struct leaves *l, int64_t first, int64_t last, int64_t *to, size_t max)
{
	int64_t before = 0;
	size_t nr = 0;
	int more;

	if (!descend(l, 0, l->root, first))
		return -1;
	do {
		struct page *p = &l->path[l->depth];
		const unsigned char *page_end = p->bytes + l->usable;

		for (; p->at < p->nr; p->at++) {
			const unsigned char *at = cell(l, p, p->at);
			uint64_t size, id;

			if (!at)
				return -1;
			at = get_number(get_number(at, &size), &id);
			/* where it is larger the rest is in other pages, or it is damaged */
			if (at > page_end || size > (uint64_t)(page_end - at) ||
			    (int64_t)id < first || (nr && (int64_t)id <= before))
				return -1;
			if ((int64_t)id > last)
				return (int64_t)nr;
			if (nr++ == max)
				return -1;
			if (l->has_zeros)
				memset(to, 0, l->nr_values * sizeof(*to));
			if (!get_record(l, at, at + size, to))
				return -1;
			before = (int64_t)id;
			if (l->id != NOT_WANTED)
				to[l->id] = before;
			to += l->nr_values;
		}
		more = next_leaf(l);
	} while (more > 0);
	return more < 0 ? -1 : (int64_t)nr;
}

/* ---- opening ---- */

static bool read_header(struct leaves *l)
{
	static const char magic[16] = "SQLite format 3";
	unsigned char bytes[HEADER];

	if (l->file->pMethods->xRead(l->file, bytes, HEADER, 0) != SQLITE_OK ||
	    memcmp(bytes, magic, sizeof(magic)) != 0)
		return false;
	l->size = get_16(bytes + 16) == 1 ? 65536 : get_16(bytes + 16);
	l->usable = l->size - bytes[20];
	/* with a write-ahead log pages are there, too */
	return l->size >= 512 && bytes[18] == 1 && bytes[19] == 1;
}

/* The next name of a list: O."end" is end. Returns what is behind it. */
static const char *next_name(const char *list, char *name, size_t size)
{
	size_t nr = strcspn(list, ","), begin = strcspn(list, "."), used = 0;

	for (size_t i = begin < nr ? begin + 1 : 0; i < nr; i++)
		if (list[i] != '"' && list[i] != ' ' && used + 1 < size)
			name[used++] = list[i];
	name[used] = 0;
	return list + nr + (list[nr] == ',');
}

/* Makes the column of that name the next value of a row. `column` has the table's. */
static bool want(struct leaves *l, sqlite3_stmt *column, const char *name)
{
	int value = (int)l->nr_values++;
	bool found = false;

	if (strcmp(name, "0") == 0) {
		l->has_zeros = true;
		return true;
	}
	sqlite3_reset(column);
	for (size_t at = 0; at < COLUMNS && sqlite3_step(column) == SQLITE_ROW; at++) {
		const char *is = (const char *)sqlite3_column_text(column, 0);

		/* of a column that is computed records have no value */
		if (!is || sqlite3_column_int(column, 2))
			return false;
		if (sqlite3_stricmp(is, name) != 0)
			continue;
		if (sqlite3_column_int(column, 1) && l->id == NOT_WANTED)
			l->id = value;
		else if (!sqlite3_column_int(column, 1) && l->to[at] == NOT_WANTED)
			l->to[at] = value;
		else
			return false;
		l->nr_columns = at + 1 > l->nr_columns ? at + 1 : l->nr_columns;
		found = true;
	}
	return found;
}

static bool find_columns(struct leaves *l, sqlite3 *db, const char *table, const char *columns)
{
	/* a key that has no index is the id of the row */
	static const char sql[] =
		"SELECT name, pk, hidden FROM pragma_table_xinfo(?1, 'main') WHERE NOT EXISTS (SELECT 1 "
		"FROM pragma_index_list(?1, 'main') WHERE origin = 'pk')";
	sqlite3_stmt *column = NULL;
	bool ok = sqlite3_prepare_v2(db, sql, -1, &column, NULL) == SQLITE_OK;

	l->id = NOT_WANTED;
	for (size_t i = 0; i < COLUMNS; i++)
		l->to[i] = NOT_WANTED;
	sqlite3_bind_text(column, 1, table, -1, SQLITE_STATIC);
	while (ok && *columns) {
		char name[64];

		columns = next_name(columns, name, sizeof(name));
		ok = want(l, column, name);
	}
	sqlite3_finalize(column);
	return ok;
}

static bool find_root(struct leaves *l, sqlite3 *db, const char *table)
{
	sqlite3_stmt *row = NULL;

	if (sqlite3_prepare_v2(db,
			       "SELECT rootpage FROM main.sqlite_master WHERE type = 'table' AND "
			       "name = ?1",
			       -1, &row, NULL) == SQLITE_OK) {
		sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
		if (sqlite3_step(row) == SQLITE_ROW)
			l->root = (uint32_t)sqlite3_column_int64(row, 0);
	}
	sqlite3_finalize(row);
	return l->root != 0;
}

struct leaves *leaves_open(sqlite3 *db, const char *table, const char *columns)
{
	struct leaves *l = alloc_zero(1, sizeof(*l));

	if (l && find_root(l, db, table) && find_columns(l, db, table, columns) &&
	    sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &l->file) == SQLITE_OK &&
	    l->file->pMethods && read_header(l))
		return l;
	leaves_close(l);
	return NULL;
}

void leaves_close(struct leaves *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < LEVELS; i++)
		alloc_free(l->path[i].bytes);
	alloc_free(l);
}
