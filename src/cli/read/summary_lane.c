/* SPDX-License-Identifier: MIT */
/* summary_lane.c - GPUs and streams: how long each was busy with kernels and copies
 *
 * Busy is the time with at least one operation: overlapping operations count once. Its share is that of the time after the start-up (analysis/wall.h). The queries sort rows by lane
 * and begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/read/summary.h"
#include "cli/ui.h"
#include "query/cause.h"
#include "query/label.h"

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
	C_SHARE,
	C_TOTAL,
	C_CALLS,
	C_MEAN,
	C_MIN,
	C_MEDIAN,
	C_P99,
	C_MAX,
	C_UNTIMED,
	C_NAME,
	C_NR
};

static const struct grid_column columns[C_NR] = {
	[C_GPU] = { "gpu", "GPU", GRID_COUNT },
	[C_STREAM] = { "stream", "STREAM", GRID_COUNT },
	[C_PID] = { "pid", "PID", GRID_NAME },
	[C_BUSY] = { "busy", "BUSY", GRID_SHARE },
	[C_BUSY_TIME] = { "busy_ns", "BUSY TIME", GRID_TIME },
	[C_SPAN] = { "span_ns", "SPAN", GRID_TIME, 4 },
	[C_KERNELS] = { "kernels", "KERNELS", GRID_COUNT },
	[C_KERNEL_TIME] = { "kernel_ns", "KERNEL TIME", GRID_TIME, 3 },
	[C_COPIES] = { "copies", "COPIES", GRID_COUNT, 2 },
	[C_COPY_TIME] = { "copy_ns", "COPY TIME", GRID_TIME, 1 },
	[C_SHARE] = { "share", "SHARE", GRID_SHARE, 5 },
	[C_TOTAL] = { "total_ns", "TOTAL", GRID_TIME, 6 },
	[C_CALLS] = { "calls", "CALLS", GRID_COUNT, 7 },
	[C_MEAN] = { "mean_ns", "MEAN", GRID_TIME, 8 },
	[C_MIN] = { "min_ns", "MIN", GRID_TIME, 12 },
	[C_MEDIAN] = { "median_ns", "MEDIAN", GRID_TIME, 9 },
	[C_P99] = { "p99_ns", "P99", GRID_TIME, 10 },
	[C_MAX] = { "max_ns", "MAX", GRID_TIME, 11 },
	[C_UNTIMED] = { "untimed", NULL, GRID_COUNT },
	[C_NAME] = { "name", "NAME", GRID_NAME },
};

struct lane {
	int64_t gpu, stream, pid;
	char *name;
	uint64_t kernels, kernel_ns, copies, copy_ns, busy_ns;
	int64_t first, until; /* begin of the first timed operation, end of all so far */
	struct stats_group *group;
};

struct lanes {
	struct summary *s;
	struct lane *lanes;
	size_t nr;
	bool streams, several; /* of several processes */
	struct wall wall;
};

/* Columns of every query: GPU, stream, process (block), begin, end, type, flags, name. */
static const char gpu_ours[] =
	"SELECT O.gpuId, 0, 0, O.start, O.end, O.opType_id, coalesce(K.flags, C.flags, 0), O.description_id FROM "
	"rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON C.op_id = "
	"O.id WHERE O.gpuId >= 0 ORDER BY 1, 4";
static const char gpu_rpd[] =
	"SELECT gpuId, 0, 0, start, \"end\", opType_id, 0, description_id FROM rocpd_op WHERE gpuId >= 0 "
	"ORDER BY 1, 4";

#define STREAM                                                                                     \
	" JOIN query_cause L ON L.op_id = O.id JOIN query_stream S ON S.block = O.id >> 32 AND "   \
	"S.name = L.stream WHERE O.gpuId >= 0 ORDER BY 1, 3, 2, 4"
static const char stream_ours[] =
	"SELECT O.gpuId, S.number, O.id >> 32, O.start, O.end, O.opType_id, coalesce(K.flags, C.flags, "
	"0), O.description_id FROM rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON "
	"C.op_id = O.id" STREAM;
static const char stream_rpd[] =
	"SELECT O.gpuId, S.number, O.id >> 32, O.start, O.\"end\", O.opType_id, 0, O.description_id FROM rocpd_op O" STREAM;

