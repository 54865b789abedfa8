/* SPDX-License-Identifier: MIT */
/* table_mpi.c - calls of MPI by function, with what they send and what they do on the GPU
 *
 * An operation belongs to the call in which its thread was when it was launched; where no call of
 * HIP is known, as for copies that UCX starts by HSA, when it began. Calls of MPI lie beside each
 * other on a thread: a call within a call is not recorded. Memory grows by 24 bytes for each of
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_calls.h"
#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "query/kinds.h"

enum { C_TOTAL, C_CALLS, C_MEAN, C_MAX, C_BYTES, C_GPU, C_OPS, C_COPIED, C_NAME, C_NR };

static const struct sheet_column columns[C_NR] = {
	[C_TOTAL] = { "total_ns", "TIME", SHEET_TIME },
	[C_CALLS] = { "calls", "CALLS", SHEET_COUNT },
	[C_MEAN] = { "mean_ns", "MEAN", SHEET_TIME, 2 },
	[C_MAX] = { "max_ns", "MAX", SHEET_TIME, 3 },
	[C_BYTES] = { "bytes", "BYTES", SHEET_BYTES, 1 },
	[C_GPU] = { "gpu_ns", "GPU TIME", SHEET_TIME },
	[C_OPS] = { "gpu_ops", "GPU OPS", SHEET_COUNT, 4 },
	[C_COPIED] = { "gpu_bytes", "COPIED", SHEET_BYTES, 5 },
	[C_NAME] = { "name", "FUNCTION", SHEET_NAME, .is_last = true },
};

struct row {
	uint64_t calls, total_ns, max_ns, bytes;
	uint64_t gpu_ns, gpu_ops, gpu_bytes;
};

struct call {
	int64_t begin, end;
	uint32_t thread, row;
};

struct reader {
	struct tables_job *job;
	struct map threads; /* hash of process and tid -> number */
	struct key {
		int64_t process, tid;
		size_t first, nr; /* calls */
	} * keys;
	size_t nr_threads, max_threads;
	sqlite3_stmt *text;
	struct map names; /* in rocpd_string, where each process has its own -> number */
	char **functions;
	size_t nr_names, max_names;
	struct row *rows; /* of a name: one for each part */
	struct call *calls;
	size_t nr_calls, max_calls;
	size_t last;		/* where the last operation was found */
	int64_t block, process; /* of the last id: rows of a process follow each other */
};

/* SIZE_MAX: none has it, or with `add`, there is no memory. */
static size_t thread_of(struct reader *r, int64_t process, int64_t tid, bool add)
{
	const int64_t key[2] = { process, tid };
	uint64_t hash = map_hash(key, sizeof(key)), at;
	struct key *grown;

	for (; map_get(&r->threads, hash, &at); hash++)
		if (r->keys[at].process == process && r->keys[at].tid == tid)
			return (size_t)at;
	if (!add)
		return SIZE_MAX;
	grown = alloc_grow(r->keys, r->nr_threads, &r->max_threads, 16, sizeof(*grown));
	if (!grown)
		return SIZE_MAX;
	r->keys = grown;
	if (map_put(&r->threads, hash, r->nr_threads))
		return SIZE_MAX;
	r->keys[r->nr_threads] = (struct key){ process, tid, 0, 0 };
	return r->nr_threads++;
}

/* A function's number, the next one if it is new. SIZE_MAX: no memory. */
static size_t number_of(struct reader *r, const char *function)
{
	size_t max = r->max_names;
	char **functions;
	struct row *rows;

	for (size_t i = 0; i < r->nr_names; i++)
		if (strcmp(r->functions[i], function) == 0)
			return i;
	functions = alloc_grow(r->functions, r->nr_names, &r->max_names, 32, sizeof(*functions));
	if (!functions)
		return SIZE_MAX;
	r->functions = functions;
	if (r->max_names != max) {
		rows = alloc_resize(r->rows, r->max_names * r->job->parts.nr, sizeof(*rows));
		if (!rows)
			return SIZE_MAX;
		r->rows = rows;
	}
	functions[r->nr_names] = alloc_string(function);
	if (!functions[r->nr_names])
		return SIZE_MAX;
	memset(r->rows + r->nr_names * r->job->parts.nr, 0, r->job->parts.nr * sizeof(*r->rows));
	return r->nr_names++;
}

