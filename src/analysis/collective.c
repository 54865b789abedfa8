/* SPDX-License-Identifier: MIT */
/* collective.c - reads collectives of a trace and matches them between lanes
 *
 * Two passes over the operations, in the order of their begin: the first finds lanes and channels, and from them the sets of
 * channels that belong together; the second counts each channel's collectives and completes them one by one. RCCL's calls are put into a
 * temporary table before, by the thread and the time in which they launch.
 *
 * Not here: what RCCL's calls say (collective_calls.c).
 */
#include "analysis/collective.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_calls.h"
#include "base/alloc.h"
#include "query/collectives.h"
#include "query/kinds.h"
#include "query/rows.h"
#include "query/timeline.h"
#include "store/map.h"

#define SAMPLE 32 /* collectives by which channels that belong together are found */
#define OPEN_MAX_NR                                                                                \
	65536 /* collectives of a set that not all lanes have reached; older ones count as incomplete */

const char *const collective_classes[COLLECTIVE_NR_CLASSES] = { "transfer", "skew", "mixed",
								"inconclusive" };
const char *const collective_causes[COLLECTIVE_NR_CAUSES] = {
	[COLLECTIVE_UNKNOWN] = "unknown",
	[COLLECTIVE_KERNEL] = "longer kernels",
	[COLLECTIVE_COPY] = "copies",
	[COLLECTIVE_HOST] = "launched late",
	[COLLECTIVE_GRAPH] = "graph launched late",
	[COLLECTIVE_IDLE] = "idle",
};

#define LIST_NAME(pattern) pattern,
static const char *const known_names[] = { COLLECTIVES_EACH(LIST_NAME) };

struct event {
	int64_t begin, end;
	int64_t kernel_ns, copy_ns;
	int64_t host_ns; /* without an operation until the host launched the next one */
	int64_t since;	 /* end of the lane's collective before */
	int64_t longest, marker;
	uint64_t bytes;
	uint32_t name;					   /* number of the name */
	bool has_launch, has_before, is_untimed, is_graph; /* has_launch: its call is known */
};

struct channel {
	size_t lane, number; /* number: in the lane, of its kind */
	uint64_t key;
	bool by_calls;
	uint64_t nr;
	int64_t begins[SAMPLE], ends[SAMPLE];
	size_t set, member; /* SIZE_MAX: in no set */
};

struct set {
	size_t *channels, nr;
	size_t number;
	bool by_calls, is_apart; /* is_apart: on several hosts */
	struct event *open;	 /* a ring of `cap` collectives of nr events */
	size_t cap, *nr_arrived;
	uint64_t first, until; /* numbers in the ring */
	int64_t done;	       /* the last end of the collective that was completed last */
	size_t order;	       /* in out->orders; SIZE_MAX: none */
};

struct lane {
	int64_t process, since,
		busy_until; /* since: end of the collective before, INT64_MIN: none */
	int64_t kernel_ns, copy_ns, host_ns, longest_ns, longest;
	size_t nr_channels[2];
};

struct reader {
	struct query *q;
	struct collectives *out;
	const regex_t *more;
	collective_fn each;
	void *arg;
	struct collective_calls *calls;
	struct kinds copies;	 /* which operations are no kernels of the program */
	struct map kinds, texts; /* ids of texts: what they are; hashes of names: their numbers */
	struct map lane_index, channel_index, group_index;
	struct lane *lanes;
	size_t max_lanes, max_groups, max_orders;
	struct channel *channels;
	size_t nr_channels, max_channels;
	struct set *sets;
	size_t nr_sets, max_sets;
	char **names; /* of collectives */
	size_t nr_names, max_names;
	sqlite3_stmt *text;
	struct collective_arrival *arrivals;
	int64_t *sorted;
	size_t max_members;
	bool is_second;
};

/* Columns of an operation. */
enum { BEGIN, END, ID, GPU, QUEUE, NAME, TYPE, FLAGS, CALL, MARKER, LAUNCH, NR_COLUMNS };
enum kind { KIND_OTHER = 1, KIND_COPY, KIND_COLLECTIVE };

/* ---- names ---- */

static bool is_collective(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < sizeof(known_names) / sizeof(known_names[0]); i++)
		if (fnmatch(known_names[i], name, 0) == 0)
			return true;
	return r->more && regexec(r->more, name, 0, NULL, 0) == 0;
}

