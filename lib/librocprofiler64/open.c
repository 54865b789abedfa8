/* SPDX-License-Identifier: MIT */
/* open.c - contexts are opened and closed
 *
 * A context's features are spread over groups, whose counters fit in one run (counter/plan.h).
 *
 * Owns:     contexts.
 * Threads:  a context is on one thread at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "counter/plan.h"
#include "queues.h"

/* ---- features -------------------------------------------------------------------------------- */

#define OPEN_FAIL(c, inner, ...) error_set(HSA_STATUS_ERROR, (c)->api, inner, __VA_ARGS__)

/* What is known while a context is opened. */
struct opening {
	const char *api;
	struct context *c;
	const char **names; /* of the metrics */
	uint32_t *indexes;  /* their features */
	uint32_t nr;
};

static bool is_repeated(const struct opening *o, const char *name)
{
	for (uint32_t i = 0; i < o->nr; i++)
		if (strcmp(o->names[i], name) == 0)
			return true;
	return false;
}

static hsa_status_t add_metric(struct opening *o, uint32_t index)
{
	struct context *c = o->c;
	const char *name = c->features[index].name;
	char error[METRIC_ERROR_SIZE];

	if (!name)
		return OPEN_FAIL(o, "add_metric", "feature %u: metric name NULL", index);
	if (is_repeated(o, name))
		return OPEN_FAIL(o, "add_metric", "input metric '%s' is registered more then once",
				 name);
	if (!dictionary_find(c->counters, name, &c->found[index], error))
		return OPEN_FAIL(o, "add_metric", "%s", error);
	if (c->found[index].kind == METRIC_CONSTANT)
		return OPEN_FAIL(o, "add_metric", "bad metric '%s' is empty", name);
	o->names[o->nr] = name;
	o->indexes[o->nr++] = index;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_features(struct opening *o)
{
	struct context *c = o->c;
	hsa_status_t status = HSA_STATUS_SUCCESS;
	char error[METRIC_ERROR_SIZE];

	c->counters = dictionary_get(c->gpu, error);
	if (!c->counters)
		return OPEN_FAIL(o, "get_metrics", "%s", error);
	for (uint32_t i = 0; i < c->nr_features && status == HSA_STATUS_SUCCESS; i++) {
		rocprofiler_feature_t *f = &c->features[i];

		if (f->kind == ROCPROFILER_FEATURE_KIND_METRIC)
			status = add_metric(o, i);
		else if (f->kind & ROCPROFILER_FEATURE_KIND_TRACE)
			status = trace_add(c, i, o->api);
		else
			status = OPEN_FAIL(o, "add_feature", "bad rocprofiler feature kind (%u)",
					   (unsigned)f->kind);
	}
	return status;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void put(struct group *g, rocprofiler_feature_t *f, const struct metric *m)
{
	uint32_t i = g->nr_pmc++;

	for (uint32_t k = 0; k < i; k++) {
		if (g->features[k] == f) { /* a metric before it needs it */
			g->nr_pmc--;
			return;
		}
	}
	g->features[i] = f;
	g->counted[i] = (struct counted){ f, m->block, m->event, m->instance };
}

/* The caller's feature that counts this event alone. */
static uint32_t find_asked(const struct context *c, const struct group *g,
			   const struct plan_pass *p, const struct opening *o,
			   const struct metric_event *e)
{
	(void)g;
	for (uint32_t i = 0; i < p->nr_metrics; i++) {
		uint32_t index = o->indexes[p->metrics[i]];
		const struct metric *m = &c->found[index];
		struct counted w = { NULL, m->block, m->event, m->instance };

		if (m->kind == METRIC_BASIC && context_counts(&w, e))
			return index;
	}
	return UINT32_MAX;
}

static bool put_counters(struct opening *o, struct group *g, const struct plan_pass *p,
			 const char *name)
{
	struct context *c = o->c;
	struct metric_events needed = { 0 };
	char error[METRIC_ERROR_SIZE];
	bool good = metric_add_events(c->counters, name, &needed, error);

	for (uint32_t i = 0; i < needed.nr && good; i++) {
		const struct metric_event *e = &needed.all[i];
		struct metric m = { .block = e->block,
				    .event = e->event,
				    .instance = (int32_t)e->instance };
		uint32_t asked = find_asked(c, g, p, o, e);
		rocprofiler_feature_t *f;

		if (context_counted(g, e))
			continue;
		if (asked != UINT32_MAX) {
			put(g, &c->features[asked], &c->found[asked]);
			continue;
		}
		f = &c->own[c->nr_own];
		dictionary_event_name(c->counters, e, c->own_names[c->nr_own]);
		f->name = c->own_names[c->nr_own++];
		put(g, f, &m);
	}
	metric_events_free(&needed);
	return good;
}

static uint32_t most_own(const struct plan *plan)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->nr; i++)
		n += plan->passes[i].events.nr;
	return n + 1;
}

