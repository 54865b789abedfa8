/* SPDX-License-Identifier: MIT */
/* digest.c - busy and idle time of GPUs, sums of their operations
 *
 * Fails:    out of memory and errors of the file end the reading: -errno, and a message in
 *           q->res->error.
 */
#include "analysis/digest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "query/rows.h"
#include "query/timeline.h"

enum { MAX_GAPS = 16 << 10 };

/* ---- sums ---- */

struct digest_sum *digest_sum_of(struct digest_sums *s, uint64_t key)
{
	struct digest_sum *grown;
	uint64_t at;

	if (map_get(&s->index, key, &at))
		return &s->sums[at];
	grown = alloc_grow(s->sums, s->nr, &s->max, 64, sizeof(*grown));
	if (!grown)
		return NULL;
	s->sums = grown;
	if (map_put(&s->index, key, s->nr))
		return NULL;
	grown[s->nr] = (struct digest_sum){ .gpu = -1 };
	return &grown[s->nr++];
}

uint64_t digest_mean(const struct digest_sum *sum)
{
	uint64_t timed = sum->calls - sum->untimed;

	return timed ? (uint64_t)llround((double)sum->ns / (double)timed) : 0;
}

static int compare_sums(const void *a, const void *b)
{
	const struct digest_sum *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

void digest_sort(struct digest_sums *s)
{
	map_clear(&s->index);
	if (s->nr)
		qsort(s->sums, s->nr, sizeof(*s->sums), compare_sums);
}

int digest_join(const struct digest_sums *s, struct digest_sums *out)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct digest_sum *from = &s->sums[i];
		struct digest_sum *to = digest_sum_of(out, (uint64_t)from->id);

		if (!to)
			return -ENOMEM;
		to->id = from->id;
		to->name = from->name;
		to->calls += from->calls;
		to->ns += from->ns;
		to->bytes += from->bytes;
		to->untimed += from->untimed;
	}
	digest_sort(out);
	return 0;
}

void digest_free_sums(struct digest_sums *s, bool names)
{
	for (size_t i = 0; names && i < s->nr; i++)
		alloc_free(s->sums[i].name);
	alloc_free(s->sums);
	map_fini(&s->index);
	*s = (struct digest_sums){ 0 };
}

const char *digest_name(struct digest *d, int64_t id)
{
	if (id < 0)
		return "";
	alloc_free(d->text);
	d->text = alloc_string(query_look_up(d->name, id));
	/* a statement with a row would keep others from dropping their tables */
	sqlite3_reset(d->name);
	return d->text;
}

/* ---- gaps ---- */

static uint64_t length_of(const struct digest_gap *g)
{
	return (uint64_t)(g->end - g->begin);
}

/* Keeps the longest gaps: a heap with the shortest of them first. */
static int keep_gap(struct digest *d, struct digest_gpu *l, const struct digest_gap *gap)
{
	size_t at;

	if (l->nr_kept < d->max_gaps) {
		struct digest_gap *grown =
			alloc_grow(l->gaps, l->nr_kept, &l->max_kept, 64, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		l->gaps = grown;
		at = l->nr_kept++;
		while (at && length_of(&l->gaps[(at - 1) / 2]) > length_of(gap)) {
			l->gaps[at] = l->gaps[(at - 1) / 2];
			at = (at - 1) / 2;
		}
		l->gaps[at] = *gap;
		return 0;
	}
	if (length_of(&l->gaps[0]) >= length_of(gap))
		return 0;
	for (at = 0;;) {
		size_t child = 2 * at + 1;

		if (child >= l->nr_kept)
			break;
		if (child + 1 < l->nr_kept &&
		    length_of(&l->gaps[child + 1]) < length_of(&l->gaps[child]))
			child++;
		if (length_of(&l->gaps[child]) >= length_of(gap))
			break;
		l->gaps[at] = l->gaps[child];
		at = child;
	}
	l->gaps[at] = *gap;
	return 0;
}

/* Adds the part of an idle time that is looked at. */
static int add_gap(struct digest *d, struct digest_gpu *l, int64_t begin, int64_t end,
		   int64_t after)
{
	size_t low = 0, high = d->nr_spans;
	int ret = 0;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (d->spans[mid].end <= begin)
			low = mid + 1;
		else
			high = mid;
	}
	for (; ret == 0 && low < d->nr_spans && d->spans[low].begin < end; low++) {
		const struct slice_span *s = &d->spans[low];
		struct digest_gap gap = { .begin = begin > s->begin ? begin : s->begin,
					  .end = end < s->end ? end : s->end,
					  .before = l->before,
					  .after = after };

		l->idle_ns += length_of(&gap);
		l->nr_gaps++;
		ret = keep_gap(d, l, &gap);
	}
	return ret;
}

