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
	bool is_told, has_callback, has_pool;
	bool has_events;
};

/* HOT: false: pass the call on. `c` is set up but for the arguments. */
bool hsa_calls_begin(uint32_t id, struct hsa_call *c);
void hsa_calls_enter(uint32_t id, struct hsa_call *c);
void hsa_calls_leave(uint32_t id, struct hsa_call *c);

/* Generated: puts the wrappers into the runtime's tables. Under ROCr's init lock. */
void hsa_calls_install(const struct hsa_mirror_root *root);

/* A call of the function is wanted, or no longer. */
void hsa_calls_want(uint32_t id, bool on);
/* Its effects are, by hsa_events.c. */
void hsa_calls_watch(uint32_t id, bool on);
/* Whether anything is. */
bool hsa_calls_any(void);

/* Generated: the function that a wrapper stands in front of; NULL: this runtime has none, or there is no
 * runtime. */
void *hsa_calls_real(uint32_t id);

#endif
