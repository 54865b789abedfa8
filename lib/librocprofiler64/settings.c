/* SPDX-License-Identifier: MIT */
/* settings.c - the settings of the environment
 *
 *	ROCP_HSA_INTERCEPT	0: dispatches are not intercepted; 1: they are; 2: with records of
 *				their times
 *	ROCP_TOOL_LIB		tool.c
 *	ROCP_METRICS		dictionary.c
 *
 * Threads:  written by the one that starts the library or initialises HSA's runtime.
 */
#define LOG_TOPIC "rocprofiler"
#include <stdlib.h>

#include "base/log.h"
#include "v1.h"

rocprofiler_settings_t settings;
static bool is_intercepting;

void settings_read(void)
{
	const char *text = getenv("ROCP_HSA_INTERCEPT");
	long mode = text ? strtol(text, NULL, 10) : 0;

	if (mode < 0 || mode > 2)
		log_warn("ROCP_HSA_INTERCEPT=%s is not 0, 1 or 2: dispatches are not intercepted",
			 text);
	is_intercepting = mode == 1 || mode == 2;
	settings = (rocprofiler_settings_t){
		.intercept_mode = 1,
		.code_obj_tracking = 1,
		.trace_size = 0x2000000,
		.trace_local = 1,
		.timeout = UINT64_MAX,
		.timestamp_on = mode == 2,
	};
}

bool settings_intercepts(void)
{
	return is_intercepting;
}
