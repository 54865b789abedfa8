/* SPDX-License-Identifier: MIT */
/* sanitized_hip.cpp - is compiled with sanitizers, which see its host code: kernels and copies with
 * a result, from two threads */
#include <hip/hip_runtime.h>

#include <cstdio>
#include <thread>

__global__ void add(int *p, int n)
{
	*p += n;
}

static int work(int n)
{
	hipStream_t stream;
	int *p, value = 0;

	if (hipStreamCreate(&stream) || hipMalloc(&p, sizeof(*p)) ||
	    hipMemcpyAsync(p, &value, sizeof(value), hipMemcpyHostToDevice, stream))
		return -1;
	for (int i = 0; i < 10; i++)
		add<<<1, 1, 0, stream>>>(p, n);
	if (hipMemcpyAsync(&value, p, sizeof(value), hipMemcpyDeviceToHost, stream) ||
	    hipStreamSynchronize(stream) || hipFree(p) || hipStreamDestroy(stream))
		return -1;
	return value;
}

int main()
{
	int results[2];
	std::thread other([&] { results[1] = work(2); });

#if defined(__SANITIZE_THREAD__) || (defined(__has_feature) && __has_feature(thread_sanitizer))
	/* one after the other: the sanitizer does not see HIP's own locks, and reports HIP for what
	 * two threads do at once */
	other.join();
	results[0] = work(1);
#else
	results[0] = work(1);
	other.join();
#endif
	std::printf("%d %d\n", results[0], results[1]);
	return results[0] == 10 && results[1] == 20 ? 5 : 1;
}
