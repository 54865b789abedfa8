/* SPDX-License-Identifier: MIT */
/* table_names.c - a row for each kernel, call, kind of copy or marker
 *
 * Operations without valid times (unfinished, none written, inverted) are counted, but not in the
 * times.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/occupancy.h"
#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "query/rows.h"
#include "query/transfer.h"

#define VALUES (2u << 20) /* in memory, of all tables of a call */

/* ---- reading ---- */

struct names {
	struct tables_job *job;
	struct sums *sums;
	uint64_t nr_untimed, nr_joined, nr_errors;
	sqlite3_stmt *stmt; /* of a name by its number */
	/* ns of operations by their innermost range; those of the last one are not in it yet */
	struct map ranges;
	int64_t range;
	uint64_t range_ns;
};

static bool add_times(struct names *n, struct sums_group *g, int64_t begin, int64_t end, bool timed)
{
	if (!timed) {
		sums_add_untimed(g);
		n->nr_untimed++;
		return false;
	}
	sums_add(n->sums, g, (uint64_t)end - (uint64_t)begin);
	return true;
}

static void mark_gpu(struct sums_group *g, int64_t gpu)
{
	/* in files of several hosts: node number of the host * 1000 + GPU of the host */
	if (gpu >= 0)
		g->gpus |= UINT64_C(1) << (gpu % 1000 > 63 ? 63 : gpu % 1000);
}

static const char *look_up(void *arg, uint64_t key)
{
	struct names *n = arg;
	sqlite3_stmt *row = query_row(n->stmt, (int64_t)key);

	return row ? query_text(row, 0) : "?";
}

/* Names the groups that were read by the numbers of their names. */
static int name_groups(struct names *n, const char *sql)
{
	int ret = query_prepare(n->job->t->q, &n->stmt, sql);

	if (ret == 0)
		sums_name(n->sums, look_up, n);
	sqlite3_finalize(n->stmt);
	n->stmt = NULL;
	return ret ? ret : sums_check(n->sums, n->job->t->q);
}

/* ---- kernels ---- */

#define MANGLED                                                                                    \
	"SELECT coalesce((SELECT replace(Y.name, '.kd', '') FROM rtl_kernel_symbol Y WHERE "       \
	"Y.demangled = S.string), S.string) FROM rocpd_string S WHERE S.id = ?1"

static int take_kernel(void *arg, const struct pass_op *op)
{
	struct names *n = arg;
	struct sums_group *g;

	if (op->kind != KINDS_KERNEL || op->gpu < 0)
		return 0;
	g = sums_group_of(n->sums, (uint64_t)op->name, tables_part(n->job, op->process));
	mark_gpu(g, op->gpu);
	if (!add_times(n, g, op->begin, op->end, op->timed) || !op->has_call)
		return 0;
	n->nr_joined++;
	sums_add_value(n->sums, g, SUMS_LAUNCH, op->begin - op->call_begin);
	sums_add_value(n->sums, g, SUMS_DELAY, op->begin - op->call_end);
	return 0;
}

/* Adds the operations of the last range to the others of that range. */
static int put_range(struct names *n)
{
	uint64_t ns = 0;

	map_get(&n->ranges, (uint64_t)n->range, &ns);
	return n->range ? map_put(&n->ranges, (uint64_t)n->range, ns + n->range_ns) : 0;
}

static int take_ranged(void *arg, const struct pass_op *op)
{
	struct names *n = arg;
	int ret = 0;

	if (!op->marker || !op->timed)
		return 0;
	/* the next operation is of the same range, mostly */
	if (op->marker != n->range) {
		ret = put_range(n);
		n->range = op->marker;
		n->range_ns = 0;
	}
	n->range_ns += (uint64_t)(op->end - op->begin);
	return ret;
}

static void forget(void *arg)
{
	struct names *n = arg;

	sums_clear(n->sums);
	map_clear(&n->ranges);
	n->range = 0;
	n->nr_untimed = n->nr_joined = 0;
}

