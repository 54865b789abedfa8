/* SPDX-License-Identifier: MIT */
/* rows.c - operations and calls of a database, in the order in which exporters write them */
#include "query/rows.h"

#include <errno.h>
#include <string.h>

#include "query/cause.h"
#include "query/rowfile.h"
#include "query/sorter.h"
#include "query/timeline.h"
#include "store/map.h"

/* ---- preparation ---- */

/* The earliest begin of all events; 0 without events. */
static int64_t find_first_ns(struct query *q)
{
	/* a rowfile knows the answers from IN_ROWFILE on */
	enum { IN_ROWFILE = 2 };
	static const char *const any[] = {
		"SELECT min(begin_ns) FROM rtl_op_runtime WHERE begin_ns > 0",
		"SELECT min(begin_ns) FROM rtl_op_barrier WHERE begin_ns > 0",
		"SELECT min(start) FROM rocpd_op WHERE start > 0",
		"SELECT min(start) FROM rocpd_api WHERE start > 0",
	};
	int64_t first = q->rows ? rowfile_facts(q->rows).first_ns : INT64_MAX;

	for (size_t i = 0; i < (q->rows ? IN_ROWFILE : sizeof(any) / sizeof(any[0])); i++) {
		int64_t ns = query_number(q->db, any[i], INT64_MAX);

		if (ns < first)
			first = ns;
	}
	return first == INT64_MAX ? 0 : first;
}

static uint64_t count_rows(const struct query *q)
{
	if (q->rows) {
		struct rowfile_facts facts = rowfile_facts(q->rows);

		return facts.nr_ops + facts.nr_apis;
	}
	return (uint64_t)query_number(q->db, "SELECT count(*) FROM rocpd_op", 0) +
	       (uint64_t)query_number(q->db, "SELECT count(*) FROM rocpd_api", 0);
}

/* The tracer of C++ from which this project has its name has markers as operations of GPU -1. */
#define RPD_MARKER "O.gpuId < 0 AND T.string = 'UserMarker'"

int rows_prepare(struct query *q)
{
	int64_t nr_markers;
	int ret;

	if (q->is_prepared)
		return 0;
	q->total = 2 * count_rows(q) +
		   (uint64_t)query_number(q->db, "SELECT count(*) FROM rtl_op_runtime", 0);
	q->first_ns = q->no_origin ? 0 : find_first_ns(q);
	ret = query_read_processes(q);
	if (ret == 0)
		ret = q->reads_rows ? cause_prepare(q) : cause_make(q, true);
	if (ret == 0)
		ret = transfer_prepare(q);
	if (ret)
		return ret;
	nr_markers = q->ours ?
			     0 :
			     query_number(q->db,
					  "SELECT count(*) FROM rocpd_op O JOIN rocpd_string T ON "
					  "T.id = O.opType_id WHERE " RPD_MARKER,
					  0);
	if (nr_markers)
		job_warn(
			q->res,
			"%s: %lld ranges, which are operations of GPU -1, were left out: the file is of "
			"rocm-trace-lite 0.3",
			q->path, (long long)nr_markers);
	q->has_graphs =
		query_has(q->db, "rtl_graph_op") &&
		query_number(q->db, "SELECT EXISTS (SELECT 1 FROM rocpd_graphLaunchapi)", 0);
	q->is_prepared = true;
	if (!q->has_graphs)
		return 0;
	/* the view reads all launches to count replays: evaluate it once, not for each operation */
	return query_run(
		q,
		"DROP TABLE IF EXISTS temp.query_graph; CREATE TEMP TABLE query_graph (op_id INTEGER PRIMARY KEY, exec TEXT, replay "
		"INTEGER, node INTEGER); INSERT OR IGNORE INTO query_graph SELECT op_id, exec, "
		"replay, node FROM rtl_graph_op");
}

int64_t rows_stream_key(const struct rows_op *op)
{
	return op->stream << 32 | (op->id >> 32 & UINT32_MAX);
}

bool rows_timed(int64_t begin, int64_t end, int64_t flags)
{
	return !(flags & QUERY_UNTIMED) && end >= begin;
}

/* ---- kinds ---- */

bool rows_has_op(const struct query *q, const struct rows_op *op)
{
	return !(q->left_out & (op->copy ? QUERY_COPY : QUERY_KERNEL));
}

