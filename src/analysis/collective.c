/* SPDX-License-Identifier: MIT */
/* collective.c - matches collectives between parties
 *
 * From the channels of all parties come the sets of channels that belong together; then each
 * channel's collectives are counted, in the order of their begin, and completed one by one.
 *
 * Not here: what the parties did (collective_ops.c), what RCCL's calls say (collective_calls.c),
 * who is called late (collective_judge.c).
 */
#include "analysis/collective.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/collective_internal.h"
#include "base/alloc.h"
#include "query/collectives.h"
#include "store/map.h"

#define OPEN_MAX_NR                                                                                \
	65536 /* collectives of a set that not all parties have reached; older ones count as incomplete */

const char *const collective_classes[COLLECTIVE_NR_CLASSES] = { "transfer", "skew", "mixed",
								"inconclusive" };
const char *const collective_causes[COLLECTIVE_NR_CAUSES] = {
	[COLLECTIVE_UNKNOWN] = "unknown",
	[COLLECTIVE_KERNEL] = "longer kernels",
	[COLLECTIVE_COPY] = "copies",
	[COLLECTIVE_HOST] = "launched late",
	[COLLECTIVE_GRAPH] = "graph launched late",
	[COLLECTIVE_IDLE] = "idle",
	[COLLECTIVE_CALL] = "called late",
};

const char *const collective_verdicts[COLLECTIVE_NR_VERDICTS] = { "", "late", "inconclusive",
								  "inconclusive" };

struct set {
	size_t *channels, nr;
	size_t number;
	bool by_calls, is_apart;       /* is_apart: of several clocks */
	struct collective_event *open; /* a ring of `cap` collectives of nr events */
	size_t cap, *nr_arrived;
	uint64_t first, until; /* numbers in the ring */
	int64_t done;	       /* the last end of the collective that was completed last */
	size_t order;	       /* in out->orders; SIZE_MAX: none */
	size_t group;	       /* in out->groups, of `name`, which came last; SIZE_MAX: none */
	uint32_t name;
};

struct reader {
	struct query *q;
	struct collective_ops ops;
	struct collectives *out;
	collective_fn each;
	void *arg;
	struct map group_index;
	struct collective_sample *samples; /* of each group */
	size_t max_groups, max_samples, max_orders;
	struct set *sets;
	size_t nr_sets, max_sets;
	struct collective_arrival *arrivals;
	int64_t *sorted;
	size_t max_members;
	bool is_apart,
		/* is_apart: a set is; measuring: the clocks are compared, nothing else */
		is_measuring;
};

/* ---- sets: channels that belong together ---- */

static bool overlap(const struct collective_channel *a, const struct collective_channel *b)
{
	uint64_t nr = a->nr < b->nr ? a->nr : b->nr, together = 0;

	nr = nr < COLLECTIVE_SAMPLE ? nr : COLLECTIVE_SAMPLE;
	for (size_t i = 0; i < nr; i++)
		together += a->begins[i] < b->ends[i] && b->begins[i] < a->ends[i];
	return nr && together * 2 >= nr;
}

/* Numbers the members of `all` by sets of channels that overlap; 0: they make no equal sets.
 * `size`: of each set, 0: any but 1. Returns the number of sets. */
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
			bool same = k == i ||
				    overlap(&r->ops.channels[all[i]], &r->ops.channels[all[k]]);

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
			if (overlap(&r->ops.channels[all[i]], &r->ops.channels[all[k]]) !=
			    (part[i] == part[k]))
				return 0;
	return nr_parts;
}

static size_t clock_of(const struct reader *r, const struct collective_channel *c)
{
	const struct query_process *process = r->out->parties[c->party].process;

	return process ? process->clock : 0;
}