/* The rows of a name. SIZE_MAX: no memory. */
static size_t rows_of(struct reader *r, int64_t name)
{
	const char *function;
	uint64_t at;

	if (!map_get(&r->names, (uint64_t)name, &at)) {
		function = query_look_up(r->text, name);
		at = function ? number_of(r, function) : SIZE_MAX;
		if (at == SIZE_MAX || map_put(&r->names, (uint64_t)name, at))
			return SIZE_MAX;
	}
	return (size_t)at * r->job->parts.nr;
}

static int64_t process_of(struct reader *r, int64_t id)
{
	if (id >> 32 != r->block) {
		const struct query_process *found = query_process_of(r->job->t->q, id);

		r->block = id >> 32;
		r->process = found ? found->id : 0;
	}
	return r->process;
}

/* id, tid, begin, end, name, arguments */
static int take_call(void *arg, sqlite3_value **v)
{
	struct reader *r = arg;
	struct query *q = r->job->t->q;
	int64_t id = sqlite3_value_int64(v[0]), begin = sqlite3_value_int64(v[2]);
	int64_t end = sqlite3_value_int64(v[3]);
	const char *args = (const char *)sqlite3_value_text(v[5]);
	size_t rows = rows_of(r, sqlite3_value_int64(v[4]));
	size_t thread = thread_of(r, process_of(r, id), sqlite3_value_int64(v[1]), true);
	struct call *calls = alloc_grow(r->calls, r->nr_calls, &r->max_calls, 4096, sizeof(*calls));
	uint64_t ns = end > begin ? (uint64_t)(end - begin) : 0;
	struct row *row;

	if (calls)
		r->calls = calls;
	if (!calls || rows == SIZE_MAX || thread == SIZE_MAX)
		return query_fail_memory(q);
	rows += tables_part_of(r->job, id);
	calls[r->nr_calls++] = (struct call){ begin, end, (uint32_t)thread, (uint32_t)rows };
	row = &r->rows[rows];
	row->calls++;
	row->total_ns += ns;
	if (ns > row->max_ns)
		row->max_ns = ns;
	if (args)
		row->bytes += collective_calls_argument(args, "bytes=");
	return 0;
}

static int compare_calls(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The calls of each thread lie behind each other, by time. */
static void order_calls(struct reader *r)
{
	if (r->nr_calls)
		qsort(r->calls, r->nr_calls, sizeof(*r->calls), compare_calls);
	for (size_t i = 0; i < r->nr_calls; i++) {
		struct key *key = &r->keys[r->calls[i].thread];

		if (!key->nr++)
			key->first = i;
	}
}

/* The call of a thread during which `at` is, or NULL. */
static const struct call *call_at(struct reader *r, const struct key *key, int64_t at)
{
	size_t low = key->first, high = key->first + key->nr; /* of the first that begins later */

	/* operations come nearly in order */
	if (r->last >= low && r->last < high && r->calls[r->last].begin <= at &&
	    (r->last + 1 == high || r->calls[r->last + 1].begin > at))
		low = high = r->last + 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->calls[middle].begin <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == key->first)
		return NULL;
	r->last = low - 1;
	return at <= r->calls[r->last].end ? &r->calls[r->last] : NULL;
}

/* id, tid, begin of the launch, time, bytes */
static int take_op(void *arg, sqlite3_value **v)
{
	struct reader *r = arg;
	int64_t process = process_of(r, sqlite3_value_int64(v[0]));
	size_t thread = thread_of(r, process, sqlite3_value_int64(v[1]), false);
	const struct call *call;
	struct row *row;

	if (thread == SIZE_MAX)
		return 0;
	call = call_at(r, &r->keys[thread], sqlite3_value_int64(v[2]));
	if (!call)
		return 0;
	row = &r->rows[call->row];
	row->gpu_ops++;
	row->gpu_ns += (uint64_t)sqlite3_value_int64(v[3]);
	row->gpu_bytes += (uint64_t)sqlite3_value_int64(v[4]);
	return 0;
}

