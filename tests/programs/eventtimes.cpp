/* SPDX-License-Identifier: MIT */
/* eventtimes.cpp - prints every time that HIP reports for GPU work
 *
 * On the virtual GPU with VGPU_CLOCK=deterministic two runs print the same, byte for byte. Times
 * are printed in full (%.9g), so a difference of one ns shows.
 */
#include "hip_common.hpp"

#include <string>
#include <vector>

extern "C" __global__ void times_work(int *p)
{
	p[threadIdx.x] = 1;
}

extern "C" __global__ void times_work2(int *p)
{
	p[threadIdx.x] += 2;
}

static int *memory;

static void launch(hipStream_t stream, unsigned int blocks)
{
	times_work<<<blocks, 64, 0, stream>>>(memory);
	HIP(hipGetLastError());
}

static void print_elapsed(const char *what, int i, hipEvent_t a, hipEvent_t b)
{
	float ms = -1;
	hipError_t err = hipEventElapsedTime(&ms, a, b);

	printf("%s %d: %s %.9g ms\n", what, i, hipGetErrorName(err), (double)ms);
}

/* hipEventRecord on both sides of n kernels. */
static void recorded()
{
	hipEvent_t a, b;
	hipStream_t stream;

	HIP(hipStreamCreate(&stream));
	HIP(hipEventCreate(&a));
	HIP(hipEventCreate(&b));
	for (int i = 0; i < 20; i++) {
		HIP(hipEventRecord(a, stream));
		for (int k = 0; k <= i % 5; k++)
			launch(stream, 1 + (unsigned)i);
		HIP(hipEventRecord(b, stream));
		HIP(hipEventSynchronize(b));
		print_elapsed("recorded", i, a, b);
	}
	/* events without work in between, and the default stream */
	HIP(hipEventRecord(a, NULL));
	HIP(hipEventRecord(b, NULL));
	HIP(hipEventSynchronize(b));
	print_elapsed("empty", 0, a, b);
	HIP(hipEventDestroy(a));
	HIP(hipEventDestroy(b));
	HIP(hipStreamDestroy(stream));
}

/* hipExtLaunchKernel: the events are the kernel's own begin and end. */
static void ext_launch()
{
	enum { N = 40 };
	std::vector<hipEvent_t> start(N), stop(N);
	hipStream_t stream;
	void *args[] = { &memory };

	HIP(hipStreamCreate(&stream));
	for (int i = 0; i < N; i++) {
		HIP(hipEventCreate(&start[i]));
		HIP(hipEventCreate(&stop[i]));
	}
	/* one at a time, queried at once */
	for (int i = 0; i < 20; i++) {
		HIP(hipExtLaunchKernel((const void *)times_work2, dim3(1 + (unsigned)i), dim3(64),
				       args, 0, stream, start[i], stop[i], 0));
		HIP(hipEventSynchronize(stop[i]));
		print_elapsed("ext", i, start[i], stop[i]);
	}
	/* all in flight, then queried; stop event only; start event only */
	for (int i = 0; i < N; i++)
		HIP(hipExtLaunchKernel((const void *)times_work2, dim3(1 + (unsigned)(i % 9)),
				       dim3(64), args, 0, stream, i % 3 == 2 ? NULL : start[i],
				       stop[i], 0));
	HIP(hipStreamSynchronize(stream));
	/* the stream may be complete before its last events */
	for (int i = 0; i < N; i++)
		HIP(hipEventSynchronize(stop[i]));
	for (int i = 0; i < N; i++)
		if (i % 3 != 2)
			print_elapsed("ext in flight", i, start[i], stop[i]);
	for (int i = 1; i < N; i++)
		print_elapsed("ext stop to stop", i, stop[i - 1], stop[i]);
	for (int i = 0; i < N; i++) {
		HIP(hipEventDestroy(start[i]));
		HIP(hipEventDestroy(stop[i]));
	}
	HIP(hipStreamDestroy(stream));
}

/* Streams that wait for each other's events: as many as have hardware queues of their own, of which
 * HIP has four and the default stream has one. Further ones share queues, and which ones the
 * addresses of the queues decide. */
