/* SPDX-License-Identifier: MIT */
/* operations.c - librocprofiler-sdk: what the core tells of GPU operations; the thread that shows their ends
 *
 * Owns:     agents and queues by their numbers in the core's events; the thread, which lives as long as the process.
 * Threads:  any; on_event() under the core's locks.
 * Hot path: operations_done(), on_event() of an operation: no lock, no allocation.
 * Fails:    without the thread operations are not shown, with a message.
 */
#define LOG_TOPIC "sdk"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/sys.h"
#include "effects.h"

#define MAX_AGENTS 256u
#define MAX_QUEUES 65536u
/* how long the end of a tool waits for operations: in all, and while none ends */
#define SETTLE_MS 10000
#define SETTLE_IDLE_MS 1000
/* how long a flush waits for callbacks of operations */
#define FLUSH_NS UINT64_C(1000000000)

struct location {
	_Atomic uint64_t id; /* 0: none */
	_Atomic bool is_cpu;
};

static struct location locations[MAX_AGENTS];
static _Atomic(struct lane *) lanes[MAX_QUEUES];
static _Atomic uint32_t nr_lanes; /* 1 + the highest index */
static struct relay relay;	  /* of operations to be shown */
static _Atomic uint64_t nr_open;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool is_started;

rocprofiler_agent_id_t operations_agent(uint32_t index)
{
	rocprofiler_agent_id_t id = { 0 };

	if (index < MAX_AGENTS)
		id.handle = atomic_load_explicit(&locations[index].id, memory_order_relaxed);
	return id;
}

bool operations_is_cpu(uint32_t index)
{
	return index < MAX_AGENTS &&
	       atomic_load_explicit(&locations[index].is_cpu, memory_order_relaxed);
}

struct lane *operations_lane(uint32_t queue)
{
	/* acquire: pairs with keep_queue() */
	return queue < MAX_QUEUES ? atomic_load_explicit(&lanes[queue], memory_order_acquire) :
				    NULL;
}

struct lane *operations_lane_of(uint64_t handle)
{
	/* acquire: pairs with keep_queue() */
	for (uint32_t i = atomic_load_explicit(&nr_lanes, memory_order_acquire); i-- > 0;) {
		struct lane *l = operations_lane(i);

		if (l && l->handle == handle)
			return l;
	}
	return NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

void operations_add(void)
{
	atomic_fetch_add_explicit(&nr_open, 1, memory_order_relaxed);
}

void operations_send(struct op *op)
{
	relay_send(&relay, &op->sent);
}

void operations_done(struct op *op, enum op_part part)
{
	/* acq_rel: what the other parts have stored */
	uint32_t was = atomic_fetch_or_explicit(&op->parts, part, memory_order_acq_rel);

	if (!(was & part) && (was | part) == OP_ALL)
		operations_send(op);
}

static void deliver(struct relay_item *item)
{
	struct op *op = RTL_CONTAINER_OF(item, struct op, sent);
	/* acquire: pairs with operations_done() */
	uint32_t parts = atomic_load_explicit(&op->parts, memory_order_acquire);
	bool is_over = atomic_load(&registration_end) > 0;

	if (!(parts & OP_BEGUN)) {
		if (!is_over)
			op_show_begin(op);
		operations_done(op, OP_BEGUN);
		return;
	}
	if (!is_over)
		op_show_end(op);
	if (op->launch)
		effects_launch_drop(op->launch, op);
	retire_drop(op->correlation.internal);
	op_free(op);
	atomic_fetch_sub(&nr_open, 1);
}

/* The thread is not in the child, nor are the operations the child's. */
static void in_child(void)
{
	atomic_store(&nr_open, 0);
}

void operations_settle(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	uint64_t open, nr_ids, open_before = 0, ids_before = 0;
	bool is_direct;

	if (relay_is_current(&relay) || !sdk_core())
		return;
	for (int ms = 0, idle = 0; ms < SETTLE_MS && idle < SETTLE_IDLE_MS; ms++, idle++) {
		open = atomic_load(&nr_open);
		is_direct = dispatch_is_direct(&nr_ids);
		if (!open && !(is_direct && sdk_core()->harvest_is_any_in_flight()))
			return;
		if (open != open_before || nr_ids != ids_before)
			idle = 0;
		open_before = open;
		ids_before = nr_ids;
		sdk_core()->harvest_flush();
		sys_nap(&nap);
	}
}

void operations_flush(void)
{
	uint64_t nr_ids;

	if (relay_is_current(&relay) || !atomic_load(&is_started) ||
	    (!atomic_load(&nr_open) && !dispatch_is_direct(&nr_ids)))
		return;
	sdk_core()->harvest_flush();
	relay_settle(&relay, FLUSH_NS);
}

/* ---- the core's events ----------------------------------------------------------------------- */

static void keep_agent(const struct event_agent *a)
{
	if (a->index >= MAX_AGENTS)
		return;
	atomic_store_explicit(&locations[a->index].is_cpu, a->agent_type == REC_AGENT_CPU,
			      memory_order_relaxed);
	atomic_store_explicit(&locations[a->index].id, SDK_FIRST_AGENT + a->node,
			      memory_order_relaxed);
}

static void keep_queue(const struct event_queue *q)
{
	struct lane *l = q->index < MAX_QUEUES ? calloc(1, sizeof(*l)) : NULL;

	if (!l)
		return;
	l->agent = operations_agent(q->agent);
	l->queue.handle = (uint64_t)q->index + 1;
	l->handle = q->handle;
	/* release: pairs with operations_lane() */
	atomic_store_explicit(&lanes[q->index], l, memory_order_release);
	/* events of queues come one at a time; release: the same */
	if (q->index >= atomic_load_explicit(&nr_lanes, memory_order_relaxed))
		atomic_store_explicit(&nr_lanes, q->index + 1, memory_order_release);
}

static void on_event(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_DISPATCH:
		dispatch_over(&ev->dispatch);
		break;
	case EVENT_COPY:
		copies_over(&ev->copy);
		break;
	case EVENT_AGENT:
		keep_agent(&ev->agent);
		break;
	case EVENT_QUEUE:
		keep_queue(&ev->queue);
		break;
	default:
		break;
	}
}

#define WANTED                                                                                     \
	(EVENT_BIT(EVENT_AGENT) | EVENT_BIT(EVENT_QUEUE) | EVENT_BIT(EVENT_DISPATCH) |             \
	 EVENT_BIT(EVENT_COPY))

static const struct sink sink = { .name = "rocprofiler-sdk operations",
				  .event = on_event,
				  .wants = WANTED };

static void start_once(void)
{
	const struct rtl_core *core = sdk_core();

	if (!relay_start(&relay, deliver) || core->bus_attach(&sink) != 0) {
		log_warn("no thread, or too many sinks; tools get no callbacks of operations");
		return;
	}
	pthread_atfork(NULL, NULL, in_child);
	atomic_store(&is_started, true);
}

static bool is_any_wanted(void)
{
	return count_is_configured() || context_has(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY) ||
	       buffered_has(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) ||
	       buffered_has(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY) || effects_has_graphs() ||
	       scratch_is_wanted();
}

void operations_start(void)
{
	if (!sdk_core() || !is_any_wanted())
		return;
	pthread_once(&once, start_once);
	if (!atomic_load(&is_started))
		return;
	dispatch_start(sdk_core());
	copies_start(sdk_core());
}