/* By its description and type, whose look-ups are kept. */
static int kind_of(struct reader *r, int64_t name, int64_t type, enum kind *kind)
{
	uint64_t key = (uint64_t)type << 32 ^ (uint64_t)name, known;

	if (!map_get(&r->kinds, key, &known)) {
		known = kinds_of(&r->copies, name, type) != KINDS_KERNEL ? KIND_COPY :
			is_collective(r, query_look_up(r->text, name))	 ? KIND_COLLECTIVE :
									   KIND_OTHER;
		if (map_put(&r->kinds, key, known))
			return query_fail_memory(r->q);
	}
	*kind = (enum kind)known;
	return 0;
}

static int number_of_name(struct reader *r, const char *name, uint32_t *number)
{
	uint64_t hash = map_hash(name, strlen(name)), at;
	char **names;

	for (; map_get(&r->texts, hash, &at); hash++)
		if (strcmp(r->names[at], name) == 0) {
			*number = (uint32_t)at;
			return 0;
		}
	names = alloc_grow(r->names, r->nr_names, &r->max_names, 16, sizeof(*names));
	if (!names)
		return query_fail_memory(r->q);
	r->names = names;
	r->names[r->nr_names] = alloc_string(name);
	if (!r->names[r->nr_names] || map_put(&r->texts, hash, r->nr_names)) {
		alloc_free(r->names[r->nr_names]);
		return query_fail_memory(r->q);
	}
	*number = (uint32_t)r->nr_names++;
	return 0;
}

/* ---- lanes and channels ---- */

static int lane_of(struct reader *r, const int64_t *row, size_t *lane)
{
	const struct query_process *process = query_process_of(r->q, row[ID]);
	const int64_t id = process ? process->id : 0, both[2] = { id, row[GPU] };
	uint64_t hash = map_hash(both, sizeof(both)), at;
	struct collective_lane *shown;
	struct lane *lanes;
	size_t max;

	for (; map_get(&r->lane_index, hash, &at); hash++)
		if (r->lanes[at].process == id && r->out->lanes[at].gpu == row[GPU]) {
			*lane = at;
			return 0;
		}
	max = r->max_lanes;
	shown = alloc_grow(r->out->lanes, r->out->nr_lanes, &max, 16, sizeof(*shown));
	if (!shown)
		return query_fail_memory(r->q);
	r->out->lanes = shown;
	lanes = alloc_grow(r->lanes, r->out->nr_lanes, &r->max_lanes, 16, sizeof(*lanes));
	if (!lanes)
		return query_fail_memory(r->q);
	r->lanes = lanes;
	if (map_put(&r->lane_index, hash, r->out->nr_lanes))
		return query_fail_memory(r->q);
	*lane = r->out->nr_lanes++;
	r->out->lanes[*lane] = (struct collective_lane){ .process = process, .gpu = row[GPU] };
	r->lanes[*lane] = (struct lane){ .process = id, .since = INT64_MIN };
	return 0;
}

static int channel_of(struct reader *r, size_t lane, bool by_calls, uint64_t key, size_t *channel)
{
	const uint64_t all[3] = { lane, by_calls, key };
	uint64_t hash = map_hash(all, sizeof(all)), at;
	struct channel *channels;

	for (; map_get(&r->channel_index, hash, &at); hash++) {
		const struct channel *c = &r->channels[at];

		if (c->lane == lane && c->by_calls == by_calls && c->key == key) {
			*channel = at;
			return 0;
		}
	}
	channels = alloc_grow(r->channels, r->nr_channels, &r->max_channels, 16, sizeof(*channels));
	if (!channels)
		return query_fail_memory(r->q);
	r->channels = channels;
	if (map_put(&r->channel_index, hash, r->nr_channels))
		return query_fail_memory(r->q);
	*channel = r->nr_channels++;
	r->channels[*channel] = (struct channel){ .lane = lane,
						  .key = key,
						  .by_calls = by_calls,
						  .number = r->lanes[lane].nr_channels[by_calls]++,
						  .set = SIZE_MAX };
	return 0;
}

/* ---- sets: channels that belong together ---- */

static bool overlap(const struct channel *a, const struct channel *b)
{
	uint64_t nr = a->nr < b->nr ? a->nr : b->nr, together = 0;

	nr = nr < SAMPLE ? nr : SAMPLE;
	for (size_t i = 0; i < nr; i++)
		together += a->begins[i] < b->ends[i] && b->begins[i] < a->ends[i];
	return nr && together * 2 >= nr;
}

