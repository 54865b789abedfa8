/* SPDX-License-Identifier: MIT */
/* names.c - librocprofiler-sdk: kinds and operations by name
 *
 * Owns:     nothing; the tables are constant, but for which numbers RCCL's functions have (rccl.c).
 * Threads:  any.
 */
#include <stddef.h>
#include <string.h>

#include "rccl.h"

static const char *operation_name(const struct tables_kind *k, int64_t operation)
{
	if (operation < 0 || operation >= k->nr_ops)
		return NULL;
	return k->functions ? k->functions[operation].name : k->ops[operation];
}

static void give(const char *text, const char **name, uint64_t *length)
{
	if (name)
		*name = text;
	if (length)
		*length = text ? strlen(text) : 0;
}

typedef const struct tables_kind *(*kind_fn)(uint32_t kind);

static rocprofiler_status_t query_kind(const struct tables_kind *kinds, uint32_t nr, uint32_t kind,
				       const char **name, uint64_t *length)
{
	give(kind < nr ? kinds[kind].name : NULL, name, length);
	return kind < nr ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
}

static rocprofiler_status_t query_operation(kind_fn kind_of, uint32_t nr, uint32_t kind,
					    int64_t operation, const char **name, uint64_t *length)
{
	const char *text;

	if (kind >= nr)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	if (kind == 0)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	text = operation_name(kind_of(kind), operation);
	give(text, name, length);
	return text ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
}

EXPORT rocprofiler_status_t rocprofiler_query_callback_tracing_kind_name(
	rocprofiler_callback_tracing_kind_t kind, const char **name, uint64_t *name_len)
{
	return query_kind(tables_callback_kinds, SDK_NR_KINDS, kind, name, name_len);
}

EXPORT rocprofiler_status_t rocprofiler_query_callback_tracing_kind_operation_name(
	rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
	const char **name, uint64_t *name_len)
{
	return query_operation(rccl_callback_kind, SDK_NR_KINDS, kind, operation, name, name_len);
}

EXPORT rocprofiler_status_t rocprofiler_iterate_callback_tracing_kinds(
	rocprofiler_callback_tracing_kind_cb_t callback, void *data)
{
	if (!callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < SDK_NR_KINDS; i++)
		if (callback((rocprofiler_callback_tracing_kind_t)i, data))
			break;
	return ROCPROFILER_STATUS_SUCCESS;
}

