/* SPDX-License-Identifier: MIT */
/* troubled.cpp - has one problem of performance, which rtl summary is to name
 *
 *	troubled problem=NAME
 *
 *	streams	  kernels on four streams, of which each waits for the one before by an event
 *	launches  many kernels, each waited for
 *	sync	  memory is freed while a kernel works
 *	copies	  large copies from pageable memory
 *	none	  the same kernels on streams of their own, with one pinned copy. On all GPUs, where
 *		  there are several
 */
#include "hip_common.hpp"

#include <vector>

enum { STREAMS = 4, BYTES = 4 << 20 };

extern "C" __global__ void work(float *p)
{
	p[threadIdx.x] += 1;
}

/* The GPU works for the first stream until the host has launched all: how fast that is has no
 * influence on who waits for whom. */
extern "C" __global__ void gate(const int *is_open)
{
	while (!__atomic_load_n(is_open, __ATOMIC_RELAXED))
		;
}

static float *memory;
static int *is_open; /* of the host, which the GPU sees */

static void streams_wait(bool for_each_other)
{
	hipStream_t streams[STREAMS];
	hipEvent_t event;

	HIP(hipEventCreateWithFlags(&event, hipEventDisableTiming));
	for (hipStream_t &s : streams)
		HIP(hipStreamCreateWithFlags(&s, hipStreamNonBlocking));
	if (for_each_other) {
		*is_open = 0;
		gate<<<1, 1, 0, streams[0]>>>(is_open);
	}
	for (int i = 0; i < 40; i++) {
		hipStream_t s = streams[i % STREAMS];

		if (for_each_other && i)
			HIP(hipStreamWaitEvent(s, event, 0));
		work<<<1, 64, 0, s>>>(memory);
		if (for_each_other)
			HIP(hipEventRecord(event, s));
	}
	__atomic_store_n(is_open, 1, __ATOMIC_RELEASE);
	HIP(hipDeviceSynchronize());
	for (hipStream_t s : streams)
		HIP(hipStreamDestroy(s));
	HIP(hipEventDestroy(event));
}

static void many_launches()
{
	for (int i = 0; i < 1000; i++) {
		work<<<1, 64>>>(memory);
		HIP(hipStreamSynchronize(NULL));
	}
}

static void hidden_sync()
{
	for (int i = 0; i < 30; i++) {
		void *extra;

		HIP(hipMalloc(&extra, 1 << 20));
		work<<<1, 64>>>(memory);
		HIP(hipFree(extra));
	}
}

static void copies(bool pinned)
{
	std::vector<char> pageable(BYTES);
	void *host = pageable.data();

	if (pinned)
		HIP(hipHostMalloc(&host, BYTES, 0));
	for (int i = 0; i < (pinned ? 1 : 20); i++)
		HIP(hipMemcpyAsync(memory, host, BYTES, hipMemcpyHostToDevice, NULL));
	HIP(hipStreamSynchronize(NULL));
	if (pinned)
		HIP(hipHostFree(host));
}

int main(int argc, char **argv)
{
	const char *problem = arg_text(argc, argv, "problem", "none");
	int nr = 0;

	HIP(hipGetDeviceCount(&nr));
	for (int gpu = 0; gpu < nr; gpu++) {
		HIP(hipSetDevice(gpu));
		HIP(hipMalloc((void **)&memory, BYTES));
		HIP(hipHostMalloc((void **)&is_open, sizeof(*is_open), hipHostMallocCoherent));
		/* code is loaded at the first launch */
		work<<<1, 64>>>(memory);
		HIP(hipDeviceSynchronize());
		if (!strcmp(problem, "streams"))
			streams_wait(true);
		else if (!strcmp(problem, "launches"))
			many_launches();
		else if (!strcmp(problem, "sync"))
			hidden_sync();
		else if (!strcmp(problem, "copies"))
			copies(false);
		else
			streams_wait(false);
		if (!strcmp(problem, "none"))
			copies(true);
		HIP(hipHostFree(is_open));
		HIP(hipFree(memory));
	}
	printf("%s\n", problem);
	return 0;
}
