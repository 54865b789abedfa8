/* SPDX-License-Identifier: MIT */
/* registers.cpp - a program with everything that code registers of itself: a kernel, variables of each kind, a texture, a surface
 *
 * stdout: the sum of the variables, which a kernel has made.
 */
#include "../programs/hip_common.hpp"

__device__ int device_value = 3;
__constant__ int constant_value = 4;
__managed__ int managed_value = 5;
texture<float, 1, hipReadModeElementType> a_texture;

/* HIP's headers have none for the compiler's type */
template <typename T, int dim>
struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {};
template <int dim>
struct __attribute__((device_builtin_surface_type)) surface<void, dim> : surfaceReference {};
surface<void, 2> a_surface;

extern "C" __global__ void registered(int *to)
{
	*to = device_value + constant_value + managed_value;
}

int main(void)
{
	int *sum, seen = 0;

	HIP(hipMalloc((void **)&sum, sizeof(*sum)));
	registered<<<1, 1>>>(sum);
	HIP(hipMemcpy(&seen, sum, sizeof(seen), hipMemcpyDeviceToHost));
	HIP(hipFree(sum));
	printf("%d\n", seen);
	return 0;
}
