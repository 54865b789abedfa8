/* SPDX-License-Identifier: MIT */
/* rpd_feed.c - rows of operations and calls in bulk
 *
 * Rows are collected in an array that SQL reads as virtual tables, and written with INSERT ...
 * SELECT: one statement for a few thousand rows instead of bind, step and reset for each, and the
 * bookkeeping of AUTOINCREMENT once instead of for each row. Measured, that is 1.5 times as fast
 * as prepared single-row inserts into tables without AUTOINCREMENT.
 *
 * Of a database that one command makes for itself, most of the rows go to a rowfile instead
 * (query/rowfile.h).
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"

#define NR_ROWS 2048u
#define NR_PACKED 256u /* rows written to the rowfile at a time */
#define NR_HANDLES 4u  /* of one row, at most */

#define NR_TARGETS (sizeof(targets) / sizeof(targets[0]))

/* A column of a virtual table: a field of struct rpd_row, and how it is shown. */
enum form {
	INTEGER,
	HANDLE,	   /* as 0x... */
	KNOWN,	   /* NULL for RPD_NO_STATUS */
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
	const char *module, *table;
	uint32_t mask;
	uint8_t layout; /* RPD_EITHER, ... */
	int nr;
	struct column columns[16];
	const char *insert;
};

static const struct target targets[] = {
	{ "rtl_feed_op",
	  "rocpd_op",
	  RPD_IN_OP,
	  RPD_PLAIN,
	  10,
	  { COL(id), COL(gpu), COL(queue), COL(sequence), COL(start), COL(end), COL(description),
	    COL(type), COL(marker), COL(correlation) },
	  "INSERT INTO rocpd_op SELECT c0, c1, c2, c3, c4, c5, c6, c7, '', c8, c9 FROM rtl_feed_op" },
	{ "rtl_feed_op",
	  "rocpd_op",
	  RPD_IN_OP,
	  RPD_COMPACT,
	  16,
	  { COL(id), COL(gpu), COL(queue), COL(sequence), COL(start), COL(end), COL(description),
	    COL(type), COL(marker), COL(correlation), UNLESS(api, correlation),
	    NULLED(thread, OF_KERNEL), NULLED(shape, OF_KERNEL), NULLED(flags, OF_KERNEL),
	    NULLED(begin_ticks, OF_KERNEL), NULLED(end_ticks, OF_KERNEL) },
	  "INSERT INTO rocpd_op SELECT c0, c1, c2, c3, c4, c5, c6, c7, '', c8, c9, c10, c11, c12, c13, "
	  "c14, c15 FROM rtl_feed_op" },
	{ "rtl_feed_link",
	  "rocpd_api_ops",
	  RPD_IN_OP,
	  RPD_PLAIN,
	  3,
	  { COL(id), COL(api), COL(id) },
	  "INSERT INTO rocpd_api_ops SELECT c0, c1, c2 FROM rtl_feed_link" },
	{ "rtl_feed_kernel",
	  "rtl_op_kernel",
	  RPD_IN_KERNEL,
	  RPD_PLAIN,
	  6,
	  { COL(id), COL(thread), COL(shape), COL(flags), COL(begin_ticks), COL(end_ticks) },
	  "INSERT INTO rtl_op_kernel SELECT c0, c1, c2, c3, c4, c5 FROM rtl_feed_kernel" },
	{ "rtl_feed_copy",
	  "rtl_op_copy",
	  RPD_IN_COPY,
	  RPD_EITHER,
	  10,
	  { COL(id), COL(thread), COL(flags), COL(kind), COL(bytes), COL(src_agent), COL(dst_agent),
	    COL(src), COL(dst), COL(engine) },
	  "INSERT INTO rtl_op_copy SELECT c0, c1, c2, c3, c4, nullif(c5, 0), nullif(c6, 0), c7, c8, "
	  "nullif(c9, -1) FROM rtl_feed_copy" },
	{ "rtl_feed_runtime",
	  "rtl_op_runtime",
	  RPD_IN_RUNTIME,
	  RPD_EITHER,
	  13,
	  { COL(id), COL(gpu), COL(queue), COL(sequence), COL(start), COL(end), COL(correlation),
	    COL(marker), COL(thread), COL(shape), COL(flags), COL(begin_ticks), COL(end_ticks) },
	  "INSERT INTO rtl_op_runtime SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12 "
	  "FROM rtl_feed_runtime" },
	/* a damaged trace may have the same call twice: keep the first */
	{ "rtl_feed_api",
	  "rocpd_api",
	  RPD_IN_API,
	  RPD_PLAIN,
	  9,
	  { COL(id), COL(pid), COL(tid), COL(start), COL(end), COL(name), COL(category),
	    COL(domain), COL(args) },
	  "INSERT OR IGNORE INTO rocpd_api SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8 FROM rtl_feed_api" },
	{ "rtl_feed_api",
	  "rocpd_api",
	  RPD_IN_API,
	  RPD_COMPACT,
	  13,
	  { COL(id), COL(pid), COL(tid), COL(start), COL(end), COL(name), COL(category),
	    COL(domain), COL(args), NULLED(status, KNOWN), COL(parent), UNLESS(correlation, id),
	    NULLED(launch, OF_LAUNCH) },
	  "INSERT OR IGNORE INTO rocpd_api SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12 "
	  "FROM rtl_feed_api" },
	{ "rtl_feed_api_data",
	  "rtl_api_data",
	  RPD_IN_API,
	  RPD_PLAIN,
	  4,
	  { COL(id), NULLED(status, KNOWN), COL(correlation), COL(parent) },
	  "INSERT OR IGNORE INTO rtl_api_data SELECT c0, c1, c2, c3 FROM rtl_feed_api_data" },
	{ "rtl_feed_kernelapi",
	  "rocpd_kernelapi",
	  RPD_IN_KERNELAPI,
	  RPD_PLAIN,
	  11,
	  { COL(id), HEX(stream), COL(grid[0]), COL(grid[1]), COL(grid[2]), COL(group[0]),
	    COL(group[1]), COL(group[2]), COL(shared), COL(private), COL(kernel_name) },
	  "INSERT OR IGNORE INTO rocpd_kernelapi SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 "
	  "FROM rtl_feed_kernelapi" },
	{ "rtl_feed_copyapi",
	  "rocpd_copyapi",
	  RPD_IN_COPYAPI,
	  RPD_EITHER,
	  12,
	  { COL(id), HEX(stream), COL(bytes), COL(width), COL(height), COL(kind), HEX(dst),
	    HEX(src), COL(dst_device), COL(src_device), COL(sync), COL(pinned) },
	  "INSERT OR IGNORE INTO rocpd_copyapi SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11 "
	  "FROM rtl_feed_copyapi" },
	{ "rtl_feed_api_copy",
	  "rtl_api_copy",
	  RPD_IN_API_COPY,
	  RPD_EITHER,
	  3,
	  { COL(id), COL(from_agent), COL(to_agent) },
	  "INSERT OR IGNORE INTO rtl_api_copy SELECT c0, nullif(c1, 0), nullif(c2, 0) FROM "
	  "rtl_feed_api_copy" },
	{ "rtl_feed_graphapi",
	  "rocpd_graphapi",
	  RPD_IN_GRAPHAPI,
	  RPD_EITHER,
	  4,
	  { COL(id), HEX(graph), HEX(exec), HEX(stream) },
	  "INSERT OR IGNORE INTO rocpd_graphapi SELECT c0, c1, c2, c3 FROM rtl_feed_graphapi" },
	{ "rtl_feed_graphlaunchapi",
	  "rocpd_graphLaunchapi",
	  RPD_IN_GRAPHLAUNCHAPI,
	  RPD_EITHER,
	  4,
	  { COL(id), HEX(graph), HEX(exec), HEX(stream) },
	  "INSERT OR IGNORE INTO rocpd_graphLaunchapi SELECT c0, c1, c2, c3 FROM "
	  "rtl_feed_graphlaunchapi" },
};

