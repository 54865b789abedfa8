/* SPDX-License-Identifier: MIT */
/* cancelled.cpp - a thread with a pending pthread_cancel() uses HIP, which has no cancellation
 * point there
 *
 *	cancelled part=launch|stream|copy|fill|sync|alloc
 *
 * stdout: whether the thread got to its end and ended as cancelled, and that the main thread can go
 * on. A thread that ends within a call leaves locks behind: then the main thread hangs.
 */
#include "hip_common.hpp"

#include <pthread.h>

__global__ void count_up(int *p)
{
	atomicAdd(p, 1);
}

static int *counter, host[1024];
static hipStream_t stream;
static const char *part;
static bool at_end;

static void launch(hipStream_t s, int n)
{
	for (int i = 0; i < n; i++)
		count_up<<<1, 1, 0, s>>>(counter);
}

static void use()
{
	hipStream_t own;
	void *p;

	if (!strcmp(part, "launch")) {
		/* more than the first ring of operations in flight; by more, HIP 5.2.3 itself waits
		 * and dies */
		launch(stream, 100);
	} else if (!strcmp(part, "stream")) {
		HIP(hipStreamCreate(&own));
		launch(own, 1);
	} else if (!strcmp(part, "copy")) {
		HIP(hipMalloc(&p, sizeof(host)));
		for (int i = 0; i < 100; i++)
			HIP(hipMemcpyAsync(p, host, sizeof(host), hipMemcpyHostToDevice, stream));
	} else if (!strcmp(part, "fill")) {
		HIP(hipMalloc(&p, sizeof(host)));
		for (int i = 0; i < 100; i++)
			HIP(hipMemsetAsync(p, 1, sizeof(host), stream));
	} else if (!strcmp(part, "sync")) {
		launch(stream, 100);
		while (hipStreamQuery(stream) == hipErrorNotReady)
			;
		HIP(hipStreamSynchronize(stream));
	} else if (!strcmp(part, "alloc")) {
		for (int i = 0; i < 100; i++) {
			HIP(hipMalloc(&p, 64 << (i % 12)));
			HIP(hipFree(p));
		}
	}
}

static void *run(void *arg)
{
	pthread_cancel(pthread_self());
	use();
	at_end = true;
	pthread_testcancel();
	return arg;
}

int main(int argc, char **argv)
{
	hipStream_t later;
	pthread_t thread;
	void *result;
	int n;

	part = arg_text(argc, argv, "part", "launch");
	HIP(hipStreamCreate(&stream));
	HIP(hipMalloc(&counter, sizeof(*counter)));
	HIP(hipMemset(counter, 0, sizeof(*counter)));
	launch(stream, 1);
	HIP(hipStreamSynchronize(stream));
	pthread_create(&thread, nullptr, run, nullptr);
	pthread_join(thread, &result);
	printf("%s: at the end %d, cancelled %d\n", part, at_end, result == PTHREAD_CANCELED);
	fflush(stdout);
	HIP(hipStreamCreate(&later));
	launch(later, 10);
	HIP(hipDeviceSynchronize());
	HIP(hipMemcpy(&n, counter, sizeof(n), hipMemcpyDeviceToHost));
	printf("%d kernels\n", n);
	return 0;
}
