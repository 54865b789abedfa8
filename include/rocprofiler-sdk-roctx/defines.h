/* SPDX-License-Identifier: MIT */
/* defines.h - what the other headers use */
#ifndef ROCPROFILER_SDK_ROCTX_DEFINES_H
#define ROCPROFILER_SDK_ROCTX_DEFINES_H

#define ROCTX_ATTRIBUTE(...) __attribute__((__VA_ARGS__))
#define ROCTX_PUBLIC_API ROCTX_ATTRIBUTE(visibility("default"))
#define ROCTX_HIDDEN_API ROCTX_ATTRIBUTE(visibility("hidden"))
/* as roctracer/roctx.h has it, which may be included, too */
#ifndef ROCTX_API
#define ROCTX_API ROCTX_PUBLIC_API
#endif
#define ROCTX_NONNULL(...) ROCTX_ATTRIBUTE(nonnull(__VA_ARGS__))

#ifdef __cplusplus
#define ROCTX_EXTERN_C_INIT extern "C" {
#define ROCTX_EXTERN_C_FINI }
#define ROCTX_CXX_CODE(...) __VA_ARGS__
#else
#define ROCTX_EXTERN_C_INIT
#define ROCTX_EXTERN_C_FINI
#define ROCTX_CXX_CODE(...)
#endif

#endif
