/* SPDX-License-Identifier: MIT */
/* threads_test.cpp - workgroups of one kernel that run at the same time, and wait for each other
 *
 *	threads_test [PART...]
 */
#include "hip_parts.hpp"

#include <hip/hip_cooperative_groups.h>

namespace
{

constexpr unsigned int groups = 150, lanes = 128, rounds = 20;

__device__ uint32_t load(const uint32_t *p)
{
	return __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}

/* All groups meet in each round; each reads then what its neighbour has written. */
__global__ void grid_barrier_kernel(uint32_t *met, uint32_t *data, uint32_t *bad)
{
	for (uint32_t n = 0; n < rounds; n++) {
		data[(n * groups + blockIdx.x) * lanes + threadIdx.x] = n * 1000 + blockIdx.x;
		__threadfence();
		__syncthreads();
		if (!threadIdx.x) {
			atomicAdd(met, 1);
			while (load(met) < (n + 1) * groups)
				;
		}
		__syncthreads();
		__threadfence();

		uint32_t other = (blockIdx.x + 1) % groups;

		if (data[(n * groups + other) * lanes + threadIdx.x] != n * 1000 + other)
			atomicAdd(bad, 1);
	}
}

/* The same by the GPU's barrier, which a cooperative launch has. */
__global__ void cooperative_kernel(uint32_t *data, uint32_t *bad)
{
	for (uint32_t n = 0; n < rounds; n++) {
		data[(n * groups + blockIdx.x) * lanes + threadIdx.x] = n * 1000 + blockIdx.x;
		cooperative_groups::this_grid().sync();

		uint32_t other = (blockIdx.x + 1) % groups;

		if (data[(n * groups + other) * lanes + threadIdx.x] != n * 1000 + other)
			atomicAdd(bad, 1);
	}
}

/* Each group waits for the sum of those before it. */
__global__ void chain_kernel(uint32_t *sums, uint32_t *flags)
{
	if (threadIdx.x)
		return;

	uint32_t before = 0;

	if (blockIdx.x) {
		while (!load(&flags[blockIdx.x - 1]))
			__builtin_amdgcn_s_sleep(1);
		before = sums[blockIdx.x - 1];
	}
	sums[blockIdx.x] = before + blockIdx.x;
	__hip_atomic_store(&flags[blockIdx.x], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

/* Each group waits for the one behind it: all have to begin. */
__global__ void chain_back_kernel(uint32_t *flags)
{
	if (threadIdx.x)
		return;
	if (blockIdx.x + 1 < gridDim.x) {
		while (!load(&flags[blockIdx.x + 1]))
			__builtin_amdgcn_s_sleep(1);
	}
	__hip_atomic_store(&flags[blockIdx.x], 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

/* Long enough for a dispatch of a few groups to be shared by threads. */
__global__ void once_kernel(uint32_t *times, uint32_t *out)
{
	uint32_t v = threadIdx.x;

	for (uint32_t n = 0; n < 500; n++)
		v = v * 1664525 + n;
	if (!threadIdx.x)
		atomicAdd(&times[blockIdx.x], 1);
	out[threadIdx.x] = v;
}

/* A sum that only a lock protects. */
__global__ void lock_kernel(uint32_t *lock, uint32_t *sum)
{
	if (threadIdx.x)
		return;
	for (uint32_t n = 0; n < 50; n++) {
		while (atomicCAS(lock, 0, 1))
			__builtin_amdgcn_s_sleep(1);
		__threadfence();
		*(volatile uint32_t *)sum = *(volatile uint32_t *)sum + 1;
		__threadfence();
		atomicExch(lock, 0);
	}
}

/* Long enough to be shared by threads, with scratch memory and LDS of its own in each group. */
__global__ void private_kernel(uint32_t *out, uint32_t n)
{
	__shared__ uint32_t tile[lanes];
	uint32_t mine[32], sum = 0;

	for (uint32_t k = 0; k < n; k++) {
		mine[(k * 7 + threadIdx.x) % 32] = k ^ blockIdx.x;
		tile[threadIdx.x] = mine[(k * 7 + threadIdx.x) % 32] + threadIdx.x;
		__syncthreads();
		sum += tile[(threadIdx.x + k) % lanes] + mine[(k * 7 + threadIdx.x) % 32];
		__syncthreads();
	}
	out[blockIdx.x * lanes + threadIdx.x] = sum;
}

uint32_t *cleared(size_t nr)
{
	uint32_t *p;

	HIP(hipMalloc(&p, nr * sizeof(*p)));
	HIP(hipMemset(p, 0, nr * sizeof(*p)));
	return p;
}

uint32_t first_of(const uint32_t *p)
{
	uint32_t v;

	HIP(hipMemcpy(&v, p, sizeof(v), hipMemcpyDeviceToHost));
	return v;
}

void expect(const char *what, uint32_t got, uint32_t want)
{
	if (got != want) {
		printf("wrong %s: %u, not %u\n", what, got, want);
		failures++;
	}
}

void grid_barrier()
{
	uint32_t *met = cleared(1), *data = cleared(rounds * groups * lanes), *bad = cleared(1);

	grid_barrier_kernel<<<groups, lanes>>>(met, data, bad);
	HIP(hipDeviceSynchronize());
	expect("items of a neighbour", first_of(bad), 0);
	expect("groups that met", first_of(met), rounds * groups);
}

void cooperative()
{
	uint32_t *data = cleared(rounds * groups * lanes), *bad = cleared(1);
	void *args[] = { &data, &bad };

	/* the second launch begins with the barrier as the first has left it */
	for (int i = 0; i < 2; i++)
		HIP(hipLaunchCooperativeKernel((void *)cooperative_kernel, groups, lanes, args, 0,
					       nullptr));
	HIP(hipDeviceSynchronize());
	expect("items of a neighbour behind the grid's barrier", first_of(bad), 0);
	expect("item", first_of(data + (rounds * groups - 1) * lanes),
	       (rounds - 1) * 1000 + groups - 1);
}

void chain()
{
	uint32_t *sums = cleared(groups * 4), *flags = cleared(groups * 4);

	chain_kernel<<<groups * 4, lanes>>>(sums, flags);
	HIP(hipDeviceSynchronize());
	expect("sum of the chain", first_of(sums + groups * 4 - 1),
	       groups * 4 * (groups * 4 - 1) / 2);
}

void chain_back()
{
	uint32_t *flags = cleared(groups);

	chain_back_kernel<<<groups, lanes>>>(flags);
	HIP(hipDeviceSynchronize());
	expect("flag of the first group", first_of(flags), 1);
}

/* Groups are dealt to threads by the 16. */
void each_once()
{
	const uint32_t most = 70;
	std::vector<uint32_t> got(most);
	uint32_t *times = cleared(most), *out = cleared(lanes);

	for (uint32_t nr = 1; nr <= most; nr++) {
		HIP(hipMemset(times, 0, most * sizeof(*times)));
		once_kernel<<<nr, lanes>>>(times, out);
		HIP(hipMemcpy(got.data(), times, most * sizeof(*times), hipMemcpyDeviceToHost));
		for (uint32_t g = 0; g < most; g++)
			expect("runs of a group", got[g], g < nr);
	}
}

void lock()
{
	uint32_t *word = cleared(1), *sum = cleared(1);

	lock_kernel<<<groups, lanes>>>(word, sum);
	HIP(hipDeviceSynchronize());
	expect("sum under a lock", first_of(sum), groups * 50);
}

void private_memory()
{
	const uint32_t n = 40;
	std::vector<uint32_t> got(groups * lanes);
	uint32_t *out = cleared(groups * lanes);

	private_kernel<<<groups, lanes>>>(out, n);
	HIP(hipMemcpy(got.data(), out, got.size() * 4, hipMemcpyDeviceToHost));
	for (uint32_t g = 0; g < groups; g++) {
		for (uint32_t l = 0; l < lanes; l++) {
			uint32_t want = 0;

			for (uint32_t k = 0; k < n; k++)
				want += (k ^ g) + (l + k) % lanes + (k ^ g);
			if (got[g * lanes + l] != want) {
				expect("item with memory of its own", got[g * lanes + l], want);
				return;
			}
		}
	}
}

const Part parts[] = {
	{ "grid_barrier", grid_barrier },     { "cooperative", cooperative }, { "chain", chain },
	{ "chain_back", chain_back },	      { "each_once", each_once },     { "lock", lock },
	{ "private_memory", private_memory },
};

} /* namespace */

int main(int argc, char **argv)
{
	run_parts(parts, argc, argv, [](const Part &part) { part.run(); });
	return verdict();
}
