/* SPDX-License-Identifier: MIT */
/* strings.cpp - a tracer that has HIP's own header print calls (hipApiString()) with roctracer's
 * headers alone
 *
 * stdout: one line for each call below; strings.txt has them.
 */
#define HIP_PROF_HIP_API_STRING 1
#include "roctracer/roctracer_hip.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static void print(hip_api_id_t id, const hip_api_data_t *data)
{
	const char *text = hipApiString(id, data);

	std::puts(text);
	std::free(const_cast<char *>(text));
}

/* The structure has no constructor that could be called: it lies in memory, as HIP's own does. */
static hip_api_data_t *empty()
{
	static char memory[sizeof(hip_api_data_t)] __attribute__((aligned(16)));

	std::memset(memory, 0, sizeof(memory));
	return reinterpret_cast<hip_api_data_t *>(memory);
}

int main()
{
	hip_api_data_t *data = empty();

	data->args.hipMalloc.size = 4096;
	print(HIP_API_ID_hipMalloc, data);
	data = empty();
	data->args.hipLaunchKernel.numBlocks = dim3(7, 8, 9);
	data->args.hipLaunchKernel.dimBlocks = dim3(64, 1, 1);
	print(HIP_API_ID_hipLaunchKernel, data);
	data = empty();
	data->args.hipMemcpy.sizeBytes = 5;
	data->args.hipMemcpy.kind = hipMemcpyHostToDevice;
	print(HIP_API_ID_hipMemcpy, data);
	return 0;
}
