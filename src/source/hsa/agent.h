/* SPDX-License-Identifier: MIT */
/* agent.h - the agents of this process, numbered in the runtime's order */
#ifndef RTL_SOURCE_HSA_AGENT_H
#define RTL_SOURCE_HSA_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#define AGENT_MAX 256
#define AGENT_NONE UINT32_MAX

/* Finds all agents and emits them. Again after hsa_shut_down() and hsa_init(): the same device
 * keeps its index. */
void agent_scan(void);

/* HOT-ish: index of an agent, AGENT_NONE if unknown. No lock. */
uint32_t agent_index(hsa_agent_t agent);
bool agent_is_gpu(uint32_t index);
hsa_agent_t agent_handle(uint32_t index);

/* Emits the runtime's relation of GPU ticks and system time for each GPU, as it is now. */
void agent_emit_clocks(void);

/* Notes the relation of GPU ticks and system time for when the runtime does not convert any more: ROCr 7.2 and later refuse
 * before they unload tools. */
void agent_keep_clocks(void);

/* HOT: system time in ns of GPU `ticks`; 0: not known. Any thread. */
uint64_t agent_system_ns(uint32_t index, uint64_t ticks);

/* A tick of this agent seen lately, from which agent_emit_clocks() starts. HOT, any thread. */
void agent_saw_tick(uint32_t index, uint64_t ticks);

#endif
