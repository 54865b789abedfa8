/* SPDX-License-Identifier: MIT */
/* roctx_layout.h - values and layouts of roctx and of what it shares with roctracer, as AMD's
 * are */
#ifndef RTL_TESTS_ROCTRACER_ROCTX_LAYOUT_H
#define RTL_TESTS_ROCTRACER_ROCTX_LAYOUT_H

#include <stddef.h>

#include "roctracer/ext/prof_protocol.h"
#include "roctracer/roctracer_roctx.h"

#ifdef __cplusplus
#define IS(what, value) static_assert((what) == (value), #what)
#else
#define IS(what, value) _Static_assert((what) == (value), #what)
#endif
#define AT(type, member, where) IS(offsetof(type, member), where)

IS(ACTIVITY_DOMAIN_HSA_API, 0);
IS(ACTIVITY_DOMAIN_HSA_OPS, 1);
IS(ACTIVITY_DOMAIN_HIP_OPS, 2);
IS((int)ACTIVITY_DOMAIN_HCC_OPS, 2);
IS((int)ACTIVITY_DOMAIN_HIP_VDI, 2);
IS(ACTIVITY_DOMAIN_HIP_API, 3);
IS(ACTIVITY_DOMAIN_KFD_API, 4);
IS(ACTIVITY_DOMAIN_EXT_API, 5);
IS(ACTIVITY_DOMAIN_ROCTX, 6);
IS(ACTIVITY_DOMAIN_HSA_EVT, 7);
IS(ACTIVITY_DOMAIN_NUMBER, 8);
IS(ACTIVITY_EXT_OP_MARK, 0);
IS(ACTIVITY_EXT_OP_EXTERN_ID, 1);
IS(ACTIVITY_API_PHASE_ENTER, 0);
IS(ACTIVITY_API_PHASE_EXIT, 1);
IS(sizeof(activity_kind_t), 4);
IS(sizeof(activity_op_t), 4);
IS(sizeof(activity_correlation_id_t), 8);

IS(sizeof(activity_record_t), 64);
IS(sizeof(struct activity_record_s), 64);
AT(activity_record_t, domain, 0);
AT(activity_record_t, kind, 4);
AT(activity_record_t, op, 8);
AT(activity_record_t, correlation_id, 16);
AT(activity_record_t, begin_ns, 24);
AT(activity_record_t, end_ns, 32);
AT(activity_record_t, pc_sample.se, 16);
AT(activity_record_t, pc_sample.cycle, 24);
AT(activity_record_t, pc_sample.pc, 32);
AT(activity_record_t, device_id, 40);
AT(activity_record_t, queue_id, 48);
AT(activity_record_t, process_id, 40);
AT(activity_record_t, thread_id, 44);
AT(activity_record_t, external_id, 40);
AT(activity_record_t, bytes, 56);
AT(activity_record_t, kernel_name, 56);
AT(activity_record_t, mark_message, 56);

IS(ROCTX_API_ID_roctxMarkA, 0);
IS(ROCTX_API_ID_roctxRangePushA, 1);
IS(ROCTX_API_ID_roctxRangePop, 2);
IS(ROCTX_API_ID_roctxRangeStartA, 3);
IS(ROCTX_API_ID_roctxRangeStop, 4);
IS(ROCTX_API_ID_NUMBER, 5);
IS(ROCTX_VERSION_MAJOR, 4);
IS(ROCTX_VERSION_MINOR, 1);
IS(sizeof(roctx_range_id_t), 8);
IS(sizeof(roctx_api_data_t), 16);
IS(sizeof(struct roctx_api_data_s), 16);
AT(roctx_api_data_t, args.message, 0);
AT(roctx_api_data_t, args.id, 8);
AT(roctx_api_data_t, args.roctxMarkA.message, 0);
AT(roctx_api_data_t, args.roctxRangePushA.message, 0);
AT(roctx_api_data_t, args.roctxRangePop.message, 0);
AT(roctx_api_data_t, args.roctxRangeStartA.message, 0);
AT(roctx_api_data_t, args.roctxRangeStartA.id, 8);
AT(roctx_api_data_t, args.roctxRangeStop.message, 0);
AT(roctx_api_data_t, args.roctxRangeStop.id, 8);
IS(sizeof(roctx_range_data_t), 16);
AT(roctx_range_data_t, message, 0);
AT(roctx_range_data_t, tid, 8);

#endif
