/* SPDX-License-Identifier: MIT */
/* imbalance.c - the durations of kernels and ranges by lane and block (imbalance.h)
 *
 * The first reading counts the calls of each name on each lane, which says how many blocks it has;
 * the second one gives each call its block. Sorted by name, block, lane and duration, quantiles are
 * read off as the rows pass.
 */
#include "analysis/imbalance.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "analysis/pass.h"
#include "base/alloc.h"
#include "query/collectives.h"
#include "query/rows.h"
#include "query/sorter.h"
#include "store/map.h"

#define RANGES_MAX 65536u /* further names of ranges are left out: messages may all differ */

#define LIST_NAME(pattern) pattern,
static const char *const known_names[] = { COLLECTIVES_EACH(LIST_NAME) };

/* A name on a lane. */
struct part {
	uint64_t nr, total_ns;
	uint64_t next; /* of the second reading */
};

struct name {
	int64_t id; /* of a kernel's text; of a range 0 */
	char *text;
	struct part *parts; /* by lane */
	size_t nr_parts, max_parts;
	uint32_t nr_blocks; /* 0: it is not judged */
	size_t same;	    /* the first name with this text: each process has ids of its own */
};

/* One call of a name, as it is sorted. */
struct duration {
	int64_t name, block, lane, ns, begin;
};

struct reader {
	struct query *q;
	struct imbalance *out;
	struct map lane_index, kernel_index, range_index;
	size_t max_lanes;
	struct name *names;
	size_t nr_names, max_names, nr_ranges;
	struct sorter *sorter; /* NULL: the first reading */
	double chance;	       /* of an interval's side */
	/* the name whose rows pass */
	size_t name;
	struct imbalance_cell *cells;
	size_t lane, block; /* of the last row */
	uint64_t at;	    /* its number in the cell */
};

/* ---- names and lanes ---- */

static int lane_of(struct reader *r, uint32_t process, int64_t gpu, size_t *lane)
{
	uint64_t key = (uint64_t)process << 32 | (uint64_t)(gpu + 1), at;
	struct collective_lane *lanes;

	if (!map_get(&r->lane_index, key, &at)) {
		lanes = alloc_grow(r->out->lanes, r->out->nr_lanes, &r->max_lanes, 16,
				   sizeof(*lanes));
		if (!lanes)
			return -ENOMEM;
		r->out->lanes = lanes;
		at = r->out->nr_lanes++;
		lanes[at] = (struct collective_lane){
			.process = r->q->nr_processes ? &r->q->processes[process] : NULL, .gpu = gpu
		};
		if (map_put(&r->lane_index, key, at))
			return -ENOMEM;
	}
	*lane = at;
	return 0;
}

static int add_name(struct reader *r, struct map *index, uint64_t key, int64_t id, const char *text,
		    size_t *name)
{
	struct name *names = alloc_grow(r->names, r->nr_names, &r->max_names, 64, sizeof(*names));

	if (!names)
		return -ENOMEM;
	r->names = names;
	names[r->nr_names] = (struct name){ .id = id,
					    .text = text ? alloc_string(text) : NULL,
					    .same = r->nr_names };
	*name = r->nr_names++;
	return (text && !names[*name].text) || map_put(index, key, *name) ? -ENOMEM : 0;
}

/* NULL: out of memory. */
static struct part *part_of(struct name *n, size_t lane)
{
	while (n->nr_parts <= lane) {
		struct part *more =
			alloc_grow(n->parts, n->nr_parts, &n->max_parts, 4, sizeof(*more));

		if (!more)
			return NULL;
		n->parts = more;
		more[n->nr_parts++] = (struct part){ 0 };
	}
	return &n->parts[lane];
}

/* A call of a name: counts it, or gives it its block. */
static int take_call(struct reader *r, size_t name, size_t lane, int64_t begin, int64_t end)
{
	struct name *n = &r->names[r->names[name].same];
	struct part *p = part_of(n, lane);
	struct duration d = { (int64_t)r->names[name].same, 0, (int64_t)lane, end - begin, begin };

	if (!p)
		return -ENOMEM;
	if (!r->sorter) {
		p->nr++;
		p->total_ns += (uint64_t)(end - begin);
		return 0;
	}
	if (!n->nr_blocks || p->nr < IMBALANCE_CALLS || p->next >= p->nr)
		return 0;
	d.block = (int64_t)(p->next++ * n->nr_blocks / p->nr);
	return sorter_add(r->sorter, &d);
}

static int take_kernel(void *arg, const struct pass_op *op)
{
	struct reader *r = arg;
	size_t lane, name;
	uint64_t known;
	int ret;

	if (op->kind != KINDS_KERNEL || op->gpu < 0 || !op->timed)
		return 0;
	ret = lane_of(r, op->process, op->gpu, &lane);
	if (ret)
		return ret;
	if (map_get(&r->kernel_index, (uint64_t)op->name, &known))
		name = (size_t)known;
	else
		ret = add_name(r, &r->kernel_index, (uint64_t)op->name, op->name, NULL, &name);
	return ret ? ret : take_call(r, name, lane, op->begin, op->end);
}

