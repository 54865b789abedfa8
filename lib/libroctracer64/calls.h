/* SPDX-License-Identifier: MIT */
/* calls.h - API calls of HIP and HSA: from the core's live.h to callbacks and records */
#ifndef RTL_LIB_LIBROCTRACER64_CALLS_H
#define RTL_LIB_LIBROCTRACER64_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "hsa_wrap_gen.h"
#include "roctracer/roctracer_hsa.h"

struct rtl_core;

/* Subscribes to the core's calls. -ENOSPC: there are too many subscribers. */
int calls_start(const struct rtl_core *core);
/* Subscribes to what is registered for a function's calls now. ACTIVITY_DOMAIN_HIP_API and
 * _HSA_API. */
void calls_want(uint32_t domain, uint32_t id);
/* The client gets no calls that begin from now on, or gets them again. After calls_start(). */
void calls_pause(bool paused);

/* ---- emitted by codegen ---- */

/* One of HSA's functions, by HSA_API_ID. */
struct hsa_call_of {
	uint16_t op; /* enum hsa_op */
	uint16_t args_size, result_size;
};
extern const struct hsa_call_of calls_hsa[HSA_API_ID_NUMBER];
/* HSA_API_ID by enum hsa_op, of functions that have one. */
extern const uint16_t calls_hsa_id[HSA_OP_NR];
/* `args`: a struct hsa_args_NAME. */
void calls_hsa_args(uint32_t id, const void *args, struct hsa_api_data_t *data);

#endif
