/* SPDX-License-Identifier: MIT */
/* host_functions.h - functions of the host that stand for kernels */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_HOST_FUNCTIONS_H
#define RTL_LIB_LIBROCPROFILER_SDK_HOST_FUNCTIONS_H

#include "sdk.h"

/* A function of the host that stands for a kernel: registered once, stays for the process. */
struct sdk_host_function {
	struct sdk_host_function *next; /* host_functions.c's */
	uint64_t function, modules;
	uint32_t thread_limit, workgroup_size;
	rocprofiler_dim3_t thread_ids, block_ids, block_dims, grid_dims; /* 0: not given */
	char name[];							 /* the kernel's, mangled */
};

/* Registrations from now on are kept. */
void host_functions_listen(const struct rtl_core *core);
/* The newest one that was registered under the name, before `after` if that is not NULL. NULL:
 * there is none. Any thread, no lock. */
const struct sdk_host_function *host_functions_find(const char *name,
						    const struct sdk_host_function *after);

#endif
