/* SPDX-License-Identifier: MIT */
/* rpd_feed.c - rows of operations and calls in bulk
 *
 * The rows of a table are put into a page in SQLite's file format (rpd_page.h). A full page is
 * copied by one statement, INSERT INTO main.t SELECT * FROM rtl_feed.t: the schema rtl_feed is an
 * image of a database in memory whose tables have one page each, and are declared as those of the
 * file, so that SQLite copies rows as they are (its "transfer optimization"). That takes half of
 * the time of statements that take rows apart and put them together again
 * (docs/decisions/061-rows-are-pages.md).
 *
 * A page may have a row that SQLite has to look at: one that may be in the table already, or that
 * is in an index of a file that grows. Such a page is copied by a statement that does so.
 *
 * SQLite maps the image instead of reading it, and so sees the pages as they are. This is tested
 * when a file is begun: where it does not, rows are inserted one by one.
 *
 * Of a database that one command makes for itself, most of the rows go to a rowfile instead
 * (query/rowfile.h).
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "export/rpd/rpd_page.h"
#include "query/kinds.h"

#define NR_PACKED 256u /* rows written to the rowfile at a time */

#define NR_TARGETS (sizeof(targets) / sizeof(targets[0]))
/* of a table: as it is named in statements, and in SQLite's C functions */
#define SCHEMA "rtl_feed"

/* A column of a table: a field of struct rpd_row, and how it is written. */
enum form {
	INTEGER,
	HANDLE,	   /* as 0x... */
	EMPTY,	   /* '' */
	KNOWN,	   /* NULL for ROWFILE_NONE */
	NONE_IS_0, /* NULL for 0 */
	DIFFERENT, /* NULL where it is equal to the other field */
	OF_KERNEL, /* NULL unless the row is a dispatch */
	OF_LAUNCH, /* NULL unless it is a launch */
};
struct column {
	uint16_t field, other;
	uint8_t form;
};
#define FIELD(name) offsetof(struct rpd_row, name)
#define COL(name)                                                                                  \
	{                                                                                          \
		FIELD(name), 0, INTEGER                                                            \
	}
#define HEX(name)                                                                                  \
	{                                                                                          \
		FIELD(name), 0, HANDLE                                                             \
	}
#define NULLED(name, form)                                                                         \
	{                                                                                          \
		FIELD(name), 0, form                                                               \
	}
#define UNLESS(name, other)                                                                        \
	{                                                                                          \
		FIELD(name), FIELD(other), DIFFERENT                                               \
	}

struct target {
	const char *table;
	uint32_t mask;
	uint8_t layout; /* RPD_EITHER, ... */
	int nr;
	struct column columns[17]; /* of the table, in their order; the first one is the key */
};

