/* SPDX-License-Identifier: MIT */
/* defines.h - what the other headers use
 *
 * The library exists with two binary interfaces. ROCPROFILER_SDK_ABI, defined before the first of
 * these headers, chooses:
 *	1	librocprofiler-sdk.so.1, of ROCm 7; what -lrocprofiler-sdk means
 *	0	librocprofiler-sdk.so.0, of ROCm 6: -l:librocprofiler-sdk.so.0
 */
#ifndef ROCPROFILER_SDK_DEFINES_H
#define ROCPROFILER_SDK_DEFINES_H

#ifndef ROCPROFILER_SDK_ABI
#define ROCPROFILER_SDK_ABI 1
#endif

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif

#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>

#define ROCPROFILER_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#define ROCPROFILER_PUBLIC_API ROCPROFILER_ATTRIBUTE(visibility("default"))
#define ROCPROFILER_HIDDEN_API ROCPROFILER_ATTRIBUTE(visibility("hidden"))
#define ROCPROFILER_API ROCPROFILER_PUBLIC_API
#define ROCPROFILER_NONNULL(...) ROCPROFILER_ATTRIBUTE(nonnull(__VA_ARGS__))

#ifdef __cplusplus
#define ROCPROFILER_EXTERN_C_INIT extern "C" {
#define ROCPROFILER_EXTERN_C_FINI }
#define ROCPROFILER_CXX_CODE(...) __VA_ARGS__
#define ROCPROFILER_HANDLE_LITERAL(type, value)                                                    \
	type                                                                                       \
	{                                                                                          \
		value                                                                              \
	}
#else
#define ROCPROFILER_EXTERN_C_INIT
#define ROCPROFILER_EXTERN_C_FINI
#define ROCPROFILER_CXX_CODE(...)
#define ROCPROFILER_HANDLE_LITERAL(type, value) ((type){ value })
#endif

#define ROCPROFILER_UINT64_C(value) UINT64_C(value)

#if ROCPROFILER_SDK_ABI == 0
#define ROCPROFILER_CONTEXT_NONE ROCPROFILER_HANDLE_LITERAL(rocprofiler_context_id_t, UINT64_MAX)
#else
#define ROCPROFILER_CONTEXT_NONE ROCPROFILER_HANDLE_LITERAL(rocprofiler_context_id_t, 0)
#define ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE UINT64_C(0)
#endif
#define ROCPROFILER_CORRELATION_ID_INTERNAL_NONE UINT64_C(0)
#define ROCPROFILER_CODE_OBJECT_ID_NONE UINT64_C(0)

#endif
