/* SPDX-License-Identifier: MIT */
/* pools.cpp - memory of HIP's pools, and memory that is mapped at reserved addresses, on every GPU
 *
 *	pools [gpus=N] [rounds=N]
 *
 * Prints what it did, and each wrong result. Where the runtime has no virtual memory management it
 * says so.
 */
#include "hip_common.hpp"

#include <vector>

static const size_t N = 3000;

/* hipMemAllocationProp as HIP has it from 5.3 on; that of 5.2's header has another order */
struct properties {
	int type = 1; /* pinned */
	int handle_type = 0;
	int location_type = 1; /* device */
	int location;
	void *of_windows = NULL;
	unsigned char flags[8] = {};

	explicit properties(int gpu) : location(gpu)
	{
	}
};
static int wrong;

__global__ void pool_fill(uint32_t *p, uint32_t n, uint32_t v)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		p[i] = v + i;
}

static void compare(const char *what, const uint32_t *device, uint32_t v)
{
	std::vector<uint32_t> got(N);

	HIP(hipMemcpy(got.data(), device, N * sizeof(*device), hipMemcpyDeviceToHost));
	for (size_t i = 0; i < N; i++)
		if (got[i] != v + i) {
			printf("wrong: %s: %u at %zu, not %zu\n", what, got[i], i, v + i);
			wrong++;
			return;
		}
}

static void fill(uint32_t *device, uint32_t v, hipStream_t stream)
{
	pool_fill<<<(N + 255) / 256, 256, 0, stream>>>(device, N, v);
	HIP(hipGetLastError());
}

static long from_pools(long rounds)
{
	hipStream_t stream;
	long done = 0;

	HIP(hipStreamCreate(&stream));
	for (long i = 0; i < rounds; i++) {
		uint32_t *a, *b;

		if (hipMallocAsync((void **)&a, N * sizeof(*a), stream) != hipSuccess) {
			(void)hipGetLastError();
			break;
		}
		HIP(hipMallocAsync((void **)&b, N * sizeof(*b), stream));
		fill(a, (uint32_t)i, stream);
		HIP(hipMemcpyAsync(b, a, N * sizeof(*a), hipMemcpyDeviceToDevice, stream));
		HIP(hipStreamSynchronize(stream));
		compare("memory of a pool", a, (uint32_t)i);
		compare("copy between memories of a pool", b, (uint32_t)i);
		HIP(hipFreeAsync(a, stream));
		HIP(hipFreeAsync(b, stream));
		done++;
	}
	/* HIP 5.2.3 hangs when it destroys a stream that memory of a pool was freed in */
	return done;
}

/* The same memory at two addresses, one after the other; a second GPU gets access, where there is
 * one. */
static long mapped(int gpu, int gpus)
{
	properties gpus_own(gpu);
	const hipMemAllocationProp *prop =
		reinterpret_cast<const hipMemAllocationProp *>(&gpus_own);
	hipMemGenericAllocationHandle_t memory;
	hipMemAccessDesc access[2] = {};
	size_t granularity = 0, size;
	void *first, *second;

	if (hipMemGetAllocationGranularity(&granularity, prop,
					   hipMemAllocationGranularityMinimum) != hipSuccess ||
	    !granularity) {
		(void)hipGetLastError();
		return 0;
	}
	size = (N * sizeof(uint32_t) + granularity - 1) / granularity * granularity;
	if (hipMemAddressReserve(&first, size, 0, NULL, 0) != hipSuccess) {
		(void)hipGetLastError();
		return 0;
	}
	HIP(hipMemAddressReserve(&second, size, 0, NULL, 0));
	HIP(hipMemCreate(&memory, size, prop, 0));
	for (int i = 0; i < 2; i++) {
		access[i].location.type = hipMemLocationTypeDevice;
		access[i].location.id = (gpu + i) % gpus;
		access[i].flags = hipMemAccessFlagsProtReadWrite;
	}
	HIP(hipMemMap(first, size, 0, memory, 0));
	HIP(hipMemSetAccess(first, size, access, gpus > 1 ? 2 : 1));
	fill((uint32_t *)first, 7, NULL);
	compare("mapped memory", (uint32_t *)first, 7);
	if (gpus > 1) {
		HIP(hipSetDevice((gpu + 1) % gpus));
		fill((uint32_t *)first, 8, NULL);
		compare("mapped memory, written by another GPU", (uint32_t *)first, 8);
		HIP(hipSetDevice(gpu));
	}
	HIP(hipDeviceSynchronize());
	HIP(hipMemUnmap(first, size));
	HIP(hipMemMap(second, size, 0, memory, 0));
	HIP(hipMemSetAccess(second, size, access, 1));
	compare("memory at its second address", (uint32_t *)second, gpus > 1 ? 8 : 7);
	HIP(hipMemUnmap(second, size));
	HIP(hipMemRelease(memory));
	HIP(hipMemAddressFree(first, size));
	HIP(hipMemAddressFree(second, size));
	return 1;
}

int main(int argc, char **argv)
{
	int gpus = (int)arg_num(argc, argv, "gpus", 1);
	long rounds = arg_num(argc, argv, "rounds", 5), pools = 0, maps = 0;

	for (int gpu = 0; gpu < gpus; gpu++) {
		HIP(hipSetDevice(gpu));
		pools += from_pools(rounds);
		maps += mapped(gpu, gpus);
	}
	printf("pools: %ld allocations, %ld memories mapped, %d wrong\n", 2 * pools, maps, wrong);
	return wrong ? 1 : 0;
}