/* Numbers the members of `all` by sets of channels that overlap; 0: they make no equal sets. `size`: of each set, 0: any but 1. Returns the
 * number of sets. */
static size_t split(const struct reader *r, const size_t *all, size_t nr, size_t size, size_t *part)
{
	size_t nr_parts = 0;

	for (size_t i = 0; i < nr; i++)
		part[i] = SIZE_MAX;
	for (size_t i = 0; i < nr; i++) {
		size_t in = 0;

		if (part[i] != SIZE_MAX)
			continue;
		for (size_t k = i; k < nr; k++) {
			bool same = k == i || overlap(&r->channels[all[i]], &r->channels[all[k]]);

			if (same && part[k] != SIZE_MAX)
				return 0;
			if (!same)
				continue;
			part[k] = nr_parts;
			in++;
		}
		size = size ? size : in;
		if (in != size || in < 2)
			return 0;
		nr_parts++;
	}
	/* each one overlaps with all of its set, and with none of another */
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < i; k++)
			if (overlap(&r->channels[all[i]], &r->channels[all[k]]) !=
			    (part[i] == part[k]))
				return 0;
	return nr_parts;
}

static int64_t node_of(const struct reader *r, const struct channel *c)
{
	const struct query_process *process = r->out->lanes[c->lane].process;

	return process ? process->pid / 10000000 : 0;
}

static int add_set(struct reader *r, const size_t *all, size_t nr, const size_t *part, size_t which)
{
	struct set *sets = alloc_grow(r->sets, r->nr_sets, &r->max_sets, 4, sizeof(*sets)), *set;

	if (!sets)
		return query_fail_memory(r->q);
	r->sets = sets;
	set = &r->sets[r->nr_sets];
	*set = (struct set){ .number = r->channels[all[0]].number,
			     .by_calls = r->channels[all[0]].by_calls,
			     .order = SIZE_MAX,
			     .channels = alloc_zero(nr, sizeof(*set->channels)) };
	if (!set->channels)
		return query_fail_memory(r->q);
	for (size_t i = 0; i < nr; i++) {
		struct channel *c = &r->channels[all[i]];

		if (part && part[i] != which)
			continue;
		c->set = r->nr_sets;
		c->member = set->nr;
		set->is_apart |= node_of(r, c) != node_of(r, &r->channels[all[0]]);
		set->channels[set->nr++] = all[i];
	}
	if (set->nr > r->max_members)
		r->max_members = set->nr;
	r->nr_sets++;
	return 0;
}

/* Whether a lane comes before another one: by rank, then by GPU. */
static bool is_before(const struct collective_lane *a, const struct collective_lane *b)
{
	int64_t x = a->process ? a->process->rank : 0, y = b->process ? b->process->rank : 0;

	return x != y ? x < y : a->process == b->process && a->gpu < b->gpu;
}

/* The channels of one number: of all lanes that have it. */
static int make_sets(struct reader *r, const size_t *all, size_t nr, size_t *part)
{
	bool by_calls = r->channels[all[0]].by_calls;
	size_t nr_parts = 0;
	int ret = 0;

	if (nr == 1) {
		r->out->nr_alone += r->channels[all[0]].nr;
		return 0;
	}
	if (by_calls && collective_calls_nr_sizes(r->calls)) {
		if (collective_calls_has_size(r->calls, nr))
			return add_set(r, all, nr, NULL, 0);
		for (size_t size = nr - 1; size > 1 && !nr_parts; size--)
			if (nr % size == 0 && collective_calls_has_size(r->calls, size))
				nr_parts = split(r, all, nr, size, part);
		if (!nr_parts) {
			for (size_t i = 0; i < nr; i++)
				r->out->nr_unclear += r->channels[all[i]].nr;
			return 0;
		}
	} else {
		nr_parts = split(r, all, nr, 0, part);
		if (!nr_parts)
			return add_set(r, all, nr, NULL, 0);
	}
	for (size_t i = 0; i < nr_parts && !ret; i++)
		ret = add_set(r, all, nr, part, i);
	return ret;
}

