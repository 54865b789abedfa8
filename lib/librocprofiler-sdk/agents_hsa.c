/* SPDX-License-Identifier: MIT */
/* agents_hsa.c - librocprofiler-sdk: agents as HSA's runtime describes them, where the driver's
 * files are missing
 *
 * Owns:     nothing.
 * Threads:  any. Tools ask before the runtime is up, as a rule: it is initialised for the time of
 *           the query then. Only where it is in the process, and not while it is initialising
 *           itself on this thread.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa_ext_amd.h>

#include "../face/agents.h"
#include "agents.h"
#include "base/alloc.h"
#include "state.h"

#define NR_CACHES 4

static void *function_of(void *library, uint32_t op, const char *name)
{
	void *fn = state_core()->hsa_real(op);

	return fn || !library ? fn : dlsym(library, name);
}

static uint32_t number(hsa_agent_get_info_fn_t get, hsa_agent_t agent, int what)
{
	uint32_t v = 0;

	get(agent, (hsa_agent_info_t)what, &v);
	return v;
}

static void text(hsa_agent_get_info_fn_t get, hsa_agent_t agent, int what, char *out, size_t size)
{
	char all[256] = "";

	get(agent, (hsa_agent_info_t)what, all);
	snprintf(out, size, "%.*s", (int)size - 1, all);
}

static void fill_caches(hsa_agent_get_info_fn_t get, hsa_agent_t agent, rocprofiler_agent_v0_t *a)
{
	rocprofiler_agent_cache_t *caches = alloc_zero(NR_CACHES, sizeof(*caches));
	uint32_t sizes[NR_CACHES] = { 0 };

	get(agent, HSA_AGENT_INFO_CACHE_SIZE, sizes);
	for (uint32_t i = 0; caches && i < NR_CACHES; i++) {
		if (!sizes[i])
			continue;
		caches[a->caches_count].level = i + 1;
		caches[a->caches_count].size = sizes[i] / 1024;
		caches[a->caches_count++].cache_line_size =
			number(get, agent, HSA_AMD_AGENT_INFO_CACHELINE_SIZE);
	}
	a->caches = caches;
}

/* "gfx90a" -> 90010: the last two digits are hexadecimal. */
static uint32_t version_of(const char *gfx)
{
	size_t length = strlen(gfx);
	unsigned int major, minor, step;
	char digits[8] = "";

	if (strncmp(gfx, "gfx", 3) != 0 || length < 6 || length > 9)
		return 0;
	memcpy(digits, gfx + 3, length - 5);
	major = (unsigned int)strtoul(digits, NULL, 10);
	if (sscanf(gfx + length - 2, "%1x%1x", &minor, &step) != 2)
		return 0;
	return major * 10000 + minor * 100 + step;
}

static void fill_gpu(hsa_agent_get_info_fn_t get, hsa_agent_t agent, struct agent_node *n)
{
	rocprofiler_agent_v0_t *a = &n->agent;
	char uuid[32];

	text(get, agent, HSA_AGENT_INFO_NAME, n->name, sizeof(n->name));
	a->gfx_target_version = version_of(n->name);
	a->simd_per_cu = number(get, agent, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
	a->simd_count = a->simd_per_cu * number(get, agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
	if (a->simd_per_cu)
		a->max_waves_per_simd =
			number(get, agent, HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU) / a->simd_per_cu;
	a->num_shader_banks = number(get, agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES);
	a->simd_arrays_per_engine = number(get, agent, HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE);
	a->array_count = a->num_shader_banks * a->simd_arrays_per_engine;
	a->wave_front_size = number(get, agent, HSA_AGENT_INFO_WAVEFRONT_SIZE);
	a->max_engine_clk_fcompute = number(get, agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
	a->device_id = (uint16_t)number(get, agent, HSA_AMD_AGENT_INFO_CHIP_ID);
	a->vendor_id = 0x1002;
	text(get, agent, HSA_AMD_AGENT_INFO_UUID, uuid, sizeof(uuid));
	if (strncmp(uuid, "GPU-", 4) == 0)
		n->unique_id = strtoull(uuid + 4, NULL, 16);
}

static void fill(hsa_agent_get_info_fn_t get, const struct agent *from, struct agent_node *n)
{
	rocprofiler_agent_v0_t *a = &n->agent;

	a->node_id = from->node;
	a->location_id = from->bdf;
	a->domain = from->domain;
	text(get, from->handle, HSA_AMD_AGENT_INFO_PRODUCT_NAME, n->product, sizeof(n->product));
	if (from->type == HSA_DEVICE_TYPE_GPU) {
		fill_gpu(get, from->handle, n);
	} else {
		a->cpu_cores_count =
			number(get, from->handle, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
		a->max_engine_clk_ccompute =
			number(get, from->handle, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY);
		text(get, from->handle, HSA_AGENT_INFO_NAME, n->product, sizeof(n->product));
	}
	fill_caches(get, from->handle, a);
}

/* The runtime's own functions: calls of hsa_init() are counted. */
static bool hold(void *library)
{
	hsa_status_t (*init)(void) = library ? (hsa_status_t(*)(void))dlsym(library, "hsa_init") :
					       NULL;

	return init && init() == HSA_STATUS_SUCCESS;
}

static void let_go(void *library)
{
	hsa_status_t (*shut_down)(void) = (hsa_status_t(*)(void))dlsym(library, "hsa_shut_down");

	if (shut_down)
		shut_down();
}

static uint32_t read_agents(void *library, struct agent_node *nodes, uint32_t max)
{
	struct agent found[AGENTS_MAX];
	hsa_agent_get_info_fn_t get;
	uint32_t nr;

	get = (hsa_agent_get_info_fn_t)function_of(library, HSA_OP_hsa_agent_get_info,
						   "hsa_agent_get_info");
	nr = agents_list((hsa_iterate_agents_fn_t)function_of(library, HSA_OP_hsa_iterate_agents,
							      "hsa_iterate_agents"),
			 get, found);
	for (uint32_t i = 0; i < nr && i < max; i++)
		fill(get, &found[i], &nodes[i]);
	return nr < max ? nr : max;
}

uint32_t agents_hsa_read(struct agent_node *nodes, uint32_t max)
{
	uint32_t nr = 0;
	void *library;

	if (!state_core() || state_is_in_runtime())
		return 0;
	library = dlopen("libhsa-runtime64.so.1", RTLD_NOLOAD | RTLD_LAZY);
	/* what was not found is no message for the program */
	if (!library)
		dlerror();
	state_core()->quiet(true);
	if (hold(library)) {
		nr = read_agents(library, nodes, max);
		let_go(library);
	}
	state_core()->quiet(false);
	if (library)
		dlclose(library);
	return nr;
}
