/* SPDX-License-Identifier: MIT */
/* parquet_ops.c - dispatches and copies of a process, added to the files of its rank
 *
 * Those of a database of rtl are read in the order of their ids, which is nearly that of their
 * ends, from as few columns as they need; those of RPD as all writers read them. Shapes and names
 * of kernels are kept in memory, at most MAX_SHAPES and MAX_NAMES; then they are read again. A
 * chunk of the trace has shapes of its own, so that those that were asked for last suffice.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/collective_calls.h"
#include "base/alloc.h"
#include "export/parquet/parquet_columns.h"
#include "export/parquet/parquet_internal.h"
#include "query/cause.h"
#include "query/collectives.h"
#include "query/rows.h"
#include "query/transfer.h"

enum { MAX_SHAPES = 1 << 13, MAX_NAMES = 1 << 15, MAX_NAME_BYTES = 4 << 20 };

/* What the operations of RPD lack, which have only a name. */
struct parquet_shape {
	size_t name;		     /* in `names` */
	bool has_sizes, is_transfer; /* a kernel with which HIP copies or fills */
	int64_t sizes[6];	     /* grid, block */
};

struct parquet_name {
	char *text; /* NULL: it is not known */
	size_t size;
	uint64_t hash;
	bool is_collective;
};

/* ---- names and shapes ---- */

static bool is_collective(const char *name)
{
#define MATCHES(pattern) || fnmatch(pattern, name, 0) == 0
	return false COLLECTIVES_EACH(MATCHES);
#undef MATCHES
}

static void forget_shapes(struct parquet_rows *r)
{
	r->nr_shapes = 0;
	map_clear(&r->shape_index);
	memset(r->recent, 0, sizeof(r->recent));
}

/* And shapes, which refer to them. */
static void forget_names(struct parquet_rows *r)
{
	forget_shapes(r);
	for (size_t i = 0; i < r->nr_names; i++)
		alloc_free(r->names[i].text);
	r->nr_names = r->name_bytes = 0;
	map_clear(&r->name_index);
}

/* By the id of a kernel symbol, or of a text of rocpd_string. NULL: out of memory. Valid until the
 * next call. */
static const struct parquet_name *name_of(struct parquet_rows *r, int64_t id, bool is_symbol)
{
	uint64_t key = (uint64_t)id << 1 | is_symbol, found;
	sqlite3_stmt *row;
	struct parquet_name *name;

	if (map_get(&r->name_index, key, &found))
		return &r->names[found];
	if (r->nr_names >= MAX_NAMES || r->name_bytes > MAX_NAME_BYTES)
		forget_names(r);
	name = alloc_grow(r->names, r->nr_names, &r->max_names, 64, sizeof(*name));
	if (!name)
		return NULL;
	r->names = name;
	name = &r->names[r->nr_names];
	row = query_row(is_symbol ? r->kernel : r->text, id);
	*name = (struct parquet_name){ 0 };
	if (row) {
		name->text = alloc_string(query_text(row, 0));
		if (!name->text)
			return NULL;
		name->size = strlen(name->text);
		name->hash = map_hash(name->text, name->size);
		name->is_collective = is_symbol && is_collective(name->text);
		r->name_bytes += name->size;
	}
	if (map_put(&r->name_index, key, r->nr_names++))
		return NULL;
	return name;
}

static int read_shape(struct parquet_rows *r, int64_t id, struct parquet_shape *shape)
{
	sqlite3_stmt *row = query_next_row(&r->shape, id);
	const struct parquet_name *name;

	*shape = (struct parquet_shape){ .has_sizes = row != NULL };
	for (int i = 0; row && i < 6; i++)
		shape->sizes[i] = sqlite3_column_int64(row, i + 2);
	name = name_of(r, row ? sqlite3_column_int64(row, 1) : 0, true);
	if (!name)
		return -ENOMEM;
	shape->name = (size_t)(name - r->names);
	shape->is_transfer = name->text && kinds_transfer_of(name->text) != KINDS_NO_TRANSFER;
	return 0;
}

/* NULL: out of memory. Valid until the next call, as its name. */
static const struct parquet_shape *shape_of(struct parquet_rows *r, int64_t id)
{
	uint64_t slot = (uint64_t)id % PARQUET_SHAPES;
	struct parquet_shape read, *grown;
	uint64_t found;

	if (r->recent[slot].slot_plus_1 && r->recent[slot].id == id)
		return &r->shapes[r->recent[slot].slot_plus_1 - 1];
	if (!map_get(&r->shape_index, (uint64_t)id, &found)) {
		if (r->nr_shapes >= MAX_SHAPES)
			forget_shapes(r);
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
	r->recent[slot].id = id;
	r->recent[slot].slot_plus_1 = found + 1;
	return &r->shapes[found];
}

/* ---- operations ---- */

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
		parquet_chunk_string(c, query_text(row, i));
	else
		parquet_chunk_null(c);
}

