/* SPDX-License-Identifier: MIT */
/* step.cpp - a program that repeats what applications do in a step, and prints a step's cost
 *
 *	step [kind=decode|train|gpus] [steps=200] [pin=1]
 *
 * decode: a language model makes a token: 40 calls (copies, queries, events), and one graph of 300
 * kernels, which is waited for. train: 4 streams with 2 copies, 30 kernels and an event each, which
 * the next stream waits for. gpus: a thread for each GPU launches 100 kernels and waits for them.
 * The kernels are empty: what is measured is the launching side.
 */
#include <hip/hip_runtime.h>

#include "bench_common.h"

#include <thread>
#include <vector>

enum { NR_NODES = 300, NR_STREAMS = 4, NR_KERNELS = 30, NR_LAUNCHES = 100, BYTES = 64 << 10 };

extern "C" __global__ void bench_step_empty()
{
}

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err_ = (call);                                                          \
		if (err_ != hipSuccess) {                                                          \
			fprintf(stderr, "step: %s: %s\n", #call, hipGetErrorString(err_));         \
			fflush(NULL);                                                              \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static hipStream_t streams[NR_STREAMS];
static hipEvent_t events[NR_STREAMS];
static hipGraphExec_t graph;
static char *device_memory, *host_memory;
static const char *kind;

static void launch(hipStream_t stream)
{
	hipLaunchKernelGGL(bench_step_empty, dim3(1), dim3(64), 0, stream);
}

static void decode()
{
	for (int i = 0; i < 10; i++) {
		int device;

		HIP(hipGetDevice(&device));
		HIP(hipMemcpyAsync(device_memory, host_memory, BYTES, hipMemcpyHostToDevice,
				   streams[0]));
		HIP(hipEventRecord(events[0], streams[0]));
		(void)hipEventQuery(events[0]);
	}
	HIP(hipGraphLaunch(graph, streams[0]));
	HIP(hipStreamSynchronize(streams[0]));
}

static void train()
{
	for (int s = 0; s < NR_STREAMS; s++) {
		if (s)
			HIP(hipStreamWaitEvent(streams[s], events[s - 1], 0));
		for (int i = 0; i < 2; i++)
			HIP(hipMemcpyAsync(device_memory + s * BYTES, host_memory + s * BYTES,
					   BYTES, hipMemcpyHostToDevice, streams[s]));
		for (int i = 0; i < NR_KERNELS; i++)
			launch(streams[s]);
		HIP(hipEventRecord(events[s], streams[s]));
	}
	for (int s = 0; s < NR_STREAMS; s++)
		HIP(hipStreamSynchronize(streams[s]));
}

/* The measured code. bench/step.py counts the instructions of the function of this name. */
extern "C" __attribute__((noinline)) void timed_block(void)
{
	if (!strcmp(kind, "train"))
		train();
	else
		decode();
}

static void prepare()
{
	hipGraph_t made;

	for (int s = 0; s < NR_STREAMS; s++) {
		HIP(hipStreamCreateWithFlags(&streams[s], hipStreamNonBlocking));
		HIP(hipEventCreateWithFlags(&events[s], hipEventDisableTiming));
	}
	HIP(hipMalloc((void **)&device_memory, NR_STREAMS * BYTES));
	HIP(hipHostMalloc((void **)&host_memory, NR_STREAMS * BYTES, 0));
	HIP(hipStreamBeginCapture(streams[0], hipStreamCaptureModeThreadLocal));
	for (int i = 0; i < NR_NODES; i++)
		launch(streams[0]);
	HIP(hipStreamEndCapture(streams[0], &made));
	HIP(hipGraphInstantiate(&graph, made, nullptr, nullptr, 0));
	HIP(hipGraphDestroy(made));
}

static void work_of_gpu(int gpu, uint64_t steps, uint64_t *ticks)
{
	hipStream_t stream;

	HIP(hipSetDevice(gpu));
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t begin = bench_ticks();

		for (int n = 0; n < NR_LAUNCHES; n++)
			launch(stream);
		HIP(hipStreamSynchronize(stream));
		ticks[i] = bench_ticks() - begin;
	}
}

int main(int argc, char **argv)
{
	uint64_t steps = bench_num(argc, argv, "steps", 200);
	bool pin = bench_num(argc, argv, "pin", 1) != 0;
	std::vector<uint64_t> ticks(steps);
	std::vector<std::thread> threads;
	int nr_gpus;

	kind = bench_text(argc, argv, "kind", "decode");
	if (!steps)
		return 2;
	if (!strcmp(kind, "gpus")) {
		HIP(hipGetDeviceCount(&nr_gpus));
		ticks.resize(steps * (uint64_t)nr_gpus);
		for (int i = 0; i < nr_gpus; i++)
			threads.emplace_back(work_of_gpu, i, steps, &ticks[(uint64_t)i * steps]);
		for (std::thread &t : threads)
			t.join();
		bench_print_blocks(ticks.data(), ticks.size(), 1, bench_tick_ns());
		return 0;
	}
	if (pin)
		bench_pin(0);
	prepare();
	if (pin)
		bench_pin(1);
	timed_block();
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t begin = bench_ticks();

		timed_block();
		ticks[i] = bench_ticks() - begin;
	}
	bench_print_blocks(ticks.data(), steps, 1, bench_tick_ns());
	return 0;
}
