/* SPDX-License-Identifier: MIT */
/* samekernel.cpp - one kernel of a header in many libraries, each with a function for it
 *
 *	samekernel LIBRARY...
 *
 * Loads each LIBRARY, copies of libsamekernel.so, and launches its kernel once. stdout: the
 * addresses of the functions that the libraries registered, a line each.
 */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <dlfcn.h>

#ifdef LIBRARY
extern "C" __global__ void same_kernel(int *p)
{
	p[threadIdx.x] = 1;
}

extern "C" const void *launch_same_kernel(int *p)
{
	same_kernel<<<1, 64>>>(p);
	return (const void *)same_kernel;
}
#else
int main(int argc, char **argv)
{
	int *p;

	if (hipMalloc((void **)&p, 4096) != hipSuccess)
		return 1;
	for (int i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		auto launch = lib ? (const void *(*)(int *))dlsym(lib, "launch_same_kernel") : NULL;

		if (!launch) {
			fprintf(stderr, "samekernel: %s\n", dlerror());
			return 1;
		}
		printf("%lu\n", (unsigned long)launch(p));
	}
	return hipDeviceSynchronize() == hipSuccess ? 0 : 1;
}
#endif
