/* SPDX-License-Identifier: MIT */
/* tables.c - the tables that a trace amounts to: which file makes each, and the pass over the
 * operations that they share */
#include "analysis/tables_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/args.h"

static const struct maker {
	int (*begin)(struct tables_job *job); /* NULL: nothing to do before the pass */
	int (*end)(struct tables_job *job);
	void (*done)(struct tables_job *job);
	bool can_split;
} makers[TABLES_NR] = {
	[TABLES_KERNEL] = { table_names_begin, table_names_end, table_names_done, true },
	[TABLES_API] = { table_names_begin, table_names_end, table_names_done, true },
	[TABLES_COPY] = { table_names_begin, table_names_end, table_names_done, true },
	[TABLES_MARKER] = { table_names_begin, table_names_end, table_names_done, true },
	[TABLES_STREAM] = { table_busy_begin, table_busy_end, table_busy_done, false },
	[TABLES_GPU] = { table_busy_begin, table_busy_end, table_busy_done, false },
	[TABLES_COUNTER] = { NULL, table_counters_end, NULL, false },
	[TABLES_RANGE] = { table_ranges_begin, table_ranges_end, table_ranges_done, true },
	[TABLES_RANGE_NAME] = { table_ranges_begin, table_ranges_names_end, table_ranges_done,
				false },
	[TABLES_PROCESS] = { NULL, table_processes_end, NULL, false },
	[TABLES_RANK] = { NULL, table_processes_end, NULL, false },
	[TABLES_GRAPH] = { NULL, table_more_graphs, NULL, false },
	[TABLES_ERROR] = { NULL, table_more_errors, NULL, false },
	[TABLES_GAP] = { NULL, table_more_gaps, NULL, false },
	[TABLES_PATH] = { NULL, table_path_end, NULL, false },
	[TABLES_COLLECTIVE] = { NULL, table_collectives_end, NULL, false },
	[TABLES_CLOCK] = { NULL, table_clocks_end, NULL, false },
	[TABLES_IMBALANCE] = { table_imbalance_begin, table_imbalance_end, table_imbalance_done,
			       false },
	[TABLES_MPI_CALLS] = { NULL, table_mpi_end, NULL, true },
	[TABLES_METRICS] = { NULL, table_metrics_end, NULL, false },
};

bool tables_can_split(enum tables_kind kind)
{
	return makers[kind].can_split;
}

void tables_fini(struct tables *t)
{
	if (t->digest)
		digest_fini(t->digest);
	alloc_free(t->digest);
	kinds_fini(&t->kinds);
	findings_fini(&t->findings);
	if (t->matched)
		collective_fini(t->matched);
	alloc_free(t->matched);
	sqlite3_finalize(t->occupancy);
	slice_fini(&t->filter);
	*t = (struct tables){ 0 };
}

/* ---- what tables share ---- */

int tables_digest(struct tables *t, struct digest **out)
{
	int ret = 0;

	if (!t->digest) {
		t->digest = alloc_zero(1, sizeof(*t->digest));
		if (!t->digest)
			return query_fail_memory(t->q);
		t->digest->nr_bins = t->nr_bins;
		t->digest->bins_begin = t->bins_begin;
		t->digest->bin_ns = t->bin_ns;
		ret = digest_read(t->digest, t->q, &t->filter);
	}
	*out = t->digest;
	return ret;
}

int tables_findings(struct tables *t, const struct findings **out)
{
	struct digest *d;
	int ret = t->has_findings ? 0 : tables_digest(t, &d);

	if (ret == 0 && !t->has_findings)
		ret = findings_read(t->q, d, &t->findings);
	t->has_findings = true;
	*out = &t->findings;
	return ret;
}

struct wall tables_wall(struct tables *t)
{
	struct wall wall;

	if (t->digest)
		return t->digest->wall;
	wall_read(t->q, &t->filter, &wall);
	if (wall.has_startup)
		wall_start(t->q, &wall, query_number(t->q->db, wall_first_sql(t->q), 0));
	return wall;
}

int tables_rows(struct tables *t, const char *sql, int (*take)(void *arg, sqlite3_stmt *row),
		void *arg)
{
	sqlite3_stmt *row = NULL;
	int ret = query_prepare(t->q, &row, sql);

	while (ret == 0 && (ret = query_step(t->q, row)) == 1)
		ret = take(arg, row);
	sqlite3_finalize(row);
	return ret == -ENOMEM ? query_fail_memory(t->q) : ret;
}

