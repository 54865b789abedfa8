/* SPDX-License-Identifier: MIT */
/* ext_types.h - types of HSA's functions that some releases' headers lack, or have for C++ alone */
#ifndef ROCPROFILER_SDK_HSA_EXT_TYPES_H
#define ROCPROFILER_SDK_HSA_EXT_TYPES_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ext_image.h>
#include <stdint.h>

#ifdef __has_include
#if __has_include(<hsa/hsa_ext_finalize.h>)
#define ROCPROFILER_SDK_HAS_FINALIZE 1
#include <hsa/hsa_ext_finalize.h>
#endif
#if __has_include(<hsa/hsa_amd_tool.h>)
#define ROCPROFILER_SDK_HAS_TOOL_EVENTS 1
#include <hsa/hsa_amd_tool.h>
#endif
#endif

#ifndef ROCPROFILER_SDK_HAS_FINALIZE
#define ROCPROFILER_SDK_HAS_FINALIZE 0
typedef struct BrigModuleHeader *hsa_ext_module_t;
typedef struct hsa_ext_program_s {
	uint64_t handle;
} hsa_ext_program_t;
typedef int hsa_ext_program_info_t;
typedef struct hsa_ext_control_directives_s {
	uint64_t words[18];
} hsa_ext_control_directives_t;
typedef hsa_status_t (*hsa_ext_program_iterate_modules_cb_t)(hsa_ext_program_t program,
							     hsa_ext_module_t module, void *data);
#endif

#ifndef ROCPROFILER_SDK_HAS_TOOL_EVENTS
#define ROCPROFILER_SDK_HAS_TOOL_EVENTS 0
typedef int hsa_amd_tool_event_kind_t;
#endif

/* As in hsa_api_trace.h, which is C++ alone. */
typedef void (*hsa_amd_queue_intercept_packet_writer)(const void *pkts, uint64_t pkt_count);
typedef void (*hsa_amd_queue_intercept_handler)(const void *pkts, uint64_t pkt_count,
						uint64_t user_pkt_index, void *data,
						hsa_amd_queue_intercept_packet_writer writer);
typedef void (*hsa_amd_runtime_queue_notifier)(const hsa_queue_t *queue, hsa_agent_t agent,
					       void *data);

#endif
