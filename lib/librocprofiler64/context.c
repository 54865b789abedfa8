/* SPDX-License-Identifier: MIT */
/* context.c - contexts: open, close, groups, metrics
 *
 * A context's features are spread over groups, whose counters fit in one run (counter/plan.h). The features of a group are
 * counters: those that the caller asked for, and the context's own ones that derived metrics need.
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

#define MAGIC UINT64_C(0x726f637031637478)
#define FOREVER UINT64_MAX

struct context *context_of(const rocprofiler_t *context, const char *api)
{
	/* the caller's pointer to an opaque object */
	struct context *c = (struct context *)(uintptr_t)context;

	if (c && c->magic == MAGIC)
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

static bool counts(const struct counted *w, const struct metric_event *e)
{
	return w->block == e->block && w->event == e->event &&
	       (w->instance < 0 || (uint32_t)w->instance == e->instance);
}

/* It counts this event alone. */
static bool is_of(const struct counted *w, const struct metric_event *e)
{
	return counts(w, e) && (w->instance >= 0 || w->block->instances == 1);
}

static struct counted *find_counted(const struct group *g, const struct metric_event *e)
{
	for (uint32_t i = 0; i < g->nr_pmc; i++)
		if (is_of(&g->counted[i], e))
			return &g->counted[i];
	return NULL;
}

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

		if (m->kind == METRIC_BASIC && is_of(&w, e))
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

		if (find_counted(g, e))
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
	const struct rtl_core *core = runtime_core();
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
		if (!runtime_core() || !runtime_core()->profile_available())
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

void context_clear(rocprofiler_feature_t *features, uint32_t nr)
{
	for (uint32_t i = 0; features && i < nr; i++)
		features[i].data.kind = ROCPROFILER_DATA_KIND_UNINIT;
}

hsa_status_t context_open(const char *api, hsa_agent_t agent, rocprofiler_feature_t *features,
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
		*o.c = (struct context){ .magic = MAGIC,
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
		context_close(o.c);
	return status;
}

void context_close(struct context *c)
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
			runtime_core()->profile_free(g->profile);
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

/* ---- data ------------------------------------------------------------------------------------ */

static uint64_t sum_of(const struct group *g, uint32_t event)
{
	const struct rtl_core *core = runtime_core();
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
	const struct counted *w = find_counted(ev->group, e);

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

EXPORT hsa_status_t rocprofiler_open(hsa_agent_t agent, rocprofiler_feature_t *features,
				     uint32_t feature_count, rocprofiler_t **context, uint32_t mode,
				     rocprofiler_properties_t *properties)
{
	struct context *c = NULL;
	hsa_status_t status;

	NEED(context);
	context_clear(features, feature_count);
	status = context_open(__func__, agent, features, feature_count, mode, properties, &c);
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
	context_close(c);
	return HSA_STATUS_SUCCESS;
}

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
	status = context_open(__func__, agent, s->all, s->nr, mode, properties, &c);
	if (status == HSA_STATUS_SUCCESS)
		*context = c;
	return status;
}
