/* SPDX-License-Identifier: MIT */
/* activity.h - HSA's events as rocprofiler has them for roctracer's domain HSA_EVT */
#ifndef ROCPROFILER_ACTIVITY_H_
#define ROCPROFILER_ACTIVITY_H_

#include <stdint.h>
#ifndef ROCP_INTERNAL_BUILD
#include <rocprofiler/rocprofiler.h>
#endif

enum hsa_evt_id_t {
	HSA_EVT_ID_ALLOCATE = 0,
	HSA_EVT_ID_DEVICE = 1,
	HSA_EVT_ID_MEMCOPY = 2,
	HSA_EVT_ID_SUBMIT = 3,
	HSA_EVT_ID_KSYMBOL = 4,
	HSA_EVT_ID_CODEOBJ = 5,
	HSA_EVT_ID_NUMBER = 6
};
#ifndef __cplusplus
typedef enum hsa_evt_id_t hsa_evt_id_t;
#endif

typedef rocprofiler_hsa_callback_data_t hsa_evt_data_t;

#endif
