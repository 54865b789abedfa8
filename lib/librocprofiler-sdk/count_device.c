/* SPDX-License-Identifier: MIT */
/* count_device.c - librocprofiler-sdk: the counters of a GPU, read when the tool asks
 *
 * A context that is started asks its tool which counters, and the GPU counts them until it is
 * stopped; each sample has what was counted since then. Packets that start, read and stop the
 * counters go to a queue of this library's. Before HSA's runtime is up the tool is asked as well;
 * counting begins before the program's first queue is made.
 *
 * Owns:     the GPUs that are sampled: their queue, signal and profile while they are.
 * Threads:  any; one at a time under `lock`.
 */
#define LOG_TOPIC "sdk"
#include <stdlib.h>
#include <string.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/log.h"
#include "buffer.h"
#include "context.h"
#include "count.h"
#include "hsa_wrap_gen.h"
#include "operations.h"
#include "state.h"

/* how long a dispatch that is being counted may keep the counters */
#define RESERVE_NS UINT64_C(1000000000)

enum device_state { DEVICE_OFF, DEVICE_WAITING, DEVICE_ON };

struct device {
	struct device *next; /* constant once another one is added, under `lock` */
	/* constant once configured */
	struct context *context;
	rocprofiler_agent_id_t agent;
	struct sdk_buffer *buffer; /* NULL: none */
	count_device_fn ask;
	void *arg;

	/* under `lock` */
	enum device_state state;
	struct count_config *config;
	/* DEVICE_ON */
	uint32_t index; /* of the agent in the core */
	struct profile *profile;
	struct profile_queue queue;
};

GUARDED_LOCK(lock, LOCK_SDK_DEVICES);
/* in the order in which they were configured; never freed */
static struct device *devices RTL_GUARDED_BY(lock);
static _Atomic bool has_any;
static _Atomic uint32_t nr_waiting;
/* that of which the tool is asked on this thread */
static _Thread_local struct device *asked;

bool count_device_any(void)
{
	return atomic_load(&has_any);
}

bool count_device_has(const struct context *c)
{
	return atomic_load(&c->samples);
}

/* ---- the runtime ----------------------------------------------------------------------------- */

/* The agent's number in the core. False: HSA's runtime is not up, or does not show it. */
static bool find_index(rocprofiler_agent_id_t agent, uint32_t *index)
{
	if (state_is_in_runtime())
		return false;
	for (*index = 0; *index < AGENT_MAX; ++*index)
		if (operations_agent(*index).handle == agent.handle)
			return true;
	return false;
}

static bool run(const struct device *d, enum profile_part part)
{
	return state_core()->profile_queue_run(&d->queue, d->profile, part);
}

/* Whether the GPU has to count for it. */
static bool counts(const struct device *d)
{
	return count_config_nr_records(d->config) && !count_config_is_constant(d->config);
}

static void close_device(struct device *d)
{
	if (!counts(d))
		return;
	state_core()->profile_queue_close(&d->queue);
	if (d->profile)
		state_core()->profile_free(d->profile);
	d->profile = NULL;
	state_core()->counter_unreserve(d->index);
}

static rocprofiler_status_t start_counters(struct device *d, hsa_agent_t agent)
{
	char why[PROFILE_WHY_SIZE];

	d->profile = count_config_make(d->config, agent, why);
	if (!d->profile) {
		log_warn("agent %llu: its counters are not sampled: %s",
			 (unsigned long long)d->agent.handle, why);
		return ROCPROFILER_STATUS_ERROR_NO_HARDWARE_COUNTERS;
	}
	if (!state_core()->profile_queue_open(agent, &d->queue) || !run(d, PROFILE_START))
		return ROCPROFILER_STATUS_ERROR_NO_PROFILE_QUEUE;
	return ROCPROFILER_STATUS_SUCCESS;
}

RTL_REQUIRES(lock) static void set_state(struct device *d, enum device_state state)
{
	if ((d->state == DEVICE_WAITING) != (state == DEVICE_WAITING))
		atomic_fetch_add(&nr_waiting, state == DEVICE_WAITING ? 1u : UINT32_MAX);
	d->state = state;
}

/* Begins to count, once HSA's runtime is up. */
RTL_REQUIRES(lock) static rocprofiler_status_t open_device(struct device *d)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

	if (!find_index(d->agent, &d->index))
		return ROCPROFILER_STATUS_SUCCESS;
	if (counts(d)) {
		if (state_core()->counter_reserve(d->index, RESERVE_NS) != 0)
			return ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
		status = start_counters(d, state_core()->agent_handle(d->index));
	}
	if (status != ROCPROFILER_STATUS_SUCCESS) {
		close_device(d);
		return status;
	}
	set_state(d, DEVICE_ON);
	return status;
}

RTL_REQUIRES(lock) static void stop_device(struct device *d)
{
	if (d->state == DEVICE_ON) {
		if (d->profile)
			run(d, PROFILE_STOP);
		close_device(d);
	}
	set_state(d, DEVICE_OFF);
	if (d->config)
		count_config_put(d->config);
	d->config = NULL;
}

