/* SPDX-License-Identifier: MIT */
/* managed.cpp - kernels that change memory which the host and the GPU both store to without a copy:
 * what is managed
 *
 *	managed rounds=3 size=4096
 *
 * A `__managed__` variable; memory of hipMallocManaged(), whose first half has advice of its own,
 * and whose address is in memory of the GPU alone. Each round the host and a kernel change each.
 *
 * stdout: the number of launches, and of wrong results.
 */
#include "hip_common.hpp"

static __managed__ unsigned variable;
static long launches, wrong;

extern "C" __global__ void managed_add(unsigned by)
{
	if (threadIdx.x == 0)
		variable += by;
}

extern "C" __global__ void managed_increment(unsigned *p)
{
	p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

/* Finds the memory by an address in other memory. */
extern "C" __global__ void managed_follow(unsigned *const *where)
{
	where[0][blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

#define LAUNCH(kernel, threads, ...)                                                               \
	do {                                                                                       \
		hipLaunchKernelGGL(kernel, dim3((threads) / 64), dim3(64), 0, 0, __VA_ARGS__);     \
		HIP(hipGetLastError());                                                            \
		launches++;                                                                        \
	} while (0)

static void check(unsigned have, unsigned want, const char *what)
{
	if (have == want)
		return;
	wrong++;
	fprintf(stderr, "wrong: %s: %u, not %u\n", what, have, want);
}

int main(int argc, char **argv)
{
	long rounds = arg_num(argc, argv, "rounds", 3), size = arg_num(argc, argv, "size", 4096);
	unsigned *p, **where;

	HIP(hipMallocManaged((void **)&p, size * sizeof(*p), hipMemAttachGlobal));
	HIP(hipMalloc((void **)&where, sizeof(p)));
	HIP(hipMemcpy(where, &p, sizeof(p), hipMemcpyHostToDevice));
	memset(p, 0, size * sizeof(*p));
	/* not known everywhere */
	(void)hipMemAdvise(p, size / 2 * sizeof(*p), hipMemAdviseSetReadMostly, 0);
	(void)hipMemPrefetchAsync(p, size * sizeof(*p), 0, 0);
	(void)hipGetLastError();
	for (long i = 0; i < rounds; i++) {
		LAUNCH(managed_add, 64, 3u);
		LAUNCH(managed_increment, size, p);
		LAUNCH(managed_follow, size, where);
		HIP(hipDeviceSynchronize());
		variable += 100;
		for (long k = 0; k < size; k++)
			p[k] += 1000;
	}
	check(variable, (unsigned)(rounds * 103), "the variable");
	check(p[0], (unsigned)(rounds * 1002), "the memory with advice");
	check(p[size - 1], (unsigned)(rounds * 1002), "the memory without");
	printf("managed: %ld launches, %ld wrong\n", launches, wrong);
	return wrong != 0;
}
