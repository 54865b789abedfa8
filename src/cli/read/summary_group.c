/* SPDX-License-Identifier: MIT */
/* summary_group.c - a row for each kernel, call, kind of copy or marker
 *
 * Not here: reading the rows (summary_rows.c).
 */
#include <stdlib.h>
#include <unistd.h>

#include "cli/read/summary.h"
#include "cli/ui.h"

enum {
	C_SHARE,
	C_TOTAL,
	C_CALLS,
	C_MEAN,
	C_MIN,
	C_MEDIAN,
	C_P99,
	C_MAX,
	C_ERRORS,
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

static const struct grid_column columns[C_NR] = {
	[C_SHARE] = { "share", "SHARE", GRID_SHARE },
	[C_TOTAL] = { "total_ns", "TOTAL", GRID_TIME },
	[C_CALLS] = { "calls", "CALLS", GRID_COUNT },
	[C_MEAN] = { "mean_ns", "MEAN", GRID_TIME, 1 },
	[C_MIN] = { "min_ns", "MIN", GRID_TIME, 6 },
	[C_MEDIAN] = { "median_ns", "MEDIAN", GRID_TIME, 3 },
	[C_P99] = { "p99_ns", "P99", GRID_TIME, 4 },
	[C_MAX] = { "max_ns", "MAX", GRID_TIME, 5 },
	[C_ERRORS] = { "errors", "ERRORS", GRID_COUNT },
	[C_LAUNCH] = { "launch_median_ns", "LAUNCH", GRID_SPAN, 7 },
	[C_LAUNCH_MEAN] = { "launch_mean_ns", "LAUNCH MEAN", GRID_SPAN, 9 },
	[C_DELAY] = { "delay_median_ns", "DELAY", GRID_SPAN, 8 },
	[C_DELAY_MEAN] = { "delay_mean_ns", "DELAY MEAN", GRID_SPAN, 10 },
	[C_JOINED] = { "joined", NULL, GRID_COUNT },
	[C_GPU_TIME] = { "gpu_ns", "GPU TIME", GRID_TIME },
	[C_BYTES] = { "bytes", "BYTES", GRID_BYTES },
	[C_RATE] = { "bytes_per_s", "RATE", GRID_RATE },
	[C_GPUS] = { "gpus", "GPU", GRID_NAME, 2 },
	[C_UNTIMED] = { "untimed", NULL, GRID_COUNT },
	[C_NAME] = { "name", "NAME", GRID_NAME },
	[C_OCCUPANCY] = { "occupancy", "OCCUPANCY", GRID_SHARE, 11 },
	[C_LIMIT] = { "occupancy_limit", "LIMIT", GRID_NAME, 12 },
};

static bool is_wanted(const struct summary *s, size_t column)
{
	switch (column) {
	case C_ERRORS:
		return s->by == SUMMARY_API;
	case C_LAUNCH:
	case C_LAUNCH_MEAN:
	case C_DELAY:
	case C_DELAY_MEAN:
	case C_JOINED:
		return s->by == SUMMARY_KERNEL;
	case C_OCCUPANCY:
	case C_LIMIT:
		return s->by == SUMMARY_KERNEL && !s->internal && s->q->ours;
	case C_GPU_TIME:
		return s->by == SUMMARY_MARKER;
	case C_BYTES:
	case C_RATE:
		return s->by == SUMMARY_COPY;
	case C_GPUS:
		return s->by == SUMMARY_KERNEL || s->by == SUMMARY_COPY;
	default:
		return true;
	}
}

/* In a table: whether the column has values. */
static bool is_shown(const struct summary *s, size_t column)
{
	switch (column) {
	case C_ERRORS:
		return s->nr_errors > 0;
	case C_OCCUPANCY:
	case C_LIMIT:
		return query_number(s->q->db,
				    "SELECT EXISTS (SELECT 1 FROM rtl_kernel_symbol WHERE "
				    "vgpr_count > 0)",
				    0) != 0;
	case C_LAUNCH:
	case C_DELAY:
	case C_LAUNCH_MEAN:
	case C_DELAY_MEAN:
		return s->nr_joined > 0;
	default:
		return true;
	}
}

static size_t choose_columns(const struct summary *s, struct grid_column *out, size_t map[C_NR])
{
	size_t nr = 0;

	/* in a table the name is the last one; in csv and json new columns are at the end */
	for (size_t at = 0; at < C_NR; at++) {
		size_t i = s->format != GRID_TEXT || at < C_NAME ? at :
			   at + 1 < C_NR			 ? at + 1 :
								   C_NAME;

		if (!is_wanted(s, i))
			continue;
		out[nr] = columns[i];
		if (!is_shown(s, i))
			out[nr].title = NULL;
		out[nr].symbol = i == C_NAME && s->by == SUMMARY_KERNEL;
		map[nr++] = i;
	}
	return nr;
}

/* Mean or median of the times between kernels and their calls. */
static struct grid_cell distance_of(struct summary *s, struct stats_group *g,
				    enum stats_series series, bool mean)
{
	int64_t ns = mean ? stats_mean(g, series) : stats_quantile(s->stats, g, series, 0.5);

