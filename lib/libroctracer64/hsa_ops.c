/* SPDX-License-Identifier: MIT */
/* hsa_ops.c - records of HSA's operations, from the events of the core
 *
 * Copies have records wherever they are enabled. Kernels have them in programs without HIP: else
 * they are in ACTIVITY_DOMAIN_HIP_OPS, as with AMD's libraries.
 *
 * Owns:     names of kernels and devices of queues, by the ids of events. Never freed.
 * Threads:  any.
 * Hot path: on_event(), of a dispatch or a copy: no lock but the pool's.
 * Fails:    without memory, and for ids beyond ID_MAP_MAX, a kernel has no name and a queue no
 *           device.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../face/id_map.h"
#include "base/alloc.h"
#include "facade.h"
#include "record.h"
#include "roctracer/roctracer_hsa.h"

static struct id_map strings; /* the address of a copy of the text */
static struct id_map kernels; /* the string that is its name */
static struct id_map agents;  /* node, or index among GPUs */
static struct id_map queues;  /* the same, of the queue's agent */
static _Atomic bool has_hip, is_attached, is_started;

static void keep_string(const struct event_string *s)
{
	char *text = id_map_get(&strings, s->id) ? NULL : alloc_heap((size_t)s->size + 1);

	if (!text)
		return;
	memcpy(text, s->text, s->size);
	text[s->size] = 0;
	/* HIP's records have the function's symbol, not its descriptor's */
	if (s->size > 3 && strcmp(text + s->size - 3, ".kd") == 0)
		text[s->size - 3] = 0;
	id_map_set(&strings, s->id, (uintptr_t)text);
}

static void keep_kernel(const struct event_kernel *k)
{
	const char *name = (const char *)(uintptr_t)id_map_get(&strings, k->name);

	id_map_set(&kernels, k->id, k->name);
	if (name)
		kernel_names_add(k->object, name);
}

static void keep_agent(const struct event_agent *a)
{
	id_map_set(&agents, a->index, ROCTRACER64_GENERATION == 1 ? a->gpu_index : a->node);
}

static void keep_queue(const struct event_queue *q)
{
	id_map_set(&queues, q->index, id_map_get(&agents, q->agent));
}

static void write_record(activity_record_t *r, uint32_t op, uint64_t correlation)
{
	struct buffer *pool = registry_get_pool(ACTIVITY_DOMAIN_HSA_OPS, op);

	if (!pool || record_is_stopped() ||
	    !atomic_load_explicit(&is_started, memory_order_relaxed))
		return;
	r->domain = ACTIVITY_DOMAIN_HSA_OPS;
	r->op = op;
	r->correlation_id = correlation & EVENT_ID;
	record_write_op(pool, r);
}

static void on_dispatch(const struct event_dispatch *d)
{
	activity_record_t r = { .begin_ns = d->begin_ns, .end_ns = d->end_ns };

	if (d->flags & (REC_F_UNFINISHED | REC_F_INTERNAL) ||
	    atomic_load_explicit(&has_hip, memory_order_relaxed))
		return;
	r.device_id = (int)id_map_get(&queues, d->queue);
	r.queue_id = d->queue;
#if ROCTRACER64_GENERATION == 4
	r.kernel_name =
		(const char *)(uintptr_t)id_map_get(&strings,
						    (uint32_t)id_map_get(&kernels, d->kernel));
	if (!r.kernel_name)
		r.kernel_name = UNKNOWN_KERNEL;
#endif
	write_record(&r, HSA_OP_ID_DISPATCH, d->correlation);
}

static void on_copy(const struct event_copy *c)
{
	activity_record_t r = { .begin_ns = c->begin_ns, .end_ns = c->end_ns };

	r.bytes = c->bytes;
	write_record(&r, HSA_OP_ID_COPY, c->correlation);
}

static void on_event(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_STRING:
		keep_string(&ev->string);
		break;
	case EVENT_AGENT:
		keep_agent(&ev->agent);
		break;
	case EVENT_QUEUE:
		keep_queue(&ev->queue);
		break;
	case EVENT_KERNEL:
		keep_kernel(&ev->kernel);
		break;
	case EVENT_DISPATCH:
		on_dispatch(&ev->dispatch);
		break;
	case EVENT_COPY:
		on_copy(&ev->copy);
		break;
	default:
		break;
	}
}

#define WANTED                                                                                     \
	(EVENT_BIT(EVENT_STRING) | EVENT_BIT(EVENT_AGENT) | EVENT_BIT(EVENT_QUEUE) |               \
	 EVENT_BIT(EVENT_KERNEL) | EVENT_BIT(EVENT_DISPATCH) | EVENT_BIT(EVENT_COPY))

static const struct sink sink = { .name = "roctracer", .event = on_event, .wants = WANTED };

static void attach(void)
{
	atomic_store_explicit(&is_attached, link_core()->bus_attach(&sink) == 0,
			      memory_order_relaxed);
}

bool hsa_ops_listen(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, attach);
	return atomic_load_explicit(&is_attached, memory_order_relaxed);
}

void hsa_ops_start(void)
{
	/* HIP is loaded before it initialises HSA. An event cannot look for it: the loader's lock
	 * may be held by a thread that waits for the event's. relaxed, both: before the program
	 * uses HSA */
	if (link_core()->hip_find("hipApiName"))
		atomic_store_explicit(&has_hip, true, memory_order_relaxed);
	atomic_store_explicit(&is_started, true, memory_order_relaxed);
}

bool hsa_ops_any(void)
{
	for (uint32_t op = 0; op < HSA_OP_ID_NUMBER; op++) {
		if (registry_get_pool(ACTIVITY_DOMAIN_HSA_OPS, op))
			return true;
	}
	return false;
}