static int add_set(struct reader *r, const size_t *all, size_t nr, const size_t *part, size_t which)
{
	struct set *sets = alloc_grow(r->sets, r->nr_sets, &r->max_sets, 4, sizeof(*sets)), *set;

	if (!sets)
		return query_fail_memory(r->q);
	r->sets = sets;
	set = &r->sets[r->nr_sets];
	*set = (struct set){ .number = r->ops.channels[all[0]].number,
			     .by_calls = r->ops.channels[all[0]].by_calls,
			     .order = SIZE_MAX,
			     .group = SIZE_MAX,
			     .channels = alloc_zero(nr, sizeof(*set->channels)) };
	if (!set->channels)
		return query_fail_memory(r->q);
	for (size_t i = 0; i < nr; i++) {
		struct collective_channel *c = &r->ops.channels[all[i]];

		if (part && part[i] != which)
			continue;
		c->set = r->nr_sets;
		c->member = set->nr;
		set->channels[set->nr++] = all[i];
		set->is_apart |= clock_of(r, c) != clock_of(r, &r->ops.channels[set->channels[0]]);
	}
	r->is_apart |= set->is_apart;
	if (set->nr > r->max_members)
		r->max_members = set->nr;
	r->nr_sets++;
	return 0;
}

/* Whether a party comes before another one: by rank, then by GPU. */
static bool is_before(const struct collective_party *a, const struct collective_party *b)
{
	int64_t x = a->process ? a->process->rank : 0, y = b->process ? b->process->rank : 0;

	return x != y ? x < y : a->process == b->process && a->gpu < b->gpu;
}

