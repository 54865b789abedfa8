/* SPDX-License-Identifier: MIT */
/* clock.c - the host's time and the counter of each GPU
 *
 * Threads:  any, without locks: the parameters are constant after clock_init(), the epoch is set
 *           once.
 * Not here: the virtual time of the queues (cp_aql.c, sdma.c, vtime.c).
 */
#include "clock.h"

#include <stdatomic.h>
#include <time.h>

#include "knobs.h"

#define SCALE_SHIFT 60

/* Virtual time starts this long after the counter was first read, so no tick precedes the agent. */
#define VIRTUAL_START_NS 1000000

static struct {
	uint64_t mult; /* ticks per ns << SCALE_SHIFT, rounded up so that exact ratios stay exact */
	uint64_t step_ns;
	_Atomic uint64_t epoch_ns;
} gpus[KNOBS_DEVICES_MAX];

void clock_init(void)
{
	uint64_t a = knobs.clock_hz, b = 1000000000;

	while (b) {
		uint64_t t = a % b;

		a = b;
		b = t;
	}
	for (unsigned int i = 0; i < KNOBS_DEVICES_MAX; i++) {
		unsigned __int128 den = (unsigned __int128)1000000000 * 1000000000;
		unsigned __int128 num = (unsigned __int128)knobs.clock_hz *
					(uint64_t)(1000000000 + knobs.drift_ppb[i]);

		gpus[i].mult = (uint64_t)(((num << SCALE_SHIFT) + den - 1) / den);
		gpus[i].step_ns = 1000000000 / a;
	}
}

uint64_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t scale(unsigned int gpu, uint64_t ns)
{
	return (uint64_t)(((unsigned __int128)ns * gpus[gpu].mult) >> SCALE_SHIFT);
}

static uint64_t epoch(unsigned int gpu)
{
	uint64_t at = gpus[gpu].epoch_ns;
	uint64_t none = 0;

	if (at)
		return at;
	at = clock_now();
	/* another thread's first reading wins */
	if (!atomic_compare_exchange_strong(&gpus[gpu].epoch_ns, &none, at))
		at = none;
	return at;
}

uint64_t clock_ticks(unsigned int gpu, uint64_t ns)
{
	uint64_t at = epoch(gpu);

	return knobs.offset[gpu] + (ns > at ? scale(gpu, ns - at) : 0);
}

uint64_t clock_virtual_ticks(unsigned int gpu, uint64_t vns)
{
	return knobs.offset[gpu] + scale(gpu, vns + VIRTUAL_START_NS);
}

void clock_sample(unsigned int gpu, uint64_t *ticks, uint64_t *ns)
{
	uint64_t at = epoch(gpu);
	uint64_t now = clock_now();

	if (now < at)
		now = at;
	/* deterministic: the instant of a tick, so that the line through two samples is exact */
	if (knobs.clock == KNOBS_CLOCK_DETERMINISTIC)
		now -= (now - at) % gpus[gpu].step_ns;
	*ns = now;
	*ticks = clock_ticks(gpu, now);
}

void clock_restart(void)
{
	for (unsigned int i = 0; i < KNOBS_DEVICES_MAX; i++)
		gpus[i].epoch_ns = 0;
}

void clock_info(unsigned int gpu, struct clock_gpu_info *out)
{
	out->hz = knobs.clock_hz;
	out->offset = knobs.offset[gpu];
	out->epoch_ns = epoch(gpu);
	out->drift_ppb = knobs.drift_ppb[gpu];
}
