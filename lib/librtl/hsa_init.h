/* SPDX-License-Identifier: MIT */
/* hsa_init.h - hsa_init() in front of the runtime's */
#ifndef RTL_LIB_LIBRTL_HSA_INIT_H
#define RTL_LIB_LIBRTL_HSA_INIT_H

#include "core.h"

/* hsa_init_as_tool() and hsa_init() of the core's table. */
void hsa_init_as_tool(hsa_init_wants_fn wants);
hsa_status_t hsa_init_front(void);

#endif
