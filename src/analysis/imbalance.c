/* SPDX-License-Identifier: MIT */
/* imbalance.c - the durations of kernels and ranges by party and block (imbalance.h)
 *
 * One reading keeps the calls of each name on each party (imbalance_calls.h). Their number says how
 * many blocks a name has; then the calls of one name after the other are read for its quantiles.
 */
#include "analysis/imbalance.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "analysis/imbalance_calls.h"
#include "analysis/pass.h"
#include "base/alloc.h"
#include "query/collectives.h"
#include "query/quantile.h"
#include "query/rows.h"
#include "store/map.h"

#define RANGES_MAX 65536u     /* further names of ranges are left out: messages may all differ */
#define KEPT_BYTES (1 << 20)  /* of calls in memory, beside the last ones of each name */
#define BLOCK_CALLS (1 << 20) /* durations of a block in memory */

#define LIST_NAME(pattern) pattern,
static const char *const known_names[] = { COLLECTIVES_EACH(LIST_NAME) };

/* A name on a party. */
struct part {
	uint64_t nr, total_ns; /* with those of other names with its text */
	struct imbalance_calls calls;
};

struct name {
	int64_t id; /* of a kernel's text; of a range 0 */
	char *text;
	struct part *parts; /* by party */
	size_t nr_parts, max_parts;
	uint32_t nr_blocks; /* 0: it is not judged */
	/* The first name with this text: each process has ids of its own. next: another one, from
	 * name to name; SIZE_MAX: none. */
	size_t same, next;
};

struct imbalance_reader {
	struct query *q;
	struct imbalance *out;
	struct map party_index, kernel_index, range_index;
	size_t max_parties;
	struct name *names;
	size_t nr_names, max_names, nr_ranges;
	struct spill chunks;
	uint64_t nr_calls;
	double chance; /* of an interval's side */
	struct quantile durations;
};

/* ---- reading ---- */

static int party_of(struct imbalance_reader *r, uint32_t process, int64_t gpu, size_t *party)
{
	uint64_t key = (uint64_t)process << 32 | (uint64_t)(gpu + 1), at;
	struct collective_party *parties;

	if (!map_get(&r->party_index, key, &at)) {
		parties = alloc_grow(r->out->parties, r->out->nr_parties, &r->max_parties, 16,
				     sizeof(*parties));
		if (!parties)
			return -ENOMEM;
		r->out->parties = parties;
		at = r->out->nr_parties++;
		parties[at] = (struct collective_party){
			.process = r->q->nr_processes ? &r->q->processes[process] : NULL, .gpu = gpu
		};
		if (map_put(&r->party_index, key, at))
			return -ENOMEM;
	}
	*party = at;
	return 0;
}

static int add_name(struct imbalance_reader *r, struct map *index, uint64_t key, int64_t id,
		    const char *text, size_t *name)
{
	struct name *names = alloc_grow(r->names, r->nr_names, &r->max_names, 64, sizeof(*names));

	if (!names)
		return -ENOMEM;
	r->names = names;
	names[r->nr_names] = (struct name){ .id = id,
					    .text = text ? alloc_string(text) : NULL,
					    .same = r->nr_names,
					    .next = SIZE_MAX };
	*name = r->nr_names++;
	return (text && !names[*name].text) || map_put(index, key, *name) ? -ENOMEM : 0;
}

/* NULL: out of memory. */
static struct part *part_of(struct name *n, size_t party)
{
	while (n->nr_parts <= party) {
		struct part *more =
			alloc_grow(n->parts, n->nr_parts, &n->max_parts, 4, sizeof(*more));

		if (!more)
			return NULL;
		n->parts = more;
		more[n->nr_parts++] = (struct part){ 0 };
	}
	return &n->parts[party];
}

static int take_call(struct imbalance_reader *r, size_t name, size_t party, int64_t begin,
		     int64_t end)
{
	const struct imbalance_call call = { ++r->nr_calls, begin, end - begin };
	struct part *p = part_of(&r->names[name], party);

	if (!p)
		return -ENOMEM;
	p->nr++;
	p->total_ns += (uint64_t)call.ns;
	return imbalance_calls_add(&p->calls, &r->chunks, &call);
}

