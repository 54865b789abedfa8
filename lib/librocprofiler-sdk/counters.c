/* SPDX-License-Identifier: MIT */
/* counters.c - librocprofiler-sdk: what GPUs can count
 *
 * A GPU has the counters and metrics of src/counter/, by whose names they are known here, and
 * constants of its own.
 *
 * Owns:     the lists, one for each GPU, made when first needed and never freed: tools keep
 *           pointers into them.
 * Threads:  any.
 */
#include <stdlib.h>
#include <string.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "count.h"

#define MAX_GPUS 64u
#define MAX_CREATED 1024u
#define GPU_SHIFT 32
#define METRIC_MASK UINT64_C(0xffff)

static const char *const constants[] = { "CU_NUM", "SIMD_NUM", "SE_NUM", "XCC_NUM",
					 "MAX_WAVE_SIZE" };
#define NR_CONSTANTS (sizeof(constants) / sizeof(constants[0]))

GUARDED_LOCK(lock, LOCK_SDK_COUNTERS);
static _Atomic(struct counting_gpu *) gpus[MAX_GPUS];

/* ---- lists ----------------------------------------------------------------------------------- */

static void add_dimension(struct counter *c, const char *name, enum count_dimension id, size_t size)
{
	c->dimensions[c->nr_dimensions++] = (rocprofiler_record_dimension_info_t){
		.name = name, .instance_size = size, .id = id
	};
	c->nr_instances *= size;
}

static void add_counter(struct counting_gpu *g, const struct metric *m)
{
	uint32_t nr = atomic_load_explicit(&g->nr, memory_order_relaxed);
	struct counter *c = &g->counters[nr];

	c->id.handle = g->number << GPU_SHIFT | (nr + 1);
	c->metric = *m;
	c->nr_instances = 1;
	if (m->kind == METRIC_BASIC) {
		add_dimension(c, "DIMENSION_XCC", COUNT_XCC, g->nr_xccs);
		if (m->block->per_se)
			add_dimension(c, "DIMENSION_SHADER_ENGINE", COUNT_SHADER_ENGINE,
				      g->nr_engines);
		add_dimension(c, "DIMENSION_INSTANCE", COUNT_INSTANCE, m->block->instances);
	} else {
		add_dimension(c, "DIMENSION_INSTANCE", COUNT_INSTANCE, 1);
	}
	g->ids[nr] = c->id;
	/* release: pairs with nr_of() */
	atomic_store_explicit(&g->nr, nr + 1, memory_order_release);
}

static uint32_t nr_of(const struct counting_gpu *g)
{
	/* acquire: pairs with add_counter() */
	return atomic_load_explicit(&g->nr, memory_order_acquire);
}

struct counter *counters_named(const struct counting_gpu *g, const char *name)
{
	uint32_t nr = nr_of(g);

	for (uint32_t i = 0; i < nr; i++)
		if (strcmp(g->counters[i].metric.name, name) == 0)
			return &g->counters[i];
	return NULL;
}

static void add_named(struct counting_gpu *g, const char *name)
{
	char error[METRIC_ERROR_SIZE];
	struct metric m;

	if (metric_find(counters_list(g), name, &m, error))
		add_counter(g, &m);
}

rocprofiler_status_t counters_change(rocprofiler_status_t (*fn)(void *arg), void *arg)
{
	rocprofiler_status_t status;

	lock_take(&lock);
	status = fn(arg);
	lock_drop(&lock);
	return status;
}

bool counters_add(struct counting_gpu *g, const struct counter_gpu *list, const char *name,
		  rocprofiler_counter_id_t *id)
{
	uint32_t nr = nr_of(g);

	if (nr == g->size)
		return false;
	/* release: pairs with counters_list() */
	atomic_store_explicit(&g->gpu, list, memory_order_release);
	add_named(g, name);
	*id = g->ids[nr];
	return true;
}

static bool fill(struct counting_gpu *g)
{
	const struct counter_gpu *gpu = counters_list(g);
	uint32_t most = gpu->nr_basics + gpu->nr_deriveds + NR_CONSTANTS + MAX_CREATED;

	g->nr_xccs = g->agent->num_xcc ? g->agent->num_xcc : 1;
	g->nr_engines = g->agent->num_shader_banks ? g->agent->num_shader_banks : 1;
	g->counters = alloc_zero(most, sizeof(*g->counters));
	g->ids = alloc_zero(most, sizeof(*g->ids));
	if (!g->counters || !g->ids)
		return false;
	g->size = most;
	for (uint32_t i = 0; i < gpu->nr_basics; i++)
		add_named(g, gpu->basics[i].name);
	for (uint32_t i = 0; i < gpu->nr_deriveds; i++)
		add_named(g, gpu->deriveds[i].name);
	for (uint32_t i = 0; i < NR_CONSTANTS; i++)
		add_named(g, constants[i]);
	return true;
}

