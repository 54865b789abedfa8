/* SPDX-License-Identifier: MIT */
/* start.c - the library's start: the core, HSA's tables; HSA's runtime loads this library
 *
 * Threads:  any.
 */
#define LOG_TOPIC "rocprofiler"
#include <dlfcn.h>
#include <stddef.h>

#include "base/env.h"
#include "base/log.h"
#include "hsa_calls.h"
#include "queues.h"
#include "tool.h"
#include "v1.h"

static bool install(const struct hsa_mirror_root *root)
{
	queues_install(root);
	runtime_tables_taken();
	hsa_calls_on_runtime();
	return true;
}

static void forget(void)
{
	runtime_forget();
	queues_forget();
}

static const struct table_layer layer = {
	.name = "rocprofiler",
	.install = install,
	.remove = forget,
};

/* Programs that are linked with this library: their queues are to count. */
static bool wants_tables(void)
{
	dispatch_on_runtime();
	return true;
}

static bool connect_core(const struct rtl_core *core)
{
	env_init();
	log_init();
	fork_guard_start();
	if (!core) {
		log_warn("librtl.so.1 is of another build; nothing is counted or intercepted");
		return false;
	}
	settings_read();
	dispatch_start(core);
	core->table_add_layer(&layer);
	core->hsa_init_as_tool(wants_tables);
	return true;
}

LINK_START(connect_core);

__attribute__((constructor)) static void start(void)
{
	if (link_core())
		link_core()->rebind();
}

EXPORT hsa_status_t hsa_init(void);

/* In front of the runtime's for programs that are linked with this library: runtime_ready() and the
 * core's hsa_init() say why. */
EXPORT hsa_status_t hsa_init(void)
{
	static _Thread_local bool is_within;
	const struct rtl_core *core = link_core();
	hsa_status_t status;
	void *lib, *next;

	if (core && !is_within) {
		is_within = true;
		status = core->hsa_init();
		is_within = false;
		return status;
	}
	lib = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
	next = lib ? dlsym(lib, "hsa_init") : NULL;
	if (lib)
		dlclose(lib);
	return next ? ((hsa_status_t(*)(void))next)() : HSA_STATUS_ERROR_NOT_INITIALIZED;
}

/* ROCr 5.3 and later finds loaded tools by this symbol and loads them in the order of its value. */
EXPORT extern const uint32_t HSA_AMD_TOOL_PRIORITY;
EXPORT const uint32_t HSA_AMD_TOOL_PRIORITY = 25;

EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed);
EXPORT void OnUnload(void);

/* true even when nothing is intercepted: else ROCr would unload the library and print a message. */
EXPORT bool OnLoad(void *table, uint64_t runtime_version, uint64_t nr_failed,
		   const char *const *failed)
{
	const struct rtl_core *core = link_core();

	(void)runtime_version;
	(void)nr_failed;
	(void)failed;
	if (!core)
		return true;
	dispatch_on_runtime();
	core->on_load(table);
	tool_load();
	return true;
}

EXPORT void OnUnload(void)
{
	/* what is over has its handlers called */
	dispatch_settle();
	tool_unload();
	if (link_core())
		link_core()->on_unload();
}
