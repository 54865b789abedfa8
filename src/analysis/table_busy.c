/* SPDX-License-Identifier: MIT */
/* table_busy.c - GPUs and streams: how long each was busy with kernels and copies
 *
 * Busy is the time with at least one operation: overlapping operations count once. Its share is
 * that of the time after the start-up (wall.h). Operations come by their begin: those of GPUs from
 * the pass, those of streams from a query, which sorts them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "query/cause.h"
#include "query/label.h"
#include "query/rows.h"

#define VALUES (2u << 20) /* in memory, of all tables of a call */

enum {
	C_GPU,
	C_STREAM,
	C_PID,
	C_BUSY,
	C_BUSY_TIME,
	C_SPAN,
	C_KERNELS,
	C_KERNEL_TIME,
	C_COPIES,
	C_COPY_TIME,
	C_TIMES,
	C_UNTIMED = C_TIMES + TABLES_TIMES,
	C_NAME,
	C_RANK,
	C_RANKS,
	C_PIDS,
	C_NR
};

static const struct sheet_column columns[C_NR] = {
	[C_GPU] = { "gpu", "GPU", SHEET_COUNT },
	[C_STREAM] = { "stream", "STREAM", SHEET_COUNT },
	[C_PID] = { "pid", "PID", SHEET_NAME },
	[C_BUSY] = { "busy", "BUSY", SHEET_SHARE },
	[C_BUSY_TIME] = { "busy_ns", "BUSY TIME", SHEET_TIME },
	[C_SPAN] = { "span_ns", "SPAN", SHEET_TIME, 4 },
	[C_KERNELS] = { "kernels", "KERNELS", SHEET_COUNT },
	[C_KERNEL_TIME] = { "kernel_ns", "KERNEL TIME", SHEET_TIME, 3 },
	[C_COPIES] = { "copies", "COPIES", SHEET_COUNT, 2 },
	[C_COPY_TIME] = { "copy_ns", "COPY TIME", SHEET_TIME, 1 },
	[C_UNTIMED] = { "untimed", NULL, SHEET_COUNT },
	[C_NAME] = { "name", "NAME", SHEET_NAME, .is_last = true },
	[C_RANK] = { "rank", "RANK", SHEET_NUMBER },
	[C_RANKS] = { "ranks", "RANK", SHEET_NAME },
	[C_PIDS] = { "pids", "PID", SHEET_NAME, 14 },
};

struct usage {
	int64_t gpu, stream, block; /* block: of the ids of a process */
	uint32_t process;	    /* of a stream */
	char *name;
	bool *uses;   /* of a GPU: which processes use it */
	bool is_used; /* has a first */
	uint64_t kernels, kernel_ns, copies, copy_ns, busy_ns;
	int64_t first, until; /* begin of the first timed operation, end of all so far */
	struct sums_group *group;
};

struct usages {
	struct tables_job *job;
	struct sums *sums;
	struct usage *usages;
	size_t nr, max, last; /* last: of the operation before */
	size_t nr_processes;
	uint64_t nr_untimed;
};

static void free_usages(struct usages *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		alloc_free(l->usages[i].name);
		alloc_free(l->usages[i].uses);
	}
	l->nr = l->last = 0;
	l->nr_untimed = 0;
}

/* NULL: out of memory. */
static struct usage *usage_of(struct usages *l, int64_t gpu, int64_t stream, int64_t block)
{
	struct usage *grown, *usage;

	for (size_t i = 0; i < l->nr; i++) {
		size_t at = (l->last + i) % l->nr;

		usage = &l->usages[at];
		if (usage->gpu == gpu && usage->stream == stream && usage->block == block) {
			l->last = at;
			return usage;
		}
	}
	grown = alloc_grow(l->usages, l->nr, &l->max, 16, sizeof(*grown));
	if (!grown)
		return NULL;
	l->usages = grown;
	usage = &grown[l->nr];
	*usage = (struct usage){ .gpu = gpu, .stream = stream, .block = block };
	usage->group = sums_group_of(l->sums, l->nr, 0);
	usage->uses = alloc_zero(l->nr_processes + 1, sizeof(*usage->uses));
	l->last = l->nr;
	l->nr += usage->uses != NULL;
	return usage->uses ? usage : NULL;
}

