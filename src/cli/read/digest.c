/* SPDX-License-Identifier: MIT */
/* digest.c - busy and idle time of GPUs, sums of their operations
 *
 * Fails:    errors of the file and out of memory end the process (ui_die).
 */
#include "cli/read/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ui.h"
#include "query/rows.h"
#include "query/timeline.h"

enum { MAX_GAPS = 16 << 10 };

/* ---- sums ---- */

struct digest_sum *digest_sum_of(struct digest_sums *s, uint64_t key)
{
	uint64_t at;

	if (map_get(&s->index, key, &at))
		return &s->sums[at];
	if (s->nr == s->max) {
		s->max = s->max ? 2 * s->max : 64;
		s->sums = reallocarray(s->sums, s->max, sizeof(*s->sums));
		if (!s->sums)
			ui_die_memory();
	}
	s->sums[s->nr] = (struct digest_sum){ .gpu = -1 };
	if (map_put(&s->index, key, s->nr))
		ui_die_memory();
	return &s->sums[s->nr++];
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

void digest_join(const struct digest_sums *s, struct digest_sums *out)
{
	for (size_t i = 0; i < s->nr; i++) {
		const struct digest_sum *from = &s->sums[i];
		struct digest_sum *to = digest_sum_of(out, (uint64_t)from->id);

		to->id = from->id;
		to->name = from->name;
		to->calls += from->calls;
		to->ns += from->ns;
		to->bytes += from->bytes;
		to->untimed += from->untimed;
	}
	digest_sort(out);
}

void digest_free_sums(struct digest_sums *s, bool names)
{
	for (size_t i = 0; names && i < s->nr; i++)
		free(s->sums[i].name);
	free(s->sums);
	map_fini(&s->index);
	*s = (struct digest_sums){ 0 };
}

static const char *text_of(struct digest *d, int64_t id)
{
	sqlite3_stmt *stmt = db_query(d->q, QUERY_STRING);

	free(d->text);
	d->text = ui_format("%s", query_look_up(stmt, id));
	sqlite3_finalize(stmt);
	return d->text;
}

const char *digest_name(struct digest *d, int64_t id)
{
	return id < 0 ? "" : text_of(d, id);
}

/* ---- gaps ---- */

static uint64_t length_of(const struct digest_gap *g)
{
	return (uint64_t)(g->end - g->begin);
}

/* Keeps the longest gaps: a heap with the shortest of them first. */
static void keep_gap(struct digest *d, struct digest_lane *l, const struct digest_gap *gap)
{
	size_t at;

	if (l->nr_kept < d->max_gaps) {
		if (l->nr_kept == l->max_kept) {
			l->max_kept = l->max_kept ? 2 * l->max_kept : 64;
			l->gaps = reallocarray(l->gaps, l->max_kept, sizeof(*l->gaps));
			if (!l->gaps)
				ui_die_memory();
		}
		at = l->nr_kept++;
		while (at && length_of(&l->gaps[(at - 1) / 2]) > length_of(gap)) {
			l->gaps[at] = l->gaps[(at - 1) / 2];
			at = (at - 1) / 2;
		}
		l->gaps[at] = *gap;
		return;
	}
	if (length_of(&l->gaps[0]) >= length_of(gap))
		return;
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
}

/* Adds the part of an idle time that is looked at. */
static void add_gap(struct digest *d, struct digest_lane *l, int64_t begin, int64_t end,
		    int64_t after)
{
	size_t low = 0, high = d->nr_spans;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (d->spans[mid].end <= begin)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < d->nr_spans && d->spans[low].begin < end; low++) {
		const struct slice_span *s = &d->spans[low];
		struct digest_gap gap = { .begin = begin > s->begin ? begin : s->begin,
					  .end = end < s->end ? end : s->end,
					  .before = l->before,
					  .after = after };

		l->idle_ns += length_of(&gap);
		l->nr_gaps++;
		keep_gap(d, l, &gap);
	}
}

