/* SPDX-License-Identifier: MIT */
/* boot.h - connects sources, sinks and the layers of HSA's tables, and reads the environment */
#ifndef RTL_LIB_LIBRTL_BOOT_H
#define RTL_LIB_LIBRTL_BOOT_H

#include <stdbool.h>

/* Before anything else; only the first call does something, others wait for it. Any thread.
 * hip_boot() of source/hip/frame.h is the same. */
void boot(void);
/* Records HSA's calls from now on, or from the next hsa_init() on. false: too many layers. May be
 * called again. Any thread. */
bool boot_wrap_hsa(void);

#endif
