/* SPDX-License-Identifier: MIT */
/* table_ranges.c - a row for each range in each range */
#include "analysis/ranges.h"
#include "analysis/tables_internal.h"
#include "base/alloc.h"
#include "store/map.h"

#include <errno.h>
#include <string.h>

enum {
	C_GPU,
	C_OWN,
	C_OPS,
	C_SPAN,
	C_HOST,
	C_CALLS,
	C_MEAN,
	C_SHARE,
	C_DEPTH,
	C_PATH,
	C_NAME,
	C_NR
};

static const struct sheet_column columns[C_NR] = {
	[C_GPU] = { "gpu_ns", "GPU TIME", SHEET_TIME },
	[C_OWN] = { "gpu_own_ns", "OWN", SHEET_TIME },
	[C_OPS] = { "ops", "OPS", SHEET_COUNT, 3 },
	[C_SPAN] = { "gpu_span_ns", "GPU SPAN", SHEET_TIME, 2 },
	[C_HOST] = { "host_ns", "HOST TIME", SHEET_TIME },
	[C_CALLS] = { "calls", "CALLS", SHEET_COUNT },
	[C_MEAN] = { "host_mean_ns", "HOST MEAN", SHEET_TIME, 4 },
	[C_SHARE] = { "share", "SHARE", SHEET_SHARE, 1 },
	[C_DEPTH] = { "depth", NULL, SHEET_NUMBER },
	[C_PATH] = { "path", NULL, SHEET_NAME },
	[C_NAME] = { "name", "RANGE", SHEET_NAME, .is_last = true },
};

static uint32_t part_of(void *arg, int64_t id)
{
	return tables_part_of(arg, id);
}

static int take_op(void *arg, const struct pass_op *op)
{
	if (op->timed && op->marker)
		ranges_add(arg, op->marker, 1, (uint64_t)(op->end - op->begin), op->begin, op->end);
	return 0;
}

static void forget(void *arg)
{
	ranges_forget(arg);
}

int table_ranges_begin(struct tables_job *job)
{
	struct ranges *r = alloc_zero(1, sizeof(*r));
	int ret;

	job->state = r;
	if (!r)
		return query_fail_memory(job->t->q);
	ret = ranges_begin(r, job->t->q, job->parts.nr, part_of, job);
	if (ret == 0 && r->nr)
		job->reader = (struct pass_reader){ .take = take_op, .reset = forget, .arg = r };
	return ret;
}

static int add_row(struct tables_job *job, const struct ranges *r, const struct ranges_node *n,
		   const struct ranges_sums *s, const struct sheet_cell *parts)
{
	struct sheet_cell cells[C_NR + TABLES_PART_COLUMNS] = { { 0 } };
	uint64_t all_ns = job->out->all_ns;
	char *path = sheet_keeps(job->out) ? ranges_path(r, n) : NULL;

	if (!path && sheet_keeps(job->out))
		return query_fail_memory(job->t->q);
	cells[C_GPU].num = s->ns;
	cells[C_OWN].num = s->own_ns;
	cells[C_OPS].num = s->ops;
	cells[C_SPAN].num = s->span_ns;
	cells[C_HOST].num = s->host_ns;
	cells[C_CALLS].num = s->calls;
	cells[C_MEAN].num = s->calls ? s->host_ns / s->calls : 0;
	cells[C_SHARE] = (struct sheet_cell){ .real = all_ns ? (double)s->ns / (double)all_ns : 0,
					      .none = !all_ns };
	cells[C_DEPTH].num = (uint64_t)n->depth;
	cells[C_PATH].text = path;
	cells[C_NAME] =
		(struct sheet_cell){ .text = n->name,
				     .depth = (unsigned char)(n->depth < 255 ? n->depth : 255),
				     .mark = n->by_start ? " (start/stop)" : NULL };
	if (parts)
		memcpy(cells + C_NR, parts, TABLES_PART_COLUMNS * sizeof(*parts));
	sheet_row(job->out, cells);
	alloc_free(path);
	return 0;
}

/* The part with the most time that has no row yet. SIZE_MAX: there is none. */
static size_t next_part(const uint64_t *ns, const bool *todo, size_t nr)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < nr; i++)
		if (todo[i] && (best == SIZE_MAX || ns[i] > ns[best]))
			best = i;
	return best;
}