static const struct target targets[] = {
	{ "rocpd_op",
	  RPD_IN_OP,
	  RPD_PLAIN,
	  11,
	  { COL(id), COL(gpu), COL(queue), COL(sequence), COL(start), COL(end), COL(description),
	    COL(type), NULLED(id, EMPTY), COL(marker), COL(correlation) } },
	{ "rocpd_op",
	  RPD_IN_OP,
	  RPD_COMPACT,
	  17,
	  { COL(id), COL(gpu), COL(queue), COL(sequence), COL(start), COL(end), COL(description),
	    COL(type), NULLED(id, EMPTY), COL(marker), COL(correlation), UNLESS(api, correlation),
	    NULLED(thread, OF_KERNEL), NULLED(shape, OF_KERNEL), NULLED(flags, OF_KERNEL),
	    NULLED(begin_ticks, OF_KERNEL), NULLED(end_ticks, OF_KERNEL) } },
	{ "rocpd_api_ops", RPD_IN_OP, RPD_PLAIN, 3, { COL(id), COL(api), COL(id) } },
	{ "rtl_op_kernel",
	  RPD_IN_KERNEL,
	  RPD_PLAIN,
	  6,
	  { COL(id), COL(thread), COL(shape), COL(flags), COL(begin_ticks), COL(end_ticks) } },
	{ "rtl_op_copy",
	  RPD_IN_COPY,
	  RPD_EITHER,
	  10,
	  { COL(id), COL(thread), COL(flags), COL(kind), COL(bytes), NULLED(src_agent, NONE_IS_0),
	    NULLED(dst_agent, NONE_IS_0), COL(src), COL(dst), NULLED(engine, KNOWN) } },
	{ "rtl_op_runtime",
	  RPD_IN_RUNTIME,
	  RPD_EITHER,
	  13,
	  { COL(id), COL(gpu), COL(queue), COL(sequence), COL(start), COL(end), COL(correlation),
	    COL(marker), COL(thread), COL(shape), COL(flags), COL(begin_ticks), COL(end_ticks) } },
	{ "rocpd_api",
	  RPD_IN_API,
	  RPD_PLAIN,
	  9,
	  { COL(id), COL(pid), COL(tid), COL(start), COL(end), COL(name), COL(category),
	    COL(domain), COL(args) } },
	{ "rocpd_api",
	  RPD_IN_API,
	  RPD_COMPACT,
	  13,
	  { COL(id), COL(pid), COL(tid), COL(start), COL(end), COL(name), COL(category),
	    COL(domain), COL(args), NULLED(status, KNOWN), COL(parent), UNLESS(correlation, id),
	    NULLED(launch, OF_LAUNCH) } },
	{ "rtl_api_data",
	  RPD_IN_API,
	  RPD_PLAIN,
	  4,
	  { COL(id), NULLED(status, KNOWN), COL(correlation), COL(parent) } },
	{ "rocpd_kernelapi",
	  RPD_IN_KERNELAPI,
	  RPD_PLAIN,
	  11,
	  { COL(id), HEX(stream), COL(grid[0]), COL(grid[1]), COL(grid[2]), COL(group[0]),
	    COL(group[1]), COL(group[2]), COL(shared), COL(private), COL(kernel_name) } },
	{ "rocpd_copyapi",
	  RPD_IN_COPYAPI,
	  RPD_EITHER,
	  12,
	  { COL(id), HEX(stream), COL(bytes), COL(width), COL(height), COL(kind), HEX(dst),
	    HEX(src), COL(dst_device), COL(src_device), COL(sync), COL(pinned) } },
	{ "rtl_api_copy",
	  RPD_IN_API_COPY,
	  RPD_EITHER,
	  3,
	  { COL(id), NULLED(from_agent, NONE_IS_0), NULLED(to_agent, NONE_IS_0) } },
	{ "rocpd_graphapi",
	  RPD_IN_GRAPHAPI,
	  RPD_EITHER,
	  4,
	  { COL(id), HEX(graph), HEX(exec), HEX(stream) } },
	{ "rocpd_graphLaunchapi",
	  RPD_IN_GRAPHLAUNCHAPI,
	  RPD_EITHER,
	  4,
	  { COL(id), HEX(graph), HEX(exec), HEX(stream) } },
};

/* The rows of a table. */
struct rows {
	const struct target *target;
	struct rpd_page page; /* its bytes are NULL where rows are inserted one by one */
	bool is_looked_at;    /* SQLite has to look at a row of the page */
	sqlite3_stmt *copy;   /* the page as it is */
	sqlite3_stmt *insert; /* rows of the page, or one row */
};

struct rpd_feed {
	struct rpd *r;
	struct rpd_row row;
	bool has_row; /* `row` is to be written */
	struct rows rows[NR_TARGETS];
	size_t nr_rows;
	struct rpd_cell cell;
	/* what goes to the rowfile */
	size_t nr_ops, nr_apis;
	struct rowfile_op ops[NR_PACKED];
	struct rowfile_api apis[NR_PACKED];
};

/* The value of a column is NULL. */
static bool is_null(const struct column *column, const struct rpd_row *row, int64_t value)
{
	switch (column->form) {
	case KNOWN:
		return value == ROWFILE_NONE;
	case NONE_IS_0:
		return !value;
	case DIFFERENT:
		return value == *(const int64_t *)(const void *)((const char *)row + column->other);
	case OF_KERNEL:
		return !(row->in & RPD_IN_KERNEL);
	case OF_LAUNCH:
		return !(row->in & RPD_IN_KERNELAPI);
	default:
		return false;
	}
}

static void make_cell(struct rpd_cell *cell, const struct target *target, const struct rpd_row *row)
{
	char text[ROWFILE_HANDLE];

	rpd_cell_begin(cell, row->id);
	for (int i = 1; i < target->nr; i++) {
		const struct column *column = &target->columns[i];
		int64_t value = *(const int64_t *)(const void *)((const char *)row + column->field);

		if (column->form == INTEGER)
			rpd_cell_int(cell, value);
		else if (column->form == HANDLE)
			rpd_cell_text(cell, text, rowfile_handle(text, value));
		else if (column->form == EMPTY)
			rpd_cell_text(cell, "", 0);
		else if (is_null(column, row, value))
			rpd_cell_null(cell);
		else
			rpd_cell_int(cell, value);
	}
}

