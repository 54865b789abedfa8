/* SPDX-License-Identifier: MIT */
/* transpose.cpp - a matrix transposed twice over: straight, and through LDS
 *
 *	transpose [width]
 *
 * The straight version writes columns, one cache line for each element; through LDS it reads and
 * writes rows. The counters show the difference: TCC_WRITE against TCC_HIT.
 */
#include "check.h"

#include <vector>

constexpr int TILE = 16;

__global__ void transpose_naive(const float *in, float *out, int width)
{
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	if (x < width && y < width)
		out[x * width + y] = in[y * width + x];
}

__global__ void transpose_lds(const float *in, float *out, int width)
{
	/* one more column, so that the lanes of a column use different banks */
	__shared__ float tile[TILE][TILE + 1];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

	if (x < width && y < width)
		tile[threadIdx.y][threadIdx.x] = in[y * width + x];
	__syncthreads();
	x = blockIdx.y * TILE + threadIdx.x;
	y = blockIdx.x * TILE + threadIdx.y;
	if (x < width && y < width)
		out[y * width + x] = tile[threadIdx.x][threadIdx.y];
}

static long run(int width)
{
	const size_t n = (size_t)width * (size_t)width, bytes = n * sizeof(float);
	const dim3 block(TILE, TILE), grid((width + TILE - 1) / TILE, (width + TILE - 1) / TILE);
	std::vector<float> in(n), out(n);
	float *din, *dout;
	long wrong = 0;

	for (size_t i = 0; i < n; i++)
		in[i] = (float)(i % 1000003);
	HIP(hipMalloc(&din, bytes));
	HIP(hipMalloc(&dout, bytes));
	HIP(hipMemcpy(din, in.data(), bytes, hipMemcpyHostToDevice));
	for (bool lds : { false, true }) {
		Range range(lds ? "through LDS" : "straight");

		HIP(hipMemset(dout, 0, bytes));
		if (lds)
			transpose_lds<<<grid, block>>>(din, dout, width);
		else
			transpose_naive<<<grid, block>>>(din, dout, width);
		HIP(hipGetLastError());
		HIP(hipMemcpy(out.data(), dout, bytes, hipMemcpyDeviceToHost));
		for (int y = 0; y < width; y++) {
			for (int x = 0; x < width; x++)
				wrong += out[(size_t)x * width + y] != in[(size_t)y * width + x];
		}
	}
	HIP(hipFree(din));
	HIP(hipFree(dout));
	return wrong;
}

int main(int argc, char **argv)
{
	int width = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 1024;

	return on_every_gpu("transpose", [width] { return run(width); });
}
