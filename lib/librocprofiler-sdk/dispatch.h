/* SPDX-License-Identifier: MIT */
/* dispatch.h - kernel dispatches become callbacks and records */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_DISPATCH_H
#define RTL_LIB_LIBROCPROFILER_SDK_DISPATCH_H

#include "operations.h"

/* Other contexts are active, or tools use ids of their own, from now on. */
void dispatch_update(void);
/* From the table's layer. */
void dispatch_install(const struct hsa_mirror_root *root);
void dispatch_start(const struct rtl_core *core);
/* Whether dispatches get records without being noted when they are submitted. *nr_ids: so many have
 * an id so far, those with records among them. */
bool dispatch_is_direct(uint64_t *nr_ids);
/* HOT: the core's event. Under locks of the core's. */
void dispatch_over(const struct event_dispatch *d);

#endif
