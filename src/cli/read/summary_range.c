/* SPDX-License-Identifier: MIT */
/* summary_range.c - roctx ranges as a tree, with the GPU time of what was launched in them
 *
 * A node is a message under a message: all ranges of that name under that one, of all threads. An operation belongs to the innermost
 * range of push and pop that was open on the thread that launched it, and to all ranges around that. It also belongs to each range of
 * start and stop during which it was launched, by any thread of the process. Files of RPD do not say which range an
 * operation belongs to.
 */
#include "cli/read/summary_range.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"

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

static const struct grid_column columns[C_NR] = {
	[C_GPU] = { "gpu_ns", "GPU TIME", GRID_TIME },
	[C_OWN] = { "gpu_own_ns", "OWN", GRID_TIME },
	[C_OPS] = { "ops", "OPS", GRID_COUNT, 3 },
	[C_SPAN] = { "gpu_span_ns", "GPU SPAN", GRID_TIME, 2 },
	[C_HOST] = { "host_ns", "HOST TIME", GRID_TIME },
	[C_CALLS] = { "calls", "CALLS", GRID_COUNT },
	[C_MEAN] = { "host_mean_ns", "HOST MEAN", GRID_TIME, 4 },
	[C_SHARE] = { "share", "SHARE", GRID_SHARE, 1 },
	[C_DEPTH] = { "depth", NULL, GRID_NUMBER },
	[C_PATH] = { "path", NULL, GRID_NAME },
	[C_NAME] = { "name", "RANGE", GRID_NAME },
};

/* A range that was opened: by its id. */
struct instance {
	int64_t id, parent, pid, start, end;
	size_t node;
	int level;
	bool by_start; /* of start and stop */
	uint64_t ns, own_ns, ops;
	int64_t first, last; /* of its operations on the GPU */
};

struct tree {
	struct summary *s;
	struct instance *all; /* by level, the outermost first */
	size_t nr, max;
	struct map by_id;
	struct summary_ranges *out;
	struct map by_name; /* of a node and a message: the node within */
};

static size_t node_of(struct tree *t, size_t parent, const char *name)
{
	uint64_t key = map_hash(name, strlen(name)) * 31 + parent + 1, at;
	struct summary_ranges *r = t->out;

	if (map_get(&t->by_name, key, &at))
		return at;
	r->nodes = reallocarray(r->nodes, r->nr + 1, sizeof(*r->nodes));
	if (!r->nodes || map_put(&t->by_name, key, r->nr))
		ui_die_memory();
	r->nodes[r->nr] = (struct summary_node){ .name = ui_format("%s", name),
						 .parent = parent,
						 .depth = parent == SIZE_MAX ?
								  0 :
								  r->nodes[parent].depth + 1 };
	return r->nr++;
}

/* Columns: id, parent, pid, begin, end, kind, level, message; the outermost first. */
static void read_instances(struct tree *t)
{
	sqlite3_stmt *stmt = db_query(
		t->s->q,
		"SELECT A.id, coalesce(M.parent_id, 0), A.pid, A.start, A.end, M.kind, M.level, U.string FROM "
		"rtl_marker_data M JOIN rocpd_api A ON A.id = M.api_id JOIN rocpd_ustring U ON U.id = "
		"A.args_id WHERE M.kind <> 0 ORDER BY M.level, A.start");

	t->max = (size_t)query_number(t->s->q->db,
				      "SELECT count(*) FROM rtl_marker_data WHERE kind <> 0", 0);
	t->all = calloc(t->max + 1, sizeof(*t->all));
	if (!t->all)
		ui_die_memory();
	while (db_step(t->s->q, stmt)) {
		struct instance *i;
		uint64_t parent;
		bool nested;

		if (t->nr == t->max)
			break; /* the file has grown */
		i = &t->all[t->nr];
		*i = (struct instance){ .id = sqlite3_column_int64(stmt, 0),
					.parent = -1,
					.pid = sqlite3_column_int64(stmt, 2),
					.start = sqlite3_column_int64(stmt, 3),
					.end = sqlite3_column_int64(stmt, 4),
					.by_start = sqlite3_column_int64(stmt, 5) == 2,
					.level = sqlite3_column_int(stmt, 6),
					.first = INT64_MAX,
					.last = INT64_MIN };
		/* a range of start and stop is in no other one: it may end anywhere */
		nested = !i->by_start &&
			 map_get(&t->by_id, (uint64_t)sqlite3_column_int64(stmt, 1), &parent);
		if (nested)
			i->parent = (int64_t)parent;
		i->node = node_of(t, nested ? t->all[parent].node : SIZE_MAX, query_text(stmt, 7));
		t->out->nodes[i->node].by_start |= i->by_start;
		if (map_put(&t->by_id, (uint64_t)i->id, t->nr++))
			ui_die_memory();
	}
	sqlite3_finalize(stmt);
}

