/* SPDX-License-Identifier: MIT */
/* operations.c - librocprofiler-sdk: agents and queues of GPU operations; the thread that shows
 * their ends
 *
 * Owns:     agents and queues by their numbers in the core's events; the thread, which lives as
 *           long as the process.
 * Threads:  any; operations_keep_agent() and operations_keep_queue() under the core's locks.
 * Hot path: operations_done(): no lock, no allocation.
 */
#include "operations.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "effects.h"
#include "retire.h"
#include "state.h"

#define MAX_AGENTS 256u
#define MAX_QUEUES 65536u

struct location {
	_Atomic uint64_t id; /* 0: none */
	_Atomic bool is_cpu;
};

static struct location locations[MAX_AGENTS];
static _Atomic(struct op_queue *) queues[MAX_QUEUES];
static _Atomic uint32_t nr_queues; /* 1 + the highest index */
static struct relay relay;	   /* of operations to be shown */
static _Atomic uint64_t nr_open;

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

struct op_queue *operations_queue(uint32_t queue)
{
	/* acquire: pairs with operations_keep_queue() */
	return queue < MAX_QUEUES ? atomic_load_explicit(&queues[queue], memory_order_acquire) :
				    NULL;
}

struct op_queue *operations_queue_of(uint64_t handle)
{
	/* acquire: pairs with operations_keep_queue() */
	for (uint32_t i = atomic_load_explicit(&nr_queues, memory_order_acquire); i-- > 0;) {
		struct op_queue *l = operations_queue(i);

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

void operations_cancel(struct op *op)
{
	retire_drop(op->correlation.internal);
	op_free(op);
	atomic_fetch_sub(&nr_open, 1);
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
	bool is_over = atomic_load(&state_end) > 0;

	op_thread_goes_on();
	if (!(parts & OP_BEGUN)) {
		if (!is_over && !op->is_entered)
			op_show_enter(op);
		if (!is_over)
			op_show_entered(op);
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

void operations_keep_agent(const struct event_agent *a)
{
	if (a->index >= MAX_AGENTS)
		return;
	atomic_store_explicit(&locations[a->index].is_cpu, a->agent_type == REC_AGENT_CPU,
			      memory_order_relaxed);
	atomic_store_explicit(&locations[a->index].id, SDK_FIRST_AGENT + a->node,
			      memory_order_relaxed);
}

void operations_keep_queue(const struct event_queue *q)
{
	struct op_queue *l = q->index < MAX_QUEUES ? alloc_zero(1, sizeof(*l)) : NULL;

	if (!l)
		return;
	l->agent = operations_agent(q->agent);
	l->queue.handle = (uint64_t)q->index + 1;
	l->handle = q->handle;
	/* release: pairs with operations_queue() */
	atomic_store_explicit(&queues[q->index], l, memory_order_release);
	/* events of queues come one at a time; release: the same */
	if (q->index >= atomic_load_explicit(&nr_queues, memory_order_relaxed))
		atomic_store_explicit(&nr_queues, q->index + 1, memory_order_release);
}

bool operations_start(void)
{
	if (!relay_start(&relay, deliver))
		return false;
	pthread_atfork(NULL, NULL, in_child);
	return true;
}

bool operations_is_thread(void)
{
	return relay_is_current(&relay);
}

uint64_t operations_nr_open(void)
{
	return atomic_load(&nr_open);
}

void operations_settle(uint64_t ns)
{
	relay_settle(&relay, ns);
}
