/* SPDX-License-Identifier: MIT */
/* sample.c - standalone contexts: start, read, stop, get_data
 *
 * Counters are started, read and stopped by packets in the context's queue, and count what all
 * queues of the GPU do meanwhile. The signal of a group has the number of its packets that have not
 * completed. The counters of a GPU are one group's at a time.
 *
 * Owns:     which group counts on each GPU.
 * Threads:  any; a context is on one thread at a time.
 */
#include "source/hsa/queue/packet.h"
#include "queues.h"

#define SLICE_NS UINT64_C(100000000)
/* How long a start and a stop wait for their packet: behind a kernel of the program in the same
 * queue it comes later. */
#define SETTLE_NS UINT64_C(1000000000)
#define CLOSE_NS UINT64_C(10000000000)

GUARDED_LOCK(lock, LOCK_V1_OWNERS);
static const struct group *owners[AGENTS_MAX] RTL_GUARDED_BY(lock);

/* ---- packets --------------------------------------------------------------------------------- */

static hsa_status_t put_part(struct group *g, enum profile_part part, bool signals, const char *api)
{
	const union packet *p = link_core()->profile_packet(g->profile, part);

	if (put_packet(g->context->queue, p, signals ? g->done : (hsa_signal_t){ 0 }))
		return HSA_STATUS_SUCCESS;
	return error_set(HSA_STATUS_ERROR, api, "submit",
			 "the context's queue stays full for longer than the timeout");
}

/* ---- owners ---------------------------------------------------------------------------------- */

static bool own(const struct group *g)
{
	const struct group **owner = &owners[g->context->gpu->index];
	bool good;

	lock_take(&lock);
	good = !*owner || *owner == g;
	if (good)
		*owner = g;
	lock_drop(&lock);
	return good;
}

static void disown(const struct group *g)
{
	const struct group **owner = &owners[g->context->gpu->index];

	lock_take(&lock);
	if (*owner == g)
		*owner = NULL;
	lock_drop(&lock);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* Until all packets of the group have completed. False: not within that time. */
static bool wait_done(const struct group *g, uint64_t most_ns)
{
	uint64_t frequency = 0, waited_ns = 0, slice;

	hsa.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
	slice = frequency ? (uint64_t)((double)SLICE_NS / 1e9 * (double)frequency) : SLICE_NS;
	while (hsa.hsa_signal_wait_scacquire(g->done, HSA_SIGNAL_CONDITION_LT, 1, slice,
					     HSA_WAIT_STATE_BLOCKED) > 0) {
		waited_ns += SLICE_NS;
		if (waited_ns > most_ns)
			return false;
	}
	return true;
}

/* An intercepted dispatch has its data from dispatch.c. */
static bool wait_dispatch(const struct group *g)
{
	uint64_t waited_ns = 0;

	/* acquire: pairs with dispatch.c: the values */
	while (!atomic_load_explicit(&g->is_data_there, memory_order_acquire))
		if (put_is_over(&waited_ns))
			return false;
	return true;
}

static void clear(struct group *g)
{
	for (uint32_t i = 0; i < g->nr_features; i++)
		g->features[i]->data.kind = ROCPROFILER_DATA_KIND_UNINIT;
}

static hsa_status_t no_data(const struct group *g, const char *api)
{
	return error_set(
		HSA_STATUS_ERROR, api, "get_data",
		"there is no data of group %u: it was neither read nor stopped, and no dispatch has it",
		g->index);
}

hsa_status_t sample_get_data(struct group *g, const char *api)
{
	bool is_dispatch = g->is_dispatched;

	if (!g->has_data && !is_dispatch)
		return no_data(g, api);
	if (is_dispatch ? !wait_dispatch(g) : !wait_done(g, settings.timeout))
		return error_set(
			HSA_STATUS_ERROR, api, "wait",
			"the data of group %u was not complete after the timeout of %llu ns",
			g->index, (unsigned long long)settings.timeout);
	clear(g);
	if (is_dispatch && g->why)
		return error_set(HSA_STATUS_ERROR, api, "get_data", "it was not counted: %s",
				 g->why);
	if (g->profile && !is_dispatch && !link_core()->profile_read(g->profile, g->values))
		return error_set(HSA_STATUS_ERROR, api, "iterate_data",
				 "AQLprofile has no data of group %u", g->index);
	if (g->profile)
		context_store(g);
	return g->context->trace && g->index == 0 ? trace_store(g->context, api) :
						    HSA_STATUS_SUCCESS;
}

/* ---- start, read, stop ----------------------------------------------------------------------- */

/* NULL: the error is set. */
static struct group *standalone_group(rocprofiler_t *context, uint32_t index, const char *api)
{
	struct group *g = context_group(context, index, api);

	if (!g)
		return NULL;
	if (!(g->context->mode & ROCPROFILER_MODE_STANDALONE)) {
		error_set(HSA_STATUS_ERROR, api, "check_mode",
			  "the context was not opened with ROCPROFILER_MODE_STANDALONE");
		return NULL;
	}
	if (!g->context->queue) {
		error_set(HSA_STATUS_ERROR, api, "check_queue",
			  "the context was opened without a queue");
		return NULL;
	}
	return g;
}

/* On the runtime's thread. */
static bool on_signal(hsa_signal_value_t value, void *arg)
{
	(void)value;
	dispatch_handle(arg);
	return false;
}

/* The handler comes when what was submitted has completed. */
static void arm(struct group *g)
{
	if (!g->context->handler || atomic_exchange(&g->is_armed, true))
		return;
	dispatch_expect(g->context, true);
	if (hsa.hsa_amd_signal_async_handler(g->done, HSA_SIGNAL_CONDITION_LT, 1, on_signal, g) !=
	    HSA_STATUS_SUCCESS)
		dispatch_expect(g->context, false);
}

static hsa_status_t start(struct group *g, const char *api)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!own(g))
		return error_set(
			HSA_STATUS_ERROR, api, "start",
			"the counters of GPU %u are in use by another context, or group of this one, that was not stopped",
			g->context->gpu->index);
	if (g->profile)
		status = put_part(g, PROFILE_START, true, api);
	if (status == HSA_STATUS_SUCCESS && g->context->trace && g->index == 0)
		status = trace_start(g->context, api);
	/* what other queues do from now on counts */
	if (status == HSA_STATUS_SUCCESS)
		wait_done(g, SETTLE_NS);
	g->is_running = status == HSA_STATUS_SUCCESS;
	g->has_data = false;
	g->is_dispatched = false;
	if (!g->is_running)
		disown(g);
	return status;
}

