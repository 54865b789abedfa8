/* SPDX-License-Identifier: MIT */
/* agent.h - the agents of this process, numbered in the runtime's order */
#ifndef RTL_SOURCE_HSA_AGENT_H
#define RTL_SOURCE_HSA_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "base/compiler.h"

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

/* Emits the runtime's current relation of GPU ticks and system time for each GPU. */
void agent_emit_clocks(void);

/* Stores the relation of GPU ticks and system time for when the runtime no longer converts: ROCr
 * 7.2 and later refuse before they unload tools. */
void agent_keep_clocks(void);

/* System time in ns of GPU `ticks`; 0: not known. Any thread. */
uint64_t agent_system_ns(uint32_t index, uint64_t ticks);

/* The runtime's linear relation of ticks and system time near a tick. The runtime changes it a few
 * times a second at most (ROCr's GpuAgent::TranslateTime), and takes a lock for each conversion. */
struct agent_line {
	uint64_t ticks, ns;
	double ns_per_tick; /* 0: there is none */
	uint64_t checked;   /* ticks of the last agent_line_update() */
};
#define AGENT_LINE_REACH                                                                           \
	(INT64_C(1) << 20) /* ticks to both sides for which the line is exact to 1
					     * ns */

/* Ticks: 0.7 ms at 100 MHz, a hundredth of the time for which the runtime keeps a relation. */
#define AGENT_LINE_FRESH (UINT64_C(1) << 16)

/* HOT: whether `l` was updated so near `ticks` that it still holds. */
static inline bool agent_line_is_fresh(const struct agent_line *l, uint64_t ticks)
{
	return ticks - l->checked + AGENT_LINE_FRESH < 2 * AGENT_LINE_FRESH && l->ns_per_tick > 0;
}

/* Updates `l` to the runtime's current conversion of `ticks`; takes one conversion if `l` still
 * holds. Once for each batch. */
void agent_line_update(struct agent_line *l, uint32_t index, uint64_t ticks);

/* HOT: agent_system_ns() computed from the line. */
static inline uint64_t agent_line_ns(const struct agent_line *l, uint32_t index, uint64_t ticks)
{
	int64_t d = (int64_t)(ticks - l->ticks);

	if (RTL_UNLIKELY(d > AGENT_LINE_REACH || d < -AGENT_LINE_REACH || l->ns_per_tick <= 0))
		return agent_system_ns(index, ticks);
	return l->ns + (uint64_t)(int64_t)((double)d * l->ns_per_tick);
}

/* Stores a recent tick of this agent, from which agent_emit_clocks() starts. HOT, any thread. */
void agent_saw_tick(uint32_t index, uint64_t ticks);

#endif
