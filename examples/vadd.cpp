/* SPDX-License-Identifier: MIT */
/* vadd.cpp - the smallest HIP program worth tracing: c = a + b, several times over
 *
 *	vadd [launches [check]]
 *
 * With "check" it compares the result.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err = (call);                                                           \
		if (err != hipSuccess) {                                                           \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(err));                \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

__global__ void vector_add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	const int n = 1 << 16;
	const int launches = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10;
	const bool check = argc > 2 && strcmp(argv[2], "check") == 0;
	std::vector<float> a(n), b(n), c(n);
	float *da, *db, *dc;
	int wrong = 0;

	for (int i = 0; i < n; i++) {
		a[i] = (float)i;
		b[i] = 2.0f * (float)i;
	}
	HIP(hipMalloc(&da, n * sizeof(float)));
	HIP(hipMalloc(&db, n * sizeof(float)));
	HIP(hipMalloc(&dc, n * sizeof(float)));
	HIP(hipMemcpy(da, a.data(), n * sizeof(float), hipMemcpyHostToDevice));
	HIP(hipMemcpy(db, b.data(), n * sizeof(float), hipMemcpyHostToDevice));
	for (int i = 0; i < launches; i++)
		vector_add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
	HIP(hipGetLastError());
	HIP(hipMemcpy(c.data(), dc, n * sizeof(float), hipMemcpyDeviceToHost));
	HIP(hipFree(da));
	HIP(hipFree(db));
	HIP(hipFree(dc));

	if (!check) {
		printf("vadd: %d launches\n", launches);
		return 0;
	}
	for (int i = 0; i < n; i++)
		wrong += c[i] != 3.0f * (float)i;
	printf("vadd: %d launches, %d wrong of %d\n", launches, wrong, n);
	return wrong != 0 && launches > 0;
}