struct aux {
	const struct target *target;
	struct rpd_feed *feed;
};

struct rpd_feed {
	struct rpd *r;
	size_t nr;
	uint32_t in; /* of all rows */
	struct aux aux[NR_TARGETS];
	sqlite3_stmt *insert[NR_TARGETS]; /* NULL: its rows go to the rowfile */
	struct rpd_row rows[NR_ROWS];
	/* what goes to the rowfile */
	struct rowfile_op ops[NR_PACKED];
	struct rowfile_api apis[NR_PACKED];
};

struct table {
	sqlite3_vtab base;
	const struct aux *aux;
};

struct cursor {
	sqlite3_vtab_cursor base;
	const struct target *target;
	const struct rpd_row *at, *end;
	char handles[NR_HANDLES][ROWFILE_HANDLE]; /* texts of the current row's handles */
	unsigned int nr_handles;
};

static int feed_connect(sqlite3 *db, void *arg, int argc, const char *const *argv,
			sqlite3_vtab **out, char **error)
{
	struct table *table;
	int rc = sqlite3_declare_vtab(db, "CREATE TABLE x(c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, "
					  "c10, c11, c12, c13, c14, c15)");

	(void)argc;
	(void)argv;
	(void)error;
	if (rc != SQLITE_OK)
		return rc;
	table = sqlite3_malloc(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->aux = arg;
	*out = &table->base;
	return SQLITE_OK;
}

static int feed_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int feed_best(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedCost = NR_ROWS;
	info->estimatedRows = NR_ROWS;
	return SQLITE_OK;
}

static int feed_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)base;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*out = &cursor->base;
	return SQLITE_OK;
}