/* Begin and end, unless they are only a position on the time axis; the ids behind them, and
 * flags. */
static void put_times(const struct parquet_rows *r, struct parquet_chunk *c,
		      const struct rows_op *op)
{
	int64_t flags = op->flags;

	put_known(&c[0], !(flags & QUERY_F_PLACED), op->start);
	put_known(&c[1], !(flags & (QUERY_F_PLACED | REC_F_UNFINISHED)), op->end);
	put_id(r, &c[2], op->correlation);
	put_id(r, &c[3], op->call);
	put_id(r, &c[4], op->marker);
	parquet_chunk_int(&c[5], flags);
}

static int64_t gpu_of(const struct parquet_rows *r, const struct rows_op *op)
{
	/* a merged file has more hosts than one: RPD's stride */
	return r->q->ours && op->gpu >= 0 ? op->gpu % 1000 : op->gpu;
}

/* ---- threads and communicators ---- */

static void put_thread(struct parquet_rows *r, struct parquet_chunk *c, int64_t thread_id)
{
	if (thread_id && thread_id != r->thread_id) {
		sqlite3_stmt *row = query_row(r->thread, thread_id);

		r->thread_id = row ? thread_id : 0;
		r->tid = row ? sqlite3_column_int64(row, 0) : 0;
	}
	put_known(c, thread_id && thread_id == r->thread_id, r->tid);
}

/* The communicator of the call of RCCL that launched a kernel of collectives. 0 or -errno. */
static int put_communicator(struct parquet_rows *r, struct parquet_chunk *c,
			    const struct rows_op *op)
{
	sqlite3_stmt *row = r->rccl && op->call ? query_row(r->launch, op->call) : NULL;
	struct collective_launch launch = { 0 };
	char id[20];
	int ret = 0;

	if (row) {
		const struct collective_call call = { .id = op->call,
						      .pid = sqlite3_column_int64(row, 0),
						      .tid = sqlite3_column_int64(row, 1),
						      .begin = sqlite3_column_int64(row, 2),
						      .name = sqlite3_column_int64(row, 3) };

		/* a GPU of a process */
		ret = collective_calls_find(r->rccl, &call,
					    (size_t)((op->id >> 32) * 1000 + gpu_of(r, op)),
					    &launch);
	}
	if (!launch.id) {
		parquet_chunk_null(c);
	} else {
		snprintf(id, sizeof(id), "%016" PRIx64, launch.id);
		parquet_chunk_string(c, id);
	}
	return ret;
}

static int put_dispatch(struct parquet_rows *r, const struct rows_op *op, int64_t thread_id)
{
	struct parquet_file *f = r->files[PARQUET_DISPATCHES];
	struct parquet_chunk *c = parquet_file_columns(f);
	const struct parquet_shape *shape = op->shape ? shape_of(r, op->shape) : NULL;
	const struct parquet_name *name;
	int ret = 0;

	if (op->shape && !shape)
		return -ENOMEM;
	name = shape && r->names[shape->name].text ? &r->names[shape->name] :
						     name_of(r, op->name, false);
	if (!name)
		return -ENOMEM;
	parquet_chunk_int(&c[D_ID], op->id - r->first);
	put_known(&c[D_PID], r->pid >= 0, r->pid);
	if (name->text)
		parquet_chunk_text(&c[D_KERNEL], name->text, name->size, name->hash);
	else
		parquet_chunk_null(&c[D_KERNEL]);
	put_known(&c[D_GPU], op->gpu >= 0, gpu_of(r, op));
	parquet_chunk_int(&c[D_QUEUE], op->queue);
	put_known(&c[D_STREAM], op->stream > 0, op->stream);
	for (size_t i = 0; i < 6; i++)
		put_known(&c[D_GRID_X + i], shape && shape->has_sizes, shape ? shape->sizes[i] : 0);
	put_times(r, &c[D_BEGIN], op);
	put_thread(r, &c[D_TID], thread_id);
	if (!name->is_collective)
		parquet_chunk_null(&c[D_COMMUNICATOR]);
	else
		ret = put_communicator(r, &c[D_COMMUNICATOR], op);
	return ret ? ret : parquet_file_row(f);
}

