/* SPDX-License-Identifier: MIT */
/* rowfile_table.c - the rows of a rowfile as virtual tables of SQLite
 *
 * A table is read whole, by a range of ids, or by one id, in the order of ids. The contract of the
 * methods is that of SQLite's documentation, "The Virtual Table Mechanism".
 */
#include "query/rowfile_internal.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* What a column has: a field as it is, as text, or NULL for ROWFILE_NONE; or always ''. */
enum form { INTEGER, HANDLE, STATUS, EMPTY };

struct column {
	uint8_t form, field;
};

#define FIELD(of, name) (offsetof(struct rowfile_##of, name) / sizeof(int64_t))
#define OP(name)                                                                                   \
	{                                                                                          \
		INTEGER, FIELD(op, name)                                                           \
	}
#define API(name)                                                                                  \
	{                                                                                          \
		INTEGER, FIELD(api, name)                                                          \
	}

/* The key is the field 0. */
static const struct layout {
	const char *name;
	enum rowfile_kind kind;
	uint8_t only; /* a field that is 1 in the table's rows; 0: all rows are the table's */
	uint8_t nr;
	struct column columns[11];
} layouts[] = {
	{ "rocpd_op",
	  ROWFILE_OPS,
	  0,
	  11,
	  { OP(id),
	    OP(gpu),
	    OP(queue),
	    OP(sequence),
	    OP(start),
	    OP(end),
	    OP(description),
	    OP(type),
	    { EMPTY, 0 },
	    OP(marker),
	    OP(correlation) } },
	{ "rocpd_api_ops", ROWFILE_OPS, 0, 3, { OP(id), OP(api), OP(id) } },
	{ "rtl_op_kernel",
	  ROWFILE_OPS,
	  FIELD(op, is_kernel),
	  6,
	  { OP(id), OP(thread), OP(shape), OP(flags), OP(begin_ticks), OP(end_ticks) } },
	{ "rocpd_api",
	  ROWFILE_APIS,
	  0,
	  9,
	  { API(id), API(pid), API(tid), API(start), API(end), API(name), API(category),
	    API(domain), API(args) } },
	{ "rtl_api_data",
	  ROWFILE_APIS,
	  FIELD(api, is_call),
	  4,
	  { API(id), { STATUS, FIELD(api, status) }, API(correlation), API(parent) } },
	{ "rocpd_kernelapi",
	  ROWFILE_APIS,
	  FIELD(api, is_kernel),
	  11,
	  { API(id),
	    { HANDLE, FIELD(api, stream) },
	    API(grid[0]),
	    API(grid[1]),
	    API(grid[2]),
	    API(group[0]),
	    API(group[1]),
	    API(group[2]),
	    API(group_size),
	    API(private_size),
	    API(kernel_name) } },
};

struct cursor;

struct table {
	sqlite3_vtab base;
	const struct layout *layout;
	struct rowfile_rows *rows;
	struct cursor *
		/* closed, with its copies: a statement that looks up a row opens its cursor each
		 * time */
		spare;
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct layout *layout;
	const int64_t *words; /* a row; NULL: the end */
	bool one;	      /* it is the only one */
	struct rowfile_reader reader;
};

/* How xFilter is asked to read: which bounds it has, in this order. */
enum { BY_ID = 1, FROM = 2, TO = 4 };

/* SQLite's own guess for a table without statistics */
#define ROWS_GUESSED 1048576

static const struct layout *find_layout(const char *name)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (strcmp(layouts[i].name, name) == 0)
			return &layouts[i];
	return NULL;
}

bool rowfile_has(const char *table)
{
	return find_layout(table) != NULL;
}

static int to_sqlite(int error)
{
	return error == -ENOMEM ? SQLITE_NOMEM : error == -ENOSPC ? SQLITE_FULL : SQLITE_IOERR;
}