static bool make_group(struct opening *o, struct group *g, const struct plan_pass *p)
{
	struct context *c = o->c;
	uint32_t most = p ? p->events.nr + p->nr_metrics : 0;

	g->features = alloc_zero(most + c->nr_features + 1, sizeof(*g->features));
	g->counted = alloc_zero(most + 1, sizeof(*g->counted));
	g->metrics = alloc_zero(p ? p->nr_metrics + 1 : 1, sizeof(*g->metrics));
	if (!g->features || !g->counted || !g->metrics)
		return false;
	for (uint32_t i = 0; p && i < p->nr_metrics; i++) {
		uint32_t index = o->indexes[p->metrics[i]];

		if (c->found[index].kind == METRIC_BASIC) {
			put(g, &c->features[index], &c->found[index]);
			continue;
		}
		g->metrics[g->nr_metrics++] = index;
		if (!put_counters(o, g, p, o->names[p->metrics[i]]))
			return false;
	}
	g->nr_features = g->nr_pmc;
	return !p || metric_events_add(&g->events, &p->events);
}

static hsa_status_t make_groups(struct opening *o, const struct plan *plan)
{
	struct context *c = o->c;
	bool good;

	c->nr_groups = plan->nr ? plan->nr : 1;
	c->groups = alloc_zero(c->nr_groups, sizeof(*c->groups));
	c->own = alloc_zero(most_own(plan), sizeof(*c->own));
	c->own_names = alloc_zero(most_own(plan), sizeof(*c->own_names));
	good = c->groups && c->own && c->own_names;
	if (!good)
		c->nr_groups = 0;
	for (uint32_t i = 0; i < c->nr_groups && good; i++) {
		c->groups[i].context = c;
		c->groups[i].index = i;
		good = make_group(o, &c->groups[i], plan->nr ? &plan->passes[i] : NULL);
	}
	return good ? HSA_STATUS_SUCCESS :
		      error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, o->api, "make_groups",
				"no memory");
}

/* "SQ_WAVES TCC_HIT[0] | GRBM_COUNT": what fits in each run. */
static void describe_plan(const struct opening *o, const struct plan *plan, char *text, size_t size)
{
	size_t n = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < plan->nr && n < size; i++) {
		const struct plan_pass *p = &plan->passes[i];

		for (uint32_t k = 0; k < p->nr_metrics && n < size; k++)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
					      k ? " " :
					      i ? " | " :
						  "",
					      o->names[p->metrics[k]]);
	}
}

static hsa_status_t plan_groups(struct opening *o)
{
	struct context *c = o->c;
	char error[METRIC_ERROR_SIZE], groups[512];
	struct plan plan;
	hsa_status_t status;

	if (!plan_make(c->counters, o->names, o->nr, &plan, error))
		return OPEN_FAIL(o, "plan", "Metrics list exceeds HW limits: %s", error);
	if (plan.nr > 1 && c->mode & ROCPROFILER_MODE_SINGLEGROUP) {
		describe_plan(o, &plan, groups, sizeof(groups));
		status = OPEN_FAIL(o, "plan",
				   "Metrics list exceeds HW limits: it needs %u groups: %s",
				   plan.nr, groups);
	} else {
		status = make_groups(o, &plan);
	}
	plan_free(&plan);
	return status;
}

/* ---- profiles -------------------------------------------------------------------------------- */

static hsa_status_t make_profile(struct opening *o, struct group *g)
{
	const struct rtl_core *core = link_core();
	struct profile_event *events = alloc_zero(g->events.nr + 1, sizeof(*events));
	char why[PROFILE_WHY_SIZE] = "no memory";
	int status = events ? 0 : -1;

	for (uint32_t i = 0; events && i < g->events.nr; i++) {
		const struct metric_event *e = &g->events.all[i];

		events[i] = (struct profile_event){ e->block->id, e->instance, e->event };
	}
	if (!status)
		status = core->profile_make(o->c->gpu->agent, events, g->events.nr, why,
					    &g->profile);
	alloc_free(events);
	if (status)
		return OPEN_FAIL(o, "make_profile", "%s", why);
	g->nr_values = core->profile_nr_values(g->profile);
	g->values = alloc_zero(g->nr_values + 1, sizeof(*g->values));
	return g->values ? HSA_STATUS_SUCCESS :
			   error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, o->api, "make_profile",
				     "no memory");
}

