/* SPDX-License-Identifier: MIT */
/* rccl.h - the numbers of RCCL's functions */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_RCCL_H
#define RTL_LIB_LIBROCPROFILER_SDK_RCCL_H

#include "sdk.h"

void rccl_start(const struct rtl_core *core);
/* TABLES_RCCL...: by the library that is loaded; the first set while there is none. */
uint32_t rccl_numbers(void);
bool rccl_is_decided(void);
/* A call of RCCL begins. true: it has decided about the numbers. */
bool rccl_first_call(void);
/* RCCL has offered its table, before the core takes it; that may decide about the numbers. */
void rccl_take_table(const void *table, uint64_t version, uint64_t instance);
/* The kinds, with the functions of the RCCL that is there. They exist. */
const struct tables_kind *rccl_callback_kind(uint32_t kind);
const struct tables_kind *rccl_buffer_kind(uint32_t kind);

#endif
