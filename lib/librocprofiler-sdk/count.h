/* SPDX-License-Identifier: MIT */
/* count.h - librocprofiler-sdk: the services that count
 *
 *	counters.c        what GPUs can count: counters, their descriptions, dimensions and
 *			  instances
 *	created.c         counters that tools make of others
 *	definitions.c     definitions of counters by a tool or the user
 *	count_config.c    sets of counters; values become records
 *	count_dispatch.c  counting single dispatches, by callback or buffer
 *	count_device.c    sampling a GPU
 *	counting.h        what contexts have of these
 *
 * Ids: a counter has 1 + its position among those of its GPU in the low 16 bits, and 1 + the
 * position of the GPU above. An instance has the former from bit 48 on, the latter from bit 40, and
 * its position in each dimension below: XCC from bit 32, shader engine from bit 24, instance from
 * bit 0.
 */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_COUNT_H
#define RTL_LIB_LIBROCPROFILER_SDK_COUNT_H

#include "context.h"
#include "counter/metric.h"

/* Numbers of dimensions, as in AMD's library. No counter of ours has the others. */
enum count_dimension {
	COUNT_XCC = 1,
	COUNT_AID,
	COUNT_SHADER_ENGINE,
	COUNT_AGENT,
	COUNT_SHADER_ARRAY,
	COUNT_WORKGROUP_PROCESSOR,
	COUNT_INSTANCE,
};

#if ROCPROFILER_SDK_ABI > 0
typedef rocprofiler_dispatch_counting_service_data_t count_data_t;
typedef rocprofiler_dispatch_counting_service_record_t count_header_t;
typedef rocprofiler_dispatch_counting_service_cb_t count_dispatch_fn;
typedef rocprofiler_dispatch_counting_record_cb_t count_record_fn;
typedef rocprofiler_device_counting_service_cb_t count_device_fn;
#else
typedef rocprofiler_profile_counting_dispatch_data_t count_data_t;
typedef rocprofiler_profile_counting_dispatch_record_t count_header_t;
typedef rocprofiler_profile_counting_dispatch_callback_t count_dispatch_fn;
typedef rocprofiler_profile_counting_record_callback_t count_record_fn;
typedef rocprofiler_agent_profile_callback_t count_device_fn;
#endif

/* ---- counters.c ---- */

/* A counter of a GPU. Constant once made. */
struct counter {
	rocprofiler_counter_id_t id;
	struct metric metric;
	rocprofiler_record_dimension_info_t dimensions[3];
	uint32_t nr_dimensions;
	size_t nr_instances;
	_Atomic(const void *) info; /* of version 1: its arrays; NULL: not made yet */
};

/* A GPU that counts. Never freed. */
struct counting_gpu {
	const rocprofiler_agent_v0_t *agent;
	uint64_t number; /* from 1 on */
	/* release: what it lists is there before; with a created counter there is a new list */
	_Atomic(const struct counter_gpu *) gpu;
	struct counter *counters; /* with space for created ones */
	rocprofiler_counter_id_t *ids;
	_Atomic uint32_t nr; /* release: the counter is there before */
	uint32_t size, nr_engines, nr_xccs;
};

/* The present list of names. */
static inline const struct counter_gpu *counters_list(const struct counting_gpu *g)
{
	/* acquire: pairs with counters_add() */
	return atomic_load_explicit(&g->gpu, memory_order_acquire);
}

/* NULL: the GPU has none of that name. */
struct counter *counters_named(const struct counting_gpu *g, const char *name);

/* Calls `fn` while no other thread changes a list. */
rocprofiler_status_t counters_change(rocprofiler_status_t (*fn)(void *arg), void *arg);
/* The metric `name` of `list` becomes one more counter, and `list` that of the GPU. Within
 * counters_change(). False: there are too many. */
bool counters_add(struct counting_gpu *g, const struct counter_gpu *list, const char *name,
		  rocprofiler_counter_id_t *id);

/* NULL: there is no such agent, *known false; or nothing of it is counted. */
struct counting_gpu *counters_of(rocprofiler_agent_id_t id, bool *known);
/* The GPU of a counter, and the counter. False: there is none. */
bool counters_find(rocprofiler_counter_id_t id, struct counting_gpu **gpu, struct counter **c);
/* The id of an instance. */
rocprofiler_counter_instance_id_t counters_instance(const struct counting_gpu *gpu,
						    const struct counter *c, uint32_t xcc,
						    uint32_t engine, uint32_t instance);
/* The same position, of the counter with that id. */
rocprofiler_counter_instance_id_t counters_instance_as(rocprofiler_counter_instance_id_t instance,
						       rocprofiler_counter_id_t id);
/* The value of a constant of the GPU; for struct metric_values: `arg` is the struct
 * counting_gpu. */
bool counters_constant(const char *name, const struct counting_gpu *gpu, double *value);

/* ---- definitions.c ---- */

/* What the agent, "gfx90a", counts by name: our list, or what a tool or the user has defined. NULL:
 * its counters are not known. From the first call on a tool can't define any. */
const struct counter_gpu *definitions_of(const char *agent);

/* ---- count_config.c ---- */

struct count_config;

/* The configuration, with one more user; NULL: there is none. */
struct count_config *count_config_get(rocprofiler_profile_config_id_t id);
void count_config_put(struct count_config *c);
rocprofiler_agent_id_t count_config_agent(const struct count_config *c);
/* Whether it has constants of the GPU alone, whose records need no profile. */
bool count_config_is_constant(const struct count_config *c);
/* Its profile on that agent of HSA's, made when it is first needed; no user of it. NULL: it can't
 * be counted, or has no events; `why`, of PROFILE_WHY_SIZE bytes, says why. */
struct profile *count_config_profile(struct count_config *c, hsa_agent_t agent, char *why);
/* The same, a profile of the caller's own. */
struct profile *count_config_make(const struct count_config *c, hsa_agent_t agent, char *why);
/* The number of its records, and the records of these values of its profile: their ids and
 * values. */
size_t count_config_nr_records(const struct count_config *c);
void count_config_records(const struct count_config *c, const struct profile *p,
			  const uint64_t *values, rocprofiler_record_counter_t *records);
/* HSA's runtime is a new one: profiles of the former are gone. */
void count_config_new_runtime(void);

/* ---- count_dispatch.c ---- */

/* Registers at the core: queues that are made from now on can be counted. False: too many
 * clients. */
bool count_register(void);
bool count_dispatch_has(const struct context *c);
/* Whether any context counts dispatches. */
bool count_dispatch_any(void);
/* As counting_start() and counting_stop() for a context that does. */
rocprofiler_status_t count_dispatch_start(const struct context *c);
void count_dispatch_stop(const struct context *c);
/* Waits, 1 s at most each, until the dispatches that are being counted have their results, and
 * these are shown. */
void count_dispatch_settle(void);

/* ---- count_device.c ---- */

bool count_device_any(void);
bool count_device_has(const struct context *c);
/* From the table's layer. */
void count_device_install(const struct hsa_mirror_root *root);
/* The runtime is going away. */
void count_device_remove(void);
rocprofiler_status_t count_device_start(struct context *c);
void count_device_stop(struct context *c);

#endif
