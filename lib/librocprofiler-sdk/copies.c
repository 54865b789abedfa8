/* SPDX-License-Identifier: MIT */
/* copies.c - librocprofiler-sdk: memory copies become callbacks and records
 *
 * Owns:     nothing: an operation's address is in the core's events.
 * Threads:  any.
 * Hot path: copies_over(): no lock.
 */
#include "copies.h"

#include "base/callout.h"
#include "context.h"
#include "correlate.h"
#include "operations.h"
#include "retire.h"
#include "state.h"

static _Atomic int index_of = -1; /* of copy_listen() */

static uint32_t direction(const struct event_copy *c)
{
	static const uint8_t directions[] = {
		[REC_COPY_H2H] = ROCPROFILER_MEMORY_COPY_HOST_TO_HOST,
		[REC_COPY_H2D] = ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE,
		[REC_COPY_D2H] = ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST,
		[REC_COPY_D2D] = ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE,
		[REC_COPY_P2P] = ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE,
	};

	return c->kind < sizeof(directions) ? directions[c->kind] : ROCPROFILER_MEMORY_COPY_NONE;
}

/* Rectangles have one agent, the one that copies: the other side is the host's. */
static rocprofiler_agent_id_t side(uint32_t agent, bool is_host)
{
	uint32_t i = 0;

	if (!is_host || operations_is_cpu(agent))
		return operations_agent(agent);
	while (i < 64 && !operations_is_cpu(i))
		i++;
	return operations_agent(i);
}

static void fill(struct op *op, const struct event_copy *c)
{
	rocprofiler_callback_tracing_memory_copy_data_t *data = &op->payload.copy;

	data->size = sizeof(*data);
	data->dst_agent_id = side(c->dst_agent, c->kind == REC_COPY_H2H || c->kind == REC_COPY_D2H);
	data->src_agent_id = side(c->src_agent, c->kind == REC_COPY_H2H || c->kind == REC_COPY_H2D);
	data->bytes = c->bytes;
#if ROCPROFILER_SDK_ABI > 0
	data->dst_address.value = c->dst;
	data->src_address.value = c->src;
#endif
}

static struct op *make(const struct event_copy *c)
{
	uint32_t operation = direction(c);
	uint64_t mask = context_mask(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, operation);
	struct op *op =
		op_new(mask, mask,
		       context_buffered_mask(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, operation),
		       ROCPROFILER_BUFFER_TRACING_MEMORY_COPY);

	if (!op)
		return NULL;
	op->kind = ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY;
	op->begin_operation = op->end_operation = operation;
	op->request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY;
	op->tid = c->tid;
	op->correlation.internal = c->correlation & EVENT_ID;
#if ROCPROFILER_SDK_ABI > 0
	correlate_here(&op->correlation);
#endif
	fill(op, c);
	return op;
}

static void show_begin(void *op)
{
	op_show_begin(op);
}

/* A tool did not return: the copy is not made. */
static void cancel(void *op)
{
	operations_cancel(op);
}

static void on_copy(struct event_copy *c, enum copy_moment moment)
{
	/* relaxed: copies that begin meanwhile are not shown */
	int i = atomic_load_explicit(&index_of, memory_order_relaxed);
	struct op *op = i < 0 ? NULL : (struct op *)(uintptr_t)*copy_own(c, i);

	if (i < 0)
		return;
	if (moment == COPY_BEGINS) {
		op = state_is_over() || op_is_in_callback() ? NULL : make(c);
		if (!op)
			return;
		*copy_own(c, i) = (uintptr_t)op;
		operations_add();
		retire_hold(op->correlation.internal);
		callout(show_begin, cancel, op);
		operations_done(op, OP_BEGUN);
	} else if (op) {
		if (moment == COPY_IS_GONE)
			operations_done(op, OP_OVER);
		operations_done(op, OP_RETURNED);
	}
}

void copies_over(const struct event_copy *c)
{
	int i = atomic_load_explicit(&index_of, memory_order_relaxed);
	struct op *op = i < 0 ? NULL : (struct op *)(uintptr_t)(i ? c->own1 : c->own0);

	if (!op)
		return;
	op->begin_ns = c->begin_ns;
	op->end_ns = c->end_ns;
	operations_done(op, OP_OVER);
}

void copies_start(const struct rtl_core *core)
{
	static _Atomic bool is_on;

	if ((context_has(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY) ||
	     context_has_records(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY)) &&
	    !atomic_exchange(&is_on, true))
		atomic_store_explicit(&index_of, core->copy_listen(on_copy), memory_order_relaxed);
}