static int find_sets(struct reader *r)
{
	size_t *all = alloc_zero(2 * r->nr_channels + 2, sizeof(*all)),
	       *part = all + r->nr_channels + 1;
	int ret = all ? 0 : query_fail_memory(r->q);

	for (size_t i = 0; i < r->nr_channels && !ret; i++) {
		const struct channel *first = &r->channels[i];
		size_t nr = 0, before = 0;

		for (size_t k = 0; k < r->nr_channels; k++) {
			const struct channel *c = &r->channels[k];
			size_t at = nr;

			if (c->number != first->number || c->by_calls != first->by_calls)
				continue;
			nr++;
			before += k < i;
			for (; at && is_before(&r->out->lanes[c->lane],
					       &r->out->lanes[r->channels[all[at - 1]].lane]);
			     at--)
				all[at] = all[at - 1];
			all[at] = k;
		}
		if (!before)
			ret = make_sets(r, all, nr, part);
	}
	alloc_free(all);
	return ret;
}

/* ---- collectives ---- */

static int grow_ring(struct reader *r, struct set *set, uint64_t number)
{
	size_t cap = set->cap ? set->cap : 16;
	struct event *open;
	size_t *nr_arrived;

	while (cap <= number - set->first)
		cap *= 2;
	if (cap == set->cap)
		return 0;
	open = alloc_zero(cap * set->nr, sizeof(*open));
	nr_arrived = alloc_zero(cap, sizeof(*nr_arrived));
	if (!open || !nr_arrived) {
		alloc_free(open);
		alloc_free(nr_arrived);
		return query_fail_memory(r->q);
	}
	for (uint64_t i = set->first; i < set->until; i++) {
		memcpy(open + i % cap * set->nr, set->open + i % set->cap * set->nr,
		       set->nr * sizeof(*open));
		nr_arrived[i % cap] = set->nr_arrived[i % set->cap];
	}
	alloc_free(set->open);
	alloc_free(set->nr_arrived);
	set->open = open;
	set->nr_arrived = nr_arrived;
	set->cap = cap;
	return 0;
}

static int group_of(struct reader *r, const struct set *set, uint32_t name,
		    struct collective_group **out)
{
	uint64_t key = (uint64_t)(set - r->sets) << 32 | name, at;
	struct collective_group *groups, *g;

	if (map_get(&r->group_index, key, &at)) {
		*out = &r->out->groups[at];
		return 0;
	}
	groups = alloc_grow(r->out->groups, r->out->nr_groups, &r->max_groups, 8, sizeof(*groups));
	if (!groups)
		return query_fail_memory(r->q);
	r->out->groups = groups;
	if (map_put(&r->group_index, key, r->out->nr_groups))
		return query_fail_memory(r->q);
	g = &groups[r->out->nr_groups++];
	*g = (struct collective_group){ .name = alloc_string(r->names[name]),
					.channel = set->number,
					.by_calls = set->by_calls,
					.members = alloc_zero(set->nr, sizeof(*g->members)),
					.nr_members = set->nr };
	if (!g->name || !g->members)
		return query_fail_memory(r->q);
	for (size_t i = 0; i < set->nr; i++)
		g->members[i].lane = r->channels[set->channels[i]].lane;
	*out = g;
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The median arrival of all but the last one. */
static int64_t median_before(struct reader *r, const struct event *events, size_t nr, size_t last)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		if (i != last)
			r->sorted[n++] = events[i].begin;
	qsort(r->sorted, n, sizeof(*r->sorted), compare_numbers);
	return r->sorted[n / 2];
}

/* The time of a lane without an operation since all lanes had the collective before. */
static double idle_of(const struct event *e, int64_t done)
{
	int64_t since = e->since > done ? e->since : done;
	int64_t ns = e->begin - since - e->kernel_ns - e->copy_ns;

	return ns > 0 ? (double)ns : 0;
}

/* What the last one has more than the mean of the others, if that explains half of how late it is. `done`: when all lanes had the
 * collective before. */
static enum collective_cause cause_of(const struct event *events, size_t nr, size_t last,
				      int64_t late_ns, int64_t done)
{
	const struct event *e = &events[last];
	double kernel = 0, copy = 0, idle = 0, others = (double)nr - 1, half = (double)late_ns / 2;

	for (size_t i = 0; i < nr; i++) {
		if (!events[i].has_before)
			return COLLECTIVE_UNKNOWN;
		if (i == last)
			continue;
		kernel += (double)events[i].kernel_ns / others;
		copy += (double)events[i].copy_ns / others;
		idle += idle_of(&events[i], done) / others;
	}
	kernel = (double)e->kernel_ns - kernel;
	copy = (double)e->copy_ns - copy;
	idle = idle_of(e, done) - idle;
	if (kernel >= half && kernel >= copy && kernel >= idle)
		return COLLECTIVE_KERNEL;
	if (copy >= half && copy >= idle)
		return COLLECTIVE_COPY;
	if (idle < half)
		return COLLECTIVE_UNKNOWN;
	if (!e->has_launch)
		return COLLECTIVE_IDLE;
	if ((double)e->host_ns < half)
		return COLLECTIVE_UNKNOWN;
	return e->is_graph ? COLLECTIVE_GRAPH : COLLECTIVE_HOST;
}

