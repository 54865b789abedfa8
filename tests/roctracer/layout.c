/* SPDX-License-Identifier: MIT */
/* layout.c - every value, size and offset of roctracer's headers, at compile time, in C and in C++
 *
 * The second half is the headers at work: the printers that C++ has.
 */
#include "roctracer/roctracer.h"
#include "roctracer/roctracer_ext.h"
#include "roctracer/roctracer_hcc.h"
#include "roctracer/roctracer_hip.h"
#include "roctracer/roctracer_hsa.h"

#include <stdio.h>

#include "hsa_layout.h"
#include "roctx_layout.h"

IS(ROCTRACER_VERSION_MAJOR, 4);
IS(ROCTRACER_VERSION_MINOR, 1);
#ifdef ROCTRACER_CALL
#error "clients define ROCTRACER_CALL"
#endif
#define ROCTRACER_CALL(call) (call)

IS(ROCTRACER_STATUS_SUCCESS, 0);
IS(ROCTRACER_STATUS_ERROR, -1);
IS(ROCTRACER_STATUS_ERROR_INVALID_DOMAIN_ID, -2);
IS(ROCTRACER_STATUS_ERROR_INVALID_ARGUMENT, -3);
IS(ROCTRACER_STATUS_ERROR_DEFAULT_POOL_UNDEFINED, -4);
IS(ROCTRACER_STATUS_ERROR_DEFAULT_POOL_ALREADY_DEFINED, -5);
IS(ROCTRACER_STATUS_ERROR_MEMORY_ALLOCATION, -6);
IS(ROCTRACER_STATUS_ERROR_MISMATCHED_EXTERNAL_CORRELATION_ID, -7);
IS(ROCTRACER_STATUS_ERROR_NOT_IMPLEMENTED, -8);
IS(ROCTRACER_STATUS_UNINIT, 2);
IS(ROCTRACER_STATUS_BREAK, 3);
IS(ROCTRACER_STATUS_BAD_DOMAIN, -2);
IS(ROCTRACER_STATUS_BAD_PARAMETER, -3);
IS(ROCTRACER_STATUS_HIP_API_ERR, 6);
IS(ROCTRACER_STATUS_HIP_OPS_ERR, 7);
IS(ROCTRACER_STATUS_HCC_OPS_ERR, 7);
IS(ROCTRACER_STATUS_HSA_ERR, 7);
IS(ROCTRACER_STATUS_ROCTX_ERR, 8);

IS(sizeof(roctracer_record_t), 64);
IS(sizeof(struct activity_record_t), 64); /* the specification's */
IS(sizeof(struct activity_record_s), 64); /* AMD's */
typedef struct activity_record_s activity_record_t;
IS(sizeof(roctracer_timestamp_t), 8);
IS(sizeof(roctracer_properties_t), 48);
AT(roctracer_properties_t, mode, 0);
AT(roctracer_properties_t, buffer_size, 8);
AT(roctracer_properties_t, alloc_fun, 16);
AT(roctracer_properties_t, alloc_arg, 24);
AT(roctracer_properties_t, buffer_callback_fun, 32);
AT(roctracer_properties_t, buffer_callback_arg, 40);
IS(sizeof(roctracer_ext_properties_t), 16);
AT(roctracer_ext_properties_t, start_cb, 0);
AT(roctracer_ext_properties_t, stop_cb, 8);

IS(HIP_OP_ID_DISPATCH, 0);
IS(HIP_OP_ID_COPY, 1);
IS(HIP_OP_ID_BARRIER, 2);
IS(HIP_OP_ID_NUMBER, 3);
IS(HIP_API_ID_NONE, 0);
IS(HIP_API_ID_ANY > HIP_API_ID_LAST, 1);
IS(HIP_API_ID_ANY, ROCTRACER_OP_ANY);
IS(HIP_API_ID_hipLaunchKernel, 107);
IS(HIP_API_ID_hipMalloc, 108);
IS(HIP_API_ID_hipMemcpy, 125);
IS(HIP_API_ID_hipFree, 69);
IS(sizeof(roctracer_hip_api_cid_t), 4);
AT(hip_api_data_t, correlation_id, 0);
AT(hip_api_data_t, phase, 8);
AT(hip_api_data_t, args, 16);
AT(hip_api_data_t, args.hipMemcpy.dst, 16);
AT(hip_api_data_t, args.hipMemcpy.src, 24);
AT(hip_api_data_t, args.hipMemcpy.sizeBytes, 32);
AT(hip_api_data_t, args.hipMemcpy.kind, 40);
AT(hip_api_data_t, args.hipMalloc.size, 32);
AT(hip_api_data_t, args.hipLaunchKernel.stream, 72);