static void add_span(struct instance *i, int64_t first, int64_t last)
{
	i->first = first < i->first ? first : i->first;
	i->last = last > i->last ? last : i->last;
}

/* Operations by their innermost range; then outwards. */
static void add_nested(struct tree *t)
{
	const struct digest *d = summary_digest(t->s);

	for (size_t i = 0; i < d->nr_markers; i++) {
		const struct digest_marker *m = &d->markers[i];
		uint64_t at;

		if (!map_get(&t->by_id, (uint64_t)m->id, &at))
			continue;
		t->all[at].ops += m->ops;
		t->all[at].own_ns += m->ns;
		t->all[at].ns += m->ns;
		add_span(&t->all[at], m->first, m->last);
	}
	for (size_t n = t->nr; n-- > 0;) {
		struct instance *i = &t->all[n], *outer;

		if (i->parent < 0)
			continue;
		outer = &t->all[i->parent];
		outer->ns += i->ns;
		outer->ops += i->ops;
		add_span(outer, i->first, i->last);
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct instance *x = *(struct instance *const *)a, *y = *(struct instance *const *)b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Operations by the time of their launch, for ranges of start and stop. */
static void add_started(struct tree *t)
{
	struct instance **open = calloc(t->nr + 1, sizeof(struct instance *));
	struct instance **started = calloc(t->nr + 1, sizeof(struct instance *));
	size_t nr = 0, next = 0, nr_open = 0;
	sqlite3_stmt *stmt;
	char sql[768];

	if (!open || !started)
		ui_die_memory();
	for (size_t i = 0; i < t->nr; i++)
		if (t->all[i].by_start)
			started[nr++] = &t->all[i];
	if (nr) {
		qsort(started, nr, sizeof(struct instance *), compare_starts);
		snprintf(
			sql, sizeof(sql),
			"SELECT coalesce(A.start, O.start) AS t, O.start, O.end, O.roctxId, P.pid FROM "
			"rocpd_op O JOIN rtl_process P ON O.id BETWEEN P.id_first AND P.id_last LEFT JOIN "
			"rtl_api_data X ON X.api_id = O.correlation_id LEFT JOIN main.rocpd_api A ON A.id = "
			"X.api_id LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON "
			"C.op_id = O.id WHERE O.end >= O.start AND coalesce(K.flags, C.flags, 0) & %d = 0 "
			"ORDER BY 1",
			QUERY_UNTIMED);
		stmt = db_query(t->s->q, sql);
		while (db_step(t->s->q, stmt)) {
			int64_t at = sqlite3_column_int64(stmt, 0), begin, end;
			uint64_t inner;
			size_t kept = 0;

			for (; next < nr && started[next]->start <= at; next++)
				open[nr_open++] = started[next];
			for (size_t i = 0; i < nr_open; i++)
				if (open[i]->end > at)
					open[kept++] = open[i];
			nr_open = kept;
			begin = sqlite3_column_int64(stmt, 1);
			end = sqlite3_column_int64(stmt, 2);
			if (!map_get(&t->by_id, (uint64_t)sqlite3_column_int64(stmt, 3), &inner))
				inner = SIZE_MAX;
			for (size_t i = 0; i < nr_open; i++) {
				if (open[i]->pid != sqlite3_column_int64(stmt, 4))
					continue;
				open[i]->ops++;
				open[i]->ns += (uint64_t)(end - begin);
				/* its own, unless a range that began within it has it */
				if (inner == SIZE_MAX || t->all[inner].start < open[i]->start)
					open[i]->own_ns += (uint64_t)(end - begin);
				add_span(open[i], begin, end);
			}
		}
		sqlite3_finalize(stmt);
	}
	free(open);
	free(started);
}

static void sum_nodes(struct tree *t)
{
	for (size_t n = 0; n < t->nr; n++) {
		const struct instance *i = &t->all[n];
		struct summary_node *node = &t->out->nodes[i->node];

		node->calls++;
		node->host_ns += i->end > i->start ? (uint64_t)(i->end - i->start) : 0;
		node->ns += i->ns;
		node->own_ns += i->own_ns;
		node->ops += i->ops;
		node->span_ns += i->last > i->first ? (uint64_t)(i->last - i->first) : 0;
	}
}

/* ---- order ---- */

static int compare_nodes(const void *a, const void *b, void *arg)
{
	const struct summary_node *nodes = arg;
	const struct summary_node *x = &nodes[*(const size_t *)a], *y = &nodes[*(const size_t *)b];

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->host_ns != y->host_ns)
		return x->host_ns > y->host_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Puts each node behind the one that it is in, the longest first. */
static void order_nodes(struct summary_ranges *r)
{
	size_t *sorted = calloc(r->nr + 1, sizeof(*sorted)), nr = 0;
	size_t *stack = calloc(r->nr + 1, sizeof(*stack)), depth = 0;

	r->order = calloc(r->nr + 1, sizeof(*r->order));
	if (!sorted || !stack || !r->order)
		ui_die_memory();
	for (size_t i = 0; i < r->nr; i++)
		sorted[i] = i;
	if (r->nr)
		qsort_r(sorted, r->nr, sizeof(*sorted), compare_nodes, r->nodes);
	/* lists of the nodes within each node, in that order: the last one is pushed first */
	for (size_t i = r->nr; i-- > 0;) {
		struct summary_node *n = &r->nodes[sorted[i]];

		if (n->parent == SIZE_MAX) {
			n->next = r->first;
			r->first = sorted[i] + 1;
		} else {
			n->next = r->nodes[n->parent].inner;
			r->nodes[n->parent].inner = sorted[i] + 1;
		}
	}
	for (size_t at = r->first; at || depth;) {
		if (!at) {
			at = r->nodes[stack[--depth]].next;
			continue;
		}
		r->order[nr++] = at - 1;
		stack[depth++] = at - 1;
		at = r->nodes[at - 1].inner;
	}
	free(stack);
	free(sorted);
}

void summary_range_read(struct summary *s, struct summary_ranges *out)
{
	struct tree t = { .s = s, .out = out };

	*out = (struct summary_ranges){ 0 };
	if (!s->q->ours)
		return;
	read_instances(&t);
	if (t.nr) {
		add_nested(&t);
		add_started(&t);
		sum_nodes(&t);
	}
	order_nodes(out);
	free(t.all);
	map_fini(&t.by_id);
	map_fini(&t.by_name);
}

void summary_range_free(struct summary_ranges *r)
{
	for (size_t i = 0; i < r->nr; i++)
		free(r->nodes[i].name);
	free(r->nodes);
	free(r->order);
}

/* ---- the table ---- */

static char *path_of(const struct summary_ranges *r, const struct summary_node *n)
{
	char *path = ui_format("%s", n->name);

	while (n->parent != SIZE_MAX) {
		char *longer;

		n = &r->nodes[n->parent];
		longer = ui_format("%s/%s", n->name, path);
		free(path);
		path = longer;
	}
	return path;
}

size_t summary_range_print(struct summary *s)
{
	struct summary_ranges r;
	struct grid *grid;
	size_t nr;

	summary_range_read(s, &r);
	nr = r.nr;
	grid = summary_grid(s, columns, C_NR);
	for (size_t i = 0; i < r.nr; i++)
		s->all_ns += r.nodes[r.order[i]].own_ns;
	for (size_t i = 0; i < r.nr && summary_adds(s, i); i++) {
		const struct summary_node *n = &r.nodes[r.order[i]];
		struct grid_cell cells[C_NR] = { { 0 } };
		char *path = path_of(&r, n), *name;

		name = ui_format("%*s%s%s", s->format == GRID_TEXT ? 2 * n->depth : 0, "", n->name,
				 s->format == GRID_TEXT && n->by_start ? " (start/stop)" : "");
		cells[C_GPU].num = n->ns;
		cells[C_OWN].num = n->own_ns;
		cells[C_OPS].num = n->ops;
		cells[C_SPAN].num = n->span_ns;
		cells[C_HOST].num = n->host_ns;
		cells[C_CALLS].num = n->calls;
		cells[C_MEAN].num = n->calls ? n->host_ns / n->calls : 0;
		cells[C_SHARE] =
			(struct grid_cell){ .real = s->all_ns ? (double)n->ns / (double)s->all_ns :
								0,
					    .none = !s->all_ns };
		cells[C_DEPTH].num = (uint64_t)n->depth;
		cells[C_PATH].text = path;
		cells[C_NAME].text = name;
		grid_row(grid, cells);
		free(path);
		free(name);
	}
	if (nr || s->format != GRID_TEXT)
		grid_print(grid);
	grid_destroy(grid);
	summary_range_free(&r);
	return nr;
}
