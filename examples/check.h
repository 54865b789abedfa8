/* SPDX-License-Identifier: MIT */
/* check.h - shared by the examples: errors, a loop over GPUs, roctx if a tracer provides it
 *
 * An example prints a line for each GPU, PASSED or FAILED, and returns 1 if a result is wrong.
 */
#ifndef EXAMPLES_CHECK_H
#define EXAMPLES_CHECK_H

#include <hip/hip_runtime.h>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#define HIP(call)                                                                                  \
	do {                                                                                       \
		hipError_t err = (call);                                                           \
		if (err != hipSuccess) {                                                           \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,              \
				hipGetErrorString(err));                                           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* A range in the trace from here to the end of the block; no effect without a tracer. */
class Range
{
public:
	explicit Range(const char *name)
	{
		static const auto push = reinterpret_cast<int (*)(const char *)>(
			dlsym(RTLD_DEFAULT, "roctxRangePushA"));
		if (push)
			push(name);
	}
	~Range()
	{
		static const auto pop =
			reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "roctxRangePop"));
		if (pop)
			pop();
	}
	Range(const Range &) = delete;
	Range &operator=(const Range &) = delete;
};

/* Runs `one`, which returns the number of wrong results, on each GPU. */
template <typename F> int on_every_gpu(const char *name, F one)
{
	int gpus = 0, failed = 0;

	HIP(hipGetDeviceCount(&gpus));
	for (int gpu = 0; gpu < gpus; gpu++) {
		HIP(hipSetDevice(gpu));
		long wrong = one();

		if (wrong)
			printf("%s: GPU %d: FAILED, %ld wrong\n", name, gpu, wrong);
		else
			printf("%s: GPU %d: PASSED\n", name, gpu);
		failed |= wrong != 0;
	}
	return failed;
}

#endif
