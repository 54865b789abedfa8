/* SPDX-License-Identifier: MIT */
/* op.c - librocprofiler-sdk: an operation: its memory, its callbacks, those in flight
 *
 * Owns:     operations that are not used, which are used again; each thread has some of them.
 * Threads:  any; an operation is in the hands of one thread at a time.
 * Hot path: all but the first uses of an operation: no lock, no allocation.
 * Fails:    without memory an operation is not shown; its records count as dropped.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/callout.h"
#include "buffer.h"
#include "context.h"
#include "external.h"
#include "operations.h"

static _Atomic(struct op *) unused;
static _Thread_local struct op *own;
static _Thread_local bool is_in_callback, has_to_go_on;
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void give_back(struct op *first, struct op *last)
{
	last->next = atomic_load_explicit(&unused, memory_order_relaxed);
	/* release: pairs with op_new() */
	while (!atomic_compare_exchange_weak_explicit(&unused, &last->next, first,
						      memory_order_release, memory_order_relaxed))
		;
}

static void on_thread_exit(void *unneeded)
{
	struct op *first = own, *last = own;

	(void)unneeded;
	own = NULL;
	while (last && last->next)
		last = last->next;
	if (last)
		give_back(first, last);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, on_thread_exit) == 0;
}

/* All unused ones become this thread's. */
static struct op *take_unused(void)
{
	/* acquire: pairs with give_back() */
	struct op *op = atomic_exchange_explicit(&unused, NULL, memory_order_acquire);

	pthread_once(&key_once, make_key);
	if (op && has_key)
		pthread_setspecific(key, &own);
	return op;
}

/* For contexts with numbers below `nr`. */
static struct op *get(uint32_t nr)
{
	struct op *op = own ? own : take_unused();

	if (op)
		own = op->next;
	if (RTL_UNLIKELY(op && op->nr < nr)) {
		alloc_free(op);
		op = NULL;
	}
	if (RTL_UNLIKELY(!op)) {
		op = alloc_heap(sizeof(*op) + nr * sizeof(op->of[0]));
		if (!op)
			return NULL;
		op->nr = nr;
	}
	return op;
}

/* All but its payload, and what tools have of their own. */
static struct op *op_get(uint64_t begin_mask, uint64_t end_mask, uint64_t records, uint64_t more,
			 uint32_t buffer_kind)
{
	uint64_t all = begin_mask | end_mask | records | more;
	struct op *op;

	if (!all)
		return NULL;
	op = get(64 - (uint32_t)__builtin_clzll(all));
	if (RTL_UNLIKELY(!op)) {
		buffer_lose_for(records, buffer_kind);
		return NULL;
	}
	op->begin_mask = begin_mask;
	op->end_mask = end_mask;
	op->records = records;
	op->all = all;
	atomic_store_explicit(&op->parts, 0, memory_order_relaxed);
	op->begin_ns = op->end_ns = 0;
	memset(&op->correlation, 0, sizeof(op->correlation));
	op->is_plain = op->is_entered = false;
	op->launch = NULL;
	return op;
}

struct op *op_new_plain(uint64_t records, const struct op *launch)
{
	struct op *op = op_get(0, 0, records, launch ? launch->records : 0,
			       ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);

	if (op)
		op->is_plain = true;
	return op;
}

void op_clear_ids(struct op *op)
{
	for (uint64_t rest = op->all; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		op->of[i].external.value = op->of[i].user.value = 0;
	}
}

struct op *op_new_unset(uint64_t begin_mask, uint64_t end_mask, uint64_t records,
			uint32_t buffer_kind)
{
	return op_get(begin_mask, end_mask, records, 0, buffer_kind);
}

struct op *op_new(uint64_t begin_mask, uint64_t end_mask, uint64_t records, uint32_t buffer_kind)
{
	struct op *op = op_new_unset(begin_mask, end_mask, records, buffer_kind);

	if (op)
		memset(&op->payload, 0, sizeof(op->payload));
	return op;
}

void op_free(struct op *op)
{
	give_back(op, op);
}

bool op_is_in_callback(void)
{
	return is_in_callback;
}