/* argv: the module, the database, the table, and each column. */
static int rows_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
			sqlite3_vtab **out, char **error)
{
	struct rowfile *file = arg;
	const struct layout *layout = find_layout(argv[2]);
	struct table *table;
	sqlite3_str *sql;
	char *text;
	int rc;

	if (!layout || argc != 3 + layout->nr) {
		*error = sqlite3_mprintf("%s: not a table of " ROWFILE_MODULE, argv[2]);
		return SQLITE_ERROR;
	}
	sql = sqlite3_str_new(db);
	for (int i = 3; i < argc; i++)
		sqlite3_str_appendf(sql, "%s %s", i == 3 ? "CREATE TABLE x(" : ",", argv[i]);
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	rc = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	if (rc != SQLITE_OK)
		return rc;
	/* the database's views read it */
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	*table = (struct table){ .layout = layout, .rows = &file->kinds[layout->kind] };
	*out = &table->base;
	return SQLITE_OK;
}

static int rows_disconnect(sqlite3_vtab *base)
{
	struct table *table = (struct table *)base;

	sqlite3_free(table->spare);
	sqlite3_free(table);
	return SQLITE_OK;
}

static bool is_key(const struct layout *layout, int column)
{
	return column < 0 ||
	       (layout->columns[column].form == INTEGER && layout->columns[column].field == 0);
}

static int bound_of(const struct layout *layout, const struct sqlite3_index_constraint *c)
{
	if (!c->usable || !is_key(layout, c->iColumn))
		return 0;
	switch (c->op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return BY_ID;
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_GT:
		return FROM;
	case SQLITE_INDEX_CONSTRAINT_LE:
	case SQLITE_INDEX_CONSTRAINT_LT:
		return TO;
	default:
		return 0;
	}
}

/* SQLite compares each row with the constraints again: bounds may be wider than they are. */
static int rows_best(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct layout *layout = ((struct table *)base)->layout;
	int found[TO + 1] = { 0 }; /* number of the constraint, plus 1 */
	int nr = 0;

	for (int i = 0; i < info->nConstraint; i++)
		found[bound_of(layout, &info->aConstraint[i])] = i + 1;
	if (found[BY_ID])
		found[FROM] = found[TO] = 0;
	for (int bound = BY_ID; bound <= TO; bound *= 2) {
		if (!found[bound])
			continue;
		info->idxNum |= bound;
		info->aConstraintUsage[found[bound] - 1].argvIndex = ++nr;
	}
	info->estimatedRows = found[BY_ID] ? 1 : nr ? ROWS_GUESSED / 4 / nr : ROWS_GUESSED;
	info->estimatedCost = found[BY_ID] ? 10 : 3.0 * (double)info->estimatedRows;
	if (found[BY_ID])
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	info->orderByConsumed = info->nOrderBy == 1 && !info->aOrderBy[0].desc &&
				is_key(layout, info->aOrderBy[0].iColumn);
	return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct table *table = (struct table *)base;
	struct cursor *cursor = table->spare;

	table->spare = NULL;
	if (!cursor) {
		cursor = sqlite3_malloc(sizeof(*cursor));
		if (!cursor)
			return SQLITE_NOMEM;
		memset(cursor, 0, offsetof(struct cursor, reader.slots));
		cursor->layout = table->layout;
		cursor->reader.rows = table->rows;
	}
	*out = &cursor->base;
	return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
	struct table *table = (struct table *)cursor->pVtab;

	if (table->spare)
		sqlite3_free(cursor);
	else
		table->spare = (struct cursor *)cursor;
	return SQLITE_OK;
}

static bool belongs(const struct cursor *c)
{
	return !c->layout->only || c->words[c->layout->only];
}

static int rows_next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;
	int ret = 0;

	do
		ret = c->one ? 0 : rowfile_next(&c->reader, &c->words);
	while (ret == 1 && !belongs(c));
	if (ret != 1)
		c->words = NULL;
	return ret < 0 ? to_sqlite(ret) : SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *base, int bounds, const char *name, int argc,
		       sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	int64_t first = 0, last = INT64_MAX;
	int ret;

	(void)name;
	c->words = NULL;
	c->one = bounds & BY_ID;
	for (int i = 0; i < argc; i++)
		if (sqlite3_value_type(argv[i]) == SQLITE_NULL)
			return SQLITE_OK;
	ret = rowfile_sync(c->reader.rows);
	if (ret)
		return to_sqlite(ret);
	if (c->one) {
		ret = rowfile_find(&c->reader, sqlite3_value_int64(argv[0]), &c->words);
		if (ret != 1 || !belongs(c))
			c->words = NULL;
		return ret < 0 ? to_sqlite(ret) : SQLITE_OK;
	}
	if (bounds & FROM)
		first = sqlite3_value_int64(*argv++);
	if (bounds & TO)
		last = sqlite3_value_int64(*argv);
	rowfile_range(&c->reader, first, last);
	return rows_next(base);
}