static int note_order(struct reader *r, struct set *set, const struct event *events,
		      uint64_t number, size_t other)
{
	struct collective_order *orders, *o;

	if (set->order != SIZE_MAX) {
		r->out->orders[set->order].count++;
		return 0;
	}
	orders = alloc_grow(r->out->orders, r->out->nr_orders, &r->max_orders, 4, sizeof(*orders));
	if (!orders)
		return query_fail_memory(r->q);
	r->out->orders = orders;
	set->order = r->out->nr_orders++;
	o = &orders[set->order];
	*o = (struct collective_order){
		.lanes = { r->channels[set->channels[0]].lane,
			   r->channels[set->channels[other]].lane },
		.names = { alloc_string(r->names[events[0].name]),
			   alloc_string(r->names[events[other].name]) },
		.number = number,
		.count = 1,
	};
	return o->names[0] && o->names[1] ? 0 : query_fail_memory(r->q);
}

static enum collective_class class_of(int64_t skew, int64_t transfer)
{
	if (transfer >= 2 * skew)
		return COLLECTIVE_TRANSFER;
	return skew >= 2 * transfer ? COLLECTIVE_SKEW : COLLECTIVE_MIXED;
}

static void note_late(struct collective_member *m, const struct event *e, int64_t late_ns,
		      enum collective_cause cause)
{
	m->nr_last++;
	m->late_ns += (uint64_t)late_ns;
	m->causes[cause]++;
	if ((uint64_t)late_ns < m->worst_ns)
		return;
	m->worst_ns = (uint64_t)late_ns;
	m->worst_begin = e->begin;
	m->worst_kernel = cause == COLLECTIVE_KERNEL ? e->longest : 0;
	m->worst_marker = e->marker;
}

/* All lanes have it. */
static int complete(struct reader *r, struct set *set, uint64_t number)
{
	const struct event *events = set->open + number % set->cap * set->nr;
	struct collective_one one = { .channel = set->number, .number = number, .nr = set->nr };
	bool is_clear = !set->is_apart;
	struct collective_group *g = NULL;
	int64_t first = INT64_MAX, done = 0, skew, transfer, late;
	size_t other = 0;
	int ret;

	for (size_t i = 0; i < set->nr; i++) {
		const struct event *e = &events[i];

		if (e->begin > events[one.last].begin)
			one.last = i;
		first = e->begin < first ? e->begin : first;
		done = e->end > done ? e->end : done;
		is_clear = is_clear && !e->is_untimed;
		other = e->name != events[0].name && !other ? i : other;
		r->arrivals[i] =
			(struct collective_arrival){ .lane = r->channels[set->channels[i]].lane,
						     .begin = e->begin,
						     .end = e->end,
						     .bytes = e->bytes };
	}
	ret = other ? note_order(r, set, events, number, other) : 0;
	if (!ret)
		ret = group_of(r, set, events[0].name, &g);
	if (ret)
		return ret;
	skew = events[one.last].begin - first;
	transfer = events[one.last].end - events[one.last].begin;
	one.class = other || !is_clear ? COLLECTIVE_INCONCLUSIVE : class_of(skew, transfer);
	g->nr++;
	g->nr_class[one.class]++;
	if (one.class != COLLECTIVE_INCONCLUSIVE) {
		g->skew_ns += (uint64_t)skew;
		g->transfer_ns += (uint64_t)transfer;
		g->bytes += events[0].bytes;
		g->bus_bytes +=
			(double)events[0].bytes * collective_calls_bus_factor(g->name, set->nr);
		for (size_t i = 0; i < set->nr; i++)
			g->members[i].wait_ns +=
				(uint64_t)(events[one.last].begin - events[i].begin);
	}
	if (one.class == COLLECTIVE_SKEW) {
		late = events[one.last].begin - median_before(r, events, set->nr, one.last);
		one.cause = cause_of(events, set->nr, one.last, late, set->done);
		note_late(&g->members[one.last], &events[one.last], late, one.cause);
	}
	set->done = done;
	one.name = g->name;
	one.arrivals = r->arrivals;
	return r->each ? r->each(r->arg, &one) : 0;
}

