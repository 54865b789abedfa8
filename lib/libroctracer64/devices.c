/* SPDX-License-Identifier: MIT */
/* devices.c - HIP's index of a device and the KFD's number of its node
 *
 * HIP from 5.4 on gives the node in an operation's record; up to 5.3 it gives the index, which the
 * program chooses with HIP_VISIBLE_DEVICES. This library's clients expect the one or the other, whatever the
 * process's HIP gives. Both runtimes know where a device is on the bus.
 *
 * Owns:     the table, made when the first operation ends: by then both runtimes are up.
 * Threads:  any.
 * Hot path: devices_id() but for its first call.
 * Fails:    a device that is not found keeps the number that it has.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "facade.h"
#include "hsa_wrap_gen.h"

#define MAX_DEVICES 64

/* what clients of this library's generation expect */
#define WANTS_INDEX (ROCTRACER64_GENERATION == 1)

#define BDF(bus, device, function) ((uint32_t)(bus) << 8 | (uint32_t)(device) << 3 | (function))

struct gpu {
	uint32_t bdf, domain, node;
	bool is_taken;
};

struct gpus {
	hsa_agent_get_info_fn_t get;
	struct gpu gpu[MAX_DEVICES];
	int nr;
};

/* set in find_all(), constant after */
static int nodes[MAX_DEVICES];
static int nr_nodes;

static uint32_t info(hsa_agent_get_info_fn_t get, hsa_agent_t agent, uint32_t what)
{
	uint32_t v = 0;

	get(agent, (hsa_agent_info_t)what, &v);
	return v;
}

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
	struct gpus *g = data;
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;

	g->get(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (type != HSA_DEVICE_TYPE_GPU || g->nr == MAX_DEVICES)
		return HSA_STATUS_SUCCESS;
	g->gpu[g->nr].bdf = info(g->get, agent, HSA_AMD_AGENT_INFO_BDFID);
	g->gpu[g->nr].domain = info(g->get, agent, HSA_AMD_AGENT_INFO_DOMAIN);
	g->gpu[g->nr].node = info(g->get, agent, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
	g->nr++;
	return HSA_STATUS_SUCCESS;
}

/* The function that librtl's wrapper stands in front of, or the runtime's own. */
static void *hsa_function(void *library, uint32_t op, const char *name)
{
	void *fn = stream_core()->hsa_real(op);

	return fn || !library ? fn : dlsym(library, name);
}

static void find_gpus(struct gpus *g)
{
	void *library = dlopen("libhsa-runtime64.so.1", RTLD_NOLOAD | RTLD_LAZY);
	hsa_iterate_agents_fn_t iterate =
		(hsa_iterate_agents_fn_t)hsa_function(library, HSA_OP_hsa_iterate_agents,
						      "hsa_iterate_agents");

	g->get = (hsa_agent_get_info_fn_t)hsa_function(library, HSA_OP_hsa_agent_get_info,
						       "hsa_agent_get_info");
	if (iterate && g->get)
		iterate(on_agent, g);
	if (library)
		dlclose(library);
}

/* -1: HIP's device is none of these. */
static int find_node(struct gpus *g, const char *place)
{
	unsigned domain, bus, device, function = 0;

	if (sscanf(place, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3)
		return -1;
	for (int i = 0; i < g->nr; i++) {
		if (g->gpu[i].is_taken || g->gpu[i].domain != domain ||
		    g->gpu[i].bdf >> 3 != BDF(bus, device, 0) >> 3)
			continue;
		/* partitions of a GPU lie in one place, in their order */
		g->gpu[i].is_taken = true;
		return (int)g->gpu[i].node;
	}
	return -1;
}

static void find_all(void)
{
	const struct rtl_core *core = stream_core();
	int (*count)(int *) = (int (*)(int *))core->hip_find("hipGetDeviceCount");
	int (*place_of)(char *, int, int) =
		(int (*)(char *, int, int))core->hip_find("hipDeviceGetPCIBusId");
	struct gpus gpus = { .nr = 0 };
	bool gives_index = core->hip_find("hipRegisterActivityCallback") != NULL;
	char place[64] = "";
	int nr = 0;

	if (gives_index == WANTS_INDEX || !count || !place_of)
		return;
	core->quiet(true);
	find_gpus(&gpus);
	if (count(&nr) != 0)
		nr = 0;
	for (int i = 0; i < nr && i < MAX_DEVICES; i++) {
		int node = place_of(place, sizeof(place), i) == 0 ? find_node(&gpus, place) : -1;

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
