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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"

_Atomic(const char *) testpoint_name;
static _Atomic uint64_t stall_ms;
static _Atomic(void (*)(void)) to_run;

void testpoint_set(const char *name, uint64_t ms)
{
	atomic_store_explicit(&stall_ms, ms, memory_order_relaxed);
	/* release: pairs with the test's own thread creation */
	atomic_store_explicit(&testpoint_name, name, memory_order_release);
}

void testpoint_run(const char *name, void (*fn)(void))
{
	atomic_store(&to_run, fn);
	testpoint_set(name, 0);
}

_Atomic uint32_t testpoint_swallowed;

bool testpoint_swallows(uint32_t number)
{
	uint32_t bit = number < 32 ? UINT32_C(1) << number : 0;

	return atomic_fetch_and(&testpoint_swallowed, ~bit) & bit;
}

uint32_t testpoint_tid(uint32_t tid)
{
	static _Atomic uint32_t first;
	uint32_t was = 0;

	if (!(atomic_load(&testpoint_swallowed) & UINT32_C(1) << TESTPOINT_THREADS))
		return tid;
	return atomic_compare_exchange_strong(&first, &was, tid) ? tid : was;
}

/* The numbers of a list, as bits; 0 is none. */
static uint32_t read_numbers(const char *text)
{
	uint32_t bits = 0;

	while (*text) {
		char *end;
		unsigned long number = strtoul(text, &end, 10);

		if (end == text || number > 31)
			break;
		bits |= UINT32_C(1) << number;
		text = end + (*end == ',');
	}
	return bits & ~UINT32_C(1);
}

void testpoint_hit(const char *name)
{
	const char *wanted = atomic_load_explicit(&testpoint_name, memory_order_acquire);
	uint64_t ms = atomic_load_explicit(&stall_ms, memory_order_relaxed);
	size_t size = strlen(name);
	struct timespec ts = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };
	int saved = errno;
	void (*fn)(void);

	if (!wanted || strncmp(wanted, name, size) != 0 || (wanted[size] && wanted[size] != ':'))
		return;
	fn = atomic_exchange(&to_run, NULL);
	if (fn) {
		fn();
		errno = saved;
		return;
	}
	/* again after a signal, with what remains */
	while (syscall(SYS_nanosleep, &ts, &ts) != 0 && errno == EINTR)
		;
	errno = saved;
}

void testpoint_init(void)
{
	const char *text = env_str(ENV_TEST_STALL);
	const char *colon = strrchr(text, ':');

	atomic_store_explicit(&testpoint_swallowed, read_numbers(env_str(ENV_TEST_SWALLOW)),
			      memory_order_relaxed);
	if (*text)
		testpoint_set(text, colon ? strtoull(colon + 1, NULL, 10) : 1000);
}
#else
typedef int testpoint_is_empty;
#endif
