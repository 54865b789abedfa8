/* SPDX-License-Identifier: MIT */
/* gemm.cpp - a product of matrices, tile by tile through LDS
 *
 *	gemm [width]
 *
 * The elements are small whole numbers, so that the result is exact for any order of the sums.
 */
#include "check.h"

#include <vector>

constexpr int TILE = 16;

__global__ void gemm(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;

	for (int at = 0; at < n; at += TILE) {
		bool in_a = y < n && at + (int)threadIdx.x < n,
		     in_b = x < n && at + (int)threadIdx.y < n;

		ta[threadIdx.y][threadIdx.x] = in_a ? a[y * n + at + threadIdx.x] : 0;
		tb[threadIdx.y][threadIdx.x] = in_b ? b[(at + threadIdx.y) * n + x] : 0;
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
		__syncthreads();
	}
	if (x < n && y < n)
		c[y * n + x] = sum;
}

static long run(int n)
{
	const size_t nr = (size_t)n * (size_t)n, bytes = nr * sizeof(float);
	const dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
	std::vector<float> a(nr), b(nr), c(nr);
	float *da, *db, *dc;
	long wrong = 0;

	for (size_t i = 0; i < nr; i++) {
		a[i] = (float)(i * 5 % 17) - 8;
		b[i] = (float)(i * 3 % 13) - 6;
	}
	HIP(hipMalloc(&da, bytes));
	HIP(hipMalloc(&db, bytes));
	HIP(hipMalloc(&dc, bytes));
	HIP(hipMemcpy(da, a.data(), bytes, hipMemcpyHostToDevice));
	HIP(hipMemcpy(db, b.data(), bytes, hipMemcpyHostToDevice));
	gemm<<<grid, block>>>(da, db, dc, n);
	HIP(hipGetLastError());
	HIP(hipMemcpy(c.data(), dc, bytes, hipMemcpyDeviceToHost));
	for (int y = 0; y < n; y++) {
		for (int x = 0; x < n; x++) {
			float want = 0;

			for (int k = 0; k < n; k++)
				want += a[(size_t)y * n + k] * b[(size_t)k * n + x];
			wrong += c[(size_t)y * n + x] != want;
		}
	}
	HIP(hipFree(da));
	HIP(hipFree(db));
	HIP(hipFree(dc));
	return wrong;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 150;

	return on_every_gpu("gemm", [n] { return run(n); });
}
