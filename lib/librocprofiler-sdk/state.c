/* SPDX-License-Identifier: MIT */
/* state.c - librocprofiler-sdk: the core, and how far the tools are
 *
 * Threads:  any.
 */
#define LOG_TOPIC "sdk"
#include "state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "../face/fork_guard.h"
#include "base/env.h"
#include "base/log.h"

_Atomic int state_phase_now;
_Atomic int state_current_client = -1;
_Thread_local bool state_in_runtime;
_Atomic bool state_is_done;
_Atomic int state_end;
_Thread_local int state_nr_ending;
static _Atomic(const struct rtl_core *) the_core;
static _Atomic(state_first_use_fn) on_first_use;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start_once(void)
{
	/* first: its handlers of fork() are registered before those of this library */
	const struct rtl_core *core = rtl_core_get(RTL_CORE_VERSION);

	env_init();
	log_init();
	fork_guard_start();
	atomic_store(&the_core, core);
}

const struct rtl_core *state_core(void)
{
	pthread_once(&once, start_once);
	return atomic_load_explicit(&the_core, memory_order_relaxed);
}

void state_drop_core(void)
{
	atomic_store(&the_core, NULL);
}

void state_on_first_use(state_first_use_fn fn)
{
	atomic_store(&on_first_use, fn);
}

void state_first_use_slow(void)
{
	state_first_use_fn fn = atomic_load(&on_first_use);

	if (fn)
		fn();
}

bool state_has_tool(void)
{
	const char *list = getenv("ROCP_TOOL_LIBRARIES");

	if ((list && *list && !getauxval(AT_SECURE)) || dlsym(RTLD_DEFAULT, STATE_TOOL_SYMBOL))
		return true;
	dlerror();
	return false;
}

/* What a tool would see of the GPU comes by HSA's tables, which the runtime passes on once, when it
 * starts. */
bool state_is_too_late(void)
{
	static _Atomic bool is_said;

	if (state_in_runtime || !state_core() || !state_core()->hsa_is_past())
		return false;
	if (!atomic_exchange(&is_said, true))
		log_warn(
			"HSA's runtime was started before this library was loaded: tools see HIP's calls, and no kernel, copy, code object or call of HSA. Link the program with librocprofiler-sdk, or set LD_PRELOAD=librocprofiler-sdk.so.1 or HSA_TOOLS_LIB=librocprofiler-sdk.so.1");
	return true;
}
