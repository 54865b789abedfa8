/* SPDX-License-Identifier: MIT */
/* hsa_calls.h - HSA's calls while they run: what the generated wrappers call
 *
 * A wrapper calls hsa_calls_begin(); if the call is wanted it fills in the arguments and calls
 * hsa_calls_enter(), the real function, hsa_calls_leave().
 */
#ifndef RTL_LIB_LIBROCTRACER64_HSA_CALLS_H
#define RTL_LIB_LIBROCTRACER64_HSA_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "roctracer/roctracer_hsa.h"

struct hsa_mirror_root;

struct hsa_call {
	struct hsa_api_data_t data;
	uint64_t phase_data, begin_ns, outer;
	bool has_callback, has_pool;
};

/* HOT: false: pass the call on. `c` is set up but for the arguments. */
bool hsa_calls_begin(uint32_t id, struct hsa_call *c);
void hsa_calls_enter(uint32_t id, struct hsa_call *c);
void hsa_calls_leave(uint32_t id, struct hsa_call *c);

/* Generated: puts the wrappers into the runtime's tables. Under ROCr's init lock. */
void hsa_calls_install(const struct hsa_mirror_root *root);

/* A call of the function is wanted, or no longer. */
void hsa_calls_want(uint32_t id, bool on);
/* Whether any is. */
bool hsa_calls_any(void);

#endif
