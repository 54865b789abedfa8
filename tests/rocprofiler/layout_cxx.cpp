/* SPDX-License-Identifier: MIT */
/* layout_cxx.cpp - the headers in C++: layouts, default arguments, the specification's
 * signatures */
#include "layout.h"

#include <cstdio>

static hsa_status_t never(const rocprofiler_info_data_t, void *)
{
	return HSA_STATUS_SUCCESS;
}

int main()
{
	rocprofiler_info_data_t query = {};
	hsa_agent_t nobody = { 1 };
	const char *text = nullptr;

	/* as the specification has it */
	if (rocprofiler_start(nullptr) != HSA_STATUS_ERROR_INVALID_ARGUMENT ||
	    !*rocprofiler_error_string())
		return 1;
	if (rocprofiler_query_info(&nobody, ROCPROFILER_INFO_KIND_METRIC, query, never, nullptr) ==
	    HSA_STATUS_SUCCESS)
		return 1;
	/* as AMD's header has it */
	if (rocprofiler_error_string(&text) != HSA_STATUS_SUCCESS ||
	    text != rocprofiler_last_error_string())
		return 1;
	std::puts("wrong 0");
	return 0;
}
