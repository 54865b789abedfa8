/* SPDX-License-Identifier: MIT */
/* forward.c - libroctx64, librocprofiler-sdk-roctx: marks and ranges, which call the core's
 *
 * librtl keeps the ranges and exports the same functions.
 *
 * Owns:     this library's core.
 * Threads:  any.
 * Fails:    with a librtl of another build calls do nothing and return what AMD's do.
 */
#include <pthread.h>

#include "../librtl/core.h"
#include "roctracer/roctx.h"
#include "roctx.h"

/* set once, constant after */
static const struct rtl_core *the_core;
static pthread_once_t core_once = PTHREAD_ONCE_INIT;

static void get_core(void)
{
	the_core = rtl_core_get(RTL_CORE_VERSION);
	/* not the address of an exported function: the loader may resolve that to librtl's */
	if (the_core)
		the_core->range_front((const void *)get_core);
}

const struct rtl_core *roctx_core(void)
{
	pthread_once(&core_once, get_core);
	return the_core;
}

/* librtl, in front of this library, is not to pass calls on to it. */
__attribute__((constructor)) static void start(void)
{
	roctx_core();
}

EXPORT void roctxMarkA(const char *message)
{
	const struct rtl_core *core = roctx_core();

	if (core)
		core->range_mark(message);
}

EXPORT int roctxRangePushA(const char *message)
{
	const struct rtl_core *core = roctx_core();

	return core ? core->range_push(message) : 0;
}

EXPORT int roctxRangePop(void)
{
	const struct rtl_core *core = roctx_core();

	return core ? core->range_pop() : -1;
}

EXPORT roctx_range_id_t roctxRangeStartA(const char *message)
{
	const struct rtl_core *core = roctx_core();

	return core ? core->range_start(message) : 0;
}

EXPORT void roctxRangeStop(roctx_range_id_t id)
{
	const struct rtl_core *core = roctx_core();

	if (core)
		core->range_stop(id);
}
