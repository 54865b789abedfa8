/* SPDX-License-Identifier: MIT */
/* signal_map.h - the signal map: from a signal of the program to the in-flight entry that uses it
 *
 * A packet with a signal of the program (its owner's signal) keeps it, and librtl takes the times
 * out of that signal before the owner can use it again. The harvester takes them, or a thread of
 * the owner when it destroys the signal or puts it on another operation; the latter two find the
 * entry here.
 *
 * All operations may run on any thread at any time, without a lock.
 */
#ifndef RTL_SOURCE_HSA_SIGNAL_MAP_H
#define RTL_SOURCE_HSA_SIGNAL_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/completion/signal.h"

struct inflight;
struct inflight_ring;

/* HOT: maps `s` to `e`, which is pushed to the ring `r` next; NULL: to no ring. A completed earlier
 * operation on `s` is captured first. -EBUSY: a pending operation uses the same signal, and is now
 * marked as sharing it; -ENOSPC: both windows of `s` are full. A thread that finds `e` by the
 * signal sees its state and signal: the caller has stored them. */
int signal_map_add(amd_signal_t *s, struct inflight *e, const struct inflight_ring *r);

/* Removes the mapping if `s` is still mapped to `e`. Needed where `e` could later be mistaken for
 * an operation on `s`; else the next use of the signal, or its end, finds that the entry is done.
 */
void signal_map_remove(const amd_signal_t *s, const struct inflight *e);

/* HOT: the owner uses `s` for something that is not mapped: as signal_map_add(), without adding. */
void signal_map_reuse(amd_signal_t *s);

/* The owner destroys `s`: times that are unknown now are lost. */
void signal_map_destroy(amd_signal_t *s);

/* The runtime went away. */
void signal_map_reset(void);

#endif