void op_thread_goes_on(void)
{
	has_to_go_on = true;
}

/* A tool's function, or several of one moment. */
struct calling {
	struct op *op;
	uint64_t mask; /* contexts */
	uint32_t operation;
	rocprofiler_callback_phase_t phase;
};

static void end_callback(void *unneeded)
{
	(void)unneeded;
	is_in_callback = false;
}

/* Those of the mask, by `fn`; a tool that does not return ends all of them, but on this library's
 * thread its own one alone. */
static void call_tools(callout_fn fn, struct calling *k)
{
	uint64_t mask = k->mask;

	is_in_callback = true;
	if (!has_to_go_on) {
		callout(fn, end_callback, k);
	} else {
		for (; mask; mask &= mask - 1) {
			k->mask = mask & -mask;
			callout_outlive(fn, k);
		}
	}
	is_in_callback = false;
}

static void call(struct op *op, unsigned int index, uint32_t operation,
		 rocprofiler_callback_phase_t phase)
{
	struct context *c = context_at(index);
	const struct service *service = &c->services[op->kind];
	rocprofiler_callback_tracing_record_t record = {
		.context_id = c->id,
		.thread_id = op->tid,
		.correlation_id = op->correlation,
		.kind = (rocprofiler_callback_tracing_kind_t)op->kind,
		.operation = (rocprofiler_tracing_operation_t)operation,
		.phase = phase,
		.payload = &op->payload,
	};

	record.correlation_id.external = op->of[index].external;
	service->fn(record, &op->of[index].user, service->arg);
}

static void show_each(void *arg)
{
	const struct calling *k = arg;

	for (uint64_t rest = k->mask; rest; rest &= rest - 1)
		call(k->op, (unsigned int)__builtin_ctzll(rest), k->operation, k->phase);
}

static void show(struct op *op, uint64_t mask, uint32_t operation,
		 rocprofiler_callback_phase_t phase)
{
	struct calling k = { op, mask & ~context_over(), operation, phase };
	int saved = errno;

	if (k.mask)
		call_tools(show_each, &k);
	errno = saved;
}

static void ask_each(void *arg)
{
	const struct calling *k = arg;
	struct op *op = k->op;

	for (uint64_t rest = k->mask; rest; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		op->of[i].external = external_of(context_at(i), op->tid, op->request,
						 op->begin_operation, op->correlation.internal);
	}
}

static void get_external(struct op *op)
{
	struct calling k = { .op = op, .mask = op->all };

	op_clear_ids(op);
	if (RTL_UNLIKELY(external_any()))
		call_tools(ask_each, &k);
}

void op_show_enter(struct op *op)
{
	get_external(op);
	show(op, op->begin_mask, op->begin_operation, ROCPROFILER_CALLBACK_PHASE_ENTER);
}

void op_show_entered(struct op *op)
{
	if (op->kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH)
		show(op, op->begin_mask, op->begin_operation, ROCPROFILER_CALLBACK_PHASE_EXIT);
}

void op_show_begin(struct op *op)
{
	op_show_enter(op);
	op_show_entered(op);
}

void op_show_now(struct op *op)
{
	get_external(op);
	show(op, op->begin_mask, op->begin_operation, ROCPROFILER_CALLBACK_PHASE_NONE);
	if (op->records)
		op_put_records(op);
}

/* Not earlier: its begin may still be shown when the operation is over. */
static void set_times(struct op *op)
{
	if (op->kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) {
		op->payload.dispatch.start_timestamp = op->begin_ns;
		op->payload.dispatch.end_timestamp = op->end_ns;
	} else if (op->kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY) {
		op->payload.copy.start_timestamp = op->begin_ns;
		op->payload.copy.end_timestamp = op->end_ns;
	}
}

void op_show_exit(struct op *op)
{
	set_times(op);
	show(op, op->end_mask, op->end_operation,
	     op->kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH ?
		     ROCPROFILER_CALLBACK_PHASE_NONE :
		     ROCPROFILER_CALLBACK_PHASE_EXIT);
}

void op_show_end(struct op *op)
{
	op_show_exit(op);
	if (op->records)
		op_put_records(op);
}
