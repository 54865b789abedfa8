/* SPDX-License-Identifier: MIT */
/* callback.h - HIP calls as the runtime's own callbacks tell of them
 *
 * For librtl where it can't be preloaded: RTL_HIP_BACKEND=callback. Never on by itself, because it changes
 * the runtime (callback.c says how).
 */
#ifndef RTL_SOURCE_HIP_CALLBACK_H
#define RTL_SOURCE_HIP_CALLBACK_H

#include <stdbool.h>
#include <stdint.h>

#include "source/api/live.h"

/* Whether calls are recorded this way. HOT */
bool callback_is_on(void);

/* HOT: for activity.c, which the runtime calls: a call begins that may be recorded, which `f` then says. The end of
 * one that is recorded. */
void callback_begin(uint32_t id, struct live_frame *f);
void callback_end(uint32_t id, struct live_frame *f);

/* HSA's runtime has just been loaded by a call on this thread, and is traced. true: callbacks are on. */
bool callback_on_runtime(void);

#endif
