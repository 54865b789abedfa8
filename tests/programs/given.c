/* SPDX-License-Identifier: MIT */
/* given.c - a program that requests HIP's functions from HIP, with the stand-in of the runtime
 *
 * One line for each request: the function that HIP returned (runtime: the runtime's; wrapper:
 * librtl's; kept: nothing was written; other), and the status. Last, the calls through them that
 * reached the runtime. The first argument is the function to use: hipGetProcAddress (default),
 * hipGetDriverEntryPoint or hipGetDriverEntryPoint_spt.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "stand_in.h"

#define KEPT ((void *)(uintptr_t)0x11)
#define FAILS 500
#define STRAY_ERRNO 77

int hipGetProcAddress(const char *symbol, void **pfn, int version, uint64_t flags, int *status);
int hipGetDriverEntryPoint(const char *symbol, void **fn, unsigned long long flags, int *status);
int hipGetDriverEntryPoint_spt(const char *symbol, void **fn, unsigned long long flags,
			       int *status);

static int (*entry_point)(const char *symbol, void **fn, unsigned long long flags, int *status);
static int nr_bad;

static int ask_hip(const char *symbol, void **fn, int version, uint64_t flags)
{
	if (entry_point)
		return entry_point(symbol, fn, flags, NULL);
	return hipGetProcAddress(symbol, fn, version, flags, NULL);
}

/* Sets the runtime's next result: this status, and `address` unless it is NULL. */
static void answer(int status, void **pfn, void *address)
{
	stand_in.armed = true;
	stand_in.status = status;
	stand_in.nr_back = 0;
	if (address && pfn)
		stand_in.back[stand_in.nr_back++] = (struct stand_in_back){
			.at = pfn, .what = STAND_IN_ADDRESS, .address = address
		};
}

static const char *what_is(const void *fn, const void *address)
{
	Dl_info info;

	if (fn == KEPT)
		return "kept";
	if (fn == address)
		return "runtime";
	return dladdr(fn, &info) && strstr(info.dli_fname, "librtl") ? "wrapper" : "other";
}

static void *ask(const char *what, const char *symbol, int version, uint64_t flags, int status,
		 void *address)
{
	void *fn = KEPT;
	int ret;

	answer(status, &fn, address);
	errno = STRAY_ERRNO;
	ret = ask_hip(symbol, &fn, version, flags);
	if (errno != STRAY_ERRNO || dlerror())
		nr_bad++;
	printf("%s: %s %d\n", what, what_is(fn, address), ret);
	return fn;
}

/* Calls a returned function: the call reaches the runtime once, with this argument. */
static void call(const char *function, void *fn, void *argument)
{
	int (*given)(void *, int, void *, int) = (int (*)(void *, int, void *, int))fn;
	void *got = NULL;

	answer(7, NULL, NULL);
	stand_in.nr_calls = 0;
	if (given(argument, 0, NULL, 0) != 7)
		nr_bad++;
	memcpy(&got, stand_in.bytes, sizeof(got));
	if (stand_in.nr_calls != 1 || strcmp(stand_in.function, function) != 0 || got != argument)
		nr_bad++;
	printf("called: %s %u\n", stand_in.function, stand_in.nr_calls);
}

int main(int argc, char **argv)
{
	const char *whom = argc > 1 ? argv[1] : "hipGetProcAddress";
	void *release = stand_in_address("hipGetDevicePropertiesR0600");
	void *spt = stand_in_address("hipMemcpy_spt");
	static char token[64];
	void *fn;

	if (!strcmp(whom, "hipGetDriverEntryPoint"))
		entry_point = hipGetDriverEntryPoint;
	else if (!strcmp(whom, "hipGetDriverEntryPoint_spt"))
		entry_point = hipGetDriverEntryPoint_spt;
	fn = ask("known", "hipFree", 60400000, 0, 0, stand_in_address("hipFree"));
	call("hipFree", fn, token);
	/* a second lookup */
	fn = ask("again", "hipFree", 60400000, 0, 0, stand_in_address("hipFree"));
	call("hipFree", fn, token + 1);
	fn = ask("release", "hipGetDevicePropertiesR0600", 60400000, 0, 0, release);
	call("hipGetDevicePropertiesR0600", fn, token + 2);
	fn = ask("of the release", "hipGetDeviceProperties", 60400000, 0, 0, release);
	call("hipGetDevicePropertiesR0600", fn, token + 3);
	fn = ask("of the thread", "hipMemcpy", 60400000, 2, 0, spt);
	call("hipMemcpy_spt", fn, token + 4);
	/* the function that returns others */
	ask("itself", whom, 60400000, 0, 0, stand_in_address(whom));
	ask("unknown", "hipNoSuchFunction", 60400000, 0, FAILS, NULL);
	ask("failed", "hipFree", 60400000, 0, FAILS, stand_in_address("hipFree"));
	ask("other name", "hipMalloc", 60400000, 0, 0, stand_in_address("hipFree"));
	ask("no wrapper", "stand_in_finish", 60400000, 0, 0, (void *)stand_in_finish);
	ask("the program's", "hipFree", 60400000, 0, 0, (void *)main);
	ask("nothing", "hipFree", 60400000, 0, 0, NULL);
	ask("no name", NULL, 60400000, 0, 0, stand_in_address("hipFree"));
	ask("empty name", "", 60400000, 0, 0, stand_in_address("hipFree"));
	answer(0, NULL, NULL);
	printf("no token: %d\n", ask_hip("hipFree", NULL, 60400000, 0));
	printf("%d bad\n", nr_bad);
	return nr_bad != 0;
}