/* Columns: message, id, begin, end. */
static int take_range(struct reader *r, sqlite3_stmt *row)
{
	const struct query_process *p = query_process_of(r->q, sqlite3_column_int64(row, 1));
	int64_t begin = sqlite3_column_int64(row, 2), end = sqlite3_column_int64(row, 3);
	const char *text = query_text(row, 0);
	uint64_t key = map_hash(text, strlen(text)), known;
	size_t lane, name = SIZE_MAX;
	int ret;

	if (!rows_timed(begin, end, 0) || end == begin)
		return 0;
	ret = lane_of(r, p ? (uint32_t)(p - r->q->processes) : 0, -1, &lane);
	for (; ret == 0 && name == SIZE_MAX && map_get(&r->range_index, key, &known); key++)
		if (strcmp(r->names[known].text, text) == 0)
			name = (size_t)known;
	if (ret == 0 && name == SIZE_MAX) {
		if (r->nr_ranges == RANGES_MAX || r->sorter)
			return 0;
		r->nr_ranges++;
		ret = add_name(r, &r->range_index, key, 0, text, &name);
	}
	return ret ? ret : take_call(r, name, lane, begin, end);
}

static int read_all(struct reader *r, struct kinds *kinds)
{
	const struct pass_reader reader = { .take = take_kernel, .arg = r }, *readers = &reader;
	sqlite3_stmt *row = NULL;
	int ret = pass_read(r->q, kinds, &readers, 1);

	if (ret || !r->q->ours)
		return ret;
	ret = query_prepare(r->q, &row,
			    "SELECT message, marker_id, begin_ns, end_ns FROM rtl_marker");
	while (ret == 0 && (ret = query_step(r->q, row)) == 1)
		ret = take_range(r, row);
	sqlite3_finalize(row);
	return ret;
}

/* ---- between the readings ---- */

static bool is_collective(const char *name, const regex_t *more)
{
	for (size_t i = 0; i < sizeof(known_names) / sizeof(known_names[0]); i++)
		if (fnmatch(known_names[i], name, 0) == 0)
			return true;
	return more && regexec(more, name, 0, NULL, 0) == 0;
}

/* Adds a kernel's calls to those of the first name with its text. */
static int join(struct reader *r, struct map *texts, size_t name)
{
	struct name *n = &r->names[name];
	uint64_t key = map_hash(n->text, strlen(n->text)), known;

	for (; map_get(texts, key, &known); key++)
		if (strcmp(r->names[known].text, n->text) == 0)
			break;
	if (!map_get(texts, key, &known))
		return map_put(texts, key, name);
	n->same = (size_t)known;
	for (size_t i = 0; i < n->nr_parts; i++) {
		struct part *p = n->parts[i].nr ? part_of(&r->names[known], i) : NULL;

		if (n->parts[i].nr && !p)
			return -ENOMEM;
		if (p) {
			p->nr += n->parts[i].nr;
			p->total_ns += n->parts[i].total_ns;
		}
	}
	return 0;
}

/* Names of kernels. */
static int name_kernels(struct reader *r)
{
	sqlite3_stmt *stmt = NULL;
	struct map texts = { 0 };
	int ret = query_prepare(r->q, &stmt, QUERY_STRING);

	for (size_t i = 0; ret == 0 && i < r->nr_names; i++) {
		if (!r->names[i].id)
			continue;
		r->names[i].text = alloc_string(query_look_up(stmt, r->names[i].id));
		ret = r->names[i].text ? join(r, &texts, i) : -ENOMEM;
	}
	sqlite3_finalize(stmt);
	map_fini(&texts);
	return ret;
}

/* How many blocks each name has. */
static void choose(struct reader *r, const regex_t *more)
{
	uint64_t tests = 0;

	for (size_t i = 0; i < r->nr_names; i++) {
		struct name *n = &r->names[i];
		uint64_t least = UINT64_MAX, nr = 0;

		for (size_t p = 0; p < n->nr_parts; p++)
			if (n->parts[p].nr >= IMBALANCE_CALLS) {
				nr++;
				least = n->parts[p].nr < least ? n->parts[p].nr : least;
			}
		if (n->same != i || nr < 3 || (n->id && is_collective(n->text, more)))
			continue;
		least /= IMBALANCE_CALLS;
		n->nr_blocks = least > IMBALANCE_BLOCKS ? IMBALANCE_BLOCKS : (uint32_t)least;
		tests += n->nr_blocks * nr;
	}
	r->chance = IMBALANCE_CHANCE / (2 * (double)(tests ? tests : 1));
}

static int compare_durations(const void *x, const void *y)
{
	const struct duration *a = x, *b = y;

	if (a->name != b->name)
		return a->name < b->name ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return a->ns < b->ns ? -1 : a->ns > b->ns;
}

/* ---- the second reading ---- */

