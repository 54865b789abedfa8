/* SPDX-License-Identifier: MIT */
/* markers.h - roctx's calls become callbacks and records */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_MARKERS_H
#define RTL_LIB_LIBROCPROFILER_SDK_MARKERS_H

#include "sdk.h"

void markers_start(const struct rtl_core *core);

#endif
