/* SPDX-License-Identifier: MIT */
/* runtime.c - HIP and HSA as the machine has them, loaded at run time */
#include "selftest/runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftest/account.h"

struct hip hip;
struct hsa hsa;

void runtime_check_hip(int status, const char *call)
{
	const char *text = status && hip.GetErrorString ? hip.GetErrorString(status) : NULL;

	if (status)
		account_fail("%.200s: HIP error %d %s", call, status, text ? text : "");
}

void runtime_check_hsa(hsa_status_t status, const char *call)
{
	if (status != HSA_STATUS_SUCCESS)
		account_fail("%.200s: HSA status 0x%x", call, (unsigned int)status);
}

static void *look_up(void *lib, const char *name, const char *what)
{
	void *at = dlsym(lib, name);

	if (!at)
		account_lack("%s has no %s", what, name);
	return at;
}

void runtime_load_hip(void)
{
	static const char *const names[] = { "libamdhip64.so.7", "libamdhip64.so.6",
					     "libamdhip64.so.5", "libamdhip64.so" };
	void *lib = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !lib; i++)
		lib = dlopen(names[i], RTLD_NOW);
	if (!lib)
		account_lack("HIP's library, libamdhip64, is not found by the loader");
#define X(name, arguments) hip.name = (int(*) arguments)look_up(lib, "hip" #name, "libamdhip64");
	HIP_FUNCTIONS(X)
#undef X
	hip.GetErrorString = (const char *(*)(int))look_up(lib, "hipGetErrorString", "libamdhip64");
}

void runtime_load_hsa(void)
{
	void *lib = dlopen("libhsa-runtime64.so.1", RTLD_NOW);

	if (!lib)
		account_lack("HSA's library, libhsa-runtime64.so.1, is not found by the loader");
#define X(name) hsa.name = (__typeof__(hsa.name))look_up(lib, "hsa_" #name, "libhsa-runtime64");
	HSA_FUNCTIONS(X)
#undef X
}

static hsa_status_t take_isa(hsa_isa_t isa, void *out)
{
	char name[256] = "";
	uint32_t size = 0;

	HSA(isa_get_info_alt(isa, HSA_ISA_INFO_NAME_LENGTH, &size));
	if (size >= sizeof(name))
		return HSA_STATUS_SUCCESS;
	HSA(isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name));
	snprintf(out, sizeof(((struct runtime_gpu *)0)->isa), "%.*s", (int)size, name);
	return HSA_STATUS_INFO_BREAK; /* the first is the GPU's own, generic ones follow */
}

static hsa_status_t take_agent(hsa_agent_t agent, void *out)
{
	struct runtime_gpus *g = out;
	struct runtime_gpu *gpu = &g->gpus[g->nr];
	hsa_device_type_t type;

	HSA(agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU && !g->cpu.handle)
		g->cpu = agent;
	if (type != HSA_DEVICE_TYPE_GPU || g->nr == RUNTIME_GPUS_MAX)
		return HSA_STATUS_SUCCESS;
	gpu->agent = agent;
	hsa.agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, gpu->name);
	hsa.agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT,
			   &gpu->units);
	hsa.agent_iterate_isas(agent, take_isa, gpu->isa);
	g->nr++;
	return HSA_STATUS_SUCCESS;
}

void runtime_find_gpus(struct runtime_gpus *out)
{
	memset(out, 0, sizeof(*out));
	HSA(iterate_agents(take_agent, out));
}

uint64_t runtime_now_ns(void)
{
	static uint64_t frequency;
	uint64_t ticks = 0;

	if (!frequency)
		HSA(system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
	HSA(system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks));
	return frequency == 1000000000 ? ticks :
					 (uint64_t)((double)ticks * 1e9 / (double)frequency);
}

const char *runtime_path_of(const void *function)
{
	static char path[4096];
	Dl_info info;

	if (!dladdr(function, &info) || !info.dli_fname || !realpath(info.dli_fname, path))
		return "";
	return path;
}