static int take_kernel(void *arg, const struct pass_op *op)
{
	struct imbalance_reader *r = arg;
	size_t party, name;
	uint64_t known;
	int ret;

	if (op->kind != KINDS_KERNEL || op->gpu < 0 || !op->timed)
		return 0;
	ret = party_of(r, op->process, op->gpu, &party);
	if (ret)
		return ret;
	if (map_get(&r->kernel_index, (uint64_t)op->name, &known))
		name = (size_t)known;
	else
		ret = add_name(r, &r->kernel_index, (uint64_t)op->name, op->name, NULL, &name);
	return ret ? ret : take_call(r, name, party, op->begin, op->end);
}

/* Columns: message, id, begin, end. */
static int take_range(struct imbalance_reader *r, sqlite3_stmt *row)
{
	const struct query_process *p = query_process_of(r->q, sqlite3_column_int64(row, 1));
	int64_t begin = sqlite3_column_int64(row, 2), end = sqlite3_column_int64(row, 3);
	const char *text = query_text(row, 0);
	uint64_t key = map_hash(text, strlen(text)), known;
	size_t party, name = SIZE_MAX;
	int ret;

	if (!rows_timed(begin, end, 0) || end == begin)
		return 0;
	ret = party_of(r, p ? (uint32_t)(p - r->q->processes) : 0, -1, &party);
	for (; ret == 0 && name == SIZE_MAX && map_get(&r->range_index, key, &known); key++)
		if (strcmp(r->names[known].text, text) == 0)
			name = (size_t)known;
	if (ret == 0 && name == SIZE_MAX) {
		if (r->nr_ranges == RANGES_MAX)
			return 0;
		r->nr_ranges++;
		ret = add_name(r, &r->range_index, key, 0, text, &name);
	}
	return ret ? ret : take_call(r, name, party, begin, end);
}

static int read_ranges(struct imbalance_reader *r)
{
	sqlite3_stmt *row = NULL;
	int ret;

	if (!r->q->ours)
		return 0;
	ret = query_prepare(r->q, &row,
			    "SELECT message, marker_id, begin_ns, end_ns FROM rtl_marker");
	while (ret == 0 && (ret = query_step(r->q, row)) == 1)
		ret = take_range(r, row);
	sqlite3_finalize(row);
	return ret;
}

/* ---- names ---- */

static bool is_collective(const char *name, const regex_t *more)
{
	for (size_t i = 0; i < sizeof(known_names) / sizeof(known_names[0]); i++)
		if (fnmatch(known_names[i], name, 0) == 0)
			return true;
	return more && regexec(more, name, 0, NULL, 0) == 0;
}

