/* SPDX-License-Identifier: MIT */
/* kmt_types.h - the kernel driver's words that describe agents
 *
 * The driver library's own header where it is installed; else the words without the names of their
 * bits.
 */
#ifndef ROCPROFILER_SDK_HSA_KMT_TYPES_H
#define ROCPROFILER_SDK_HSA_KMT_TYPES_H

#include <stdint.h>

#ifdef __has_include
#if __has_include(<hsakmt/hsakmttypes.h>)
#define ROCPROFILER_SDK_HAS_KMT_TYPES 1
#include <hsakmt/hsakmttypes.h>
#elif __has_include(<hsakmttypes.h>)
#define ROCPROFILER_SDK_HAS_KMT_TYPES 1
#include <hsakmttypes.h>
#endif
#endif

#ifndef ROCPROFILER_SDK_HAS_KMT_TYPES
#define ROCPROFILER_SDK_HAS_KMT_TYPES 0
typedef union {
	uint32_t Value;
} HSA_CAPABILITY, HSA_ENGINE_ID, HSA_ENGINE_VERSION, HSA_MEMORYPROPERTY, HSA_LINKPROPERTY;
typedef union {
	uint32_t Value;
} HsaCacheType;
typedef uint32_t HSA_HEAPTYPE;
typedef uint32_t HSA_IOLINKTYPE;
#endif

#endif
