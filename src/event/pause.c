/* SPDX-License-Identifier: MIT */
/* pause.c - when recording is on: by the program, by time, by range, by rtl start and stop */
#include "event/pause.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/env.h"
#include "event/left_out.h"
#include "event/special.h"
#include "event/window.h"

/* Read by all threads: shares its cache line with nothing that changes often. */
_Alignas(64) _Atomic uint32_t pause_causes;
/* set in init, constant afterwards */
static bool follows, refuses;
static uint64_t start_ns; /* CLOCK_MONOTONIC */
static _Atomic uint64_t changed_ns;

void pause_init(void)
{
	const char *start = env_str(ENV_TRACE_START);

	follows = strcmp(start, "off") == 0;
	refuses = strcmp(start, "always") == 0;
	pause_set(follows);
	window_init();
	pause_hold(PAUSE_WINDOW, false);
	pause_hold(PAUSE_CONTROL, false);
	if (window_is_used()) {
		start_ns = clock_read_ns(CLOCK_MONOTONIC);
		pause_tick();
	}
}

/* The word has changed. Of concurrent threads the last one to set the bit has seen the last change:
 * each checks after its own. */
static void announce(void)
{
	bool paused;

	do {
		paused = pause_is_on();
		/* relaxed: for display alone */
		if (paused != special_any(SPECIAL_PAUSED))
			atomic_store_explicit(&changed_ns, clock_read_ns(CLOCK_MONOTONIC),
					      memory_order_relaxed);
		special_set(SPECIAL_PAUSED, paused);
		atomic_thread_fence(memory_order_seq_cst);
	} while (pause_is_on() != paused);
}

void pause_hold(enum pause_cause cause, bool held)
{
	left_out_flush();
	if (held)
		atomic_fetch_or(&pause_causes, (uint32_t)cause);
	else
		atomic_fetch_and(&pause_causes, ~(uint32_t)cause);
	announce();
}

void pause_ranges(bool are_used)
{
	atomic_fetch_and(&pause_causes, PAUSE_CAUSES);
	pause_hold(PAUSE_RANGE, are_used);
}

/* Adds `units` of PAUSE_RANGE_OPEN, modulo 2^32; recording is held back while there are none. */
static void add_ranges(uint32_t units)
{
	uint32_t old = atomic_load(&pause_causes), new;

	left_out_flush();
	do {
		new = (old & ~(uint32_t)PAUSE_RANGE) + units;
		if (new < PAUSE_RANGE_OPEN)
			new |= PAUSE_RANGE;
	} while (!atomic_compare_exchange_weak(&pause_causes, &old, new));
	if ((old ^ new) & PAUSE_RANGE)
		announce();
}

void pause_range_opened(void)
{
	add_ranges(PAUSE_RANGE_OPEN);
}

void pause_range_closed(void)
{
	add_ranges(0u - PAUSE_RANGE_OPEN);
}

uint64_t pause_since_ns(void)
{
	return atomic_load_explicit(&changed_ns, memory_order_relaxed);
}

void pause_set(bool paused)
{
	pause_hold(PAUSE_PROGRAM, paused);
}

void pause_switch(bool recording)
{
	if (RTL_UNLIKELY(follows))
		pause_set(!recording);
}

void pause_ask(bool recording)
{
	if (!refuses)
		pause_set(!recording);
}

bool pause_is_refused(void)
{
	return refuses;
}

uint64_t pause_tick(void)
{
	uint64_t edge_ns;
	bool held;

	if (RTL_LIKELY(!window_is_used()))
		return WINDOW_NO_EDGE;
	held = !window_at(clock_read_ns(CLOCK_MONOTONIC) - start_ns, &edge_ns);
	/* written only on a change: all threads read it. relaxed: threads that call this agree on
	 * the time */
	if (held != !!(atomic_load_explicit(&pause_causes, memory_order_relaxed) & PAUSE_WINDOW))
		pause_hold(PAUSE_WINDOW, held);
	return edge_ns;
}
