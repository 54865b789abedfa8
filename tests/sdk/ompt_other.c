/* SPDX-License-Identifier: MIT */
/* ompt_other.c - a tool of OpenMP's behind librocprofiler-sdk */
#include <rocprofiler-sdk/ompt/omp-tools.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN ompt_start_tool_result_t ompt_other;

SHOWN ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version,
						const char *runtime_version)
{
	ompt_other.tool_data.value = omp_version;
	ompt_other.tool_data.value += (unsigned char)runtime_version[0];
	return &ompt_other;
}
