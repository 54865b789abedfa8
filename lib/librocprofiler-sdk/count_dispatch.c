/* SPDX-License-Identifier: MIT */
/* count_dispatch.c - librocprofiler-sdk: the counters of single dispatches, by callback or buffer
 *
 * The core asks before a dispatch is submitted, on the thread that rings the doorbell; so does this
 * library the tool. The result is shown on a thread of this library's: the core's is the one that
 * counts the next dispatch.
 *
 * Owns:     the services, by context; dispatches that are counted, and the thread that shows them,
 *           which lives as long as the process.
 * Threads:  any.
 * Fails:    a dispatch that could not be counted has no records; it is a warning.
 */
#define LOG_TOPIC "sdk"
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/callout.h"
#include "base/log.h"
#include "buffer.h"
#include "context.h"
#include "correlate.h"
#include "count.h"
#include "dispatch_ids.h"
#include "external.h"
#include "operations.h"
#include "retire.h"
#include "state.h"

#define SETTLE_NS UINT64_C(1000000000)

struct count_service {
	count_dispatch_fn ask;
	void *ask_arg;
	count_record_fn show; /* NULL: records go to the buffer */
	void *show_arg;
	struct sdk_buffer *buffer;
};

/* A dispatch that is counted. */
struct counted {
	struct relay_item sent; /* to be shown */
	struct context *context;
	const struct count_service *service;
	struct count_config *config;
	struct profile *profile; /* one user of it */
	rocprofiler_user_data_t user;
	count_data_t data;
	uint64_t *values;
};

static struct count_service services[SDK_MAX_SLOTS];
static _Atomic uint64_t has_service; /* a bit for each context */
static _Atomic uint64_t counting;    /* of the active one */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int client = -1;
static struct relay relay; /* of dispatches to be shown */

/* ---- asking ---------------------------------------------------------------------------------- */

static void free_counted(struct counted *d)
{
	if (d->profile)
		state_core()->profile_free(d->profile);
	if (d->config)
		count_config_put(d->config);
	alloc_free(d->values);
	alloc_free(d);
}

/* It was accepted. */
static void end_counted(struct counted *d)
{
	retire_drop(d->data.correlation_id.internal);
	free_counted(d);
}

/* The id of KERNEL_DISPATCH. */
static uint64_t id_of(const struct event_dispatch *e)
{
	rocprofiler_correlation_id_t id = { .internal = e->correlation & EVENT_ID };

#if ROCPROFILER_SDK_ABI > 0
	correlate_packet(e->tid, &id);
#endif
	return id.internal;
}

static void fill(struct counted *d, const struct client_dispatch *c)
{
	rocprofiler_kernel_dispatch_info_t *info = &d->data.dispatch_info;
	const struct event_dispatch *e = c->d;

	d->data.size = sizeof(d->data);
	d->data.correlation_id.internal = id_of(e);
	d->data.correlation_id.external =
		external_of(d->context, e->tid,
			    ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH,
			    ROCPROFILER_KERNEL_DISPATCH_ENQUEUE, d->data.correlation_id.internal);
	info->size = offsetof(rocprofiler_kernel_dispatch_info_t, reserved_padding);
	info->agent_id = operations_agent(c->agent);
	info->queue_id.handle = (uint64_t)e->queue + 1;
	info->kernel_id = e->kernel;
	info->dispatch_id = dispatch_ids_name(e->queue, e->packet);
	info->private_segment_size = e->private_size;
	info->group_segment_size = e->group_size;
	info->workgroup_size = (rocprofiler_dim3_t){ e->group[0], e->group[1], e->group[2] };
	info->grid_size = (rocprofiler_dim3_t){ e->grid[0], e->grid[1], e->grid[2] };
}

/* Asks the tool. False: it does not want the dispatch counted. */
static bool ask_tool(struct counted *d, const struct client_dispatch *c)
{
	rocprofiler_profile_config_id_t id = { 0 };
	char why[PROFILE_WHY_SIZE];
	int saved = errno;

	d->service->ask(d->data, &id, &d->user, d->service->ask_arg);
	errno = saved;
	if (!id.handle)
		return false;
	d->config = count_config_get(id);
	if (!d->config) {
		log_warn("a tool chose counters that do not exist: %llu",
			 (unsigned long long)id.handle);
		return false;
	}
	if (count_config_agent(d->config).handle != d->data.dispatch_info.agent_id.handle) {
		log_warn("a tool chose counters of another GPU: %llu",
			 (unsigned long long)id.handle);
		return false;
	}
	if (!count_config_nr_records(d->config))
		return false;
	d->profile = count_config_profile(d->config, c->agent_handle, why);
	if (!d->profile) {
		log_warn("counters are not counted: %s", why);
		return false;
	}
	state_core()->profile_get(d->profile);
	return true;
}

