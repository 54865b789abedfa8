/* SPDX-License-Identifier: MIT */
/* code_object.h - code objects and their kernels */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_CODE_OBJECT_H
#define RTL_LIB_LIBROCPROFILER_SDK_CODE_OBJECT_H

#include "sdk.h"

/* The core's code objects are noted from now on; those that are loaded already as well. May be
 * called again. */
void code_object_listen(void);
/* From the table's layer. */
void code_object_install(const struct hsa_mirror_root *root);
/* Shows what is loaded to active contexts that have not got it. */
void code_object_show(void);
/* Shows the end of all that was shown. */
void code_object_end(void);

#endif
