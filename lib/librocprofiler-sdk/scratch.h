/* SPDX-License-Identifier: MIT */
/* scratch.h - scratch memory */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_SCRATCH_H
#define RTL_LIB_LIBROCPROFILER_SDK_SCRATCH_H

#include "sdk.h"

void scratch_install(const struct hsa_mirror_root *root);
bool scratch_is_wanted(void);

#endif
