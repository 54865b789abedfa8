/* SPDX-License-Identifier: MIT */
/* devices.c - HIP's index of a device and the KFD's number of its node
 *
 * HIP from 5.4 on reports the node in an operation's record; up to 5.3 the index, which the program
 * chooses with HIP_VISIBLE_DEVICES. Clients of a generation expect the one or the other, whatever
 * the process's HIP reports. Both runtimes report a device's PCI address.
 *
 * Owns:     the table, made when the first operation ends: by then both runtimes are initialised.
 * Threads:  any.
 * Hot path: devices_id() but for its first call.
 * Fails:    a device that is not found keeps its number.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "../face/agents.h"
#include "facade.h"

#define MAX_DEVICES 64

/* what clients of this library's generation expect */
#define WANTS_INDEX (ROCTRACER64_GENERATION == 1)

#define BDF(bus, device, function) ((uint32_t)(bus) << 8 | (uint32_t)(device) << 3 | (function))

/* set in find_all(), constant after */
static int nodes[MAX_DEVICES];
static int nr_nodes;

/* The function behind librtl's wrapper, or the runtime's exported one. */
static void *hsa_function(void *library, uint32_t op, const char *name)
{
	void *fn = link_core()->hsa_real(op);

	return fn || !library ? fn : dlsym(library, name);
}

static uint32_t list_agents(struct agent agents[AGENTS_MAX])
{
	void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOLOAD | RTLD_LAZY);
	uint32_t nr = agents_list((hsa_iterate_agents_fn_t)hsa_function(library,
									HSA_OP_hsa_iterate_agents,
									"hsa_iterate_agents"),
				  (hsa_agent_get_info_fn_t)hsa_function(library,
									HSA_OP_hsa_agent_get_info,
									"hsa_agent_get_info"),
				  agents);

	if (library)
		dlclose(library);
	return nr;
}

/* The node of the GPU at a PCI address. -1: HIP's device is none of these. Partitions of a GPU have
 * one address: each is taken once, in their order. */
static int take_node(struct agent *agents, uint32_t nr, const char *address)
{
	unsigned domain, bus, device, function = 0;

	if (sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3)
		return -1;
	for (struct agent *a = agents; a < agents + nr; a++) {
		if (a->type != HSA_DEVICE_TYPE_GPU || a->domain != domain ||
		    a->bdf >> 3 != BDF(bus, device, 0) >> 3)
			continue;
		a->type = HSA_DEVICE_TYPE_CPU;
		return (int)a->node;
	}
	return -1;
}

static void find_all(void)
{
	const struct rtl_core *core = link_core();
	int (*count)(int *) = (int (*)(int *))core->hip_find("hipGetDeviceCount");
	int (*address_of)(char *, int, int) =
		(int (*)(char *, int, int))core->hip_find("hipDeviceGetPCIBusId");
	struct agent agents[AGENTS_MAX];
	bool gives_index = core->hip_find("hipRegisterActivityCallback") != NULL;
	char address[64] = "";
	uint32_t nr_agents;
	int nr = 0;

	if (gives_index == WANTS_INDEX || !count || !address_of)
		return;
	core->quiet(true);
	nr_agents = list_agents(agents);
	if (count(&nr) != 0)
		nr = 0;
	for (int i = 0; i < nr && i < MAX_DEVICES; i++) {
		int node = address_of(address, sizeof(address), i) == 0 ?
				   take_node(agents, nr_agents, address) :
				   -1;

		nodes[i] = node < 0 && !WANTS_INDEX ? i : node;
		nr_nodes = i + 1;
	}
	core->quiet(false);
}

int devices_id(int given)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_all);
#if WANTS_INDEX
	for (int i = 0; i < nr_nodes; i++)
		if (nodes[i] == given)
			return i;
	return given;
#else
	return given >= 0 && given < nr_nodes ? nodes[given] : given;
#endif
}