static hsa_status_t make_profiles(struct opening *o)
{
	struct context *c = o->c;
	hsa_status_t status = HSA_STATUS_SUCCESS;

	for (uint32_t i = 0; i < c->nr_groups && status == HSA_STATUS_SUCCESS; i++) {
		struct group *g = &c->groups[i];

		status = hsa.hsa_signal_create(0, 0, NULL, &g->done);
		if (status != HSA_STATUS_SUCCESS)
			return error_set(status, o->api, "hsa_signal_create", "status 0x%x",
					 (unsigned)status);
		if (!g->events.nr)
			continue;
		if (!link_core() || !link_core()->profile_available())
			return OPEN_FAIL(
				o, "make_profile",
				"there is no AQLprofile (libhsa-amd-aqlprofile64.so), or HSA's runtime was initialised before this library was loaded");
		status = make_profile(o, g);
	}
	return status;
}

/* ---- queue ----------------------------------------------------------------------------------- */

static hsa_status_t get_queue(struct opening *o, rocprofiler_properties_t *properties)
{
	struct context *c = o->c;
	uint32_t most = 0;
	hsa_status_t status;

	if (!(c->mode & ROCPROFILER_MODE_STANDALONE))
		return HSA_STATUS_SUCCESS;
	if (!properties)
		return error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, o->api, "check_arguments",
				 "'properties' is NULL");
	c->queue = properties->queue;
	if (!(c->mode & ROCPROFILER_MODE_CREATEQUEUE))
		return HSA_STATUS_SUCCESS;
	hsa.hsa_agent_get_info(c->gpu->agent, HSA_AGENT_INFO_QUEUE_MAX_SIZE, &most);
	status = properties->queue_depth ?
			 hsa.hsa_queue_create(c->gpu->agent, properties->queue_depth,
					      HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
					      UINT32_MAX, &c->queue) :
			 HSA_STATUS_ERROR;
	if (status != HSA_STATUS_SUCCESS)
		return OPEN_FAIL(
			o, "create_queue",
			"CreateQueue() failed: queue_depth %u is not a power of 2 up to %u, or there are no queues left",
			properties->queue_depth, most);
	properties->queue = c->queue;
	return HSA_STATUS_SUCCESS;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static hsa_status_t fill(struct opening *o, rocprofiler_properties_t *properties)
{
	struct context *c = o->c;
	hsa_status_t status = add_features(o);

	if (status == HSA_STATUS_SUCCESS)
		status = plan_groups(o);
	if (status == HSA_STATUS_SUCCESS)
		status = make_profiles(o);
	if (status == HSA_STATUS_SUCCESS && c->trace)
		status = trace_make(c, o->api);
	/* last: a queue that was made stays */
	if (status == HSA_STATUS_SUCCESS)
		status = get_queue(o, properties);
	if (properties) {
		c->handler = properties->handler;
		c->handler_arg = properties->handler_arg;
	}
	for (uint32_t i = 0; i < c->nr_groups; i++)
		atomic_store_explicit(&c->groups[i].to_wait, 1, memory_order_relaxed);
	return status;
}

static hsa_status_t check_open(const char *api, hsa_agent_t agent, uint32_t mode,
			       const struct gpu **gpu)
{
	hsa_status_t status = runtime_ready(api);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	*gpu = runtime_gpu(agent);
	if (!*gpu)
		return error_set(HSA_STATUS_ERROR, api, "get_agent",
				 "agent is not found: handle 0x%llx is no GPU",
				 (unsigned long long)agent.handle);
	if (mode & ~7u || mode == ROCPROFILER_MODE_CREATEQUEUE ||
	    mode == (ROCPROFILER_MODE_CREATEQUEUE | ROCPROFILER_MODE_SINGLEGROUP))
		return error_set(HSA_STATUS_ERROR, api, "open", "invalid mode (%u)", mode);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t open_context(const char *api, hsa_agent_t agent, rocprofiler_feature_t *features,
			  uint32_t nr, uint32_t mode, rocprofiler_properties_t *properties,
			  struct context **out)
{
	struct opening o = { .api = api };
	const struct gpu *gpu = NULL;
	hsa_status_t status = check_open(api, agent, mode, &gpu);

	if (status != HSA_STATUS_SUCCESS)
		return status;
	if (nr && !features)
		return error_set(HSA_STATUS_ERROR_INVALID_ARGUMENT, api, "check_arguments",
				 "'features' is NULL");
	o.c = alloc_zero(1, sizeof(*o.c));
	o.names = alloc_zero(nr + 1, sizeof(*o.names));
	o.indexes = alloc_zero(nr + 1, sizeof(*o.indexes));
	if (o.c) {
		*o.c = (struct context){ .magic = CONTEXT_MAGIC,
					 .gpu = gpu,
					 .features = features,
					 .nr_features = nr,
					 .mode = mode };
		o.c->found = alloc_zero(nr + 1, sizeof(*o.c->found));
	}
	runtime_quiet(true);
	if (o.c && o.names && o.indexes && o.c->found)
		status = fill(&o, properties);
	else
		status = error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, api, "open", "no memory");
	runtime_quiet(false);
	alloc_free(o.names);
	alloc_free(o.indexes);
	if (status == HSA_STATUS_SUCCESS)
		*out = o.c;
	else if (o.c)
		open_close(o.c);
	return status;
}

