/* SPDX-License-Identifier: MIT */
/* dispatch_ids.h - ids of dispatches, some of which are asked for before the dispatch is
 * submitted */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_DISPATCH_IDS_H
#define RTL_LIB_LIBROCPROFILER_SDK_DISPATCH_IDS_H

#include "sdk.h"

/* HOT: the next id of a dispatch. */
uint64_t dispatch_ids_new(void);
/* So many have an id so far. */
uint64_t dispatch_ids_count(void);
/* The same, for a packet that is submitted next. Holder of the queue's turn. */
uint64_t dispatch_ids_name(uint32_t queue, uint64_t packet);
/* HOT: the id that the packet got by that; 0: none. Once. Holder of the queue's turn. */
uint64_t dispatch_ids_take(uint32_t queue, uint64_t packet);
/* Dispatches are asked for theirs from now on; until then none is kept. */
void dispatch_ids_keep(bool on);

#endif
