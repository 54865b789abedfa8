/* SPDX-License-Identifier: MIT */
/* dispatch_times.c - a library to preload: prints the times that HSA's runtime gives for kernels
 *
 * Each answer is a line "BEGIN END" of the file that DISPATCH_TIMES names.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <hsa/hsa_ext_amd.h>

static FILE *out;
static __typeof__(&hsa_amd_profiling_get_dispatch_time) real;

static void start(void)
{
	const char *path = getenv("DISPATCH_TIMES");

	out = path ? fopen(path, "w") : NULL;
	real = (__typeof__(real))dlsym(RTLD_NEXT, "hsa_amd_profiling_get_dispatch_time");
	if (!out || !real)
		abort();
}

__attribute__((visibility("default"))) hsa_status_t
hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
				    hsa_amd_profiling_dispatch_time_t *time)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	hsa_status_t status;

	pthread_once(&once, start);
	status = real(agent, signal, time);
	if (status == HSA_STATUS_SUCCESS)
		fprintf(out, "%" PRIu64 " %" PRIu64 "\n", time->start, time->end);
	return status;
}
