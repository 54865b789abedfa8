/* SPDX-License-Identifier: MIT */
/* registers.cpp - a program with everything that code registers of itself: a kernel, variables of
 * each kind, a texture, a surface
 *
 * Its kernel is launched by calls that no compiler makes today. stdout: the sum of the variables,
 * which the kernel has made.
 */
#include "../programs/hip_common.hpp"

__device__ int device_value = 3;
__constant__ int constant_value = 4;
__managed__ int managed_value = 5;
texture<float, 1, hipReadModeElementType> a_texture;

/* HIP's headers have none for the compiler's type */
template <typename T, int dim>
struct __attribute__((device_builtin_surface_type)) surface : surfaceReference {
};
template <int dim>
struct __attribute__((device_builtin_surface_type)) surface<void, dim> : surfaceReference {
};
surface<void, 2> a_surface;

extern "C" __global__ void registered(int *to)
{
	*to = device_value + constant_value + managed_value;
}

/* A capture whose next node has no predecessor. */
static void capture(int *sum)
{
	hipStream_t stream;
	hipGraph_t graph;

	HIP(hipStreamCreate(&stream));
	HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	HIP(hipMemsetAsync(sum, 0, sizeof(*sum), stream));
	HIP(hipStreamUpdateCaptureDependencies(stream, nullptr, 0,
					       hipStreamSetCaptureDependencies));
	HIP(hipMemsetAsync(sum, 0, sizeof(*sum), stream));
	HIP(hipStreamEndCapture(stream, &graph));
	HIP(hipGraphDestroy(graph));
	HIP(hipStreamDestroy(stream));
}

int main(void)
{
	int *sum, seen = 0;

	HIP(hipMalloc((void **)&sum, sizeof(*sum)));
	HIP(hipConfigureCall(dim3(1), dim3(1), 0, nullptr));
	HIP(hipSetupArgument(&sum, sizeof(sum), 0));
	HIP(hipLaunchByPtr((const void *)registered));
	HIP(hipMemcpy(&seen, sum, sizeof(seen), hipMemcpyDeviceToHost));
	printf("%d\n", seen);
	HIP(hipMemset(sum, 0, sizeof(*sum)));
	registered<<<1, 1>>>(sum);
	capture(sum);
	HIP(hipMemcpy(&seen, sum, sizeof(seen), hipMemcpyDeviceToHost));
	HIP(hipFree(sum));
	printf("%d\n", seen);
	return 0;
}
