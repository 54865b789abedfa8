/* SPDX-License-Identifier: MIT */
/* roctx.h - what the files of libroctx64 and librocprofiler-sdk-roctx share */
#ifndef RTL_LIB_LIBROCTX64_ROCTX_H
#define RTL_LIB_LIBROCTX64_ROCTX_H

struct rtl_core;

/* NULL: librtl is of another build. Any thread. */
const struct rtl_core *roctx_core(void);

/* From the constructor. libroctx64.so.1 keeps messages of open ranges for RangeStackIterate(); in
 * .so.4 this does nothing. `core` may be NULL. */
void ranges_start(const struct rtl_core *core);

#endif
