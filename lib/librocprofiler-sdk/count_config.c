/* SPDX-License-Identifier: MIT */
/* count_config.c - librocprofiler-sdk: sets of counters that are counted together; values become
 * records
 *
 * A set has to fit in one pass. Its profile is made when a dispatch or a sample needs it: tools
 * make sets before HSA's runtime is up.
 *
 * Owns:     the sets; one that is destroyed lives on for the dispatches that use it.
 * Threads:  any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "count.h"
#include "counter/plan.h"
#include "state.h"

/* handles begin here; 0 is none */
#define FIRST_HANDLE UINT64_C(16384)

struct count_config {
	/* constant */
	struct count_config *next; /* under `lock` */
	rocprofiler_profile_config_id_t id;
	struct counting_gpu *gpu;
	struct counter **counters;
	/* by which the tool named them: of a counter of this GPU, or of another one that has it */
	rocprofiler_counter_id_t *ids;
	uint32_t nr;
	size_t nr_records;
	struct metric_events events;
	bool is_constant; /* its counters need none of the events */

	_Atomic uint32_t nr_users;
	struct profile *profile; /* under `lock`; NULL: not made yet */
	uint64_t runtime;	 /* for which it was made */
};

GUARDED_LOCK(lock, LOCK_SDK_CONFIGS);
static struct count_config *configs RTL_GUARDED_BY(lock);
static uint64_t last_handle RTL_GUARDED_BY(lock) = FIRST_HANDLE;
static _Atomic uint64_t runtime;

/* ---- making ---------------------------------------------------------------------------------- */

static void free_config(struct count_config *c)
{
	/* that of a runtime that is gone is, too */
	if (c->profile && c->runtime == atomic_load(&runtime))
		state_core()->profile_free(c->profile);
	metric_events_free(&c->events);
	alloc_free(c->counters);
	alloc_free(c->ids);
	alloc_free(c);
}

static bool has(const struct count_config *c, const struct counter *counter)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->counters[i] == counter)
			return true;
	return false;
}

/* This GPU's counter of that name; false: it has none. Ids of AMD's library are the same for all
 * GPUs, and tools name another one's. */
static bool add(struct count_config *c, const struct counter *counter, rocprofiler_counter_id_t id)
{
	struct counter *own = counters_named(c->gpu, counter->metric.name);

	if (!own)
		return false;
	if (has(c, own))
		return true;
	c->ids[c->nr] = id;
	c->counters[c->nr++] = own;
	c->nr_records += own->nr_instances;
	return true;
}

