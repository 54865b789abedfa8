/* SPDX-License-Identifier: MIT */
/* watch.h - signals of the program whose operation is in flight: from signal to in-flight entry
 *
 * A packet that carries its owner's signal keeps it; we take the times out of that signal before the
 * owner can use it again. Three things can end their life there: the harvester comes by, the owner
 * destroys the signal, or the owner puts it on another operation. The latter two look here.
 *
 * All operations may run on any thread at any time, without a lock.
 */
#ifndef RTL_SOURCE_HSA_WATCH_H
#define RTL_SOURCE_HSA_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "source/hsa/signal.h"

struct inflight;

/* HOT: `s` is about to be watched: fetches what others wrote to last, all at once. */
void watch_expect(amd_signal_t *s);

/* HOT: watches `s` for `e`. -EBUSY: an operation that has not completed uses the same signal, and
 * knows now that it shares it; -ENOSPC: the table is full around its place. An operation that
 * completed is captured first. */
int watch_add(amd_signal_t *s, struct inflight *e);

/* HOT: stops watching, if `s` is still watched for `e`. */
void watch_remove(const amd_signal_t *s, struct inflight *e);

/* HOT: the owner uses `s` for something that we don't watch: as watch_add(), without adding. */
void watch_reuse(amd_signal_t *s);

/* The owner destroys `s`: what is not known by now never will be. */
void watch_destroy(amd_signal_t *s);

/* The runtime went away. */
void watch_reset(void);

#endif
