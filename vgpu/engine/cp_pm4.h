/* SPDX-License-Identifier: MIT */
/* cp_pm4.h - command processor: PM4 packets, which an AQL packet may point to */
#ifndef VGPU_CP_PM4_H
#define VGPU_CP_PM4_H

#include <stdint.h>

struct queue;

enum cp_pm4_state {
	CP_PM4_DONE,
	CP_PM4_WAITS, /* waits for a register or for memory: call again */
	CP_PM4_MORE,  /* a slice is done: call again soon */
	CP_PM4_BAD,   /* no such packet */
	CP_PM4_FAULT, /* it accesses invalid memory at *addr */
};

/* Executes the indirect buffer in a vendor-specific AQL packet. Under the engine's lock. */
enum cp_pm4_state cp_pm4_run(struct queue *q, const unsigned char *packet, uint64_t *addr);

#endif
