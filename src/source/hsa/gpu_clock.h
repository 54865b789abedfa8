/* SPDX-License-Identifier: MIT */
/* gpu_clock.h - a GPU's ticks as ns of system time, in their order
 *
 * The runtime's relation of ticks and system time is linear, and it measures it again several times
 * a second: each measurement moves the line, so that a later tick may get an earlier time. A
 * gpu_clock is one function from ticks to ns for the life of a process, which follows the runtime's
 * line and keeps the order of ticks: it consists of lines that meet. It is settled up to a tick,
 * `until`, and does not change before that; gpu_clock_extend() adds to it
 * (docs/decisions/051-times-keep-the-order-of-ticks.md).
 *
 * Threads:  the caller has a lock; a gpu_clock_piece is a copy, and remains true.
 */
#ifndef RTL_SOURCE_HSA_GPU_CLOCK_H
#define RTL_SOURCE_HSA_GPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

#define GPU_CLOCK_NR_PIECES 128u

/* How far gpu_clock_extend() settles the function beyond its tick. Ticks: 0.7 ms at 100 MHz, a
 * hundredth of the time for which the runtime keeps a relation. */
#define GPU_CLOCK_REACH (UINT64_C(1) << 16)

/* A line, of the ticks [from, until]. All zero: of no tick but 0, which is none. */
struct gpu_clock_piece {
	uint64_t from, until;
	uint64_t ticks,
		/* a point of the line; `ticks` is `from` but in the first piece, which begins at
		 * 0 */
		ns;
	uint64_t most; /* ns; no time of the piece is later */
	uint64_t
		/* ns; in `ns`: how far the line is above the chord of those that it replaced */
		rise;
	double ns_per_tick;
};

struct gpu_clock {
	uint32_t nr;
	double ns_per_tick; /* of the runtime, when it was last asked */
	struct gpu_clock_piece piece[GPU_CLOCK_NR_PIECES];
};

/* HOT: */
static inline bool gpu_clock_covers(const struct gpu_clock_piece *p, uint64_t ticks)
{
	return ticks - p->from <= p->until - p->from && ticks;
}

/* HOT: ns of system time; `p` covers `ticks`. */
static inline uint64_t gpu_clock_ns(const struct gpu_clock_piece *p, uint64_t ticks)
{
	int64_t d = (int64_t)((double)(int64_t)(ticks - p->ticks) * p->ns_per_tick);
	uint64_t ns = p->ns + (uint64_t)d;

	if (RTL_UNLIKELY(d < 0 && ns > p->ns)) /* before the clock began */
		return 0;
	return ns < p->most ? ns : p->most;
}

/* The piece that covers `ticks`. NULL: the function is not settled there. It is valid until
 * gpu_clock_extend(). */
const struct gpu_clock_piece *gpu_clock_find(const struct gpu_clock *c, uint64_t ticks);

/* Settles the function up to GPU_CLOCK_REACH beyond `ticks`, where it is not settled yet. `ns`,
 * `ns_per_tick`: the runtime's line there; ns_per_tick > 0. */
void gpu_clock_extend(struct gpu_clock *c, uint64_t ticks, uint64_t ns, double ns_per_tick);

/* The same, with the runtime's last slope; there is a piece. Returns the time of `ticks`. */
uint64_t gpu_clock_continue(struct gpu_clock *c, uint64_t ticks);

#endif
