/* SPDX-License-Identifier: MIT */
/* events.h - what the core tells of GPU operations */
#ifndef RTL_LIB_LIBROCPROFILER_SDK_EVENTS_H
#define RTL_LIB_LIBROCPROFILER_SDK_EVENTS_H

#include "sdk.h"

/* Operations are shown from now on if a context wants some. May be called again. */
void events_start(void);
/* Waits, 10 s at most, until the operations that have been shown have ended and their ends are
 * shown, too; 1 s if none ends. */
void events_settle(void);
/* Puts the records of what has completed into the buffers. Waits, 1 s at most, for callbacks of
 * operations before them. */
void events_flush(void);

#endif
