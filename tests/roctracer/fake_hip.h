/* SPDX-License-Identifier: MIT */
/* fake_hip.h - the calls of HIP's that fake_hip.c has, as programs without HIP's headers call them */
#ifndef RTL_TESTS_ROCTRACER_FAKE_HIP_H
#define RTL_TESTS_ROCTRACER_FAKE_HIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* as in HIP 5.2 */
enum {
	ID_SYNCHRONIZE = 48,
	ID_FREE = 69,
	ID_LAUNCH = 107,
	ID_MALLOC = 108,
	ID_MEMCPY = 125,
	ID_MODULE_LAUNCH = 169,
};

/* hip_api_data_t */
struct call_data {
	uint64_t correlation;
	uint32_t phase, reserved;
	uint64_t args[102];
};

struct grid {
	uint32_t x, y, z;
};

#pragma GCC visibility push(default)

int hipMalloc(void **ptr, size_t size);
int hipFree(void *ptr);
int hipMemcpy(void *dst, const void *src, size_t size, int kind);
int hipDeviceSynchronize(void);
int hipLaunchKernel(const void *function, struct grid blocks, struct grid block, void **args,
		    size_t shared, void *stream);
int hipModuleLaunchKernel(void *function, uint32_t x, uint32_t y, uint32_t z, uint32_t bx,
			  uint32_t by, uint32_t bz, uint32_t shared, void *stream, void **args,
			  void **extra);

/* The test's: nothing completes while it is held. */
void fake_gpu_hold(bool on);

#pragma GCC visibility pop

#endif