	return (struct grid_cell){ .num = (uint64_t)ns, .none = !g->values[series].nr };
}

static struct grid_cell cell_of(struct summary *s, struct stats_group *g, size_t column,
				uint64_t all_ns, char gpus[256])
{
	const struct stats_values *v = &g->values[STATS_TIME];
	bool none = !v->nr;

	switch (column) {
	case C_SHARE:
		return (struct grid_cell){ .real = all_ns ? (double)v->total / (double)all_ns : 0,
					   .none = !all_ns };
	case C_TOTAL:
		return (struct grid_cell){ .num = (uint64_t)v->total };
	case C_CALLS:
		return (struct grid_cell){ .num = g->calls };
	case C_MEAN:
		return (struct grid_cell){ .num = (uint64_t)stats_mean(g, STATS_TIME),
					   .none = none };
	case C_MIN:
		return (struct grid_cell){ .num = (uint64_t)v->min, .none = none };
	case C_MEDIAN:
	case C_P99:
		return (struct grid_cell){ .num = (uint64_t)stats_quantile(s->stats, g, STATS_TIME,
									   column == C_P99 ? 0.99 :
											     0.5),
					   .none = none };
	case C_MAX:
		return (struct grid_cell){ .num = (uint64_t)v->max, .none = none };
	case C_ERRORS:
		return (struct grid_cell){ .num = g->errors };
	case C_LAUNCH:
	case C_LAUNCH_MEAN:
		return distance_of(s, g, STATS_LAUNCH, column == C_LAUNCH_MEAN);
	case C_DELAY:
	case C_DELAY_MEAN:
		return distance_of(s, g, STATS_DELAY, column == C_DELAY_MEAN);
	case C_JOINED:
		return (struct grid_cell){ .num = g->values[STATS_LAUNCH].nr };
	case C_GPU_TIME:
		return (struct grid_cell){ .num = g->extra_ns, .none = !g->extra_ns };
	case C_BYTES:
		return (struct grid_cell){ .num = g->bytes };
	case C_RATE:
		return (struct grid_cell){
			.real = v->total ? (double)g->bytes * 1e9 / (double)v->total : 0,
			.none = !v->total
		};
	case C_GPUS:
		return (struct grid_cell){ .text = stats_gpus(gpus, 256, g->gpus),
					   .none = !g->gpus };
	case C_UNTIMED:
		return (struct grid_cell){ .num = g->calls - v->nr };
	default:
		return (struct grid_cell){ .text = g->name };
	}
}

static void add_occupancy(struct summary *s, const char *kernel, struct grid_cell *share,
			  struct grid_cell *limit)
{
	struct occupancy o;

	db_check(s->q, occupancy_read(s->q, &s->occupancy, kernel, &o));
	share->none = limit->none = !o.max_waves;
	share->real = o.max_waves ? (double)o.waves / o.max_waves : 0;
	limit->text = o.limit;
}

size_t summary_group_print(struct summary *s)
{
	struct grid_column chosen[C_NR];
	size_t map[C_NR], nr, nr_columns;
	struct stats_group **groups;
	struct grid *grid;

	if (s->by == SUMMARY_KERNEL)
		summary_rows_kernels(s);
	else if (s->by == SUMMARY_API)
		summary_rows_calls(s);
	else if (s->by == SUMMARY_COPY)
		summary_rows_copies(s);
	else
		summary_rows_markers(s);
	nr_columns = choose_columns(s, chosen, map);
	groups = stats_sorted(s->stats, &nr);
	grid = summary_grid(s, chosen, nr_columns);
	for (size_t i = 0; i < nr; i++)
		s->all_ns += (uint64_t)groups[i]->values[STATS_TIME].total;
	for (size_t i = 0; i < nr && summary_adds(s, i); i++) {
		struct grid_cell all[C_NR], cells[C_NR];
		char gpus[256];

		for (size_t c = 0; c < nr_columns; c++)
			if (map[c] != C_OCCUPANCY && map[c] != C_LIMIT)
				all[map[c]] = cell_of(s, groups[i], map[c], s->all_ns, gpus);
		if (is_wanted(s, C_OCCUPANCY))
			add_occupancy(s, groups[i]->name, &all[C_OCCUPANCY], &all[C_LIMIT]);
		for (size_t c = 0; c < nr_columns; c++)
			cells[c] = all[map[c]];
		grid_row(grid, cells);
	}
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	return nr;
}
