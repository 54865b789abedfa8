/* SPDX-License-Identifier: MIT */
/* barrier.h - a memory barrier on every thread of the process, at the cost of the caller
 *
 * Makes a fence on a hot path unnecessary: the rare side calls barrier_all() between its store and
 * its load, and the hot side needs only program order.
 */
#ifndef RTL_BASE_BARRIER_H
#define RTL_BASE_BARRIER_H

#include <stdbool.h>

/* Cheap in a single-threaded process; with more threads the kernel waits for all processors, which
 * takes some ms, and hundreds on a busy machine. false: the kernel has no such barrier. */
bool barrier_init(void);
/* Whether barrier_all() will not have to call barrier_init(). */
bool barrier_is_ready(void);
/* The first call runs barrier_init() if needed; after that it takes microseconds. false: there is
 * no barrier; the caller has to wait instead. */
bool barrier_all(void);

#endif
