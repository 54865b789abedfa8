/* SPDX-License-Identifier: MIT */
/* slice.c - temporary views that show a part of a trace
 *
 * What a condition needs is found once and kept in temporary tables, which SQLite puts into a file.
 * The spans of ranges are in memory: one for each open period of a thread, joined where they
 * overlap.
 */
#include "query/slice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/capture.h"
#include "query/kinds.h"
#include "query/near.h"

/* ---- SQL functions ---- */

static void sql_matches(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const regex_t *regex = sqlite3_user_data(context);
	const char *text = (const char *)sqlite3_value_text(values[0]);

	(void)nr;
	sqlite3_result_int(context, text && regexec(regex, text, 0, NULL, 0) == 0);
}

static void sql_like(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const struct slice *f = sqlite3_user_data(context);
	const char *text = (const char *)sqlite3_value_text(values[0]);
	struct capture_range range;
	char error[CAPTURE_ERROR_SIZE];

	(void)nr;
	sqlite3_result_int(context, text && capture_range(f->range, &range, error) == 0 &&
					    capture_like(f->range, range.size, text));
}

static void sql_listed(sqlite3_context *context, int nr, sqlite3_value **values)
{
	const char *list = sqlite3_user_data(context);
	int64_t number = sqlite3_value_int64(values[0]);

	(void)nr;
	sqlite3_result_int(context, number < 0 || capture_list_has(list, (uint64_t)number));
}

static void free_regex(void *regex)
{
	regfree(regex);
	alloc_free(regex);
}

static int add_function(struct query *q, const char *name,
			void (*call)(sqlite3_context *, int, sqlite3_value **), void *arg,
			void (*end)(void *))
{
	return sqlite3_create_function_v2(q->db, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, arg,
					  call, NULL, NULL, end) == SQLITE_OK ?
		       0 :
		       query_fail_sql(q);
}

/* ---- ranges ---- */

/* Spans of a thread; those of start and stop are for all threads of the process: tid -1. */
static const char spans_ours[] =
	"CREATE TEMP TABLE query_span AS SELECT A.pid, CASE M.kind WHEN 2 THEN -1 ELSE A.tid END AS tid, "
	"A.start, A.end, A.id, row_number() OVER (PARTITION BY A.pid ORDER BY A.start, A.id) AS number "
	"FROM rtl_marker_data M JOIN main.rocpd_api A ON A.id = M.api_id JOIN rocpd_ustring U ON U.id = "
	"A.args_id WHERE M.kind IN (1, 2) AND query_like(U.string)";
#define SPANS_RPD(strings)                                                                         \
	"CREATE TEMP TABLE query_span AS SELECT A.pid, A.tid, A.start, A.\"end\" AS end, A.id, "   \
	"row_number() OVER (PARTITION BY A.pid ORDER BY A.start, A.id) AS number FROM "            \
	"main.rocpd_api A JOIN rocpd_string N ON N.id = A.apiName_id JOIN " strings                \
	" U ON U.id = A.args_id WHERE N.string = 'UserMarker' AND A.\"end\" > A.start AND "        \
	"query_like(U.string)"

/* Calls that began in such a span: the last one that began before decides. Rows that stand for
 * threads are not calls. */
#define COVERED(tid)                                                                               \
	"A.start < coalesce((SELECT S.end FROM query_cover S WHERE S.pid = A.pid AND S.tid = " tid \
	" AND S.start <= A.start ORDER BY S.start DESC LIMIT 1), 0)"
static const char calls_sql[] =
	"CREATE TEMP TABLE query_inside (id INTEGER PRIMARY KEY); INSERT INTO query_inside SELECT A.id FROM "
	"main.rocpd_api A WHERE (" COVERED("A.tid") " OR " COVERED("-1") ")";

/* query_cover: spans of a thread that overlap are joined, so that the last one that began before a
 * call decides. */
static const char cover_sql[] =
	"CREATE TEMP TABLE query_cover AS SELECT pid, tid, min(start) AS start, max(end) AS end FROM (SELECT "
	"*, sum(first) OVER (PARTITION BY pid, tid ORDER BY start, id) AS part FROM (SELECT *, start > "
	"coalesce(max(end) OVER (PARTITION BY pid, tid ORDER BY start, id ROWS BETWEEN UNBOUNDED "
	"PRECEDING AND 1 PRECEDING), start - 1) AS first FROM query_span)) GROUP BY pid, tid, part;"
	"CREATE UNIQUE INDEX temp.query_cover_index ON query_cover (pid, tid, start)";

static const char ops_sql[] =
	"CREATE TEMP TABLE query_inside_op (id INTEGER PRIMARY KEY); INSERT OR IGNORE INTO query_inside_op "
	"SELECT L.op_id FROM rocpd_api_ops L CROSS JOIN query_inside I ON I.id = L.api_id";