/* The GPU is the next one in the list. */
RTL_REQUIRES(lock)
static struct counting_gpu *make(const rocprofiler_agent_v0_t *agent)
{
	const struct counter_gpu *gpu = definitions_of(agent->name);
	struct counting_gpu *g;
	uint32_t at = 0;

	while (at < MAX_GPUS && atomic_load(&gpus[at]))
		at++;
	g = gpu && at < MAX_GPUS ? alloc_zero(1, sizeof(*g)) : NULL;
	if (!g)
		return NULL;
	g->agent = agent;
	atomic_store_explicit(&g->gpu, gpu, memory_order_relaxed);
	g->number = at + 1;
	if (!fill(g)) {
		alloc_free(g->counters);
		alloc_free(g->ids);
		alloc_free(g);
		return NULL;
	}
	/* release: pairs with gpu_at() */
	atomic_store_explicit(&gpus[at], g, memory_order_release);
	return g;
}

static struct counting_gpu *gpu_at(uint64_t at)
{
	/* acquire: pairs with make() */
	return at < MAX_GPUS ? atomic_load_explicit(&gpus[at], memory_order_acquire) : NULL;
}

static struct counting_gpu *find_made(rocprofiler_agent_id_t id)
{
	struct counting_gpu *g;

	for (uint64_t i = 0; (g = gpu_at(i)) != NULL; i++)
		if (g->agent->id.handle == id.handle)
			return g;
	return NULL;
}

struct search {
	rocprofiler_agent_id_t id;
	const rocprofiler_agent_v0_t *found;
};

static rocprofiler_status_t look(rocprofiler_agent_version_t version, const void **agents,
				 size_t nr, void *arg)
{
	struct search *s = arg;

	(void)version;
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_agent_v0_t *a = agents[i];

		if (a->id.handle == s->id.handle)
			s->found = a;
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

struct counting_gpu *counters_of(rocprofiler_agent_id_t id, bool *known)
{
	struct counting_gpu *g = find_made(id);
	struct search s = { .id = id };

	*known = true;
	if (g)
		return g;
	rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, look,
					   sizeof(rocprofiler_agent_v0_t), &s);
	*known = s.found != NULL;
	if (!s.found || s.found->type != ROCPROFILER_AGENT_TYPE_GPU)
		return NULL;
	lock_take(&lock);
	g = find_made(id);
	if (!g)
		g = make(s.found);
	lock_drop(&lock);
	return g;
}

bool counters_find(rocprofiler_counter_id_t id, struct counting_gpu **gpu, struct counter **c)
{
	uint64_t metric = id.handle & METRIC_MASK;

	*gpu = gpu_at((id.handle >> GPU_SHIFT) - 1);
	if (!*gpu || !metric || metric > nr_of(*gpu))
		return false;
	*c = &(*gpu)->counters[metric - 1];
	return (*c)->id.handle == id.handle;
}

rocprofiler_counter_instance_id_t counters_instance(const struct counting_gpu *gpu,
						    const struct counter *c, uint32_t xcc,
						    uint32_t engine, uint32_t instance)
{
	return (c->id.handle & METRIC_MASK) << 48 | gpu->number << 40 | (uint64_t)xcc << 32 |
	       (uint64_t)engine << 24 | instance;
}

rocprofiler_counter_instance_id_t counters_instance_as(rocprofiler_counter_instance_id_t instance,
						       rocprofiler_counter_id_t id)
{
	return (instance & ((UINT64_C(1) << 40) - 1)) | (id.handle & METRIC_MASK) << 48 |
	       (id.handle >> GPU_SHIFT) << 40;
}

bool counters_constant(const char *name, const struct counting_gpu *gpu, double *value)
{
	const uint32_t values[NR_CONSTANTS] = { gpu->agent->cu_count,
						gpu->agent->cu_count * gpu->agent->simd_per_cu,
						gpu->nr_engines, gpu->nr_xccs,
						gpu->agent->wave_front_size };

	for (size_t i = 0; i < NR_CONSTANTS; i++) {
		if (strcmp(name, constants[i]) != 0)
			continue;
		*value = values[i];
		return true;
	}
	return false;
}

/* ---- queries --------------------------------------------------------------------------------- */

