/* SPDX-License-Identifier: MIT */
/* machine.c - the GPUs that this machine's driver has */
#include "cli/machine.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

/* The value of a key in a node's properties, 0 if it is missing. */
static unsigned long read_property(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, key, n) == 0 && at[n] == ' ')
			return strtoul(at + n, NULL, 10);
	}
	return 0;
}

/* False: the node is no GPU. */
static bool read_gpu(const char *path, struct machine_gpu *gpu)
{
	char text[8192];
	ssize_t n = fd_read_file(path, text, sizeof(text) - 1);
	unsigned long version;

	if (n <= 0)
		return false;
	text[n] = 0;
	gpu->simds = read_property(text, "simd_count");
	gpu->firmware = read_property(text, "fw_version");
	gpu->sdma_firmware = read_property(text, "sdma_fw_version");
	version = read_property(text, "gfx_target_version");
	snprintf(gpu->name, sizeof(gpu->name), "gfx%lu%lx%lx", version / 10000, version / 100 % 100,
		 version % 100);
	return gpu->simds != 0;
}

size_t machine_gpus(struct machine_gpu gpus[MACHINE_GPUS_MAX])
{
	glob_t nodes = { 0 };
	size_t nr = 0;

	if (glob("/sys/class/kfd/kfd/topology/nodes/*/properties", 0, NULL, &nodes) == 0)
		for (size_t i = 0; i < nodes.gl_pathc && nr < MACHINE_GPUS_MAX; i++)
			nr += read_gpu(nodes.gl_pathv[i], &gpus[nr]);
	globfree(&nodes);
	return nr;
}
