/* SPDX-License-Identifier: MIT */
/* register.h - the way in through rocprofiler-register */
#ifndef RTL_LIB_LIBRTL_REGISTER_H
#define RTL_LIB_LIBRTL_REGISTER_H

#include <stdint.h>

/* set_api_table() of the core's table. */
int register_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			   uint64_t nr_tables);

#endif
