/* SPDX-License-Identifier: MIT */
/* parquet_rows.c - the rows of a process, added to the files of its rank
 *
 * Operations are read nearly by their begin (rows_by_time()), rows of other tables as SQL in the order of their ids. What dispatches of one
 * shape have in common is kept in memory: at most MAX_KNOWN shapes and names of kernels, then it is read again.
 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "export/parquet/parquet_internal.h"
#include "query/rows.h"
#include "query/transfer.h"

enum { MAX_KNOWN = 1 << 15, MAX_NAME_BYTES = 4 << 20, RECENT = 1 << 10 };

/* What the operations of RPD lack, which have only a name. */
struct shape {
	size_t name; /* in `names` */
	bool has_sizes;
	int64_t sizes[6]; /* grid, block */
};

struct name {
	char *text; /* NULL: it is not known */
	size_t size;
	uint64_t hash;
};

struct parquet_rows {
	struct query *q;
	struct parquet_file *const *files;
	int64_t first;	 /* id 0 of the process */
	int64_t pid;	 /* -1: unknown */
	bool is_changed; /* rows were removed by another program: no process is complete */
	/* dispatches; recent: shapes that were asked for last, by their ids */
	struct recent {
		int64_t id;
		size_t slot_plus_1;
	} recent[RECENT];
	struct map shape_index, name_index;
	struct shape *shapes;
	struct name *names;
	size_t nr_shapes, max_shapes, nr_names, max_names, name_bytes;
	sqlite3_stmt *shape, *kernel, *text, *copy, *type, *process;
	/* the table that is read */
	const struct parquet_table *table;
	struct parquet_file *file;
};

/* ---- names and shapes ---- */

/* And shapes, which refer to them. */
static void forget_names(struct parquet_rows *r)
{
	r->nr_shapes = 0;
	map_clear(&r->shape_index);
	memset(r->recent, 0, sizeof(r->recent));
	for (size_t i = 0; i < r->nr_names; i++)
		alloc_free(r->names[i].text);
	r->nr_names = r->name_bytes = 0;
	map_clear(&r->name_index);
}

/* By the id of a kernel symbol, or of a text of rocpd_string. NULL: out of memory. Valid until the next call. */
static const struct name *name_of(struct parquet_rows *r, int64_t id, bool is_symbol)
{
	uint64_t key = (uint64_t)id << 1 | is_symbol, found;
	sqlite3_stmt *row;
	struct name *name;

	if (map_get(&r->name_index, key, &found))
		return &r->names[found];
	if (r->nr_names >= MAX_KNOWN || r->name_bytes > MAX_NAME_BYTES)
		forget_names(r);
	name = alloc_grow(r->names, r->nr_names, &r->max_names, 64, sizeof(*name));
	if (!name)
		return NULL;
	r->names = name;
	name = &r->names[r->nr_names];
	row = query_row(is_symbol ? r->kernel : r->text, id);
	*name = (struct name){ 0 };
	if (row) {
		name->text = alloc_string(query_text(row, 0));
		if (!name->text)
			return NULL;
		name->size = strlen(name->text);
		name->hash = map_hash(name->text, name->size);
		r->name_bytes += name->size;
	}
	if (map_put(&r->name_index, key, r->nr_names++))
		return NULL;
	return name;
}

static int read_shape(struct parquet_rows *r, int64_t id, struct shape *shape)
{
	sqlite3_stmt *row = query_row(r->shape, id);
	const struct name *name;

	*shape = (struct shape){ .has_sizes = row != NULL };
	for (int i = 0; row && i < 6; i++)
		shape->sizes[i] = sqlite3_column_int64(row, i + 1);
	name = name_of(r, row ? sqlite3_column_int64(row, 0) : 0, true);
	if (!name)
		return -ENOMEM;
	shape->name = (size_t)(name - r->names);
	return 0;
}

