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

/* From librtl's constructor. */
void callback_init(void);

/* Whether calls are recorded this way. HOT */
bool callback_is_on(void);

/* HOT: for live.c, which the runtime calls. The structure for the call's arguments, NULL: it is not
 * recorded; `frame`: the address of the caller's stack frame. And the end of a call that is; `args`: of the
 * runtime's hip_api_data_t, in that structure or where the runtime itself has it. */
void *callback_begin(uint32_t id, uintptr_t frame);
void callback_end(uint32_t id, const void *args);

/* HSA's runtime has just been loaded by a call on this thread, and is traced. true: callbacks are on. */
bool callback_on_runtime(void);

#endif
