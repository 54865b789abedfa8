/* SPDX-License-Identifier: MIT */
/* kernels.cpp - device code of the pure HSA test programs */
#include <hip/hip_runtime.h>

#include "work.h"

extern "C" __global__ void nothing(void)
{
}

/* Reads until the program writes. */
extern "C" __global__ void watch(volatile int *p)
{
	while (!p[threadIdx.x])
		;
}

/* Need scratch memory, the second one more of it. */
extern "C" __global__ void work(int *out, int seed)
{
	int own[WORK];

	out[threadIdx.x] = worked(own, WORK, seed);
}

extern "C" __global__ void work_more(int *out, int seed)
{
	int own[WORK_MORE];

	out[threadIdx.x] = worked(own, WORK_MORE, seed);
}
