/* SPDX-License-Identifier: MIT */
/* host.h - what the engine asks of the driver, whose memory.c and event.c have it */
#ifndef VGPU_ENGINE_HOST_H
#define VGPU_ENGINE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "../gcn/gcn.h"

/* What GPUs may access at `addr`; false: nothing. Any thread. */
bool host_range(uint64_t addr, struct gcn_range *out);

/* Changes whenever GPUs may access something no more: ranges that were looked up before are invalid
 * then. Atomic. */
extern unsigned int host_generation;

/* Signals the event with this id; unknown ids are ignored. Any thread. */
void host_event_set(uint32_t id);

/* Whether a thread waits for this event alone. Any thread. */
bool host_event_blocks(uint32_t id);

/* Reports a memory fault at `addr` by `gpu` through the event for memory faults. If there is none,
 * prints the fault and aborts: the program would wait for ever. */
void host_memory_fault(unsigned int gpu, uint64_t addr, unsigned int error_type);

#endif
