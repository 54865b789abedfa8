/* SPDX-License-Identifier: MIT */
/* dispatch.c - dispatches that are intercepted: their callbacks, records, groups
 *
 * The core asks before it submits a dispatch (client.h): the client's callback runs then. What is
 * over comes to this library's thread, which completes the record and calls the handler of the
 * context.
 *
 *	counted:      values and times come from the core's client interface
 *	not counted:  the times come with the dispatch's event
 *
 * Owns:     the dispatches in flight, the thread; names of kernels.
 * Threads:  any. `lock` guards which context a dispatch belongs to.
 * Hot path: on_event(), of a dispatch: no lock.
 */
#define LOG_TOPIC "rocprofiler"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <hsa/hsa_ven_amd_loader.h>

#include "../face/id_map.h"
#include "../face/pending.h"
#include "../face/relay.h"
#include "base/alloc.h"
#include "base/callout.h"
#include "base/demangle.h"
#include "base/log.h"
#include "base/sys.h"
#include "queues.h"

#define MAX_QUEUES 65536u
#define SETTLE_NS UINT64_C(1000000000)
#define NAP_NS 100000

struct taken {
	struct pending_item in_flight; /* of its queue, where it is not counted */
	struct relay_item sent;	       /* on its way to the thread */
	struct taken *of_context;      /* under lock: those of the same context */
	/* under lock; NULL: the context was closed */
	struct group *group;
	rocprofiler_dispatch_record_t *record;
	uint64_t begin_ns, end_ns;
};

GUARDED_LOCK(lock, LOCK_V1_DISPATCHES);
static const struct rtl_core *core;
static int client = -1;
static _Atomic(struct pending *) pending[MAX_QUEUES];
static struct id_map strings, kernels; /* a string's text; a kernel's name */
static struct relay relay;	       /* of dispatches that are over */
static _Atomic bool is_started;
/* the context whose handler runs on this thread; NULL: it was closed by it */
static _Thread_local struct context *handled;
static _Thread_local bool is_in_callback;

/* ---- kernels --------------------------------------------------------------------------------- */

static void keep_string(const struct event_string *s)
{
	char *text;

	/* a kernel's symbol */
	if (s->size < 4 || memcmp(s->text + s->size - 3, ".kd", 3) != 0 ||
	    id_map_get(&strings, s->id))
		return;
	text = alloc_heap((size_t)s->size + 1);
	if (!text)
		return;
	memcpy(text, s->text, s->size);
	text[s->size] = 0;
	id_map_set(&strings, s->id, (uintptr_t)text);
}

static void keep_kernel(const struct event_kernel *k)
{
	const char *symbol = (const char *)(uintptr_t)id_map_get(&strings, k->name);
	const char *name = symbol ? demangle_whole(symbol) : NULL;

	if (symbol)
		id_map_set(&kernels, k->id, (uintptr_t)(name ? name : symbol));
}

static const amd_kernel_code_t *code_of(uint64_t object)
{
	static hsa_ven_amd_loader_1_00_pfn_t loader;
	static _Atomic bool is_found;
	const void *host = NULL;

	if (!atomic_load_explicit(&is_found, memory_order_acquire)) {
		hsa.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1,
							 sizeof(loader), &loader);
		atomic_store_explicit(&is_found, true, memory_order_release);
	}
	if (!loader.hsa_ven_amd_loader_query_host_address ||
	    loader.hsa_ven_amd_loader_query_host_address((const void *)(uintptr_t)object, &host) !=
		    HSA_STATUS_SUCCESS ||
	    !host)
		host = (const void *)(uintptr_t)object;
	return host;
}

/* ---- the thread ------------------------------------------------------------------------------ */

RTL_REQUIRES(lock) static void unlink_taken(struct taken *t)
{
	struct taken **link = &t->group->context->taken;

	while (*link && *link != t)
		link = &(*link)->of_context;
	if (*link)
		*link = t->of_context;
}

void dispatch_expect(struct context *c, bool on)
{
	lock_take(&lock);
	c->nr_handlers += on ? 1 : UINT32_MAX;
	lock_drop(&lock);
}

static void call_handler(void *group)
{
	context_done(group);
}

static void end_handling(void *group)
{
	const struct group *g = group;

	if (handled)
		dispatch_expect(g->context, false);
	handled = NULL;
}

void dispatch_handle(struct group *g)
{
	handled = g->context;
	if (relay_is_current(&relay))
		callout_outlive(call_handler, g);
	else
		callout(call_handler, end_handling, g);
	end_handling(g);
}

static void deliver(struct relay_item *item)
{
	struct taken *t = RTL_CONTAINER_OF(item, struct taken, sent);
	struct group *g;

	lock_take(&lock);
	g = t->group;
	if (g) {
		unlink_taken(t);
		g->context->nr_handlers++;
	}
	lock_drop(&lock);
	if (t->record) {
		t->record->begin = t->begin_ns;
		t->record->end = t->end_ns;
		/* release: the client may wait for it */
		__atomic_store_n(&t->record->complete, core->now_ns(), __ATOMIC_RELEASE);
	}
	alloc_free(t);
	if (!g)
		return;
	/* release: pairs with sample.c: the values */
	atomic_store_explicit(&g->is_data_there, true, memory_order_release);
	dispatch_handle(g);
}