static void open_waiting(void)
{
	lock_take(&lock);
	for (struct device *d = devices; d; d = d->next)
		if (d->state == DEVICE_WAITING && open_device(d) != ROCPROFILER_STATUS_SUCCESS)
			stop_device(d);
	lock_drop(&lock);
}

static hsa_queue_create_fn_t next_create;

static hsa_status_t create_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
				 uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
	if (RTL_UNLIKELY(atomic_load_explicit(&nr_waiting, memory_order_relaxed)))
		open_waiting();
	return next_create(agent, size, type, callback, data, private_size, group_size, queue);
}

/* The former runtime's objects are gone. */
static void forget_runtime(void)
{
	lock_take(&lock);
	for (struct device *d = devices; d; d = d->next) {
		if (d->state != DEVICE_ON)
			continue;
		d->queue = (struct profile_queue){ 0 };
		d->profile = NULL;
		if (counts(d))
			state_core()->counter_unreserve(d->index);
		set_state(d, DEVICE_WAITING);
	}
	lock_drop(&lock);
	count_config_new_runtime();
}

void count_device_install(const struct hsa_mirror_root *root)
{
	void **slot = hsa_table_core_slot(root->core, HSA_CORE_queue_create);

	forget_runtime();
	if (!slot || !*slot)
		return;
	next_create = (hsa_queue_create_fn_t)*slot;
	*slot = (void *)create_queue;
}

void count_device_remove(void)
{
	forget_runtime();
}

/* ---- contexts -------------------------------------------------------------------------------- */

static rocprofiler_status_t set_config(rocprofiler_context_id_t context,
				       rocprofiler_profile_config_id_t id)
{
	struct device *d = asked;
	struct count_config *config;

	if (!d)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (context.handle != d->context->id.handle)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
	config = count_config_get(id);
	if (!config)
		return ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND;
	if (count_config_agent(config).handle != d->agent.handle) {
		count_config_put(config);
		return ROCPROFILER_STATUS_ERROR_AGENT_MISMATCH;
	}
	lock_take(&lock);
	if (d->config)
		count_config_put(d->config);
	d->config = config;
	lock_drop(&lock);
	return ROCPROFILER_STATUS_SUCCESS;
}

struct asking {
	struct device *d, *before;
};

static void ask_tool(void *arg)
{
	const struct asking *k = arg;

	k->d->ask(k->d->context->id, k->d->agent, set_config, k->d->arg);
}

static void leave_tool(void *arg)
{
	const struct asking *k = arg;

	asked = k->before;
}

static rocprofiler_status_t start_device(struct device *d)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
	struct asking k = { d, asked };

	asked = d;
	callout(ask_tool, leave_tool, &k);
	asked = k.before;
	lock_take(&lock);
	if (d->config && d->state == DEVICE_OFF) {
		set_state(d, DEVICE_WAITING);
		status = open_device(d);
		if (status != ROCPROFILER_STATUS_SUCCESS)
			stop_device(d);
	}
	lock_drop(&lock);
	return status;
}

/* The context's device behind `d`; NULL: the first one. */
static struct device *next_of(const struct context *c, struct device *d)
{
	lock_take(&lock);
	d = d ? d->next : devices;
	while (d && d->context != c)
		d = d->next;
	lock_drop(&lock);
	return d;
}

rocprofiler_status_t count_device_start(struct context *c)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

	for (struct device *d = next_of(c, NULL); d && status == ROCPROFILER_STATUS_SUCCESS;
	     d = next_of(c, d))
		status = start_device(d);
	if (status != ROCPROFILER_STATUS_SUCCESS)
		count_device_stop(c);
	return status;
}

void count_device_stop(struct context *c)
{
	if (!count_device_has(c))
		return;
	lock_take(&lock);
	for (struct device *d = devices; d; d = d->next)
		if (d->context == c)
			stop_device(d);
	lock_drop(&lock);
}