/* Columns: id of the name, id of the row, GPU, begin, end, flags. */
static int take_internal(void *arg, sqlite3_stmt *row)
{
	struct names *n = arg;
	struct sums_group *g = sums_group_of(n->sums, (uint64_t)sqlite3_column_int64(row, 0),
					     tables_part_of(n->job, sqlite3_column_int64(row, 1)));
	int64_t begin = sqlite3_column_int64(row, 3), end = sqlite3_column_int64(row, 4);

	mark_gpu(g, sqlite3_column_int64(row, 2));
	add_times(n, g, begin, end, rows_timed(begin, end, sqlite3_column_int64(row, 5)));
	return 0;
}

/* Kernels of the runtimes: those of ROCr for copies and fills, and HIP's own. */
static int read_internal(struct names *n)
{
	static const char all[] =
		"SELECT S.kernel_id, R.op_id, R.gpu_id, R.begin_ns, R.end_ns, R.flags "
		"FROM rtl_op_runtime R JOIN rtl_shape S ON S.id = R.shape_id";
	static const char part[] =
		"SELECT S.kernel_id, R.op_id, R.gpu_id, R.begin_ns, R.end_ns, R.flags "
		"FROM query_runtime R JOIN rtl_shape S ON S.id = R.shape_id";
	static const char hip[] =
		"SELECT O.description_id, O.id, O.gpuId, O.start, O.end, coalesce(K.flags, 0) FROM "
		"rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id WHERE O.gpuId >= 0 AND "
		"O.description_id IN (SELECT id FROM rocpd_string WHERE string GLOB '__amd_rocclr_*') AND "
		"O.opType_id NOT IN (SELECT id FROM rocpd_string WHERE " KINDS_IS_COPY(
			"string") ")";
	struct tables *t = n->job->t;
	int ret;

	if (!t->q->ours) {
		sheet_missing(
			n->job->out,
			"was not written by rtl: the runtime's internal kernels are not marked as such");
		return 0;
	}
	ret = tables_rows(t, slice_is_set(&t->filter) ? part : all, take_internal, n);
	/* ids of symbols and of texts are not the same */
	if (ret == 0)
		ret = name_groups(n, "SELECT demangled FROM rtl_kernel_symbol WHERE id = ?1");
	if (ret == 0)
		ret = tables_rows(t, hip, take_internal, n);
	return ret ? ret : name_groups(n, QUERY_STRING);
}

/* ---- copies, calls, markers ---- */

/* Columns: name, GPU, begin, end, flags, bytes, means, id. */
static int take_copy(void *arg, sqlite3_stmt *row)
{
	struct names *n = arg;
	int64_t begin = sqlite3_column_int64(row, 2), end = sqlite3_column_int64(row, 3);
	struct sums_group *g;
	char name[200];

	snprintf(name, sizeof(name), n->job->t->internal ? "%s by %s" : "%s", query_text(row, 0),
		 query_text(row, 6));
	g = sums_group(n->sums, name, tables_part_of(n->job, sqlite3_column_int64(row, 7)));
	mark_gpu(g, sqlite3_column_int64(row, 1));
	g->bytes += (uint64_t)sqlite3_column_int64(row, 5);
	add_times(n, g, begin, end, rows_timed(begin, end, sqlite3_column_int64(row, 4)));
	return 0;
}

static int read_copies(struct names *n)
{
	int ret = transfer_view(n->job->t->q);

	return ret ? ret :
		     tables_rows(n->job->t,
				 "SELECT name, agent, begin_ns, end_ns, flags, bytes, means, op_id "
				 "FROM temp.query_copy",
				 take_copy, n);
}

/* Columns: id of the name, id of the row, begin, end, status (0 if unknown). */
static int take_call(void *arg, sqlite3_value **row)
{
	struct names *n = arg;
	int64_t begin = sqlite3_value_int64(row[2]), end = sqlite3_value_int64(row[3]);
	struct sums_group *g = sums_group_of(n->sums, (uint64_t)sqlite3_value_int64(row[0]),
					     tables_part_of(n->job, sqlite3_value_int64(row[1])));
	bool failed = sqlite3_value_int64(row[4]) != 0;

	add_times(n, g, begin, end, rows_timed(begin, end, 0));
	g->errors += failed;
	n->nr_errors += failed;
	return 0;
}