static int feed_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static void skip_rows(struct cursor *cursor)
{
	while (cursor->at < cursor->end && !(cursor->at->in & cursor->target->mask))
		cursor->at++;
}

static int feed_filter(sqlite3_vtab_cursor *base, int idx, const char *name, int argc,
		       sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	const struct aux *aux = ((struct table *)base->pVtab)->aux;

	(void)idx;
	(void)name;
	(void)argc;
	(void)argv;
	cursor->target = aux->target;
	cursor->at = aux->feed->rows;
	cursor->end = cursor->at + aux->feed->nr;
	skip_rows(cursor);
	return SQLITE_OK;
}

static int feed_next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	cursor->at++;
	skip_rows(cursor);
	return SQLITE_OK;
}

static int feed_eof(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	return cursor->at >= cursor->end;
}

static void handle_result(struct cursor *cursor, sqlite3_context *context, int64_t value)
{
	char *text = cursor->handles[cursor->nr_handles++ % NR_HANDLES];

	sqlite3_result_text(context, text, (int)rowfile_handle(text, value), SQLITE_STATIC);
}

static int feed_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int i)
{
	struct cursor *cursor = (struct cursor *)base;
	const char *row = (const char *)cursor->at;
	const struct column *column = &cursor->target->columns[i];
	int64_t value = *(const int64_t *)(const void *)(row + column->field);

	switch (column->form) {
	case HANDLE:
		handle_result(cursor, context, value);
		return SQLITE_OK;
	case KNOWN:
		if (value == RPD_NO_STATUS)
			return SQLITE_OK;
		break;
	case DIFFERENT:
		if (value == *(const int64_t *)(const void *)(row + column->other))
			return SQLITE_OK;
		break;
	case OF_KERNEL:
		if (!(cursor->at->in & RPD_IN_KERNEL))
			return SQLITE_OK;
		break;
	case OF_LAUNCH:
		if (!(cursor->at->in & RPD_IN_KERNELAPI))
			return SQLITE_OK;
		break;
	default:
		break;
	}
	sqlite3_result_int64(context, value);
	return SQLITE_OK;
}

static int feed_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = ((struct cursor *)base)->at->id;
	return SQLITE_OK;
}