/* Without records of calls: operations whose innermost range is one of them or inside of one. */
static const char nested_sql[] =
	"INSERT OR IGNORE INTO query_inside_op WITH RECURSIVE inner(id) AS (SELECT id FROM query_span UNION "
	"SELECT M.api_id FROM rtl_marker_data M JOIN inner ON M.parent_id = inner.id) SELECT O.id FROM "
	"main.rocpd_op O JOIN inner ON inner.id = O.roctxId";

static int read_spans(struct query *q, struct slice *f)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(q, &row, "SELECT start, end FROM query_cover ORDER BY start");

	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		int64_t begin = sqlite3_column_int64(row, 0), end = sqlite3_column_int64(row, 1);
		struct slice_span *last = f->nr_spans ? &f->spans[f->nr_spans - 1] : NULL;

		ret = 0;
		if (last && begin <= last->end) {
			last->end = end > last->end ? end : last->end;
			continue;
		}
		last = alloc_resize(f->spans, f->nr_spans + 1, sizeof(*last));
		ret = last ? 0 : query_fail_memory(q);
		if (!last)
			break;
		f->spans = last;
		f->spans[f->nr_spans++] = (struct slice_span){ begin, end };
	}
	sqlite3_finalize(row);
	return ret;
}

static int find_range(struct query *q, struct slice *f)
{
	char error[CAPTURE_ERROR_SIZE], sql[128];
	struct capture_range range;
	int ret = capture_range(f->range, &range, error);

	if (ret)
		return query_fail(q, ret, "--range: %s", error);
	ret = add_function(q, "query_like", sql_like, f, NULL);
	if (ret == 0)
		ret = query_run(q, q->ours	  ? spans_ours :
				   q->has_ustring ? SPANS_RPD("rocpd_ustring") :
						    SPANS_RPD("rocpd_string"));
	if (ret == 0 && range.number) {
		snprintf(sql, sizeof(sql), "DELETE FROM query_span WHERE number <> %llu",
			 (unsigned long long)range.number);
		ret = query_run(q, sql);
	}
	if (ret == 0 && !query_number(q->db, "SELECT count(*) FROM query_span", 0))
		return query_fail(
			q, -ENOENT,
			"%s: no range has the name '%s'; rtl summary --by range lists them",
			q->path, f->range);
	if (ret == 0)
		ret = query_run(q, cover_sql);
	if (ret == 0)
		ret = query_run(q, calls_sql);
	if (ret == 0 && q->ours)
		ret = query_run(q, "DELETE FROM query_inside WHERE id IN (SELECT A.id FROM "
				   "main.rocpd_api A JOIN rocpd_string D ON D.id = A.domain_id "
				   "WHERE D.string = 'rtl')");
	if (ret == 0)
		ret = query_run(q, ops_sql);
	if (ret == 0 && q->ours)
		ret = query_run(q, nested_sql);
	return ret == 0 ? read_spans(q, f) : ret;
}

/* ---- the others ---- */

/* Of kernels of ROCr, whose names need not be in rocpd_string. */
static const char symbols_sql[] =
	"CREATE TEMP TABLE query_symbol (id INTEGER PRIMARY KEY); INSERT INTO query_symbol SELECT id FROM "
	"rtl_kernel_symbol WHERE query_matches(demangled) OR query_matches(replace(name, '.kd', ''))";
#define RUNTIME_MATCHES                                                                            \
	"main.rtl_op_runtime R JOIN rtl_shape S ON S.id = R.shape_id WHERE S.kernel_id IN "        \
	"query_symbol"

/* query_other: copies and fills by kernels of ROCr of which none matches. */
static const char other_sql[] =
	"CREATE TEMP TABLE query_other (id INTEGER PRIMARY KEY); INSERT INTO query_other SELECT K.op_id FROM "
	"rtl_op_copy K CROSS JOIN main.rocpd_op O ON O.id = K.op_id WHERE coalesce(K.engine, -1) < 0 AND "
	"O.correlation_id IN (SELECT correlation_id FROM main.rtl_op_runtime) AND O.correlation_id NOT IN "
	"(SELECT R.correlation_id FROM " RUNTIME_MATCHES ")";

/* Fails unless an operation has one of the names, which are in query_kernel. */
static int check_kernels(struct query *q, const char *text, bool internal)
{
	char names[NEAR_SIZE];
	bool alike;
	int ret;

	if (query_number(q->db,
			 "SELECT EXISTS (SELECT 1 FROM main.rocpd_op WHERE description_id IN "
			 "(SELECT id FROM query_kernel))",
			 0))
		return 0;
	if (internal && q->ours &&
	    query_number(q->db, "SELECT EXISTS (SELECT 1 FROM " RUNTIME_MATCHES ")", 0))
		return 0;
	if (internal)
		return query_fail(q, -ENOENT,
				  "%s: no kernel matches --kernels '%s'; rtl summary --internal "
				  "lists those of the runtimes",
				  q->path, text);
	ret = near_kernels(q, text, names, &alike);
	if (ret)
		return ret;
	return query_fail(q, -ENOENT, "%s: no kernel matches --kernels '%s'; %s%s%s", q->path, text,
			  !*names ? "it has none" :
			  alike	  ? "most like it: " :
				    "it has ",
			  names, *names ? "; rtl summary --by kernel lists them all" : "");
}

