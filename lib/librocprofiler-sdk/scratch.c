/* SPDX-License-Identifier: MIT */
/* scratch.c - librocprofiler-sdk: scratch memory that HSA's runtime allocates, frees and takes back
 * for queues
 *
 * Runtimes from ROCm 6.1 on call an entry of their table for tools when each of these begins and
 * when it ends, on the thread that does it. Those before have no such table, and show nothing.
 *
 * Owns:     what is in progress on each thread.
 * Threads:  any; the runtime's own.
 * Fails:    without memory it is not shown.
 */
#include "scratch.h"

#include "context.h"
#include "correlate.h"
#include "operations.h"
#include "state.h"

#include <unistd.h>

#define KIND ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY

/* The begin of each event as hsa_amd_tool.h has it, which ROCm 5 lacks; the others have a part of
 * this. */
struct event_head {
	int kind; /* hsa_amd_tool_event_kind_t */
	const hsa_queue_t *queue;
	int flags;
	uint64_t dispatch_id;
	size_t size, num_slots; /* of the end of an allocation */
};
/* the union of pointers to them, by value */
typedef hsa_status_t (*event_fn)(const struct event_head *event);

static event_fn next[HSA_TOOLS_NR];
static const struct rtl_core *core;
static _Thread_local struct op *current;

static void set_args(struct op *op, const struct event_head *e, bool is_end)
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

static void begin(const struct event_head *e, uint32_t operation)
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

static void end(const struct event_head *e, uint32_t operation)
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

static hsa_status_t call_next(enum hsa_tools_id id, const struct event_head *e)
{
	return next[id] ? next[id](e) : HSA_STATUS_SUCCESS;
}

/* The runtime's own entries are NULL; another tool's comes first at a begin and last at an end. */
#define EVENT(name, operation)                                                                     \
	static hsa_status_t name##_start(const struct event_head *e)                               \
	{                                                                                          \
		hsa_status_t status = call_next(HSA_TOOLS_scratch_event_##name##_start, e);        \
                                                                                                   \
		begin(e, operation);                                                               \
		return status;                                                                     \
	}                                                                                          \
	static hsa_status_t name##_end(const struct event_head *e)                                 \
	{                                                                                          \
		end(e, operation);                                                                 \
		return call_next(HSA_TOOLS_scratch_event_##name##_end, e);                         \
	}
EVENT(alloc, ROCPROFILER_SCRATCH_MEMORY_ALLOC)
EVENT(free, ROCPROFILER_SCRATCH_MEMORY_FREE)
EVENT(async_reclaim, ROCPROFILER_SCRATCH_MEMORY_ASYNC_RECLAIM)
#undef EVENT

bool scratch_is_wanted(void)
{
	return context_has(KIND) || context_has_records(ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY);
}

void scratch_install(const struct hsa_mirror_root *root)
{
	static const event_fn ours[HSA_TOOLS_NR] = {
		[HSA_TOOLS_scratch_event_alloc_start] = alloc_start,
		[HSA_TOOLS_scratch_event_alloc_end] = alloc_end,
		[HSA_TOOLS_scratch_event_free_start] = free_start,
		[HSA_TOOLS_scratch_event_free_end] = free_end,
		[HSA_TOOLS_scratch_event_async_reclaim_start] = async_reclaim_start,
		[HSA_TOOLS_scratch_event_async_reclaim_end] = async_reclaim_end,
	};

	core = state_core();
	if (!HSA_ROOT_HAS(root, tools) || !root->tools)
		return;
	for (uint32_t i = 0; i < HSA_TOOLS_NR; i++) {
		void **slot = hsa_table_tools_slot(root->tools, (enum hsa_tools_id)i);

		/* a runtime that comes up again may have kept its table */
		if (!slot || *slot == (void *)ours[i])
			continue;
		next[i] = (event_fn)*slot;
		*slot = (void *)ours[i];
	}
}