EXPORT rocprofiler_status_t rocprofiler_iterate_agent_supported_counters(
	rocprofiler_agent_id_t agent_id, rocprofiler_available_counters_cb_t cb, void *user_data)
{
	struct counting_gpu *g;
	bool known;

	if (!cb)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	g = counters_of(agent_id, &known);
	if (!g)
		return known ? ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED :
			       ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
	return cb(agent_id, g->ids, nr_of(g), user_data);
}

/* The counter that an instance id belongs to. */
static bool find_instance(rocprofiler_counter_instance_id_t id, struct counting_gpu **gpu,
			  struct counter **c)
{
	const rocprofiler_counter_id_t counter = { .handle = (id >> 40 & 0xff) << GPU_SHIFT |
							     id >> 48 };

	return counters_find(counter, gpu, c);
}

EXPORT rocprofiler_status_t rocprofiler_query_record_counter_id(
	rocprofiler_counter_instance_id_t id, rocprofiler_counter_id_t *counter_id)
{
	struct counting_gpu *gpu;
	struct counter *c;

	if (!counter_id)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (!find_instance(id, &gpu, &c))
		return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
	*counter_id = c->id;
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_query_record_dimension_position(
	rocprofiler_counter_instance_id_t id, rocprofiler_counter_dimension_id_t dim, size_t *pos)
{
	struct counting_gpu *gpu;
	struct counter *c;

	if (!pos)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (!find_instance(id, &gpu, &c))
		return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
	switch (dim) {
	case COUNT_XCC:
		*pos = id >> 32 & 0xff;
		return ROCPROFILER_STATUS_SUCCESS;
	case COUNT_SHADER_ENGINE:
		*pos = id >> 24 & 0xff;
		return ROCPROFILER_STATUS_SUCCESS;
	case COUNT_INSTANCE:
		*pos = id & 0xffffff;
		return ROCPROFILER_STATUS_SUCCESS;
	case COUNT_AID:
	case COUNT_AGENT:
	case COUNT_SHADER_ARRAY:
	case COUNT_WORKGROUP_PROCESSOR:
		/* as documented of one that the counter does not have */
		*pos = 0;
		return ROCPROFILER_STATUS_SUCCESS;
	default:
		return ROCPROFILER_STATUS_ERROR_DIM_NOT_FOUND;
	}
}

EXPORT rocprofiler_status_t rocprofiler_iterate_counter_dimensions(
	rocprofiler_counter_id_t id, rocprofiler_available_dimensions_cb_t info_cb, void *user_data)
{
	struct counting_gpu *gpu;
	struct counter *c;

	if (!info_cb)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (!counters_find(id, &gpu, &c))
		return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
	return info_cb(id, c->dimensions, c->nr_dimensions, user_data);
}

EXPORT rocprofiler_status_t rocprofiler_query_counter_instance_count(
	rocprofiler_agent_id_t agent_id, rocprofiler_counter_id_t counter_id,
	size_t *instance_count)
{
	struct counting_gpu *gpu;
	struct counter *c;

	if (!instance_count)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*instance_count = 0;
	if (!counters_find(counter_id, &gpu, &c) || gpu->agent->id.handle != agent_id.handle)
		return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
	*instance_count = c->nr_instances;
	return ROCPROFILER_STATUS_SUCCESS;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

static const char *block_name(const struct counter *c)
{
	return c->metric.kind == METRIC_BASIC ? c->metric.block->name : "";
}

static const char *expression_text(const struct counter *c)
{
	return c->metric.kind == METRIC_DERIVED ? c->metric.expression : "";
}

static const char *description_text(const struct counter *c)
{
	return c->metric.description ? c->metric.description : "";
}

static void describe(const struct counter *c, rocprofiler_counter_info_v0_t *info)
{
	*info = (rocprofiler_counter_info_v0_t){
		.id = c->id,
		.name = c->metric.name,
		.description = description_text(c),
		.block = block_name(c),
		.expression = expression_text(c),
		.is_constant = c->metric.kind == METRIC_CONSTANT,
		.is_derived = c->metric.kind == METRIC_DERIVED,
	};
}

#if ROCPROFILER_SDK_ABI > 0
/* The arrays of a counter's description of version 1, in one piece of memory each. */
struct arrays {
	const rocprofiler_counter_record_dimension_info_t *dimensions[3];
	rocprofiler_counter_record_dimension_instance_info_t *instances;
	const rocprofiler_counter_record_dimension_instance_info_t **pointers;
	rocprofiler_counter_dimension_info_t *positions; /* nr_dimensions of each instance */
	const rocprofiler_counter_dimension_info_t **position_pointers;
};

static void fill_instance(const struct counting_gpu *g, const struct counter *c, struct arrays *a,
			  size_t at)
{
	rocprofiler_counter_record_dimension_instance_info_t *i = &a->instances[at];
	uint32_t xcc = 0, engine = 0, instance = 0;
	size_t rest = at;

	/* the last dimension changes fastest */
	for (uint32_t d = c->nr_dimensions; d-- > 0;) {
		const rocprofiler_counter_record_dimension_info_t *info = &c->dimensions[d];
		rocprofiler_counter_dimension_info_t *p = &a->positions[at * c->nr_dimensions + d];

		p->size = sizeof(*p);
		p->dimension_name = info->name;
		p->index = rest % info->instance_size;
		rest /= info->instance_size;
		a->position_pointers[at * c->nr_dimensions + d] = p;
		if (info->id == COUNT_XCC)
			xcc = (uint32_t)p->index;
		else if (info->id == COUNT_SHADER_ENGINE)
			engine = (uint32_t)p->index;
		else
			instance = (uint32_t)p->index;
	}
	i->size = sizeof(*i);
	i->instance_id = counters_instance(g, c, xcc, engine, instance);
	i->counter_id = c->id.handle;
	i->dimensions_count = c->nr_dimensions;
	i->dimensions = &a->position_pointers[at * c->nr_dimensions];
	a->pointers[at] = i;
}

/* NULL: no memory. */
static const struct arrays *arrays_of(const struct counting_gpu *g, struct counter *c)
{
	/* acquire: pairs with the store below */
	const struct arrays *made = atomic_load_explicit(&c->info, memory_order_acquire);
	size_t n = c->nr_instances;
	struct arrays *a;

	if (made)
		return made;
	lock_take(&lock);
	made = atomic_load_explicit(&c->info, memory_order_relaxed);
	a = made ? NULL : alloc_zero(1, sizeof(*a));
	if (a) {
		a->instances = alloc_zero(n, sizeof(*a->instances));
		a->pointers = alloc_zero(n, sizeof(a->pointers[0]));
		a->positions = alloc_zero(n * c->nr_dimensions, sizeof(*a->positions));
		a->position_pointers =
			alloc_zero(n * c->nr_dimensions, sizeof(a->position_pointers[0]));
	}
	if (a && a->instances && a->pointers && a->positions && a->position_pointers) {
		for (uint32_t d = 0; d < c->nr_dimensions; d++)
			a->dimensions[d] = &c->dimensions[d];
		for (size_t i = 0; i < n; i++)
			fill_instance(g, c, a, i);
		made = a;
		atomic_store_explicit(&c->info, made, memory_order_release);
	}
	lock_drop(&lock);
	return made;
}

static rocprofiler_status_t describe_v1(const struct counting_gpu *g, struct counter *c,
					rocprofiler_counter_info_v1_t *info)
{
	const struct arrays *a = arrays_of(g, c);

	if (!a)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	*info = (rocprofiler_counter_info_v1_t){
		.size = sizeof(*info),
		.id = c->id,
		.name = c->metric.name,
		.description = description_text(c),
		.block = block_name(c),
		.expression = expression_text(c),
		.is_constant = c->metric.kind == METRIC_CONSTANT,
		.is_derived = c->metric.kind == METRIC_DERIVED,
		.dimensions_count = c->nr_dimensions,
		.dimensions = (void *)(uintptr_t)a->dimensions,
		.dimensions_instances_count = c->nr_instances,
		.dimensions_instances = (void *)(uintptr_t)a->pointers,
	};
	return ROCPROFILER_STATUS_SUCCESS;
}
#endif

EXPORT rocprofiler_status_t
rocprofiler_query_counter_info(rocprofiler_counter_id_t counter_id,
			       rocprofiler_counter_info_version_id_t version, void *info)
{
	struct counting_gpu *gpu;
	struct counter *c;

	if (!info)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (version <= ROCPROFILER_COUNTER_INFO_VERSION_NONE ||
	    version >= ROCPROFILER_COUNTER_INFO_VERSION_LAST)
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
	if (!counters_find(counter_id, &gpu, &c))
		return ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
#if ROCPROFILER_SDK_ABI > 0
	if (version == ROCPROFILER_COUNTER_INFO_VERSION_1)
		return describe_v1(gpu, c, info);
#endif
	describe(c, info);
	return ROCPROFILER_STATUS_SUCCESS;
}
