/* SPDX-License-Identifier: MIT */
/* kernels.cpp - the empty kernel of dispatch.c */
#include <hip/hip_runtime.h>

extern "C" __global__ void bench_empty()
{
}
