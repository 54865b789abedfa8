/* SPDX-License-Identifier: MIT */
/* counting.c - librocprofiler-sdk: the services that count, as contexts have them
 *
 * Threads:  any.
 */
#include "counting.h"

#include "count.h"

bool counting_is_configured(void)
{
	return count_dispatch_any() || count_device_any();
}

bool counting_has(const struct context *c)
{
	return count_dispatch_has(c);
}

rocprofiler_status_t counting_start(struct context *c)
{
	return count_dispatch_has(c) ? count_dispatch_start(c) : count_device_start(c);
}

void counting_stop(struct context *c)
{
	count_device_stop(c);
	if (count_dispatch_has(c))
		count_dispatch_stop(c);
}
