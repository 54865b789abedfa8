/* SPDX-License-Identifier: MIT */
/* marker_ranges.h - ranges of roctx from their begins to their ends, for markers.c */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_MARKER_RANGES_H
#define RTL_LIB_LIBROCPROFILER_SDK_MARKER_RANGES_H

#include "sdk.h"

/* HOT: a call of roctx begins, and ends; as the listeners of range.h get them. Calls that a tool
 * makes within a callback of a range are not shown. The library of ROCm 6 has no such ranges: there
 * they do nothing. */
void marker_ranges_begin(enum range_call call, const char *message, uint64_t number);
void marker_ranges_end(enum range_call call, uint64_t result);

#endif
