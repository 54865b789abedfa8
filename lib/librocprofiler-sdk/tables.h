/* SPDX-License-Identifier: MIT */
/* tables.h - kinds, their operations and arguments, emitted from codegen/models/sdk */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_TABLES_H
#define RTL_LIB_LIBROCPROFILER_SDK_TABLES_H

#include <stdint.h>

#include "hip_ops_gen.h"
#include "hsa_wrap_gen.h"
#include "rccl_ops_gen.h"
#include "rocprofiler-sdk/fwd.h"

struct tables_param {
	const char *name, *mangled; /* its type as C++ mangles it */
	uint16_t offset;	    /* in the arguments of the payload */
	uint8_t size, indirection;  /* pointers in the type */
};

struct tables_function {
	const char *name;
	const struct tables_param *params;
	uint32_t nr_params;
};

/* Operations are numbered from 0. Kinds of an API have functions, others names; both NULL: none. */
struct tables_kind {
	const char *name;
	const struct tables_function *functions;
	const char *const *ops;
	uint32_t nr_ops;
};
extern const struct tables_kind tables_callback_kinds[ROCPROFILER_CALLBACK_TRACING_LAST];
extern const struct tables_kind tables_buffer_kinds[ROCPROFILER_BUFFER_TRACING_LAST];

/* A function of librtl's wrappers. kind 0: the SDK has no number for it. */
struct tables_route {
	uint8_t kind; /* rocprofiler_callback_tracing_kind_t */
	uint16_t id;
	uint8_t args_size, result_size;
};
extern const struct tables_route tables_hip[HIP_OP_NR], tables_hsa[HSA_OP_NR];

/* The numbers of RCCL's functions: up to ROCm 7.0, with one function more, from 7.1 on, where one
 * was put into the middle. */
enum { TABLES_RCCL, TABLES_RCCL_BIAS, TABLES_RCCL_NEWEST, TABLES_RCCL_NR };
extern const struct tables_kind tables_rccl_kinds[TABLES_RCCL_NR];
extern const struct tables_route tables_rccl[TABLES_RCCL_NR][RCCL_OP_NR];

#endif
