/* SPDX-License-Identifier: MIT */
/* reduce.cpp - a sum in two steps: within workgroups in LDS and across lanes, then by atomics
 *
 *	reduce [items]
 */
#include "check.h"

#include <vector>

constexpr int BLOCK = 256;

__global__ void reduce(const int *in, long long *total, int n)
{
	__shared__ int part[BLOCK / 64];
	int sum = 0;

	for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
		sum += in[i];
	for (int lanes = 32; lanes; lanes >>= 1)
		sum += __shfl_down(sum, lanes);
	if (threadIdx.x % 64 == 0)
		part[threadIdx.x / 64] = sum;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (int i = 1; i < BLOCK / 64; i++)
			sum += part[i];
		atomicAdd((unsigned long long *)total, (unsigned long long)(long long)sum);
	}
}

static long run(int n)
{
	std::vector<int> in(n);
	long long want = 0, have = 0, *total;
	int *din;

	for (int i = 0; i < n; i++) {
		in[i] = (i * 7919) % 2001 - 1000;
		want += in[i];
	}
	HIP(hipMalloc(&din, n * sizeof(int)));
	HIP(hipMalloc(&total, sizeof(*total)));
	HIP(hipMemcpy(din, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
	HIP(hipMemset(total, 0, sizeof(*total)));
	reduce<<<64, BLOCK>>>(din, total, n);
	HIP(hipGetLastError());
	HIP(hipMemcpy(&have, total, sizeof(have), hipMemcpyDeviceToHost));
	HIP(hipFree(din));
	HIP(hipFree(total));
	return have != want;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 1000003;

	return on_every_gpu("reduce", [n] { return run(n); });
}
