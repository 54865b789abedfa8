/* SPDX-License-Identifier: MIT */
/* window.h - the windows of time that are recorded: --delay, --duration, --period
 *
 * Times count from window_init(), which is when librtl was loaded. With --period and one of the
 * others both must hold.
 */
#ifndef RTL_EVENT_WINDOW_H
#define RTL_EVENT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_NO_EDGE UINT64_MAX

/* Reads RTL_DELAY, RTL_DURATION and RTL_PERIOD. After env_init(), before threads. */
void window_init(void);

/* Whether any of them is set. */
bool window_is_used(void);

/* Whether the time after `elapsed_ns` is within a window; *edge_ns: how long that stays so,
 * WINDOW_NO_EDGE: for ever. */
bool window_at(uint64_t elapsed_ns, uint64_t *edge_ns);

#endif
