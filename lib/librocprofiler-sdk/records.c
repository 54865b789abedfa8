/* SPDX-License-Identifier: MIT */
/* records.c - librocprofiler-sdk: operations that are over become records in buffers
 *
 * Owns:     nothing.
 * Threads:  any: the operation is the caller's.
 * Hot path: op_put_records(), records_put_dispatch(): as buffer_put().
 */
#include "../face/buffer.h"
#include "buffer.h"
#include "context.h"
#include "operations.h"

#define KIND(name) ROCPROFILER_BUFFER_TRACING_##name

static void put_dispatch(const struct op *op, unsigned int index)
{
	rocprofiler_buffer_tracing_kernel_dispatch_record_t r = {
		.size = sizeof(r),
		.kind = KIND(KERNEL_DISPATCH),
		.operation = ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
		.correlation_id.internal = op->correlation.internal,
		.correlation_id.external = op->of[index].external,
		.thread_id = op->tid,
		.start_timestamp = op->begin_ns,
		.end_timestamp = op->end_ns,
		.dispatch_info = op->payload.dispatch.dispatch_info,
	};

	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}

/* Each member: a structure of this size would be zeroed by a slow instruction. */
static RTL_INLINE void fill_dispatch(rocprofiler_buffer_tracing_kernel_dispatch_record_t *r,
				     const struct event_dispatch *d, const struct op_queue *l,
				     uint64_t number)
{
	r->size = sizeof(*r);
	r->kind = KIND(KERNEL_DISPATCH);
	r->operation = ROCPROFILER_KERNEL_DISPATCH_COMPLETE;
	r->correlation_id.internal = d->correlation & EVENT_ID;
	r->correlation_id.external.value = 0;
	r->thread_id = d->tid;
	r->start_timestamp = d->begin_ns;
	r->end_timestamp = d->end_ns;
	dispatch_info_fill(&r->dispatch_info, d, l, number);
}

/* What does not fit may have to be put aside: it is made outside of the buffer. */
static RTL_NOINLINE void put_dispatch_slowly(struct context *c, const struct event_dispatch *d,
					     const struct op_queue *l, uint64_t number)
{
	rocprofiler_buffer_tracing_kernel_dispatch_record_t r;

	fill_dispatch(&r, d, l, number);
	buffer_put(c, r.kind, &r, sizeof(r));
}

/* false: it does not fit. */
static RTL_INLINE bool put_dispatch_directly(struct buffer *b, const struct event_dispatch *d,
					     const struct op_queue *l, uint64_t number)
{
	rocprofiler_buffer_tracing_kernel_dispatch_record_t *r;
	rocprofiler_record_header_t *header;
	struct buffer_space space;

	if (RTL_UNLIKELY(!buffer_reserve(b, 1, sizeof(*r), &space)))
		return false;
	r = (void *)space.data;
	header = (void *)space.entries;
	header->category = ROCPROFILER_BUFFER_CATEGORY_TRACING;
	header->kind = KIND(KERNEL_DISPATCH);
	header->payload = r;
	fill_dispatch(r, d, l, number);
	buffer_commit(b, &space);
	return true;
}

void records_put_dispatch(uint64_t mask, const struct event_dispatch *d, const struct op_queue *l,
			  uint64_t number)
{
	for (; mask; mask &= mask - 1) {
		struct context *c = context_at((unsigned int)__builtin_ctzll(mask));
		struct buffer *b = buffer_of(c, KIND(KERNEL_DISPATCH));

		if (RTL_UNLIKELY(b && !put_dispatch_directly(b, d, l, number)))
			put_dispatch_slowly(c, d, l, number);
	}
}

static void put_copy(const struct op *op, unsigned int index)
{
	rocprofiler_buffer_tracing_memory_copy_record_t r = {
		.size = sizeof(r),
		.kind = KIND(MEMORY_COPY),
		.operation = (rocprofiler_memory_copy_operation_t)op->end_operation,
		.correlation_id.internal = op->correlation.internal,
		.correlation_id.external = op->of[index].external,
		.thread_id = op->tid,
		.start_timestamp = op->begin_ns,
		.end_timestamp = op->end_ns,
		.dst_agent_id = op->payload.copy.dst_agent_id,
		.src_agent_id = op->payload.copy.src_agent_id,
		.bytes = op->payload.copy.bytes,
#if ROCPROFILER_SDK_ABI > 0
		.dst_address = op->payload.copy.dst_address,
		.src_address = op->payload.copy.src_address,
#endif
	};

	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}

static void put_scratch(const struct op *op, unsigned int index)
{
	const rocprofiler_callback_tracing_scratch_memory_data_t *d = &op->payload.scratch;
	rocprofiler_buffer_tracing_scratch_memory_record_t r = {
		.size = sizeof(r),
		.kind = KIND(SCRATCH_MEMORY),
		.operation = (rocprofiler_scratch_memory_operation_t)op->end_operation,
		.agent_id = d->agent_id,
		.queue_id = d->queue_id,
		.thread_id = op->tid,
		.start_timestamp = op->begin_ns,
		.end_timestamp = op->end_ns,
		.correlation_id = op->correlation,
		.flags = d->flags,
	};

	r.correlation_id.external = op->of[index].external;
#if ROCPROFILER_SDK_ABI > 0
	if (op->end_operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC)
		r.allocation_size = d->args.alloc_end.size;
#endif
	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}