static int rows_eof(sqlite3_vtab_cursor *base)
{
	return !((struct cursor *)base)->words;
}

static int rows_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
	const struct cursor *c = (struct cursor *)base;
	const struct column *column = &c->layout->columns[i];
	int64_t value = c->words[column->field];
	char text[ROWFILE_HANDLE];

	switch (column->form) {
	case HANDLE:
		sqlite3_result_text(context, text, (int)rowfile_handle(text, value),
				    SQLITE_TRANSIENT);
		break;
	case EMPTY:
		sqlite3_result_text(context, "", 0, SQLITE_STATIC);
		break;
	default:
		if (column->form == STATUS && value == ROWFILE_NONE)
			sqlite3_result_null(context);
		else
			sqlite3_result_int64(context, value);
	}
	return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct cursor *)base)->words[0];
	return SQLITE_OK;
}

/* Takes the columns that are integers. */
static void set_fields(const struct layout *layout, sqlite3_value **columns, int64_t *words)
{
	for (int i = 0; i < layout->nr; i++)
		if (layout->columns[i].form == INTEGER)
			words[layout->columns[i].field] = sqlite3_value_int64(columns[i]);
}

static int change_row(const struct table *table, sqlite3_value **columns)
{
	struct rowfile_reader *reader = sqlite3_malloc(sizeof(*reader));
	int64_t words[ROWFILE_COLUMNS];
	const int64_t *old;
	int ret;

	if (!reader)
		return -ENOMEM;
	memset(reader, 0, offsetof(struct rowfile_reader, slots));
	reader->rows = table->rows;
	ret = rowfile_sync(table->rows);
	if (ret == 0)
		ret = rowfile_find(reader, sqlite3_value_int64(columns[0]), &old);
	if (ret == 1) {
		memcpy(words, old, table->rows->columns * sizeof(*words));
		set_fields(table->layout, columns, words);
		ret = rowfile_change(reader, words);
	}
	sqlite3_free(reader);
	return ret;
}

/* INSERT into a table that has all rows, and UPDATE. argv: the key before, NULL for a new row; the
 * key after; each column. */
static int rows_update(sqlite3_vtab *base, int argc, sqlite3_value **argv, sqlite3_int64 *id)
{
	const struct table *table = (struct table *)base;
	int64_t words[ROWFILE_COLUMNS] = { 0 };
	int ret;

	if (argc < 2)
		return SQLITE_READONLY;
	if (sqlite3_value_type(argv[0]) != SQLITE_NULL) {
		if (sqlite3_value_int64(argv[0]) != sqlite3_value_int64(argv[2]))
			return SQLITE_READONLY;
		ret = change_row(table, argv + 2);
	} else {
		if (table->layout->only)
			return SQLITE_READONLY;
		set_fields(table->layout, argv + 2, words);
		ret = rowfile_add(table->rows, words, 1);
		*id = words[0];
	}
	return ret < 0 ? to_sqlite(ret) : SQLITE_OK;
}

static const sqlite3_module module = {
	.xCreate = rows_connect,
	.xConnect = rows_connect,
	.xBestIndex = rows_best,
	.xDisconnect = rows_disconnect,
	.xDestroy = rows_disconnect,
	.xOpen = rows_open,
	.xClose = rows_close,
	.xFilter = rows_filter,
	.xNext = rows_next,
	.xEof = rows_eof,
	.xColumn = rows_column,
	.xRowid = rows_rowid,
	.xUpdate = rows_update,
};

int rowfile_attach(struct rowfile *file, sqlite3 *db)
{
	return sqlite3_create_module(db, ROWFILE_MODULE, &module, file);
}