static int read_calls(struct names *n)
{
	static const char *const ours[] = { "NOT IN ('rtl', 'roctx')", "= 'hip'", "= 'hsa'",
					    "= 'rccl'", "= 'mpi'" };
	static const char *const rpd[] = { "", "AND string NOT LIKE 'hsa%'",
					   "AND string LIKE 'hsa%'", "AND string LIKE 'nccl%'",
					   "AND string LIKE 'MPI/_%' ESCAPE '/'" };
	struct tables *t = n->job->t;
	char from[400];
	int ret;

	snprintf(
		from, sizeof(from),
		t->q->is_compact ?
			"rocpd_api A WHERE A.domain_id IN (SELECT id FROM rocpd_string WHERE string "
			"%s) AND A.id BETWEEN ?1 AND ?2" :
		t->q->ours ?
			"rocpd_api A LEFT JOIN rtl_api_data X ON X.api_id = A.id WHERE A.domain_id IN "
			"(SELECT id FROM rocpd_string WHERE string %s) AND A.id BETWEEN ?1 AND ?2" :
			"rocpd_api A WHERE A.apiName_id IN (SELECT id FROM rocpd_string WHERE string "
			"<> 'UserMarker' %s) AND A.id BETWEEN ?1 AND ?2",
		t->q->ours ? ours[t->domain] : rpd[t->domain]);
	ret = query_scan(t->q,
			 t->q->is_compact ? "A.apiName_id, A.id, A.start, A.\"end\", A.rtl_status" :
			 t->q->ours	  ? "A.apiName_id, A.id, A.start, A.\"end\", X.status" :
					    "A.apiName_id, A.id, A.start, A.\"end\", 0",
			 from, take_call, n);
	return ret ? ret : name_groups(n, QUERY_STRING);
}

/* Columns: message, id, begin, end. */
static int take_marker(void *arg, sqlite3_stmt *row)
{
	struct names *n = arg;
	int64_t id = sqlite3_column_int64(row, 1), begin = sqlite3_column_int64(row, 2),
		end = sqlite3_column_int64(row, 3);
	struct sums_group *g = sums_group(n->sums, query_text(row, 0), tables_part_of(n->job, id));
	uint64_t ns;

	add_times(n, g, begin, end, rows_timed(begin, end, 0));
	if (map_get(&n->ranges, (uint64_t)id, &ns))
		g->extra_ns += ns;
	return 0;
}

#define RPD_MARKERS(strings)                                                                        \
	"SELECT U.string, A.id, A.start, A.\"end\" FROM rocpd_api A JOIN rocpd_string N ON N.id = " \
	"A.apiName_id JOIN " strings " U ON U.id = A.args_id WHERE N.string = 'UserMarker'"

static int read_markers(struct names *n)
{
	struct tables *t = n->job->t;

	if (!t->q->ours)
		return tables_rows(t,
				   t->q->has_ustring ? RPD_MARKERS("rocpd_ustring") :
						       RPD_MARKERS("rocpd_string"),
				   take_marker, n);
	if (put_range(n))
		return query_fail_memory(t->q);
	return tables_rows(t, "SELECT message, marker_id, begin_ns, end_ns FROM rtl_marker",
			   take_marker, n);
}

/* What the pass has not read. */
static int read_rest(struct names *n)
{
	int ret = 0;

	switch (n->job->kind) {
	case TABLES_KERNEL:
		ret = n->job->t->internal		       ? read_internal(n) :
		      n->job->t->mangled && n->job->t->q->ours ? name_groups(n, MANGLED) :
								 name_groups(n, QUERY_STRING);
		break;
	case TABLES_API:
		ret = read_calls(n);
		break;
	case TABLES_COPY:
		ret = read_copies(n);
		break;
	default:
		ret = read_markers(n);
	}
	return ret ? ret : sums_check(n->sums, n->job->t->q);
}

/* What a table wants of the pass; `take` is NULL if it wants nothing. */
static struct pass_reader reader_of(struct names *n, bool calls)
{
	const struct tables *t = n->job->t;

	if (n->job->kind == TABLES_KERNEL && !t->internal)
		return (struct pass_reader){
			.take = take_kernel, .reset = forget, .arg = n, .calls = calls
		};
	/* operations of RPD have no range */
	if (n->job->kind == TABLES_MARKER && t->q->ours)
		return (struct pass_reader){ .take = take_ranged, .reset = forget, .arg = n };
	return (struct pass_reader){ 0 };
}