static void add_op(struct usages *l, struct usage *usage, int64_t begin, int64_t end, bool timed,
		   bool copy)
{
	uint64_t ns = (uint64_t)end - (uint64_t)begin;

	usage->kernels += !copy;
	usage->copies += copy;
	if (!timed) {
		sums_add_untimed(usage->group);
		l->nr_untimed++;
		return;
	}
	sums_add(l->sums, usage->group, ns);
	if (copy)
		usage->copy_ns += ns;
	else
		usage->kernel_ns += ns;
	if (!slice_clip(&l->job->t->filter, &begin, &end))
		return;
	if (!usage->is_used)
		usage->first = usage->until = begin;
	usage->is_used = true;
	if (end > usage->until) {
		usage->busy_ns += (uint64_t)(end - (begin > usage->until ? begin : usage->until));
		usage->until = end;
	}
}

static int take_op(void *arg, const struct pass_op *op)
{
	struct usages *l = arg;
	struct usage *usage;

	if (op->gpu < 0)
		return 0;
	usage = usage_of(l, op->gpu, 0, 0);
	if (!usage)
		return -ENOMEM;
	usage->uses[op->process] = true;
	add_op(l, usage, op->begin, op->end, op->timed, op->kind != KINDS_KERNEL);
	return 0;
}

static void forget(void *arg)
{
	struct usages *l = arg;

	free_usages(l);
	sums_clear(l->sums);
}

/* ---- streams ---- */

/* Columns: GPU, stream, block, begin, end, type, flags, name. */
#define STREAM                                                                                     \
	" JOIN query_cause L ON L.op_id = O.id JOIN query_stream S ON S.block = O.id >> 32 AND "   \
	"S.name = L.stream WHERE O.gpuId >= 0 ORDER BY 1, 3, 2, 4"
static const char stream_ours[] =
	"SELECT O.gpuId, S.number, O.id >> 32, O.start, O.end, O.opType_id, coalesce(K.flags, C.flags, "
	"0), O.description_id FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON "
	"C.op_id = O.id" STREAM;
static const char stream_rpd[] =
	"SELECT O.gpuId, S.number, O.id >> 32, O.start, O.\"end\", O.opType_id, 0, O.description_id FROM rocpd_op O" STREAM;

static int take_stream_op(void *arg, sqlite3_stmt *row)
{
	struct usages *l = arg;
	int64_t begin = sqlite3_column_int64(row, 3), end = sqlite3_column_int64(row, 4);
	struct usage *usage = usage_of(l, sqlite3_column_int64(row, 0),
				       sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2));

	if (!usage)
		return -ENOMEM;
	add_op(l, usage, begin, end, rows_timed(begin, end, sqlite3_column_int64(row, 6)),
	       kinds_of(&l->job->t->kinds, sqlite3_column_int64(row, 7),
			sqlite3_column_int64(row, 5)) != KINDS_KERNEL);
	return 0;
}

static int read_streams(struct usages *l)
{
	struct tables *t = l->job->t;
	int ret = kinds_read(t->q, &t->kinds);

	if (ret == 0)
		ret = cause_make(t->q, true);
	return ret ? ret : tables_rows(t, t->q->ours ? stream_ours : stream_rpd, take_stream_op, l);
}

/* ---- names ---- */

/* The first column of a query with two numbers as parameters, or "". */
static int read_text(struct query *q, const char *sql, int64_t a, int64_t b, char **out)
{
	sqlite3_stmt *stmt = NULL;
	int ret = query_prepare(q, &stmt, sql);

	if (ret == 0) {
		sqlite3_bind_int64(stmt, 1, a);
		sqlite3_bind_int64(stmt, 2, b);
		ret = query_step(q, stmt);
	}
	*out = ret < 0 ? NULL : alloc_string(ret ? query_text(stmt, 0) : "");
	sqlite3_finalize(stmt);
	return ret < 0 ? ret : *out ? 0 : query_fail_memory(q);
}

static int name_stream(struct usages *l, struct usage *usage)
{
	struct query *q = l->job->t->q;
	const struct query_process *p = query_process_of(q, usage->block << 32);
	char *handle;
	int ret = read_text(q, "SELECT name FROM query_stream WHERE block = ?1 AND number = ?2",
			    usage->block, usage->stream, &handle);

	if (ret)
		return ret;
	usage->process = p ? (uint32_t)(p - q->processes) : 0;
	usage->name = alloc_string(label_stream(handle));
	alloc_free(handle);
	return usage->name ? 0 : query_fail_memory(q);
}