/* What is shown of a name. */
static int add_result(struct reader *r, const struct name *n, const struct imbalance_cell *cells)
{
	struct imbalance_name *to = &r->out->names[r->out->nr_names];

	*to = (struct imbalance_name){ .is_range = !n->id, .is_judged = n->nr_blocks > 0 };
	for (size_t i = 0; i < n->nr_parts; i++) {
		const struct part *p = &n->parts[i];

		to->nr_lanes += p->nr > 0;
		to->calls += p->nr;
		to->total_ns += p->total_ns;
		if (p->total_ns > to->slowest_ns) {
			to->slowest = i;
			to->slowest_ns = p->total_ns;
		}
	}
	if (to->nr_lanes < 2)
		return 0;
	r->out->nr_names++;
	to->name = alloc_string(n->text);
	if (!to->name)
		return -ENOMEM;
	return cells ? imbalance_judge(cells, n->nr_blocks, n->nr_parts, to) : 0;
}

/* The results of names before `name`. */
static int finish(struct reader *r, size_t name)
{
	int ret = 0;

	for (; ret == 0 && r->name < name; r->name++) {
		if (r->names[r->name].same == r->name)
			ret = add_result(r, &r->names[r->name], r->cells);
		alloc_free(r->cells);
		r->cells = NULL;
	}
	return ret;
}

/* The calls of a block: those from number ceil(block * nr / nr_blocks) on. */
static uint64_t first_of(const struct part *p, uint64_t block, uint32_t nr_blocks)
{
	return (block * p->nr + nr_blocks - 1) / nr_blocks;
}

static int take_sorted(void *arg, const void *row)
{
	const struct duration *d = row;
	struct reader *r = arg;
	size_t name = (size_t)d->name, lane = (size_t)d->lane, block = (size_t)d->block;
	const struct name *n = &r->names[name];
	struct imbalance_cell *c;
	uint64_t outside;

	if (name != r->name || !r->cells) {
		int ret = finish(r, name);

		if (ret)
			return ret;
		r->cells = alloc_zero(n->nr_blocks * n->nr_parts, sizeof(*r->cells));
		if (!r->cells)
			return -ENOMEM;
		r->lane = SIZE_MAX;
	}
	c = &r->cells[block * n->nr_parts + lane];
	if (lane != r->lane || block != r->block) {
		r->at = 0;
		c->nr = first_of(&n->parts[lane], block + 1, n->nr_blocks) -
			first_of(&n->parts[lane], block, n->nr_blocks);
		c->begin = d->begin;
		c->high = INT64_MAX;
	}
	r->lane = lane;
	r->block = block;
	/* without an interval nothing is claimed: low is 0, high the largest */
	outside = imbalance_outside(c->nr, r->chance);
	c->low = r->at == outside ? d->ns : c->low;
	c->median = r->at == (c->nr - 1) / 2 ? d->ns : c->median;
	c->high = outside < c->nr && r->at == c->nr - 1 - outside ? d->ns : c->high;
	c->begin = d->begin < c->begin ? d->begin : c->begin;
	c->end = d->begin + d->ns > c->end ? d->begin + d->ns : c->end;
	r->at++;
	return 0;
}

static void free_reader(struct reader *r)
{
	for (size_t i = 0; i < r->nr_names; i++) {
		alloc_free(r->names[i].text);
		alloc_free(r->names[i].parts);
	}
	alloc_free(r->names);
	alloc_free(r->cells);
	map_fini(&r->lane_index);
	map_fini(&r->kernel_index);
	map_fini(&r->range_index);
	if (r->sorter)
		sorter_free(r->sorter);
}

int imbalance_read(struct query *q, struct kinds *kinds, const regex_t *more, struct imbalance *out)
{
	struct reader r = { .q = q, .out = out };
	int ret = query_read_processes(q);

	*out = (struct imbalance){ 0 };
	if (ret == 0)
		ret = read_all(&r, kinds);
	if (ret == 0)
		ret = name_kernels(&r);
	if (ret == 0)
		choose(&r, more);
	collective_name_lanes(out->lanes, out->nr_lanes);
	if (ret == 0) {
		r.sorter = sorter_new(sizeof(struct duration), compare_durations, 0);
		out->names = alloc_zero(r.nr_names + 1, sizeof(*out->names));
		ret = r.sorter && out->names ? read_all(&r, kinds) : -ENOMEM;
	}
	if (ret == 0)
		ret = sorter_read(r.sorter, take_sorted, &r);
	if (ret == 0)
		ret = finish(&r, r.nr_names);
	free_reader(&r);
	if (ret == -ENOMEM)
		return query_fail_memory(q);
	return ret && !q->res->error[0] ? query_fail(q, ret, "%s: %s", q->path, strerror(-ret)) :
					  ret;
}

void imbalance_fini(struct imbalance *i)
{
	for (size_t n = 0; n < i->nr_names; n++) {
		alloc_free(i->names[n].name);
		alloc_free(i->names[n].slow);
	}
	alloc_free(i->names);
	alloc_free(i->lanes);
	*i = (struct imbalance){ 0 };
}
