/* SPDX-License-Identifier: MIT */
/* vadd.cpp - the smallest HIP program worth tracing: c = a + b, several times over
 *
 *	vadd [launches]
 */
#include "check.h"

#include <vector>

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

static long run(int launches)
{
	const int n = 1 << 16;
	const size_t bytes = n * sizeof(float);
	std::vector<float> a(n), b(n), c(n);
	float *da, *db, *dc;
	long wrong = 0;

	for (int i = 0; i < n; i++) {
		a[i] = (float)i;
		b[i] = 2.0f * (float)i;
	}
	HIP(hipMalloc(&da, bytes));
	HIP(hipMalloc(&db, bytes));
	HIP(hipMalloc(&dc, bytes));
	HIP(hipMemcpy(da, a.data(), bytes, hipMemcpyHostToDevice));
	HIP(hipMemcpy(db, b.data(), bytes, hipMemcpyHostToDevice));
	for (int i = 0; i < launches; i++)
		vector_add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
	HIP(hipGetLastError());
	HIP(hipMemcpy(c.data(), dc, bytes, hipMemcpyDeviceToHost));
	HIP(hipFree(da));
	HIP(hipFree(db));
	HIP(hipFree(dc));
	for (int i = 0; i < n; i++)
		wrong += c[i] != 3.0f * (float)i;
	return wrong;
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? (int)strtol(argv[1], nullptr, 10) : 10;

	return on_every_gpu("vadd", [launches] { return run(launches); });
}
