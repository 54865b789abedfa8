/* SPDX-License-Identifier: MIT */
/* perf.h - performance counters of a GPU: registers that select, start and read them
 *
 * Registers are dword addresses, as in PM4 packets. Registers that are not listed in perf.c ignore
 * writes and read 0.
 *
 * Threads: the engine's, under the engine's lock.
 */
#ifndef VGPU_PERF_H
#define VGPU_PERF_H

#include <stdbool.h>
#include <stdint.h>

struct gcn_counters;

void perf_write(unsigned int gpu, uint32_t reg, uint32_t value);
uint32_t perf_read(unsigned int gpu, uint32_t reg);

/* The die that reads registers from now on; what is written goes to all of them. */
void perf_die(unsigned int gpu, unsigned int die);

/* GRBM_GFX_INDEX, which selects shader engines of thread trace, too. */
uint32_t perf_index(unsigned int gpu);

/* Copies the present counts to the result registers. */
void perf_sample(unsigned int gpu);

/* Whether counting is on: then dispatches need the model of the caches. */
bool perf_counting(unsigned int gpu);

/* Adds an executed dispatch; `waves`: count the waves of its queue. */
void perf_count(unsigned int gpu, bool waves, const struct gcn_counters *counters);

#endif
