/* SPDX-License-Identifier: MIT */
/* execute.cpp - kernels for timing the virtual GPU's interpreter
 *
 *	execute scalar|fma|transpose|empty COUNT
 *
 * Prints the seconds from the first launch to the end of the last as JSON. VGPU_LOG has the number
 * of instructions.
 */
#include <hip/hip_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err = (call);                                                           \
		if (err != hipSuccess) {                                                           \
			fprintf(stderr, "execute: %s: %s\n", #call, hipGetErrorString(err));       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* the loop's counter and sum are the same in all lanes: scalar registers */
__global__ void scalar(unsigned int *out, unsigned int n)
{
	unsigned int sum = 1;

	for (unsigned int i = 0; i < n; i++)
		sum = (sum ^ i) * 5;
	if (threadIdx.x == 0)
		*out = sum;
}

__global__ void multiply_add(float *out, unsigned int n)
{
	float a = (float)threadIdx.x, b = a, c = a;

	for (unsigned int i = 0; i < n; i++) {
		a = fmaf(a, 0.5f, 1.0f);
		b = fmaf(b, 0.25f, 1.0f);
		c = fmaf(c, 0.125f, 1.0f);
	}
	out[threadIdx.x] = a + b + c;
}

__global__ void transpose(const float *in, float *out, int width)
{
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;

	out[x * width + y] = in[y * width + x];
}

__global__ void empty()
{
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const int count = argc > 2 ? (int)strtol(argv[2], nullptr, 10) : 1;
	const int width = 1024;
	float *in, *out;

	HIP(hipMalloc(&in, width * width * sizeof(float)));
	HIP(hipMalloc(&out, width * width * sizeof(float)));
	empty<<<1, 64>>>();
	HIP(hipDeviceSynchronize());

	auto begin = std::chrono::steady_clock::now();

	if (!strcmp(what, "scalar"))
		scalar<<<1, 64>>>((unsigned int *)out, (unsigned int)count);
	else if (!strcmp(what, "fma"))
		multiply_add<<<1, 64>>>(out, (unsigned int)count);
	else if (!strcmp(what, "transpose"))
		for (int i = 0; i < count; i++)
			transpose<<<dim3(width / 16, width / 16), dim3(16, 16)>>>(in, out, width);
	else
		for (int i = 0; i < count; i++)
			empty<<<1, 64>>>();
	HIP(hipGetLastError());
	HIP(hipDeviceSynchronize());
	printf("{\"seconds\": %.9f}\n",
	       std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
	return 0;
}