/* Forgets the oldest collective of a set, complete or not. */
static void drop_first(struct set *set)
{
	memset(set->open + set->first % set->cap * set->nr, 0, set->nr * sizeof(*set->open));
	set->nr_arrived[set->first % set->cap] = 0;
	set->first++;
}

static int arrive(struct reader *r, struct channel *c, const struct event *e)
{
	struct set *set = &r->sets[c->set];
	uint64_t number = c->nr++;
	struct event *at;
	int ret = 0;

	while (number >= set->first + OPEN_MAX_NR && set->first < set->until) {
		r->out->nr_incomplete++;
		drop_first(set);
	}
	if (number < set->first)
		return 0;
	ret = grow_ring(r, set, number);
	if (ret)
		return ret;
	set->until = number >= set->until ? number + 1 : set->until;
	at = set->open + number % set->cap * set->nr + c->member;
	*at = *e;
	if (++set->nr_arrived[number % set->cap] < set->nr)
		return 0;
	ret = complete(r, set, number);
	/* they complete in any order where lanes overtake each other; the ring ends at the oldest that is open */
	while (!ret && set->first < set->until && set->nr_arrived[set->first % set->cap] == set->nr)
		drop_first(set);
	return ret;
}

/* ---- operations ---- */

/* What was launched when the GPU had nothing to do came late from the host. */
static void note_gap(struct lane *lane, const int64_t *row)
{
	if (row[LAUNCH] && lane->since != INT64_MIN && row[BEGIN] > lane->busy_until &&
	    row[LAUNCH] >= lane->busy_until)
		lane->host_ns += row[BEGIN] - lane->busy_until;
}

static void add_work(struct lane *lane, const int64_t *row, bool is_copy)
{
	int64_t begin = row[BEGIN] > lane->since ? row[BEGIN] : lane->since, ns;

	note_gap(lane, row);
	begin = begin > lane->busy_until ? begin : lane->busy_until;
	ns = row[END] - begin;
	if (ns > 0) {
		*(is_copy ? &lane->copy_ns : &lane->kernel_ns) += ns;
		if (!is_copy && ns > lane->longest_ns) {
			lane->longest_ns = ns;
			lane->longest = row[NAME];
		}
	}
	lane->busy_until = row[END] > lane->busy_until ? row[END] : lane->busy_until;
}

static void end_work(struct lane *lane, const int64_t *row)
{
	lane->since = row[END] > lane->since ? row[END] : lane->since;
	lane->busy_until = lane->since;
	lane->kernel_ns = lane->copy_ns = lane->host_ns = lane->longest_ns = lane->longest = 0;
}

static int take_collective(struct reader *r, size_t lane, const int64_t *row)
{
	struct lane *l = &r->lanes[lane];
	struct collective_launch launch = { 0 };
	struct event e = { .begin = row[BEGIN],
			   .end = row[END],
			   .kernel_ns = l->kernel_ns,
			   .copy_ns = l->copy_ns,
			   .since = l->since,
			   .has_launch = row[LAUNCH] != 0,
			   .longest = l->longest,
			   .marker = row[MARKER],
			   .has_before = l->since != INT64_MIN,
			   .is_untimed = !rows_timed(row[BEGIN], row[END], row[FLAGS]) };
	size_t channel = 0;
	int ret = collective_calls_find(r->calls, row[CALL], lane, &launch);

	note_gap(l, row);
	e.host_ns = l->host_ns;
	if (ret || launch.is_point_to_point)
		return ret;
	ret = channel_of(r, lane, launch.comm != 0,
			 launch.comm ? launch.comm : (uint64_t)row[QUEUE], &channel);
	if (ret)
		return ret;
	e.is_graph = launch.is_graph;
	e.bytes = launch.bytes;
	if (!r->is_second) {
		struct channel *c = &r->channels[channel];

		if (c->nr < SAMPLE) {
			c->begins[c->nr] = e.begin;
			c->ends[c->nr] = e.end;
		}
		c->nr++;
		return 0;
	}
	if (r->channels[channel].set == SIZE_MAX)
		return 0;
	ret = number_of_name(r, launch.name ? launch.name : query_look_up(r->text, row[NAME]),
			     &e.name);
	return ret ? ret : arrive(r, &r->channels[channel], &e);
}