static int find_kernels(struct query *q, const char *text, bool internal)
{
	char error[CAPTURE_ERROR_SIZE];
	regex_t *regex = alloc_zero(1, sizeof(*regex));
	int ret;

	if (!regex)
		return query_fail_memory(q);
	ret = capture_regex(text, regex, error);
	if (ret) {
		alloc_free(regex);
		return query_fail(q, ret, "--kernels: %s", error);
	}
	ret = add_function(q, "query_matches", sql_matches, regex, free_regex);
	if (ret == 0)
		ret = query_run(q, "CREATE TEMP TABLE query_kernel (id INTEGER PRIMARY KEY); "
				   "INSERT INTO query_kernel SELECT id FROM rocpd_string WHERE "
				   "string <> '' AND query_matches(string)");
	if (ret == 0 && q->ours)
		ret = query_run(q, "INSERT OR IGNORE INTO query_kernel SELECT S.id FROM "
				   "rtl_kernel_symbol Y JOIN rocpd_string S ON S.string = "
				   "Y.demangled WHERE query_matches(replace(Y.name, '.kd', ''))");
	if (ret == 0 && q->ours)
		ret = query_run(q, symbols_sql);
	if (ret == 0)
		ret = check_kernels(q, text, internal);
	/* an empty description: a copy or fill, but for those that kernels of HIP did */
	if (ret == 0)
		ret = query_run(q, "INSERT OR IGNORE INTO query_kernel SELECT id FROM rocpd_string "
				   "WHERE string = ''");
	if (ret == 0 && !internal)
		ret = query_run(q, "INSERT OR IGNORE INTO query_kernel SELECT id FROM rocpd_string "
				   "WHERE " KINDS_IS_BLIT("string"));
	if (ret == 0 && internal && q->ours)
		ret = query_run(q, other_sql);
	return ret;
}

/* Fails unless the trace has one of the GPUs. */
static int check_gpus(struct query *q, const char *list)
{
	char numbers[256] = "";
	sqlite3_stmt *row = NULL;
	size_t used = 0;
	bool has_one = false;
	int ret = query_prepare(q, &row,
				q->ours ? "SELECT gpu_id FROM rtl_agent WHERE gpu_id >= 0 UNION "
					  "SELECT gpuId FROM main.rocpd_op WHERE gpuId >= 0" :
					  "SELECT DISTINCT gpuId FROM main.rocpd_op WHERE gpuId >= "
					  "0 ORDER BY 1");

	while (ret == 0 && (ret = query_step(q, row)) == 1) {
		int64_t number = sqlite3_column_int64(row, 0);

		has_one |= capture_list_has(list, (uint64_t)number);
		if (used + 24 < sizeof(numbers))
			used += (size_t)snprintf(numbers + used, sizeof(numbers) - used, "%s%lld",
						 used ? ", " : "", (long long)number);
		ret = 0;
	}
	sqlite3_finalize(row);
	if (ret || has_one)
		return ret;
	return query_fail(q, -ENOENT, "%s: it has no GPU of --gpus %s; %s%s", q->path, list,
			  used ? "its GPUs are " : "it has none", numbers);
}

/* Adds the part of a condition for some processes: " AND (id BETWEEN 1 AND 2 OR ...)". */
static void add_ranks(const struct query *q, const char *list, char *where, size_t size)
{
	size_t used = strlen(where), nr = 0;

	for (size_t i = 0; i < q->nr_processes && used + 64 < size; i++) {
		const struct query_process *p = &q->processes[i];

		if (p->rank >= 0 && !capture_list_has(list, (uint64_t)p->rank))
			continue;
		used += (size_t)snprintf(where + used, size - used, "%s id BETWEEN %lld AND %lld",
					 nr++ ? " OR" : " AND (", (long long)p->id_first,
					 (long long)p->id_last);
	}
	snprintf(where + used, size - used, nr ? ")" : " AND 0");
}

