/* SPDX-License-Identifier: MIT */
/* intercept.h - tables for tools' own functions */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_INTERCEPT_H
#define RTL_LIB_LIBROCPROFILER_SDK_INTERCEPT_H

#include "sdk.h"

/* HSA's runtime has given this version with its table. */
void intercept_note_hsa(uint64_t version, uint64_t instance);
/* HSA's table, from its layer. */
void intercept_hsa(const struct hsa_mirror_root *root);
/* The tables of other runtimes, as rocprofiler-register names them. */
void intercept_tables(const char *name, uint64_t version, uint64_t instance, void **tables,
		      uint64_t nr);

#endif
