/* SPDX-License-Identifier: MIT */
/* barrier.h - a memory barrier on every thread of the process, paid for by the caller alone
 *
 * Lets a hot path do without a fence of its own: where one side is rare, it calls barrier_all()
 * between its store and its load, and the other side needs the order of its program only.
 */
#ifndef RTL_BASE_BARRIER_H
#define RTL_BASE_BARRIER_H

#include <stdbool.h>

/* Cheap in a process of one thread; with more the kernel waits for all processors, which takes some ms, and
 * hundreds on a busy machine. false: the kernel has none. */
bool barrier_init(void);
/* Whether barrier_all() will not have to do barrier_init(). */
bool barrier_is_ready(void);
/* The first call does barrier_init() where nobody has; after that microseconds. false: there is none; then
 * the caller has to wait instead. */
bool barrier_all(void);

#endif
