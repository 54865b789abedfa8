/* SPDX-License-Identifier: MIT */
/* buffered.c - librocprofiler-sdk: which contexts want records of what, and records of calls
 *
 * Threads:  any. Services are made within a tool's initialize function.
 * Hot path: buffered_put_call(): as buffer_put().
 */
#include "buffered.h"

#include <stddef.h>
#include <string.h>

#include "buffer.h"
#include "context.h"
#include "rccl.h"
#include "shown.h"
#include "state.h"

/* What a kind of records is answered with, if there are none; of the kernel driver's events as
 * AMD's library does where the driver does not tell of them. */
static rocprofiler_status_t status_of(rocprofiler_buffer_tracing_kind_t kind)
{
	switch (kind) {
	case ROCPROFILER_BUFFER_TRACING_HSA_CORE_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_FINALIZE_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API:
	case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API:
	case ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API:
	case ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API:
	case ROCPROFILER_BUFFER_TRACING_MARKER_NAME_API:
	case ROCPROFILER_BUFFER_TRACING_RCCL_API:
	case ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT:
	case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
	case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH:
	case ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY:
#if ROCPROFILER_SDK_ABI > 0
	case ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT:
	case ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT:
	case ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION:
	case ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION:
	case ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API:
	case ROCPROFILER_BUFFER_TRACING_HIP_GRAPH:
	case ROCPROFILER_BUFFER_TRACING_OMPT:
	/* there is no record of it, in no release of AMD's */
	case ROCPROFILER_BUFFER_TRACING_HIP_STREAM:
	/* intercept.c warns if there are such calls */
	case ROCPROFILER_BUFFER_TRACING_ROCDECODE_API:
	case ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT:
	case ROCPROFILER_BUFFER_TRACING_ROCJPEG_API:
	case ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API:
	case ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT:
	case ROCPROFILER_BUFFER_TRACING_HIPFILE_API:
	case ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT:
#endif
		return ROCPROFILER_STATUS_SUCCESS;
#if ROCPROFILER_SDK_ABI > 0
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_FAULT:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_QUEUE:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_UNMAP_FROM_GPU:
	case ROCPROFILER_BUFFER_TRACING_KFD_EVENT_DROPPED_EVENTS:
	case ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE:
	case ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT:
	case ROCPROFILER_BUFFER_TRACING_KFD_QUEUE:
#else
	case ROCPROFILER_BUFFER_TRACING_PAGE_MIGRATION:
#endif
		return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_KERNEL;
	default:
		return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	}
}

/* An operation that does not exist leaves the context as it was. */
static rocprofiler_status_t configure(struct context *c, rocprofiler_buffer_tracing_kind_t kind,
				      const rocprofiler_tracing_operation_t *operations, size_t nr,
				      struct sdk_buffer *buffer)
{
	struct sdk_buffer *none = NULL;

	if (atomic_load(&c->buffers[kind]))
		return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	if (operations && !context_are_operations(operations, nr))
		return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
	if (!atomic_compare_exchange_strong(&c->buffers[kind], &none, buffer))
		return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	atomic_fetch_or(&context_record_kinds, UINT64_C(1) << kind);
	context_note_kind(ROCPROFILER_CALLBACK_TRACING_NONE, kind);
	/* its numbers */
	if (kind == ROCPROFILER_BUFFER_TRACING_RCCL_API)
		rccl_numbers();
	context_want(c, context_records_wanted[kind], operations, nr);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_configure_buffer_tracing_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_tracing_kind_t kind,
	const rocprofiler_tracing_operation_t *operations, size_t operations_count,
	rocprofiler_buffer_id_t buffer_id)
{
	struct sdk_buffer *b = buffer_find(buffer_id);
	struct context *c = context_find(context_id);
	rocprofiler_status_t status;
	bool is_kind;

	if (state_phase() > -1)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	is_kind = kind > ROCPROFILER_BUFFER_TRACING_NONE && kind < ROCPROFILER_BUFFER_TRACING_LAST;
	status = is_kind ? status_of(kind) : ROCPROFILER_STATUS_SUCCESS;
	if (status != ROCPROFILER_STATUS_SUCCESS)
		return status;
	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (!b)
		return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
	if (!is_kind)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (!context_take_slot(c))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
	return configure(c, kind, operations, operations_count, b);
}

/* ---- calls ---- */

/* One type serves for records of HIP's, HSA's, roctx's and RCCL's calls. */
typedef rocprofiler_buffer_tracing_hip_api_record_t call_record_t;
_Static_assert(sizeof(call_record_t) == sizeof(rocprofiler_buffer_tracing_hsa_api_record_t), "");
_Static_assert(sizeof(call_record_t) == sizeof(rocprofiler_buffer_tracing_marker_api_record_t), "");
_Static_assert(sizeof(call_record_t) == sizeof(rocprofiler_buffer_tracing_rccl_api_record_t), "");
_Static_assert(offsetof(call_record_t, thread_id) ==
		       offsetof(rocprofiler_buffer_tracing_hsa_api_record_t, thread_id),
	       "");
_Static_assert(offsetof(call_record_t, thread_id) ==
		       offsetof(rocprofiler_buffer_tracing_marker_api_record_t, thread_id),
	       "");

static void put_plain(const struct shown_call *s, unsigned int index)
{
	call_record_t r = {
		.size = sizeof(r),
		.kind = (rocprofiler_buffer_tracing_kind_t)context_record_kind_of(s->kind),
		.operation = (rocprofiler_tracing_operation_t)s->operation,
		.correlation_id = s->correlation,
		.start_timestamp = s->begin_ns,
		.end_timestamp = s->end_ns,
		.thread_id = s->tid,
	};

	r.correlation_id.external = s->of[index].external;
	buffer_put(context_at(index), (uint32_t)r.kind, &r, sizeof(r));
}

#if ROCPROFILER_SDK_ABI > 0
static void put_with_arguments(const struct shown_call *s, unsigned int index)
{
	uint32_t kind = context_ext_of(s->kind);
	rocprofiler_buffer_tracing_hip_api_ext_record_t r = {
		.size = sizeof(r),
		.kind = (rocprofiler_buffer_tracing_kind_t)kind,
		.operation = (rocprofiler_tracing_operation_t)s->operation,
		.correlation_id = s->correlation,
		.start_timestamp = s->begin_ns,
		.end_timestamp = s->end_ns,
		.thread_id = s->tid,
		.args = s->payload.hip.args,
		.retval = s->payload.hip.retval,
	};

	r.correlation_id.external = s->of[index].external;
	buffer_put(context_at(index), kind, &r, sizeof(r));
}
#endif

void buffered_put_call(const struct shown_call *s)
{
	for (uint64_t rest = s->wish.recorded; rest; rest &= rest - 1)
		put_plain(s, (unsigned int)__builtin_ctzll(rest));
#if ROCPROFILER_SDK_ABI > 0
	for (uint64_t rest = s->wish.with_arguments; rest; rest &= rest - 1)
		put_with_arguments(s, (unsigned int)__builtin_ctzll(rest));
#endif
}
