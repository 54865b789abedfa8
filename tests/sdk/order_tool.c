/* SPDX-License-Identifier: MIT */
/* order_tool.c - the tool of order_tool.h as a library */
#include "order_tool.h"

__attribute__((visibility("default"))) int work(void);

/* The tool comes now. */
int work(void)
{
	rocprofiler_status_t status = rocprofiler_force_configure(rocprofiler_configure);

	printf("force %s, start %s\n", rocprofiler_get_status_name(status),
	       rocprofiler_get_status_name(order_status));
	return status;
}
