/* SPDX-License-Identifier: MIT */
/* bus.h - connects sources and sinks
 *
 * A sink lists the kinds of events that it wants. An event that no sink wants costs a load and a
 * branch. A sink first gets the live objects (EVENTS_KEPT, and strings), each once, referenced
 * objects before those that refer to them; then all events that it wants.
 *
 *  operation   | bus_emit | bus_loss | bus_attach / bus_detach
 *  ------------+----------+----------+------------------------
 *  bus_emit    | any      | any      | any (a detached sink may get one more event)
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
#include "event/special.h"

#define BUS_MAX_SINKS 9

struct sink {
	const char *name;
	/* Called when the sink is attached: when the trace starts. 0 or -errno; a sink that fails
	 * logs why and is not attached. */
	int (*start)(void);
	/* Kinds for which event() is called: EVENT_BIT()s; 0: all. */
	uint64_t wants;
	/* HOT: any thread, concurrently with itself. Must not block, allocate or lock. Kinds of
	 * EVENTS_KEPT, and strings, are rare and come one at a time under the bus's lock: for these
	 * it may allocate, but must not call the bus. */
	void (*event)(const struct event *ev);
	/* HOT: an event of `reason` was lost or skipped `count` times. */
	void (*loss)(enum spool_reason reason, uint64_t count);
	/* Upkeep, life thread only, see life.h. Returns ns until its next call. */
	uint64_t (*tick)(uint64_t now_ns);
	/* The life thread ends, before stop(): what needs system calls that a filter of the
	 * program's may forbid to the thread that ends the process. Or NULL. */
	void (*leave)(void);
	/* The process ends: no event follows after it has returned (late ones go to loss()).
	 * Once. */
	void (*stop)(void);
	/* Does not want operations submitted while recording is paused (pause.h). */
	bool pauses;
};

/* Starts and attaches a sink, which must be static. It gets the live objects and the strings that
 * have ids, then the losses counted while no sink counted them. start()'s error, or -ENOSPC when
 * BUS_MAX_SINKS are attached. Takes the bus's lock. */
int bus_attach(const struct sink *sink);
void bus_detach(const struct sink *sink);
/* Forgets losses counted while no sink counted them: they belong to no trace. */
void bus_forget_losses(void);
/* Whether any sink was ever attached. */
bool bus_is_heard(void);
/* HOT: whether a sink also wants GPU operations that the user leaves out. It never becomes false
 * again. */
static inline bool bus_never_pauses(void)
{
	return special_any(SPECIAL_NEVER_PAUSED);
}

/* Kinds that some sink wants, and those kept for later sinks. */
extern RTL_HIDDEN _Atomic uint64_t bus_wanted;

/* HOT: whether an event of that kind has to be emitted. */
static inline bool bus_wants(enum event_kind kind)
{
	/* acquire: pairs with the release in bus.c */
	return atomic_load_explicit(&bus_wanted, memory_order_acquire) & EVENT_BIT(kind);
}

/* HOT, except EVENTS_KEPT, which takes the bus's lock: passes a wanted event to each sink that
 * wants it. */
void bus_emit_wanted(const struct event *ev);

/* The same for any event. */
static inline void bus_emit(const struct event *ev)
{
	if (RTL_LIKELY(bus_wants(ev->kind)))
		bus_emit_wanted(ev);
}

/* HOT: counts something that is not in the trace. Any thread, any time; before a sink is attached
 * the count is kept for it. */
void bus_loss(enum spool_reason reason, uint64_t count);

/* What is kept of `reason`: no sink has counted it yet. Any thread. */
uint64_t bus_unheard(enum spool_reason reason);

/* HOT: bus_loss() for the operation with this correlation id: an operation left out by choice is
 * not a loss. */
static inline void bus_loss_of(uint64_t correlation, enum spool_reason reason)
{
	if (!(correlation & EVENT_LEFT_OUT))
		bus_loss(reason, 1);
}

/* Emits `text` as a string and returns its id, 0 for NULL. Not hot: takes the bus's
 * lock. `size` bytes, or up to the NUL when size is SIZE_MAX. */
uint32_t bus_string(const char *text, size_t size);

/* An unused string id, for a sink that writes a string of its own. HOT */
uint32_t bus_string_id(void);

/* Calls every sink's tick; returns the ns until the earliest next call. Life thread. */
uint64_t bus_tick(uint64_t now_ns);
/* Calls every sink's leave(). */
void bus_leave(void);
/* Stops every sink. Later events are counted as `late`. */
void bus_stop(void);

#endif
