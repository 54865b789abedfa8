/* SPDX-License-Identifier: MIT */
/* roctx.h - what the files of libroctx64 share */
#ifndef RTL_LIB_LIBROCTX64_ROCTX_H
#define RTL_LIB_LIBROCTX64_ROCTX_H

#include <stdbool.h>

struct rtl_core;

/* Around a fork: the child must find the lock free. Nothing where RangeStackIterate() of this thread has it. */
void ranges_hold(bool on);

/* libroctx64.so.1 keeps the open ranges' messages, for RangeStackIterate(); in .so.4 this does
 * nothing. From the constructor; NULL is allowed. */
void ranges_start(const struct rtl_core *core);

#endif