/* The first column of a query with two numbers as parameters, or "". */
static char *read_text(struct lanes *l, const char *sql, int64_t a, int64_t b)
{
	sqlite3_stmt *stmt = db_query(l->s->q, sql);
	char *text;

	sqlite3_bind_int64(stmt, 1, a);
	sqlite3_bind_int64(stmt, 2, b);
	text = ui_format("%s", db_step(l->s->q, stmt) ? query_text(stmt, 0) : "");
	sqlite3_finalize(stmt);
	return text;
}

static struct lane *begin_lane(struct lanes *l, int64_t gpu, int64_t stream, int64_t block)
{
	bool ours = l->s->q->ours;
	struct lane *lane;
	char key[64];

	l->lanes = reallocarray(l->lanes, l->nr + 1, sizeof(*l->lanes));
	if (!l->lanes)
		ui_die_memory();
	lane = &l->lanes[l->nr++];
	*lane = (struct lane){ .gpu = gpu, .stream = stream };
	snprintf(key, sizeof(key), "%lld %lld %lld", (long long)gpu, (long long)block,
		 (long long)stream);
	lane->group = stats_group(l->s->stats, key);
	if (l->streams) {
		char *handle =
			read_text(l,
				  "SELECT name FROM query_stream WHERE block = ?1 AND number = ?2",
				  block, stream);

		lane->name = ui_format("%s", label_stream(handle));
		free(handle);
		if (ours) {
			char *pid = read_text(
				l,
				"SELECT pid FROM rtl_process WHERE ?1 * 4294967296 BETWEEN "
				"id_first AND id_last",
				block, 0);

			lane->pid = strtoll(pid, NULL, 10);
			l->several |= lane->pid != l->lanes[0].pid;
			free(pid);
		}
	} else {
		lane->name =
			ours ? read_text(
				       l,
				       "SELECT coalesce(nullif(product, ''), name) || ' (' || name || "
				       "')' FROM rtl_agent WHERE gpu_id = ?1",
				       gpu, 0) :
			       ui_format("%s", "");
	}
	return lane;
}

static void add_to_lane(struct lanes *l, struct lane *lane, int64_t begin, int64_t end, bool copy)
{
	uint64_t ns = (uint64_t)end - (uint64_t)begin;

	if (!lane->group->values[STATS_TIME].nr)
		lane->first = lane->until = begin;
	stats_add(l->s->stats, lane->group, ns);
	if (end > lane->until) {
		lane->busy_ns += (uint64_t)(end - (begin > lane->until ? begin : lane->until));
		lane->until = end;
	}
	if (copy)
		lane->copy_ns += ns;
	else
		lane->kernel_ns += ns;
}

static void read_lanes(struct lanes *l, const char *sql)
{
	sqlite3_stmt *stmt = db_query(l->s->q, sql);
	int64_t gpu = -1, stream = -1, block = -1;
	struct lane *lane = NULL;

	while (db_step(l->s->q, stmt)) {
		int64_t begin = sqlite3_column_int64(stmt, 3), end = sqlite3_column_int64(stmt, 4);
		bool copy = summary_rows_kind(l->s, sqlite3_column_int64(stmt, 7),
					      sqlite3_column_int64(stmt, 5)) != KINDS_KERNEL;

		if (!lane || gpu != sqlite3_column_int64(stmt, 0) ||
		    stream != sqlite3_column_int64(stmt, 1) ||
		    block != sqlite3_column_int64(stmt, 2)) {
			gpu = sqlite3_column_int64(stmt, 0);
			stream = sqlite3_column_int64(stmt, 1);
			block = sqlite3_column_int64(stmt, 2);
			lane = begin_lane(l, gpu, stream, block);
		}
		lane->kernels += !copy;
		lane->copies += copy;
		if (rows_timed(begin, end, sqlite3_column_int64(stmt, 6))) {
			add_to_lane(l, lane, begin, end, copy);
		} else {
			stats_add_untimed(lane->group);
			l->s->nr_untimed++;
		}
	}
	sqlite3_finalize(stmt);
}

