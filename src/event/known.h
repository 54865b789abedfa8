/* SPDX-License-Identifier: MIT */
/* known.h - the live objects of the process: agents, queues, code objects, kernels, functions,
 * infos
 *
 * Kept for sinks that are attached later. records.json (`live`) defines the kinds, and what ends an
 * object. The caller holds the bus's lock.
 */
#ifndef RTL_EVENT_KNOWN_H
#define RTL_EVENT_KNOWN_H

#include "event/event.h"

/* Applies an event of EVENTS_KEPT. Without memory the object is not kept, and a warning is logged.
 */
void known_note(const struct event *ev);

/* Calls `fn` with an event for each live object, in the order of kinds, within a kind in the order
 * of creation: referenced objects come first. */
void known_each(void (*fn)(void *arg, const struct event *ev), void *arg);

#endif