#if ROCPROFILER_SDK_ABI > 0
static void put_memory(const struct op *op, unsigned int index)
{
	rocprofiler_buffer_tracing_memory_allocation_record_t r = {
		.size = sizeof(r),
		.kind = KIND(MEMORY_ALLOCATION),
		.operation = (rocprofiler_memory_allocation_operation_t)op->end_operation,
		.correlation_id.internal = op->correlation.internal,
		.correlation_id.external = op->of[index].external,
		.thread_id = op->tid,
		.start_timestamp = op->payload.memory.start_timestamp,
		.end_timestamp = op->payload.memory.end_timestamp,
		.agent_id = op->payload.memory.agent_id,
		.address = op->payload.memory.address,
		.allocation_size = op->payload.memory.allocation_size,
	};

	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}

static void put_runtime(const struct op *op, unsigned int index)
{
	rocprofiler_buffer_tracing_runtime_initialization_record_t r = {
		.size = sizeof(r),
		.kind = KIND(RUNTIME_INITIALIZATION),
		.operation = (rocprofiler_runtime_initialization_operation_t)op->begin_operation,
		.correlation_id.external = op->of[index].external,
		.thread_id = op->tid,
		.timestamp = op->begin_ns,
		.version = op->payload.runtime.version,
		.instance = op->payload.runtime.instance,
	};

	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}

/* From the begin of its first kernel to the end of its last one; without kernels as the call. */
static void put_graph(const struct op *op, unsigned int index)
{
	const struct op_launch *l = &op->payload.launch;
	rocprofiler_buffer_tracing_hip_graph_record_t r = {
		.size = sizeof(r),
		.kind = KIND(HIP_GRAPH),
		.operation = op->end_operation,
		.correlation_id = op->correlation,
		.thread_id = op->tid,
		.start_timestamp = l->nr ? l->begin_ns : op->begin_ns,
		.end_timestamp = l->nr ? l->end_ns : op->end_ns,
		.agent_id = l->agent,
		.queue_id = l->queue,
		.graph_exec_id = l->data.graph_exec_id,
		.kernel_dispatch_count = l->nr,
	};

	r.correlation_id.external = op->of[index].external;
	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}

static void put_range(const struct op *op, unsigned int index)
{
	rocprofiler_buffer_tracing_marker_api_record_t r = {
		.size = sizeof(r),
		.kind = KIND(MARKER_CORE_RANGE_API),
		.operation = (rocprofiler_tracing_operation_t)op->begin_operation,
		.correlation_id = op->correlation,
		.start_timestamp = op->begin_ns,
		.end_timestamp = op->end_ns,
		.thread_id = op->tid,
	};

	r.correlation_id.external = op->of[index].external;
	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}

static uint64_t value_of(const ompt_data_t *data)
{
	return data ? data->value : 0;
}

/* What the record of a target region has more. */
static void describe_target(const rocprofiler_ompt_args_t *a,
			    rocprofiler_buffer_tracing_ompt_record_t *r)
{
	switch (r->operation) {
	case ROCPROFILER_OMPT_ID_target_emi:
		r->target.kind = (int32_t)a->target_emi.kind;
		r->target.device_num = a->target_emi.device_num;
		r->target.task_id = value_of(a->target_emi.task_data);
		r->target.target_id = value_of(a->target_emi.target_data);
		r->target.codeptr_ra = a->target_emi.codeptr_ra;
		break;
	case ROCPROFILER_OMPT_ID_target_data_op_emi:
		r->target_data_op.host_op_id = value_of(a->target_data_op_emi.host_op_id);
		r->target_data_op.optype = (int32_t)a->target_data_op_emi.optype;
		r->target_data_op.src_device_num = a->target_data_op_emi.src_device_num;
		r->target_data_op.dst_device_num = a->target_data_op_emi.dst_device_num;
		r->target_data_op.bytes = a->target_data_op_emi.bytes;
		r->target_data_op.codeptr_ra = a->target_data_op_emi.codeptr_ra;
		break;
	case ROCPROFILER_OMPT_ID_target_submit_emi:
		r->target_kernel.host_op_id = value_of(a->target_submit_emi.host_op_id);
		r->target_kernel.requested_num_teams = a->target_submit_emi.requested_num_teams;
		break;
	default:
		break;
	}
}

static void put_ompt(const struct op *op, unsigned int index)
{
	rocprofiler_buffer_tracing_ompt_record_t r = {
		.size = sizeof(r),
		.kind = KIND(OMPT),
		.operation = (rocprofiler_tracing_operation_t)op->end_operation,
		.correlation_id = op->correlation,
		.start_timestamp = op->begin_ns,
		.end_timestamp = op->end_ns,
		.thread_id = op->tid,
	};

	describe_target(&op->payload.ompt.args, &r);
	r.correlation_id.external = op->of[index].external;
	buffer_put(context_at(index), r.kind, &r, sizeof(r));
}
#endif

static void put(const struct op *op, unsigned int index)
{
	switch (op->kind) {
	case ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH:
		put_dispatch(op, index);
		break;
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY:
		put_copy(op, index);
		break;
	case ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY:
		put_scratch(op, index);
		break;
#if ROCPROFILER_SDK_ABI > 0
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION:
		put_memory(op, index);
		break;
	case ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION:
		put_runtime(op, index);
		break;
	case ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH:
		put_graph(op, index);
		break;
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API:
		put_range(op, index);
		break;
	case ROCPROFILER_CALLBACK_TRACING_OMPT:
		put_ompt(op, index);
		break;
#endif
	default:
		break;
	}
}

void op_put_records(const struct op *op)
{
	for (uint64_t rest = op->records & ~context_over(); rest; rest &= rest - 1)
		put(op, (unsigned int)__builtin_ctzll(rest));
}