/* Fails unless a process has one of the ranks. */
static int check_ranks(struct query *q, const char *list)
{
	bool has_ranks = false;

	for (size_t i = 0; i < q->nr_processes; i++) {
		if (q->processes[i].rank < 0)
			continue;
		has_ranks = true;
		if (capture_list_has(list, (uint64_t)q->processes[i].rank))
			return 0;
	}
	if (has_ranks)
		return query_fail(
			q, -ENOENT,
			"%s: no process has a rank of --ranks %s; rtl summary --by rank lists them",
			q->path, list);
	return query_fail(q, -ENOENT,
			  "%s: no process has a rank: no launcher of MPI, Slurm or torchrun "
			  "started them; leave --ranks out",
			  q->path);
}

/* query_runtime; `both`: the conditions on the id and the times of a row. */
static int make_runtime(struct query *q, const struct slice *f, const char *both)
{
	char *sql = sqlite3_mprintf(
		"CREATE TEMP VIEW query_runtime AS SELECT * FROM (SELECT *, op_id AS id, begin_ns AS start, "
		"end_ns AS \"end\" FROM main.rtl_op_runtime) WHERE 1%s%s%s%s",
		both,
		f->range ?
			" AND (correlation_id IN (SELECT I.id FROM query_inside I JOIN rtl_api_data X ON "
			"X.api_id = I.id) OR marker_id IN query_inside)" :
			"",
		f->kernels ? " AND shape_id IN (SELECT S.id FROM rtl_shape S WHERE S.kernel_id IN "
			     "query_symbol)" :
			     "",
		f->gpus ? " AND query_gpu(gpu_id)" : "");
	int ret = sql ? query_run(q, sql) : query_fail_memory(q);

	sqlite3_free(sql);
	return ret;
}

bool slice_is_set(const struct slice *f)
{
	return f->has_time || f->range || f->kernels || f->gpus || f->ranks;
}

bool slice_clip(const struct slice *f, int64_t *begin, int64_t *end)
{
	if (!f->has_time)
		return true;
	*begin = *begin < f->from_ns ? f->from_ns : *begin;
	*end = *end > f->to_ns ? f->to_ns : *end;
	return *begin <= *end;
}

const char *slice_options(const struct slice *f, char buf[SLICE_OPTIONS_SIZE])
{
	const char *const names[] = {
		f->has_time ? "--time" : "",   f->range ? "--range" : "",
		f->kernels ? "--kernels" : "", f->gpus ? "--gpus" : "",
		f->ranks ? "--ranks" : "",
	};
	size_t used = 0;

	*buf = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (*names[i])
			used += (size_t)snprintf(buf + used, SLICE_OPTIONS_SIZE - used, "%s%s",
						 used ? ", " : "", names[i]);
	return buf;
}

int slice_apply(struct query *q, struct slice *f)
{
	enum { SIZE = 96 << 10 };
	char *both = alloc_zero(1, SIZE), *sql;
	int ret = both ? 0 : query_fail_memory(q);

	if (!slice_is_set(f) || ret)
		goto out;
	if (f->ranks && !q->ours)
		ret = query_fail(q, -EINVAL, "%s: --ranks: files of RPD have no ranks", q->path);
	if (ret == 0 && f->ranks && !q->nr_processes)
		ret = query_read_processes(q);
	if (ret == 0 && f->ranks)
		ret = check_ranks(q, f->ranks);
	if (ret == 0 && f->range)
		ret = find_range(q, f);
	if (ret == 0 && f->kernels)
		ret = find_kernels(q, f->kernels, f->internal);
	if (ret == 0 && f->gpus)
		ret = check_gpus(q, f->gpus);
	if (ret == 0 && f->gpus)
		ret = add_function(q, "query_gpu", sql_listed, (void *)f->gpus, NULL);
	if (ret)
		goto out;
	if (f->has_time)
		snprintf(both, SIZE, " AND start < %lld AND \"end\" >= %lld", (long long)f->to_ns,
			 (long long)f->from_ns);
	if (f->ranks)
		add_ranks(q, f->ranks, both, SIZE);
	sql = sqlite3_mprintf(
		"CREATE TEMP VIEW rocpd_op AS SELECT * FROM main.rocpd_op WHERE 1%s%s%s%s%s; "
		"CREATE TEMP VIEW rocpd_api AS SELECT * FROM main.rocpd_api WHERE 1%s%s",
		both, f->range ? " AND id IN query_inside_op" : "",
		f->kernels ? " AND description_id IN query_kernel" : "",
		f->kernels && f->internal && q->ours ? " AND id NOT IN query_other" : "",
		f->gpus ? " AND query_gpu(gpuId)" : "", both,
		f->range ? " AND id IN query_inside" : "");
	ret = sql ? query_run(q, sql) : query_fail_memory(q);
	sqlite3_free(sql);
	if (ret == 0 && q->ours)
		ret = make_runtime(q, f, both);
out:
	alloc_free(both);
	return ret;
}

void slice_fini(struct slice *f)
{
	alloc_free(f->spans);
	f->spans = NULL;
	f->nr_spans = 0;
}
