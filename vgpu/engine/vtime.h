/* SPDX-License-Identifier: MIT */
/* vtime.h - virtual completion time of signals (deterministic mode)
 *
 * The virtual times at which signals were completed: a packet that waits for a signal begins at
 * that time. Under the engine's lock.
 */
#ifndef VGPU_VTIME_H
#define VGPU_VTIME_H

#include <stdbool.h>
#include <stdint.h>

/* Records that the signal at `addr` was completed at virtual time `vns`. */
void vtime_set(uint64_t addr, uint64_t vns);

/* Counts completions of the signal that are not visible to the host; false: the table is full. */
bool vtime_pend(uint64_t addr, int change);
int vtime_pending(uint64_t addr);

/* Virtual time of the last completion of the signal at `addr`; 0 if unknown. */
uint64_t vtime_get(uint64_t addr);

#endif