static void nap(void)
{
	const struct timespec t = { .tv_nsec = NAP_NS };

	sys_nap(&t);
}

void dispatch_settle(void)
{
	if (!atomic_load(&is_started) || handled)
		return;
	core->counter_settle(SETTLE_NS);
	core->harvest_flush();
	relay_settle(&relay, SETTLE_NS);
}

bool dispatch_close(struct context *c)
{
	uint64_t waited_ns = 0;
	uint32_t running;

	lock_take(&lock);
	for (struct taken *t = c->taken; t; t = t->of_context)
		t->group = NULL;
	c->taken = NULL;
	lock_drop(&lock);
	if (handled == c) {
		handled = NULL;
		return true;
	}
	do {
		lock_take(&lock);
		running = c->nr_handlers;
		lock_drop(&lock);
		if (running)
			nap();
		waited_ns += NAP_NS;
	} while (running && waited_ns < SETTLE_NS);
	return !running;
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void describe(const struct client_dispatch *d, const struct seen_queue *q,
		     rocprofiler_callback_data_t *data)
{
	const struct gpu *gpu = runtime_gpu(d->agent_handle);

	data->agent = d->agent_handle;
	data->agent_index = gpu ? gpu->index : 0;
	data->queue = d->hsa;
	data->queue_index = d->d->packet;
	data->queue_id = q->id;
	data->completion_signal = d->packet->completion_signal;
	data->packet = d->packet;
	if (settings.opt_mode)
		return;
	data->kernel_name = (const char *)(uintptr_t)id_map_get(&kernels, d->d->kernel);
	if (!data->kernel_name)
		data->kernel_name = "unknown kernel";
	data->kernel_object = d->packet->kernel_object;
	data->kernel_code = code_of(d->packet->kernel_object);
	data->thread_id = d->d->tid ? d->d->tid : (uint32_t)syscall(SYS_gettid);
}

struct asking {
	const struct client_callbacks *c;
	rocprofiler_callback_data_t *data;
	struct taken *t;
	rocprofiler_group_t group;
	hsa_status_t status;
};

static void ask_client(void *arg)
{
	struct asking *k = arg;

	k->status = k->c->fn.dispatch(k->data, k->c->data, &k->group);
}

static void free_taken(struct taken *t)
{
	alloc_free(t->record);
	alloc_free(t);
}

/* It did not return: it wants nothing. */
static void leave_client(void *arg)
{
	const struct asking *k = arg;

	is_in_callback = false;
	free_taken(k->t);
}

/* The client's callback. NULL: it wants nothing of this dispatch. */
static struct group *call(const struct client_callbacks *c, rocprofiler_callback_data_t *data,
			  struct taken *t)
{
	struct asking k = { .c = c, .data = data, .t = t };
	struct group *g = NULL;

	is_in_callback = true;
	callout(ask_client, leave_client, &k);
	is_in_callback = false;
	if (k.status == HSA_STATUS_SUCCESS && k.group.context)
		g = context_group(k.group.context, k.group.index, "dispatch_callback");
	if (k.status == HSA_STATUS_SUCCESS && k.group.context && !g)
		log_warn("dispatch callback: %s", rocprofiler_last_error_string());
	return g;
}

bool dispatch_is_in_callback(void)
{
	return is_in_callback;
}

static struct pending *pending_of(uint32_t queue)
{
	/* acquire: pairs with keep_queue() */
	return queue < MAX_QUEUES ? atomic_load_explicit(&pending[queue], memory_order_acquire) :
				    NULL;
}

static void attach(struct taken *t, struct group *g)
{
	lock_take(&lock);
	t->group = g;
	t->of_context = g->context->taken;
	g->context->taken = t;
	g->why = NULL;
	g->is_dispatched = true;
	if (g->context->trace && !g->index)
		trace_counted(g->context, false);
	lock_drop(&lock);
	atomic_store_explicit(&g->is_data_there, false, memory_order_relaxed);
	atomic_store_explicit(&g->to_wait, 1, memory_order_relaxed);
}

static struct taken *new_taken(bool has_times)
{
	struct taken *t = alloc_zero(1, sizeof(*t));

	if (!t || !has_times)
		return t;
	t->record = alloc_zero(1, sizeof(*t->record));
	if (!t->record) {
		alloc_free(t);
		return NULL;
	}
	t->record->dispatch = core->now_ns();
	return t;
}

static struct profile *show(const struct client_dispatch *d, const struct client_callbacks *c,
			    const struct seen_queue *q, uint64_t *user)
{
	rocprofiler_callback_data_t data;
	bool has_times = settings.timestamp_on || q->has_times;
	struct taken *t = new_taken(has_times && !settings.opt_mode);
	struct pending *p = pending_of(d->d->queue);
	struct group *g;

	if (!t)
		return NULL;
	memset(&data, 0, sizeof(data));
	describe(d, q, &data);
	data.record = t->record;
	g = call(c, &data, t);
	if (!g || (!g->profile && !p)) {
		free_taken(t);
		return NULL;
	}
	attach(t, g);
	*user = (uintptr_t)t;
	if (g->profile)
		return g->profile;
	t->in_flight.key = d->d->packet;
	pending_put(p, &t->in_flight);
	return NULL;
}

static struct profile *ask(const struct client_dispatch *d, uint64_t *user)
{
	const struct seen_queue *q = is_in_callback ? NULL : queues_find(d->hsa);
	struct client_callbacks c;

	if (!q || (!settings_intercepts() && !q->has_times) || !queues_callbacks(&c) ||
	    runtime_ready("dispatch_callback") != HSA_STATUS_SUCCESS)
		return NULL;
	relay_relieve(&relay);
	return show(d, &c, q, user);
}

/* Values are those of the group's profile. */
static void done(const struct client_result *r)
{
	struct taken *t = (struct taken *)(uintptr_t)r->user;
	struct group *g;

	lock_take(&lock);
	g = t->group;
	if (g) {
		g->why = r->why;
		if (g->context->trace && !g->index)
			trace_counted(g->context, !r->why);
		if (!r->why && r->nr_values && r->nr_values == g->nr_values)
			memcpy(g->values, r->values, r->nr_values * sizeof(*r->values));
	}
	lock_drop(&lock);
	t->begin_ns = r->begin_ns;
	t->end_ns = r->end_ns;
	relay_send(&relay, &t->sent);
}

/* ---- the core's events ----------------------------------------------------------------------- */

static void keep_queue(const struct event_queue *q)
{
	struct pending *p = q->index < MAX_QUEUES ? alloc_zero(1, sizeof(*p)) : NULL;

	if (p)
		atomic_store_explicit(&pending[q->index], p, memory_order_release);
}

static void dispatch_over(const struct event_dispatch *d)
{
	struct pending *p = pending_of(d->queue);
	struct pending_item *item = p ? pending_take(p, d->packet) : NULL;
	struct taken *t;

	if (!item)
		return;
	t = (struct taken *)(void *)((char *)item - offsetof(struct taken, in_flight));
	t->begin_ns = d->begin_ns;
	t->end_ns = d->end_ns;
	relay_send(&relay, &t->sent);
}

static void on_event(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_STRING:
		keep_string(&ev->string);
		break;
	case EVENT_KERNEL:
		keep_kernel(&ev->kernel);
		break;
	case EVENT_QUEUE:
		keep_queue(&ev->queue);
		break;
	case EVENT_DISPATCH:
		dispatch_over(&ev->dispatch);
		break;
	default:
		break;
	}
}