static int name_usage(struct usages *l, struct usage *usage)
{
	struct query *q = l->job->t->q;

	if (l->job->kind == TABLES_STREAM)
		return name_stream(l, usage);
	if (q->ours)
		return read_text(q,
				 "SELECT coalesce(nullif(product, ''), name) || ' (' || name || "
				 "')' FROM rtl_agent WHERE gpu_id = ?1",
				 usage->gpu, 0, &usage->name);
	usage->name = alloc_string("");
	return usage->name ? 0 : query_fail_memory(q);
}

/* ---- rows ---- */

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* "0,2-5", of the ranks or pids of the processes that use a GPU; as many as there is space for. */
static const char *list_of(const struct usages *l, const struct usage *usage, bool ranks,
			   int64_t *numbers, char *buf, size_t size)
{
	const struct query *q = l->job->t->q;
	size_t nr = 0, used = 0;

	buf[0] = 0;
	for (size_t i = 0; i < q->nr_processes; i++) {
		int64_t number = ranks ? q->processes[i].rank : q->processes[i].pid;

		if (usage->uses[i] && number >= 0)
			numbers[nr++] = number;
	}
	if (nr)
		qsort(numbers, nr, sizeof(*numbers), compare_numbers);
	for (size_t i = 0, last; i < nr && used + 48 < size; i = last + 1) {
		for (last = i; last + 1 < nr && numbers[last + 1] <= numbers[last] + 1; last++)
			;
		used += (size_t)snprintf(buf + used, size - used, "%s%lld", used ? "," : "",
					 (long long)numbers[i]);
		if (numbers[last] != numbers[i])
			used += (size_t)snprintf(buf + used, size - used, "%s%lld",
						 numbers[last] > numbers[i] + 1 ? "-" : ",",
						 (long long)numbers[last]);
	}
	if (used + 48 >= size)
		snprintf(buf + used, size - used, ",...");
	return buf;
}

static void fill_process(const struct usages *l, const struct usage *usage, char pid[24],
			 struct sheet_cell cells[C_NR])
{
	const struct query *q = l->job->t->q;
	const struct query_process *p =
		usage->process < q->nr_processes ? &q->processes[usage->process] : NULL;

	snprintf(pid, 24, "%lld", p ? (long long)p->pid : 0LL);
	cells[C_PID] = (struct sheet_cell){ .text = pid, .none = !p || !p->pid };
	cells[C_RANK] =
		(struct sheet_cell){ .num = p ? (uint64_t)p->rank : 0, .none = !p || p->rank < 0 };
}

static void fill_cells(struct usages *l, const struct usage *usage, const struct wall *wall,
		       struct sheet_cell cells[C_NR])
{
	cells[C_GPU].num = (uint64_t)usage->gpu;
	cells[C_STREAM].num = (uint64_t)usage->stream;
	cells[C_BUSY].real = wall->work_ns ? (double)usage->busy_ns / (double)wall->work_ns : 0;
	cells[C_BUSY_TIME].num = usage->busy_ns;
	cells[C_SPAN].num = (uint64_t)(usage->until - usage->first);
	cells[C_KERNELS].num = usage->kernels;
	cells[C_KERNEL_TIME].num = usage->kernel_ns;
	cells[C_COPIES].num = usage->copies;
	cells[C_COPY_TIME].num = usage->copy_ns;
	tables_time_cells(l->job, l->sums, usage->group, &cells[C_TIMES]);
	cells[C_UNTIMED].num = usage->group->calls - usage->group->values[SUMS_TIME].nr;
	cells[C_NAME].text = usage->name;
}

