/* SPDX-License-Identifier: MIT */
/* kernels.cpp - device code of the pure HSA test program */
#include <hip/hip_runtime.h>

extern "C" __global__ void nothing(void)
{
}
