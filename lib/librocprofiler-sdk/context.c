/* SPDX-License-Identifier: MIT */
/* context.c - librocprofiler-sdk: contexts and their callback services
 *
 * Owns:     the contexts, which are never freed; the masks of those that want an operation, and of those that are active.
 * Threads:  any. Contexts and services are made within a tool's initialize function; they are started and stopped at any time.
 * Hot path: context_mask(), context_at(): no lock.
 */
#include "../face/fork_guard.h"
#include "sdk.h"

/* handles of contexts begin here; 0 is none */
#define FIRST_HANDLE UINT64_C(4096)

GUARDED_LOCK(lock, LOCK_SDK_CONTEXTS);
struct context context_all[SDK_MAX_CONTEXTS];
static _Atomic uint32_t nr_contexts;
_Atomic uint64_t context_kinds;
_Atomic bool context_effects;
_Atomic uint64_t context_wanted[SDK_NR_KINDS][SDK_MAX_OPERATIONS];
_Atomic uint64_t context_active;
_Atomic uint64_t context_ended; /* of clients that are finalised */

struct context *context_find(rocprofiler_context_id_t id)
{
	uint64_t index = id.handle - FIRST_HANDLE;

	/* acquire: pairs with create() */
	return index < atomic_load_explicit(&nr_contexts, memory_order_acquire) ?
		       &context_all[index] :
		       NULL;
}

static uint64_t bit_of(const struct context *c)
{
	return UINT64_C(1) << (c - context_all);
}

static rocprofiler_status_t create(rocprofiler_context_id_t *id)
{
	rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
	uint32_t nr;

	lock_take(&lock);
	nr = atomic_load(&nr_contexts);
	if (nr < SDK_MAX_CONTEXTS) {
		context_all[nr].id.handle = FIRST_HANDLE + nr;
		context_all[nr].client = registration_current();
		*id = context_all[nr].id;
		/* release: pairs with context_find() */
		atomic_store_explicit(&nr_contexts, nr + 1, memory_order_release);
		status = ROCPROFILER_STATUS_SUCCESS;
	}
	lock_drop(&lock);
	return status;
}

EXPORT rocprofiler_status_t rocprofiler_create_context(rocprofiler_context_id_t *context_id)
{
	if (!context_id)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
#if ROCPROFILER_SDK_ABI > 0
	if (context_id->handle != 0)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO;
#endif
	if (context_find(*context_id))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
	*context_id = ROCPROFILER_CONTEXT_NONE;
	if (registration_phase() > -1 || registration_current() < 0)
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	return create(context_id);
}

/* The bits of `mask` become active, or are no longer. */
static void switch_contexts(uint64_t mask, bool on)
{
	if (on)
		/* release: pairs with context_mask() */
		atomic_fetch_or_explicit(&context_active, mask, memory_order_release);
	else
		atomic_fetch_and_explicit(&context_active, ~mask, memory_order_relaxed);
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

/* Whether HSA's runtime was in use before this library came, and the context has only services that need its tables. */
static bool sees_nothing(const struct context *c)
{
	uint32_t nr_blind = 0;

	if (!registration_is_too_late())
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
	return nr_blind || count_has(c);
}

EXPORT rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context_id)
{
	struct context *c = context_find(context_id);
	rocprofiler_status_t status;

	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (registration_is_over())
		return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
	if (atomic_load(&context_active) & bit_of(c))
		return ROCPROFILER_STATUS_SUCCESS;
	if (sees_nothing(c))
		return ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED;
	status = count_start(c);
	if (status != ROCPROFILER_STATUS_SUCCESS)
		return status;
	switch_contexts(bit_of(c), true);
	code_object_show();
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t context_id)
{
	struct context *c = context_find(context_id);

	if (!c)
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	if (ROCPROFILER_SDK_ABI > 0 && atomic_load(&registration_end) > 0)
		return ROCPROFILER_STATUS_SUCCESS;
	if (!(atomic_load(&context_active) & bit_of(c)))
		return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
	count_stop(c);
	switch_contexts(bit_of(c), false);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_context_is_active(rocprofiler_context_id_t context_id,
							  int *status)
{
	const struct context *c = context_find(context_id);

	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = c && atomic_load(&context_active) & bit_of(c);
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

static uint64_t of_client(int client)
{
	uint32_t nr = atomic_load(&nr_contexts);
	uint64_t mask = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (context_all[i].client == client)
			mask |= bit_of(&context_all[i]);
	return mask;
}

void context_stop_client(int client)
{
	uint64_t mask = of_client(client);

	for (uint64_t rest = mask; rest; rest &= rest - 1)
		count_stop(&context_all[__builtin_ctzll(rest)]);
	switch_contexts(mask, false);
}

void context_end_client(int client)
{
	atomic_fetch_or(&context_ended, of_client(client));
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
#endif
		return true;
	default:
		return false;
	}
}

void context_note_kind(uint32_t callback_kind, uint32_t buffer_kind)
{
#if ROCPROFILER_SDK_ABI > 0
	if (callback_kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION ||
	    callback_kind == ROCPROFILER_CALLBACK_TRACING_HIP_STREAM ||
	    callback_kind == ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH ||
	    callback_kind == ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION ||
	    buffer_kind == ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION ||
	    buffer_kind == ROCPROFILER_BUFFER_TRACING_HIP_GRAPH ||
	    buffer_kind == ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION)
		atomic_store(&context_effects, true);
#endif
	(void)callback_kind;
	(void)buffer_kind;
}

bool context_are_operations(const rocprofiler_tracing_operation_t *operations, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if ((uint64_t)(int64_t)operations[i] >= SDK_MAX_OPERATIONS)
			return false;
	return true;
}

void context_want(const struct context *c, _Atomic uint64_t row[SDK_MAX_OPERATIONS],
		  const rocprofiler_tracing_operation_t *operations, size_t nr)
{
	uint64_t bit = bit_of(c);

	/* release: pairs with the masks' readers: the service */
	for (size_t i = 0; operations && i < nr; i++)
		atomic_fetch_or_explicit(&row[operations[i]], bit, memory_order_release);
	for (uint32_t i = 0; (!operations || !nr) && i < SDK_MAX_OPERATIONS; i++)
		atomic_fetch_or_explicit(&row[i], bit, memory_order_release);
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

	if (registration_phase() > -1)
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
	lock_take(&lock);
	status = configure(c, kind, operations, operations_count, &service);
	lock_drop(&lock);
	return status;
}
