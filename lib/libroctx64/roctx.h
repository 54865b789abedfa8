/* SPDX-License-Identifier: MIT */
/* roctx.h - what the files of libroctx64 share */
#ifndef RTL_LIB_LIBROCTX64_ROCTX_H
#define RTL_LIB_LIBROCTX64_ROCTX_H

struct rtl_core;

/* From the constructor. libroctx64.so.1 keeps messages of open ranges for RangeStackIterate(); in .so.4 this does
 * nothing. `core` may be NULL. */
void ranges_start(const struct rtl_core *core);

#endif