static int insert_row(struct rpd_feed *feed, struct rows *rows, const struct rpd_row *row)
{
	char text[3][ROWFILE_HANDLE]; /* of one row, at most */
	int nr_texts = 0;

	for (int i = 0; i < rows->target->nr; i++) {
		const struct column *column = &rows->target->columns[i];
		int64_t value = *(const int64_t *)(const void *)((const char *)row + column->field);

		if (column->form == HANDLE) {
			sqlite3_bind_text(rows->insert, i + 1, text[nr_texts],
					  (int)rowfile_handle(text[nr_texts], value),
					  SQLITE_STATIC);
			nr_texts++;
		} else if (column->form == EMPTY) {
			sqlite3_bind_text(rows->insert, i + 1, "", 0, SQLITE_STATIC);
		} else if (is_null(column, row, value)) {
			sqlite3_bind_null(rows->insert, i + 1);
		} else {
			sqlite3_bind_int64(rows->insert, i + 1, value);
		}
	}
	return rpd_db_step(feed->r, rows->insert);
}

static void count_rows(struct rpd *r, const struct target *target, int64_t nr)
{
	if (strcmp(target->table, "rocpd_op") == 0)
		r->nr_op_rows += nr;
	if (strcmp(target->table, "rocpd_api") == 0)
		r->nr_api_rows += nr;
}

static int write_page(struct rpd_feed *feed, struct rows *rows)
{
	struct rpd *r = feed->r;
	int ret, nr;

	if (!rows->page.nr)
		return 0;
	ret = rpd_db_step(r, rows->is_looked_at ? rows->insert : rows->copy);
	nr = sqlite3_changes(r->db);
	if (ret == 0 && !rows->is_looked_at && nr != (int)rows->page.nr)
		ret = rpd_fail(r, -EIO, "%s: %s: SQLite took %d rows of %zu", r->out,
			       rows->target->table, nr, rows->page.nr);
	if (ret == 0)
		count_rows(r, rows->target, nr);
	rpd_page_clear(&rows->page);
	rows->is_looked_at = false;
	return ret;
}

/* Whether SQLite has to look at the row. */
static bool is_looked_at(const struct rpd *r, const struct rpd_row *row)
{
	if (row->in & RPD_MAYBE_DOUBLE)
		return true;
	/* an index has it, see rpd_schema_untimed */
	return r->keeps_state && row->in & (RPD_IN_KERNEL | RPD_IN_COPY) &&
	       row->flags & QUERY_UNTIMED;
}

static int add_row(struct rpd_feed *feed, struct rows *rows, const struct rpd_row *row)
{
	int ret;

	if (!rows->page.bytes) {
		ret = insert_row(feed, rows, row);
		if (ret == 0)
			count_rows(feed->r, rows->target, sqlite3_changes(feed->r->db));
		return ret;
	}
	make_cell(&feed->cell, rows->target, row);
	if (!rpd_page_add(&rows->page, &feed->cell)) {
		ret = write_page(feed, rows);
		if (ret < 0)
			return ret;
		rpd_page_add(&rows->page, &feed->cell);
	}
	rows->is_looked_at |= is_looked_at(feed->r, row);
	return 0;
}

/* Whether a statement sees that a page was changed, also in the transaction in which it was read
 * before. 1, 0, or -errno. */
static int sees_changes(struct rpd_feed *feed)
{
	struct rpd_page *page = &feed->rows[0].page;
	int64_t counts[3];
	int ret = rpd_db_exec(feed->r, "BEGIN");

	if (ret < 0)
		return ret;
	rpd_cell_begin(&feed->cell, 1);
	for (int i = 0; i < 3; i++) {
		counts[i] = rpd_db_int(feed->r, -1, "SELECT count(*) FROM " SCHEMA ".\"%w\"",
				       feed->rows[0].target->table);
		rpd_page_add(page, &feed->cell);
	}
	rpd_page_clear(page);
	ret = rpd_db_exec(feed->r, "COMMIT");
	return ret < 0 ? ret : counts[0] == 0 && counts[1] == 1 && counts[2] == 2;
}

/* The tables in a database in memory, whose bytes are *out, to be released with sqlite3_free().
 * 0 or -errno. */
