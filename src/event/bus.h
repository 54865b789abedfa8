/* SPDX-License-Identifier: MIT */
/* bus.h - where sources and sinks meet
 *
 * A sink names the kinds of events that it wants. An event that no sink wants costs a load and a branch. What exists when a
 * sink is attached (EVENTS_KEPT, and strings) it gets first, each once, what is referred to before what refers to it;
 * then come all events that it wants.
 *
 *  operation   | bus_emit | bus_loss | bus_attach / bus_detach
 *  ------------+----------+----------+------------------------
 *  bus_emit    | any      | any      | any (a detached sink may see one more event)
 *  bus_loss    |          | any      | any
 *  bus_attach  |          |          | any
 */
#ifndef RTL_EVENT_BUS_H
#define RTL_EVENT_BUS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "event/event.h"

#define BUS_MAX_SINKS 8

struct sink {
	const char *name;
	/* Called once when the trace starts. 0 or -errno; a sink that fails says why and is
	 * not attached. */
	int (*start)(void);
	/* Kinds that event() is called for: EVENT_BIT()s; 0: all. */
	uint64_t wants;
	/* HOT: any thread, concurrently with itself. Must not block, allocate or lock. Kinds of EVENTS_KEPT, and strings, come
	 * one at a time under the bus's lock, and are rare: with these it may allocate, but must not call the bus. */
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

/* Starts and attaches a sink; sinks live for ever. It gets what exists and the strings that have ids, then what
 * was counted while no sink counted losses. start()'s error, or -ENOSPC when BUS_MAX_SINKS are attached. Takes the bus's
 * lock. */
int bus_attach(const struct sink *sink);
void bus_detach(const struct sink *sink);
/* Whether any sink was ever attached. */
bool bus_is_heard(void);
/* Whether a sink wants operations of the GPU while recording is paused, too. */
bool bus_never_pauses(void);

/* Kinds that a sink wants, and those that are kept for sinks to come. */
extern RTL_HIDDEN _Atomic uint64_t bus_wanted;

/* HOT: whether an event of that kind need be emitted. */
static inline bool bus_wants(enum event_kind kind)
{
	/* acquire: pairs with the release in bus.c */
	return atomic_load_explicit(&bus_wanted, memory_order_acquire) & EVENT_BIT(kind);
}

/* HOT, but for EVENTS_KEPT, which takes the bus's lock: hands an event that is wanted to each sink that wants it. */
void bus_emit_wanted(const struct event *ev);

/* The same for any event. */
static inline void bus_emit(const struct event *ev)
{
	if (RTL_LIKELY(bus_wants(ev->kind)))
		bus_emit_wanted(ev);
}

/* HOT: counts what is not in the trace. Any thread, any time, also before a sink is attached
 * (kept and passed on when one is). */
void bus_loss(enum spool_reason reason, uint64_t count);

/* HOT: the same for the operation that has this correlation id: nobody misses what was left out anyway. */
static inline void bus_loss_of(uint64_t correlation, enum spool_reason reason)
{
	if (!(correlation & EVENT_LEFT_OUT))
		bus_loss(reason, 1);
}

/* Emits `text` as a string and returns its id, 0 for NULL. Not hot: takes the bus's
 * lock. `size` bytes, or up to the NUL when size is SIZE_MAX. */
uint32_t bus_string(const char *text, size_t size);

/* A string id that no other string has, for a sink that writes a string of its own. HOT */
uint32_t bus_string_id(void);

/* Calls every sink's tick; returns the ns until the earliest wants the next. Life thread. */
uint64_t bus_tick(uint64_t now_ns);
/* Stops every sink. What comes later is counted as `late`. */
void bus_stop(void);

#endif
