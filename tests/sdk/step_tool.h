/* SPDX-License-Identifier: MIT */
/* step_tool.h - what steps.cpp calls of step_tool.c */
#ifndef TESTS_SDK_STEP_TOOL_H
#define TESTS_SDK_STEP_TOOL_H

#include <rocprofiler-sdk/defines.h>

/* Each returns a status. */
ROCPROFILER_PUBLIC_API int step_force(void);
ROCPROFILER_PUBLIC_API int step_start(void);
ROCPROFILER_PUBLIC_API int step_stop(void);
ROCPROFILER_PUBLIC_API void step_report(void);

#endif