const char *tables_error_name(const struct digest_error *e, char buf[32])
{
	/* an older name has the same value, and comes first in the enumeration */
	static const struct {
		int64_t status;
		const char *name;
	} renamed[] = { { 2, "hipErrorOutOfMemory" },
			{ 3, "hipErrorNotInitialized" },
			{ 205, "hipErrorMapFailed" },
			{ 400, "hipErrorInvalidHandle" } };
	const char *name = args_enum(e->status_type, (uint64_t)e->status);
	bool is_hip = strcmp(e->status_type, "hipError_t") == 0;

	for (size_t i = 0; is_hip && i < sizeof(renamed) / sizeof(renamed[0]); i++)
		if (renamed[i].status == e->status)
			name = renamed[i].name;
	snprintf(buf, 32, "error %lld", (long long)e->status);
	return name ? name : buf;
}

/* ---- columns of durations ---- */

struct sheet_column tables_time_column(size_t i, unsigned char drop)
{
	static const struct sheet_column columns[TABLES_TIMES] = {
		[0] = { "share", "SHARE", SHEET_SHARE },
		[1] = { "total_ns", "TOTAL", SHEET_TIME },
		[2] = { "calls", "CALLS", SHEET_COUNT },
		[3] = { "mean_ns", "MEAN", SHEET_TIME, .drop = 1 },
		[4] = { "min_ns", "MIN", SHEET_TIME, .drop = 6 },
		[5] = { "median_ns", "MEDIAN", SHEET_TIME, .drop = 3 },
		[6] = { "p99_ns", "P99", SHEET_TIME, .drop = 4 },
		[7] = { "max_ns", "MAX", SHEET_TIME, .drop = 5 },
	};
	struct sheet_column c = columns[i];

	if (drop)
		c.drop = (unsigned char)(drop + (c.drop ? 2u + c.drop : i));
	return c;
}

void tables_time_cells(const struct tables_job *job, struct sums *sums, struct sums_group *g,
		       struct sheet_cell cells[TABLES_TIMES])
{
	const struct sums_values *v = &g->values[SUMS_TIME];
	uint64_t all_ns = job->out->all_ns;
	const int64_t ns[] = { sums_mean(g, SUMS_TIME), v->min,
			       sums_quantile(sums, g, SUMS_TIME, 0.5),
			       sums_quantile(sums, g, SUMS_TIME, 0.99), v->max };

	cells[0] = (struct sheet_cell){ .real = all_ns ? (double)v->total / (double)all_ns : 0,
					.none = !all_ns };
	cells[1] = (struct sheet_cell){ .num = (uint64_t)v->total };
	cells[2] = (struct sheet_cell){ .num = g->calls };
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		cells[3 + i] = (struct sheet_cell){ .num = (uint64_t)ns[i], .none = !v->nr };
}

/* ---- tables that are divided ---- */

static const struct sheet_column part_columns[2][TABLES_PART_COLUMNS] = {
	{ { .key = "rank", .title = "RANK", .unit = SHEET_NUMBER },
	  { .key = "of_mean", .unit = SHEET_RATIO },
	  { .key = "max_of_mean", .title = "MAX/MEAN", .unit = SHEET_RATIO },
	  { .key = "slowest_rank", .title = "SLOWEST", .unit = SHEET_NUMBER } },
	{ { .key = "pid", .title = "PID", .unit = SHEET_NUMBER },
	  { .key = "of_mean", .unit = SHEET_RATIO },
	  { .key = "max_of_mean", .title = "MAX/MEAN", .unit = SHEET_RATIO },
	  { .key = "slowest_pid", .title = "SLOWEST", .unit = SHEET_NUMBER } },
};

static int find_parts(struct tables_job *job)
{
	struct query *q = job->t->q;
	struct tables_parts *p = &job->parts;
	bool ranks = job->split == TABLES_BY_RANK;
	int ret;

	p->nr = 1;
	if (job->split == TABLES_WHOLE)
		return 0;
	ret = query_read_processes(q);
	if (ret || !q->nr_processes)
		return ret;
	p->of = alloc_zero(q->nr_processes, sizeof(*p->of));
	p->numbers = alloc_zero(q->nr_processes, sizeof(*p->numbers));
	if (!p->of || !p->numbers)
		return query_fail_memory(q);
	p->nr = 0;
	for (size_t i = 0; i < q->nr_processes; i++) {
		int64_t number = ranks ? q->processes[i].rank : q->processes[i].pid;
		uint32_t part = 0;

		while (part < p->nr && p->numbers[part] != number)
			part++;
		p->nr += part == p->nr;
		p->numbers[part] = number;
		p->of[i] = part;
	}
	return 0;
}

