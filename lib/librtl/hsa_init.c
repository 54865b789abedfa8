/* SPDX-License-Identifier: MIT */
/* hsa_init.c - hsa_init() in front of the runtime's, for programs that have librtl by LD_PRELOAD
 * alone, have cleared their environment, are linked with librtl, or have it for a face
 *
 * ROCr before 5.3 gives its tables only to the libraries that HSA_TOOLS_LIB names; without them a
 * trace would have the HIP calls and none of their operations. The runtime reads the variable
 * within hsa_init(): so the environment names librtl for that time (startenv.h), and is the
 * program's own again when the call returns. A process that another thread starts in that time gets
 * the variable, as it gets LD_PRELOAD.
 *
 * Where another way to the runtime passes by this function (RTLD_DEEPBIND), its operations are
 * missing, and the trace says so: hsa_past.c, and in the reader (store/verdict.c).
 *
 * Threads:  any; the first of several at once changes the environment.
 */
#include "hsa_init.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/env.h"
#include "boot.h"
#include "event/life.h"
#include "hsa_past.h"
#include "source/hip/lookup.h"
#include "startenv.h"

typedef hsa_status_t (*init_fn)(void);

EXPORT hsa_status_t hsa_init(void);

/* one thread at a time: that of `busy` */
static atomic_flag busy = ATOMIC_FLAG_INIT;
/* faces that may want the tables */
static _Atomic hsa_init_wants_fn faces[CORE_NR_INITS];

static init_fn find_next(void)
{
	void *fn;

	if (!lookup_next)
		early_find();
	if (!lookup_next)
		return NULL;
	fn = lookup_libc()(RTLD_NEXT, "hsa_init");
	return (init_fn)(fn ? fn : hsa_past_find("hsa_init"));
}

static bool names_librtl(const char *variable)
{
	const char *text = getenv(variable);

	return text && strstr(text, "librtl.so");
}

void hsa_init_as_tool(hsa_init_wants_fn wants)
{
	for (int i = 0; i < CORE_NR_INITS; i++) {
		hsa_init_wants_fn there = NULL;

		if (atomic_compare_exchange_strong(&faces[i], &there, wants))
			return;
	}
}

static bool is_for_face(void)
{
	bool any = false;

	for (int i = 0; i < CORE_NR_INITS; i++) {
		hsa_init_wants_fn wants = atomic_load(&faces[i]);

		any = (wants && wants()) || any;
	}
	return any;
}

static bool is_half_set_up(void)
{
	/* also where the runtime gets librtl another way: tools are to be there before it */
	bool is_wanted = is_for_face();

	boot();
	return !getauxval(AT_SECURE) && !env_bool(ENV_DISABLE) &&
	       (startenv_is_requested() || life_sinks_come_later() || is_wanted) &&
	       !names_librtl("HSA_TOOLS_LIB") && !names_librtl("ROCPROFILER_REGISTER_LIBRARY");
}

static hsa_status_t init_with_tool(init_fn next)
{
	struct startenv_loan loan;
	hsa_status_t status;

	if (!startenv_lend(&loan, true))
		return next();
	status = next();
	startenv_take_back(&loan);
	return status;
}

static hsa_status_t init(init_fn next)
{
	hsa_status_t status;

	/* acquire, release: what is lent */
	if (!is_half_set_up() || atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		return next();
	status = init_with_tool(next);
	atomic_flag_clear_explicit(&busy, memory_order_release);
	return status;
}

hsa_status_t hsa_init_front(void)
{
	init_fn next = find_next();
	hsa_status_t status;

	if (!next)
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	hsa_past_begin();
	status = init(next);
	hsa_past_end();
	return status;
}

EXPORT hsa_status_t hsa_init(void)
{
	return hsa_init_front();
}
