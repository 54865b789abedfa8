/* SPDX-License-Identifier: MIT */
/* fake_hip.h - the functions of fake_hip.c, for programs that do not have HIP's headers
 *
 * A unit test loads the library at run time, and gets each function by FAKE_HIP().
 */
#ifndef RTL_SUPPORT_FAKE_HIP_H
#define RTL_SUPPORT_FAKE_HIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FAKE_HIP(lib, hipInit): the function in a library that dlopen() returned. */
#define FAKE_HIP(lib, name) ((__typeof__(&name))dlsym(lib, #name))

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

/* ---- both libraries ---- */

int hipPeekAtLastError(void);
/* What hipPeekAtLastError() and hipGetLastError() return. */
void fake_hip_set_status(int status);
/* Callbacks that were registered. */
unsigned int fake_hip_nr_registered(void);

/* ---- HIP up to 5.3 ---- */

int hipInit(unsigned int flags);
int hipGetLastError(void);
int hipMalloc(void **ptr, size_t size);
int hipFree(void *ptr);
int hipMemcpy(void *dst, const void *src, size_t size, int kind);
int hipDeviceSynchronize(void);
int hipLaunchKernel(const void *function, struct grid blocks, struct grid block, void **args,
		    size_t shared, void *stream);
int hipModuleLaunchKernel(void *function, uint32_t x, uint32_t y, uint32_t z, uint32_t bx,
			  uint32_t by, uint32_t bz, uint32_t shared, void *stream, void **args,
			  void **extra);
/* Nothing completes while the GPU is held. */
void fake_hip_hold_gpu(bool on);
/* Requests for kernels' names. */
unsigned int fake_hip_nr_lookups(void);
/* A call in which `inside`, which may be NULL, runs. Whether a callback subscribed to it. */
bool fake_hip_around(uint32_t id, void (*inside)(void));
/* Calls the activity callback of a call as the runtime does at its begin (arg NULL) and at its
 * end. */
void *fake_hip_call(uint32_t id, void *arg);

/* ---- HIP from 5.4 on ---- */

/* hipApiName() */
void fake_hip_set_names(const char *(*fn)(uint32_t id));
/* Reports an operation; -1 without a callback. */
int fake_hip_op(uint32_t op, void *record);
/* The number that the runtime gives to everything that the last call submits. */
uint64_t fake_hip_number(void);
/* A call as the runtime makes it, with a hip_api_data_t of `size` bytes and one argument. 0: the
 * callback subscribed to the call; 1: it did not; other: it wrote outside of its fields. */
int fake_hip_traced(uint32_t id, size_t size, uint64_t arg, void (*inside)(void));

#pragma GCC visibility pop

#endif
