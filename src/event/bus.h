/* SPDX-License-Identifier: MIT */
/* bus.h - where sources and sinks meet
 *
 *  operation   | bus_emit | bus_loss | bus_attach / bus_detach
 *  ------------+----------+----------+------------------------
 *  bus_emit    | any      | any      | any (a detached sink may see one more event)
 *  bus_loss    |          | any      | any
 *  bus_attach  |          |          | any
 */
#ifndef RTL_EVENT_BUS_H
#define RTL_EVENT_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define BUS_MAX_SINKS 8

struct sink {
	const char *name;
	/* Called once when the trace starts. 0 or -errno; a sink that fails says why and is
	 * not attached. */
	int (*start)(void);
	/* HOT: any thread, concurrently with itself. Must not block, allocate or lock. */
	void (*event)(const struct event *ev);
	/* HOT: an event of `reason` was lost or skipped `count` times. */
	void (*loss)(enum spool_reason reason, uint64_t count);
	/* Upkeep, life thread only, see life.h. Returns ns until it wants to be called again. */
	uint64_t (*tick)(uint64_t now_ns);
	/* The process ends: no event comes after it returned (late ones go to loss()). Once. */
	void (*stop)(void);
	/* Wants nothing of what is submitted while recording is paused (pause.h). */
	bool pauses;
};

/* Starts and attaches a sink; sinks live for ever. What was counted before and the strings that
 * have ids already are handed to it. start()'s error, or -ENOSPC when BUS_MAX_SINKS are attached. */
int bus_attach(const struct sink *sink);
void bus_detach(const struct sink *sink);
/* Whether any sink was ever attached. */
bool bus_is_heard(void);
/* Whether a sink wants operations while recording is paused, too. */
bool bus_never_pauses(void);

/* HOT: hands `ev` to every sink. */
void bus_emit(const struct event *ev);

/* HOT: counts what is not in the trace. Any thread, any time, also before a sink is attached
 * (kept and passed on when one is). */
void bus_loss(enum spool_reason reason, uint64_t count);

/* HOT: the same for the operation that has this correlation id: nobody misses what was left out anyway. */
static inline void bus_loss_of(uint64_t correlation, enum spool_reason reason)
{
	if (!(correlation & EVENT_LEFT_OUT))
		bus_loss(reason, 1);
}

/* Emits `text` as a string and returns its id, 0 for NULL. Not hot: takes a lock for the
 * table of strings already emitted. `size` bytes, or up to the NUL when size is SIZE_MAX. */
uint32_t bus_string(const char *text, size_t size);

/* A string id that no other string has, for a sink that writes a string of its own. HOT */
uint32_t bus_string_id(void);

/* Calls every sink's tick; returns the ns until the earliest wants the next. Life thread. */
uint64_t bus_tick(uint64_t now_ns);
/* Stops every sink. What comes later is counted as `late`. */
void bus_stop(void);

#endif
