/* SPDX-License-Identifier: MIT */
/* ranges.c - roctx ranges as a tree */
#include "analysis/ranges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* A range that was opened: by its id. */
struct ranges_instance {
	int64_t id, pid, start, end;
	int64_t parent;		/* its number in ranges.all, -1: none; its id until that is known */
	int64_t level, message; /* id of its text */
	size_t node;
	uint32_t part;
	bool by_start; /* of start and stop */
	struct {
		uint64_t ns, own_ns, ops;
		int64_t first, last; /* of its operations on the GPU */
	} gpu;
};

static int node_of(struct ranges *r, size_t parent, const char *name, size_t *out)
{
	uint64_t key = map_hash(name, strlen(name)) * 31 + parent + 1, at;
	struct ranges_node *n;

	if (map_get(&r->by_name, key, &at)) {
		*out = at;
		return 0;
	}
	n = alloc_grow(r->nodes, r->nr, &r->max, 16, sizeof(*n));
	if (!n)
		return -ENOMEM;
	r->nodes = n;
	n += r->nr;
	*n = (struct ranges_node){ .name = alloc_string(name),
				   .parts = alloc_zero(r->nr_parts, sizeof(*n->parts)),
				   .parent = parent,
				   .depth = parent == SIZE_MAX ? 0 : r->nodes[parent].depth + 1 };
	*out = r->nr++;
	return n->name && n->parts ? map_put(&r->by_name, key, *out) : -ENOMEM;
}