/* What a range is slow by: its time on GPUs, or the host's where it has none. */
static int add_parts(struct tables_job *job, const struct ranges *r, const struct ranges_node *n)
{
	uint32_t nr = job->parts.nr;
	uint64_t *ns = alloc_zero(nr, sizeof(*ns));
	bool *has = alloc_zero(nr, sizeof(*has)), *todo = alloc_zero(nr, sizeof(*todo));
	int ret = ns && has && todo ? 0 : query_fail_memory(job->t->q);

	for (uint32_t i = 0; ret == 0 && i < nr; i++) {
		ns[i] = n->all.ns ? n->parts[i].ns : n->parts[i].host_ns;
		has[i] = todo[i] = n->parts[i].calls > 0;
	}
	for (size_t at; ret == 0 && (at = next_part(ns, todo, nr)) != SIZE_MAX;) {
		struct sheet_cell cells[TABLES_PART_COLUMNS];

		todo[at] = false;
		tables_part_cells(job, (uint32_t)at, ns, has, cells);
		ret = add_row(job, r, n, &n->parts[at], cells);
	}
	alloc_free(ns);
	alloc_free(has);
	alloc_free(todo);
	return ret;
}

int table_ranges_end(struct tables_job *job)
{
	struct ranges *r = job->state;
	int ret = ranges_end(r);

	if (ret)
		return ret;
	sheet_columns(job->out, columns, C_NR);
	tables_part_columns(job);
	for (size_t i = 0; i < r->nr; i++)
		job->out->all_ns += r->nodes[i].all.own_ns;
	for (size_t i = 0; ret == 0 && i < r->nr; i++) {
		const struct ranges_node *n = &r->nodes[r->order[i]];

		ret = job->split == TABLES_WHOLE ? add_row(job, r, n, &n->all, NULL) :
						   add_parts(job, r, n);
	}
	return ret;
}

/* ---- by name ---- */

enum { N_GPU, N_OPS, N_NAME, N_NR };

static const struct sheet_column name_columns[N_NR] = {
	[N_GPU] = { "gpu_ns", "GPU TIME", SHEET_TIME },
	[N_OPS] = { "ops", "OPS", SHEET_COUNT },
	[N_NAME] = { "name", "RANGE", SHEET_NAME, .is_last = true },
};

struct by_name {
	const char *name; /* of a node */
	uint64_t ns, ops;
};

/* A range in one of its own name is in that one's sums. */
static bool is_outermost(const struct ranges *r, const struct ranges_node *n)
{
	for (size_t i = n->parent; i != SIZE_MAX; i = r->nodes[i].parent)
		if (strcmp(r->nodes[i].name, n->name) == 0)
			return false;
	return true;
}

static int add_to_name(struct by_name *all, size_t *nr, struct map *index,
		       const struct ranges_node *n)
{
	uint64_t hash = map_hash(n->name, strlen(n->name)), at;

	for (; map_get(index, hash, &at) && strcmp(all[at].name, n->name) != 0; hash++)
		;
	if (!map_get(index, hash, &at)) {
		at = (*nr)++;
		all[at] = (struct by_name){ .name = n->name };
		if (map_put(index, hash, at))
			return -ENOMEM;
	}
	all[at].ns += n->all.ns;
	all[at].ops += n->all.ops;
	return 0;
}

int table_ranges_names_end(struct tables_job *job)
{
	struct ranges *r = job->state;
	struct by_name *all = alloc_zero(r->nr + 1, sizeof(*all));
	struct map index = { 0 };
	size_t nr = 0;
	int ret = all ? ranges_end(r) : query_fail_memory(job->t->q);

	/* the longest first, mostly */
	for (size_t i = 0; ret == 0 && i < r->nr; i++) {
		const struct ranges_node *n = &r->nodes[r->order[i]];

		if (is_outermost(r, n) && add_to_name(all, &nr, &index, n))
			ret = query_fail_memory(job->t->q);
		job->out->all_ns += n->all.own_ns;
	}
	sheet_columns(job->out, name_columns, N_NR);
	for (size_t i = 0; ret == 0 && i < nr; i++) {
		const struct sheet_cell cells[N_NR] = { [N_GPU] = { .num = all[i].ns },
							[N_OPS] = { .num = all[i].ops },
							[N_NAME] = { .text = all[i].name } };

		sheet_row(job->out, cells);
	}
	if (ret == 0)
		sheet_sort(job->out, "gpu_ns");
	map_fini(&index);
	alloc_free(all);
	return ret;
}

void table_ranges_done(struct tables_job *job)
{
	if (job->state)
		ranges_fini(job->state);
	alloc_free(job->state);
}