bool rows_has_call(const struct query *q, const struct rows_call *call, const char *domain)
{
	uint32_t kind = call->marker		       ? QUERY_MARKER :
			strcmp(domain, "hip_api") == 0 ? QUERY_HIP :
			strcmp(domain, "hsa_api") == 0 ? QUERY_HSA :
							 0;

	return !(q->left_out & kind);
}

/* ---- operations ---- */

static int fail_sorting(struct query *q, int error)
{
	return query_fail(q, error,
			  "%s: no space to sort its rows: %s; choose another directory with TMPDIR",
			  q->path, strerror(-error));
}

/* Columns, and what is behind FROM; of files of RPD, of our own, and of those with the columns of
 * `is_compact`; the latter with causes in the same row. */
struct rows_sql {
	const char *columns, *from;
};
enum { LAYOUT_RPD, LAYOUT_OURS, LAYOUT_COMPACT, LAYOUT_CAUSES, LAYOUTS };

static size_t layout_of(const struct query *q)
{
	return q->is_compact ? LAYOUT_COMPACT : q->ours ? LAYOUT_OURS : LAYOUT_RPD;
}

static size_t layout_of_ops(const struct query *q)
{
	return q->is_compact && q->causes_ordered ? LAYOUT_CAUSES : layout_of(q);
}

#define RANGE(id) " " id " BETWEEN ?1 AND ?2"
#define ORDER_OWN " ORDER BY 3, 4, O.op_id >> 32, 1"

#define COLUMNS(queue, rest)                                                                       \
	"O.start, O.id, O.gpuId, " queue                                                           \
	", O.sequenceId, O.\"end\", O.description_id, O.opType_id, " rest

#define OURS_OF(kernel, cause)                                                                     \
	"O.roctxId, O.correlation_id, " kernel "shape_id, coalesce(" kernel "flags, C.flags, 0), " \
	"coalesce(C.kind + 1, 0), C.bytes, C.src_agent_id, C.dst_agent_id, " cause
#define OURS(cause) OURS_OF("K.", cause)
#define OURS_FROM                                                                                  \
	"rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON "       \
	"C.op_id = O.id "
#define COMPACT(cause) OURS_OF("O.rtl_", cause)
/* what has a shape is no copy, and is not looked for among them */
#define COMPACT_FROM                                                                               \
	"rocpd_op O LEFT JOIN rtl_op_copy C ON C.op_id = CASE WHEN O.rtl_shape_id IS NULL THEN "   \
	"O.id END "

/* RPD has no sizes of operations; its type names identify copies */
#define RPD(cause) "0, 0, 0, 0, " KINDS_IS_COPY("T.string") ", 0, 0, 0, " cause
#define RPD_FROM                                                                                   \
	"rocpd_op O CROSS JOIN rocpd_string T ON T.id = O.opType_id AND NOT (" RPD_MARKER ") "

#define CAUSE "L.api_id, S.number"

#define ANY_STREAM                                                                                 \
	"LEFT JOIN query_cause L ON L.op_id = O.id LEFT JOIN query_stream S ON S.block = "         \
	"O.id >> 32 AND S.name = L.stream WHERE" RANGE("O.id")
#define KNOWN_STREAM                                                                               \
	"JOIN query_cause L ON L.op_id = O.id JOIN query_stream S ON S.block = O.id >> "           \
	"32 AND S.name = L.stream WHERE" RANGE("O.id")

#define BY_QUEUE(rest, from)                                                                       \
	{                                                                                          \
		COLUMNS("O.queueId", rest), from ANY_STREAM                                        \
	}
#define BY_STREAM(rest, from)                                                                      \
	{                                                                                          \
		COLUMNS("S.number", rest), from KNOWN_STREAM                                       \
	}

/* with causes of cause_read() the stream is known later */
#define BESIDE(rest, from)                                                                         \
	{                                                                                          \
		COLUMNS("O.queueId", rest), from "WHERE" RANGE("O.id")                             \
	}

static const struct rows_sql by_queue_or_stream[LAYOUTS][2] = {
	[LAYOUT_RPD] = { BY_QUEUE(RPD(CAUSE), RPD_FROM), BY_STREAM(RPD(CAUSE), RPD_FROM) },
	[LAYOUT_OURS] = { BY_QUEUE(OURS(CAUSE), OURS_FROM), BY_STREAM(OURS(CAUSE), OURS_FROM) },
	[LAYOUT_COMPACT] = { BY_QUEUE(COMPACT(CAUSE), COMPACT_FROM),
			     BY_STREAM(COMPACT(CAUSE), COMPACT_FROM) },
};
static const struct rows_sql beside[LAYOUTS] = {
	[LAYOUT_OURS] = BESIDE(OURS("0, 0"), OURS_FROM),
	[LAYOUT_CAUSES] = BESIDE(COMPACT(CAUSE_COLUMNS), COMPACT_FROM CAUSE_JOIN),
};