struct asking {
	struct counted *d;
	const struct client_dispatch *c;
	bool is_wanted;
};

static void call_asked(void *arg)
{
	struct asking *k = arg;

	fill(k->d, k->c);
	k->is_wanted = ask_tool(k->d, k->c);
}

static void leave_asking(void *arg)
{
	const struct asking *k = arg;

	free_counted(k->d);
}

static struct profile *on_ask(const struct client_dispatch *c, uint64_t *user)
{
	struct asking k;
	uint64_t active = atomic_load(&counting) & ~context_over();
	struct counted *d = active && !state_is_over() ? alloc_zero(1, sizeof(*d)) : NULL;

	if (!d)
		return NULL;
	relay_relieve(&relay);
	d->context = context_at((unsigned int)__builtin_ctzll(active));
	d->service = &services[context_index(d->context)];
	k = (struct asking){ d, c, false };
	callout(call_asked, leave_asking, &k);
	if (!k.is_wanted) {
		free_counted(d);
		return NULL;
	}
	retire_hold(d->data.correlation_id.internal);
	*user = (uintptr_t)d;
	return d->profile;
}

/* ---- results --------------------------------------------------------------------------------- */

static void put_records(const struct counted *d, const rocprofiler_record_counter_t *records,
			size_t nr)
{
	const count_header_t header = {
		.size = sizeof(header),
		.num_records = nr,
		.correlation_id = d->data.correlation_id,
		.start_timestamp = d->data.start_timestamp,
		.end_timestamp = d->data.end_timestamp,
		.dispatch_info = d->data.dispatch_info,
	};

	buffer_put_counter(d->service->buffer,
			   ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER, &header,
			   sizeof(header));
	for (size_t i = 0; i < nr; i++)
		buffer_put_counter(d->service->buffer, ROCPROFILER_COUNTER_RECORD_VALUE,
				   &records[i], sizeof(records[i]));
}

struct showing {
	struct counted *d;
	rocprofiler_record_counter_t *records;
	size_t nr;
};

static void call_tool(void *arg)
{
	const struct showing *s = arg;

	s->d->service->show(s->d->data, s->records, s->nr, s->d->user, s->d->service->show_arg);
}

/* On the library's thread. */
static void show(struct counted *d)
{
	size_t nr = count_config_nr_records(d->config);
	rocprofiler_record_counter_t *records = alloc_zero(nr, sizeof(*records));

	if (!records) {
		log_warn("no memory: the counters of dispatch %llu are lost",
			 (unsigned long long)d->data.dispatch_info.dispatch_id);
		return;
	}
	count_config_records(d->config, d->profile, d->values, records);
	for (size_t i = 0; i < nr; i++) {
		records[i].dispatch_id = d->data.dispatch_info.dispatch_id;
		records[i].user_data = d->user;
#if ROCPROFILER_SDK_ABI > 0
		records[i].agent_id = d->data.dispatch_info.agent_id;
#endif
	}
	if (d->service->show)
		callout_outlive(call_tool, &(struct showing){ d, records, nr });
	else
		put_records(d, records, nr);
	alloc_free(records);
}

static void deliver(struct relay_item *item)
{
	struct counted *d = RTL_CONTAINER_OF(item, struct counted, sent);

	if (!(context_over() & context_bit(d->context)) && atomic_load(&state_end) <= 0)
		show(d);
	end_counted(d);
}

static void on_done(const struct client_result *r)
{
	struct counted *d = (void *)(uintptr_t)r->user;

	d->data.start_timestamp = r->begin_ns;
	d->data.end_timestamp = r->end_ns;
	if (!r->why)
		d->values = alloc_zero(r->nr_values + 1, sizeof(*d->values));
	if (d->values) {
		memcpy(d->values, r->values, r->nr_values * sizeof(*d->values));
		relay_send(&relay, &d->sent);
		return;
	}
	log_warn("dispatch %llu is not counted: %s",
		 (unsigned long long)d->data.dispatch_info.dispatch_id,
		 r->why ? r->why : "no memory");
	end_counted(d);
}

