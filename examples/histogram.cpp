/* SPDX-License-Identifier: MIT */
/* histogram.cpp - bytes counted by value: atomics in LDS, then in memory
 *
 *	histogram [bytes]
 */
#include "check.h"

#include <vector>

constexpr int BINS = 256;

__global__ void histogram(const unsigned char *in, unsigned int *bins, int n)
{
	__shared__ unsigned int local[BINS];

	local[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * BINS + threadIdx.x; i < n; i += gridDim.x * BINS)
		atomicAdd(&local[in[i]], 1u);
	__syncthreads();
	if (local[threadIdx.x])
		atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

static long run(int n)
{
	std::vector<unsigned char> in(n);
	std::vector<unsigned int> want(BINS), have(BINS);
	unsigned int *bins;
	unsigned char *din;
	long wrong = 0;

	for (int i = 0; i < n; i++) {
		/* an uneven distribution */
		in[i] = (unsigned char)((i * 31u ^ i >> 7) % 200u * ((unsigned)i % 3u) / 2u);
		want[in[i]]++;
	}
	HIP(hipMalloc(&din, n));
	HIP(hipMalloc(&bins, BINS * sizeof(*bins)));
	HIP(hipMemcpy(din, in.data(), n, hipMemcpyHostToDevice));
	HIP(hipMemset(bins, 0, BINS * sizeof(*bins)));
	histogram<<<32, BINS>>>(din, bins, n);
	HIP(hipGetLastError());
	HIP(hipMemcpy(have.data(), bins, BINS * sizeof(*bins), hipMemcpyDeviceToHost));
	for (int i = 0; i < BINS; i++)
		wrong += have[i] != want[i];
	HIP(hipFree(din));
	HIP(hipFree(bins));
	return wrong;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 300007;

	return on_every_gpu("histogram", [n] { return run(n); });
}
