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
#include "source/hip/release.h"

/* Whether calls are recorded this way. HOT */
bool callback_is_on(void);

/* HOT: for activity.c, which the runtime calls: a call begins that may be recorded, which `f` then says. The end of
 * one that is recorded. */
void callback_begin(uint32_t id, struct live_frame *f);
void callback_end(uint32_t id, struct live_frame *f);

/* The runtime has callbacks: where it keeps the status of a call is looked up. Before they are turned on. */
void callback_find_status(void);
/* HOT: a call begins whose status is wanted; it has returned. */
void callback_status_before(const struct hip_callback *c, struct live_frame *f);
void callback_status_after(struct live_frame *f);

/* HSA's runtime has just been loaded by a call on this thread, and is traced. true: callbacks are on. */
bool callback_on_runtime(void);

#endif