IS(HSA_OP_ID_DISPATCH, 0);
IS(HSA_OP_ID_COPY, 1);
IS(HSA_OP_ID_BARRIER, 2);
IS(HSA_OP_ID_RESERVED1, 3);
IS(HSA_OP_ID_NUMBER, 4);
IS(HSA_EVT_ID_ALLOCATE, 0);
IS(HSA_EVT_ID_DEVICE, 1);
IS(HSA_EVT_ID_MEMCOPY, 2);
IS(HSA_EVT_ID_SUBMIT, 3);
IS(HSA_EVT_ID_KSYMBOL, 4);
IS(HSA_EVT_ID_CODEOBJ, 5);
IS(HSA_EVT_ID_NUMBER, 6);
IS(sizeof(hsa_ops_properties_t), 32);
IS(sizeof(hsa_evt_data_t), 72);
AT(hsa_evt_data_t, allocate.ptr, 0);
AT(hsa_evt_data_t, allocate.size, 8);
AT(hsa_evt_data_t, allocate.segment, 16);
AT(hsa_evt_data_t, allocate.global_flag, 20);
AT(hsa_evt_data_t, allocate.is_code, 24);
AT(hsa_evt_data_t, device.type, 0);
AT(hsa_evt_data_t, device.id, 4);
AT(hsa_evt_data_t, device.agent, 8);
AT(hsa_evt_data_t, device.ptr, 16);
AT(hsa_evt_data_t, memcopy.dst, 0);
AT(hsa_evt_data_t, memcopy.src, 8);
AT(hsa_evt_data_t, memcopy.size, 16);
AT(hsa_evt_data_t, submit.packet, 0);
AT(hsa_evt_data_t, submit.kernel_name, 8);
AT(hsa_evt_data_t, submit.queue, 16);
AT(hsa_evt_data_t, submit.device_type, 24);
AT(hsa_evt_data_t, submit.device_id, 28);
AT(hsa_evt_data_t, ksymbol.object, 0);
AT(hsa_evt_data_t, ksymbol.name, 8);
AT(hsa_evt_data_t, ksymbol.name_length, 16);
AT(hsa_evt_data_t, ksymbol.unload, 20);
AT(hsa_evt_data_t, codeobj.storage_type, 0);
AT(hsa_evt_data_t, codeobj.storage_file, 4);
AT(hsa_evt_data_t, codeobj.memory_base, 8);
AT(hsa_evt_data_t, codeobj.memory_size, 16);
AT(hsa_evt_data_t, codeobj.load_base, 24);
AT(hsa_evt_data_t, codeobj.load_size, 32);
AT(hsa_evt_data_t, codeobj.load_delta, 40);
AT(hsa_evt_data_t, codeobj.uri_length, 48);
AT(hsa_evt_data_t, codeobj.uri, 56);
AT(hsa_evt_data_t, codeobj.unload, 64);

#define DATA struct hsa_api_data_t
IS(sizeof(DATA), 120);
AT(DATA, correlation_id, 0);
AT(DATA, phase, 8);
AT(DATA, hsa_status_t_retval, 16);
AT(DATA, uint32_t_retval, 16);
AT(DATA, uint64_t_retval, 16);
AT(DATA, hsa_signal_value_t_retval, 16);
AT(DATA, args, 24);
AT(DATA, phase_data, 112);
/* what comes after the tables of 5.2.3 moves the numbers */
#define NUMBER(id, function) IS(HSA_API_ID_NUMBER == 187 ? (int)HSA_API_ID_##function : id, id);
#define ARGUMENT(function, member, offset, size)                                                   \
	AT(DATA, args.function.member, offset);                                                    \
	IS(sizeof(((DATA *)0)->args.function.member), size);
HSA_LAYOUT_NUMBERS(NUMBER)
HSA_LAYOUT_ARGUMENTS(ARGUMENT)

#ifdef __cplusplus
#include <iostream>

int main()
{
	hsa_api_data_t data = {};
	hipExtent extent = { 1, 2, 3 };
	dim3 grid(4, 5, 6);

	data.args.hsa_amd_memory_async_copy_rect.range__val = { 7, 8, 9 };
	data.args.hsa_amd_memory_async_copy_rect.num_dep_signals = 2;
	std::cout << hsa_api_data_pair_t(HSA_API_ID_hsa_amd_memory_async_copy_rect, data) << "\n";
	data.args.hsa_status_string.status = HSA_STATUS_ERROR;
	data.hsa_status_t_retval = HSA_STATUS_SUCCESS;
	std::cout << hsa_api_data_pair_t(HSA_API_ID_hsa_status_string, data) << "\n";
	std::cout << hsa_api_data_pair_t(HSA_API_ID_hsa_shut_down, data) << "\n";
	std::cout << hsa_api_data_pair_t(HSA_API_ID_NUMBER, data) << "\n" << extent << "\n";
	roctracer::hip_support::HIP_structs_regex = "hipExtent::depth";
	std::cout << extent << "\n";
	roctracer::hip_support::HIP_depth_max = 0;
	std::cout << extent << "\n" << grid.x << "\n";
	return ROCTRACER_CALL(0);
}
#else
int main(void)
{
	puts(hip_api_name(HIP_API_ID_hipMalloc));
	return ROCTRACER_CALL(0);
}
#endif
