/* SPDX-License-Identifier: MIT */
/* pause.c - recording that the program itself starts and stops */
#include "event/pause.h"

#include <string.h>

#include "base/compiler.h"
#include "base/env.h"

/* Read by all threads: nothing that changes often lies beside it. */
_Alignas(64) _Atomic bool pause_on;
/* set in init, constant after */
static bool follows;

void pause_init(void)
{
	const char *start = env_str(ENV_TRACE_START);

	follows = strcmp(start, "always") != 0;
	atomic_store_explicit(&pause_on, strcmp(start, "off") == 0, memory_order_relaxed);
}

void pause_switch(bool recording)
{
	if (RTL_UNLIKELY(follows))
		atomic_store_explicit(&pause_on, !recording, memory_order_relaxed);
}