static int compare_gaps(const void *a, const void *b)
{
	const struct digest_gap *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* ---- operations ---- */

static struct digest_lane *lane_of(struct digest *d, int64_t gpu)
{
	for (size_t i = 0; i < d->nr_lanes; i++)
		if (d->lanes[i].gpu == gpu)
			return &d->lanes[i];
	d->lanes = reallocarray(d->lanes, d->nr_lanes + 1, sizeof(*d->lanes));
	if (!d->lanes)
		ui_die_memory();
	d->lanes[d->nr_lanes] = (struct digest_lane){ .gpu = gpu,
						      .first = INT64_MAX,
						      .until = d->wall.work,
						      .compute_until = INT64_MIN,
						      .transfer_until = INT64_MIN,
						      .before = -1 };
	return &d->lanes[d->nr_lanes++];
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

static void add_to_lane(struct digest *d, struct digest_lane *l, int64_t begin, int64_t end,
			bool copy, int64_t name)
{
	/* a window of time ends busy time, too; ranges do not: their work may end later */
	if (d->filter->has_time) {
		begin = begin < d->wall.begin ? d->wall.begin : begin;
		end = end > d->wall.end ? d->wall.end : end;
		if (end < begin)
			return;
	}
	if (begin > l->until)
		add_gap(d, l, l->until, begin, name);
	l->first = begin < l->first ? begin : l->first;
	l->busy_ns += extend(&l->until, begin, end);
	l->before = name;
	if (copy)
		l->transfer_ns += extend(&l->transfer_until, begin, end);
	else
		l->compute_ns += extend(&l->compute_until, begin, end);
}

static void add_to_marker(struct digest *d, int64_t id, int64_t begin, int64_t end)
{
	struct digest_marker *m;
	uint64_t at;

	/* the next operation is of the same range, mostly */
	if (d->last_marker < d->nr_markers && d->markers[d->last_marker].id == id) {
		at = d->last_marker;
	} else if (!map_get(&d->marker_index, (uint64_t)id, &at)) {
		if (d->nr_markers == d->max_markers) {
			d->max_markers = d->max_markers ? 2 * d->max_markers : 256;
			d->markers = reallocarray(d->markers, d->max_markers, sizeof(*m));
			if (!d->markers)
				ui_die_memory();
		}
		at = d->nr_markers++;
		d->markers[at] = (struct digest_marker){ .id = id, .first = begin, .last = end };
		if (map_put(&d->marker_index, (uint64_t)id, at))
			ui_die_memory();
	}
	d->last_marker = at;
	m = &d->markers[at];
	m->ops++;
	m->ns += (uint64_t)(end - begin);
	m->last = end > m->last ? end : m->last;
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

		sum->id = name;
		sum->gpu = gpu;
		r->sum = (size_t)(sum - d->kernels.sums);
	}
	return r;
}

/* Columns: begin, end, id, GPU, name, type, range. */
static int on_op(void *arg, const int64_t *row)
{
	struct digest *d = arg;
	int64_t begin = row[0], end = row[1], gpu = row[3], name = row[4];
	const struct digest_recent *recent = recent_of(d, name, row[5], gpu);
	bool copy = recent->kind != KINDS_KERNEL;
	struct digest_lane *lane;
	uint64_t odd, ns = (uint64_t)(end - begin);
	bool timed = end >= begin && !(d->odd.nr && map_get(&d->odd, (uint64_t)row[2], &odd));

	if (timed && row[6])
		add_to_marker(d, row[6], begin, end);
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
	if (timed && !d->has_begun) {
		/* the first one: what was before is the start-up, and no gap */
		wall_start(&d->wall, begin);
		d->lanes[0].until = d->wall.work;
		d->has_begun = true;
	}
	lane = lane_of(d, gpu);
	for (int i = 0; i < 2; i++, lane = &d->lanes[0]) {
		lane->kernels += !copy;
		lane->copies += copy;
		lane->kernel_ns += timed && !copy ? ns : 0;
		lane->copy_ns += timed && copy ? ns : 0;
		if (timed)
			add_to_lane(d, lane, begin, end, copy,
				    recent->kind == KINDS_ENGINE ? row[5] : name);
	}
	return 0;
}

static void free_lanes(struct digest *d)
{
	for (size_t i = 0; i < d->nr_lanes; i++) {
		for (size_t g = 0; g < d->lanes[i].nr_kept; g++)
			free(d->lanes[i].gaps[g].host);
		free(d->lanes[i].gaps);
		free(d->lanes[i].idle_before);
	}
	free(d->lanes);
	d->lanes = NULL;
	d->nr_lanes = 0;
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

	free_lanes(d);
	digest_free_sums(&d->kernels, false);
	memset(d->recent, 0, sizeof(d->recent));
	d->nr_untimed = d->small_kernels = 0;
	d->has_begun = false;
	find_wall(d);
	d->nr_markers = 0;
	map_clear(&d->marker_index);
	lane_of(d, -1);
}

static void read_ops(struct digest *d)
{
	static const struct timeline_rows ours = {
		.columns = "start, \"end\", id, gpuId, description_id, opType_id, roctxId",
		.from = "rocpd_op WHERE id BETWEEN ?1 AND ?2",
	};
	static const struct timeline_rows rpd = {
		.columns = "start, \"end\", id, gpuId, description_id, opType_id",
		.from = "rocpd_op WHERE id BETWEEN ?1 AND ?2",
	};
	sqlite3_stmt *stmt;
	bool is_part;

	if (d->q->ours) {
		char sql[320];

		snprintf(
			sql, sizeof(sql),
			"SELECT op_id FROM rtl_op_kernel WHERE flags & %1$d UNION ALL SELECT op_id FROM "
			"rtl_op_copy WHERE flags & %1$d",
			QUERY_UNTIMED);
		stmt = db_query(d->q, sql);
		while (db_step(d->q, stmt))
			if (map_put(&d->odd, (uint64_t)sqlite3_column_int64(stmt, 0), 1))
				ui_die_memory();
		sqlite3_finalize(stmt);
	}
	db_check(d->q, kinds_read(d->q, &d->kinds));
	begin_ops(d);
	/* a part of a trace is a temporary view, which only this connection has */
	is_part = query_number(
		d->q->db,
		"SELECT EXISTS (SELECT 1 FROM temp.sqlite_master WHERE name = 'rocpd_op')", 1);
	db_check(d->q, timeline_read(d->q, d->q->ours ? &ours : &rpd,
				     is_part ? TIMELINE_APART : TIMELINE_TWO, on_op, begin_ops, d));
}

static int compare_lanes(const void *a, const void *b)
{
	const struct digest_lane *x = a, *y = b;

	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

/* The idle time behind the last operation, and the gaps in the order of time. */
static void end_lanes(struct digest *d)
{
	qsort(d->lanes, d->nr_lanes, sizeof(*d->lanes), compare_lanes);
	for (size_t i = 0; i < d->nr_lanes; i++) {
		struct digest_lane *l = &d->lanes[i];
		uint64_t before = 0;

		if (d->wall.end > l->until)
			add_gap(d, l, l->until, d->wall.end, -1);
		if (l->nr_kept)
			qsort(l->gaps, l->nr_kept, sizeof(*l->gaps), compare_gaps);
		l->idle_before = calloc(l->nr_kept + 1, sizeof(*l->idle_before));
		if (!l->idle_before)
			ui_die_memory();
		for (size_t g = 0; g < l->nr_kept; g++) {
			l->idle_before[g] = before;
			before += length_of(&l->gaps[g]);
		}
		l->idle_before[l->nr_kept] = before;
	}
}

/* Processes have ids of their own for a name: the first of them stands for it. */
static void name_kernels(struct digest *d)
{
	struct map by_text = { 0 };

	for (size_t i = 0; i < d->kernels.nr; i++) {
		struct digest_sum *sum = &d->kernels.sums[i];
		uint64_t hash, first;

		sum->name = ui_format("%s", digest_name(d, sum->id));
		hash = map_hash(sum->name, strlen(sum->name));
		while (map_get(&by_text, hash, &first) &&
		       strcmp(d->kernels.sums[first].name, sum->name) != 0)
			hash++;
		if (map_get(&by_text, hash, &first))
			sum->id = d->kernels.sums[first].id;
		else if (map_put(&by_text, hash, i))
			ui_die_memory();
	}
	map_fini(&by_text);
}

void digest_read(struct digest *d, struct query *q, const struct slice *filter)
{
	d->q = q;
	d->filter = filter;
	d->max_gaps = MAX_GAPS;
	if (!q->nr_processes)
		db_check(q, query_read_processes(q));
	read_ops(d);
	end_lanes(d);
	name_kernels(d);
	digest_read_copies(d);
	digest_read_calls(d);
	digest_sample(d);
}

void digest_fini(struct digest *d)
{
	free_lanes(d);
	digest_free_sums(&d->kernels, true);
	digest_free_sums(&d->copies, true);
	digest_free_sums(&d->calls, true);
	for (size_t i = 0; i < d->nr_errors; i++)
		free(d->errors[i].function);
	free(d->errors);
	map_fini(&d->odd);
	free(d->text);
	kinds_fini(&d->kinds);
	map_fini(&d->marker_index);
	map_fini(&d->call_ids);
	free(d->markers);
}
