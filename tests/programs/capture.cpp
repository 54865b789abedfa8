/* SPDX-License-Identifier: MIT */
/* capture.cpp - a program of which parts are recorded
 *
 *	capture [do=mix|ranges|threads|timed|pause] [launches=N] [rounds=N] [ms=N]
 *
 * mix: on each device `launches` of app::alpha<int>, twice as many of capture_beta, and one copy to
 * it. ranges: in each round, launches outside of ranges, in a pushed one, in a started one, and in
 * one within the other; the workgroup's size says where. threads: a range of one thread, launches
 * of another. timed: launches with a growing grid, until the program has run for `ms` milliseconds;
 * "at BEGIN END" are those of each launch. pause: launches between roctxProfilerPause() and
 * roctxProfilerResume(), which are NULL untraced. At the end it prints the number of launches.
 */
#include "hip_common.hpp"

#include <thread>

extern "C" {
__attribute__((weak)) void roctxMarkA(const char *);
__attribute__((weak)) int roctxRangePushA(const char *);
__attribute__((weak)) int roctxRangePop(void);
__attribute__((weak)) uint64_t roctxRangeStartA(const char *);
__attribute__((weak)) void roctxRangeStop(uint64_t);
__attribute__((weak)) int roctxProfilerPause(uint64_t);
__attribute__((weak)) int roctxProfilerResume(uint64_t);
}

namespace app
{
template <typename T> __global__ void alpha(T *p)
{
	p[threadIdx.x] = 1;
}
} // namespace app
extern "C" __global__ void capture_beta(int *p)
{
	p[threadIdx.x] = 2;
}

enum { OUTSIDE = 32, PUSHED = 64, STARTED = 96, BOTH = 128, PAUSED = 160, OTHER = 192 };

static long nr_launches;

static void launch(int *memory, int where, long times, hipStream_t s = 0)
{
	for (long i = 0; i < times; i++)
		capture_beta<<<1, where, 0, s>>>(memory);
	__atomic_fetch_add(&nr_launches, times, __ATOMIC_RELAXED);
}

static void mix(long launches)
{
	int nr = 0, *host;

	HIP(hipGetDeviceCount(&nr));
	HIP(hipHostMalloc((void **)&host, 1 << 20, 0));
	for (int d = 0; d < nr; d++) {
		int *memory;

		HIP(hipSetDevice(d));
		HIP(hipMalloc(&memory, 1 << 20));
		for (long i = 0; i < launches; i++)
			app::alpha<int><<<1, 64>>>(memory);
		nr_launches += launches;
		launch(memory, OUTSIDE, 2 * launches);
		HIP(hipMemcpyAsync(memory, host, 1 << 20, hipMemcpyHostToDevice, 0));
		HIP(hipDeviceSynchronize());
		HIP(hipFree(memory));
	}
	HIP(hipHostFree(host));
}

static void ranges(int *memory, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		uint64_t id;

		launch(memory, OUTSIDE, 5);
		roctxRangePushA("step forward");
		launch(memory, PUSHED, i + 1);
		roctxRangePushA("other");
		launch(memory, PUSHED, i + 1);
		roctxRangePop();
		roctxRangePop();
		id = roctxRangeStartA("part");
		launch(memory, STARTED, 10 * (i + 1));
		roctxRangePushA("step forward");
		launch(memory, BOTH, 100);
		roctxRangePop();
		roctxRangeStop(id);
		roctxRangeStop(id); /* ignored */
		roctxMarkA("end of round");
	}
	HIP(hipDeviceSynchronize());
}

/* The range of a thread that ends without closing it ends with the thread. */
static void threads(int *memory)
{
	launch(memory, OUTSIDE, 3);
	std::thread([&] {
		roctxRangePushA("part");
		std::thread([&] {
			hipStream_t s;

			HIP(hipStreamCreate(&s));
			launch(memory, OTHER, 7, s);
			HIP(hipStreamSynchronize(s));
			HIP(hipStreamDestroy(s));
		}).join();
	}).join();
	launch(memory, OUTSIDE, 3);
	HIP(hipDeviceSynchronize());
}

/* Milliseconds since the first call. */
static long now_ms()
{
	static struct timespec from;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!from.tv_sec)
		from = now;
	return (now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000;
}

static void timed(int *memory, long ms)
{
	long begin, end;

	do {
		begin = now_ms();
		capture_beta<<<++nr_launches, 1>>>(memory);
		end = now_ms();
		printf("at %ld %ld\n", begin, end);
		HIP(hipDeviceSynchronize());
		sleep_ms(2);
	} while (end < ms);
}

static void pauses(int *memory, long rounds)
{
	launch(memory, OUTSIDE, 3);
	for (long i = 0; i < rounds; i++) {
		if (roctxProfilerPause(0))
			puts("capture: roctxProfilerPause() failed");
		launch(memory, PAUSED, 4);
		if (roctxProfilerResume(0))
			puts("capture: roctxProfilerResume() failed");
		launch(memory, OTHER, 5);
	}
	HIP(hipDeviceSynchronize());
}

int main(int argc, char **argv)
{
	const char *what = arg_text(argc, argv, "do", "mix");
	long launches = arg_num(argc, argv, "launches", 10),
	     rounds = arg_num(argc, argv, "rounds", 1);
	int *memory;

	now_ms();
	if (!strcmp(what, "mix")) {
		mix(launches);
	} else {
		HIP(hipMalloc(&memory, 1 << 20));
		if (!strcmp(what, "ranges"))
			ranges(memory, rounds);
		else if (!strcmp(what, "threads"))
			threads(memory);
		else if (!strcmp(what, "timed"))
			timed(memory, arg_num(argc, argv, "ms", 1000));
		else
			pauses(memory, rounds);
		HIP(hipFree(memory));
	}
	printf("capture: %ld launches\n", nr_launches);
	return 0;
}
