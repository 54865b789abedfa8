/* SPDX-License-Identifier: MIT */
/* entry.h - OnLoad() and OnUnload() under names that no other library exports */
#ifndef RTL_LIB_LIBRTL_ENTRY_H
#define RTL_LIB_LIBRTL_ENTRY_H

#include <stdbool.h>

/* HSA's runtime has its tables at `table`. Under ROCr's init lock. */
bool entry_load(void *table);
/* The runtime goes away. */
void entry_unload(void);

#endif