void count_dispatch_settle(void)
{
	if (relay_is_current(&relay) || !atomic_load(&has_service))
		return;
	state_core()->counter_settle(SETTLE_NS);
	relay_settle(&relay, SETTLE_NS);
}

/* ---- services -------------------------------------------------------------------------------- */

static void register_once(void)
{
	static const struct counter_client functions = { .ask = on_ask, .done = on_done };

	if (state_core() && relay_start(&relay, deliver))
		client = state_core()->client_register(&functions);
	if (client < 0)
		log_warn("counters are not counted: no thread, or too many libraries that count");
}

bool count_register(void)
{
	pthread_once(&once, register_once);
	return client >= 0;
}

bool count_dispatch_any(void)
{
	return atomic_load(&has_service) != 0;
}

static rocprofiler_status_t configure(rocprofiler_context_id_t id,
				      const struct count_service *service)
{
	struct context *c = context_find(id);

	if (state_phase() > -1)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
	if (!service->ask || (!service->show && !service->buffer))
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (atomic_load(&c->samples))
		return ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT;
	if (atomic_load(&has_service) & context_bit(c))
		return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	if (!count_register())
		return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
	if (!context_take_slot(c))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
	services[context_index(c)] = *service;
	atomic_fetch_or(&has_service, context_bit(c));
	return ROCPROFILER_STATUS_SUCCESS;
}

bool count_dispatch_has(const struct context *c)
{
	return atomic_load(&has_service) & context_bit(c);
}

static rocprofiler_status_t configure_buffer(rocprofiler_context_id_t context,
					     rocprofiler_buffer_id_t buffer, count_dispatch_fn ask,
					     void *arg)
{
	const struct count_service s = { .ask = ask,
					 .ask_arg = arg,
					 .buffer = buffer_find(buffer) };

	if (state_phase() == -1 && context_find(context) && !s.buffer)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	return configure(context, &s);
}

static rocprofiler_status_t configure_callback(rocprofiler_context_id_t context,
					       count_dispatch_fn ask, void *ask_arg,
					       count_record_fn show_fn, void *show_arg)
{
	const struct count_service s = {
		.ask = ask, .ask_arg = ask_arg, .show = show_fn, .show_arg = show_arg
	};

	return configure(context, &s);
}

#if ROCPROFILER_SDK_ABI > 0
EXPORT rocprofiler_status_t rocprofiler_configure_buffer_dispatch_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
	rocprofiler_dispatch_counting_service_cb_t callback, void *callback_data_args)
{
	return configure_buffer(context_id, buffer_id, callback, callback_data_args);
}

EXPORT rocprofiler_status_t rocprofiler_configure_callback_dispatch_counting_service(
	rocprofiler_context_id_t context_id,
	rocprofiler_dispatch_counting_service_cb_t dispatch_callback, void *dispatch_callback_args,
	rocprofiler_dispatch_counting_record_cb_t record_callback, void *record_callback_args)
{
	return configure_callback(context_id, dispatch_callback, dispatch_callback_args,
				  record_callback, record_callback_args);
}
#else
EXPORT rocprofiler_status_t rocprofiler_configure_buffered_dispatch_profile_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
	rocprofiler_profile_counting_dispatch_callback_t callback, void *callback_data_args)
{
	return configure_buffer(context_id, buffer_id, callback, callback_data_args);
}

EXPORT rocprofiler_status_t rocprofiler_configure_callback_dispatch_profile_counting_service(
	rocprofiler_context_id_t context_id,
	rocprofiler_profile_counting_dispatch_callback_t dispatch_callback,
	void *dispatch_callback_args,
	rocprofiler_profile_counting_record_callback_t record_callback, void *record_callback_args)
{
	return configure_callback(context_id, dispatch_callback, dispatch_callback_args,
				  record_callback, record_callback_args);
}
#endif

/* ---- contexts -------------------------------------------------------------------------------- */

rocprofiler_status_t count_dispatch_start(const struct context *c)
{
	uint64_t none = 0;

	if (!atomic_compare_exchange_strong(&counting, &none, context_bit(c)) &&
	    none != context_bit(c))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
	state_core()->client_switch(client, AGENT_NONE, true);
	return ROCPROFILER_STATUS_SUCCESS;
}

void count_dispatch_stop(const struct context *c)
{
	uint64_t mine = context_bit(c);

	if (atomic_compare_exchange_strong(&counting, &mine, 0))
		state_core()->client_switch(client, AGENT_NONE, false);
}
