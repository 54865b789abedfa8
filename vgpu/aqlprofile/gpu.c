/* SPDX-License-Identifier: MIT */
/* gpu.c - what the architectures of the virtual GPU have of each counter block
 *
 * The runtime that has loaded this library names the agent's; without one it is gfx900.
 *
 * Threads:  any.
 */
#include <dlfcn.h>
#include <string.h>

#include "blocks.h"

#define ID(name) HSA_VEN_AMD_AQLPROFILE_BLOCK_NAME_##name

typedef hsa_status_t get_info_fn(hsa_agent_t agent, hsa_agent_info_t attribute, void *value);

static const struct blocks_gpu gpus[] = {
	{ .name = "gfx900", .dies = 1, .shader_engines = 4 },
	{ .name = "gfx90a",
	  .dies = 1,
	  .shader_engines = 8,
	  .engine_units = 14,
	  .instances = { [ID(TCA)] = 32, [ID(TCC)] = 32, [ID(GCEA)] = 32 } },
	{ .name = "gfx942",
	  .dies = 8,
	  .shader_engines = 4,
	  .engine_units = 11,
	  .instances = { [ID(TCA)] = 32, [ID(GCEA)] = 32, [ID(ATC)] = 4, [ID(RPB)] = 4 } },
};

/* The address of a row: never a handle of the runtime. */
bool blocks_is_agent(hsa_agent_t agent)
{
	for (size_t n = 0; n < sizeof(gpus) / sizeof(gpus[0]); n++) {
		if (agent.handle == (uintptr_t)&gpus[n])
			return true;
	}
	return false;
}

hsa_agent_t blocks_agent(const char *gfxip)
{
	size_t length = strcspn(gfxip, ":");

	for (size_t n = 0; n < sizeof(gpus) / sizeof(gpus[0]); n++) {
		if (strlen(gpus[n].name) == length && !strncmp(gpus[n].name, gfxip, length))
			return (hsa_agent_t){ .handle = (uintptr_t)&gpus[n] };
	}
	return (hsa_agent_t){ .handle = 0 };
}

const struct blocks_gpu *blocks_gpu(hsa_agent_t agent)
{
	/* found once; several threads find the same */
	static get_info_fn *get_info;
	get_info_fn *fn = __atomic_load_n(&get_info, __ATOMIC_RELAXED);
	char name[64] = "";

	if (blocks_is_agent(agent))
		return (const struct blocks_gpu *)(uintptr_t)agent.handle;
	if (!fn) {
		void *runtime = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);

		fn = runtime ? (get_info_fn *)dlsym(runtime, "hsa_agent_get_info") : NULL;
		if (runtime)
			dlclose(runtime); /* the one that called stays */
		__atomic_store_n(&get_info, fn, __ATOMIC_RELAXED);
	}
	if (!fn || !agent.handle || fn(agent, HSA_AGENT_INFO_NAME, name) != HSA_STATUS_SUCCESS)
		return &gpus[0];
	for (size_t n = 0; n < sizeof(gpus) / sizeof(gpus[0]); n++) {
		if (!strcmp(gpus[n].name, name))
			return &gpus[n];
	}
	return &gpus[0];
}

uint32_t blocks_instances(const struct blocks_gpu *gpu, uint32_t id)
{
	const struct block *b = blocks_find(id);

	if (!b)
		return 0;
	return gpu->instances[id] ? gpu->instances[id] : b->instances;
}

uint32_t blocks_extent(const struct blocks_gpu *gpu, uint32_t id)
{
	bool of_units = id == ID(TA) || id == ID(TCP) || id == ID(TD);

	return of_units && gpu->engine_units ? gpu->engine_units : blocks_instances(gpu, id);
}

uint32_t blocks_samples(const struct blocks_gpu *gpu, uint32_t id)
{
	const struct block *b = blocks_find(id);

	return gpu->dies * (b && b->per_se ? gpu->shader_engines : 1);
}
