/* SPDX-License-Identifier: MIT */
/* dispatch.c - librocprofiler-sdk: kernel dispatches become callbacks and records
 *
 * The core tells of a dispatch while it submits the packet. Its begin is shown when the call that rang the doorbell is back from the core; that
 * of a dispatch that a thread of librtl's submits, on this library's thread.
 *
 * Owns:     each thread's dispatches that are to be shown.
 * Threads:  any.
 * Hot path: on_taken(), dispatch_over(), the functions in HSA's table: no lock.
 */
#include <stddef.h>

#include "operations.h"

typedef void (*store_fn)(hsa_signal_t signal, hsa_signal_value_t value);

static _Atomic bool is_on;
static _Atomic uint64_t last_id;
/* calls that may ring a doorbell */
static _Thread_local uint32_t depth;
static _Thread_local struct op *first, *last;

static void fill(struct op *op, const struct event_dispatch *d, const struct lane *l)
{
	rocprofiler_callback_tracing_kernel_dispatch_data_t *data = &op->payload.dispatch;
	rocprofiler_kernel_dispatch_info_t *info = &data->dispatch_info;

	data->size = sizeof(*data);
	info->size = offsetof(rocprofiler_kernel_dispatch_info_t, reserved_padding);
	info->agent_id = l->agent;
	info->queue_id = l->queue;
	info->kernel_id = d->kernel;
	info->dispatch_id = op->number;
	info->private_segment_size = d->private_size;
	info->group_segment_size = d->group_size;
	info->workgroup_size = (rocprofiler_dim3_t){ d->group[0], d->group[1], d->group[2] };
	info->grid_size = (rocprofiler_dim3_t){ d->grid[0], d->grid[1], d->grid[2] };
}

uint64_t dispatch_new_id(void)
{
	return atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
}

bool dispatch_is_shown(void)
{
	return atomic_load_explicit(&is_on, memory_order_relaxed);
}

static struct op *make(const struct event_dispatch *d, const struct lane *l)
{
	uint64_t begin = context_mask(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
				      ROCPROFILER_KERNEL_DISPATCH_ENQUEUE);
	uint64_t end = context_mask(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,
				    ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
	uint64_t records = context_buffered_mask(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
						 ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
	bool is_plain = !(begin | end) && !external_any();
	struct op *op = is_plain ? op_new_plain(records) : op_new(begin, end, records);

	if (!op)
		return NULL;
	op->in_flight.key = d->packet;
	op->number = count_id_of(d->queue, d->packet);
	if (!op->number)
		op->number = dispatch_new_id();
	op->kind = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH;
	op->begin_operation = ROCPROFILER_KERNEL_DISPATCH_ENQUEUE;
	op->end_operation = ROCPROFILER_KERNEL_DISPATCH_COMPLETE;
	op->request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH;
	op->tid = d->tid;
	op->correlation.internal = d->correlation & EVENT_ID;
	if (!is_plain)
		fill(op, d, l);
	return op;
}

/* Under the queue's turn. */
static void on_taken(const struct event_dispatch *d)
{
	struct lane *l = operations_lane(d->queue);
	struct op *op = l && !registration_is_over() && !op_is_in_callback() ? make(d, l) : NULL;
	bool is_plain;

	if (!op)
		return;
	operations_add();
	retire_hold(op->correlation.internal);
	atomic_store_explicit(&op->parts, op->is_plain ? OP_RETURNED | OP_BEGUN : OP_RETURNED,
			      memory_order_relaxed);
	/* before it is in flight: its begin is shown first, or its end waits */
	op->next = NULL;
	is_plain = op->is_plain;
	pending_put(&l->in_flight, &op->in_flight);
	if (is_plain)
		return;
	if (!depth) {
		operations_send(op);
	} else {
		if (first)
			last->next = op;
		else
			first = op;
		last = op;
	}
}

static struct op *take(struct lane *l, uint64_t packet)
{
	struct pending_item *item = pending_take(&l->in_flight, packet);

	return item ? (struct op *)(void *)((char *)item - offsetof(struct op, in_flight)) : NULL;
}

void dispatch_over(const struct event_dispatch *d)
{
	/* a copy's kernel, on a queue of the runtime's */
	struct lane *l = d->flags & REC_F_INTERNAL ? NULL : operations_lane(d->queue);
	struct op *op = l ? take(l, d->packet) : NULL;

	/* it was submitted before a context wanted it */
	if (!op)
		return;
	if (op->is_plain) {
		op_clear(op);
		fill(op, d, l);
	}
	op->begin_ns = d->begin_ns;
	op->end_ns = d->end_ns;
	operations_done(op, OP_OVER);
}

/* No lock is held: a tool may dispatch kernels itself. */
static RTL_NOINLINE void show_begins(void)
{
	struct op *op;

	while ((op = first) != NULL) {
		first = op->next;
		op_show_begin(op);
		operations_done(op, OP_BEGUN);
	}
}

/* ---- the functions that ring doorbells ------------------------------------------------------- */

static RTL_INLINE void store(store_fn next, hsa_signal_t signal, hsa_signal_value_t value)
{
	/* relaxed: dispatches that are submitted meanwhile are shown on the library's thread */
	if (RTL_LIKELY(!atomic_load_explicit(&is_on, memory_order_relaxed))) {
		next(signal, value);
		return;
	}
	depth++;
	next(signal, value);
	if (--depth == 0 && RTL_UNLIKELY(first != NULL))
		show_begins();
}

#define STORE(name)                                                                                \
	static store_fn next_##name;                                                               \
	static void signal_##name(hsa_signal_t signal, hsa_signal_value_t value)                   \
	{                                                                                          \
		store(next_##name, signal, value);                                                 \
	}
STORE(store_relaxed)
STORE(store_screlease)
STORE(silent_store_relaxed)
STORE(silent_store_screlease)
#undef STORE

static void replace(const struct hsa_mirror_root *root, enum hsa_core_id id, store_fn *next,
		    store_fn ours)
{
	void **slot = hsa_table_core_slot(root->core, id);

	if (!slot || !*slot)
		return;
	*next = (store_fn)*slot;
	*slot = (void *)ours;
}

void dispatch_install(const struct hsa_mirror_root *root)
{
#define STORE(name) replace(root, HSA_CORE_signal_##name, &next_##name, signal_##name)
	STORE(store_relaxed);
	STORE(store_screlease);
	STORE(silent_store_relaxed);
	STORE(silent_store_screlease);
#undef STORE
}

void dispatch_start(const struct rtl_core *core)
{
	bool was_on = false;

	if ((context_has(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) ||
	     buffered_has(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)) &&
	    atomic_compare_exchange_strong(&is_on, &was_on, true))
		core->submit_listen_taken(on_taken);
}
