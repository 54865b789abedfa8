/* SPDX-License-Identifier: MIT */
/* api_trace_version.h - the versions of HSA's tables, where HSA's headers have them for C */
#ifndef ROCPROFILER_SDK_HSA_API_TRACE_VERSION_H
#define ROCPROFILER_SDK_HSA_API_TRACE_VERSION_H

#include <rocprofiler-sdk/defines.h>

#ifdef __has_include
#if __has_include(<hsa/hsa_api_trace_version.h>)
#include <hsa/hsa_api_trace_version.h>
#endif
#endif

#endif
