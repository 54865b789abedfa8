/* SPDX-License-Identifier: MIT */
/* known.h - what exists in the process now: agents, queues, code objects, kernels, functions, infos
 *
 * Kept for sinks that are attached later. Which kinds, and what ends them, is in records.json (`live`). All of it under
 * the bus's lock.
 */
#ifndef RTL_EVENT_KNOWN_H
#define RTL_EVENT_KNOWN_H

#include "event/event.h"

/* Takes an event of EVENTS_KEPT. Without memory what it tells of is not kept, with a warning. */
void known_note(const struct event *ev);

/* Calls `fn` with an event for each that exists, in the order of kinds, those of one kind in the order in which they
 * came: what an event refers to comes before it. */
void known_each(void (*fn)(void *arg, const struct event *ev), void *arg);

#endif
