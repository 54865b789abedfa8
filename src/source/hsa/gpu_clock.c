/* SPDX-License-Identifier: MIT */
/* gpu_clock.c - a GPU's ticks as ns of system time: lines that meet
 *
 * When the array is full, pairs of pieces of its older half become one piece each, the chord of
 * both, raised so far that no tick gets an earlier time than before. So an operation whose begin is
 * converted after minutes does not begin before the end, converted then, of the operation before
 * it.
 */
#include "source/hsa/gpu_clock.h"

#include <stddef.h>
#include <string.h>

#define MAX_SLEW 500.0 /* a line's slope differs from the runtime's by 1 / MAX_SLEW at most, */
#define STEP_NS                                                                                    \
	2000000.0 /* except after a larger difference: the machine slept, or the clock was set */

static struct gpu_clock_piece *last_of(struct gpu_clock *c)
{
	return &c->piece[c->nr - 1];
}

static uint64_t reach(uint64_t ticks)
{
	return ticks < UINT64_MAX - GPU_CLOCK_REACH ? ticks + GPU_CLOCK_REACH : UINT64_MAX;
}

const struct gpu_clock_piece *gpu_clock_find(const struct gpu_clock *c, uint64_t ticks)
{
	/* most ticks are recent */
	for (uint32_t i = c->nr; i-- > 0;)
		if (c->piece[i].from <= ticks)
			return ticks <= c->piece[i].until ? &c->piece[i] : NULL;
	return NULL;
}

/* The chord of `a` and the piece behind it, `b`, raised: no tick gets an earlier time than
 * before. */
static struct gpu_clock_piece merge(const struct gpu_clock_piece *a,
				    const struct gpu_clock_piece *b)
{
	struct gpu_clock_piece p = *a;
	uint64_t begin = a->ns - a->rise, middle = b->ns - b->rise, chord;

	p.until = b->until;
	p.most = b->most;
	p.ns = begin;
	p.ns_per_tick = (double)(p.most - begin) / (double)(p.until + 1 - p.from);
	chord = gpu_clock_ns(&p, b->from);
	p.rise = a->rise > b->rise ? a->rise : b->rise;
	p.rise += (middle > chord ? middle - chord : 0) + 1; /* 1: both were rounded down */
	p.ns += p.rise;
	return p;
}

static void thin_out(struct gpu_clock *c)
{
	uint32_t n = 1, i = 1;

	/* The first piece has no beginning. */
	for (; i < GPU_CLOCK_NR_PIECES / 2; i += 2)
		c->piece[n++] = merge(&c->piece[i], &c->piece[i + 1]);
	memmove(&c->piece[n], &c->piece[i], (c->nr - i) * sizeof(c->piece[0]));
	c->nr -= i - n;
}

static double slope(double ns, double ticks, double rate)
{
	double off = ns - ticks * rate, s = ns / ticks;

	if (off > STEP_NS)
		return s;
	if (off < -STEP_NS)
		return s > rate / 2 ? s : rate / 2;
	if (s > rate + rate / MAX_SLEW)
		return rate + rate / MAX_SLEW;
	return s > rate - rate / MAX_SLEW ? s : rate - rate / MAX_SLEW;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return a - b + 1 <= 2;
}

/* Whether the last piece, if it went on, would be the line through both points. */
static bool is_same_line(const struct gpu_clock *c, uint64_t ticks, uint64_t ns, uint64_t until,
			 uint64_t until_ns)
{
	struct gpu_clock_piece longer = c->piece[c->nr - 1];

	longer.most = UINT64_MAX;
	return is_near(gpu_clock_ns(&longer, ticks), ns) &&
	       is_near(gpu_clock_ns(&longer, until), until_ns);
}

void gpu_clock_extend(struct gpu_clock *c, uint64_t ticks, uint64_t ns, double ns_per_tick)
{
	uint64_t until = reach(ticks),
		 until_ns = ns + (uint64_t)((double)(until - ticks) * ns_per_tick);
	struct gpu_clock_piece p = { .until = until,
				     .ticks = ticks,
				     .ns = ns,
				     .most = UINT64_MAX,
				     .ns_per_tick = ns_per_tick };

	c->ns_per_tick = ns_per_tick;
	if (c->nr && is_same_line(c, ticks, ns, until, until_ns)) {
		last_of(c)->until = until;
		return;
	}
	if (c->nr == GPU_CLOCK_NR_PIECES)
		thin_out(c);
	if (c->nr) {
		struct gpu_clock_piece *last = last_of(c);

		p.from = p.ticks = last->until;
		p.ns = last->most = gpu_clock_ns(last, last->until);
		p.ns_per_tick = slope((double)(int64_t)(until_ns - p.ns), (double)(until - p.from),
				      ns_per_tick);
		last->until = p.from - 1;
	}
	c->piece[c->nr++] = p;
}

uint64_t gpu_clock_continue(struct gpu_clock *c, uint64_t ticks)
{
	const struct gpu_clock_piece *last = last_of(c);
	uint64_t ns = gpu_clock_ns(last, last->until);

	if (ticks <= last->until)
		return gpu_clock_ns(gpu_clock_find(c, ticks), ticks);
	gpu_clock_extend(c, ticks, ns + (uint64_t)((double)(ticks - last->until) * c->ns_per_tick),
			 c->ns_per_tick);
	return gpu_clock_ns(last_of(c), ticks);
}