uint32_t tables_part(const struct tables_job *job, uint32_t process)
{
	return job->parts.of ? job->parts.of[process] : 0;
}

uint32_t tables_part_of(const struct tables_job *job, int64_t id)
{
	const struct query_process *p = job->parts.of ? query_process_of(job->t->q, id) : NULL;

	return p ? job->parts.of[p - job->t->q->processes] : 0;
}

void tables_part_columns(struct tables_job *job)
{
	if (job->split != TABLES_WHOLE)
		sheet_columns(job->out, part_columns[job->split == TABLES_BY_PROCESS],
			      TABLES_PART_COLUMNS);
}

static struct sheet_cell number_cell(const struct tables_job *job, uint32_t part)
{
	int64_t number = job->parts.numbers ? job->parts.numbers[part] : -1;

	return (struct sheet_cell){ .num = (uint64_t)number, .none = number < 0 };
}

void tables_part_cells(const struct tables_job *job, uint32_t part, const uint64_t *all,
		       const bool *has, struct sheet_cell cells[TABLES_PART_COLUMNS])
{
	uint64_t sum = 0, nr = 0;
	uint32_t most = UINT32_MAX; /* of equal ones the first, whose row is the first, too */
	double mean;

	for (uint32_t i = 0; i < job->parts.nr; i++) {
		if (!has[i])
			continue;
		nr++;
		sum += all[i];
		if (most == UINT32_MAX || all[i] > all[most])
			most = i;
	}
	if (most == UINT32_MAX)
		most = part;
	mean = nr ? (double)sum / (double)nr : 0;
	cells[0] = number_cell(job, part);
	cells[1] = (struct sheet_cell){ .real = sum ? (double)all[part] / mean : 0, .none = !sum };
	cells[2] = (struct sheet_cell){ .real = sum ? (double)all[most] / mean : 0, .none = !sum };
	cells[3] = number_cell(job, most);
	cells[3].none |= !sum;
}

/* ---- making them ---- */

static int begin_jobs(struct tables *t, const struct tables_want *want, size_t nr,
		      struct sheet *out, struct tables_job *jobs)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < nr; i++) {
		struct tables_job *job = &jobs[i];

		*job = (struct tables_job){ .t = t,
					    .kind = want[i].kind,
					    .split = makers[want[i].kind].can_split ?
							     want[i].split :
							     TABLES_WHOLE,
					    .out = &out[i],
					    .nr_jobs = nr };
		out[i].most = t->is_sorted ? 0 : t->most;
		if (job->split != TABLES_WHOLE && !t->q->ours)
			sheet_missing(&out[i], "files of RPD do not describe processes");
		ret = find_parts(job);
		if (ret == 0 && makers[job->kind].begin && !out[i].missing)
			ret = makers[job->kind].begin(job);
	}
	return ret;
}

static int read_ops(struct tables *t, struct tables_job *jobs, size_t nr)
{
	const struct pass_reader **readers = alloc_zero(nr + 1, sizeof(*readers));
	size_t nr_readers = 0;
	int ret = readers ? 0 : query_fail_memory(t->q);

	for (size_t i = 0; ret == 0 && i < nr; i++)
		if (jobs[i].reader.take)
			readers[nr_readers++] = &jobs[i].reader;
	if (nr_readers)
		ret = pass_read(t->q, &t->kinds, readers, nr_readers);
	alloc_free(readers);
	return ret;
}

int tables_read(struct tables *t, const struct tables_want *want, size_t nr, struct sheet *out)
{
	struct tables_job *jobs = alloc_zero(nr + 1, sizeof(*jobs));
	int ret = jobs ? begin_jobs(t, want, nr, out, jobs) : query_fail_memory(t->q);

	if (ret == 0)
		ret = read_ops(t, jobs, nr);
	for (size_t i = 0; jobs && i < nr; i++) {
		const struct maker *maker = &makers[want[i].kind];

		if (ret == 0 && !out[i].missing)
			ret = maker->end(&jobs[i]);
		if (ret == 0 && sheet_check(&out[i]))
			ret = query_fail_memory(t->q);
		if (maker->done)
			maker->done(&jobs[i]);
		alloc_free(jobs[i].parts.of);
		alloc_free(jobs[i].parts.numbers);
	}
	alloc_free(jobs);
	return ret;
}
