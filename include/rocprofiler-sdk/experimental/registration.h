/* SPDX-License-Identifier: MIT */
/* registration.h - tools that are attached to a running process. ABI 1 only.
 *
 * A tool may define rocprofiler_configure_attach(), which AMD's library calls from 1.1 on. This one
 * attaches no tools, and never calls it.
 */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_REGISTRATION_H
#define ROCPROFILER_SDK_EXPERIMENTAL_REGISTRATION_H

#include <rocprofiler-sdk/registration.h>

#if ROCPROFILER_SDK_ABI > 0
ROCPROFILER_EXTERN_C_INIT

typedef void (*rocprofiler_client_detach_t)(rocprofiler_client_id_t client_id);
typedef int (*rocprofiler_tool_attach_t)(rocprofiler_client_detach_t detach_func,
					 rocprofiler_context_id_t *context_ids,
					 uint64_t context_ids_length, void *tool_data);
typedef void (*rocprofiler_tool_detach_t)(void *tool_data);

typedef struct rocprofiler_tool_configure_attach_result_t {
	size_t size;
	rocprofiler_tool_attach_t tool_attach;
	rocprofiler_tool_detach_t tool_detach;
	void *tool_data;
} rocprofiler_tool_configure_attach_result_t;

typedef rocprofiler_tool_configure_attach_result_t *(*rocprofiler_configure_attach_func_t)(
	uint32_t version, const char *runtime_version, uint32_t priority,
	rocprofiler_client_id_t *client_id);

/* The tool's. */
rocprofiler_tool_configure_attach_result_t *
rocprofiler_configure_attach(uint32_t version, const char *runtime_version, uint32_t priority,
			     rocprofiler_client_id_t *client_id) ROCPROFILER_PUBLIC_API;

ROCPROFILER_EXTERN_C_FINI
#endif

#endif
