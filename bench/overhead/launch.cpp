/* SPDX-License-Identifier: MIT */
/* launch.cpp - launches an empty HIP kernel and prints the cost for the calling thread
 *
 *	launch [kind=plain|call|events|sync|idle] [gpu=busy|free] [blocks=200] [block=256] [pin=1]
 *
 * Blocks of launches are timed; in between, untimed, the stream is synchronised. gpu: as in
 * dispatch.c. plain: what <<<>>> becomes, three calls; call: hipLaunchKernel() alone; events: each
 * launch is a hipExtLaunchKernel with a start and a stop event, which puts a signal on its packet;
 * sync: hipLaunchKernel() and hipStreamSynchronize(); idle: hipStreamSynchronize() of a stream that
 * has nothing to do.
 */
#include <hip/hip_runtime.h>
#include <hip/hip_ext.h>

#include "bench_common.h"

#include <vector>

#define MAX_BLOCK 1024
#define BUSY_BLOCKS (1u << 18) /* of 64 items */

extern "C" __global__ void bench_launch_empty()
{
}

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err_ = (call);                                                          \
		if (err_ != hipSuccess) {                                                          \
			fprintf(stderr, "launch: %s: %s\n", #call, hipGetErrorString(err_));       \
			fflush(NULL);                                                              \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static hipStream_t stream;
static hipEvent_t begin_event[MAX_BLOCK], end_event[MAX_BLOCK];
static bool with_events, one_call, with_sync, only_sync, hold_gpu;

/* The measured code. bench/bench.py counts the instructions of the function of this name. */
extern "C" __attribute__((noinline)) void timed_block(uint64_t nr)
{
	void *none = NULL;

	for (uint64_t i = 0; i < nr; i++) {
		if (with_events)
			HIP(hipExtLaunchKernel((const void *)bench_launch_empty, dim3(1), dim3(64),
					       &none, 0, stream, begin_event[i], end_event[i], 0));
		else if (!only_sync && (one_call || with_sync))
			HIP(hipLaunchKernel((const void *)bench_launch_empty, dim3(1), dim3(64),
					    &none, 0, stream));
		else if (!only_sync)
			hipLaunchKernelGGL(bench_launch_empty, dim3(1), dim3(64), 0, stream);
		if (with_sync)
			HIP(hipStreamSynchronize(stream));
	}
}

int main(int argc, char **argv)
{
	uint64_t blocks = bench_num(argc, argv, "blocks", 200);
	uint64_t block = bench_num(argc, argv, "block", 256), warm = blocks / 8;
	bool pin = bench_num(argc, argv, "pin", 1) != 0;
	std::vector<uint64_t> ticks(blocks);

	hold_gpu = !strcmp(bench_text(argc, argv, "gpu", "busy"), "busy");
	with_events = !strcmp(bench_text(argc, argv, "kind", "plain"), "events");
	only_sync = !strcmp(bench_text(argc, argv, "kind", "plain"), "idle");
	with_sync = only_sync || !strcmp(bench_text(argc, argv, "kind", "plain"), "sync");
	one_call = !strcmp(bench_text(argc, argv, "kind", "plain"), "call");
	if (!block || block > MAX_BLOCK || !blocks)
		return 2;
	if (pin)
		bench_pin(0);
	HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	for (uint64_t i = 0; with_events && i < block; i++) {
		HIP(hipEventCreate(&begin_event[i]));
		HIP(hipEventCreate(&end_event[i]));
	}
	timed_block(1);
	HIP(hipStreamSynchronize(stream));
	if (pin)
		bench_pin(1);
	double tick_ns = bench_tick_ns();
	for (uint64_t i = 0; i < warm + blocks; i++) {
		uint64_t begin;

		if (hold_gpu)
			hipLaunchKernelGGL(bench_launch_empty, dim3(BUSY_BLOCKS), dim3(64), 0,
					   stream);
		begin = bench_ticks();
		timed_block(block);
		if (i >= warm)
			ticks[i - warm] = bench_ticks() - begin;
		HIP(hipStreamSynchronize(stream));
	}
	bench_print_blocks(ticks.data(), blocks, block, tick_ns);
	return 0;
}