int table_names_begin(struct tables_job *job)
{
	struct names *n = alloc_zero(1, sizeof(*n));

	job->state = n;
	if (!n)
		return query_fail_memory(job->t->q);
	n->job = job;
	n->sums = sums_create(VALUES / job->nr_jobs);
	if (!n->sums)
		return query_fail_memory(job->t->q);
	job->reader = reader_of(n, true);
	return 0;
}

void table_names_done(struct tables_job *job)
{
	struct names *n = job->state;

	if (!n)
		return;
	sums_destroy(n->sums);
	map_fini(&n->ranges);
	alloc_free(n);
}

int table_names_sums(struct tables *t, enum tables_kind kind, struct sums **out)
{
	struct tables_job job = { .t = t, .kind = kind, .parts.nr = 1 };
	const struct pass_reader *reader = &job.reader;
	struct names n = { .job = &job, .sums = sums_create(SIZE_MAX) };
	int ret = n.sums ? 0 : query_fail_memory(t->q);

	*out = n.sums;
	job.reader = reader_of(&n, false);
	if (ret == 0 && job.reader.take)
		ret = pass_read(t->q, &t->kinds, &reader, 1);
	if (ret == 0)
		ret = read_rest(&n);
	map_fini(&n.ranges);
	return ret;
}

/* ---- the table ---- */

enum {
	C_TIMES,
	C_ERRORS = C_TIMES + TABLES_TIMES,
	C_LAUNCH,
	C_LAUNCH_MEAN,
	C_DELAY,
	C_DELAY_MEAN,
	C_JOINED,
	C_GPU_TIME,
	C_BYTES,
	C_RATE,
	C_GPUS,
	C_UNTIMED,
	C_NAME,
	C_OCCUPANCY,
	C_LIMIT,
	C_NR
};

static const struct sheet_column columns[C_NR] = {
	[C_ERRORS] = { "errors", "ERRORS", SHEET_COUNT },
	[C_LAUNCH] = { "launch_median_ns", "LAUNCH", SHEET_SPAN, 7 },
	[C_LAUNCH_MEAN] = { "launch_mean_ns", "LAUNCH MEAN", SHEET_SPAN, 9 },
	[C_DELAY] = { "delay_median_ns", "DELAY", SHEET_SPAN, 8 },
	[C_DELAY_MEAN] = { "delay_mean_ns", "DELAY MEAN", SHEET_SPAN, 10 },
	[C_JOINED] = { "joined", NULL, SHEET_COUNT },
	[C_GPU_TIME] = { "gpu_ns", "GPU TIME", SHEET_TIME },
	[C_BYTES] = { "bytes", "BYTES", SHEET_BYTES },
	[C_RATE] = { "bytes_per_s", "RATE", SHEET_RATE },
	[C_GPUS] = { "gpus", "GPU", SHEET_NAME, 2 },
	[C_UNTIMED] = { "untimed", NULL, SHEET_COUNT },
	[C_NAME] = { "name", "NAME", SHEET_NAME, .is_last = true },
	[C_OCCUPANCY] = { "occupancy", "OCCUPANCY", SHEET_SHARE, 11 },
	[C_LIMIT] = { "occupancy_limit", "LIMIT", SHEET_NAME, 12 },
};

static bool is_wanted(const struct tables_job *job, size_t column)
{
	bool kernel = job->kind == TABLES_KERNEL;

	switch (column) {
	case C_ERRORS:
		return job->kind == TABLES_API;
	case C_LAUNCH:
	case C_LAUNCH_MEAN:
	case C_DELAY:
	case C_DELAY_MEAN:
	case C_JOINED:
		return kernel;
	case C_OCCUPANCY:
	case C_LIMIT:
		return kernel && !job->t->internal && job->t->q->ours;
	case C_GPU_TIME:
		return job->kind == TABLES_MARKER;
	case C_BYTES:
	case C_RATE:
		return job->kind == TABLES_COPY;
	case C_GPUS:
		return kernel || job->kind == TABLES_COPY;
	default:
		return true;
	}
}

