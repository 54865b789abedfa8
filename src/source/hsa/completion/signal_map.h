/* SPDX-License-Identifier: MIT */
/* signal_map.h - signals of the program whose operation is in flight: from signal to in-flight entry
 *
 * A packet that carries its owner's signal keeps it; we take the times out of that signal before the
 * owner can use it again. Three things can end their life there: the harvester comes by, the owner
 * destroys the signal, or the owner puts it on another operation. The latter two look here.
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

/* HOT: maps `s` to `e`, which goes into the ring `r` next; NULL: it is in none. -EBUSY: an operation that has
 * not completed uses the same signal, and knows now that it shares it; -ENOSPC: the table is full
 * around its place. An operation that completed is captured first. Whoever finds `e` by the signal
 * looks at its state and its signal: they were set before this. */
int signal_map_add(amd_signal_t *s, struct inflight *e, const struct inflight_ring *r);

/* Removes the mapping, if `s` is still mapped to `e`. Needed where `e` could be taken for an operation on `s`
 * later on; else the next use of the signal, or its end, finds out that this one is over. */
void signal_map_remove(const amd_signal_t *s, const struct inflight *e);

/* HOT: the owner uses `s` for something that is not mapped: as signal_map_add(), without adding. */
void signal_map_reuse(amd_signal_t *s);

/* The owner destroys `s`: what is not known by now never will be. */
void signal_map_destroy(amd_signal_t *s);

/* The runtime went away. */
void signal_map_reset(void);

#endif
