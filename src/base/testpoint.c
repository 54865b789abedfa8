/* SPDX-License-Identifier: MIT */
/* testpoint.c - stalls threads at named points in debug builds
 *
 * Threads:  testpoint_hit() any; the others before threads.
 */
#include "base/testpoint.h"

#ifdef RTL_DEBUG_CHECKS
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/env.h"

_Atomic(const char *) testpoint_name;
static _Atomic uint64_t stall_ms;

void testpoint_set(const char *name, uint64_t ms)
{
	atomic_store_explicit(&stall_ms, ms, memory_order_relaxed);
	/* release: pairs with the test's own thread creation */
	atomic_store_explicit(&testpoint_name, name, memory_order_release);
}

_Atomic uint32_t testpoint_swallowed;

bool testpoint_swallows(uint32_t number)
{
	return number && atomic_compare_exchange_strong(&testpoint_swallowed, &number, 0);
}

void testpoint_hit(const char *name)
{
	const char *wanted = atomic_load_explicit(&testpoint_name, memory_order_acquire);
	uint64_t ms = atomic_load_explicit(&stall_ms, memory_order_relaxed);
	size_t size = strlen(name);
	struct timespec ts = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
	int saved = errno;

	if (!wanted || strncmp(wanted, name, size) != 0 || (wanted[size] && wanted[size] != ':'))
		return;
	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
	errno = saved;
}

void testpoint_init(void)
{
	const char *text = env_str(ENV_TEST_STALL);
	const char *colon = strrchr(text, ':');

	atomic_store_explicit(&testpoint_swallowed, (uint32_t)env_uint(ENV_TEST_SWALLOW),
			      memory_order_relaxed);
	if (*text)
		testpoint_set(text, colon ? strtoull(colon + 1, NULL, 10) : 1000);
}
#else
typedef int testpoint_is_empty;
#endif