/* NULL: out of memory. Valid until the next call, as its name. */
static const struct shape *shape_of(struct parquet_rows *r, int64_t id)
{
	struct recent *recent = &r->recent[id & (RECENT - 1)];
	struct shape read, *grown;
	uint64_t found;

	if (recent->slot_plus_1 && recent->id == id)
		return &r->shapes[recent->slot_plus_1 - 1];
	if (!map_get(&r->shape_index, (uint64_t)id, &found)) {
		if (r->nr_shapes >= MAX_KNOWN)
			forget_names(r);
		if (read_shape(r, id, &read))
			return NULL;
		grown = alloc_grow(r->shapes, r->nr_shapes, &r->max_shapes, 64, sizeof(*grown));
		if (!grown)
			return NULL;
		r->shapes = grown;
		found = r->nr_shapes;
		r->shapes[found] = read;
		if (map_put(&r->shape_index, (uint64_t)id, r->nr_shapes++))
			return NULL;
	}
	*recent = (struct recent){ id, found + 1 };
	return &r->shapes[found];
}

/* ---- operations ---- */

static void put_text(struct parquet_chunk *c, const char *text)
{
	size_t size = strlen(text);

	parquet_chunk_text(c, text, size, map_hash(text, size));
}

static void put_known(struct parquet_chunk *c, bool is_known, int64_t value)
{
	if (is_known)
		parquet_chunk_int(c, value);
	else
		parquet_chunk_null(c);
}

static void put_id(const struct parquet_rows *r, struct parquet_chunk *c, int64_t id)
{
	put_known(c, id != 0, id - r->first);
}

/* Column 0 of a row, "" without one. */
static void put_column(struct parquet_chunk *c, sqlite3_stmt *row, int i)
{
	if (row && sqlite3_column_type(row, i) != SQLITE_NULL && *query_text(row, i))
		put_text(c, query_text(row, i));
	else
		parquet_chunk_null(c);
}

/* Begin and end, unless they are only a position on the time axis; the ids behind them, and flags. */
static void put_times(const struct parquet_rows *r, struct parquet_chunk *c, const int64_t *op)
{
	int64_t flags = op[OP_FLAGS];

	put_known(&c[0], !(flags & QUERY_F_PLACED), op[OP_START]);
	put_known(&c[1], !(flags & (QUERY_F_PLACED | REC_F_UNFINISHED)), op[OP_END]);
	put_id(r, &c[2], op[OP_CORRELATION]);
	put_id(r, &c[3], op[OP_CALL]);
	put_id(r, &c[4], op[OP_MARKER]);
	parquet_chunk_int(&c[5], flags);
}

static int64_t gpu_of(const struct parquet_rows *r, const int64_t *op)
{
	/* a merged file has more hosts than one: RPD's stride */
	return r->q->ours && op[OP_GPU] >= 0 ? op[OP_GPU] % 1000 : op[OP_GPU];
}

static int put_dispatch(struct parquet_rows *r, const int64_t *op)
{
	struct parquet_file *f = r->files[PARQUET_DISPATCHES];
	struct parquet_chunk *c = parquet_file_columns(f);
	const struct shape *shape = op[OP_SHAPE] ? shape_of(r, op[OP_SHAPE]) : NULL;
	const struct name *name;

	if (op[OP_SHAPE] && !shape)
		return -ENOMEM;
	name = shape && r->names[shape->name].text ? &r->names[shape->name] :
						     name_of(r, op[OP_NAME], false);
	if (!name)
		return -ENOMEM;
	parquet_chunk_int(&c[D_ID], op[OP_ID] - r->first);
	put_known(&c[D_PID], r->pid >= 0, r->pid);
	if (name->text)
		parquet_chunk_text(&c[D_KERNEL], name->text, name->size, name->hash);
	else
		parquet_chunk_null(&c[D_KERNEL]);
	put_known(&c[D_GPU], op[OP_GPU] >= 0, gpu_of(r, op));
	parquet_chunk_int(&c[D_QUEUE], op[OP_QUEUE]);
	put_known(&c[D_STREAM], op[OP_STREAM] > 0, op[OP_STREAM]);
	for (size_t i = 0; i < 6; i++)
		put_known(&c[D_GRID_X + i], shape && shape->has_sizes, shape ? shape->sizes[i] : 0);
	put_times(r, &c[D_BEGIN], op);
	return parquet_file_row(f);
}

