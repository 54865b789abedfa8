/* SPDX-License-Identifier: MIT */
/* runtime.c - HSA's functions, the GPUs; HSA's runtime loads this library
 *
 * The library does not need HSA's runtime to be loaded. Its functions are found when they are first needed, and called as
 * the program calls them.
 *
 * Owns:     the agents.
 * Threads:  any; agents are read again under `lock`, entries stay.
 */
#define LOG_TOPIC "rocprofiler"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/log.h"
#include "hsa_calls.h"
#include "queues.h"
#include "v1.h"

/* HSA_AMD_AGENT_INFO_NUM_XCC, from ROCr 5.6 on */
#define INFO_NUM_XCC 0xa111

struct hsa_functions hsa;
GUARDED_LOCK(lock, LOCK_V1_RUNTIME);
static const struct rtl_core *the_core;
static _Atomic bool is_ready, has_tables;
static struct agent agents[AGENTS_MAX];
static struct gpu gpus[AGENTS_MAX];
static _Atomic uint32_t nr_agents, nr_gpus;
static _Thread_local uint32_t quiet_depth;

/* ---- the library's own calls ----------------------------------------------------------------- */

void runtime_quiet(bool on)
{
	if (on && quiet_depth++ == 0 && the_core)
		the_core->quiet(true);
	if (!on && --quiet_depth == 0 && the_core)
		the_core->quiet(false);
}

bool runtime_is_quiet(void)
{
	return quiet_depth != 0;
}

/* ---- HSA's functions ------------------------------------------------------------------------- */

RTL_REQUIRES(lock) static bool find_functions(const char **missing)
{
	static void *lib;

	if (lib)
		return true;
	lib = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
	/* loads it: the client uses a function that needs the runtime, as AMD's library does */
	if (!lib)
		lib = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_GLOBAL);
	*missing = "libhsa-runtime64.so.1";
	if (!lib)
		return false;
#define X(name)                                                                                    \
	*(void **)&hsa.name = dlsym(lib, #name);                                                   \
	if (!hsa.name)                                                                             \
		*missing = #name;
	HSA_FUNCTIONS(X)
#undef X
	return strcmp(*missing, "libhsa-runtime64.so.1") == 0;
}

static uint32_t info(hsa_agent_t agent, uint32_t what)
{
	uint32_t v = 0;

	if (hsa.hsa_agent_get_info(agent, (hsa_agent_info_t)what, &v) != HSA_STATUS_SUCCESS)
		v = 0;
	return v;
}

