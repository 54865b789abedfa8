/* SPDX-License-Identifier: MIT */
/* hsa_kernels.cpp - the kernels of the HSA test programs, which leave p NULL */
#include <hip/hip_runtime.h>

extern "C" __global__ void flood_short(int *p)
{
	if (p)
		p[threadIdx.x] = 1;
}

extern "C" __global__ void flood_long(int *p)
{
	if (p)
		p[threadIdx.x] += 2;
}