/* No xCreate: the tables exist in this connection only, not in the file. */
static const sqlite3_module module = {
	.xConnect = feed_connect,
	.xBestIndex = feed_best,
	.xDisconnect = feed_disconnect,
	.xOpen = feed_open,
	.xClose = feed_close,
	.xFilter = feed_filter,
	.xNext = feed_next,
	.xEof = feed_eof,
	.xColumn = feed_column,
	.xRowid = feed_rowid,
};

int rpd_feed_create(struct rpd_feed **out, struct rpd *r)
{
	struct rpd_feed *feed = alloc_zero(1, sizeof(*feed));

	*out = feed;
	if (!feed)
		return rpd_fail(r, -ENOMEM, "%s: out of memory", r->out);
	feed->r = r;
	for (size_t i = 0; i < NR_TARGETS; i++) {
		int ret;

		if (targets[i].layout == (r->is_compact ? RPD_PLAIN : RPD_COMPACT))
			continue;
		feed->aux[i] = (struct aux){ &targets[i], feed };
		if (sqlite3_create_module(r->db, targets[i].module, &module, &feed->aux[i]) !=
		    SQLITE_OK)
			return rpd_db_fail(r, r->out);
		if (r->opt->rows && rowfile_has(targets[i].table))
			continue;
		ret = rpd_db_prepare(r, &feed->insert[i], targets[i].insert);
		if (ret < 0)
			return ret;
	}
	return 0;
}

void rpd_feed_destroy(struct rpd_feed *feed)
{
	if (!feed)
		return;
	for (size_t i = 0; i < NR_TARGETS; i++)
		sqlite3_finalize(feed->insert[i]);
	alloc_free(feed);
}

struct rpd_row *rpd_feed_row(struct rpd_feed *feed)
{
	/* `in` of the previous row is final now */
	if (feed->nr)
		feed->in |= feed->rows[feed->nr - 1].in;
	return feed->nr < NR_ROWS ? &feed->rows[feed->nr++] : NULL;
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

static int write_rowfile(struct rpd_feed *feed)
{
	struct rpd *r = feed->r;
	size_t nr_ops = 0, nr_apis = 0;
	int ret = 0;

	for (size_t i = 0; i < feed->nr && ret == 0; i++) {
		const struct rpd_row *row = &feed->rows[i];

		if (row->in & RPD_IN_OP)
			feed->ops[nr_ops++] = op_of(row);
		if (row->in & RPD_IN_API)
			feed->apis[nr_apis++] = api_of(row);
		if (nr_ops == NR_PACKED || i + 1 == feed->nr) {
			ret = rowfile_add_ops(r->opt->rows, feed->ops, nr_ops);
			r->nr_op_rows += (int64_t)nr_ops;
			nr_ops = 0;
		}
		if (ret == 0 && (nr_apis == NR_PACKED || i + 1 == feed->nr)) {
			ret = rowfile_add_apis(r->opt->rows, feed->apis, nr_apis);
			r->nr_api_rows += (int64_t)nr_apis;
			nr_apis = 0;
		}
	}
	return ret ? rpd_fail(r, ret, "%s: can't be written: %s", r->out, strerror(-ret)) : 0;
}

int rpd_feed_flush(struct rpd_feed *feed)
{
	int ret = 0;

	if (!feed->nr)
		return 0;
	feed->in |= feed->rows[feed->nr - 1].in;
	if (feed->r->opt->rows)
		ret = write_rowfile(feed);
	for (size_t i = 0; i < NR_TARGETS && ret == 0; i++) {
		if (!(feed->in & targets[i].mask) || !feed->insert[i])
			continue;
		ret = rpd_db_step(feed->r, feed->insert[i]);
		if (ret == 0 && strcmp(targets[i].table, "rocpd_op") == 0)
			feed->r->nr_op_rows += sqlite3_changes(feed->r->db);
		if (ret == 0 && strcmp(targets[i].table, "rocpd_api") == 0)
			feed->r->nr_api_rows += sqlite3_changes(feed->r->db);
	}
	feed->nr = 0;
	feed->in = 0;
	return ret;
}