/* The channels of one number: of all parties that have it. */
static int make_sets(struct reader *r, const size_t *all, size_t nr, size_t *part)
{
	bool by_calls = r->ops.channels[all[0]].by_calls;
	size_t nr_parts = 0;
	int ret = 0;

	if (nr == 1) {
		r->out->nr_alone += r->ops.channels[all[0]].nr;
		return 0;
	}
	if (r->ops.channels[all[0]].id)
		return add_set(r, all, nr, NULL, 0);
	if (by_calls && collective_calls_nr_sizes(r->ops.calls)) {
		if (collective_calls_has_size(r->ops.calls, nr))
			return add_set(r, all, nr, NULL, 0);
		for (size_t size = nr - 1; size > 1 && !nr_parts; size--)
			if (nr % size == 0 && collective_calls_has_size(r->ops.calls, size))
				nr_parts = split(r, all, nr, size, part);
		if (!nr_parts) {
			for (size_t i = 0; i < nr; i++)
				r->out->nr_unclear += r->ops.channels[all[i]].nr;
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
	size_t *all = alloc_zero(2 * r->ops.nr_channels + 2, sizeof(*all)),
	       *part = all + r->ops.nr_channels + 1;
	int ret = all ? 0 : query_fail_memory(r->q);

	for (size_t i = 0; i < r->ops.nr_channels && !ret; i++) {
		const struct collective_channel *first = &r->ops.channels[i];
		size_t nr = 0, before = 0;

		for (size_t k = 0; k < r->ops.nr_channels; k++) {
			const struct collective_channel *c = &r->ops.channels[k];
			size_t at = nr;

			if (c->id != first->id || c->by_calls != first->by_calls ||
			    (!c->id && c->number != first->number))
				continue;
			nr++;
			before += k < i;
			for (;
			     at && is_before(&r->out->parties[c->party],
					     &r->out->parties[r->ops.channels[all[at - 1]].party]);
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
	struct collective_event *open;
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

static int look_up_group(struct reader *r, const struct set *set, uint32_t name, size_t *group)
{
	uint64_t key = (uint64_t)(set - r->sets) << 32 | name, at;
	struct collective_group *groups, *g;
	struct collective_sample *samples;

	if (map_get(&r->group_index, key, &at)) {
		*group = (size_t)at;
		return 0;
	}
	groups = alloc_grow(r->out->groups, r->out->nr_groups, &r->max_groups, 8, sizeof(*groups));
	if (!groups)
		return query_fail_memory(r->q);
	r->out->groups = groups;
	samples = alloc_grow(r->samples, r->out->nr_groups, &r->max_samples, 8, sizeof(*samples));
	if (!samples)
		return query_fail_memory(r->q);
	r->samples = samples;
	samples[r->out->nr_groups] = (struct collective_sample){ 0 };
	if (map_put(&r->group_index, key, r->out->nr_groups))
		return query_fail_memory(r->q);
	g = &groups[r->out->nr_groups++];
	*g = (struct collective_group){ .name = alloc_string(r->ops.names[name]),
					.channel = set->number,
					.by_calls = set->by_calls,
					.members = alloc_zero(set->nr, sizeof(*g->members)),
					.nr_members = set->nr };
	if (!g->name || !g->members)
		return query_fail_memory(r->q);
	for (size_t i = 0; i < set->nr; i++)
		g->members[i].party = r->ops.channels[set->channels[i]].party;
	*group = (size_t)(g - groups);
	return 0;
}

/* Mostly that of the set's collective before. */
static int group_of(struct reader *r, struct set *set, uint32_t name, struct collective_group **out)
{
	int ret = 0;

	if (set->group == SIZE_MAX || set->name != name) {
		set->group = SIZE_MAX;
		ret = look_up_group(r, set, name, &set->group);
		set->name = name;
	}
	*out = ret ? NULL : &r->out->groups[set->group];
	return ret;
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* The median arrival of all but the last one. */
static int64_t median_before(struct reader *r, const struct collective_event *events, size_t nr,
			     size_t last)
{
	size_t n = 0;

	for (size_t i = 0; i < nr; i++)
		if (i != last)
			r->sorted[n++] = events[i].begin;
	qsort(r->sorted, n, sizeof(*r->sorted), compare_numbers);
	return r->sorted[n / 2];
}

/* What the last one has more than the mean of the others, if that explains half of how late it is.
 * `done`: when all parties had the collective before. */
static enum collective_cause cause_of(const struct collective_event *events, size_t nr, size_t last,
				      int64_t late_ns, int64_t done)
{
	const struct collective_event *e = &events[last];
	double kernel = 0, copy = 0, idle = 0, others = (double)nr - 1, half = (double)late_ns / 2;

	for (size_t i = 0; i < nr; i++) {
		if (!events[i].has_before)
			return COLLECTIVE_UNKNOWN;
		if (i == last)
			continue;
		kernel += (double)events[i].kernel_ns / others;
		copy += (double)events[i].copy_ns / others;
		idle += collective_idle(&events[i], done) / others;
	}
	kernel = (double)e->kernel_ns - kernel;
	copy = (double)e->copy_ns - copy;
	idle = collective_idle(e, done) - idle;
	if (kernel >= half && kernel >= copy && kernel >= idle)
		return COLLECTIVE_KERNEL;
	if (copy >= half && copy >= idle)
		return COLLECTIVE_COPY;
	if (idle < half)
		return COLLECTIVE_UNKNOWN;
	if (e->is_call)
		return COLLECTIVE_CALL;
	if (!e->has_launch)
		return COLLECTIVE_IDLE;
	if ((double)e->host_ns < half)
		return COLLECTIVE_UNKNOWN;
	return e->is_graph ? COLLECTIVE_GRAPH : COLLECTIVE_HOST;
}

/* Of those of a set the first one is kept; they complete in any order. */
static int note_order(struct reader *r, struct set *set, const struct collective_event *events,
		      uint64_t number, size_t other)
{
	struct collective_order *orders = r->out->orders, *o;
	char *names[2];

	if (set->order != SIZE_MAX && number + 1 > orders[set->order].number) {
		orders[set->order].count++;
		return 0;
	}
	if (set->order == SIZE_MAX) {
		orders = alloc_grow(orders, r->out->nr_orders, &r->max_orders, 4, sizeof(*orders));
		if (!orders)
			return query_fail_memory(r->q);
		r->out->orders = orders;
		set->order = r->out->nr_orders++;
		orders[set->order] = (struct collective_order){ .channel = set->number,
								.by_calls = set->by_calls };
	}
	o = &orders[set->order];
	names[0] = alloc_string(r->ops.names[events[0].name]);
	names[1] = alloc_string(r->ops.names[events[other].name]);
	for (int i = 0; i < 2; i++) {
		alloc_free(o->names[i]);
		o->names[i] = names[i];
		o->parties[i] = r->ops.channels[set->channels[i ? other : 0]].party;
	}
	o->number = number + 1;
	o->count++;
	return names[0] && names[1] ? 0 : query_fail_memory(r->q);
}

static void note_late(struct collective_member *m, const struct collective_event *e,
		      int64_t late_ns, enum collective_cause cause)
{
	m->nr_last++;
	m->late_ns += (uint64_t)late_ns;
	m->causes[cause]++;
	if ((uint64_t)late_ns < m->worst_ns)
		return;
	m->worst_ns = (uint64_t)late_ns;
	m->worst_begin = e->begin + e->ahead;
	m->worst_kernel = cause == COLLECTIVE_KERNEL ? e->longest : 0;
	m->worst_op = e->is_call ? 0 : e->op;
}

static enum collective_class class_of(int64_t skew, int64_t transfer)
{
	if (transfer >= 2 * skew)
		return COLLECTIVE_TRANSFER;
	return skew >= 2 * transfer ? COLLECTIVE_SKEW : COLLECTIVE_MIXED;
}

/* ---- clocks ---- */

/* Whether none of its parties can end before all have come, by the name. */
static bool is_synchronous(const char *name)
{
	static const char *const parts[] = { "AllReduce",      "AllGather",  "ReduceScatter",
					     "AllToAll",       "all_reduce", "allreduce",
					     "reduce_scatter", "allgather",  "cross_device_reduce",
					     "quickreduce" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

/* The same of calls of MPI, of all ranks. */
static bool is_waiting_call(const char *name, const struct collective_event *events, size_t nr)
{
	bool has_data = true;

	for (size_t i = 0; i < nr; i++)
		has_data &= events[i].bytes > 0;
	return clock_align_waits(name, has_data);
}

/* A collective's last begin and first end on a clock; false: no party is of it. */
static bool side_of(const struct reader *r, const struct set *set,
		    const struct collective_event *events, size_t clock, struct clock_side *out)
{
	bool has = false;

	for (size_t i = 0; i < set->nr; i++) {
		const struct collective_event *e = &events[i];
		struct clock_side side = clock_align_side(e->begin, e->end, e->is_call);

		if (clock_of(r, &r->ops.channels[set->channels[i]]) != clock)
			continue;
		if (has)
			clock_align_join(out, &side);
		else
			*out = side;
		has = true;
	}
	return has;
}

/* What a collective says of the clocks: of the first one of the set, and of each other. */
static int measure(struct reader *r, const struct set *set, const struct collective_event *events)
{
	struct clock_side first, other;
	size_t a = SIZE_MAX;

	for (size_t i = 0; i < set->nr; i++)
		if (events[i].name != events[0].name || events[i].is_untimed)
			return 0;
	if (!set->is_apart ||
	    !(events[0].is_call ? is_waiting_call(r->ops.names[events[0].name], events, set->nr) :
				  is_synchronous(r->ops.names[events[0].name])))
		return 0;
	for (size_t clock = 0; clock < r->out->clocks.nr; clock++) {
		struct clock_side *side = a == SIZE_MAX ? &first : &other;

		if (!side_of(r, set, events, clock, side))
			continue;
		if (a == SIZE_MAX)
			a = clock;
		else if (clock_align_add(&r->out->clocks, a, &first, clock, &other))
			return query_fail_memory(r->q);
	}
	return 0;
}

/* Times by the reference clock. */
static void align(const struct reader *r, const struct collective_channel *c,
		  struct collective_event *e)
{
	int64_t time;

	if (!clock_align_convert(&r->out->clocks, clock_of(r, c), e->begin, &time, &e->error)) {
		e->is_untimed = true;
		return;
	}
	e->ahead = e->begin - time;
	e->begin -= e->ahead;
	e->end -= e->ahead;
	e->since -= e->has_before ? e->ahead : 0;
}

/* How far apart times of two parties may be from what they seem. */
static int64_t error_between(const struct reader *r, const struct set *set,
			     const struct collective_event *events, size_t a, size_t b)
{
	return clock_of(r, &r->ops.channels[set->channels[a]]) ==
			       clock_of(r, &r->ops.channels[set->channels[b]]) ?
		       0 :
		       events[a].error + events[b].error;
}

/* What is within the errors of the clocks is not claimed. */
static enum collective_class class_apart(const struct reader *r, const struct set *set,
					 const struct collective_event *events, size_t last,
					 int64_t skew, int64_t transfer)
{
	enum collective_class class;
	int64_t most = 0;
	bool is_clear = true;

	for (size_t i = 0; i < set->nr; i++) {
		int64_t error = error_between(r, set, events, i, last);

		most = error > most ? error : most;
		is_clear &= i == last || events[last].begin - events[i].begin >= error;
	}
	class = class_of(skew > most ? skew - most : 0, transfer + most);
	if (class != class_of(skew + most, transfer > most ? transfer - most : 0))
		return COLLECTIVE_INCONCLUSIVE;
	/* without skew it does not matter who was the last one */
	return is_clear || class == COLLECTIVE_TRANSFER ? class : COLLECTIVE_INCONCLUSIVE;
}

static const struct collective_arrival *arrivals_of(const struct reader *r, const struct set *set,
						    const struct collective_event *events)
{
	for (size_t i = 0; i < set->nr; i++) {
		const struct collective_event *e = &events[i];

		r->arrivals[i] = (struct collective_arrival){
			.party = r->ops.channels[set->channels[i]].party,
			.begin = e->begin + e->ahead,
			.end = e->end + e->ahead,
			.op = e->op,
			.error = e->error,
			.bytes = e->bytes
		};
	}
	return r->arrivals;
}

/* All parties have it. */
static int complete(struct reader *r, struct set *set, uint64_t number)
{
	const struct collective_event *events = set->open + number % set->cap * set->nr;
	struct collective_one one = { .channel = set->number, .number = number + 1, .nr = set->nr };
	bool is_clear = true;
	struct collective_group *g = NULL;
	int64_t first = INT64_MAX, done = 0, skew, transfer, late;
	size_t other = 0;
	int ret;

	if (r->is_measuring)
		return measure(r, set, events);
	for (size_t i = 0; i < set->nr; i++) {
		const struct collective_event *e = &events[i];

		if (e->begin > events[one.last].begin)
			one.last = i;
		first = e->begin < first ? e->begin : first;
		done = e->end > done ? e->end : done;
		is_clear = is_clear && !e->is_untimed;
		other = e->name != events[0].name && !other ? i : other;
	}
	ret = other ? note_order(r, set, events, number, other) : 0;
	if (!ret)
		ret = group_of(r, set, events[0].name, &g);
	if (ret)
		return ret;
	skew = events[one.last].begin - first;
	transfer = events[one.last].end - events[one.last].begin;
	one.class = other || !is_clear ? COLLECTIVE_INCONCLUSIVE :
		    set->is_apart      ? class_apart(r, set, events, one.last, skew, transfer) :
					 class_of(skew, transfer);
	g->nr++;
	g->nr_class[one.class]++;
	if (one.class != COLLECTIVE_INCONCLUSIVE) {
		g->skew_ns += (uint64_t)skew;
		g->transfer_ns += (uint64_t)transfer;
		g->bytes += events[0].bytes;
		if (events[0].bytes)
			g->bus_bytes += (double)events[0].bytes *
					collective_calls_bus_factor(g->name, set->nr);
		for (size_t i = 0; i < set->nr; i++)
			g->members[i].wait_ns +=
				(uint64_t)(events[one.last].begin - events[i].begin);
		if (collective_judge_note(&r->samples[g - r->out->groups], set->nr, events,
					  set->done))
			return query_fail_memory(r->q);
	}
	if (one.class == COLLECTIVE_SKEW) {
		late = events[one.last].begin - median_before(r, events, set->nr, one.last);
		one.cause = cause_of(events, set->nr, one.last, late, set->done);
		note_late(&g->members[one.last], &events[one.last], late, one.cause);
	}
	set->done = done;
	if (!r->each)
		return 0;
	one.name = g->name;
	one.by_calls = set->by_calls;
	one.set = (size_t)(set - r->sets);
	one.skew_ns = skew;
	one.transfer_ns = transfer;
	one.arrivals = arrivals_of(r, set, events);
	return r->each(r->arg, &one);
}

/* Forgets the oldest collective of a set, complete or not. Its events stay: the next collective in
 * that slot is read when it has all of its own. */
static void drop_first(struct set *set)
{
	set->nr_arrived[set->first % set->cap] = 0;
	set->first++;
}

static int arrive(struct reader *r, struct collective_channel *c, const struct collective_event *e)
{
	struct set *set = &r->sets[c->set];
	uint64_t number = c->nr++;
	struct collective_event *at;
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
	if (!r->is_measuring && r->out->clocks.nr > 1)
		align(r, c, at);
	if (++set->nr_arrived[number % set->cap] < set->nr)
		return 0;
	ret = complete(r, set, number);
	/* they complete in any order where parties overtake each other; the ring ends at the oldest
	 * that is open */
	while (!ret && set->first < set->until && set->nr_arrived[set->first % set->cap] == set->nr)
		drop_first(set);
	return ret;
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

/* ---- results ---- */

void collective_name_parties(struct collective_party *parties, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct collective_party *party = &parties[i];
		const struct query_process *process = party->process;
		bool is_one = true, is_one_process = true;

		for (size_t k = 0; k < nr; k++) {
			bool is_host = parties[k].gpu < 0 || party->gpu < 0;

			is_one_process &= parties[k].process == process;
			is_one &= k == i || is_host || parties[k].process != process;
		}
		if (process && process->rank >= 0 && is_one)
			snprintf(party->name, sizeof(party->name), "rank %lld",
				 (long long)process->rank);
		else if (process && party->gpu < 0)
			snprintf(party->name, sizeof(party->name), "pid %lld",
				 (long long)process->pid);
		else if (process && process->rank >= 0 && !is_one_process)
			snprintf(party->name, sizeof(party->name), "rank %lld GPU %lld",
				 (long long)process->rank, (long long)party->gpu);
		else if (process && !is_one_process)
			snprintf(party->name, sizeof(party->name), "pid %lld GPU %lld",
				 (long long)process->pid, (long long)party->gpu);
		else
			snprintf(party->name, sizeof(party->name), "GPU %lld",
				 (long long)party->gpu);
	}
}

static int finish(struct reader *r)
{
	int ret = 0;

	for (size_t i = 0; i < r->nr_sets; i++) {
		const struct set *set = &r->sets[i];

		for (uint64_t n = set->first; n < set->until; n++)
			r->out->nr_incomplete += set->nr_arrived[n % set->cap] < set->nr;
	}
	for (size_t i = 0; i < r->out->nr_groups && !ret; i++)
		ret = collective_judge(r->q, r->out->parties, &r->out->groups[i], &r->samples[i]);
	return ret;
}

static void free_reader(struct reader *r)
{
	for (size_t i = 0; i < r->out->nr_groups; i++)
		alloc_free(r->samples[i].points);
	alloc_free(r->samples);
	for (size_t i = 0; i < r->nr_sets; i++) {
		alloc_free(r->sets[i].channels);
		alloc_free(r->sets[i].open);
		alloc_free(r->sets[i].nr_arrived);
	}
	alloc_free(r->sets);
	alloc_free(r->arrivals);
	alloc_free(r->sorted);
	map_fini(&r->group_index);
	collective_ops_fini(&r->ops);
}

static int match(struct reader *r)
{
	struct collective_events_reader events;
	const struct collective_event *e;
	int ret = collective_events_begin(&r->ops.events, &events);

	for (size_t i = 0; i < r->ops.nr_channels; i++)
		r->ops.channels[i].nr = 0;
	while (!ret && (ret = collective_events_next(&events, &e)) == 1) {
		struct collective_channel *c = &r->ops.channels[e->channel];

		ret = c->set != SIZE_MAX ? arrive(r, c, e) : 0;
	}
	collective_events_end(&events);
	if (ret && !r->q->res->error[0])
		query_fail(r->q, ret, "collectives: %s", strerror(-ret));
	return ret;
}

/* What a pass leaves in the sets. */
static void empty_sets(struct reader *r)
{
	for (size_t i = 0; i < r->nr_sets; i++) {
		struct set *set = &r->sets[i];

		while (set->first < set->until)
			drop_first(set);
		set->first = set->until = 0;
	}
	r->out->nr_incomplete = 0;
}

/* One pass more, where ranks are on several hosts. */
static int compare_clocks(struct reader *r)
{
	int ret;

	r->is_measuring = true;
	ret = match(r);
	r->is_measuring = false;
	empty_sets(r);
	return ret ? ret : clock_align_solve(r->q, &r->out->clocks);
}

static int match_all(struct reader *r)
{
	int ret = clock_align_begin(r->q, &r->out->clocks);

	if (!ret)
		ret = find_sets(r);

	if (ret || !r->nr_sets)
		return ret;
	r->arrivals = alloc_zero(r->max_members, sizeof(*r->arrivals));
	r->sorted = alloc_zero(r->max_members, sizeof(*r->sorted));
	if (!r->arrivals || !r->sorted)
		return query_fail_memory(r->q);
	if (r->is_apart)
		ret = compare_clocks(r);
	return ret ? ret : match(r);
}

bool collective_may_be(struct query *q)
{
	return query_number(
		       q->db,
		       q->ours ?
			       "SELECT EXISTS (SELECT 1 FROM rtl_kernel_symbol WHERE " COLLECTIVES_IN_SYMBOLS
			       ") OR EXISTS (SELECT 1 FROM rocpd_string WHERE " COLLECTIVES_MPI_IN_STRINGS
			       ")" :
			       "SELECT EXISTS (SELECT 1 FROM rocpd_string WHERE " COLLECTIVES_IN_STRINGS
			       ")",
		       0) != 0;
}

int collective_read(struct query *q, const regex_t *more, collective_fn each, void *arg,
		    struct collectives *out)
{
	struct reader r = { .q = q, .out = out, .each = each, .arg = arg };
	int ret = q->nr_processes ? 0 : query_read_processes(q);

	*out = (struct collectives){ 0 };
	if (!ret)
		ret = collective_ops_read(q, more, &r.ops, &out->parties, &out->nr_parties);
	collective_name_parties(out->parties, out->nr_parties); /* `each` may show them */
	if (!ret)
		ret = match_all(&r);
	if (!ret)
		ret = finish(&r);
	free_reader(&r);
	if (ret)
		collective_fini(out);
	return ret;
}

void collective_fini(struct collectives *c)
{
	free_groups(c);
	clock_align_fini(&c->clocks);
	alloc_free(c->groups);
	alloc_free(c->orders);
	alloc_free(c->parties);
	*c = (struct collectives){ 0 };
}