/* these are few: SQLite sorts them */
static const char runtime_sql[] =
	"SELECT O.begin_ns, O.op_id, O.gpu_id, O.queue_id, O.packet_index, O.end_ns, S.kernel_id, 0, "
	"O.marker_id, O.correlation_id, O.shape_id, O.flags, 0, 0, 0, 0, 0, 0 FROM rtl_op_runtime O "
	"JOIN rtl_shape S ON S.id = O.shape_id WHERE" RANGE("O.op_id") ORDER_OWN;

static const char barriers_sql[] =
	"SELECT O.begin_ns, O.op_id, coalesce(O.gpu_id, -1), O.queue_id, O.packet_index, O.end_ns, 0, "
	"0, 0, O.correlation_id, 0, O.flags, 0, 0, 0, 0, 0, 0 FROM rtl_op_barrier O "
	"WHERE" RANGE("O.op_id") ORDER_OWN;

/* of those that are read and sorted */
enum { OPS_COLUMNS = ROW_BEFORE(struct rows_op, call_pid) };

/* Operations on their way through a sorter. */
struct ops {
	struct query *q;
	struct sorter *sorter;
	struct cause_reader *causes; /* NULL: they are columns, or there are none */
	bool by_stream;		     /* with `causes` */
	rows_op_fn each;
	void *arg;
	bool failed; /* `each` */
};

