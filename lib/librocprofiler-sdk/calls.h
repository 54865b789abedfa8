/* SPDX-License-Identifier: MIT */
/* calls.h - HIP's and HSA's calls become callbacks and records */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_CALLS_H
#define RTL_LIB_LIBROCPROFILER_SDK_CALLS_H

#include "sdk.h"

/* Subscribes to the core's calls; all of HIP's at first, so that the first one is the first use.
 * -ENOSPC: too many subscribers. */
int calls_start(const struct rtl_core *core);
/* Subscribes to what active contexts want, from the first use on. */
void calls_update(void);
/* HSA's runtime is being loaded: now is the time to turn HIP's own callbacks on, where no wrapper
 * shows its calls. */
void calls_on_runtime(void);

#endif
