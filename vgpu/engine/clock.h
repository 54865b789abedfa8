/* SPDX-License-Identifier: MIT */
/* clock.h - the host's time and the counter of each GPU
 *
 * Host time is CLOCK_BOOTTIME in ns: what the kernel driver reports as the system clock. A GPU's
 *     counter is ticks = offset + floor((ns - epoch) * hz * (1 + drift))
 * where epoch is the host time at which the counter was first read.
 */
#ifndef VGPU_CLOCK_H
#define VGPU_CLOCK_H

#include <stdint.h>

struct clock_gpu_info {
	uint64_t hz, offset, epoch_ns;
	int64_t drift_ppb;
};

void clock_init(void);

/* Host time in ns, monotonic. */
uint64_t clock_now(void);

/* The counter of `gpu` at host time `ns`. */
uint64_t clock_ticks(unsigned int gpu, uint64_t ns);

/* The counter of `gpu` at virtual time `vns` (deterministic mode: ns since all queues began). */
uint64_t clock_virtual_ticks(unsigned int gpu, uint64_t vns);

/* Reads both clocks at one instant. */
void clock_sample(unsigned int gpu, uint64_t *ticks, uint64_t *ns);

/* Forget the epochs: the runtime was started again. */
void clock_restart(void);

void clock_info(unsigned int gpu, struct clock_gpu_info *out);

#endif