static void fill(struct gpu *g, const struct agent *a)
{
	uint32_t dies = info(a->handle, INFO_NUM_XCC);

	g->agent = a->handle;
	g->index = a->index;
	if (hsa.hsa_agent_get_info(a->handle, HSA_AGENT_INFO_NAME, g->name) != HSA_STATUS_SUCCESS)
		g->name[0] = 0;
	g->units = info(a->handle, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
	g->simds = info(a->handle, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU) * g->units;
	g->engines = info(a->handle, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES);
	g->dies = dies ? dies : 1;
	g->wave = info(a->handle, HSA_AGENT_INFO_WAVEFRONT_SIZE);
}

RTL_REQUIRES(lock) static void scan(void)
{
	uint32_t n = agents_list(hsa.hsa_iterate_agents, hsa.hsa_agent_get_info, agents), g = 0;

	for (uint32_t i = 0; i < n; i++)
		if (agents[i].type == HSA_DEVICE_TYPE_GPU)
			fill(&gpus[g++], &agents[i]);
	/* release: pairs with those who read the number */
	atomic_store_explicit(&nr_agents, n, memory_order_release);
	atomic_store_explicit(&nr_gpus, g, memory_order_release);
	atomic_store_explicit(&is_ready, n != 0, memory_order_release);
}

static hsa_status_t count_agent(hsa_agent_t agent, void *data)
{
	(void)agent;
	(void)data;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t find(const char *api)
{
	const char *missing = NULL;
	bool good;

	lock_take(&lock);
	good = find_functions(&missing);
	lock_drop(&lock);
	return good ? HSA_STATUS_SUCCESS :
		      error_set(HSA_STATUS_ERROR, api, "find_hsa", "%s was not found", missing);
}

/* AMD's library initialises the runtime, too. No lock is held: the runtime calls this library. */
static hsa_status_t bring_up(const char *api)
{
	hsa_status_t status = hsa.hsa_iterate_agents(count_agent, NULL);

	if (status != HSA_STATUS_ERROR_NOT_INITIALIZED)
		return HSA_STATUS_SUCCESS;
	status = the_core ? the_core->hsa_init() : hsa.hsa_init();
	if (status != HSA_STATUS_SUCCESS)
		error_set(status, api, "hsa_init", "status 0x%x", (unsigned)status);
	return status;
}

hsa_status_t runtime_ready(const char *api)
{
	hsa_status_t status;

	/* acquire: pairs with scan() */
	if (RTL_LIKELY(atomic_load_explicit(&is_ready, memory_order_acquire)))
		return HSA_STATUS_SUCCESS;
	runtime_quiet(true);
	status = find(api);
	if (status == HSA_STATUS_SUCCESS)
		status = bring_up(api);
	if (status == HSA_STATUS_SUCCESS) {
		lock_take(&lock);
		if (!atomic_load_explicit(&is_ready, memory_order_relaxed))
			scan();
		lock_drop(&lock);
	}
	runtime_quiet(false);
	return status;
}

uint32_t runtime_nr_gpus(void)
{
	return atomic_load_explicit(&nr_gpus, memory_order_acquire);
}

const struct gpu *runtime_gpu_at(uint32_t index)
{
	return &gpus[index];
}

const struct gpu *runtime_gpu(hsa_agent_t agent)
{
	uint32_t n = runtime_nr_gpus();

	for (uint32_t i = 0; i < n; i++)
		if (gpus[i].agent.handle == agent.handle)
			return &gpus[i];
	return NULL;
}

const struct agent *runtime_agent(hsa_agent_t agent)
{
	uint32_t n = atomic_load_explicit(&nr_agents, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++)
		if (agents[i].handle.handle == agent.handle)
			return &agents[i];
	return NULL;
}

/* ---- the core, HSA's tables ------------------------------------------------------------------ */

static bool install(const struct hsa_mirror_root *root)
{
	queues_install(root);
	atomic_store(&has_tables, true);
	hsa_calls_on_runtime();
	return true;
}

/* Agents of the runtime's next life have other handles. */
static void forget(void)
{
	atomic_store(&has_tables, false);
	atomic_store_explicit(&is_ready, false, memory_order_release);
	queues_forget();
}

static const struct table_layer layer = {
	.name = "rocprofiler",
	.install = install,
	.remove = forget,
};

bool runtime_has_tables(void)
{
	return atomic_load(&has_tables);
}

/* Programs that are linked with this library: their queues are to count. */
static bool wants_tables(void)
{
	dispatch_on_runtime();
	return true;
}

static void start_once(void)
{
	const struct rtl_core *core = rtl_core_get(RTL_CORE_VERSION);

	env_init();
	log_init();
	fork_guard_start();
	if (!core) {
		log_warn("librtl.so.1 is of another build; nothing is counted or intercepted");
		return;
	}
	the_core = core;
	settings_read();
	queues_start(core);
	core->table_add_layer(&layer);
	core->hsa_init_as_tool(wants_tables);
}

const struct rtl_core *runtime_core(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_once);
	return the_core;
}

__attribute__((constructor)) static void start(void)
{
	if (runtime_core())
		runtime_core()->rebind();
}

EXPORT hsa_status_t hsa_init(void);

/* In front of the runtime's for programs that are linked with this library: runtime_ready() and the core's hsa_init() say why. */
EXPORT hsa_status_t hsa_init(void)
{
	static _Thread_local bool is_within;
	const struct rtl_core *core = runtime_core();
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
	const struct rtl_core *core = runtime_core();

	(void)runtime_version;
	(void)nr_failed;
	(void)failed;
	if (!core)
		return true;
	dispatch_on_runtime();
	core->on_load(table);
	settings_load_tool();
	return true;
}

EXPORT void OnUnload(void)
{
	/* what is over has its handlers called */
	dispatch_settle();
	settings_unload_tool();
	if (runtime_core())
		runtime_core()->on_unload();
}
