/* SPDX-License-Identifier: MIT */
/* client.h - rocprofiler_configure() of a tool that only has a name and an initialize function */
#ifndef TESTS_SDK_CLIENT_H
#define TESTS_SDK_CLIENT_H

#include <rocprofiler-sdk/registration.h>

/* Behind the definition of `initialize`. The tool's id is in `client`, NULL before it is
 * configured. */
#define SDK_CLIENT(tool_name)                                                                      \
	static rocprofiler_client_id_t *client;                                                    \
	ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *                               \
	rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,    \
			      rocprofiler_client_id_t *id)                                         \
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
