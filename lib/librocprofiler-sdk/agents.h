/* SPDX-License-Identifier: MIT */
/* agents.h - agents of librocprofiler-sdk: where their fields come from */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_AGENTS_H
#define RTL_LIB_LIBROCPROFILER_SDK_AGENTS_H

#include <stdbool.h>

#include "sdk.h"

/* The memory stays where it is: tools keep pointers to the agent. */
struct agent_node {
	rocprofiler_agent_v0_t agent;
	uint64_t unique_id; /* 0: none */
	char name[64], vendor[64], product[128], model[128];
};

/* topology.c: what the driver's folder of a node says: numbers, arrays (malloc()), and in `model`
 * its name. `n` is zeroed. false: there is no such node. */
bool topology_read(const char *dir, struct agent_node *n);

/* products.c: sets `product` of a GPU by its PCI device and this revision, where libdrm's list has
 * it. */
void products_name(struct agent_node *n, uint32_t revision);
/* The family of a GPU. 0: older than all that HSA has. */
uint32_t products_family(uint32_t gfx_target_version);

/* agents_hsa.c: the nodes that HSA's runtime shows, once it is up: as much of them as it tells.
 * Returns how many, at most `max`. */
uint32_t agents_hsa_read(struct agent_node *nodes, uint32_t max);

#endif