static rocprofiler_status_t add_ids(struct count_config *c, const rocprofiler_counter_id_t *ids,
				    size_t nr)
{
	struct counting_gpu *gpu;
	struct counter *counter;

	for (size_t i = 0; i < nr; i++) {
		if (!counters_find(ids[i], &gpu, &counter))
			return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
		if (!add(c, counter, ids[i]))
			return ROCPROFILER_STATUS_ERROR_METRIC_NOT_VALID_FOR_AGENT;
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

/* Adds the events of these counters of the list, if all fit in one pass. */
static rocprofiler_status_t add_events(struct count_config *c, const struct counter_gpu *list,
				       const char *const *names, uint32_t nr)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
	char error[METRIC_ERROR_SIZE];
	struct plan plan;

	if (!plan_make(list, names, nr, &plan, error))
		return ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT;
	if (plan.nr > 1)
		status = ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT;
	else if (plan.nr && !metric_events_add(&c->events, &plan.passes[0].events))
		status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	plan_free(&plan);
	return status;
}

static rocprofiler_status_t plan_events(struct count_config *c)
{
	rocprofiler_status_t status;
	const char **names = alloc_zero(c->nr + 1, sizeof(names[0]));

	if (!names)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	for (uint32_t i = 0; i < c->nr; i++)
		names[i] = c->counters[i]->metric.name;
	status = add_events(c, counters_list(c->gpu), names, c->nr);
	alloc_free(names);
	c->is_constant = status == ROCPROFILER_STATUS_SUCCESS && c->nr && !c->events.nr;
	/* by our names, which a list of the user's may lack */
	if (c->is_constant && !metric_add_any_event(gpus_find(c->gpu->agent->name), &c->events))
		status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	return status;
}

/* `from`: a set whose counters it gets as well; NULL: none. */
static rocprofiler_status_t make(struct counting_gpu *gpu, const struct count_config *from,
				 const rocprofiler_counter_id_t *ids, size_t nr,
				 struct count_config **made)
{
	struct count_config *c = alloc_zero(1, sizeof(*c));
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	uint32_t nr_from = from ? from->nr : 0;

	if (!c)
		return status;
	c->gpu = gpu;
	c->counters = alloc_zero(nr_from + nr + 1, sizeof(c->counters[0]));
	c->ids = alloc_zero(nr_from + nr + 1, sizeof(c->ids[0]));
	if (c->counters && c->ids) {
		status = add_ids(c, ids, nr);
		/* of a set of another GPU, what this one has */
		for (uint32_t i = 0; i < nr_from; i++)
			(void)add(c, from->counters[i], from->ids[i]);
		if (status == ROCPROFILER_STATUS_SUCCESS)
			status = plan_events(c);
	}
	if (status == ROCPROFILER_STATUS_SUCCESS) {
		atomic_store(&c->nr_users, 1);
		*made = c;
	} else {
		free_config(c);
	}
	return status;
}

static rocprofiler_status_t create(rocprofiler_agent_id_t agent,
				   const rocprofiler_counter_id_t *ids, size_t nr,
				   rocprofiler_profile_config_id_t *id)
{
	struct count_config *from, *c = NULL;
	struct counting_gpu *gpu;
	rocprofiler_status_t status;
	bool known;

	if (!id || (nr && !ids))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	gpu = counters_of(agent, &known);
	if (!gpu)
		return known ? ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED :
			       ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
	from = count_config_get(*id);
	status = make(gpu, from, ids, nr, &c);
	if (from)
		count_config_put(from);
	if (status != ROCPROFILER_STATUS_SUCCESS)
		return status;
	lock_take(&lock);
	c->id.handle = last_handle++;
	c->next = configs;
	configs = c;
	lock_drop(&lock);
	*id = c->id;
	return ROCPROFILER_STATUS_SUCCESS;
}

RTL_REQUIRES(lock) static struct count_config **find(rocprofiler_profile_config_id_t id)
{
	struct count_config **at = &configs;

	while (*at && (*at)->id.handle != id.handle)
		at = &(*at)->next;
	return at;
}

static rocprofiler_status_t destroy(rocprofiler_profile_config_id_t id)
{
	struct count_config **at, *c;

	lock_take(&lock);
	at = find(id);
	c = *at;
	if (c)
		*at = c->next;
	lock_drop(&lock);
	if (!c)
		return ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND;
	count_config_put(c);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_create_profile_config(
	rocprofiler_agent_id_t agent_id, rocprofiler_counter_id_t *counters_list,
	size_t counters_count, rocprofiler_profile_config_id_t *config_id)
{
	return create(agent_id, counters_list, counters_count, config_id);
}

EXPORT rocprofiler_status_t
rocprofiler_destroy_profile_config(rocprofiler_profile_config_id_t config_id)
{
	return destroy(config_id);
}

#if ROCPROFILER_SDK_ABI > 0
EXPORT rocprofiler_status_t rocprofiler_create_counter_config(
	rocprofiler_agent_id_t agent_id, rocprofiler_counter_id_t *counters_list,
	size_t counters_count, rocprofiler_counter_config_id_t *config_id)
{
	return create(agent_id, counters_list, counters_count, config_id);
}

EXPORT rocprofiler_status_t
rocprofiler_destroy_counter_config(rocprofiler_counter_config_id_t config_id)
{
	return destroy(config_id);
}
#endif

/* ---- using ----------------------------------------------------------------------------------- */

struct count_config *count_config_get(rocprofiler_profile_config_id_t id)
{
	struct count_config *c;

	lock_take(&lock);
	c = *find(id);
	if (c)
		atomic_fetch_add(&c->nr_users, 1);
	lock_drop(&lock);
	return c;
}

void count_config_put(struct count_config *c)
{
	if (atomic_fetch_sub(&c->nr_users, 1) == 1)
		free_config(c);
}

rocprofiler_agent_id_t count_config_agent(const struct count_config *c)
{
	return c->gpu->agent->id;
}

bool count_config_is_constant(const struct count_config *c)
{
	return c->is_constant;
}

void count_config_new_runtime(void)
{
	atomic_fetch_add(&runtime, 1);
}

struct profile *count_config_make(const struct count_config *c, hsa_agent_t agent, char *why)
{
	struct profile_event *events = alloc_zero(c->events.nr + 1, sizeof(*events));
	struct profile *p = NULL;

	snprintf(why, PROFILE_WHY_SIZE, "%s",
		 events ? "the set has no counter of the hardware" : "no memory");
	for (uint32_t i = 0; events && i < c->events.nr; i++)
		events[i] = (struct profile_event){ c->events.all[i].block->id,
						    c->events.all[i].instance,
						    c->events.all[i].event };
	if (events && c->events.nr)
		state_core()->profile_make(agent, events, c->events.nr, why, &p);
	alloc_free(events);
	return p;
}

struct profile *count_config_profile(struct count_config *c, hsa_agent_t agent, char *why)
{
	struct profile *p;

	lock_take(&lock);
	if (c->runtime != atomic_load(&runtime))
		c->profile = NULL;
	if (!c->profile) {
		c->profile = count_config_make(c, agent, why);
		c->runtime = atomic_load(&runtime);
	}
	p = c->profile;
	lock_drop(&lock);
	return p;
}

/* ---- records --------------------------------------------------------------------------------- */

size_t count_config_nr_records(const struct count_config *c)
{
	return c->nr_records;
}

struct reading {
	const struct count_config *c;
	const struct profile *p;
	const uint64_t *values;
};

static bool count_of(const struct metric_event *wanted, void *arg, double *value)
{
	const struct reading *r = arg;

	for (uint32_t i = 0; i < r->c->events.nr; i++) {
		const struct metric_event *e = &r->c->events.all[i];
		uint32_t first, nr;

		if (e->block != wanted->block || e->instance != wanted->instance ||
		    e->event != wanted->event)
			continue;
		first = state_core()->profile_first_value(r->p, i);
		nr = state_core()->profile_nr_samples(r->p, i);
		*value = 0;
		for (uint32_t s = 0; s < nr; s++)
			*value += (double)r->values[first + s];
		return true;
	}
	return false;
}

static bool constant_of(const char *name, void *arg, double *value)
{
	const struct reading *r = arg;

	return counters_constant(name, r->c->gpu, value);
}

/* The samples of one instance: those of the shader engines of the first XCC, of the next one, ...
 * More than there are instances, as the agent is described, are added to the last one. */
static void put_samples(const struct reading *r, const struct counter *c, uint32_t event,
			rocprofiler_record_counter_t *records)
{
	const struct counting_gpu *gpu = r->c->gpu;
	uint32_t engines = c->metric.block->per_se ? gpu->nr_engines : 1;
	uint32_t instances = c->metric.block->instances;
	uint32_t first = state_core()->profile_first_value(r->p, event);
	uint32_t nr = state_core()->profile_nr_samples(r->p, event);
	uint32_t instance = r->c->events.all[event].instance;

	for (uint32_t s = 0; s < nr; s++) {
		uint32_t xcc = s / engines, engine = s % engines;
		rocprofiler_record_counter_t *to;

		if (xcc >= gpu->nr_xccs) {
			xcc = gpu->nr_xccs - 1;
			engine = engines - 1;
		}
		to = &records[(xcc * engines + engine) * instances + instance];
		to->counter_value += (double)r->values[first + s];
	}
}

static void put_basic(const struct reading *r, const struct counter *c,
		      rocprofiler_record_counter_t *records)
{
	const struct counting_gpu *gpu = r->c->gpu;
	uint32_t engines = c->metric.block->per_se ? gpu->nr_engines : 1;
	uint32_t instances = c->metric.block->instances, at = 0;

	for (uint32_t xcc = 0; xcc < gpu->nr_xccs; xcc++)
		for (uint32_t engine = 0; engine < engines; engine++)
			for (uint32_t i = 0; i < instances; i++)
				records[at++].id = counters_instance(gpu, c, xcc, engine, i);
	for (uint32_t e = 0; e < r->c->events.nr; e++) {
		const struct metric_event *event = &r->c->events.all[e];

		if (event->block == c->metric.block && event->event == c->metric.event)
			put_samples(r, c, e, records);
	}
}

void count_config_records(const struct count_config *c, const struct profile *p,
			  const uint64_t *values, rocprofiler_record_counter_t *records)
{
	struct reading r = { .c = c, .p = p, .values = values };
	const struct metric_values from = { count_of, constant_of, &r };
	char error[METRIC_ERROR_SIZE];

	for (uint32_t i = 0; i < c->nr; i++) {
		const struct counter *counter = c->counters[i];

		if (counter->metric.kind == METRIC_BASIC) {
			put_basic(&r, counter, records);
		} else {
			records->id = counters_instance(c->gpu, counter, 0, 0, 0);
			if (!metric_value(counters_list(c->gpu), counter->metric.name, &from,
					  &records->counter_value, error))
				records->counter_value = 0;
		}
		if (counter->id.handle != c->ids[i].handle)
			for (size_t n = 0; n < counter->nr_instances; n++)
				records[n].id = counters_instance_as(records[n].id, c->ids[i]);
		records += counter->nr_instances;
	}
}
