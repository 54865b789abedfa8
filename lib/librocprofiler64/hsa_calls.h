/* SPDX-License-Identifier: MIT */
/* hsa_calls.h - callbacks of HSA's calls */
#ifndef RTL_LIB_LIBROCPROFILER64_HSA_CALLS_H
#define RTL_LIB_LIBROCPROFILER64_HSA_CALLS_H

#include <stdbool.h>

/* A tool has set hsa_intercepting: callbacks of all kinds have effect. */
void hsa_calls_start(void);
/* HSA's tables have the core's wrappers. Under ROCr's init lock. */
void hsa_calls_on_runtime(void);

#endif