static int read_all(struct reader *r)
{
	static const char calls[] =
		"rocpd_api A LEFT JOIN rocpd_ustring U ON U.id = A.args_id WHERE A.domain_id IN (SELECT id "
		"FROM rocpd_string WHERE string = 'mpi')";
	/* a kernel or a copy */
	static const char ops[] =
		"rocpd_op O LEFT JOIN rtl_op_copy C ON C.op_id = O.id LEFT JOIN rtl_op_kernel K ON K.op_id = "
		"O.id AND C.op_id IS NULL JOIN rtl_thread T ON T.id = coalesce(C.thread_id, K.thread_id) LEFT "
		"JOIN rtl_api_data X ON X.api_id = O.correlation_id LEFT JOIN main.rocpd_api A ON A.id = "
		"X.api_id WHERE O.\"end\" > O.start AND coalesce(C.flags, K.flags) & " KINDS_UNTIMED
		" = 0";
	struct query *q = r->job->t->q;
	int ret = query_read_processes(q);

	if (ret == 0)
		ret = query_prepare(q, &r->text, QUERY_STRING);
	if (ret == 0)
		ret = query_scan(q, "A.id, A.tid, A.start, A.\"end\", A.apiName_id, U.string",
				 calls, take_call, r);
	if (ret || !r->nr_calls)
		return ret;
	order_calls(r);
	return query_scan(
		q,
		"O.id, T.tid, coalesce(A.start, O.start), O.\"end\" - O.start, coalesce(C.bytes, 0)",
		ops, take_op, r);
}

/* ---- rows ---- */

struct order {
	uint64_t ns;
	size_t name, part;
};

static int compare_order(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->part < y->part ? -1 : 1;
}

static void add_row(struct reader *r, const struct order *o, uint64_t *ns, bool *has)
{
	struct tables_job *job = r->job;
	const struct row *rows = r->rows + o->name * job->parts.nr, *row = rows + o->part;
	struct sheet_cell cells[C_NR + TABLES_PART_COLUMNS] = { { 0 } };

	cells[C_TOTAL].num = row->total_ns;
	cells[C_CALLS].num = row->calls;
	cells[C_MEAN].num = row->total_ns / row->calls;
	cells[C_MAX].num = row->max_ns;
	cells[C_BYTES].num = row->bytes;
	cells[C_GPU].num = row->gpu_ns;
	cells[C_OPS].num = row->gpu_ops;
	cells[C_COPIED].num = row->gpu_bytes;
	cells[C_NAME].text = r->functions[o->name];
	for (uint32_t i = 0; i < job->parts.nr; i++) {
		ns[i] = rows[i].total_ns;
		has[i] = rows[i].calls > 0;
	}
	if (job->split != TABLES_WHOLE)
		tables_part_cells(job, (uint32_t)o->part, ns, has, cells + C_NR);
	sheet_row(job->out, cells);
}

static int add_rows(struct reader *r)
{
	struct tables_job *job = r->job;
	size_t nr_parts = job->parts.nr, nr = 0;
	struct order *all = alloc_zero(r->nr_names * nr_parts + 1, sizeof(*all));
	uint64_t *ns = alloc_zero(nr_parts, sizeof(*ns));
	bool *has = alloc_zero(nr_parts, sizeof(*has));
	int ret = all && ns && has ? 0 : query_fail_memory(job->t->q);

	for (size_t i = 0; ret == 0 && i < r->nr_names * nr_parts; i++) {
		if (!r->rows[i].calls)
			continue;
		job->out->all_ns += r->rows[i].total_ns;
		all[nr++] = (struct order){ r->rows[i].total_ns, i / nr_parts, i % nr_parts };
	}
	if (nr)
		qsort(all, nr, sizeof(*all), compare_order);
	for (size_t i = 0; ret == 0 && i < nr; i++)
		add_row(r, &all[i], ns, has);
	alloc_free(all);
	alloc_free(ns);
	alloc_free(has);
	return ret;
}

int table_mpi_end(struct tables_job *job)
{
	struct reader r = { .job = job, .block = INT64_MIN };
	int ret = 0;

	sheet_columns(job->out, columns, C_NR);
	tables_part_columns(job);
	if (job->t->q->ours)
		ret = read_all(&r);
	if (ret == 0)
		ret = add_rows(&r);
	sqlite3_finalize(r.text);
	for (size_t i = 0; i < r.nr_names; i++)
		alloc_free(r.functions[i]);
	map_fini(&r.threads);
	map_fini(&r.names);
	alloc_free(r.keys);
	alloc_free(r.functions);
	alloc_free(r.rows);
	alloc_free(r.calls);
	return ret;
}