/* GPU, queue or stream, process and begin. */
static int compare_ops(const void *x, const void *y)
{
	const struct rows_op *a = x, *b = y;
	int64_t block_a = a->id >> 32, block_b = b->id >> 32;

	if (a->gpu != b->gpu)
		return a->gpu < b->gpu ? -1 : 1;
	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	if (block_a != block_b)
		return block_a < block_b ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

static int pass_op(struct ops *o, const void *row, bool transfers)
{
	struct rows_op op = { 0 };
	int ret;

	memcpy(&op, row, ROW_SIZE(OPS_COLUMNS));
	if (transfers)
		transfer_apply(o->q, &op);
	ret = o->each(o->arg, &op);
	if (ret == -ENOMEM)
		query_fail_memory(o->q);
	o->failed = ret != 0;
	return ret;
}

static int add_op(void *arg, sqlite3_value **values)
{
	struct ops *o = arg;
	struct rows_op op;
	int ret;

	row_take(&op, values, o->q->is_compact && o->causes ? ROW_COLUMNS(op) : OPS_COLUMNS);
	if (o->causes) {
		if (cause_read(o->causes, o->q->db, &op) != SQLITE_OK)
			return query_fail_sql(o->q);
		ret = cause_name_streams(o->causes);
		if (ret || (o->by_stream && !op.stream))
			return ret;
		if (o->by_stream)
			op.queue = op.stream;
	}
	ret = sorter_add(o->sorter, &op);
	return ret ? fail_sorting(o->q, ret) : 0;
}

static int pass_sorted_op(void *arg, const void *row)
{
	struct ops *o = arg;

	return pass_op(o, row, !o->q->as_dispatched);
}

static int read_sorted(struct ops *o, enum rows_order order)
{
	size_t layout = layout_of_ops(o->q);
	const struct rows_sql *sql = o->q->causes_ordered ? &beside[layout] :
							    &by_queue_or_stream[layout][order];
	int ret = o->q->causes_ordered ? cause_open(o->q, &o->causes) : 0;

	o->by_stream = order == ROWS_BY_STREAM;
	if (ret == 0) {
		o->sorter = sorter_new(ROW_SIZE(OPS_COLUMNS), compare_ops, 0);
		ret = o->sorter ? query_scan(o->q, sql->columns, sql->from, add_op, o) :
				  query_fail_memory(o->q);
	}
	cause_close(o->causes);
	if (ret == 0) {
		ret = sorter_read(o->sorter, pass_sorted_op, o);
		if (ret && !o->failed)
			ret = ret == -ENOMEM ? query_fail_memory(o->q) : fail_sorting(o->q, ret);
	}
	sorter_free(o->sorter);
	return ret;
}

static int read_few(struct ops *o, const char *sql)
{
	struct rows_op op;
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(o->q, &stmt, sql);

	if (ret == 0)
		query_bind_range(o->q, stmt);
	while (ret == 0 && (ret = query_step(o->q, stmt)) == 1) {
		row_read(&op, stmt, OPS_COLUMNS);
		ret = pass_op(o, &op, false);
	}
	sqlite3_finalize(stmt);
	return ret;
}

int rows_ops(struct query *q, enum rows_order order, rows_op_fn each, void *arg)
{
	struct ops o = { .q = q, .each = each, .arg = arg };

	if (order == ROWS_BY_QUEUE || order == ROWS_BY_STREAM)
		return read_sorted(&o, order);
	if (!q->ours)
		return 0;
	return read_few(&o, order == ROWS_RUNTIME ? runtime_sql : barriers_sql);
}

/* Causes of the table are read beside the operations, which another thread may read from the file
 * alone. Both are in the order of ids. */
struct by_time {
	struct query *q;
	rows_op_fn each;
	void *arg;
	sqlite3_stmt *cause;	     /* NULL: no cause is known */
	int64_t op;		     /* the operation of its row; INT64_MAX: it has none */
	int64_t last;		     /* the operation before */
	struct cause_reader *reader; /* NULL: causes are in the table */
};

static const char cause_sql[] =
	"SELECT L.op_id, L.api_id, S.number FROM temp.query_cause L LEFT JOIN temp.query_stream S ON S.block = "
	"L.op_id >> 32 AND S.name = L.stream WHERE L.op_id >= ?1 ORDER BY L.op_id";

static int step_cause(struct by_time *b)
{
	int rc = sqlite3_step(b->cause);

	b->op = rc == SQLITE_ROW ? sqlite3_column_int64(b->cause, 0) : INT64_MAX;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : query_fail_sql(b->q);
}

/* From the table. */
static int find_cause(struct by_time *b, struct rows_op *op)
{
	int ret = 0;

	if (b->op < op->id && b->last < op->id)
		ret = step_cause(b);
	/* another process, or a file with a row out of order */
	if (ret == 0 && (op->id < b->last || b->op < op->id)) {
		sqlite3_reset(b->cause);
		sqlite3_bind_int64(b->cause, 1, op->id);
		ret = step_cause(b);
	}
	b->last = op->id;
	if (ret == 0 && b->op == op->id) {
		op->call = sqlite3_column_int64(b->cause, 1);
		op->stream = sqlite3_column_int64(b->cause, 2);
	}
	return ret;
}

/* On the thread that passes rows on, so that these need no copy. */
static int complete_row(void *arg, void *row)
{
	struct by_time *b = arg;
	struct rows_op *op = row;
	int ret = b->cause ? find_cause(b, op) : 0;

	if (ret == 0 && b->reader)
		ret = cause_name_streams(b->reader);
	if (ret == 0 && !b->q->as_dispatched)
		transfer_apply(b->q, op);
	return ret;
}

static int pass_by_time(void *arg, const void *row)
{
	const struct by_time *b = arg;
	int ret = b->each(b->arg, row);

	return ret == -ENOMEM ? query_fail_memory(b->q) : ret;
}

/* On the thread that reads. */
static int extend_row(void *arg, sqlite3 *db, void *row)
{
	const struct by_time *b = arg;
	struct rows_op *op = row;

	if (b->reader)
		return cause_read(b->reader, db, op);
	memset(&op->call, 0, sizeof(*op) - offsetof(struct rows_op, call));
	return SQLITE_OK;
}

int rows_by_time(struct query *q, rows_op_fn each, void *arg)
{
#define BY_TIME(rest, from)                                                                        \
	{                                                                                          \
		COLUMNS("O.queueId", rest), from "WHERE" RANGE("O.id"), sizeof(struct rows_op),    \
			complete_row, extend_row, NULL, NULL, NULL                                 \
	}
	static const struct timeline_rows rows[LAYOUTS] = {
		[LAYOUT_RPD] = BY_TIME(RPD("0"), RPD_FROM),
		[LAYOUT_OURS] = BY_TIME(OURS("0"), OURS_FROM),
		[LAYOUT_COMPACT] = BY_TIME(COMPACT("0"), COMPACT_FROM),
		[LAYOUT_CAUSES] = BY_TIME(COMPACT(CAUSE_COLUMNS), COMPACT_FROM CAUSE_JOIN),
	};
#undef BY_TIME
	struct by_time b = { q, each, arg, NULL, INT64_MIN, INT64_MIN, NULL };
	int ret = q->causes_ordered ? cause_open(q, &b.reader) : 0;

	if (ret == 0 && !b.reader &&
	    query_number(q->db, "SELECT EXISTS (SELECT 1 FROM temp.query_cause)", 0))
		ret = query_prepare(q, &b.cause, cause_sql);
	if (b.cause)
		sqlite3_bind_int64(b.cause, 1, INT64_MIN);
	if (ret == 0)
		ret = timeline_read(q, &rows[layout_of_ops(q)], TIMELINE_LOOSE, pass_by_time, NULL,
				    &b);
	sqlite3_finalize(b.cause);
	cause_close(b.reader);
	return ret;
}

/* ---- markers and calls ---- */

/* texts are looked up by their ids later: sorting moves numbers only */
#define CALL_COLUMNS "A.id, A.pid, A.tid, A.start, A.\"end\", A.apiName_id, A.args_id, "
#define CALL_FROM "rocpd_api A "
#define CALL_RANGE "WHERE" RANGE("A.id")

struct calls {
	struct query *q;
	struct sorter *sorter;
	struct map markers,
		others; /* ids of names of markers, and of domains of rows that are no calls */
	rows_call_fn each;
	void *arg;
	bool failed; /* `each` */
};

/* Process, thread and begin, the longest first. */
static int compare_calls(const void *x, const void *y)
{
	const struct rows_call *a = x, *b = y;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int add_call(void *arg, sqlite3_value **values)
{
	struct calls *c = arg;
	struct rows_call call;
	uint64_t found;
	int ret;

	row_take(&call, values, ROW_COLUMNS(call));
	/* the column is that of the domain */
	if (map_get(&c->others, (uint64_t)call.marker, &found))
		return 0;
	call.marker = map_get(&c->markers, (uint64_t)call.name, &found);
	ret = sorter_add(c->sorter, &call);
	return ret ? fail_sorting(c->q, ret) : 0;
}

static int pass_call(void *arg, const void *row)
{
	struct calls *c = arg;
	int ret = query_progress(c->q);

	if (ret == 0)
		ret = c->each(c->arg, row);
	c->failed = ret != 0;
	return ret;
}

#define CALL_OURS CALL_COLUMNS "A.domain_id, coalesce(M.kind, -1), M.unclosed, "
#define CALL_MARKERS CALL_FROM "LEFT JOIN rtl_marker_data M ON M.api_id = A.id "
/* what has a parent, or 0, is a call, and is not looked for among markers */
#define CALL_COMPACT                                                                               \
	CALL_FROM "LEFT JOIN rtl_marker_data M ON M.api_id = CASE WHEN A.rtl_parent_id IS NULL "   \
		  "THEN A.id END "

static const struct rows_sql calls_sql[3] = {
	{ CALL_COLUMNS "0, -1, 0, 0, 0, 0", CALL_FROM CALL_RANGE },
	{ CALL_OURS "X.correlation_id, X.status, X.parent_id",
	  CALL_MARKERS "LEFT JOIN rtl_api_data X ON X.api_id = A.id " CALL_RANGE },
	/* of a row that is no call they are NULL, as of the join */
	{ CALL_OURS
	  "CASE WHEN A.rtl_parent_id IS NOT NULL THEN coalesce(A.rtl_correlation_id, A.id) END, "
	  "A.rtl_status, A.rtl_parent_id",
	  CALL_COMPACT CALL_RANGE },
};

int rows_calls(struct query *q, rows_call_fn each, void *arg)
{
	struct calls c = { .q = q, .each = each, .arg = arg };
	int ret = query_ids(q, &c.markers, "UserMarker");

	c.sorter = sorter_new(sizeof(struct rows_call), compare_calls, 0);
	if (!c.sorter)
		ret = query_fail_memory(q);
	if (ret == 0 && q->ours)
		ret = query_ids(q, &c.others, "rtl");
	if (ret == 0)
		ret = query_scan(q, calls_sql[layout_of(q)].columns, calls_sql[layout_of(q)].from,
				 add_call, &c);
	if (ret == 0) {
		ret = sorter_read(c.sorter, pass_call, &c);
		if (ret == -ENOMEM)
			query_fail_memory(q);
		else if (ret && !c.failed)
			fail_sorting(q, ret);
	}
	sorter_free(c.sorter);
	map_fini(&c.markers);
	map_fini(&c.others);
	return ret;
}
