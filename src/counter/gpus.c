/* SPDX-License-Identifier: MIT */
/* gpus.c - the GPU whose counters an agent has */
#include "counter/gpus.h"

#include <string.h>

/* Agents that have the counters of another GPU: longer prefixes first. */
static const struct {
	const char *prefix, *gpu;
} families[] = {
	{ "gfx906", "gfx906" }, { "gfx908", "gfx908" }, { "gfx90a", "gfx90a" },
	{ "gfx94", "gfx940" },	{ "gfx90", "gfx900" },	{ "gfx8", "gfx8" },
	{ "gfx10", "gfx1030" }, { "gfx11", "gfx1100" },
};

static const struct counter_gpu *find(const char *name)
{
	for (uint32_t i = 0; i < counter_nr_gpus; i++)
		if (strcmp(counter_gpus[i].name, name) == 0)
			return &counter_gpus[i];
	return NULL;
}

const struct counter_gpu *gpus_find(const char *agent)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strncmp(agent, families[i].prefix, strlen(families[i].prefix)) == 0)
			return find(families[i].gpu);
	return NULL;
}
