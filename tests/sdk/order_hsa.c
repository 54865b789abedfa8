/* SPDX-License-Identifier: MIT */
/* order_hsa.c - HSA's calls of a program that is linked with HSA and a library of tools in either
 * order */
#include <hsa/hsa.h>
#include <stdio.h>
#ifdef WITH_TOOL
#include "order_tool.h"
#endif

static hsa_status_t count(hsa_agent_t agent, void *nr)
{
	(void)agent;
	++*(int *)nr;
	return HSA_STATUS_SUCCESS;
}

int main(void)
{
	int nr = 0;

	if (hsa_init() != HSA_STATUS_SUCCESS ||
	    hsa_iterate_agents(count, &nr) != HSA_STATUS_SUCCESS ||
	    hsa_shut_down() != HSA_STATUS_SUCCESS)
		return 1;
	printf("agents %s\n", nr ? "some" : "none");
	return 0;
}