static void fill_cells(struct lanes *l, const struct lane *lane, uint64_t all_ns,
		       struct grid_cell cells[C_NR], char pid[24])
{
	const struct stats_values *v = &lane->group->values[STATS_TIME];
	uint64_t span = (uint64_t)(lane->until - lane->first);
	struct stats *stats = l->s->stats;
	bool none = !v->nr;

	snprintf(pid, 24, "%lld", (long long)lane->pid);
	cells[C_GPU].num = (uint64_t)lane->gpu;
	cells[C_STREAM].num = (uint64_t)lane->stream;
	cells[C_PID] = (struct grid_cell){ .text = pid, .none = !lane->pid };
	cells[C_BUSY].real = l->wall.work_ns ? (double)lane->busy_ns / (double)l->wall.work_ns : 0;
	cells[C_BUSY_TIME].num = lane->busy_ns;
	cells[C_SPAN].num = span;
	cells[C_KERNELS].num = lane->kernels;
	cells[C_KERNEL_TIME].num = lane->kernel_ns;
	cells[C_COPIES].num = lane->copies;
	cells[C_COPY_TIME].num = lane->copy_ns;
	cells[C_SHARE] = (struct grid_cell){ .real = all_ns ? (double)v->total / (double)all_ns : 0,
					     .none = !all_ns };
	cells[C_TOTAL].num = (uint64_t)v->total;
	cells[C_CALLS].num = lane->group->calls;
	cells[C_MEAN].num = (uint64_t)stats_mean(lane->group, STATS_TIME);
	cells[C_MIN].num = (uint64_t)v->min;
	cells[C_MEDIAN].num = (uint64_t)stats_quantile(stats, lane->group, STATS_TIME, 0.5);
	cells[C_P99].num = (uint64_t)stats_quantile(stats, lane->group, STATS_TIME, 0.99);
	cells[C_MAX].num = (uint64_t)v->max;
	for (int i = C_MEAN; i <= C_MAX; i++)
		cells[i].none = none;
	cells[C_UNTIMED].num = lane->group->calls - v->nr;
	cells[C_NAME].text = lane->name;
}

static size_t choose_columns(const struct lanes *l, struct grid_column out[C_NR], int map[C_NR])
{
	size_t nr = 0;

	for (int i = 0; i < C_NR; i++) {
		if ((i == C_STREAM || i == C_PID) && !l->streams)
			continue;
		out[nr] = columns[i];
		if (i == C_PID && !l->several)
			out[nr].title = NULL;
		map[nr++] = i;
	}
	return nr;
}

/* The begin of the first timed operation. */
static int64_t first_of(const struct lanes *l)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < l->nr; i++)
		if (l->lanes[i].group->values[STATS_TIME].nr && l->lanes[i].first < first)
			first = l->lanes[i].first;
	return first;
}

size_t summary_lane_print(struct summary *s)
{
	struct lanes l = { .s = s, .streams = s->by == SUMMARY_STREAM };
	bool ours = s->q->ours;
	struct grid_column chosen[C_NR];
	int map[C_NR];
	struct grid *grid;
	size_t nr_columns;

	if (l.streams)
		db_check(s->q, cause_make(s->q, true));
	read_lanes(&l, l.streams ? (ours ? stream_ours : stream_rpd) : ours ? gpu_ours : gpu_rpd);
	if (l.streams) {
		/* some operations have no stream */
		l.wall = summary_wall(s);
	} else {
		wall_read(s->q, &s->filter, &l.wall);
		wall_start(&l.wall, first_of(&l));
	}
	nr_columns = choose_columns(&l, chosen, map);
	grid = summary_grid(s, chosen, nr_columns);
	for (size_t i = 0; i < l.nr; i++)
		s->all_ns += (uint64_t)l.lanes[i].group->values[STATS_TIME].total;
	for (size_t i = 0; i < l.nr && summary_adds(s, i); i++) {
		struct grid_cell all[C_NR] = { { 0 } }, cells[C_NR];
		char pid[24];

		fill_cells(&l, &l.lanes[i], s->all_ns, all, pid);
		for (size_t c = 0; c < nr_columns; c++)
			cells[c] = all[map[c]];
		grid_row(grid, cells);
	}
	if (l.nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	for (size_t i = 0; i < l.nr; i++)
		free(l.lanes[i].name);
	free(l.lanes);
	return l.nr;
}