void open_close(struct context *c)
{
	bool is_over;

	runtime_quiet(true);
	is_over = sample_close(c);
	is_over = dispatch_close(c) && is_over;
	c->magic = 0;
	/* else the GPU or a handler still uses it: it stays */
	if (!is_over) {
		runtime_quiet(false);
		return;
	}
	if (c->trace)
		trace_close(c);
	for (uint32_t i = 0; i < c->nr_groups; i++) {
		struct group *g = &c->groups[i];

		if (g->profile)
			link_core()->profile_free(g->profile);
		if (g->done.handle)
			hsa.hsa_signal_destroy(g->done);
		metric_events_free(&g->events);
		alloc_free(g->features);
		alloc_free(g->counted);
		alloc_free(g->metrics);
		alloc_free(g->values);
	}
	runtime_quiet(false);
	alloc_free(c->groups);
	alloc_free(c->own);
	alloc_free(c->own_names);
	alloc_free(c->found);
	alloc_free(c);
}

/* ---- the functions --------------------------------------------------------------------------- */

EXPORT hsa_status_t rocprofiler_open(hsa_agent_t agent, rocprofiler_feature_t *features,
				     uint32_t feature_count, rocprofiler_t **context, uint32_t mode,
				     rocprofiler_properties_t *properties)
{
	struct context *c = NULL;
	hsa_status_t status;

	NEED(context);
	context_clear(features, feature_count);
	status = open_context(__func__, agent, features, feature_count, mode, properties, &c);
	if (status == HSA_STATUS_SUCCESS)
		*context = c;
	return status;
}

EXPORT hsa_status_t rocprofiler_close(rocprofiler_t *context)
{
	struct context *c;

	if (!context)
		return HSA_STATUS_SUCCESS;
	c = context_of(context, __func__);
	if (!c)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	open_close(c);
	return HSA_STATUS_SUCCESS;
}

/* ---- sets of features ------------------------------------------------------------------------ */

struct feature_set {
	rocprofiler_feature_t *all;
	uint32_t nr, size;
};

EXPORT hsa_status_t rocprofiler_add_feature(const rocprofiler_feature_t *feature,
					    rocprofiler_feature_set_t **set)
{
	struct feature_set *s;

	NEED(feature);
	NEED(set);
	s = *set ? *set : alloc_zero(1, sizeof(*s));
	if (s && s->nr == s->size) {
		uint32_t size = s->size ? s->size * 2 : 16;
		rocprofiler_feature_t *more = alloc_resize(s->all, size, sizeof(*more));

		if (more) {
			s->all = more;
			s->size = size;
		}
	}
	if (!s || s->nr == s->size) {
		if (s && !*set)
			alloc_free(s);
		return error_set(HSA_STATUS_ERROR_OUT_OF_RESOURCES, __func__, "add_feature",
				 "no memory");
	}
	s->all[s->nr++] = *feature;
	*set = s;
	return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t rocprofiler_features_set_open(hsa_agent_t agent, rocprofiler_feature_set_t *set,
						  rocprofiler_t **context, uint32_t mode,
						  rocprofiler_properties_t *properties)
{
	struct feature_set *s = set;
	struct context *c = NULL;
	hsa_status_t status;

	NEED(set);
	NEED(context);
	context_clear(s->all, s->nr);
	status = open_context(__func__, agent, s->all, s->nr, mode, properties, &c);
	if (status == HSA_STATUS_SUCCESS)
		*context = c;
	return status;
}