static int put_copy(struct parquet_rows *r, const int64_t *op)
{
	struct parquet_file *f = r->files[PARQUET_COPIES];
	struct parquet_chunk *c = parquet_file_columns(f);
	sqlite3_stmt *row = query_row(r->copy, op[OP_ID]);
	sqlite3_stmt *type = row ? NULL : query_row(r->type, op[OP_TYPE]);

	parquet_chunk_int(&c[C_ID], op[OP_ID] - r->first);
	put_known(&c[C_PID], r->pid >= 0, r->pid);
	put_text(&c[C_KIND], row ? query_text(row, 0) : query_text(type, 0));
	put_known(&c[C_BYTES], row && sqlite3_column_type(row, 1) != SQLITE_NULL,
		  row ? sqlite3_column_int64(row, 1) : 0);
	put_known(&c[C_GPU], op[OP_GPU] >= 0, gpu_of(r, op));
	parquet_chunk_int(&c[C_QUEUE], op[OP_QUEUE]);
	put_known(&c[C_STREAM], op[OP_STREAM] > 0, op[OP_STREAM]);
	for (int i = 0; i < 3; i++)
		put_column(&c[C_SRC + i], row, i + 2);
	put_times(r, &c[C_BEGIN], op);
	return parquet_file_row(f);
}

static int put_operation(void *arg, const int64_t *op)
{
	struct parquet_rows *r = arg;

	r->q->res->nr_ops++;
	return op[OP_COPY] ? put_copy(r, op) : put_dispatch(r, op);
}

/* ---- tables as SQL ---- */

static void put_value(const struct parquet_rows *r, struct parquet_chunk *c, sqlite3_value *value)
{
	const struct parquet_column *column = c->column;
	bool is_null = sqlite3_value_type(value) == SQLITE_NULL;
	int64_t number = sqlite3_value_int64(value);
	const char *text;

	if (column->optional && (is_null || (column->is_id && number == 0))) {
		parquet_chunk_null(c);
		return;
	}
	switch (column->type) {
	case PARQUET_INT:
		parquet_chunk_int(c, column->is_id ? number - r->first : number);
		break;
	case PARQUET_BOOL: /* of all tables `complete` alone */
		parquet_chunk_int(c, number && !r->is_changed);
		break;
	case PARQUET_REAL:
		parquet_chunk_real(c, sqlite3_value_double(value));
		break;
	case PARQUET_TEXT:
		text = (const char *)sqlite3_value_text(value);
		put_text(c, text ? text : "");
		break;
	}
}

static const char *sql_of(const struct parquet_rows *r, const struct parquet_column *c)
{
	return r->q->ours ? c->ours : c->rpd;
}

static int take_row(void *arg, sqlite3_value **values)
{
	const struct parquet_rows *r = arg;
	struct parquet_chunk *c = parquet_file_columns(r->file);

	for (size_t i = 0; i < r->table->nr; i++)
		if (sql_of(r, c[i].column))
			put_value(r, &c[i], *values++);
		else
			parquet_chunk_null(&c[i]);
	return parquet_file_row(r->file);
}

/* RPD's texts are in one of two tables: $ in `from`. */
static int scan_table(struct parquet_rows *r, const char *from)
{
	const char *texts = r->q->has_ustring ? "rocpd_ustring" : "rocpd_string";
	const char *mark = strchr(from, '$');
	sqlite3_str *columns = sqlite3_str_new(NULL), *rows = sqlite3_str_new(NULL);
	char *columns_sql, *rows_sql;
	int ret;

	for (size_t i = 0; i < r->table->nr; i++)
		if (sql_of(r, &r->table->columns[i]))
			sqlite3_str_appendf(columns, "%s%s",
					    sqlite3_str_length(columns) ? ", " : "",
					    sql_of(r, &r->table->columns[i]));
	if (mark)
		sqlite3_str_appendf(rows, "%.*s%s%s", (int)(mark - from), from, texts, mark + 1);
	else
		sqlite3_str_appendall(rows, from);
	columns_sql = sqlite3_str_finish(columns);
	rows_sql = sqlite3_str_finish(rows);
	ret = columns_sql && rows_sql ? query_scan(r->q, columns_sql, rows_sql, take_row, r) :
					query_fail_memory(r->q);
	sqlite3_free(columns_sql);
	sqlite3_free(rows_sql);
	return ret;
}

