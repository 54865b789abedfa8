/* SPDX-License-Identifier: MIT */
/* machine.h - the GPUs that this machine's driver has */
#ifndef RTL_CLI_MACHINE_H
#define RTL_CLI_MACHINE_H

#include <stddef.h>

#define MACHINE_GPUS_MAX 64u

struct machine_gpu {
	char name[32]; /* "gfx90a" */
	unsigned long simds;
	unsigned long firmware, sdma_firmware; /* versions, as the driver numbers them */
};

/* Stores the GPUs of the driver's topology, in its order; their number. */
size_t machine_gpus(struct machine_gpu gpus[MACHINE_GPUS_MAX]);

#endif
