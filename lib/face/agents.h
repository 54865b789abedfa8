/* SPDX-License-Identifier: MIT */
/* agents.h - HSA's agents with their index by type, KFD node, PCI address */
#ifndef RTL_LIB_FACE_AGENTS_H
#define RTL_LIB_FACE_AGENTS_H

#include <stdint.h>

#include "hsa_wrap_gen.h"

#define AGENTS_MAX 64u

struct agent {
	hsa_agent_t handle;
	hsa_device_type_t type;
	uint32_t index;	      /* among those of the type */
	uint32_t node;	      /* the KFD's */
	uint32_t domain, bdf; /* PCI: bus << 8 | device << 3 | function */
};

/* The runtime's agents in its order, as many as AGENTS_MAX. Once HSA is up; either function may be
 * NULL: none. */
uint32_t agents_list(hsa_iterate_agents_fn_t iterate, hsa_agent_get_info_fn_t get,
		     struct agent agents[AGENTS_MAX]);

#endif
