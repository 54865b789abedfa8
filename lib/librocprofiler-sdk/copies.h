/* SPDX-License-Identifier: MIT */
/* copies.h - memory copies become callbacks and records */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_COPIES_H
#define RTL_LIB_LIBROCPROFILER_SDK_COPIES_H

#include "sdk.h"

void copies_start(const struct rtl_core *core);
/* HOT: the core's event. Under locks of the core's. */
void copies_over(const struct event_copy *c);

#endif
