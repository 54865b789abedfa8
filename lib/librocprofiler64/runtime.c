/* SPDX-License-Identifier: MIT */
/* runtime.c - HSA's functions, the GPUs
 *
 * The library does not need HSA's runtime to be loaded. Its functions are found when they are first
 * needed, and called as the program calls them.
 *
 * Owns:     the agents.
 * Threads:  any; agents are read again under `lock`, entries stay.
 */
#include <dlfcn.h>
#include <string.h>

#include "v1.h"

/* HSA_AMD_AGENT_INFO_NUM_XCC, from ROCr 5.6 on */
#define INFO_NUM_XCC 0xa111

struct hsa_functions hsa;
GUARDED_LOCK(lock, LOCK_V1_RUNTIME);
static _Atomic bool is_ready, has_tables;
static struct agent agents[AGENTS_MAX];
static struct gpu gpus[AGENTS_MAX];
static _Atomic uint32_t nr_agents, nr_gpus;
static _Thread_local uint32_t quiet_depth;

/* ---- the library's own calls ----------------------------------------------------------------- */

void runtime_quiet(bool on)
{
	const struct rtl_core *core = link_core();

	if (on && quiet_depth++ == 0 && core)
		core->quiet(true);
	if (!on && --quiet_depth == 0 && core)
		core->quiet(false);
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
	status = link_core() ? link_core()->hsa_init() : hsa.hsa_init();
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

/* ---- HSA's tables ---------------------------------------------------------------------------- */

void runtime_tables_taken(void)
{
	atomic_store(&has_tables, true);
}

/* Agents of the runtime's next life have other handles. */
void runtime_forget(void)
{
	atomic_store(&has_tables, false);
	atomic_store_explicit(&is_ready, false, memory_order_release);
}

bool runtime_has_tables(void)
{
	return atomic_load(&has_tables);
}