static int put_copy(struct parquet_rows *r, const struct rows_op *op)
{
	struct parquet_file *f = r->files[PARQUET_COPIES];
	struct parquet_chunk *c = parquet_file_columns(f);
	sqlite3_stmt *row = query_row(r->copy, op->id);
	sqlite3_stmt *type = row ? NULL : query_row(r->type, op->type);

	parquet_chunk_int(&c[C_ID], op->id - r->first);
	put_known(&c[C_PID], r->pid >= 0, r->pid);
	parquet_chunk_string(&c[C_KIND], row ? query_text(row, 0) : query_text(type, 0));
	put_known(&c[C_BYTES], row && sqlite3_column_type(row, 1) != SQLITE_NULL,
		  row ? sqlite3_column_int64(row, 1) : 0);
	put_known(&c[C_GPU], op->gpu >= 0, gpu_of(r, op));
	parquet_chunk_int(&c[C_QUEUE], op->queue);
	put_known(&c[C_STREAM], op->stream > 0, op->stream);
	for (int i = 0; i < 3; i++)
		put_column(&c[C_SRC + i], row, i + 2);
	put_times(r, &c[C_BEGIN], op);
	return parquet_file_row(f);
}

static int put_any(struct parquet_rows *r, const struct rows_op *op, int64_t thread_id)
{
	r->q->res->nr_ops++;
	return op->copy ? put_copy(r, op) : put_dispatch(r, op, thread_id);
}

static int put_operation(void *rows, const struct rows_op *op)
{
	return put_any(rows, op, 0);
}

/* ---- of a database of rtl ---- */

/* The columns that are read of each operation. */
enum {
	READ_ID,
	READ_GPU,
	READ_QUEUE,
	READ_START,
	READ_END,
	READ_MARKER,
	READ_CORRELATION,
	READ_SHAPE,
	READ_FLAGS,
	READ_THREAD,
	READ_CAUSE /* of a compact file */
};
#define READ_COLUMNS                                                                               \
	"O.id, O.gpuId, O.queueId, O.start, O.\"end\", O.roctxId, O.correlation_id, K.shape_id, K.flags, K.thread_id"
#define READ_OPS "rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id "
#define READ_RANGE "WHERE O.id BETWEEN ?1 AND ?2"

static int step_cause(struct parquet_rows *r)
{
	int rc = sqlite3_step(r->cause);

	r->cause_op = rc == SQLITE_ROW ? sqlite3_column_int64(r->cause, 0) : INT64_MAX;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : query_fail_sql(r->q);
}

/* The call and the stream. Operations come in the order of their ids, as causes do. */
static int find_cause(struct parquet_rows *r, struct rows_op *op)
{
	int ret = 0;

	if (r->causes) {
		if (cause_read(r->causes, r->q->db, op) != SQLITE_OK)
			return query_fail_sql(r->q);
		return 0;
	}
	while (ret == 0 && r->cause_op < op->id)
		ret = step_cause(r);
	if (ret == 0 && r->cause_op == op->id) {
		op->call = sqlite3_column_int64(r->cause, 1);
		op->stream = sqlite3_column_int64(r->cause, 2);
	}
	return ret;
}

/* One that is no dispatch of rtl's: a copy, or an operation of a file of RPD that was merged. */
static void find_other(struct parquet_rows *r, struct rows_op *op)
{
	sqlite3_stmt *row = query_row(r->copy, op->id);

	op->copy = row != NULL;
	op->flags = row ? sqlite3_column_int64(row, 5) : 0;
	row = query_row(r->description, op->id);
	op->name = row ? sqlite3_column_int64(row, 0) : 0;
}

static int take_operation(void *arg, sqlite3_value **values)
{
	struct parquet_rows *r = arg;
	struct rows_op op = { .id = sqlite3_value_int64(values[READ_ID]),
			      .gpu = sqlite3_value_int64(values[READ_GPU]),
			      .queue = sqlite3_value_int64(values[READ_QUEUE]),
			      .start = sqlite3_value_int64(values[READ_START]),
			      .end = sqlite3_value_int64(values[READ_END]),
			      .marker = sqlite3_value_int64(values[READ_MARKER]),
			      .correlation = sqlite3_value_int64(values[READ_CORRELATION]),
			      .shape = sqlite3_value_int64(values[READ_SHAPE]),
			      .flags = sqlite3_value_int64(values[READ_FLAGS]) };
	int ret;

	if (r->causes && r->q->is_compact)
		row_take(&op.call, values + READ_CAUSE, CAUSE_NR);
	if (!op.shape) {
		find_other(r, &op);
	} else {
		const struct parquet_shape *shape = shape_of(r, op.shape);

		if (!shape)
			return query_fail_memory(r->q);
		op.copy = shape->is_transfer;
	}
	ret = find_cause(r, &op);
	if (ret == 0)
		ret = put_any(r, &op, sqlite3_value_int64(values[READ_THREAD]));
	return ret == -ENOMEM ? query_fail_memory(r->q) : ret;
}

