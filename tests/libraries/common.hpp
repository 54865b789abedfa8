/* SPDX-License-Identifier: MIT */
/* common.hpp - what the programs that use AMD's libraries share: checks of status, data on the GPU,
 * comparison with the CPU
 *
 * Each program prints a line for each result that it compared, and ends with 0 only if all were
 * right.
 */
#ifndef LIBRARIES_COMMON_HPP
#define LIBRARIES_COMMON_HPP

#include <hip/hip_runtime.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                                   \
	do {                                                                                       \
		int status_ = (int)(call);                                                         \
		if (status_) {                                                                     \
			std::fprintf(stderr, "%s:%d: %s is %d\n", __FILE__, __LINE__, #call,       \
				     status_);                                                     \
			std::exit(2);                                                              \
		}                                                                                  \
	} while (0)

static int wrong;

/* Compares the largest error of a result with its bound. */
static inline void result(const char *what, double error, double bound)
{
	bool right = error <= bound;

	std::printf("%s: %s, error %.3g, bound %.3g\n", what, right ? "right" : "WRONG", error,
		    bound);
	wrong += !right;
}

static inline int ended()
{
	std::fflush(stdout);
	return wrong ? 1 : 0;
}

/* An array on the GPU that is freed with its scope. */
template <typename T> struct Device {
	T *p = nullptr;
	size_t n;

	explicit Device(size_t n_) : n(n_)
	{
		OK(hipMalloc((void **)&p, n * sizeof(T)));
	}
	explicit Device(const std::vector<T> &v) : Device(v.size())
	{
		OK(hipMemcpy(p, v.data(), n * sizeof(T), hipMemcpyHostToDevice));
	}
	Device(const Device &) = delete;
	Device &operator=(const Device &) = delete;
	~Device()
	{
		(void)hipFree(p);
	}
	std::vector<T> host() const
	{
		std::vector<T> v(n);

		OK(hipMemcpy(v.data(), p, n * sizeof(T), hipMemcpyDeviceToHost));
		return v;
	}
};

/* Small reproducible numbers, exact in 16 bits of floating point: multiples of 1/8 between -1 and
 * 1. */
struct Numbers {
	uint64_t state;

	explicit Numbers(uint64_t seed) : state(seed * 2 + 1)
	{
	}
	double next()
	{
		state = state * 6364136223846793005u + 1442695040888963407u;
		return (double)(int)((state >> 33) % 17) / 8 - 1;
	}
};

template <typename T> static inline std::vector<T> numbers(size_t n, uint64_t seed)
{
	Numbers r(seed);
	std::vector<T> v(n);

	for (T &x : v)
		x = (T)r.next();
	return v;
}

#endif
