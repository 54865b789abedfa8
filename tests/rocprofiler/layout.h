/* SPDX-License-Identifier: MIT */
/* layout.h - sizes, offsets and values of AMD's headers (5.2.3, 6.2), asserted at compile time, in
 * C and C++ */
#include "rocprofiler/activity.h"
#include "rocprofiler/rocprofiler.h"

#ifdef __cplusplus
#define ASSERT(condition) static_assert(condition, #condition)
#else
#define ASSERT(condition) _Static_assert(condition, #condition)
#endif
#define SIZE(type, size) ASSERT(sizeof(type) == (size))
#define AT(type, member, offset) ASSERT(offsetof(type, member) == (offset))

SIZE(rocprofiler_settings_t, 56);
AT(rocprofiler_settings_t, intercept_mode, 0);
AT(rocprofiler_settings_t, code_obj_tracking, 4);
AT(rocprofiler_settings_t, memcopy_tracking, 8);
AT(rocprofiler_settings_t, trace_size, 12);
AT(rocprofiler_settings_t, trace_local, 16);
AT(rocprofiler_settings_t, timeout, 24);
AT(rocprofiler_settings_t, timestamp_on, 32);
AT(rocprofiler_settings_t, hsa_intercepting, 36);
AT(rocprofiler_settings_t, k_concurrent, 40);
AT(rocprofiler_settings_t, opt_mode, 44);
AT(rocprofiler_settings_t, obj_dumping, 48);
SIZE(rocprofiler_data_t, 32);
AT(rocprofiler_data_t, kind, 0);
AT(rocprofiler_data_t, result_int32, 8);
AT(rocprofiler_data_t, result_int64, 8);
AT(rocprofiler_data_t, result_double, 8);
AT(rocprofiler_data_t, result_bytes.ptr, 8);
AT(rocprofiler_data_t, result_bytes.size, 16);
AT(rocprofiler_data_t, result_bytes.instance_count, 20);
AT(rocprofiler_data_t, result_bytes.instances, 20);
AT(rocprofiler_data_t, result_bytes.copy, 24);
SIZE(rocprofiler_feature_t, 72);
AT(rocprofiler_feature_t, kind, 0);
AT(rocprofiler_feature_t, type, 0);
AT(rocprofiler_feature_t, name, 8);
AT(rocprofiler_feature_t, counter.block, 8);
AT(rocprofiler_feature_t, counter.event, 16);
AT(rocprofiler_feature_t, parameters, 24);
AT(rocprofiler_feature_t, parameter_count, 32);
AT(rocprofiler_feature_t, data, 40);
SIZE(rocprofiler_group_t, 32);
AT(rocprofiler_group_t, index, 0);
AT(rocprofiler_group_t, features, 8);
AT(rocprofiler_group_t, feature_count, 16);
AT(rocprofiler_group_t, context, 24);
SIZE(rocprofiler_properties_t, 32);
AT(rocprofiler_properties_t, queue, 0);
AT(rocprofiler_properties_t, queue_depth, 8);
AT(rocprofiler_properties_t, handler, 16);
AT(rocprofiler_properties_t, handler_arg, 24);
SIZE(rocprofiler_dispatch_record_t, 32);
AT(rocprofiler_dispatch_record_t, complete, 24);
SIZE(rocprofiler_callback_data_t, 96);
AT(rocprofiler_callback_data_t, agent, 0);
AT(rocprofiler_callback_data_t, dispatch.agent, 0);
AT(rocprofiler_callback_data_t, agent_index, 8);
AT(rocprofiler_callback_data_t, queue, 16);
AT(rocprofiler_callback_data_t, queue_index, 24);
AT(rocprofiler_callback_data_t, queue_id, 32);
AT(rocprofiler_callback_data_t, completion_signal, 40);
AT(rocprofiler_callback_data_t, packet, 48);
AT(rocprofiler_callback_data_t, kernel_name, 56);
AT(rocprofiler_callback_data_t, kernel_object, 64);
AT(rocprofiler_callback_data_t, kernel_code, 72);
AT(rocprofiler_callback_data_t, thread_id, 80);
AT(rocprofiler_callback_data_t, record, 88);
SIZE(rocprofiler_queue_callbacks_t, 24);
AT(rocprofiler_queue_callbacks_t, create, 8);
AT(rocprofiler_queue_callbacks_t, destroy, 16);
SIZE(rocprofiler_info_query_t, 8);
SIZE(rocprofiler_info_data_t, 56);
AT(rocprofiler_info_data_t, agent_index, 0);
AT(rocprofiler_info_data_t, kind, 4);
AT(rocprofiler_info_data_t, metric.name, 8);
AT(rocprofiler_info_data_t, metric.instances, 16);
AT(rocprofiler_info_data_t, metric.expr, 24);
AT(rocprofiler_info_data_t, metric.description, 32);
AT(rocprofiler_info_data_t, metric.block_name, 40);
AT(rocprofiler_info_data_t, metric.block_counters, 48);
AT(rocprofiler_info_data_t, trace.parameter_count, 24);
AT(rocprofiler_info_data_t, trace_parameter.code, 8);
AT(rocprofiler_info_data_t, trace_parameter.trace_name, 16);
AT(rocprofiler_info_data_t, trace_parameter.description, 32);
SIZE(rocprofiler_pool_entry_t, 16);
SIZE(rocprofiler_pool_properties_t, 24);
AT(rocprofiler_pool_properties_t, payload_bytes, 4);
AT(rocprofiler_pool_properties_t, handler, 8);
SIZE(rocprofiler_hsa_callback_data_t, 72);
AT(rocprofiler_hsa_callback_data_t, allocate.segment, 16);
AT(rocprofiler_hsa_callback_data_t, allocate.is_code, 24);
AT(rocprofiler_hsa_callback_data_t, device.ptr, 16);
AT(rocprofiler_hsa_callback_data_t, memcopy.size, 16);
AT(rocprofiler_hsa_callback_data_t, submit.device_id, 28);
AT(rocprofiler_hsa_callback_data_t, ksymbol.unload, 20);
AT(rocprofiler_hsa_callback_data_t, codeobj.load_delta, 40);
AT(rocprofiler_hsa_callback_data_t, codeobj.uri, 56);
AT(rocprofiler_hsa_callback_data_t, codeobj.unload, 64);
SIZE(rocprofiler_hsa_callbacks_t, 48);
SIZE(hsa_evt_data_t, 72);
ASSERT(ROCPROFILER_FEATURE_KIND_TRACE == 1 && ROCPROFILER_FEATURE_KIND_SPM_MOD == 2 &&
       ROCPROFILER_FEATURE_KIND_PCSMP_MOD == 4);
ASSERT(ROCPROFILER_DATA_KIND_INT64 == 2 && ROCPROFILER_DATA_KIND_BYTES == 5);
ASSERT(ROCPROFILER_MODE_STANDALONE == 1 && ROCPROFILER_MODE_CREATEQUEUE == 2 &&
       ROCPROFILER_MODE_SINGLEGROUP == 4);
ASSERT(ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_RAW == 4 &&
       ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT == 5);
ASSERT(ROCPROFILER_HSA_CB_ID_CODEOBJ == 5 && HSA_EVT_ID_NUMBER == 6);
ASSERT(ROCPROFILER_VERSION_MAJOR == 8 && ROCPROFILER_VERSION_MINOR == 0);