static int make_image(struct rpd_feed *feed, unsigned char **out, sqlite3_int64 *size)
{
	sqlite3 *db = NULL;
	char *sql = sqlite3_mprintf("PRAGMA page_size = %u", RPD_PAGE_SIZE);
	int rc = sqlite3_open_v2(":memory:", &db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	for (const struct rpd_table *t = rpd_tables; t->name && rc == SQLITE_OK; t++) {
		for (size_t i = 0; i < feed->nr_rows && rc == SQLITE_OK; i++) {
			if (strcmp(feed->rows[i].target->table, t->name) != 0)
				continue;
			sql = rpd_tables_create_sql(t, feed->r->is_compact);
			rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
			sqlite3_free(sql);
		}
	}
	/* without the indexes of the file's table SQLite would look at each row */
	for (size_t i = 0; feed->r->keeps_state && rpd_schema_untimed[i] && rc == SQLITE_OK; i++)
		rc = sqlite3_exec(db, rpd_schema_untimed[i], NULL, NULL, NULL);
	*out = rc == SQLITE_OK ? sqlite3_serialize(db, "main", size, 0) : NULL;
	sqlite3_close(db);
	return *out ? 0 : rpd_fail(feed->r, -ENOMEM, "%s: out of memory", feed->r->out);
}

/* Finds the tables' pages in the image. */
static int find_pages(struct rpd_feed *feed, unsigned char *image, sqlite3_int64 size)
{
	for (size_t i = 0; i < feed->nr_rows; i++) {
		struct rows *rows = &feed->rows[i];
		int64_t root = rpd_db_int(feed->r, 0,
					  "SELECT rootpage FROM " SCHEMA
					  ".sqlite_master WHERE type = 'table' AND name = %Q",
					  rows->target->table);

		if (root < 2 || root > size / RPD_PAGE_SIZE)
			return 0;
		rows->page.bytes = image + (size_t)(root - 1) * RPD_PAGE_SIZE;
		rpd_page_clear(&rows->page);
	}
	return sees_changes(feed);
}

/* 1: the tables have pages; 0: this SQLite can't; or -errno. */
static int attach_image(struct rpd_feed *feed)
{
	sqlite3_int64 size = 0;
	unsigned char *image;
	int ret = make_image(feed, &image, &size);

	if (ret == 0)
		ret = rpd_db_exec(feed->r, "ATTACH ':memory:' AS " SCHEMA);
	if (ret < 0) {
		sqlite3_free(image);
		return ret;
	}
	/* SQLite releases the image, also if it does not take it */
	if (sqlite3_deserialize(feed->r->db, SCHEMA, image, size, size,
				SQLITE_DESERIALIZE_READONLY | SQLITE_DESERIALIZE_FREEONCLOSE) !=
	    SQLITE_OK)
		return 0;
	ret = rpd_db_execf(feed->r, "PRAGMA " SCHEMA ".mmap_size = %lld", (long long)size);
	return ret < 0 ? ret : find_pages(feed, image, size);
}

static int prepare_rows(struct rpd *r, struct rows *rows)
{
	const char *table = rows->target->table;
	sqlite3_str *sql = sqlite3_str_new(r->db);
	char *text;
	int ret;

	sqlite3_str_appendf(sql, "INSERT OR IGNORE INTO main.\"%w\" ", table);
	/* a condition, or SQLite would copy rows to an empty table as they are */
	if (rows->page.bytes)
		sqlite3_str_appendf(sql, "SELECT * FROM " SCHEMA ".\"%w\" WHERE 1", table);
	for (int i = 0; i < rows->target->nr && !rows->page.bytes; i++)
		sqlite3_str_appendall(sql, i ? ", ?" : "VALUES (?");
	if (!rows->page.bytes)
		sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	ret = text ? rpd_db_prepare(r, &rows->insert, text) :
		     rpd_fail(r, -ENOMEM, "%s: out of memory", r->out);
	sqlite3_free(text);
	if (ret < 0 || !rows->page.bytes)
		return ret;
	text = sqlite3_mprintf("INSERT INTO main.\"%w\" SELECT * FROM " SCHEMA ".\"%w\"", table,
			       table);
	ret = text ? rpd_db_prepare(r, &rows->copy, text) :
		     rpd_fail(r, -ENOMEM, "%s: out of memory", r->out);
	sqlite3_free(text);
	return ret;
}

int rpd_feed_create(struct rpd_feed **out, struct rpd *r)
{
	struct rpd_feed *feed = alloc_zero(1, sizeof(*feed));
	int ret;

	*out = feed;
	if (!feed)
		return rpd_fail(r, -ENOMEM, "%s: out of memory", r->out);
	feed->r = r;
	for (size_t i = 0; i < NR_TARGETS; i++) {
		if (targets[i].layout == (r->is_compact ? RPD_PLAIN : RPD_COMPACT))
			continue;
		if (r->opt->rows && rowfile_has(targets[i].table))
			continue;
		feed->rows[feed->nr_rows++].target = &targets[i];
	}
	ret = attach_image(feed);
	for (size_t i = 0; i < feed->nr_rows && ret == 0; i++)
		feed->rows[i].page.bytes = NULL;
	for (size_t i = 0; i < feed->nr_rows && ret >= 0; i++)
		ret = prepare_rows(r, &feed->rows[i]);
	return ret < 0 ? ret : 0;
}

void rpd_feed_destroy(struct rpd_feed *feed)
{
	if (!feed)
		return;
	for (size_t i = 0; i < feed->nr_rows; i++) {
		sqlite3_finalize(feed->rows[i].copy);
		sqlite3_finalize(feed->rows[i].insert);
	}
	alloc_free(feed);
}

static struct rowfile_op op_of(const struct rpd_row *row)
{
	struct rowfile_op op = { .id = row->id,
				 .api = row->api,
				 .gpu = row->gpu,
				 .queue = row->queue,
				 .sequence = row->sequence,
				 .start = row->start,
				 .end = row->end,
				 .description = row->description,
				 .type = row->type,
				 .marker = row->marker,
				 .correlation = row->correlation };

	if (row->in & RPD_IN_KERNEL) {
		op.is_kernel = 1;
		op.thread = row->thread;
		op.shape = row->shape;
		op.flags = row->flags;
		op.begin_ticks = row->begin_ticks;
		op.end_ticks = row->end_ticks;
	}
	return op;
}

static struct rowfile_api api_of(const struct rpd_row *row)
{
	struct rowfile_api api = { .id = row->id,
				   .pid = row->pid,
				   .tid = row->tid,
				   .start = row->start,
				   .end = row->end,
				   .name = row->name,
				   .category = row->category,
				   .domain = row->domain,
				   .args = row->args,
				   .is_call = 1,
				   .status = row->status,
				   .correlation = row->correlation,
				   .parent = row->parent };

	if (row->in & RPD_IN_KERNELAPI) {
		api.is_kernel = 1;
		api.stream = row->stream;
		memcpy(api.grid, row->grid, sizeof(api.grid));
		memcpy(api.group, row->group, sizeof(api.group));
		api.group_size = row->shared;
		api.private_size = row->private;
		api.kernel_name = row->kernel_name;
	}
	return api;
}

static int write_ops(struct rpd_feed *feed)
{
	struct rpd *r = feed->r;
	int ret = rowfile_add_ops(r->opt->rows, feed->ops, feed->nr_ops);

	r->nr_op_rows += (int64_t)feed->nr_ops;
	feed->nr_ops = 0;
	return ret ? rpd_fail(r, ret, "%s: can't be written: %s", r->out, strerror(-ret)) : 0;
}

static int write_apis(struct rpd_feed *feed)
{
	struct rpd *r = feed->r;
	int ret = rowfile_add_apis(r->opt->rows, feed->apis, feed->nr_apis);

	r->nr_api_rows += (int64_t)feed->nr_apis;
	feed->nr_apis = 0;
	return ret ? rpd_fail(r, ret, "%s: can't be written: %s", r->out, strerror(-ret)) : 0;
}

static int pack_row(struct rpd_feed *feed, const struct rpd_row *row)
{
	int ret = 0;

	if (row->in & RPD_IN_OP)
		feed->ops[feed->nr_ops++] = op_of(row);
	if (row->in & RPD_IN_API)
		feed->apis[feed->nr_apis++] = api_of(row);
	if (feed->nr_ops == NR_PACKED)
		ret = write_ops(feed);
	if (ret == 0 && feed->nr_apis == NR_PACKED)
		ret = write_apis(feed);
	return ret;
}

/* Writes the row that the caller of rpd_feed_row() has filled. */
static int take_row(struct rpd_feed *feed)
{
	const struct rpd_row *row = &feed->row;
	int ret = 0;

	if (!feed->has_row)
		return 0;
	feed->has_row = false;
	if (feed->r->opt->rows)
		ret = pack_row(feed, row);
	for (size_t i = 0; i < feed->nr_rows && ret == 0; i++)
		if (row->in & feed->rows[i].target->mask)
			ret = add_row(feed, &feed->rows[i], row);
	return ret;
}

int rpd_feed_row(struct rpd_feed *feed, struct rpd_row **out)
{
	int ret = take_row(feed);

	feed->has_row = true;
	feed->row.in = 0;
	*out = &feed->row;
	return ret;
}

int rpd_feed_flush(struct rpd_feed *feed)
{
	int ret = take_row(feed);

	for (size_t i = 0; i < feed->nr_rows && ret == 0; i++)
		ret = write_page(feed, &feed->rows[i]);
	if (ret == 0 && feed->nr_ops)
		ret = write_ops(feed);
	if (ret == 0 && feed->nr_apis)
		ret = write_apis(feed);
	return ret;
}
