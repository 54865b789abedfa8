/* SPDX-License-Identifier: MIT */
/* context.c - contexts that are open: groups, data, metrics
 *
 * The features of a group are counters: those that the caller asked for, and the context's own ones
 * that derived metrics need.
 *
 * Threads:  a context is on one thread at a time.
 */
#include <string.h>

#include "v1.h"

struct context *context_of(const rocprofiler_t *context, const char *api)
{
	/* the caller's pointer to an opaque object */
	struct context *c = (struct context *)(uintptr_t)context;

	if (c && c->magic == CONTEXT_MAGIC)
		return c;
	error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, api, "check_arguments",
		  c ? "'context' is not an open context" : "'context' is NULL");
	return NULL;
}

struct group *context_group(const rocprofiler_t *context, uint32_t index, const char *api)
{
	struct context *c = context_of(context, api);

	if (!c)
		return NULL;
	if (index < c->nr_groups)
		return &c->groups[index];
	error_set(HSA_STATUS_ERROR, api, "get_group", "index exceeding the maximum %u: group %u",
		  c->nr_groups - 1, index);
	return NULL;
}

void context_clear(rocprofiler_feature_t *features, uint32_t nr)
{
	for (uint32_t i = 0; features && i < nr; i++)
		features[i].data.kind = ROCPROFILER_DATA_KIND_UNINIT;
}

/* ---- data ------------------------------------------------------------------------------------ */

static bool counts(const struct counted *w, const struct metric_event *e)
{
	return w->block == e->block && w->event == e->event &&
	       (w->instance < 0 || (uint32_t)w->instance == e->instance);
}

bool context_counts(const struct counted *w, const struct metric_event *e)
{
	return counts(w, e) && (w->instance >= 0 || w->block->instances == 1);
}

struct counted *context_counted(const struct group *g, const struct metric_event *e)
{
	for (uint32_t i = 0; i < g->nr_pmc; i++)
		if (context_counts(&g->counted[i], e))
			return &g->counted[i];
	return NULL;
}

static uint64_t sum_of(const struct group *g, uint32_t event)
{
	const struct rtl_core *core = link_core();
	uint32_t first = core->profile_first_value(g->profile, event);
	uint32_t n = core->profile_nr_samples(g->profile, event);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += g->values[first + i];
	return sum;
}

void context_store(struct group *g)
{
	for (uint32_t i = 0; i < g->nr_pmc; i++) {
		const struct counted *w = &g->counted[i];
		uint64_t sum = 0;

		for (uint32_t k = 0; k < g->events.nr; k++)
			if (counts(w, &g->events.all[k]))
				sum += sum_of(g, k);
		w->feature->data.kind = ROCPROFILER_DATA_KIND_INT64;
		w->feature->data.result_int64 = sum;
	}
}

void context_describe(struct group *g, rocprofiler_group_t *out)
{
	*out = (rocprofiler_group_t){ .index = g->index,
				      .features = g->features,
				      .feature_count = g->nr_features,
				      .context = g->context };
}

void context_done(struct group *g)
{
	struct context *c = g->context;
	rocprofiler_group_t shown;

	/* acq_rel: what the others have written before their completion */
	if (atomic_fetch_sub_explicit(&g->to_wait, 1, memory_order_acq_rel) != 1)
		return;
	if (c->on_done) {
		c->on_done(g, c->on_done_arg);
		return;
	}
	/* without features there are times alone: AMD's library has no group then */
	if (c->nr_features)
		context_describe(g, &shown);
	else
		memset(&shown, 0, sizeof(shown));
	if (c->handler)
		c->handler(shown, c->handler_arg);
}

struct evaluation {
	const struct group *group;
	char missing[DICTIONARY_NAME_SIZE];
};

static bool count_of(const struct metric_event *e, void *arg, double *value)
{
	struct evaluation *ev = arg;
	const struct counted *w = context_counted(ev->group, e);

	if (w && w->feature->data.kind == ROCPROFILER_DATA_KIND_INT64) {
		*value = (double)w->feature->data.result_int64;
		return true;
	}
	dictionary_event_name(ev->group->context->counters, e, ev->missing);
	return false;
}

static bool constant_of(const char *name, void *arg, double *value)
{
	const struct evaluation *ev = arg;

	return dictionary_constant(ev->group->context->gpu, name, value);
}

static hsa_status_t evaluate(const char *api, const struct group *g)
{
	const struct context *c = g->context;
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (uint32_t i = 0; i < g->nr_metrics; i++) {
		rocprofiler_feature_t *f = &c->features[g->metrics[i]];
		struct evaluation ev = { .group = g };
		const struct metric_values from = { count_of, constant_of, &ev };
		char error[METRIC_ERROR_SIZE];
		double value = 0;

		if (metric_value(c->counters, f->name, &from, &value, error)) {
			f->data.kind = ROCPROFILER_DATA_KIND_DOUBLE;
			f->data.result_double = value;
		} else if (ev.missing[0]) {
			status =
				error_set(HSA_STATUS_ERROR, api, "evaluate",
					  "var '%s' is uninitialized, which '%s' of group %u needs",
					  ev.missing, f->name, g->index);
		} else {
			status = error_set(HSA_STATUS_ERROR, api, "evaluate", "%s", error);
		}
	}
	return status;
}

/* ---- the functions --------------------------------------------------------------------------- */

EXPORT hsa_status_t rocprofiler_reset(rocprofiler_t *context, uint32_t group_index)
{
	struct group *g = context_group(context, group_index, __func__);

	if (!g)
		return rocprofiler_errno();
	atomic_store_explicit(&g->to_wait, 1, memory_order_relaxed);
	atomic_store(&g->is_armed, false);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_get_agent(rocprofiler_t *context, hsa_agent_t *agent)
{
	struct context *c = context_of(context, __func__);

	NEED(agent);
	if (!c)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*agent = c->gpu->agent;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_group_count(const rocprofiler_t *context, uint32_t *count)
{
	struct context *c = context_of(context, __func__);

	if (!c)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	NEED(count);
	*count = c->nr_groups;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_get_group(rocprofiler_t *context, uint32_t index,
					  rocprofiler_group_t *group)
{
	struct group *g = context_group(context, index, __func__);

	if (!g)
		return rocprofiler_errno();
	NEED(group);
	context_describe(g, group);
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_get_metrics(const rocprofiler_t *context)
{
	struct context *c = context_of(context, __func__);
	hsa_status_t status = HSA_STATUS_SUCCESS, one;

	if (!c)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < c->nr_groups; i++) {
		one = evaluate(__func__, &c->groups[i]);
		if (one != HSA_STATUS_SUCCESS)
			status = one;
	}
	return status;
}