/* Whether the column has values, so that a screen has space for it. */
static bool has_values(const struct names *n, size_t column)
{
	switch (column) {
	case C_ERRORS:
		return n->nr_errors > 0;
	case C_OCCUPANCY:
	case C_LIMIT:
		return query_number(n->job->t->q->db,
				    "SELECT EXISTS (SELECT 1 FROM rtl_kernel_symbol WHERE "
				    "vgpr_count > 0)",
				    0) != 0;
	case C_LAUNCH:
	case C_DELAY:
	case C_LAUNCH_MEAN:
	case C_DELAY_MEAN:
		return n->nr_joined > 0;
	default:
		return true;
	}
}

/* Mean or median of the times between kernels and their calls. */
static struct sheet_cell distance_of(struct names *n, struct sums_group *g, enum sums_series series,
				     bool mean)
{
	int64_t ns = mean ? sums_mean(g, series) : sums_quantile(n->sums, g, series, 0.5);

	return (struct sheet_cell){ .num = (uint64_t)ns, .none = !g->values[series].nr };
}

static void fill_cells(struct names *n, struct sums_group *g, struct sheet_cell cells[C_NR],
		       char gpus[256])
{
	const struct sums_values *v = &g->values[SUMS_TIME];

	tables_time_cells(n->job, n->sums, g, &cells[C_TIMES]);
	cells[C_UNTIMED].num = g->calls - v->nr;
	cells[C_ERRORS].num = g->errors;
	cells[C_LAUNCH] = distance_of(n, g, SUMS_LAUNCH, false);
	cells[C_LAUNCH_MEAN] = distance_of(n, g, SUMS_LAUNCH, true);
	cells[C_DELAY] = distance_of(n, g, SUMS_DELAY, false);
	cells[C_DELAY_MEAN] = distance_of(n, g, SUMS_DELAY, true);
	cells[C_JOINED].num = g->values[SUMS_LAUNCH].nr;
	cells[C_GPU_TIME] = (struct sheet_cell){ .num = g->extra_ns, .none = !g->extra_ns };
	cells[C_BYTES] = (struct sheet_cell){ .num = g->bytes, .none = !g->bytes };
	cells[C_RATE].none = !v->total || !g->bytes;
	cells[C_RATE].real = v->total ? (double)g->bytes * 1e9 / (double)v->total : 0;
	cells[C_GPUS] =
		(struct sheet_cell){ .text = sums_gpus(gpus, 256, g->gpus), .none = !g->gpus };
	cells[C_NAME].text = g->name;
}

static int fill_occupancy(struct tables *t, const char *kernel, struct sheet_cell cells[C_NR])
{
	struct occupancy o = { .limit = "" };
	int ret = occupancy_read(t->q, &t->occupancy, kernel, &o);

	cells[C_OCCUPANCY].none = cells[C_LIMIT].none = !o.max_waves;
	cells[C_OCCUPANCY].real = o.max_waves ? (double)o.waves / o.max_waves : 0;
	cells[C_LIMIT].text = o.limit;
	return ret;
}

/* ---- rows of a table that is divided ---- */

/* The rows of a name together, those of the longest name first; its own by their time. */
struct part_row {
	struct sums_group *group;
	uint64_t all_ns, calls; /* of the name */
};

static int compare_names(const void *a, const void *b)
{
	const struct part_row *x = a, *y = b;
	int order = strcmp(x->group->name, y->group->name);
	int64_t nx = x->group->values[SUMS_TIME].total, ny = y->group->values[SUMS_TIME].total;

	if (order)
		return order;
	if (nx != ny)
		return nx > ny ? -1 : 1;
	return x->group->part < y->group->part ? -1 : x->group->part > y->group->part;
}

static int compare_totals(const void *a, const void *b)
{
	const struct part_row *x = a, *y = b;

	if (x->all_ns != y->all_ns)
		return x->all_ns > y->all_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return compare_names(a, b);
}

/* How many rows from `at` on are of one name. */
static size_t same_name(const struct part_row *rows, size_t nr, size_t at)
{
	size_t end = at + 1;

	while (end < nr && strcmp(rows[end].group->name, rows[at].group->name) == 0)
		end++;
	return end - at;
}