/* Numbers of operations that may be iterated. */
static rocprofiler_status_t count(kind_fn kind_of, uint32_t nr, uint32_t kind, bool has_callback,
				  uint32_t *nr_ops)
{
	*nr_ops = 0;
	if (kind == 0 || kind == nr || !has_callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	if (kind > nr)
		return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
	*nr_ops = kind_of(kind)->nr_ops;
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operations(
	rocprofiler_callback_tracing_kind_t kind,
	rocprofiler_callback_tracing_kind_operation_cb_t callback, void *data)
{
	uint32_t nr;
	rocprofiler_status_t status =
		count(rccl_callback_kind, SDK_NR_KINDS, kind, callback != NULL, &nr);

	for (uint32_t i = 0; i < nr; i++)
		if (callback(kind, (rocprofiler_tracing_operation_t)i, data))
			break;
	return status;
}

#define NR_BUFFER_KINDS ((uint32_t)ROCPROFILER_BUFFER_TRACING_LAST)

EXPORT rocprofiler_status_t rocprofiler_query_buffer_tracing_kind_name(
	rocprofiler_buffer_tracing_kind_t kind, const char **name, uint64_t *name_len)
{
	return query_kind(tables_buffer_kinds, NR_BUFFER_KINDS, kind, name, name_len);
}

EXPORT rocprofiler_status_t rocprofiler_query_buffer_tracing_kind_operation_name(
	rocprofiler_buffer_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
	const char **name, uint64_t *name_len)
{
	return query_operation(rccl_buffer_kind, NR_BUFFER_KINDS, kind, operation, name, name_len);
}

EXPORT rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_kinds(rocprofiler_buffer_tracing_kind_cb_t callback, void *data)
{
	if (!callback)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < NR_BUFFER_KINDS; i++)
		if (callback((rocprofiler_buffer_tracing_kind_t)i, data))
			break;
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_iterate_buffer_tracing_kind_operations(
	rocprofiler_buffer_tracing_kind_t kind,
	rocprofiler_buffer_tracing_kind_operation_cb_t callback, void *data)
{
	uint32_t nr;
	rocprofiler_status_t status =
		count(rccl_buffer_kind, NR_BUFFER_KINDS, kind, callback != NULL, &nr);

	for (uint32_t i = 0; i < nr; i++)
		if (callback(kind, (rocprofiler_tracing_operation_t)i, data))
			break;
	return status;
}

#if ROCPROFILER_SDK_ABI > 0
#define REQUEST(name) [ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_##name] = #name
static const char *const requests[ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST] = {
	REQUEST(NONE),
	REQUEST(HSA_CORE_API),
	REQUEST(HSA_AMD_EXT_API),
	REQUEST(HSA_IMAGE_EXT_API),
	REQUEST(HSA_FINALIZE_EXT_API),
	REQUEST(HIP_RUNTIME_API),
	REQUEST(HIP_COMPILER_API),
	REQUEST(MARKER_CORE_API),
	REQUEST(MARKER_CONTROL_API),
	REQUEST(MARKER_NAME_API),
	REQUEST(MEMORY_COPY),
	REQUEST(KERNEL_DISPATCH),
	REQUEST(SCRATCH_MEMORY),
	REQUEST(RCCL_API),
	REQUEST(OMPT),
	REQUEST(MEMORY_ALLOCATION),
	REQUEST(ROCDECODE_API),
	REQUEST(ROCJPEG_API),
	REQUEST(MARKER_CORE_RANGE_API),
	REQUEST(ROCSHMEM_API),
	REQUEST(HIPFILE_API),
};

EXPORT rocprofiler_status_t rocprofiler_query_external_correlation_id_request_kind_name(
	rocprofiler_external_correlation_id_request_kind_t kind, const char **name,
	uint64_t *name_len)
{
	bool is_known = (uint32_t)kind < ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST;

	give(is_known ? requests[kind] : NULL, name, name_len);
	return is_known ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
}

#define TABLE(name)                                                                                \
	{                                                                                          \
		ROCPROFILER_##name, #name                                                          \
	}
static const struct {
	rocprofiler_intercept_table_t table;
	const char *name;
} intercept_names[] = {
	TABLE(HSA_TABLE),	  TABLE(HIP_RUNTIME_TABLE),    TABLE(HIP_COMPILER_TABLE),
	TABLE(MARKER_CORE_TABLE), TABLE(MARKER_CONTROL_TABLE), TABLE(MARKER_NAME_TABLE),
	TABLE(RCCL_TABLE),	  TABLE(ROCDECODE_TABLE),      TABLE(ROCJPEG_TABLE),
	TABLE(ROCSHMEM_TABLE),	  TABLE(HIPFILE_TABLE),
};

EXPORT rocprofiler_status_t rocprofiler_query_intercept_table_name(
	rocprofiler_intercept_table_t kind, const char **name, uint64_t *name_len)
{
	const char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(intercept_names); i++)
		if (intercept_names[i].table == kind)
			text = intercept_names[i].name;
	give(text, name, name_len);
	return text ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
}

/* Tools list these names before they ask whether there is PC sampling. */
#define NAMED(enumerator)                                                                          \
	[ROCPROFILER_PC_SAMPLING_INSTRUCTION_##enumerator] =                                       \
		"ROCPROFILER_PC_SAMPLING_INSTRUCTION_" #enumerator
static const char *const instruction_types[] = {
	NAMED(TYPE_NONE),	  NAMED(TYPE_VALU),	 NAMED(TYPE_MATRIX),
	NAMED(TYPE_SCALAR),	  NAMED(TYPE_TEX),	 NAMED(TYPE_LDS),
	NAMED(TYPE_LDS_DIRECT),	  NAMED(TYPE_FLAT),	 NAMED(TYPE_EXPORT),
	NAMED(TYPE_MESSAGE),	  NAMED(TYPE_BARRIER),	 NAMED(TYPE_BRANCH_NOT_TAKEN),
	NAMED(TYPE_BRANCH_TAKEN), NAMED(TYPE_JUMP),	 NAMED(TYPE_OTHER),
	NAMED(TYPE_NO_INST),	  NAMED(TYPE_DUAL_VALU),
};
static const char *const reasons[] = {
	NAMED(NOT_ISSUED_REASON_NONE),
	NAMED(NOT_ISSUED_REASON_NO_INSTRUCTION_AVAILABLE),
	NAMED(NOT_ISSUED_REASON_ALU_DEPENDENCY),
	NAMED(NOT_ISSUED_REASON_WAITCNT),
	NAMED(NOT_ISSUED_REASON_INTERNAL_INSTRUCTION),
	NAMED(NOT_ISSUED_REASON_BARRIER_WAIT),
	NAMED(NOT_ISSUED_REASON_ARBITER_NOT_WIN),
	NAMED(NOT_ISSUED_REASON_ARBITER_WIN_EX_STALL),
	NAMED(NOT_ISSUED_REASON_OTHER_WAIT),
	NAMED(NOT_ISSUED_REASON_SLEEP_WAIT),
};

EXPORT const char *rocprofiler_get_pc_sampling_instruction_type_name(
	rocprofiler_pc_sampling_instruction_type_t instruction_type)
{
	return (uint32_t)instruction_type < ARRAY_SIZE(instruction_types) ?
		       instruction_types[instruction_type] :
		       NULL;
}

EXPORT const char *rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
	rocprofiler_pc_sampling_instruction_not_issued_reason_t not_issued_reason)
{
	return (uint32_t)not_issued_reason < ARRAY_SIZE(reasons) ? reasons[not_issued_reason] :
								   NULL;
}
#endif
