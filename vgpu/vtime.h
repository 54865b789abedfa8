/* SPDX-License-Identifier: MIT */
/* vtime.h - virtual completion time of signals (deterministic mode)
 *
 * Which signal was completed when on the axis of virtual time: what a packet that waits for the signal
 * starts from. Under the engine's lock.
 */
#ifndef VGPU_VTIME_H
#define VGPU_VTIME_H

#include <stdbool.h>
#include <stdint.h>

/* Notes that the signal at `addr` was completed at virtual time `vns`. */
void vtime_set(uint64_t addr, uint64_t vns);

/* Counts completions of the signal that the host has not been shown; false: no room to keep the count. */
bool vtime_pend(uint64_t addr, int change);
int vtime_pending(uint64_t addr);

/* Virtual time of the last completion of the signal at `addr`; 0 when none is known. */
uint64_t vtime_get(uint64_t addr);

#endif
