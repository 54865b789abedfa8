/* SPDX-License-Identifier: MIT */
/* perf.h - performance counters of a GPU: registers that select, start and read them
 *
 * Registers are dword addresses, as PM4 packets have them. Those that are not listed in perf.c keep nothing and read 0.
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

/* What result registers show is what is counted by now. */
void perf_sample(unsigned int gpu);

/* Is anything counted? Then dispatches need the model of the caches. */
bool perf_counting(unsigned int gpu);

/* A dispatch has been executed; `waves`: its queue's waves are to be counted. */
void perf_count(unsigned int gpu, bool waves, const struct gcn_counters *counters);

#endif
