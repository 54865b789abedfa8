/* SPDX-License-Identifier: MIT */
/* activation.c - librocprofiler-sdk: contexts are made, started and stopped; their callback
 * services
 *
 * Threads:  any. Contexts and services are made within a tool's initialize function; they are
 *           started and stopped at any time.
 */
#include "activation.h"

#include "../face/fork_guard.h"
#include "calls.h"
#include "code_object.h"
#include "context.h"
#include "counting.h"
#include "dispatch.h"
#include "rccl.h"
#include "state.h"

GUARDED_LOCK(lock, LOCK_SDK_SERVICES);
EXPORT rocprofiler_status_t rocprofiler_create_context(rocprofiler_context_id_t *context_id)
{
	const struct context *c;

	if (!context_id)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
#if ROCPROFILER_SDK_ABI > 0
	if (context_id->handle != 0)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO;
#endif
	if (context_find(*context_id))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
	*context_id = ROCPROFILER_CONTEXT_NONE;
	if (state_phase() > -1 || state_current() < 0)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	c = context_make(state_current());
	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
	*context_id = c->id;
	return ROCPROFILER_STATUS_SUCCESS;
}

static void switch_context(struct context *c, bool on)
{
	context_switch(c, on);
	calls_update();
	dispatch_update();
}

/* What only a runtime shows whose tables librtl has. */
static bool needs_tables(uint32_t kind)
{
	switch (kind) {
	case ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT:
	case ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH:
	case ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY:
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY:
#if ROCPROFILER_SDK_ABI > 0
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION:
#endif
		return true;
	default:
		return false;
	}
}

static bool buffer_needs_tables(uint32_t kind)
{
	switch (kind) {
	case ROCPROFILER_BUFFER_TRACING_HSA_CORE_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_HSA_FINALIZE_EXT_API:
	case ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH:
	case ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY:
	case ROCPROFILER_BUFFER_TRACING_MEMORY_COPY:
#if ROCPROFILER_SDK_ABI > 0
	case ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION:
#endif
		return true;
	default:
		return false;
	}
}

/* Whether HSA's runtime was in use before this library came, and the context has only services that
 * need its tables. */
static bool sees_nothing(const struct context *c)
{
	uint32_t nr_blind = 0;

	if (!state_is_too_late())
		return false;
	for (uint32_t kind = 0; kind < SDK_NR_KINDS; kind++) {
		if (c->services[kind].fn && !needs_tables(kind))
			return false;
		nr_blind += c->services[kind].fn != NULL;
	}
	for (uint32_t kind = 0; kind < SDK_NR_BUFFER_KINDS; kind++) {
		if (atomic_load(&c->buffers[kind]) && !buffer_needs_tables(kind))
			return false;
		nr_blind += atomic_load(&c->buffers[kind]) != NULL;
	}
	return nr_blind || counting_has(c);
}

EXPORT rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context_id)
{
	struct context *c = context_find(context_id);
	rocprofiler_status_t status;

	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (state_finalized())
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (atomic_load(&c->is_active))
		return ROCPROFILER_STATUS_SUCCESS;
	if (sees_nothing(c))
		return ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED;
	status = counting_start(c);
	if (status != ROCPROFILER_STATUS_SUCCESS)
		return status;
	switch_context(c, true);
	code_object_show();
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t context_id)
{
	struct context *c = context_find(context_id);

	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (ROCPROFILER_SDK_ABI > 0 && atomic_load(&state_end) > 0)
		return ROCPROFILER_STATUS_SUCCESS;
	if (!atomic_load(&c->is_active))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	counting_stop(c);
	switch_context(c, false);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context_id,
							  int *status)
{
	struct context *c = context_find(context_id);

	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = c && atomic_load(&c->is_active);
	return c ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
}

EXPORT rocprofiler_status_t rocprofiler_context_is_valid(rocprofiler_context_id_t context_id,
							 int *status)
{
	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = context_find(context_id) != NULL;
	return *status ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
}

static void stop(struct context *c)
{
	counting_stop(c);
	context_switch(c, false);
}

void activation_stop_client(int client)
{
	context_each(client, stop);
	calls_update();
	dispatch_update();
}

/* Kinds of callbacks that there are. */
static bool is_served(rocprofiler_callback_tracing_kind_t kind)
{
	switch (kind) {
	case ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API:
	case ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API:
	case ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API:
	case ROCPROFILER_CALLBACK_TRACING_RCCL_API:
	case ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT:
	case ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH:
	case ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY:
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY:
#if ROCPROFILER_SDK_ABI > 0
	case ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION:
	case ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION:
	case ROCPROFILER_CALLBACK_TRACING_HIP_STREAM:
	case ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH:
	case ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API:
	case ROCPROFILER_CALLBACK_TRACING_OMPT:
	/* intercept.c warns if there are such calls */
	case ROCPROFILER_CALLBACK_TRACING_ROCDECODE_API:
	case ROCPROFILER_CALLBACK_TRACING_ROCJPEG_API:
	case ROCPROFILER_CALLBACK_TRACING_ROCSHMEM_API:
	case ROCPROFILER_CALLBACK_TRACING_HIPFILE_API:
#endif
		return true;
	default:
		return false;
	}
}

/* An operation that does not exist leaves the context as it was. */
RTL_REQUIRES(lock)
static rocprofiler_status_t configure(struct context *c, rocprofiler_callback_tracing_kind_t kind,
				      const rocprofiler_tracing_operation_t *operations, size_t nr,
				      const struct service *service)
{
	if (c->services[kind].fn)
		return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
	if (operations && !context_are_operations(operations, nr))
		return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
	c->services[kind] = *service;
	atomic_fetch_or(&context_kinds, UINT64_C(1) << kind);
	context_note_kind(kind, ROCPROFILER_BUFFER_TRACING_NONE);
	context_want(c, context_wanted[kind], operations, nr);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
	rocprofiler_context_id_t context_id, rocprofiler_callback_tracing_kind_t kind,
	const rocprofiler_tracing_operation_t *operations, size_t operations_count,
	rocprofiler_callback_tracing_cb_t callback, void *callback_args)
{
	const struct service service = { .fn = callback, .arg = callback_args };
	struct context *c = context_find(context_id);
	rocprofiler_status_t status;

	if (state_phase() > -1)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (kind > ROCPROFILER_CALLBACK_TRACING_NONE && kind < ROCPROFILER_CALLBACK_TRACING_LAST &&
	    !is_served(kind))
		return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (kind <= ROCPROFILER_CALLBACK_TRACING_NONE || kind >= ROCPROFILER_CALLBACK_TRACING_LAST)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (!callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	/* its numbers */
	if (kind == ROCPROFILER_CALLBACK_TRACING_RCCL_API)
		rccl_numbers();
	if (!context_take_slot(c))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
	lock_take(&lock);
	status = configure(c, kind, operations, operations_count, &service);
	lock_drop(&lock);
	return status;
}