static int add_table(struct parquet_rows *r, size_t i)
{
	const struct parquet_table *table = &parquet_tables[i];
	const char *from = r->q->ours ? table->ours : table->rpd;

	r->table = table;
	r->file = r->files[i];
	if (!from || (r->q->ours && table->needs && !query_has(r->q->db, table->needs)))
		return 0;
	return scan_table(r, from);
}

/* ---- all ---- */

static const char copies_sql[] =
	"DROP TABLE IF EXISTS temp.parquet_copy; CREATE TEMP TABLE parquet_copy (op_id INTEGER PRIMARY KEY, kind TEXT, "
	"bytes INTEGER, src TEXT, dst TEXT, means TEXT); INSERT OR IGNORE INTO parquet_copy SELECT op_id, kind, bytes, src, "
	"dst, means FROM temp.rtl_transfer";

static int prepare(struct parquet_rows *r)
{
	struct query *q = r->q;
	const struct query_sql list[] = {
		{ &r->text, QUERY_STRING },
		{ &r->type, ROWS_TYPE_NAME },
		{ &r->process, q->ours ? "SELECT os_pid FROM rtl_process WHERE id = ?1" : NULL },
		{ &r->shape,
		  q->ours ?
			  "SELECT kernel_id, grid_x, grid_y, grid_z, group_x, group_y, group_z FROM "
			  "rtl_shape WHERE id = ?1" :
			  NULL },
		{ &r->kernel,
		  q->ours ? "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1" : NULL },
		{ &r->copy,
		  q->ours ? "SELECT kind, bytes, src, dst, means FROM temp.parquet_copy WHERE "
			    "op_id = ?1" :
			    NULL },
	};
	int ret = q->ours ? transfer_define(q) : 0;

	if (ret == 0 && q->ours)
		ret = query_run(q, copies_sql);
	return ret ? ret : query_prepare_all(q, list, sizeof(list) / sizeof(list[0]));
}

int parquet_rows_begin(struct parquet_rows **out, struct query *q)
{
	struct parquet_rows *r = alloc_zero(1, sizeof(*r));

	*out = r;
	if (!r)
		return query_fail_memory(q);
	r->q = q;
	r->is_changed =
		q->ours && !q->verdict.complete &&
		!query_number(q->db,
			      "SELECT EXISTS (SELECT 1 FROM rtl_loss_data WHERE class = 'loss') OR "
			      "EXISTS (SELECT 1 FROM rtl_process WHERE state = 'running')",
			      0);
	return prepare(r);
}

int parquet_rows_add(struct parquet_rows *r, struct parquet_file *const *files)
{
	const struct query_process *process = r->q->only;
	sqlite3_stmt *row = process ? query_row(r->process, process->id) : NULL;
	int ret;

	r->files = files;
	r->first = process ? process->id_first : 0;
	r->pid = row ? sqlite3_column_int64(row, 0) : -1;
	ret = rows_by_time(r->q, put_operation, r);
	for (size_t i = PARQUET_OTHERS; ret == 0 && parquet_tables[i].name; i++)
		ret = add_table(r, i);
	return ret;
}

void parquet_rows_end(struct parquet_rows *r)
{
	if (!r)
		return;
	forget_names(r);
	alloc_free(r->names);
	alloc_free(r->shapes);
	map_fini(&r->shape_index);
	map_fini(&r->name_index);
	sqlite3_finalize(r->shape);
	sqlite3_finalize(r->kernel);
	sqlite3_finalize(r->text);
	sqlite3_finalize(r->copy);
	sqlite3_finalize(r->type);
	sqlite3_finalize(r->process);
	alloc_free(r);
}
