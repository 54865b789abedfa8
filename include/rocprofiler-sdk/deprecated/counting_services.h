/* SPDX-License-Identifier: MIT */
/* counting_services.h - names of ROCm 6.4 for the counting services of rocprofiler-sdk 1.0; the
 * types are in the headers of the services */
#ifndef ROCPROFILER_SDK_DEPRECATED_COUNTING_SERVICES_H
#define ROCPROFILER_SDK_DEPRECATED_COUNTING_SERVICES_H

#include <rocprofiler-sdk/counters.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>

#if ROCPROFILER_SDK_ABI > 0

typedef rocprofiler_counter_info_v0_t rocprofiler_counter_info_t;

static inline rocprofiler_status_t rocprofiler_configure_buffered_dispatch_counting_service(
	rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
	rocprofiler_dispatch_counting_service_callback_t callback, void *callback_data_args)
{
	return rocprofiler_configure_buffer_dispatch_counting_service(context_id, buffer_id,
								      callback, callback_data_args);
}

#endif
#endif