static int compare_gaps(const void *a, const void *b)
{
	const struct digest_gap *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

struct digest_gap *digest_longest(const struct digest_gpu *of, uint64_t least, size_t *nr)
{
	struct digest_gap *gaps = alloc_zero(of->nr_kept + 1, sizeof(*gaps));
	size_t most = *nr, all = 0;

	*nr = 0;
	for (size_t i = 0; gaps && i < of->nr_kept; i++) {
		const struct digest_gap *g = &of->gaps[i];

		if (g->before >= 0 && g->after >= 0 && length_of(g) >= least)
			gaps[all++] = *g;
	}
	if (!all)
		return gaps;
	qsort(gaps, all, sizeof(*gaps), digest_compare_lengths);
	*nr = all < most ? all : most;
	qsort(gaps, *nr, sizeof(*gaps), compare_gaps);
	return gaps;
}

/* ---- operations ---- */

static struct digest_gpu *gpu_of(struct digest *d, int64_t gpu)
{
	struct digest_gpu *grown;

	for (size_t i = 0; i < d->nr_gpus; i++)
		if (d->gpus[i].gpu == gpu)
			return &d->gpus[i];
	grown = alloc_resize(d->gpus, d->nr_gpus + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	d->gpus = grown;
	d->gpus[d->nr_gpus] = (struct digest_gpu){ .gpu = gpu,
						   .first = INT64_MAX,
						   .until = d->wall.work,
						   .compute_until = INT64_MIN,
						   .transfer_until = INT64_MIN,
						   .before = -1 };
	if (d->nr_bins && gpu >= 0) {
		grown[d->nr_gpus].bins = alloc_zero(d->nr_bins, sizeof(*grown->bins));
		if (!grown[d->nr_gpus].bins)
			return NULL;
	}
	return &d->gpus[d->nr_gpus++];
}

/* The part of [begin, end) behind *until, which moves to end. */
static uint64_t extend(int64_t *until, int64_t begin, int64_t end)
{
	uint64_t ns;

	if (end <= *until)
		return 0;
	ns = (uint64_t)(end - (begin > *until ? begin : *until));
	*until = end;
	return ns;
}

/* Adds a time in which the GPU was busy to the parts of the time in which it is. */
static void add_to_bins(const struct digest *d, struct digest_gpu *l, int64_t begin, int64_t end)
{
	begin = begin > d->bins_begin ? begin - d->bins_begin : 0;
	end -= d->bins_begin;
	for (size_t bin = (size_t)(begin / d->bin_ns); bin < d->nr_bins && begin < end; bin++) {
		int64_t until = ((int64_t)bin + 1) * d->bin_ns;

		until = until < end ? until : end;
		l->bins[bin] += (uint64_t)(until - begin);
		begin = until;
	}
}

static int add_to_gpu(struct digest *d, struct digest_gpu *l, int64_t begin, int64_t end, bool copy,
		      int64_t name)
{
	if (!slice_clip(d->filter, &begin, &end))
		return 0;
	if (begin > l->until && add_gap(d, l, l->until, begin, name))
		return -ENOMEM;
	l->first = begin < l->first ? begin : l->first;
	if (l->bins && end > l->until)
		add_to_bins(d, l, begin > l->until ? begin : l->until, end);
	l->busy_ns += extend(&l->until, begin, end);
	l->before = name;
	if (copy)
		l->transfer_ns += extend(&l->transfer_until, begin, end);
	else
		l->compute_ns += extend(&l->compute_until, begin, end);
	return 0;
}

static int add_to_marker(struct digest *d, int64_t id, int64_t begin, int64_t end)
{
	struct digest_marker *m;
	uint64_t at;

	/* the next operation is of the same range, mostly */
	if (d->last_marker < d->nr_markers && d->markers[d->last_marker].id == id) {
		at = d->last_marker;
	} else if (!map_get(&d->marker_index, (uint64_t)id, &at)) {
		m = alloc_grow(d->markers, d->nr_markers, &d->max_markers, 256, sizeof(*m));
		if (!m)
			return -ENOMEM;
		d->markers = m;
		at = d->nr_markers++;
		d->markers[at] = (struct digest_marker){ .id = id, .first = begin, .last = end };
		if (map_put(&d->marker_index, (uint64_t)id, at))
			return -ENOMEM;
	}
	d->last_marker = at;
	m = &d->markers[at];
	m->ops++;
	m->ns += (uint64_t)(end - begin);
	m->last = end > m->last ? end : m->last;
	return 0;
}

/* What operations of this name and type are on the GPU, and the sum of those that are kernels. */
static const struct digest_recent *recent_of(struct digest *d, int64_t name, int64_t type,
					     int64_t gpu)
{
	/* ids of names are dense */
	struct digest_recent *r = &d->recent[((uint64_t)name ^ (uint64_t)gpu << 7) % DIGEST_RECENT];

	if (r->name == name && r->type == type && r->gpu == gpu && type)
		return r;
	*r = (struct digest_recent){ .name = name, .type = type, .gpu = gpu };
	r->kind = kinds_of(&d->kinds, name, type);
	if (r->kind == KINDS_KERNEL) {
		struct digest_sum *sum =
			digest_sum_of(&d->kernels, (uint64_t)name << 16 ^ (uint64_t)(gpu & 0xffff));

		if (!sum) {
			r->type = 0;
			return NULL;
		}
		sum->id = name;
		sum->gpu = gpu;
		r->sum = (size_t)(sum - d->kernels.sums);
	}
	return r;
}

/* What was before the first timed operation is the start-up, and no gap. 0: none has times. */
static void begin_work(struct digest *d, int64_t first)
{
	wall_start(d->q, &d->wall, first);
	for (size_t i = 0; i < d->nr_gpus; i++)
		d->gpus[i].until = d->wall.work;
	d->has_begun = true;
}

static int on_op(void *arg, const void *row)
{
	const struct timeline_op *op = row;
	struct digest *d = arg;
	int64_t begin = op->begin, end = op->end, gpu = op->gpu, name = op->name;
	const struct digest_recent *recent = recent_of(d, name, op->type, gpu);
	bool copy = recent && recent->kind != KINDS_KERNEL;
	struct digest_gpu *of;
	uint64_t odd, ns = (uint64_t)(end - begin);
	bool timed = end >= begin && !(d->odd.nr && map_get(&d->odd, (uint64_t)op->id, &odd));

	if (!recent || !d->nr_gpus)
		return -ENOMEM;
	if (timed && op->marker && add_to_marker(d, op->marker, begin, end))
		return -ENOMEM;
	if (gpu < 0 && !copy)
		return 0;
	d->nr_untimed += !timed;
	if (!copy) {
		struct digest_sum *sum = &d->kernels.sums[recent->sum];

		sum->calls++;
		sum->untimed += !timed;
		sum->ns += timed ? ns : 0;
		d->small_kernels += timed && ns < DIGEST_SMALL_NS;
	}
	if (gpu < 0)
		return 0;
	if (timed && !d->has_begun)
		begin_work(d, begin);
	of = gpu_of(d, gpu);
	if (!of)
		return -ENOMEM;
	for (int i = 0; i < 2; i++, of = &d->gpus[0]) {
		of->kernels += !copy;
		of->copies += copy;
		of->kernel_ns += timed && !copy ? ns : 0;
		of->copy_ns += timed && copy ? ns : 0;
		if (timed && add_to_gpu(d, of, begin, end, copy,
					recent->kind == KINDS_ENGINE ? op->type : name))
			return -ENOMEM;
	}
	return 0;
}

static void free_gpus(struct digest *d)
{
	for (size_t i = 0; i < d->nr_gpus; i++) {
		for (size_t g = 0; g < d->gpus[i].nr_kept; g++)
			alloc_free(d->gpus[i].gaps[g].host);
		alloc_free(d->gpus[i].gaps);
		alloc_free(d->gpus[i].idle_before);
		alloc_free(d->gpus[i].bins);
	}
	alloc_free(d->gpus);
	d->gpus = NULL;
	d->nr_gpus = 0;
}

/* The time that is looked at: all of it, a window, or ranges. */
static void find_wall(struct digest *d)
{
	wall_read(d->q, d->filter, &d->wall);
	d->whole = (struct slice_span){ d->wall.begin, d->wall.end };
	d->spans = d->filter->nr_spans ? d->filter->spans : &d->whole;
	d->nr_spans = d->filter->nr_spans ? d->filter->nr_spans : 1;
}

static void begin_ops(void *arg)
{
	struct digest *d = arg;

	free_gpus(d);
	digest_free_sums(&d->kernels, false);
	memset(d->recent, 0, sizeof(d->recent));
	d->nr_untimed = d->small_kernels = 0;
	d->has_begun = false;
	find_wall(d);
	d->nr_markers = 0;
	map_clear(&d->marker_index);
	gpu_of(d, -1);
}

static int read_ops(struct digest *d)
{
	static const struct timeline_rows ours = {
		.columns = TIMELINE_OP,
		.id = "O.id",
		.from = "rocpd_op O WHERE O.id BETWEEN ?1 AND ?2",
		.table = "rocpd_op",
		.size = sizeof(struct timeline_op),
	};
	static const struct timeline_rows rpd = {
		.columns = TIMELINE_OP_RPD,
		.id = "O.id",
		.from = "rocpd_op O WHERE O.id BETWEEN ?1 AND ?2",
		.table = "rocpd_op",
		.size = sizeof(struct timeline_op),
	};
	int ret = kinds_read(d->q, &d->kinds);
	sqlite3_stmt *stmt = NULL;
	bool is_part;

	if (ret == 0 && d->q->ours) {
		char sql[320];

		snprintf(
			sql, sizeof(sql),
			"SELECT op_id FROM rtl_op_kernel WHERE flags & %1$d UNION ALL SELECT op_id FROM "
			"rtl_op_copy WHERE flags & %1$d",
			QUERY_UNTIMED);
		ret = query_prepare(d->q, &stmt, sql);
		while (ret == 0 && (ret = query_step(d->q, stmt)) == 1)
			ret = map_put(&d->odd, (uint64_t)sqlite3_column_int64(stmt, 0), 1);
		sqlite3_finalize(stmt);
	}
	if (ret)
		return ret;
	begin_ops(d);
	/* a part of a trace is a temporary view, which only this connection has */
	is_part = query_number(
		d->q->db,
		"SELECT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'rocpd_op')", 1);
	return timeline_read(d->q, d->q->ours ? &ours : &rpd,
			     is_part ? TIMELINE_APART : TIMELINE_TWO, on_op, begin_ops, d);
}

static int compare_gpus(const void *a, const void *b)
{
	const struct digest_gpu *x = a, *y = b;

	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

/* The idle time behind the last operation, and the gaps in the order of time. */
static int end_gpus(struct digest *d)
{
	if (!d->has_begun)
		begin_work(d, 0);
	qsort(d->gpus, d->nr_gpus, sizeof(*d->gpus), compare_gpus);
	for (size_t i = 0; i < d->nr_gpus; i++) {
		struct digest_gpu *l = &d->gpus[i];
		uint64_t before = 0;

		if (d->wall.end > l->until && add_gap(d, l, l->until, d->wall.end, -1))
			return -ENOMEM;
		if (l->nr_kept)
			qsort(l->gaps, l->nr_kept, sizeof(*l->gaps), compare_gaps);
		l->idle_before = alloc_zero(l->nr_kept + 1, sizeof(*l->idle_before));
		if (!l->idle_before)
			return -ENOMEM;
		for (size_t g = 0; g < l->nr_kept; g++) {
			l->idle_before[g] = before;
			before += length_of(&l->gaps[g]);
		}
		l->idle_before[l->nr_kept] = before;
	}
	return 0;
}

/* Processes have ids of their own for a name: the first of them stands for it. */
static int name_kernels(struct digest *d)
{
	struct map by_text = { 0 };
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < d->kernels.nr; i++) {
		struct digest_sum *sum = &d->kernels.sums[i];
		uint64_t hash, first;

		sum->name = digest_name(d, sum->id) ? alloc_string(d->text) : NULL;
		if (!sum->name) {
			ret = -ENOMEM;
			break;
		}
		hash = map_hash(sum->name, strlen(sum->name));
		while (map_get(&by_text, hash, &first) &&
		       strcmp(d->kernels.sums[first].name, sum->name) != 0)
			hash++;
		if (map_get(&by_text, hash, &first))
			sum->id = d->kernels.sums[first].id;
		else
			ret = map_put(&by_text, hash, i);
	}
	map_fini(&by_text);
	return ret;
}

static int read_all(struct digest *d)
{
	int ret = query_prepare(d->q, &d->name, QUERY_STRING);

	if (ret == 0 && !d->q->nr_processes)
		ret = query_read_processes(d->q);
	if (ret == 0)
		ret = read_ops(d);
	if (ret == 0)
		ret = end_gpus(d);
	if (ret == 0)
		ret = name_kernels(d);
	if (ret == 0)
		ret = digest_read_copies(d);
	if (ret == 0)
		ret = digest_read_calls(d);
	if (ret == 0)
		ret = digest_sample(d);
	return ret;
}

int digest_read(struct digest *d, struct query *q, const struct slice *filter)
{
	int ret;

	d->q = q;
	d->filter = filter;
	d->max_gaps = MAX_GAPS;
	ret = read_all(d);
	return ret == -ENOMEM ? query_fail_memory(q) : ret;
}

void digest_fini(struct digest *d)
{
	free_gpus(d);
	digest_free_sums(&d->kernels, true);
	digest_free_sums(&d->copies, true);
	digest_free_sums(&d->calls, true);
	for (size_t i = 0; i < d->nr_errors; i++)
		alloc_free(d->errors[i].function);
	alloc_free(d->errors);
	map_fini(&d->odd);
	sqlite3_finalize(d->name);
	alloc_free(d->text);
	kinds_fini(&d->kinds);
	map_fini(&d->marker_index);
	map_fini(&d->call_ids);
	alloc_free(d->markers);
}