/* Takes `d` over, unless the context has that GPU. */
static rocprofiler_status_t add_device(struct device *d)
{
	struct device **at;
	bool is_new = true;

	lock_take(&lock);
	for (at = &devices; *at; at = &(*at)->next)
		is_new = is_new &&
			 ((*at)->context != d->context || (*at)->agent.handle != d->agent.handle);
	if (is_new)
		*at = d;
	lock_drop(&lock);
	if (!is_new)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	/* such a context can't count dispatches */
	atomic_store(&d->context->samples, true);
	atomic_store(&has_any, true);
	return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t configure(rocprofiler_context_id_t context,
				      rocprofiler_buffer_id_t buffer, rocprofiler_agent_id_t agent,
				      count_device_fn ask, void *arg)
{
	struct device d = { .context = context_find(context),
			    .buffer = buffer_find(buffer),
			    .agent = agent,
			    .ask = ask,
			    .arg = arg },
		      *made;
	rocprofiler_status_t status;
	bool known;

	if (state_phase() > -1)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!d.context)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
	if (count_dispatch_has(d.context))
		return ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT;
	/* from 1.0 on a tool may do without */
	if (!d.buffer && (buffer.handle || ROCPROFILER_SDK_ABI == 0))
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	if (!ask)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (!counters_of(agent, &known))
		return known ? ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED :
			       ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
	if (!count_register())
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	made = alloc_zero(1, sizeof(*made));
	if (!made)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	*made = d;
	status = add_device(made);
	if (status != ROCPROFILER_STATUS_SUCCESS)
		alloc_free(made);
	return status;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The tool's memory for records of all GPUs of a context; NULL: none. */
struct output {
	rocprofiler_record_counter_t *records;
	size_t nr, most;
};

static void put(const struct device *d, const rocprofiler_record_counter_t *records, size_t nr,
		struct output *out)
{
	for (size_t i = 0; i < nr && d->buffer; i++)
		buffer_put_counter(d->buffer, ROCPROFILER_COUNTER_RECORD_VALUE, &records[i],
				   sizeof(records[i]));
	if (out->records && out->nr + nr <= out->most)
		memcpy(out->records + out->nr, records, nr * sizeof(*records));
	out->nr += nr;
}

RTL_REQUIRES(lock)
static rocprofiler_status_t read_device(struct device *d, rocprofiler_user_data_t user,
					struct output *out)
{
	size_t nr = count_config_nr_records(d->config);
	uint32_t nr_values = d->profile ? state_core()->profile_nr_values(d->profile) : 0;
	rocprofiler_record_counter_t *records = alloc_zero(nr + 1, sizeof(*records));
	uint64_t *values = alloc_zero(nr_values + 1, sizeof(*values));
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;

	if (records && values) {
		status = ROCPROFILER_STATUS_ERROR;
		if (!d->profile ||
		    (run(d, PROFILE_READ) && state_core()->profile_read(d->profile, values)))
			status = ROCPROFILER_STATUS_SUCCESS;
	}
	if (status == ROCPROFILER_STATUS_SUCCESS) {
		count_config_records(d->config, d->profile, values, records);
		for (size_t i = 0; i < nr; i++) {
			records[i].user_data = user;
#if ROCPROFILER_SDK_ABI > 0
			records[i].agent_id = d->agent;
#endif
		}
		put(d, records, nr, out);
	}
	alloc_free(records);
	alloc_free(values);
	return status;
}

RTL_REQUIRES(lock)
static rocprofiler_status_t read_all(const struct context *c, rocprofiler_user_data_t user,
				     struct output *out)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;

	for (struct device *d = devices; d; d = d->next) {
		if (d->context != c || d->state == DEVICE_OFF)
			continue;
		if (d->state == DEVICE_WAITING) {
			status = open_device(d);
			if (status != ROCPROFILER_STATUS_SUCCESS)
				return status;
		}
		if (d->state == DEVICE_WAITING)
			return ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED;
		status = read_device(d, user, out);
		if (status != ROCPROFILER_STATUS_SUCCESS)
			return status;
	}
	return status;
}

static rocprofiler_status_t sample(rocprofiler_context_id_t id, rocprofiler_user_data_t user,
				   rocprofiler_record_counter_t *records, size_t *nr)
{
	struct output out = { .records = records, .most = records ? *nr : 0 };
	const struct context *c = context_find(id);
	rocprofiler_status_t status;

	if (!c || !count_device_has(c))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
	if (!atomic_load(&c->is_active))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
	lock_take(&lock);
	status = read_all(c, user, &out);
	lock_drop(&lock);
	if (status == ROCPROFILER_STATUS_SUCCESS && records && out.nr > out.most)
		status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	if (nr && (status == ROCPROFILER_STATUS_SUCCESS || out.nr > out.most))
		*nr = out.nr;
	return status;
}

#if ROCPROFILER_SDK_ABI > 0
EXPORT rocprofiler_status_t rocprofiler_configure_device_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
	rocprofiler_agent_id_t agent_id, rocprofiler_device_counting_service_cb_t cb,
	void *user_data)
{
	return configure(context_id, buffer_id, agent_id, cb, user_data);
}

EXPORT rocprofiler_status_t rocprofiler_sample_device_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_user_data_t user_data,
	rocprofiler_counter_flag_t flags, rocprofiler_counter_record_t *output_records,
	size_t *rec_count)
{
	const struct context *c = context_find(context_id);

	if (context_id.handle == ROCPROFILER_CONTEXT_NONE.handle)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (state_finalized())
		return ROCPROFILER_STATUS_ERROR_FINALIZED;
	if (!c || !atomic_load(&c->is_active))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
	if (output_records && (!rec_count || flags & ROCPROFILER_COUNTER_FLAG_ASYNC))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (output_records && !*rec_count)
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	return sample(context_id, user_data, output_records, rec_count);
}
#else
EXPORT rocprofiler_status_t rocprofiler_configure_agent_profile_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
	rocprofiler_agent_id_t agent_id, rocprofiler_agent_profile_callback_t cb, void *user_data)
{
	return configure(context_id, buffer_id, agent_id, cb, user_data);
}

EXPORT rocprofiler_status_t rocprofiler_sample_agent_profile_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_user_data_t user_data,
	rocprofiler_counter_flag_t flags)
{
	(void)flags; /* each is read at once */
	return sample(context_id, user_data, NULL, NULL);
}
#endif
