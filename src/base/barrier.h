/* SPDX-License-Identifier: MIT */
/* barrier.h - a memory barrier on every thread of the process, paid for by the caller alone
 *
 * Lets a hot path do without a fence of its own: where one side is rare, it calls barrier_all()
 * between its store and its load, and the other side needs the order of its program only.
 */
#ifndef RTL_BASE_BARRIER_H
#define RTL_BASE_BARRIER_H

#include <stdbool.h>

/* May take some ms in a process with threads. false: the kernel has none. */
bool barrier_init(void);
/* false: not there, or not initialised; then the caller has to wait instead. Microseconds. */
bool barrier_all(void);

#endif
