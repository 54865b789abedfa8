/* SPDX-License-Identifier: MIT */
/* order.cpp - two kernels, two copies, and a call by a pointer; linked with HIP and
 * librocprofiler-sdk in either order
 *
 * WITH_TOOL: the program has the tool. PLUGIN: a library, whose work() does the same.
 */
#include <hip/hip_runtime.h>
#include <cstdio>
#ifdef WITH_TOOL
#include "order_tool.h"
#endif

__global__ void order_kernel(int *p)
{
	*p = 1;
}

// the loader fills it
static hipError_t (*volatile synchronize)(hipStream_t) = hipStreamSynchronize;

extern "C" int work()
{
	const size_t size = 1 << 20; // a smaller one is copied by a kernel of HIP 7
	int *value = nullptr, *p = nullptr;
	hipStream_t s;
	bool ok = hipHostMalloc((void **)&value, size, 0) == hipSuccess &&
		  hipMalloc((void **)&p, size) == hipSuccess && hipStreamCreate(&s) == hipSuccess;

	for (int i = 0; ok && i < 2; i++) {
		order_kernel<<<1, 1, 0, s>>>(p);
		ok = hipMemcpyAsync(value, p, size, hipMemcpyDeviceToHost, s) == hipSuccess;
	}
	ok = ok && synchronize(s) == hipSuccess && *value == 1;
	ok = ok && hipStreamDestroy(s) == hipSuccess && hipFree(p) == hipSuccess &&
	     hipHostFree(value) == hipSuccess;
	printf("work %s\n", ok ? "done" : "failed");
	fflush(stdout);
	return !ok;
}

#ifndef PLUGIN
int main()
{
	return work();
}
#endif