static hsa_status_t read_counters(struct group *g, const char *api)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!g->profile && g->context->trace)
		return error_set(HSA_STATUS_ERROR, api, "read",
				 "Read API disabled: group %u has traces alone", g->index);
	/* what was read at the stop stays */
	if (g->is_running && g->profile)
		status = put_part(g, PROFILE_READ, true, api);
	else if (!g->has_data && !g->is_running)
		return error_set(HSA_STATUS_ERROR, api, "read", "group %u was not started",
				 g->index);
	if (status == HSA_STATUS_SUCCESS) {
		g->has_data = true;
		arm(g);
	}
	return status;
}

/* The values are those of the stop. */
static hsa_status_t stop(struct group *g, const char *api)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!g->is_running)
		return g->has_data ? HSA_STATUS_SUCCESS :
				     error_set(HSA_STATUS_ERROR, api, "stop",
					       "group %u was not started", g->index);
	if (g->profile)
		status = put_part(g, PROFILE_READ, false, api);
	if (g->profile && status == HSA_STATUS_SUCCESS)
		status = put_part(g, PROFILE_STOP, true, api);
	if (status == HSA_STATUS_SUCCESS && g->context->trace && g->index == 0)
		status = trace_stop(g->context, api);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	/* what they do from now on does not count */
	wait_done(g, SETTLE_NS);
	g->is_running = false;
	g->has_data = true;
	disown(g);
	arm(g);
	return status;
}

bool sample_close(struct context *c)
{
	bool is_over = true;

	for (uint32_t i = 0; i < c->nr_groups; i++) {
		struct group *g = &c->groups[i];

		if (g->is_running && g->profile && c->queue)
			put_part(g, PROFILE_STOP, true, "rocprofiler_close");
		/* packets of the queue refer to the profile */
		if (c->queue && g->done.handle)
			is_over = wait_done(g, CLOSE_NS) && is_over;
		disown(g);
	}
	return is_over;
}

/* ---- the functions --------------------------------------------------------------------------- */

static hsa_status_t with_group(rocprofiler_t *context, uint32_t index, const char *api,
			       hsa_status_t (*fn)(struct group *g, const char *api))
{
	struct group *g = standalone_group(context, index, api);
	hsa_status_t status;

	if (!g)
		return rocprofiler_errno();
	runtime_quiet(true);
	status = fn(g, api);
	runtime_quiet(false);
	return status;
}

static hsa_status_t get_data(rocprofiler_t *context, uint32_t index, const char *api)
{
	struct group *g = context_group(context, index, api);
	hsa_status_t status;

	if (!g)
		return rocprofiler_errno();
	runtime_quiet(true);
	status = sample_get_data(g, api);
	runtime_quiet(false);
	return status;
}

EXPORT hsa_status_t rocprofiler_start(rocprofiler_t *context, uint32_t group_index)
{
	return with_group(context, group_index, __func__, start);
}

EXPORT hsa_status_t rocprofiler_stop(rocprofiler_t *context, uint32_t group_index)
{
	return with_group(context, group_index, __func__, stop);
}

EXPORT hsa_status_t rocprofiler_read(rocprofiler_t *context, uint32_t group_index)
{
	return with_group(context, group_index, __func__, read_counters);
}

EXPORT hsa_status_t rocprofiler_get_data(rocprofiler_t *context, uint32_t group_index)
{
	return get_data(context, group_index, __func__);
}

/* AMD's library drops the status of the first three. */
EXPORT hsa_status_t rocprofiler_group_start(rocprofiler_group_t *group)
{
	NEED(group);
	return with_group(group->context, group->index, __func__, start);
}

EXPORT hsa_status_t rocprofiler_group_stop(rocprofiler_group_t *group)
{
	NEED(group);
	return with_group(group->context, group->index, __func__, stop);
}

EXPORT hsa_status_t rocprofiler_group_read(rocprofiler_group_t *group)
{
	NEED(group);
	return with_group(group->context, group->index, __func__, read_counters);
}

EXPORT hsa_status_t rocprofiler_group_get_data(rocprofiler_group_t *group)
{
	NEED(group);
	return get_data(group->context, group->index, __func__);
}