static int take_op(void *arg, const int64_t *row)
{
	struct reader *r = arg;
	enum kind kind = KIND_OTHER;
	size_t lane = 0;
	int ret = row[GPU] < 0 ? 0 : kind_of(r, row[NAME], row[TYPE], &kind);

	if (ret || row[GPU] < 0)
		return ret;
	if (!r->is_second && kind != KIND_COLLECTIVE)
		return 0;
	ret = lane_of(r, row, &lane);
	if (ret)
		return ret;
	if (kind != KIND_COLLECTIVE) {
		if (rows_timed(row[BEGIN], row[END], row[FLAGS]))
			add_work(&r->lanes[lane], row, kind == KIND_COPY);
		return 0;
	}
	ret = take_collective(r, lane, row);
	end_work(&r->lanes[lane], row);
	return ret;
}

static void restart(void *arg)
{
	struct reader *r = arg;

	for (size_t i = 0; i < r->out->nr_lanes; i++) {
		r->lanes[i] = (struct lane){ .process = r->lanes[i].process,
					     .since = INT64_MIN,
					     .nr_channels = { r->lanes[i].nr_channels[0],
							      r->lanes[i].nr_channels[1] } };
	}
	for (size_t i = 0; i < r->nr_channels; i++)
		r->channels[i].nr = 0;
	collective_calls_restart(r->calls);
}

/* When rows come again, in another order, what the first pass found is found again. */
static void restart_first(void *arg)
{
	struct reader *r = arg;

	r->nr_channels = r->out->nr_lanes = 0;
	map_clear(&r->lane_index);
	map_clear(&r->channel_index);
	collective_calls_restart(r->calls);
}

static void free_groups(struct collectives *c)
{
	for (size_t i = 0; i < c->nr_groups; i++) {
		alloc_free(c->groups[i].name);
		alloc_free(c->groups[i].members);
	}
	for (size_t i = 0; i < c->nr_orders; i++) {
		alloc_free(c->orders[i].names[0]);
		alloc_free(c->orders[i].names[1]);
	}
	c->nr_groups = c->nr_orders = 0;
}

static void restart_second(void *arg)
{
	struct reader *r = arg;

	restart(r);
	free_groups(r->out);
	map_clear(&r->group_index);
	r->out->nr_incomplete = 0;
	for (size_t i = 0; i < r->nr_sets; i++) {
		struct set *set = &r->sets[i];

		while (set->first < set->until)
			drop_first(set);
		set->first = set->until = 0;
		set->done = 0;
		set->order = SIZE_MAX;
	}
}

static int read_ops(struct reader *r)
{
	static const struct timeline_rows ours = {
		.columns =
			"O.start, O.\"end\", O.id, O.gpuId, O.queueId, O.description_id, O.opType_id, "
			"coalesce(K.flags, C.flags, 0), O.correlation_id, O.roctxId, coalesce(A.start, 0)",
		.from = "rocpd_op O LEFT JOIN rtl_op_kernel K ON K.op_id = O.id LEFT JOIN rtl_op_copy C ON "
			"C.op_id = O.id LEFT JOIN rtl_api_data X ON X.api_id = O.correlation_id LEFT JOIN rocpd_api A ON "
			"A.id = X.api_id WHERE O.id BETWEEN ?1 AND ?2",
	};
	static const struct timeline_rows rpd = {
		.columns =
			"O.start, O.\"end\", O.id, O.gpuId, O.queueId, O.description_id, O.opType_id, 0, "
			"coalesce(A.id, 0), 0, coalesce(A.start, 0)",
		.from = "rocpd_op O LEFT JOIN rocpd_api A ON A.id = (SELECT L.api_id FROM rocpd_api_ops L WHERE L.op_id = "
			"O.id) WHERE O.id BETWEEN ?1 AND ?2",
	};

	return timeline_read(r->q, r->q->ours ? &ours : &rpd, TIMELINE_HERE, take_op,
			     r->is_second ? restart_second : restart_first, r);
}

/* ---- results ---- */

/* The chance that one of `nr` lanes comes last at least `last` times of `of`, were each as likely. */
static double chance(uint64_t last, uint64_t of, size_t nr)
{
	double p = 1.0 / (double)nr, sum = 0;

	for (uint64_t k = last; k <= of; k++) {
		double n = (double)of, x = (double)k;
		double ways = lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1);
		double term = exp(ways + x * log(p) + (n - x) * log(1 - p));

		sum += term;
		if (k > last && term < sum * 1e-12)
			break;
	}
	return fmin(1, sum * (double)nr);
}

