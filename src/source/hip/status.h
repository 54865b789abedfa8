/* SPDX-License-Identifier: MIT */
/* status.h - the status of the HIP call that has just returned, for callbacks, to which the runtime does not pass it */
#ifndef RTL_SOURCE_HIP_STATUS_H
#define RTL_SOURCE_HIP_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* Looks the runtime's functions up. Before callbacks are turned on. false: the status can't be had. */
bool status_find(void);
/* HOT, both; preserve errno: between the two callbacks of a call, on its thread. The last error before the call has changed it. */
int32_t status_before(void);
/* The status of the call, whose function has returned. Once for each call: from HIP 6 on it is taken away. */
int32_t status_after(void);

#endif
