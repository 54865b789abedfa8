/* SPDX-License-Identifier: MIT */
/* basic.c - librocprofiler-sdk: versions, statuses, time
 *
 * Owns:     nothing.
 * Threads:  any.
 */
#include <stddef.h>
#include <unistd.h>

#include "base/proc.h"
#include "state.h"

struct status {
	const char *name, *text;
};

#define STATUS(name, text) [name] = { #name, text }
#define STATUS_ERROR(name, text) STATUS(ROCPROFILER_STATUS_ERROR_##name, text)

static const struct status statuses[ROCPROFILER_STATUS_LAST] = {
	STATUS(ROCPROFILER_STATUS_SUCCESS, "Success"),
	STATUS(ROCPROFILER_STATUS_ERROR, "General error"),
	STATUS_ERROR(CONTEXT_NOT_FOUND, "No context has this id, or it is not active"),
	STATUS_ERROR(BUFFER_NOT_FOUND, "No buffer has this id"),
	STATUS_ERROR(KIND_NOT_FOUND, "No kind has this number"),
	STATUS_ERROR(OPERATION_NOT_FOUND, "No operation of the kind has this number"),
	STATUS_ERROR(THREAD_NOT_FOUND, "No callback thread has this id"),
	STATUS_ERROR(AGENT_NOT_FOUND, "No agent has this id"),
	STATUS_ERROR(COUNTER_NOT_FOUND, "No counter has this id"),
	STATUS_ERROR(CONTEXT_ERROR, "The context could not be made"),
	STATUS_ERROR(CONTEXT_INVALID, "The id is that of a context that exists"),
	STATUS_ERROR(CONTEXT_NOT_STARTED, "The context could not be started"),
	STATUS_ERROR(CONTEXT_CONFLICT, "Another active context excludes this one"),
#if ROCPROFILER_SDK_ABI > 0
	STATUS_ERROR(CONTEXT_ID_NOT_ZERO, "The id of a context to be made must be 0"),
#endif
	STATUS_ERROR(BUFFER_BUSY, "The buffer is being flushed"),
	STATUS_ERROR(SERVICE_ALREADY_CONFIGURED, "The context has this service already"),
	STATUS_ERROR(CONFIGURATION_LOCKED, "Only possible while tools are initialised"),
	STATUS_ERROR(NOT_IMPLEMENTED, "Not implemented"),
	STATUS_ERROR(INCOMPATIBLE_ABI, "The caller's structure is larger than the library's"),
	STATUS_ERROR(INVALID_ARGUMENT, "Invalid argument"),
	STATUS_ERROR(METRIC_NOT_VALID_FOR_AGENT, "The agent does not have this counter"),
	STATUS_ERROR(FINALIZED, "Tools have been finalised"),
	STATUS_ERROR(HSA_NOT_LOADED, "HSA's runtime is not loaded"),
	STATUS_ERROR(DIM_NOT_FOUND, "The counter does not have this dimension"),
	STATUS_ERROR(PROFILE_COUNTER_NOT_FOUND, "The agent lacks a counter of the configuration"),
	STATUS_ERROR(AST_GENERATION_FAILED, "The counter's expression can't be evaluated"),
	STATUS_ERROR(AST_NOT_FOUND, "The counter has no expression"),
	STATUS_ERROR(AQL_NO_EVENT_COORD, "The counter's event has no coordinates"),
	STATUS_ERROR(INCOMPATIBLE_KERNEL, "The kernel can't be profiled this way"),
	STATUS_ERROR(OUT_OF_RESOURCES, "Out of resources"),
	STATUS_ERROR(PROFILE_NOT_FOUND, "No counter configuration has this id"),
	STATUS_ERROR(AGENT_DISPATCH_CONFLICT,
		     "Device counting excludes dispatch counting in a context"),
	STATUS(ROCPROFILER_STATUS_INTERNAL_NO_AGENT_CONTEXT, "No context counts on the agent"),
	STATUS_ERROR(SAMPLE_RATE_EXCEEDED, "Samples are taken too often"),
	STATUS_ERROR(NO_PROFILE_QUEUE, "The agent has no queue for counters"),
	STATUS_ERROR(NO_HARDWARE_COUNTERS, "The configuration has no hardware counters"),
	STATUS_ERROR(AGENT_MISMATCH, "The configuration is another agent's"),
	STATUS_ERROR(NOT_AVAILABLE, "The service is not available"),
	STATUS_ERROR(EXCEEDS_HW_LIMIT, "More counters than the hardware has"),
	STATUS_ERROR(AGENT_ARCH_NOT_SUPPORTED, "The agent's architecture is not supported"),
#if ROCPROFILER_SDK_ABI > 0
	STATUS_ERROR(PERMISSION_DENIED, "Permission denied"),
	STATUS_ERROR(INCOMPATIBLE_REGISTER_VERSION,
		     "The version of rocprofiler-register does not fit"),
#endif
};

EXPORT rocprofiler_status_t rocprofiler_get_version(uint32_t *major, uint32_t *minor,
						    uint32_t *patch)
{
	if (major)
		*major = ROCPROFILER_VERSION_MAJOR;
	if (minor)
		*minor = ROCPROFILER_VERSION_MINOR;
	if (patch)
		*patch = ROCPROFILER_VERSION_PATCH;
	return ROCPROFILER_STATUS_SUCCESS;
}

#if ROCPROFILER_SDK_ABI > 0
EXPORT rocprofiler_status_t rocprofiler_get_version_triplet(rocprofiler_version_triplet_t *info)
{
	if (!info)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	return rocprofiler_get_version(&info->major, &info->minor, &info->patch);
}
#endif

EXPORT const char *rocprofiler_get_status_name(rocprofiler_status_t status)
{
	return (uint32_t)status < ROCPROFILER_STATUS_LAST ? statuses[status].name : NULL;
}

EXPORT const char *rocprofiler_get_status_string(rocprofiler_status_t status)
{
	return (uint32_t)status < ROCPROFILER_STATUS_LAST ? statuses[status].text : NULL;
}

EXPORT rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t *ts)
{
	const struct rtl_core *core = state_core();

	if (!ts)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*ts = core ? core->now_ns() : 0;
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_get_thread_id(rocprofiler_thread_id_t *tid)
{
	if (!tid)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*tid = (rocprofiler_thread_id_t)gettid();
	return ROCPROFILER_STATUS_SUCCESS;
}