static int read_ours(struct parquet_rows *r)
{
	int ret = r->q->causes_ordered ? cause_open(r->q, &r->causes) : 0;
	bool has_causes = r->causes && r->q->is_compact;

	if (ret == 0) {
		sqlite3_reset(r->cause);
		query_bind_range(r->q, r->cause);
		r->cause_op = INT64_MIN;
		ret = query_scan(r->q, has_causes ? READ_COLUMNS ", " CAUSE_COLUMNS : READ_COLUMNS,
				 has_causes ? READ_OPS CAUSE_JOIN READ_RANGE : READ_OPS READ_RANGE,
				 take_operation, r);
	}
	cause_close(r->causes);
	r->causes = NULL;
	return ret;
}

/* ---- all ---- */

static const char copies_sql[] =
	"DROP TABLE IF EXISTS temp.parquet_copy; CREATE TEMP TABLE parquet_copy (op_id INTEGER PRIMARY KEY, kind TEXT, "
	"bytes INTEGER, src TEXT, dst TEXT, means TEXT, flags INTEGER); INSERT OR IGNORE INTO parquet_copy SELECT op_id, "
	"kind, bytes, src, dst, means, flags FROM temp.rtl_transfer";

static int prepare_ours(struct parquet_rows *r)
{
	const struct query_sql list[] = {
		{ &r->shape.stmt, "SELECT id, kernel_id, grid_x, grid_y, grid_z, group_x, group_y, "
				  "group_z FROM rtl_shape WHERE id >= ?1 ORDER BY id" },
		{ &r->kernel, "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1" },
		{ &r->copy,
		  "SELECT kind, bytes, src, dst, means, flags FROM temp.parquet_copy WHERE "
		  "op_id = ?1" },
		{ &r->thread, "SELECT tid FROM rtl_thread WHERE id = ?1" },
		{ &r->launch, "SELECT pid, tid, start, apiName_id FROM rocpd_api WHERE id = ?1" },
		{ &r->description, "SELECT description_id FROM rocpd_op WHERE id = ?1" },
		{ &r->cause, "SELECT L.op_id, L.api_id, S.number FROM temp.query_cause L LEFT JOIN "
			     "temp.query_stream S ON S.block = L.op_id >> 32 AND S.name = L.stream "
			     "WHERE L.op_id BETWEEN ?1 AND ?2 ORDER BY L.op_id" },
	};
	int ret = transfer_define(r->q);

	if (ret == 0)
		ret = query_run(r->q, copies_sql);
	if (ret == 0)
		ret = collective_calls_open(r->q, &r->rccl);
	return ret ? ret : query_prepare_all(r->q, list, sizeof(list) / sizeof(list[0]));
}

int parquet_ops_begin(struct parquet_rows *r)
{
	const struct query_sql list[] = { { &r->text, QUERY_STRING },
					  { &r->type, ROWS_TYPE_NAME } };
	int ret = query_prepare_all(r->q, list, 2);

	return ret || !r->q->ours ? ret : prepare_ours(r);
}

int parquet_ops_add(struct parquet_rows *r)
{
	return r->q->ours ? read_ours(r) : rows_by_time(r->q, put_operation, r);
}

void parquet_ops_end(struct parquet_rows *r)
{
	forget_names(r);
	alloc_free(r->names);
	alloc_free(r->shapes);
	map_fini(&r->shape_index);
	map_fini(&r->name_index);
	sqlite3_finalize(r->shape.stmt);
	sqlite3_finalize(r->kernel);
	sqlite3_finalize(r->text);
	sqlite3_finalize(r->copy);
	sqlite3_finalize(r->type);
	sqlite3_finalize(r->description);
	sqlite3_finalize(r->cause);
	sqlite3_finalize(r->thread);
	sqlite3_finalize(r->launch);
	collective_calls_close(r->rccl);
}
