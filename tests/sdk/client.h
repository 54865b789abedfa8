/* SPDX-License-Identifier: MIT */
/* client.h - the configure function of a tool that only has a name and an initialize function */
#ifndef TESTS_SDK_CLIENT_H
#define TESTS_SDK_CLIENT_H

#include <rocprofiler-sdk/registration.h>

/* Behind the definition of `initialize`. The tool's id is in `client`, NULL before it is
 * configured. */
#define SDK_CLIENT(tool_name)                                                                      \
	SDK_CONFIGURE(ROCPROFILER_PUBLIC_API, rocprofiler_configure, tool_name)
/* The same for rocprofiler_force_configure(). */
#define SDK_FORCED_CLIENT(tool_name) SDK_CONFIGURE(static, configure, tool_name)
#define SDK_CONFIGURE(kind, function, tool_name)                                                   \
	static rocprofiler_client_id_t *client;                                                    \
	kind rocprofiler_tool_configure_result_t *function(uint32_t version,                       \
							   const char *runtime_version,            \
							   uint32_t priority,                      \
							   rocprofiler_client_id_t *id)            \
	{                                                                                          \
		static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize,  \
								      NULL, NULL };                \
                                                                                                   \
		(void)version;                                                                     \
		(void)runtime_version;                                                             \
		(void)priority;                                                                    \
		id->name = tool_name;                                                              \
		client = id;                                                                       \
		return &result;                                                                    \
	}

#endif
