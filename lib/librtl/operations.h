/* SPDX-License-Identifier: MIT */
/* operations.h - passes operations that have completed to the callbacks of sessions */
#ifndef RTL_LIB_LIBRTL_OPERATIONS_H
#define RTL_LIB_LIBRTL_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <rtl/rtl.h>

/* Calls `fn` with each operation from now on, in a callback under the lock of deliveries. Once: it
 * lives for ever. */
typedef void (*operations_fn)(const rtl_operation_t *operation);

/* Operations are wanted from now on, or no longer. 0, or -errno: no memory or no thread. One thread
 * at a time. */
int operations_want(bool on, operations_fn fn);

/* Passes on what was recorded before the call. Not in a callback. Any thread. */
void operations_deliver(void);

/* Dropped so far. Any thread. */
uint64_t operations_nr_dropped(void);

#endif
