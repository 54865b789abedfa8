/* SPDX-License-Identifier: MIT */
/* version.h - the version of AMD's library whose interface this is: that of rocprofiler-sdk
 * (rocprofiler-sdk/version.h) */
#ifndef ROCPROFILER_SDK_ROCTX_VERSION_H
#define ROCPROFILER_SDK_ROCTX_VERSION_H

#ifndef ROCPROFILER_SDK_ABI
#define ROCPROFILER_SDK_ABI 1
#endif

/* where roctracer/roctx.h came first, they are that library's */
#ifndef ROCTX_VERSION_MAJOR
#if ROCPROFILER_SDK_ABI == 0
#define ROCTX_VERSION_MAJOR 0
#define ROCTX_VERSION_MINOR 5
#define ROCTX_VERSION_STRING "0.5.0"
#else
#define ROCTX_VERSION_MAJOR 1
#define ROCTX_VERSION_MINOR 0
#define ROCTX_VERSION_STRING "1.0.0"
#endif
#define ROCTX_VERSION_PATCH 0
#define ROCTX_VERSION                                                                              \
	(10000 * ROCTX_VERSION_MAJOR + 100 * ROCTX_VERSION_MINOR + ROCTX_VERSION_PATCH)
#define ROCTX_SOVERSION ROCTX_VERSION_MAJOR
#endif

#endif
