/* SPDX-License-Identifier: MIT */
/* layout.c - the headers of rocprofiler-sdk have AMD's values, sizes and offsets: the compiler
 * finds what differs */
#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk/hipfile/api_id.h>
#include <rocprofiler-sdk/ompt/api_id.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocdecode/table_id.h>
#include <rocprofiler-sdk/rocjpeg/table_id.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <rocprofiler-sdk/rocshmem/api_id.h>

#include "sdk_layout_gen.h"

/* What no table has. */
SDK_ASSERT(sizeof(union rocprofiler_hip_api_args_t) == 88, "arguments of HIP's functions");
SDK_ASSERT(sizeof(union rocprofiler_hsa_api_args_t) == 192, "arguments of HSA's functions");
SDK_ASSERT(sizeof(union rocprofiler_marker_api_args_t) == 16, "arguments of roctx's functions");
SDK_ASSERT((int)ROCPROFILER_BUFFER_TRACING_HSA_FINALIZER_API ==
		   (int)ROCPROFILER_BUFFER_TRACING_HSA_FINALIZE_EXT_API,
	   "the name of the specification");

SDK_ASSERT(sizeof(roctxCoreApiTable_t) == 56, "roctx's table of marks and ranges");
SDK_ASSERT(sizeof(roctxControlApiTable_t) == 24, "roctx's table of pauses");
SDK_ASSERT(sizeof(roctxNameApiTable_t) == 40, "roctx's table of names");
SDK_ASSERT(offsetof(roctxCoreApiTable_t, roctxGetThreadId_fn) ==
		   8 + 8 * ROCPROFILER_MARKER_CORE_API_ID_roctxGetThreadId,
	   "the position of a function is its number");
SDK_ASSERT(offsetof(roctxNameApiTable_t, roctxNameHipStream_fn) ==
		   8 + 8 * ROCPROFILER_MARKER_NAME_API_ID_roctxNameHipStream,
	   "the position of a function is its number");

int main(void)
{
	rocprofiler_context_id_t none = ROCPROFILER_CONTEXT_NONE;

	return none.handle == (ROCPROFILER_SDK_ABI == 0 ? UINT64_MAX : 0) ? 0 : 1;
}
