/* SPDX-License-Identifier: MIT */
/* roctracer_hip.h - HIP's calls and operations in callbacks and records
 *
 * The installed HIP defines hip_api_data_t, the arguments of calls, and hip_api_id_t, their
 * numbers.
 */
#ifndef ROCTRACER_HIP_H_
#define ROCTRACER_HIP_H_

#include <hip/hip_runtime.h>

/* with HIP_PROF_HIP_API_STRING the next header prints structures */
#include "hip_ostream_ops.h"

#include <hip/amd_detail/hip_prof_str.h>

#include "roctracer.h"

#ifndef __cplusplus
typedef enum hip_api_id_t hip_api_id_t;
#endif
typedef enum hip_api_id_t roctracer_hip_api_cid_t;

/* A name of the specification: all calls, for functions that take an `op` of
 * ACTIVITY_DOMAIN_HIP_API. AMD's library refuses it. */
#define HIP_API_ID_ANY ROCTRACER_OP_ANY

/* The `op` of records of ACTIVITY_DOMAIN_HIP_OPS. Their `kind` is the exact operation, which
 * roctracer_op_string(record->domain, record->op, record->kind) names. */
typedef enum {
	HIP_OP_ID_DISPATCH = 0,
	HIP_OP_ID_COPY = 1,
	HIP_OP_ID_BARRIER = 2,
	HIP_OP_ID_NUMBER = 3
} hip_op_id_t;

#endif