static size_t choose_columns(struct usages *l, int map[C_NR])
{
	const struct query *q = l->job->t->q;
	bool streams = l->job->kind == TABLES_STREAM, ranks = false, several = false;
	size_t nr = 0;

	for (size_t i = 0; i < q->nr_processes; i++) {
		ranks |= q->processes[i].rank >= 0;
		several |= streams ? false : q->nr_processes > 1;
	}
	for (size_t i = 0; streams && i < l->nr; i++)
		several |= l->usages[i].process != l->usages[0].process;
	for (int i = 0; i < C_NR; i++) {
		struct sheet_column c = columns[i];

		if (i >= C_TIMES && i < C_UNTIMED)
			c = tables_time_column((size_t)(i - C_TIMES), 5);
		if (((i == C_STREAM || i == C_PID || i == C_RANK) && !streams) ||
		    ((i == C_RANKS || i == C_PIDS) && streams))
			continue;
		if (((i == C_PID || i == C_PIDS) && !several) ||
		    ((i == C_RANK || i == C_RANKS) && !(several && ranks)))
			c.title = NULL;
		sheet_columns(l->job->out, &c, 1);
		map[nr++] = i;
	}
	return nr;
}

static int add_rows(struct usages *l, const struct wall *wall)
{
	int64_t *numbers = alloc_zero(l->nr_processes + 1, sizeof(*numbers));
	size_t size = 4096, nr;
	char *ranks = alloc_heap(size), *pids = alloc_heap(size), pid[24];
	int map[C_NR], ret = numbers && ranks && pids ? 0 : query_fail_memory(l->job->t->q);

	nr = choose_columns(l, map);
	for (size_t i = 0; ret == 0 && i < l->nr; i++) {
		struct sheet_cell all[C_NR] = { { 0 } }, cells[C_NR];
		const struct usage *usage = &l->usages[i];

		if (sheet_keeps(l->job->out)) {
			fill_cells(l, usage, wall, all);
			fill_process(l, usage, pid, all);
			all[C_RANKS].text = list_of(l, usage, true, numbers, ranks, size);
			all[C_PIDS].text = list_of(l, usage, false, numbers, pids, size);
			all[C_RANKS].none = !*ranks;
			all[C_PIDS].none = !*pids;
		}
		for (size_t c = 0; c < nr; c++)
			cells[c] = all[map[c]];
		sheet_row(l->job->out, cells);
	}
	alloc_free(numbers);
	alloc_free(ranks);
	alloc_free(pids);
	return ret;
}

static int compare_usages(const void *a, const void *b)
{
	const struct usage *x = a, *y = b;

	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

int table_busy_begin(struct tables_job *job)
{
	struct usages *l = alloc_zero(1, sizeof(*l));
	int ret;

	job->state = l;
	if (!l)
		return query_fail_memory(job->t->q);
	l->job = job;
	l->sums = sums_create(VALUES / job->nr_jobs);
	ret = l->sums ? query_read_processes(job->t->q) : query_fail_memory(job->t->q);
	l->nr_processes = job->t->q->nr_processes;
	if (job->kind == TABLES_GPU)
		job->reader = (struct pass_reader){
			.take = take_op, .reset = forget, .arg = l, .ordered = true
		};
	return ret;
}

int table_busy_end(struct tables_job *job)
{
	struct usages *l = job->state;
	int64_t first = 0;
	struct wall wall;
	int ret = job->kind == TABLES_STREAM ? read_streams(l) : 0;

	if (ret == 0)
		ret = sums_check(l->sums, job->t->q);
	if (ret == 0 && l->nr)
		qsort(l->usages, l->nr, sizeof(*l->usages), compare_usages);
	for (size_t i = 0; ret == 0 && i < l->nr; i++) {
		const struct sums_values *v = &l->usages[i].group->values[SUMS_TIME];

		ret = name_usage(l, &l->usages[i]);
		job->out->all_ns += (uint64_t)v->total;
		if (l->usages[i].is_used && (!first || l->usages[i].first < first))
			first = l->usages[i].first;
	}
	if (ret)
		return ret;
	job->out->nr_untimed = l->nr_untimed;
	if (job->kind == TABLES_STREAM) {
		/* some operations have no stream */
		wall = tables_wall(job->t);
	} else {
		wall_read(job->t->q, &job->t->filter, &wall);
		wall_start(job->t->q, &wall, first);
	}
	ret = add_rows(l, &wall);
	return ret ? ret : sums_check(l->sums, job->t->q);
}

void table_busy_done(struct tables_job *job)
{
	struct usages *l = job->state;

	if (!l)
		return;
	free_usages(l);
	alloc_free(l->usages);
	sums_destroy(l->sums);
	alloc_free(l);
}
