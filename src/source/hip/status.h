/* SPDX-License-Identifier: MIT */
/* status.h - the status of the HIP call that has just returned, for callbacks, to which the runtime
 * does not pass it */
#ifndef RTL_SOURCE_HIP_STATUS_H
#define RTL_SOURCE_HIP_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* Looks the runtime's functions up. Before callbacks are turned on. false: the status can't be
 * had. */
bool status_find(void);
/* HOT, both; preserve errno: between the two callbacks of a call, on its thread. Before the call
 * has changed it: the last error, or the status of the last call; up to HIP 5 these are the
 * same. */
int32_t status_before(bool is_last_call);
/* The status of the call, whose function has returned. Once for each call: where it is asked for,
 * HIP 6 and later reset it. */
int32_t status_after(void);

#endif