static void sort_parts(struct part_row *rows, size_t nr)
{
	if (!nr)
		return;
	qsort(rows, nr, sizeof(*rows), compare_names);
	for (size_t at = 0, n; at < nr; at += n) {
		uint64_t all_ns = 0, calls = 0;

		n = same_name(rows, nr, at);
		for (size_t i = at; i < at + n; i++) {
			all_ns += (uint64_t)rows[i].group->values[SUMS_TIME].total;
			calls += rows[i].group->calls;
		}
		for (size_t i = at; i < at + n; i++) {
			rows[i].all_ns = all_ns;
			rows[i].calls = calls;
		}
	}
	qsort(rows, nr, sizeof(*rows), compare_totals);
}

static int add_row(struct names *n, struct sums_group *g, const size_t *map, size_t nr,
		   const struct sheet_cell *parts)
{
	struct tables_job *job = n->job;
	struct sheet_cell all[C_NR] = { { 0 } }, cells[SHEET_COLUMNS];
	char gpus[256];
	int ret = 0;

	if (sheet_keeps(job->out)) {
		fill_cells(n, g, all, gpus);
		if (is_wanted(job, C_OCCUPANCY))
			ret = fill_occupancy(job->t, g->name, all);
	}
	for (size_t c = 0; c < nr; c++)
		cells[c] = all[map[c]];
	for (size_t c = nr; c < job->out->nr_columns; c++)
		cells[c] = parts[c - nr];
	sheet_row(job->out, cells);
	return ret;
}

static int add_parts(struct names *n, struct sums_group **groups, size_t nr_groups,
		     const size_t *map, size_t nr)
{
	uint32_t nr_parts = n->job->parts.nr;
	struct part_row *rows = alloc_zero(nr_groups + 1, sizeof(*rows));
	uint64_t *all = alloc_zero(nr_parts, sizeof(*all));
	bool *has = alloc_zero(nr_parts, sizeof(*has));
	int ret = rows && all && has ? 0 : query_fail_memory(n->job->t->q);

	for (size_t i = 0; ret == 0 && i < nr_groups; i++)
		rows[i].group = groups[i];
	if (ret == 0)
		sort_parts(rows, nr_groups);
	for (size_t at = 0, same; ret == 0 && at < nr_groups; at += same) {
		same = same_name(rows, nr_groups, at);
		memset(all, 0, nr_parts * sizeof(*all));
		memset(has, 0, nr_parts * sizeof(*has));
		for (size_t i = at; i < at + same; i++) {
			const struct sums_group *g = rows[i].group;

			all[g->part] = (uint64_t)g->values[SUMS_TIME].total;
			has[g->part] = true;
		}
		for (size_t i = at; ret == 0 && i < at + same; i++) {
			struct sheet_cell cells[TABLES_PART_COLUMNS];

			tables_part_cells(n->job, rows[i].group->part, all, has, cells);
			ret = add_row(n, rows[i].group, map, nr, cells);
		}
	}
	alloc_free(rows);
	alloc_free(all);
	alloc_free(has);
	return ret;
}

int table_names_end(struct tables_job *job)
{
	struct names *n = job->state;
	struct sheet *out = job->out;
	struct sums_group **groups;
	size_t map[C_NR], nr = 0, nr_groups;
	int ret = read_rest(n);

	if (ret)
		return ret;
	for (size_t i = 0; i < C_NR; i++) {
		struct sheet_column c = i < C_ERRORS ? tables_time_column(i, 0) : columns[i];

		if (!is_wanted(job, i))
			continue;
		if (!has_values(n, i))
			c.title = NULL;
		c.symbol = i == C_NAME && job->kind == TABLES_KERNEL;
		sheet_columns(out, &c, 1);
		map[nr++] = i;
	}
	tables_part_columns(job);
	out->nr_untimed = n->nr_untimed;
	groups = sums_sorted(n->sums, &nr_groups);
	for (size_t i = 0; i < nr_groups; i++)
		out->all_ns += (uint64_t)groups[i]->values[SUMS_TIME].total;
	if (job->split != TABLES_WHOLE)
		ret = add_parts(n, groups, nr_groups, map, nr);
	for (size_t i = 0; job->split == TABLES_WHOLE && ret == 0 && i < nr_groups; i++)
		ret = add_row(n, groups[i], map, nr, NULL);
	return ret ? ret : sums_check(n->sums, job->t->q);
}