static void cross_stream()
{
	enum { S = 3 };
	hipStream_t streams[S];
	hipEvent_t begin, end, step[S * 4];

	HIP(hipEventCreate(&begin));
	HIP(hipEventCreate(&end));
	for (int i = 0; i < S * 4; i++)
		HIP(hipEventCreate(&step[i]));
	for (int i = 0; i < S; i++)
		HIP(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
	HIP(hipEventRecord(begin, streams[0]));
	for (int i = 0; i < S * 4; i++) {
		int s = i % S;

		if (i)
			HIP(hipStreamWaitEvent(streams[s], step[i - 1], 0));
		else
			HIP(hipStreamWaitEvent(streams[s], begin, 0));
		launch(streams[s], 1 + (unsigned)i);
		HIP(hipEventRecord(step[i], streams[s]));
		/* one stream after the other: their sharing of the GPU would change the times */
		if (i % S == S - 1)
			HIP(hipStreamSynchronize(streams[s]));
	}
	HIP(hipEventRecord(end, streams[S - 1]));
	HIP(hipEventSynchronize(end));
	print_elapsed("cross whole", 0, begin, end);
	for (int i = 0; i < S * 4; i++)
		HIP(hipEventSynchronize(step[i]));
	for (int i = 0; i < S * 4; i++)
		print_elapsed("cross step", i, begin, step[i]);
	for (int i = 0; i < S; i++)
		HIP(hipStreamDestroy(streams[i]));
	for (int i = 0; i < S * 4; i++)
		HIP(hipEventDestroy(step[i]));
	HIP(hipEventDestroy(begin));
	HIP(hipEventDestroy(end));
}

/* Copies and fills between events; checks the data, too. */
static void copies()
{
	const size_t size = 1 << 20;
	hipEvent_t a, b;
	hipStream_t stream;
	char *host, *back, *dev, *dev2;

	HIP(hipStreamCreate(&stream));
	HIP(hipEventCreate(&a));
	HIP(hipEventCreate(&b));
	HIP(hipHostMalloc((void **)&host, size, 0));
	HIP(hipHostMalloc((void **)&back, size, 0));
	HIP(hipMalloc((void **)&dev, size));
	HIP(hipMalloc((void **)&dev2, size));
	memset(host, 0x77, size);
	for (int i = 0; i < 6; i++) {
		size_t part = size >> i;

		HIP(hipEventRecord(a, stream));
		HIP(hipMemcpyAsync(dev, host, part, hipMemcpyHostToDevice, stream));
		HIP(hipEventRecord(b, stream));
		HIP(hipEventSynchronize(b));
		print_elapsed("copy to device", i, a, b);
		HIP(hipEventRecord(a, stream));
		HIP(hipMemcpyAsync(back, dev, part, hipMemcpyDeviceToHost, stream));
		HIP(hipEventRecord(b, stream));
		HIP(hipEventSynchronize(b));
		print_elapsed("copy to host", i, a, b);
		printf("copy %d: %s\n", i, memcmp(host, back, part) ? "wrong" : "right");
		HIP(hipEventRecord(a, stream));
		HIP(hipMemcpyAsync(dev2, dev, part, hipMemcpyDeviceToDevice, stream));
		HIP(hipEventRecord(b, stream));
		HIP(hipEventSynchronize(b));
		print_elapsed("copy within", i, a, b);
		HIP(hipEventRecord(a, stream));
		HIP(hipMemsetAsync(dev2, i, part, stream));
		HIP(hipEventRecord(b, stream));
		HIP(hipEventSynchronize(b));
		print_elapsed("fill", i, a, b);
	}
	HIP(hipFree(dev));
	HIP(hipFree(dev2));
	HIP(hipHostFree(host));
	HIP(hipHostFree(back));
	HIP(hipEventDestroy(a));
	HIP(hipEventDestroy(b));
	HIP(hipStreamDestroy(stream));
}

/* Events that cannot be measured return errors. */
static void errors()
{
	hipEvent_t a, b, off;
	float ms = 1;

	HIP(hipEventCreate(&a));
	HIP(hipEventCreate(&b));
	HIP(hipEventCreateWithFlags(&off, hipEventDisableTiming));
	printf("never recorded: %s\n", hipGetErrorName(hipEventElapsedTime(&ms, a, b)));
	printf("query before: %s\n", hipGetErrorName(hipEventQuery(a)));
	HIP(hipEventRecord(off, NULL));
	HIP(hipEventRecord(b, NULL));
	HIP(hipDeviceSynchronize());
	printf("timing disabled: %s\n", hipGetErrorName(hipEventElapsedTime(&ms, off, b)));
	printf("query after: %s\n", hipGetErrorName(hipEventQuery(b)));
	HIP(hipEventDestroy(a));
	HIP(hipEventDestroy(b));
	HIP(hipEventDestroy(off));
}

int main(int argc, char **argv)
{
	const char *only = arg_text(argc, argv, "part", "");
	static const struct {
		const char *name;
		void (*run)();
	} parts[] = {
		{ "recorded", recorded }, { "ext", ext_launch }, { "cross", cross_stream },
		{ "copies", copies },	  { "errors", errors },
	};

	HIP(hipMalloc((void **)&memory, 1 << 16));
	for (auto &part : parts)
		if (!*only || !strcmp(only, part.name))
			part.run();
	HIP(hipFree(memory));
	fprintf(stderr, "eventtimes: a line on stderr, as programs write them\n");
	return 3;
}