#define LATE_CHANCE 0.01

static void judge(struct collective_group *g)
{
	uint64_t skewed = g->nr_class[COLLECTIVE_SKEW];

	for (size_t i = 0; i < g->nr_members; i++) {
		struct collective_member *m = &g->members[i];

		/* single ones count for nothing: nine of ten collectives may be in order */
		m->is_late = skewed * 10 >= g->nr && m->nr_last * 2 > skewed &&
			     chance(m->nr_last, skewed, g->nr_members) < LATE_CHANCE;
	}
}

static void name_lanes(struct collectives *c)
{
	for (size_t i = 0; i < c->nr_lanes; i++) {
		struct collective_lane *lane = &c->lanes[i];
		const struct query_process *process = lane->process;
		bool is_one = true, is_one_process = true;

		for (size_t k = 0; k < c->nr_lanes; k++) {
			is_one_process &= c->lanes[k].process == process;
			is_one &= k == i || c->lanes[k].process != process;
		}
		if (process && process->rank >= 0 && is_one)
			snprintf(lane->name, sizeof(lane->name), "rank %lld",
				 (long long)process->rank);
		else if (process && process->rank >= 0 && !is_one_process)
			snprintf(lane->name, sizeof(lane->name), "rank %lld GPU %lld",
				 (long long)process->rank, (long long)lane->gpu);
		else if (process && !is_one_process)
			snprintf(lane->name, sizeof(lane->name), "pid %lld GPU %lld",
				 (long long)process->pid, (long long)lane->gpu);
		else
			snprintf(lane->name, sizeof(lane->name), "GPU %lld", (long long)lane->gpu);
	}
}

static void finish(struct reader *r)
{
	for (size_t i = 0; i < r->nr_sets; i++) {
		const struct set *set = &r->sets[i];

		for (uint64_t n = set->first; n < set->until; n++)
			r->out->nr_incomplete += set->nr_arrived[n % set->cap] < set->nr;
	}
	for (size_t i = 0; i < r->out->nr_groups; i++)
		judge(&r->out->groups[i]);
	name_lanes(r->out);
}

static void free_reader(struct reader *r)
{
	for (size_t i = 0; i < r->nr_sets; i++) {
		alloc_free(r->sets[i].channels);
		alloc_free(r->sets[i].open);
		alloc_free(r->sets[i].nr_arrived);
	}
	for (size_t i = 0; i < r->nr_names; i++)
		alloc_free(r->names[i]);
	alloc_free(r->names);
	alloc_free(r->sets);
	alloc_free(r->channels);
	alloc_free(r->lanes);
	alloc_free(r->arrivals);
	alloc_free(r->sorted);
	kinds_fini(&r->copies);
	map_fini(&r->kinds);
	map_fini(&r->texts);
	map_fini(&r->lane_index);
	map_fini(&r->channel_index);
	map_fini(&r->group_index);
	sqlite3_finalize(r->text);
	collective_calls_close(r->calls);
}

static int read_twice(struct reader *r)
{
	int ret = read_ops(r);

	if (!ret)
		ret = find_sets(r);
	if (ret || !r->nr_sets)
		return ret;
	r->arrivals = alloc_zero(r->max_members, sizeof(*r->arrivals));
	r->sorted = alloc_zero(r->max_members, sizeof(*r->sorted));
	if (!r->arrivals || !r->sorted)
		return query_fail_memory(r->q);
	r->is_second = true;
	restart(r);
	return read_ops(r);
}

int collective_read(struct query *q, const regex_t *more, collective_fn each, void *arg,
		    struct collectives *out)
{
	struct reader r = { .q = q, .out = out, .more = more, .each = each, .arg = arg };
	int ret = q->nr_processes ? 0 : query_read_processes(q);

	*out = (struct collectives){ 0 };
	if (!ret)
		ret = query_prepare(q, &r.text, QUERY_STRING);
	if (!ret)
		ret = kinds_read(q, &r.copies);
	if (!ret)
		ret = collective_calls_open(q, &r.calls);
	if (!ret)
		ret = read_twice(&r);
	if (!ret)
		finish(&r);
	free_reader(&r);
	if (ret)
		collective_fini(out);
	return ret;
}

void collective_fini(struct collectives *c)
{
	free_groups(c);
	alloc_free(c->groups);
	alloc_free(c->orders);
	alloc_free(c->lanes);
	*c = (struct collectives){ 0 };
}
