/* SPDX-License-Identifier: MIT */
/* scratch.c - librocprofiler-sdk: scratch memory that HSA's runtime allocates, frees and takes back
 * for queues; runtimes before ROCm 6.1 do not tell of it
 *
 * Owns:     what is in progress on each thread.
 * Threads:  any; the runtime's own.
 * Fails:    without memory it is not shown.
 */
#include "scratch.h"

#include "source/hsa/memory/scratch_hooks.h"

#include "context.h"
#include "correlate.h"
#include "operations.h"
#include "state.h"

#include <unistd.h>

#define KIND ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY

static const struct rtl_core *core;
static _Thread_local struct op *current;

static void set_args(struct op *op, const struct scratch_event *e, bool is_end)
{
	rocprofiler_callback_tracing_scratch_memory_data_t *d = &op->payload.scratch;

	d->flags = (rocprofiler_scratch_alloc_flag_t)e->flags;
	d->args_kind = (hsa_amd_tool_event_kind_t)e->kind;
	if (op->begin_operation != ROCPROFILER_SCRATCH_MEMORY_ALLOC)
		return;
	d->args.alloc_start.dispatch_id = e->dispatch_id;
	if (!is_end)
		return;
	d->args.alloc_end.size = e->size;
	d->args.alloc_end.num_slots = e->num_slots;
}

static void begin(const struct scratch_event *e, uint32_t operation)
{
	uint64_t mask = context_mask(KIND, operation);
	uint64_t records =
		context_buffered_mask(ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY, operation);
	struct op *op = state_is_over() ? NULL :
					  op_new(mask, mask, records,
						 ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY);
	const struct op_queue *l = op ? operations_queue_of((uintptr_t)e->queue) : NULL;

	if (!op)
		return;
	op->kind = KIND;
	op->begin_operation = op->end_operation = operation;
	op->request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_SCRATCH_MEMORY;
	op->tid = (uint64_t)gettid();
#if ROCPROFILER_SDK_ABI > 0
	correlate_here(&op->correlation);
#endif
	op->payload.scratch.size = sizeof(op->payload.scratch);
	if (l) {
		op->payload.scratch.agent_id = l->agent;
		op->payload.scratch.queue_id = l->queue;
	}
	set_args(op, e, false);
	op->next = current;
	current = op;
	op_show_begin(op);
	op->begin_ns = core->now_ns();
}

static void end(const struct scratch_event *e, uint32_t operation)
{
	struct op *op = current;

	if (!op || op->begin_operation != operation)
		return;
	current = op->next;
	set_args(op, e, true);
	op->end_ns = core->now_ns();
	if (!state_is_over())
		op_show_end(op);
	op_free(op);
}

SCRATCH_HOOKS(ROCPROFILER_SCRATCH_MEMORY_ALLOC, ROCPROFILER_SCRATCH_MEMORY_FREE,
	      ROCPROFILER_SCRATCH_MEMORY_ASYNC_RECLAIM)

bool scratch_is_wanted(void)
{
	return context_has(KIND) || context_has_records(ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY);
}

void scratch_install(const struct hsa_mirror_root *root)
{
	core = state_core();
	hook_tools(root);
}
