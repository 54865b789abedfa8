/* SPDX-License-Identifier: MIT */
/* control.cpp - a program that switches recording of itself
 *
 *	control [by=roctracer|profiler] [launches=N] [rounds=N] [threads=N]
 *
 * Linked with libroctracer64 and libroctx64, as programs that control their tracing are. Each round
 * makes `launches` launches of control_off, starts, the same of control_on, stops. With threads,
 * each thread launches control_on and switches in random order instead. At the end it prints the
 * counts.
 */
#include "hip_common.hpp"

#include <thread>
#include <vector>

extern "C" {
void roctracer_start(void);
void roctracer_stop(void);
void roctxMarkA(const char *);
int roctxRangePushA(const char *);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *);
void roctxRangeStop(uint64_t);
}

extern "C" __global__ void control_off(int *p)
{
	p[threadIdx.x] = 1;
}
extern "C" __global__ void control_on(int *p)
{
	p[threadIdx.x] = 2;
}

/* HIP deprecates the two functions; programs still call them. */
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

static bool by_profiler;
static int *memory, *host;

static void start()
{
	if (by_profiler)
		(void)hipProfilerStart(); /* HIP 5.2 returns an error */
	else
		roctracer_start();
}

static void stop()
{
	if (by_profiler)
		(void)hipProfilerStop();
	else
		roctracer_stop();
}

static void one_round(long launches)
{
	uint64_t off_on, on_off;

	roctxMarkA("mark off");
	roctxRangePushA("pushed off");
	off_on = roctxRangeStartA("started off");
	for (long i = 0; i < launches; i++)
		control_off<<<1, 64>>>(memory);
	HIP(hipMemcpyAsync(memory, host, 2 << 20, hipMemcpyHostToDevice, 0));

	start();
	roctxMarkA("mark on");
	control_on<<<1, 32>>>(memory); /* in a range that was opened before the start */
	roctxRangePushA("pushed on");
	on_off = roctxRangeStartA("started on");
	for (long i = 0; i < launches; i++)
		control_on<<<1, 64>>>(memory);
	HIP(hipMemcpyAsync(memory, host, 4 << 20, hipMemcpyHostToDevice, 0));
	control_on<<<1, 128>>>(memory); /* in flight when recording stops */
	stop();

	for (long i = 0; i < launches; i++)
		control_off<<<1, 64>>>(memory);
	HIP(hipDeviceSynchronize());
	roctxRangePop();
	roctxRangePop();
	roctxRangeStop(off_on);
	roctxRangeStop(on_off);
}

static void in_thread(long launches, unsigned seed)
{
	hipStream_t s;

	HIP(hipStreamCreate(&s));
	for (long i = 0; i < launches; i++) {
		seed = seed * 1664525 + 1013904223;
		if (seed >> 28 == 0)
			start();
		else if (seed >> 28 == 1)
			stop();
		if (seed >> 26 & 1)
			roctxRangePushA("of a thread");
		control_on<<<1, 64, 0, s>>>(memory);
		if (seed >> 26 & 1)
			roctxRangePop();
	}
	HIP(hipStreamSynchronize(s));
	HIP(hipStreamDestroy(s));
}

int main(int argc, char **argv)
{
	long launches = arg_num(argc, argv, "launches", 10);
	long rounds = arg_num(argc, argv, "rounds", 1), nr = arg_num(argc, argv, "threads", 0);
	std::vector<std::thread> threads;

	by_profiler = !strcmp(arg_text(argc, argv, "by", "roctracer"), "profiler");
	HIP(hipMalloc(&memory, 4 << 20));
	HIP(hipHostMalloc((void **)&host, 4 << 20, 0));
	for (long i = 0; i < nr; i++)
		threads.emplace_back(in_thread, launches, (unsigned)i * 77 + 1);
	for (auto &t : threads)
		t.join();
	for (long i = 0; i < rounds && !nr; i++)
		one_round(launches);
	HIP(hipHostFree(host));
	HIP(hipFree(memory));
	printf("control: %ld launches\n", nr ? nr * launches : rounds * (3 * launches + 2));
	return 0;
}
