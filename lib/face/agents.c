/* SPDX-License-Identifier: MIT */
/* agents.c - HSA's agents with their index by type, KFD node, PCI address */
#include "agents.h"

struct list {
	hsa_agent_get_info_fn_t get;
	struct agent *agents;
	uint32_t nr, nr_of_type[3];
};

static uint32_t info(const struct list *l, hsa_agent_t agent, uint32_t what)
{
	uint32_t v = 0;

	l->get(agent, (hsa_agent_info_t)what, &v);
	return v;
}

static hsa_status_t add(hsa_agent_t handle, void *data)
{
	struct agent a = { .handle = handle };
	struct list *l = data;

	if (l->nr == AGENTS_MAX ||
	    l->get(handle, HSA_AGENT_INFO_DEVICE, &a.type) != HSA_STATUS_SUCCESS)
		return HSA_STATUS_SUCCESS;
	a.index = l->nr_of_type[a.type % 3]++;
	a.node = info(l, handle, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
	a.domain = info(l, handle, HSA_AMD_AGENT_INFO_DOMAIN);
	a.bdf = info(l, handle, HSA_AMD_AGENT_INFO_BDFID);
	l->agents[l->nr++] = a;
	return HSA_STATUS_SUCCESS;
}

uint32_t agents_list(hsa_iterate_agents_fn_t iterate, hsa_agent_get_info_fn_t get,
		     struct agent agents[AGENTS_MAX])
{
	struct list l = { .get = get, .agents = agents };

	if (iterate && get)
		iterate(add, &l);
	return l.nr;
}
