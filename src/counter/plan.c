/* SPDX-License-Identifier: MIT */
/* plan.c - passes: which counters can be counted at the same time
 *
 * Metrics are put into passes, largest first, each into the first pass that has counters for it. No
 * plan has fewer passes than the fullest block needs. Where the two differ, the ways to distribute
 * the metrics are tried, up to a bound.
 */
#include "base/alloc.h"
#include "counter/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_MAX 4096u
#define BARE UINT32_MAX

struct job {
	const struct counter_gpu *gpu;
	const char *const *names;
	uint32_t nr;
	struct metric_events *events; /* by metric */
	uint32_t *accumulates;	      /* by metric: the index of an event that counts what the one
				       * before it counts; 0: none; BARE: it is that event alone */
	uint32_t *order;	      /* metrics, largest first */
	uint32_t *pass;		      /* by metric */
	uint32_t tries;
	char *error;
};

static uint32_t counters_used(const struct metric_events *e, const struct metric_event *of)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < e->nr; i++)
		nr += e->all[i].block == of->block && e->all[i].instance == of->instance;
	return nr;
}

static bool fits(const struct metric_events *e)
{
	for (uint32_t i = 0; i < e->nr; i++)
		if (counters_used(e, &e->all[i]) > e->all[i].block->counters)
			return false;
	return true;
}

static bool is_of_instance(const struct metric_event *a, const struct metric_event *b)
{
	return a->block == b->block && a->instance == b->instance;
}

/* The event before `at` of the same instance of a block; NULL: there is none. */
static const struct metric_event *event_before(const struct metric_events *e, uint32_t at)
{
	for (uint32_t i = at; i--;)
		if (is_of_instance(&e->all[i], &e->all[at]))
			return &e->all[i];
	return NULL;
}

static uint32_t find_event(const struct metric_events *e, const struct metric_event *event)
{
	uint32_t i = 0;

	while (i < e->nr && !(is_of_instance(&e->all[i], event) && e->all[i].event == event->event))
		i++;
	return i;
}

static bool accumulates_in(const struct job *j, uint32_t metric, uint32_t pass)
{
	return j->pass[metric] == pass && j->accumulates[metric] && j->accumulates[metric] != BARE;
}

/* Whether the metric's event that counts what its predecessor counts has that one before it. */
static bool keeps_predecessor(const struct metric_events *pass, const struct metric_events *metric,
			      uint32_t at)
{
	const struct metric_event *own = event_before(metric, at);
	const struct metric_event *now = event_before(pass, find_event(pass, &metric->all[at]));

	return !own || (now && now->event == own->event);
}

static bool keeps_order(const struct job *j, uint32_t pass, const struct metric_events *e)
{
	for (uint32_t i = 0; i < j->nr; i++)
		if (accumulates_in(j, i, pass) &&
		    !keeps_predecessor(e, &j->events[i], j->accumulates[i]))
			return false;
	return true;
}

/* Puts the metric's event behind its predecessor. */
static void move_behind(struct metric_events *pass, const struct metric_events *metric, uint32_t at)
{
	const struct metric_event *own = event_before(metric, at), event = metric->all[at];
	uint32_t from = find_event(pass, &event), to = own ? find_event(pass, own) + 1 : from;

	for (; from > to; from--)
		pass->all[from] = pass->all[from - 1];
	pass->all[from] = event;
}

/* The events of the metrics of pass `pass`, in the order of their names, but for what has to be
 * behind another one. One that was named itself stays where it is. False: no memory. */
static bool collect(const struct job *j, uint32_t pass, struct metric_events *to)
{
	for (uint32_t i = 0; i < j->nr; i++)
		if (j->pass[i] == pass && !metric_events_add(to, &j->events[i]))
			return false;
	for (uint32_t i = 0; i < j->nr; i++)
		if (j->pass[i] == pass && j->accumulates[i] == BARE)
			return true;
	for (uint32_t i = 0; i < j->nr; i++)
		if (accumulates_in(j, i, pass))
			move_behind(to, &j->events[i], j->accumulates[i]);
	return true;
}

static bool pass_fits(const struct job *j, uint32_t pass)
{
	struct metric_events e = { 0 };
	bool good = collect(j, pass, &e) && fits(&e) && keeps_order(j, pass, &e);

	metric_events_free(&e);
	return good;
}

#define NO_PASS UINT32_MAX

static uint32_t first_fit(struct job *j)
{
	uint32_t nr = 0;

	for (uint32_t k = 0; k < j->nr; k++) {
		uint32_t metric = j->order[k];

		for (j->pass[metric] = 0; j->pass[metric] < nr; j->pass[metric]++)
			if (pass_fits(j, j->pass[metric]))
				break;
		nr += j->pass[metric] == nr;
	}
	return nr;
}

/* No plan has fewer: the counters of one instance, divided by how many it has. */
static bool least_passes(const struct job *j, uint32_t *least)
{
	struct metric_events e = { 0 };

	*least = 1;
	for (uint32_t i = 0; i < j->nr; i++) {
		if (metric_events_add(&e, &j->events[i]))
			continue;
		metric_events_free(&e);
		return false;
	}
	for (uint32_t i = 0; i < e.nr; i++) {
		uint32_t has = e.all[i].block->counters;
		uint32_t needs = (counters_used(&e, &e.all[i]) + has - 1) / has;

		*least = needs > *least ? needs : *least;
	}
	metric_events_free(&e);
	return true;
}

/* Whether the metrics from order[k] on can be put into `nr` passes, of which the first `used` are
 * in use. */