#define WANTED (EVENT_BIT(EVENT_STRING) | EVENT_BIT(EVENT_KERNEL) | EVENT_BIT(EVENT_QUEUE))

static const struct sink objects = {
	.name = "rocprofiler",
	.event = on_event,
	.wants = WANTED,
};
/* costs each dispatch of the program something */
static const struct sink dispatches = {
	.name = "rocprofiler dispatches",
	.event = on_event,
	.wants = EVENT_BIT(EVENT_DISPATCH),
};

void dispatch_on_runtime(void)
{
	static _Atomic bool is_attached;

	if (core && !atomic_exchange(&is_attached, true) && core->bus_attach(&objects) != 0)
		log_warn("too many sinks; kernels have no names");
}

static void log_copy(const struct event *ev)
{
	log_info("async-copy time(%llu,%llu)", (unsigned long long)ev->copy.begin_ns,
		 (unsigned long long)ev->copy.end_ns);
}

void dispatch_log_copies(void)
{
	static const struct sink copies = {
		.name = "rocprofiler copies",
		.event = log_copy,
		.wants = EVENT_BIT(EVENT_COPY),
	};

	if (core && core->bus_attach(&copies) != 0)
		log_warn("too many sinks; copies are not logged");
}

static void start_once(void)
{
	if (!relay_start(&relay, deliver) || core->bus_attach(&dispatches) != 0) {
		log_warn("no thread, or too many sinks; dispatches are not intercepted");
		return;
	}
	atomic_store(&is_started, true);
}

void dispatch_switch(bool on)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (client < 0)
		return;
	if (on) {
		dispatch_on_runtime();
		pthread_once(&once, start_once);
	}
	core->client_switch(client, AGENT_NONE, on && atomic_load(&is_started));
}

static const struct counter_client functions = { .ask = ask, .done = done };

/* From here on queues are made so that their kernels count. */
void dispatch_start(const struct rtl_core *of)
{
	core = of;
	client = core->client_register(&functions);
	if (client < 0)
		log_warn("too many libraries that count; dispatches are not intercepted");
}
