/* SPDX-License-Identifier: MIT */
/* roctx.h - what the files of libroctx64 share */
#ifndef RTL_LIB_LIBROCTX64_ROCTX_H
#define RTL_LIB_LIBROCTX64_ROCTX_H

struct rtl_core;

/* libroctx64.so.1 keeps the open ranges' messages, for RangeStackIterate(); in .so.4 this does
 * nothing. From the constructor; NULL is allowed. */
void ranges_start(const struct rtl_core *core);

#endif
