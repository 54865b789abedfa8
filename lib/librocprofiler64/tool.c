/* SPDX-License-Identifier: MIT */
/* tool.c - the plug-in that ROCP_TOOL_LIB names: a library with OnLoadTool() or OnLoadToolProp(),
 * and OnUnloadTool()
 *
 * A plug-in that can't be used is left out with a message, and the program goes on.
 *
 * Threads:  the one that initialises HSA's runtime.
 */
#define LOG_TOPIC "rocprofiler"
#include "tool.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "base/log.h"
#include "hsa_calls.h"
#include "queues.h"

static void *tool;
static void (*unload_tool)(void);

void tool_load(void)
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
void tool_unload(void)
{
	void (*unload)(void) = unload_tool;

	unload_tool = NULL;
	if (unload)
		unload();
}