/* Adds a kernel's calls to those of the first name with its text. */
static int join(struct imbalance_reader *r, struct map *texts, size_t name)
{
	struct name *n = &r->names[name];
	uint64_t key = map_hash(n->text, strlen(n->text)), known;

	for (; map_get(texts, key, &known); key++)
		if (strcmp(r->names[known].text, n->text) == 0)
			break;
	if (!map_get(texts, key, &known))
		return map_put(texts, key, name);
	n->same = (size_t)known;
	n->next = r->names[known].next;
	r->names[known].next = name;
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
static int name_kernels(struct imbalance_reader *r)
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
static void choose(struct imbalance_reader *r, const regex_t *more)
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

/* ---- results ---- */

/* What is shown of a name. */
static int add_result(struct imbalance_reader *r, const struct name *n,
		      const struct imbalance_cell *cells)
{
	struct imbalance_name *to = &r->out->names[r->out->nr_names];

	*to = (struct imbalance_name){ .is_range = !n->id, .is_judged = n->nr_blocks > 0 };
	for (size_t i = 0; i < n->nr_parts; i++) {
		const struct part *p = &n->parts[i];

		to->nr_parties += p->nr > 0;
		to->calls += p->nr;
		to->total_ns += p->total_ns;
		if (p->total_ns > to->slowest_ns) {
			to->slowest = i;
			to->slowest_ns = p->total_ns;
		}
	}
	if (to->nr_parties < 2)
		return 0;
	r->out->nr_names++;
	to->name = alloc_string(n->text);
	if (!to->name)
		return -ENOMEM;
	return cells ? imbalance_judge(cells, n->nr_blocks, n->nr_parts, to) : 0;
}

/* The calls of a block: those from number ceil(block * nr / nr_blocks) on. */
static uint64_t first_of(const struct part *p, uint64_t block, uint32_t nr_blocks)
{
	return (block * p->nr + nr_blocks - 1) / nr_blocks;
}

/* Ends a block whose durations were added. */
static int end_cell(struct imbalance_reader *r, struct imbalance_cell *c)
{
	uint64_t outside = imbalance_outside(c->nr, r->chance), middle = (c->nr - 1) / 2;
	/* without an interval nothing is claimed: low is 0, high the largest */
	bool has = outside <= middle;
	const uint64_t at[3] = { has ? outside : middle, middle,
				 has ? c->nr - 1 - outside : middle };
	int64_t found[3];
	int ret = quantile_read(&r->durations, at, 3, found);

	if (ret)
		return ret;
	c->median = found[1];
	c->low = has ? found[0] : 0;
	c->high = has ? found[2] : INT64_MAX;
	return 0;
}

/* The calls of a party, of all names with a text, in the order in which they came. */
struct merged {
	struct imbalance_calls_reader *readers;
	size_t nr;
};

/* As imbalance_calls_next(). */
static int next_call(struct merged *m, struct imbalance_call *call)
{
	struct imbalance_calls_reader *first = &m->readers[0];
	int ret;

	for (size_t i = 1; i < m->nr; i++)
		if (m->readers[i].call.number < first->call.number)
			first = &m->readers[i];
	*call = first->call;
	if (call->number == UINT64_MAX)
		return 0;
	ret = imbalance_calls_next(first);
	if (ret == 0)
		first->call.number = UINT64_MAX;
	return ret < 0 ? ret : 1;
}

static int begin_merged(const struct imbalance_reader *r, size_t name, size_t party,
			struct merged *m)
{
	size_t nr = 0;
	int ret = 0;

	for (size_t n = name; n != SIZE_MAX; n = r->names[n].next)
		nr++;
	*m = (struct merged){ .readers = alloc_zero(nr, sizeof(*m->readers)) };
	if (!m->readers)
		return -ENOMEM;
	for (size_t n = name; ret >= 0 && n != SIZE_MAX; n = r->names[n].next) {
		struct imbalance_calls_reader *reader = &m->readers[m->nr];

		if (party >= r->names[n].nr_parts)
			continue;
		reader->chunks = &r->chunks;
		reader->calls = &r->names[n].parts[party].calls;
		ret = imbalance_calls_next(reader);
		m->nr += ret == 1;
	}
	return ret < 0 ? ret : 0;
}

static void end_merged(struct merged *m)
{
	for (size_t i = 0; i < m->nr; i++)
		imbalance_calls_end(&m->readers[i]);
	alloc_free(m->readers);
}

/* The cells of a party: of each block, `stride` from each other. */
static int fill_cells(struct imbalance_reader *r, size_t name, size_t party,
		      struct imbalance_cell *cells, size_t stride)
{
	const struct name *n = &r->names[name];
	const struct part *p = &n->parts[party];
	struct imbalance_call call;
	struct merged calls;
	int ret = begin_merged(r, name, party, &calls);

	for (uint64_t block = 0; ret >= 0 && block < n->nr_blocks; block++) {
		struct imbalance_cell *c = &cells[block * stride];

		c->nr = first_of(p, block + 1, n->nr_blocks) - first_of(p, block, n->nr_blocks);
		c->begin = INT64_MAX;
		for (uint64_t i = 0; i < c->nr && (ret = next_call(&calls, &call)) == 1; i++) {
			c->begin = call.begin < c->begin ? call.begin : c->begin;
			c->end = call.begin + call.ns > c->end ? call.begin + call.ns : c->end;
			ret = quantile_add(&r->durations, call.ns);
			if (ret)
				break;
		}
		if (ret >= 0)
			ret = end_cell(r, c);
	}
	end_merged(&calls);
	return ret < 0 ? ret : 0;
}

static int judge(struct imbalance_reader *r, size_t name)
{
	const struct name *n = &r->names[name];
	struct imbalance_cell *cells = NULL;
	int ret = 0;

	if (n->nr_blocks) {
		cells = alloc_zero(n->nr_blocks * n->nr_parts, sizeof(*cells));
		ret = cells ? 0 : -ENOMEM;
	}
	for (size_t party = 0; cells && ret == 0 && party < n->nr_parts; party++)
		if (n->parts[party].nr >= IMBALANCE_CALLS)
			ret = fill_cells(r, name, party, cells + party, n->nr_parts);
	if (ret == 0)
		ret = add_result(r, n, cells);
	alloc_free(cells);
	return ret;
}

static void free_reader(struct imbalance_reader *r)
{
	for (size_t i = 0; i < r->nr_names; i++) {
		for (size_t p = 0; p < r->names[i].nr_parts; p++)
			imbalance_calls_fini(&r->names[i].parts[p].calls);
		alloc_free(r->names[i].text);
		alloc_free(r->names[i].parts);
	}
	alloc_free(r->names);
	spill_fini(&r->chunks);
	quantile_fini(&r->durations);
	map_fini(&r->party_index);
	map_fini(&r->kernel_index);
	map_fini(&r->range_index);
}

int imbalance_begin(struct query *q, struct imbalance *out, struct imbalance_reader **reader,
		    struct pass_reader *ops)
{
	struct imbalance_reader *r = *reader = alloc_zero(1, sizeof(*r));
	int ret;

	*out = (struct imbalance){ 0 };
	if (!r)
		return query_fail_memory(q);
	r->q = q;
	r->out = out;
	r->durations.most = BLOCK_CALLS;
	*ops = (struct pass_reader){ .take = take_kernel, .arg = r, .as_filed = true };
	ret = spill_init(&r->chunks, IMBALANCE_CHUNK, KEPT_BYTES);
	if (ret == 0)
		ret = query_read_processes(q);
	return ret == -ENOMEM ? query_fail_memory(q) : ret;
}

int imbalance_end(struct imbalance_reader *r, const regex_t *more)
{
	struct imbalance *out = r->out;
	struct query *q = r->q;
	int ret = read_ranges(r);

	if (ret == 0)
		ret = name_kernels(r);
	if (ret == 0)
		choose(r, more);
	collective_name_parties(out->parties, out->nr_parties);
	if (ret == 0) {
		out->names = alloc_zero(r->nr_names + 1, sizeof(*out->names));
		ret = out->names ? 0 : -ENOMEM;
	}
	for (size_t i = 0; ret == 0 && i < r->nr_names; i++)
		if (r->names[i].same == i)
			ret = judge(r, i);
	if (ret == -ENOMEM)
		return query_fail_memory(q);
	return ret && !q->res->error[0] ? query_fail(q, ret, "%s: %s", q->path, strerror(-ret)) :
					  ret;
}

void imbalance_free(struct imbalance_reader *r)
{
	if (r)
		free_reader(r);
	alloc_free(r);
}

int imbalance_read(struct query *q, struct kinds *kinds, struct imbalance *out)
{
	struct imbalance_reader *r;
	struct pass_reader ops;
	const struct pass_reader *readers = &ops;
	int ret = imbalance_begin(q, out, &r, &ops);

	if (ret == 0)
		ret = pass_read(q, kinds, &readers, 1);
	if (ret == 0)
		ret = imbalance_end(r, NULL);
	imbalance_free(r);
	return ret;
}

void imbalance_fini(struct imbalance *i)
{
	for (size_t n = 0; n < i->nr_names; n++) {
		alloc_free(i->names[n].name);
		alloc_free(i->names[n].slow);
	}
	alloc_free(i->names);
	alloc_free(i->parties);
	*i = (struct imbalance){ 0 };
}
