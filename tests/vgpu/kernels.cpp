/* SPDX-License-Identifier: MIT */
/* kernels.cpp - device code of the pure HSA test programs */
#include <hip/hip_runtime.h>

extern "C" __global__ void nothing(void)
{
}

/* Reads all the time, and ends when the program writes. */
extern "C" __global__ void watch(volatile int *p)
{
	while (!p[threadIdx.x])
		;
}

/* Works in memory of its own: the result says if another kernel did, too. */
extern "C" __global__ void work(int *out, int seed)
{
	int own[64], sum = 0;

	for (int i = 0; i < 64; i++)
		own[i] = seed + i;
	for (int n = 0; n < 100; n++) {
		for (int i = 0; i < 64; i++)
			own[(i * 7 + seed) & 63] += own[(i + n) & 63] & 255;
	}
	for (int i = 0; i < 64; i++)
		sum += own[i];
	out[threadIdx.x] = sum;
}
