/* SPDX-License-Identifier: MIT */
/* settings.c - the environment, the tool plug-in
 *
 *	ROCP_HSA_INTERCEPT	0: dispatches are not intercepted; 1: they are; 2: with records of their times
 *	ROCP_TOOL_LIB		a library with OnLoadTool() or OnLoadToolProp(), and OnUnloadTool()
 *	ROCP_METRICS		dictionary.c
 *
 * A plug-in that can't be used is left out with a message, and the program goes on.
 *
 * Threads:  the one that initialises HSA's runtime.
 */
#define LOG_TOPIC "rocprofiler"
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/log.h"
#include "hsa_calls.h"
#include "queues.h"

rocprofiler_settings_t settings;
static bool is_intercepting;
static void *tool;
static void (*unload_tool)(void);

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

void settings_load_tool(void)
{
	const char *name = getenv("ROCP_TOOL_LIB");
	void (*load)(void), (*load_with)(rocprofiler_settings_t *);

	if (!name || !*name || tool || getauxval(AT_SECURE))
		return;
	/* loads it: the user wants that */
	tool = dlopen(name, RTLD_NOW);
	if (!tool) {
		log_warn("ROCP_TOOL_LIB: %s", dlerror());
		return;
	}
	*(void **)&load = dlsym(tool, "OnLoadTool");
	*(void **)&load_with = dlsym(tool, "OnLoadToolProp");
	*(void **)&unload_tool = dlsym(tool, "OnUnloadTool");
	if (!unload_tool || (!load && !load_with)) {
		log_warn("ROCP_TOOL_LIB: %s has no %s", name,
			 unload_tool ? "OnLoadTool() or OnLoadToolProp()" : "OnUnloadTool()");
		unload_tool = NULL;
		dlclose(tool);
		tool = NULL;
		return;
	}
	if (load)
		load();
	else
		load_with(&settings);
	if (settings.k_concurrent) {
		settings.timestamp_on = 1;
		log_warn(
			"k_concurrent %u has no effect: counted kernels run one at a time, traced ones too",
			settings.k_concurrent);
	}
	if (settings.hsa_intercepting)
		hsa_calls_start();
	if (settings.memcopy_tracking)
		dispatch_log_copies();
}

/* The library stays: its handlers may still run. */
void settings_unload_tool(void)
{
	void (*unload)(void) = unload_tool;

	unload_tool = NULL;
	if (unload)
		unload();
}
