/* SPDX-License-Identifier: MIT */
/* apicall.cpp - calls a cheap HIP function and prints the cost for the calling thread
 *
 *	apicall [do=call|floor] [blocks=2000] [block=256] [pin=1]
 *
 * call: hipGetDevice(), in blocks that are timed, with pauses in which the tracer can drain its
 * records.
 * floor: the minimum for a record, two reads of the time-stamp counter and a cache line of stores.
 */
#include <hip/hip_runtime_api.h>

#include "bench_common.h"

#include <vector>

#define LINES 4096 /* of 64 bytes */

static volatile uint64_t memory[LINES * 8];

extern "C" __attribute__((noinline)) void timed_block(uint64_t nr)
{
	int device;

	for (uint64_t i = 0; i < nr; i++)
		(void)hipGetDevice(&device);
}

extern "C" __attribute__((noinline)) void floor_block(uint64_t nr)
{
	static uint64_t at;

	for (uint64_t i = 0; i < nr; i++) {
		volatile uint64_t *line = &memory[at++ % LINES * 8];

		line[0] = bench_ticks();
		for (int k = 2; k < 8; k++)
			line[k] = i;
		line[1] = bench_ticks();
	}
}

int main(int argc, char **argv)
{
	bool is_floor = !strcmp(bench_text(argc, argv, "do", "call"), "floor");
	uint64_t blocks = bench_num(argc, argv, "blocks", 2000);
	uint64_t block = bench_num(argc, argv, "block", 256), warm = blocks / 8;
	bool pin = bench_num(argc, argv, "pin", 1) != 0;
	std::vector<uint64_t> ticks(blocks);
	int device;

	if (!blocks || !block)
		return 2;
	/* threads that it starts run on the other processor */
	if (pin)
		bench_pin(0);
	if (hipGetDevice(&device) != hipSuccess) {
		fprintf(stderr, "apicall: no device\n");
		return 1;
	}
	if (pin)
		bench_pin(1);
	double tick_ns = bench_tick_ns();
	/* lets background initialisation finish, which is not part of a call */
	usleep(100000);
	for (uint64_t i = 0; i < warm + blocks; i++) {
		uint64_t begin = bench_ticks();

		if (is_floor)
			floor_block(block);
		else
			timed_block(block);
		if (i >= warm)
			ticks[i - warm] = bench_ticks() - begin;
		if (i % 16 == 0)
			usleep(2000);
	}
	bench_print_blocks(ticks.data(), blocks, block, tick_ns);
	return 0;
}
