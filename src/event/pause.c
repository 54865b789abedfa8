/* SPDX-License-Identifier: MIT */
/* pause.c - recording that the program starts and stops */
#include "event/pause.h"

#include <string.h>

#include "base/compiler.h"
#include "base/env.h"
#include "event/special.h"

/* Read by all threads: shares its cache line with nothing that changes often. */
_Alignas(64) _Atomic bool pause_on;
/* set in init, constant afterwards */
static bool follows;

void pause_init(void)
{
	const char *start = env_str(ENV_TRACE_START);

	follows = strcmp(start, "off") == 0;
	pause_set(follows);
}

void pause_set(bool paused)
{
	atomic_store_explicit(&pause_on, paused, memory_order_relaxed);
	special_set(SPECIAL_PAUSED, paused);
}

void pause_switch(bool recording)
{
	if (RTL_UNLIKELY(follows))
		pause_set(!recording);
}
