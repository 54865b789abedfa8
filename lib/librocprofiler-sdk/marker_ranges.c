/* SPDX-License-Identifier: MIT */
/* marker_ranges.c - librocprofiler-sdk: ranges of roctx, each shown from its begin to its end
 * (MARKER_CORE_RANGE_API)
 *
 * A range of a thread begins with its push and ends with its pop, one of the process begins with
 * its start and ends with its stop, on any thread. Marks and questions for the thread's id are as
 * long as their calls. A range that is not closed has no end for the tools.
 *
 * Owns:     the ranges that are open; a thread's are lost with it.
 * Threads:  any.
 * Hot path: marker_ranges_begin(), marker_ranges_end(): no lock but for ranges of the process that
 * a context has seen begin.
 * Fails:    without memory a range is not shown.
 */
#include "marker_ranges.h"

#if ROCPROFILER_SDK_ABI > 0
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "context.h"
#include "operations.h"
#include "retire.h"
#include "state.h"

#define KIND ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API

GUARDED_LOCK(lock, LOCK_SDK_RANGES);
static struct op *started RTL_GUARDED_BY(lock); /* their keys are the ranges' ids */
static _Atomic uint32_t nr_started;
static _Thread_local struct op *begun;	/* the call is in progress, the newest first */
static _Thread_local struct op *pushed; /* the innermost first; their keys are levels */

/* -1: the call begins nothing. */
static int operation_of(enum range_call call)
{
	switch (call) {
	case RANGE_MARK:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxMarkA;
	case RANGE_PUSH:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxThreadRangeA;
	case RANGE_START:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxProcessRangeA;
	case RANGE_THREAD_ID:
		return ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId;
	default:
		return -1;
	}
}

static struct op *make(uint32_t operation)
{
	uint64_t mask = context_mask(KIND, operation);
	uint64_t records =
		context_buffered_mask(ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API, operation);
	struct op *op =
		op_new(mask, mask, records, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API);

	if (!op)
		return NULL;
	op->kind = KIND;
	op->begin_operation = op->end_operation = operation;
	op->request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_RANGE_API;
	op->tid = (uint64_t)gettid();
	op->correlation.internal = state_core()->corr_new_id();
	return op;
}

/* The program may free its text before the range ends. */
static void fill(struct op *op, const char *message, uint64_t number)
{
	rocprofiler_callback_tracing_marker_api_data_t *m = &op->payload.marker;

	m->size = sizeof(*m);
	if (op->begin_operation == ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId)
		m->args.roctxRangeStop.id = number;
	else
		m->args.roctxMarkA.message = message ? alloc_string(message) : NULL;
}

static void show_end(struct op *op)
{
	bool has_text = op->begin_operation !=
			ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId;

	if (!state_is_over()) {
		op->end_ns = state_core()->now_ns();
		op_show_end(op);
		retire_drop(op->correlation.internal);
	}
	if (has_text)
		alloc_free((void *)(uintptr_t)op->payload.marker.args.roctxMarkA.message);
	op_free(op);
}

static void begin(enum range_call call, uint32_t operation, const char *message, uint64_t number)
{
	struct op *op = make(operation);

	if (!op)
		return;
	fill(op, message, number);
	op->key = call == RANGE_START ? number : 0;
	retire_begin(op->correlation.internal);
	op_show_begin(op);
	/* not before: a tool that does not return leaves the program's call, too */
	op->next = begun;
	begun = op;
	op->begin_ns = state_core()->now_ns();
}

static void keep_started(struct op *op)
{
	lock_take(&lock);
	op->next = started;
	started = op;
	atomic_fetch_add_explicit(&nr_started, 1, memory_order_relaxed);
	lock_drop(&lock);
}

static void end_started(uint64_t id)
{
	struct op **link, *op;

	/* relaxed: who stops a range has seen its id */
	if (!atomic_load_explicit(&nr_started, memory_order_relaxed))
		return;
	lock_take(&lock);
	link = &started;
	while (*link && (*link)->key != id)
		link = &(*link)->next;
	op = *link;
	if (op) {
		*link = op->next;
		atomic_fetch_sub_explicit(&nr_started, 1, memory_order_relaxed);
	}
	lock_drop(&lock);
	if (op)
		show_end(op);
}

/* One that was pushed before a context wanted it is not there. */
static void end_pushed(uint64_t level)
{
	struct op *op = pushed;

	if (!op || op->key != level)
		return;
	pushed = op->next;
	show_end(op);
}

/* The call that has begun `op` returns. */
static void end_call(struct op *op, enum range_call call, uint64_t result)
{
	op->payload.marker.retval.roctx_range_id_t_retval = result;
	if (call == RANGE_START) {
		keep_started(op);
	} else if (call == RANGE_PUSH) {
		op->key = result;
		op->next = pushed;
		pushed = op;
	} else {
		show_end(op);
	}
}

void marker_ranges_begin(enum range_call call, const char *message, uint64_t number)
{
	int operation = operation_of(call);

	if (op_is_in_callback())
		return;
	if (call == RANGE_STOP)
		end_started(number);
	else if (operation >= 0)
		begin(call, (uint32_t)operation, message, number);
}

void marker_ranges_end(enum range_call call, uint64_t result)
{
	struct op *op = begun;

	if (op_is_in_callback())
		return;
	if (call == RANGE_POP) {
		end_pushed(result);
	} else if (op && operation_of(call) == (int)op->begin_operation) {
		begun = op->next;
		end_call(op, call, result);
	}
}
#else
void marker_ranges_begin(enum range_call call, const char *message, uint64_t number)
{
	(void)call;
	(void)message;
	(void)number;
}

void marker_ranges_end(enum range_call call, uint64_t result)
{
	(void)call;
	(void)result;
}
#endif
