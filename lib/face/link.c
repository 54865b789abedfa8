/* SPDX-License-Identifier: MIT */
/* link.c - a face's connection to the core
 *
 * Owns:     the pointer to the core's table.
 * Threads:  any.
 */
#include "link.h"

#include <pthread.h>

/* the linker's: where the section begins. Each library has its own. */
extern const link_start_fn __start_rtl_link[] __attribute__((visibility("hidden")));

static const struct rtl_core *the_core;

static void start_once(void)
{
	const struct rtl_core *core = rtl_core_get(RTL_CORE_VERSION);

	if (__start_rtl_link[0](core))
		the_core = core;
}

const struct rtl_core *link_core(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start_once);
	return the_core;
}