static bool try(struct job *j, uint32_t k, uint32_t used, uint32_t nr)
{
	uint32_t metric;

	if (k == j->nr)
		return true;
	if (j->tries++ >= TRIES_MAX)
		return false;
	metric = j->order[k];
	/* passes that are not in use are alike */
	for (uint32_t p = 0; p <= used && p < nr; p++) {
		j->pass[metric] = p;
		if (pass_fits(j, p) && try(j, k + 1, p == used ? used + 1 : used, nr))
			return true;
	}
	j->pass[metric] = NO_PASS;
	return false;
}

static void forget_passes(struct job *j)
{
	for (uint32_t i = 0; i < j->nr; i++)
		j->pass[i] = NO_PASS;
}

static uint32_t distribute(struct job *j, uint32_t least, bool *is_least)
{
	uint32_t nr;

	forget_passes(j);
	nr = first_fit(j);
	for (uint32_t fewer = least; fewer < nr && j->tries < TRIES_MAX; fewer++) {
		forget_passes(j);
		if (!try(j, 0, 0, fewer))
			continue;
		*is_least = true;
		return fewer;
	}
	*is_least = nr == least || j->tries < TRIES_MAX;
	forget_passes(j);
	return first_fit(j);
}

static void sort_by_size(struct job *j)
{
	for (uint32_t i = 0; i < j->nr; i++) {
		uint32_t k = i;

		for (; k && j->events[j->order[k - 1]].nr < j->events[i].nr; k--)
			j->order[k] = j->order[k - 1];
		j->order[k] = i;
	}
}

static bool is_accumulating(const struct counter_gpu *gpu, const struct metric_event *e)
{
	for (uint32_t i = 0; i < gpu->nr_basics; i++)
		if (gpu->basics[i].event == e->event && gpu->basics[i].block->id == e->block->id &&
		    strncmp(gpu->basics[i].name, "SQ_ACCUM_PREV", 13) == 0)
			return true;
	return false;
}

static void find_accumulating(struct job *j, uint32_t metric)
{
	const struct metric_events *e = &j->events[metric];

	for (uint32_t i = 0; i < e->nr && !j->accumulates[metric]; i++)
		if (is_accumulating(j->gpu, &e->all[i]))
			j->accumulates[metric] = i ? i : BARE;
}

static bool find_events(struct job *j)
{
	for (uint32_t i = 0; i < j->nr; i++) {
		if (!metric_add_events(j->gpu, j->names[i], &j->events[i], j->error))
			return false;
		find_accumulating(j, i);
		if (fits(&j->events[i]))
			continue;
		snprintf(j->error, METRIC_ERROR_SIZE,
			 "%s needs more counters of a block than %s has", j->names[i],
			 j->gpu->name);
		return false;
	}
	return true;
}

static bool fill_pass(const struct job *j, uint32_t pass, struct plan_pass *p)
{
	p->metrics = alloc_zero(j->nr, sizeof(*p->metrics));
	if (!p->metrics)
		return false;
	for (uint32_t i = 0; i < j->nr; i++)
		if (j->pass[i] == pass)
			p->metrics[p->nr_metrics++] = i;
	return collect(j, pass, &p->events);
}

static bool fill(const struct job *j, struct plan *plan)
{
	plan->passes = alloc_zero(plan->nr ? plan->nr : 1, sizeof(*plan->passes));
	for (uint32_t p = 0; plan->passes && p < plan->nr; p++)
		if (!fill_pass(j, p, &plan->passes[p]))
			return false;
	return plan->passes != NULL;
}

static bool make(struct job *j, struct plan *plan)
{
	uint32_t least;

	if (!find_events(j))
		return false;
	if (!least_passes(j, &least)) {
		snprintf(j->error, METRIC_ERROR_SIZE, "no memory");
		return false;
	}
	sort_by_size(j);
	plan->nr = j->nr ? distribute(j, least, &plan->is_least) : 0;
	if (fill(j, plan))
		return true;
	plan_free(plan);
	snprintf(j->error, METRIC_ERROR_SIZE, "no memory");
	return false;
}

bool plan_make(const struct counter_gpu *gpu, const char *const *names, uint32_t nr,
	       struct plan *plan, char *error)
{
	struct job j = { .gpu = gpu,
			 .names = names,
			 .nr = nr,
			 .events = alloc_zero(nr + 1, sizeof(*j.events)),
			 .accumulates = alloc_zero(nr + 1, sizeof(*j.accumulates)),
			 .order = alloc_zero(nr + 1, sizeof(*j.order)),
			 .pass = alloc_zero(nr + 1, sizeof(*j.pass)),
			 .error = error };
	bool good = false;

	*plan = (struct plan){ .is_least = true };
	error[0] = '\0';
	if (j.events && j.accumulates && j.order && j.pass)
		good = make(&j, plan);
	else
		snprintf(error, METRIC_ERROR_SIZE, "no memory");
	for (uint32_t i = 0; j.events && i < nr; i++)
		metric_events_free(&j.events[i]);
	alloc_free(j.events);
	alloc_free(j.accumulates);
	alloc_free(j.order);
	alloc_free(j.pass);
	return good;
}

void plan_free(struct plan *plan)
{
	for (uint32_t p = 0; plan->passes && p < plan->nr; p++) {
		alloc_free(plan->passes[p].metrics);
		metric_events_free(&plan->passes[p].events);
	}
	alloc_free(plan->passes);
	*plan = (struct plan){ 0 };
}
