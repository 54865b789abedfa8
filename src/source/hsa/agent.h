/* SPDX-License-Identifier: MIT */
/* agent.h - the agents of this process, numbered in the runtime's order */
#ifndef RTL_SOURCE_HSA_AGENT_H
#define RTL_SOURCE_HSA_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "base/compiler.h"
#include "source/hsa/gpu_clock.h"

#define AGENT_MAX 256
#define AGENT_NONE UINT32_MAX

/* Finds all agents and emits them. Again after hsa_shut_down() and hsa_init(): the same device
 * keeps its index. */
void agent_scan(void);

/* HOT-ish: index of an agent, AGENT_NONE if unknown. No lock. */
uint32_t agent_index(hsa_agent_t agent);
bool agent_is_gpu(uint32_t index);
/* The first CPU; AGENT_NONE: there is none. */
uint32_t agent_host(void);
/* Whether the user leaves out operations of this GPU (filter.h). */
bool agent_is_left_out(uint32_t index);
hsa_agent_t agent_handle(uint32_t index);

/* Emits a current pair of GPU ticks and system time for each GPU that has had an operation. */
void agent_emit_clocks(void);

/* System time in ns of GPU `ticks`, in the order of ticks (gpu_clock.h), also when the runtime no
 * longer converts; 0: not known. Any thread; takes a lock. */
uint64_t agent_system_ns(uint32_t index, uint64_t ticks);

/* The same by the runtime's current relation: what its API answers. */
uint64_t agent_runtime_ns(uint32_t index, uint64_t ticks);

/* As agent_system_ns(); stores the piece of the clock that covers `ticks`. */
uint64_t agent_settle_ns(struct gpu_clock_piece *p, uint32_t index, uint64_t ticks);

/* HOT: agent_system_ns(), without a lock if `p` covers `ticks`; otherwise `p` becomes the piece
 * that does. */
static inline uint64_t agent_piece_ns(struct gpu_clock_piece *p, uint32_t index, uint64_t ticks)
{
	if (RTL_LIKELY(gpu_clock_covers(p, ticks)))
		return gpu_clock_ns(p, ticks);
	return agent_settle_ns(p, index, ticks);
}

#endif