/* The outermost first. */
static int compare_instances(const void *a, const void *b)
{
	const struct ranges_instance *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The instances as they are in the file, put in order: mostly they are. */
static int read_instances(struct ranges *r, size_t max)
{
	/* texts are read once for each node: SQLite would read one for each row, and sort them */
	static const char sql[] =
		"SELECT A.id, coalesce(M.parent_id, 0), A.pid, A.start, A.end, M.kind, A.args_id, "
		"M.level FROM rtl_marker_data M JOIN rocpd_api A ON A.id = M.api_id WHERE M.kind <> 0";
	sqlite3_stmt *row = NULL;
	bool in_order = true;
	int ret = query_prepare(r->q, &row, sql);

	while (ret == 0 && r->nr_all < max && (ret = query_step(r->q, row)) == 1) {
		struct ranges_instance *i = &r->all[r->nr_all++];

		*i = (struct ranges_instance){ .id = sqlite3_column_int64(row, 0),
					       .parent = sqlite3_column_int64(row, 1),
					       .pid = sqlite3_column_int64(row, 2),
					       .start = sqlite3_column_int64(row, 3),
					       .end = sqlite3_column_int64(row, 4),
					       .by_start = sqlite3_column_int64(row, 5) == 2,
					       .message = sqlite3_column_int64(row, 6),
					       .level = sqlite3_column_int64(row, 7),
					       .gpu = { .first = INT64_MAX, .last = INT64_MIN } };
		if (r->nr_all > 1 && compare_instances(i - 1, i) > 0)
			in_order = false;
		ret = 0;
	}
	sqlite3_finalize(row);
	if (ret == 0 && !in_order)
		qsort(r->all, r->nr_all, sizeof(*r->all), compare_instances);
	return ret;
}

/* The node of an instance whose parent is known. `texts`: the nodes by parent and id of the
 * text. */
static int find_node(struct ranges *r, struct ranges_instance *i, struct map *texts,
		     sqlite3_stmt *text)
{
	size_t parent = i->parent < 0 ? SIZE_MAX : r->all[i->parent].node;
	const uint64_t both[] = { parent, (uint64_t)i->message };
	uint64_t key = map_hash(both, sizeof(both)), node;
	int ret;

	if (map_get(texts, key, &node)) {
		i->node = node;
		return 0;
	}
	sqlite3_bind_int64(text, 1, i->message);
	ret = query_step(r->q, text);
	if (ret < 0)
		return ret;
	ret = node_of(r, parent, ret == 1 ? query_text(text, 0) : "", &i->node);
	sqlite3_reset(text);
	return ret ? ret : map_put(texts, key, i->node);
}

static int link_instance(struct ranges *r, size_t at, struct map *texts, sqlite3_stmt *text)
{
	struct ranges_instance *i = &r->all[at];
	uint64_t parent;
	int ret;

	/* a range of start and stop is in no other one: it may end anywhere */
	i->parent = !i->by_start && map_get(&r->by_id, (uint64_t)i->parent, &parent) ?
			    (int64_t)parent :
			    -1;
	ret = find_node(r, i, texts, text);
	if (ret)
		return ret;
	r->nodes[i->node].by_start |= i->by_start;
	return map_put(&r->by_id, (uint64_t)i->id, at);
}

int ranges_begin(struct ranges *r, struct query *q, uint32_t nr_parts,
		 uint32_t (*part)(void *arg, int64_t id), void *arg)
{
	struct map texts = { 0 };
	sqlite3_stmt *text = NULL;
	size_t max;
	int ret;

	r->q = q;
	r->nr_parts = nr_parts;
	if (!q->ours)
		return 0;
	max = (size_t)query_number(q->db, "SELECT count(*) FROM rtl_marker_data WHERE kind <> 0",
				   0);
	r->all = alloc_zero(max + 1, sizeof(*r->all));
	ret = r->all ? read_instances(r, max) : -ENOMEM;
	if (ret == 0)
		ret = query_prepare(q, &text, "SELECT string FROM rocpd_ustring WHERE id = ?1");
	for (size_t n = 0; ret == 0 && n < r->nr_all; n++) {
		r->all[n].part = part ? part(arg, r->all[n].id) : 0;
		ret = link_instance(r, n, &texts, text);
	}
	sqlite3_finalize(text);
	map_fini(&texts);
	return ret == -ENOMEM ? query_fail_memory(q) : ret;
}

static void add_span(struct ranges_instance *i, int64_t first, int64_t last)
{
	i->gpu.first = first < i->gpu.first ? first : i->gpu.first;
	i->gpu.last = last > i->gpu.last ? last : i->gpu.last;
}

void ranges_add(struct ranges *r, int64_t marker, uint64_t ops, uint64_t ns, int64_t first,
		int64_t last)
{
	uint64_t at = r->last;

	/* the next operation is of the same range, mostly */
	if ((at >= r->nr_all || r->all[at].id != marker) &&
	    !map_get(&r->by_id, (uint64_t)marker, &at))
		return;
	r->last = at;
	r->all[at].gpu.ops += ops;
	r->all[at].gpu.own_ns += ns;
	r->all[at].gpu.ns += ns;
	add_span(&r->all[at], first, last);
}

void ranges_forget(struct ranges *r)
{
	for (size_t i = 0; i < r->nr_all; i++) {
		memset(&r->all[i].gpu, 0, sizeof(r->all[i].gpu));
		r->all[i].gpu.first = INT64_MAX;
		r->all[i].gpu.last = INT64_MIN;
	}
}

/* From the innermost ranges outwards. */
static void add_nested(struct ranges *r)
{
	for (size_t n = r->nr_all; n-- > 0;) {
		struct ranges_instance *i = &r->all[n], *outer;

		if (i->parent < 0)
			continue;
		outer = &r->all[i->parent];
		outer->gpu.ns += i->gpu.ns;
		outer->gpu.ops += i->gpu.ops;
		add_span(outer, i->gpu.first, i->gpu.last);
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct ranges_instance *x = *(struct ranges_instance *const *)a,
				     *y = *(struct ranges_instance *const *)b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Operations by the time of their launch, for ranges of start and stop. */
static int add_started(struct ranges *t)
{
	struct ranges_instance **open = alloc_zero(t->nr_all + 1, sizeof(struct ranges_instance *));
	struct ranges_instance **started =
		alloc_zero(t->nr_all + 1, sizeof(struct ranges_instance *));
	size_t nr = 0, next = 0, nr_open = 0;
	sqlite3_stmt *stmt = NULL;
	char sql[768];
	int ret = open && started ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < t->nr_all; i++)
		if (t->all[i].by_start)
			started[nr++] = &t->all[i];
	if (nr) {
		qsort(started, nr, sizeof(struct ranges_instance *), compare_starts);
		snprintf(
			sql, sizeof(sql),
			"SELECT coalesce(A.start, O.start) AS t, O.start, O.end, O.roctxId, P.pid FROM "
			"rocpd_op O JOIN rtl_process P ON O.id BETWEEN P.id_first AND P.id_last LEFT JOIN "
			"rtl_api_data X ON X.api_id = O.correlation_id LEFT JOIN main.rocpd_api A ON A.id = "
			"X.api_id LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON "
			"C.op_id = O.id WHERE O.end >= O.start AND coalesce(K.flags, C.flags, 0) & %d = 0 "
			"ORDER BY 1",
			QUERY_UNTIMED);
		ret = query_prepare(t->q, &stmt, sql);
		while (ret == 0 && (ret = query_step(t->q, stmt)) == 1) {
			int64_t at = sqlite3_column_int64(stmt, 0), begin, end;
			uint64_t inner;
			size_t kept = 0;

			for (; next < nr && started[next]->start <= at; next++)
				open[nr_open++] = started[next];
			for (size_t i = 0; i < nr_open; i++)
				if (open[i]->end > at)
					open[kept++] = open[i];
			nr_open = kept;
			ret = 0;
			begin = sqlite3_column_int64(stmt, 1);
			end = sqlite3_column_int64(stmt, 2);
			if (!map_get(&t->by_id, (uint64_t)sqlite3_column_int64(stmt, 3), &inner))
				inner = SIZE_MAX;
			for (size_t i = 0; i < nr_open; i++) {
				if (open[i]->pid != sqlite3_column_int64(stmt, 4))
					continue;
				open[i]->gpu.ops++;
				open[i]->gpu.ns += (uint64_t)(end - begin);
				/* its own, unless a range that began within it has it */
				if (inner == SIZE_MAX || t->all[inner].start < open[i]->start)
					open[i]->gpu.own_ns += (uint64_t)(end - begin);
				add_span(open[i], begin, end);
			}
		}
		sqlite3_finalize(stmt);
	}
	alloc_free(open);
	alloc_free(started);
	return ret;
}

static void add_instance_to(struct ranges_sums *to, const struct ranges_instance *i)
{
	to->calls++;
	to->host_ns += i->end > i->start ? (uint64_t)(i->end - i->start) : 0;
	to->ns += i->gpu.ns;
	to->own_ns += i->gpu.own_ns;
	to->ops += i->gpu.ops;
	to->span_ns += i->gpu.last > i->gpu.first ? (uint64_t)(i->gpu.last - i->gpu.first) : 0;
}

/* ---- order ---- */

static int compare_nodes(const void *a, const void *b, void *arg)
{
	const struct ranges_node *nodes = arg;
	const struct ranges_node *x = &nodes[*(const size_t *)a], *y = &nodes[*(const size_t *)b];

	if (x->all.ns != y->all.ns)
		return x->all.ns > y->all.ns ? -1 : 1;
	if (x->all.host_ns != y->all.host_ns)
		return x->all.host_ns > y->all.host_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Puts each node behind the one that it is in, the longest first. */
static int order_nodes(struct ranges *r)
{
	size_t *sorted = alloc_zero(r->nr + 1, sizeof(*sorted)), nr = 0;
	size_t *stack = alloc_zero(r->nr + 1, sizeof(*stack)), depth = 0;

	r->order = alloc_zero(r->nr + 1, sizeof(*r->order));
	if (!sorted || !stack || !r->order) {
		alloc_free(stack);
		alloc_free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->nr; i++)
		sorted[i] = i;
	if (r->nr)
		qsort_r(sorted, r->nr, sizeof(*sorted), compare_nodes, r->nodes);
	/* lists of the nodes within each node, in that order: the last one is pushed first */
	for (size_t i = r->nr; i-- > 0;) {
		struct ranges_node *n = &r->nodes[sorted[i]];

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
	alloc_free(stack);
	alloc_free(sorted);
	return 0;
}

int ranges_end(struct ranges *r)
{
	int ret;

	add_nested(r);
	ret = r->nr_all ? add_started(r) : 0;
	for (size_t i = 0; i < r->nr_all; i++) {
		struct ranges_node *n = &r->nodes[r->all[i].node];

		add_instance_to(&n->all, &r->all[i]);
		add_instance_to(&n->parts[r->all[i].part], &r->all[i]);
	}
	if (ret == 0)
		ret = order_nodes(r);
	return ret == -ENOMEM ? query_fail_memory(r->q) : ret;
}

int ranges_read(struct ranges *r, const struct digest *d)
{
	int ret = ranges_begin(r, d->q, 1, NULL, NULL);

	for (size_t i = 0; ret == 0 && i < d->nr_markers; i++) {
		const struct digest_marker *m = &d->markers[i];

		ranges_add(r, m->id, m->ops, m->ns, m->first, m->last);
	}
	return ret ? ret : ranges_end(r);
}

void ranges_fini(struct ranges *r)
{
	for (size_t i = 0; i < r->nr; i++) {
		alloc_free(r->nodes[i].name);
		alloc_free(r->nodes[i].parts);
	}
	alloc_free(r->nodes);
	alloc_free(r->order);
	alloc_free(r->all);
	map_fini(&r->by_id);
	map_fini(&r->by_name);
	*r = (struct ranges){ 0 };
}

char *ranges_path(const struct ranges *r, const struct ranges_node *n)
{
	size_t size = strlen(n->name) + 1, at;
	char *path;

	for (size_t i = n->parent; i != SIZE_MAX; i = r->nodes[i].parent)
		size += strlen(r->nodes[i].name) + 1;
	path = alloc_heap(size);
	if (!path)
		return NULL;
	at = size - 1;
	path[at] = 0;
	for (;; n = &r->nodes[n->parent]) {
		at -= strlen(n->name);
		memcpy(path + at, n->name, strlen(n->name));
		if (n->parent == SIZE_MAX)
			return path;
		path[--at] = '/';
	}
}
