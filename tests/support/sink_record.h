/* SPDX-License-Identifier: MIT */
/* sink_record.h - a sink that keeps every event in memory, for tests of sources
 *
 * The recording side is lock-free and allocates nothing. The test reads the events while no thread
 * emits, or after it joined the threads.
 */
#ifndef RTL_SUPPORT_SINK_RECORD_H
#define RTL_SUPPORT_SINK_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/bus.h"
#include "event/event.h"

/* It subscribes to every kind; a test may set `pauses` before it opens the sink. */
extern struct sink sink_record;

/* Attaches it and makes life_on() true, without a life thread. */
void sink_record_open(void);

/* Number of events of `kind` so far; the i-th of them (NULL beyond). */
uint64_t sink_record_count(enum event_kind kind);
const struct event *sink_record_at(enum event_kind kind, uint64_t i);

/* The first `n` of them at once. */
void sink_record_each(enum event_kind kind, const struct event **out, uint64_t n);

/* The text of a string id ("" for 0, NULL without a string event), ended by NUL. */
const char *sink_record_string(uint32_t id);
/* The name of a kernel id, NULL without a kernel event; and the number of its kernel events. */
const char *sink_record_kernel(uint32_t id);
unsigned sink_record_kernel_count(uint32_t id);

uint64_t sink_record_loss(enum spool_reason reason);
/* The sum over all reasons. */
uint64_t sink_record_losses(void);

/* Forgets events and losses (not strings and kernels' names). */
void sink_record_clear(void);

#endif
