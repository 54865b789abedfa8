/* SPDX-License-Identifier: MIT */
/* bus.c - passes events to sinks
 *
 * Owns:     the list of sinks, and losses counted before a sink could take them.
 * Threads:  see the table in bus.h.
 * Locks:    LOCK_BUS: events of live objects, strings, attaching and detaching.
 * Hot path: bus_emit() of other events, bus_loss(): no lock, no allocation.
 */
#include "event/bus.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "base/lock.h"
#include "event/intern.h"
#include "event/known.h"
#include "event/life.h"
#include "event/special.h"

/* Guards live objects (known.h), strings (intern.h) and the list of sinks. Sinks get events of live
 * objects and strings under it. */
static struct lock lock = LOCK_INIT(LOCK_BUS);
static uint32_t nr_want_calls RTL_GUARDED_BY(lock); /* attached sinks that want calls */
/* atomic, changed under lock; a NULL between others is a detached sink */
static _Atomic(const struct sink *) sinks[BUS_MAX_SINKS];
static _Atomic uint32_t nr_sinks;
static _Atomic(const struct sink *) only; /* the only sink; NULL: none, or several */
static _Atomic uint64_t pending[SPOOL_NR_REASONS];
static _Atomic bool stopped;
_Atomic uint64_t bus_wanted = EVENTS_KEPT;

static bool wants(const struct sink *sink, enum event_kind kind)
{
	return !sink->wants || sink->wants & EVENT_BIT(kind);
}

static void send(void *arg, const struct event *ev)
{
	const struct sink *sink = arg;

	if (wants(sink, ev->kind))
		sink->event(ev);
}

static void send_string(void *arg, uint32_t id, const char *text, size_t size)
{
	struct event ev = { .kind = EVENT_STRING };

	ev.string.id = id;
	ev.string.size = (uint32_t)size;
	ev.string.text = text;
	send(arg, &ev);
}

/* Passes on losses counted while no attached sink counted them. */
static void pass_pending(const struct sink *sink, enum spool_reason reason)
{
	/* seq_cst: pairs with bus_loss() */
	uint64_t n = atomic_exchange(&pending[reason], 0);

	if (n)
		sink->loss(reason, n);
}

/* Under lock. NULL: all entries are used. */
static _Atomic(const struct sink *) *free_entry(void) RTL_REQUIRES(lock);
static _Atomic(const struct sink *) *free_entry(void)
{
	for (int i = 0; i < BUS_MAX_SINKS; i++)
		if (!atomic_load_explicit(&sinks[i], memory_order_relaxed))
			return &sinks[i];
	return NULL;
}

/* Under lock: computes the union of the kinds that the sinks want. */
static void update_wanted(void) RTL_REQUIRES(lock);
static void update_wanted(void)
{
	uint64_t all = EVENTS_KEPT;

	for (int i = 0; i < BUS_MAX_SINKS; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_relaxed);

		if (sink)
			all |= sink->wants ? sink->wants : EVENTS_ALL;
	}
	/* release: pairs with bus_wants(): a thread that sees what the second sink wants sees
	 * `only` cleared */
	atomic_store_explicit(&bus_wanted, all, memory_order_release);
}

/* Under lock. */
static uint32_t nr_attached(void) RTL_REQUIRES(lock);
static uint32_t nr_attached(void)
{
	uint32_t nr = 0;

	for (int i = 0; i < BUS_MAX_SINKS; i++)
		nr += atomic_load_explicit(&sinks[i], memory_order_relaxed) != NULL;
	return nr;
}

/* Under lock: `sink` has got the live objects; from now on it gets events. */
static void publish(const struct sink *sink, _Atomic(const struct sink *) *entry)
	RTL_REQUIRES(lock);
static void publish(const struct sink *sink, _Atomic(const struct sink *) *entry)
{
	uint32_t nr = (uint32_t)(entry - sinks) + 1;
	uint32_t before = atomic_load_explicit(&nr_sinks, memory_order_relaxed);

	/* a thread may still emit what a detached sink wanted */
	atomic_store_explicit(&only, nr_attached() || (sink->wants && before) ? NULL : sink,
			      memory_order_release);
	/* seq_cst: pairs with count_in_sinks(); publishes what start() set up */
	atomic_store(entry, sink);
	if (nr > before)
		atomic_store(&nr_sinks, nr);
	if (wants(sink, EVENT_API) && ++nr_want_calls > 1)
		special_set(SPECIAL_HEARD, true);
	/* relaxed: events that come before this is visible may be left out */
	if (!sink->pauses && (!sink->wants || sink->wants & EVENTS_OPERATIONS))
		special_set(SPECIAL_NEVER_PAUSED, true);
	update_wanted();
}

int bus_attach(const struct sink *sink)
{
	_Atomic(const struct sink *) *entry;
	int err;

	lock_take(&lock);
	entry = free_entry();
	lock_drop(&lock);
	if (!entry)
		return -ENOSPC;
	err = sink->start ? sink->start() : 0;
	if (err)
		return err;
	lock_take(&lock);
	entry = free_entry();
	if (entry) {
		if (sink->event) {
			intern_each(send_string, (void *)(uintptr_t)sink);
			known_each(send, (void *)(uintptr_t)sink);
		}
		publish(sink, entry);
	}
	lock_drop(&lock);
	if (!entry)
		return -ENOSPC;
	if (sink->loss) {
		for (int r = 0; r < SPOOL_NR_REASONS; r++)
			pass_pending(sink, (enum spool_reason)r);
	}
	return 0;
}

void bus_detach(const struct sink *sink)
{
	lock_take(&lock);
	/* relaxed, all of it: sinks are static, one event too many is harmless */
	if (atomic_load_explicit(&only, memory_order_relaxed) == sink)
		atomic_store_explicit(&only, NULL, memory_order_relaxed);
	for (uint32_t i = 0; i < BUS_MAX_SINKS; i++) {
		if (atomic_load_explicit(&sinks[i], memory_order_relaxed) != sink)
			continue;
		atomic_store_explicit(&sinks[i], NULL, memory_order_relaxed);
		if (wants(sink, EVENT_API) && --nr_want_calls <= 1)
			special_set(SPECIAL_HEARD, false);
	}
	update_wanted();
	lock_drop(&lock);
}

void bus_forget_losses(void)
{
	for (int r = 0; r < SPOOL_NR_REASONS; r++)
		atomic_store_explicit(&pending[r], 0, memory_order_relaxed);
}

bool bus_is_heard(void)
{
	/* relaxed: it never decreases */
	return atomic_load_explicit(&nr_sinks, memory_order_relaxed) > 0;
}

static RTL_COLD void emit_missed(const struct event *ev)
{
	struct event plain = *ev;

	*event_correlation(&plain) &= ~EVENT_MISSED;
	bus_emit(&plain);
	bus_loss(SPOOL_REASON_api_missed, 1);
}

static RTL_NOINLINE void emit_to_each(const struct event *ev)
{
	/* acquire: pairs with bus_attach() */
	uint32_t n = atomic_load_explicit(&nr_sinks, memory_order_acquire);

	for (uint32_t i = 0; i < n; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_acquire);

		if (sink && wants(sink, ev->kind))
			sink->event(ev);
	}
}

/* The lock excludes attaching: a new sink finds the object among the live ones, or gets the event.
 */
static RTL_NOINLINE void emit_kept(const struct event *ev)
{
	/* in a forked child a thread that exists only in the parent may hold the lock */
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return;
	lock_take(&lock);
	known_note(ev);
	emit_to_each(ev);
	lock_drop(&lock);
}

void bus_emit_wanted(const struct event *ev)
{
	/* acquire: pairs with publish(): what start() set up is visible */
	const struct sink *sink = atomic_load_explicit(&only, memory_order_acquire);
	const uint64_t *id = event_correlation((struct event *)(uintptr_t)ev);

	if (RTL_UNLIKELY(id && *id & EVENT_MISSED))
		emit_missed(ev);
	else if (RTL_UNLIKELY(EVENT_BIT(ev->kind) & EVENTS_KEPT))
		emit_kept(ev);
	else if (RTL_LIKELY(sink != NULL))
		sink->event(ev); /* bus_wanted equals this sink's kinds */
	else
		emit_to_each(ev);
}

/* Passes the loss to each sink that counts losses. Returns one of them; NULL: none is attached. */
static const struct sink *count_in_sinks(enum spool_reason reason, uint64_t count)
{
	const struct sink *counting = NULL;
	/* seq_cst: see bus_loss() */
	uint32_t n = atomic_load(&nr_sinks);

	for (uint32_t i = 0; i < n; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_acquire);

		if (!sink || !sink->loss)
			continue;
		if (count)
			sink->loss(reason, count);
		counting = sink;
	}
	return counting;
}

/* No sink counts losses yet. */
static RTL_COLD void keep_loss(enum spool_reason reason, uint64_t count)
{
	const struct sink *late;

	/* seq_cst: a sink that is attached concurrently finds the count, or is found here */
	atomic_fetch_add(&pending[reason], count);
	late = count_in_sinks(reason, 0);
	if (late)
		pass_pending(late, reason);
}

void bus_loss(enum spool_reason reason, uint64_t count)
{
	/* acquire: pairs with publish() */
	const struct sink *sink = atomic_load_explicit(&only, memory_order_acquire);

	/* the losses of a forked child belong to no trace */
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return;
	if (RTL_LIKELY(sink && sink->loss))
		sink->loss(reason, count);
	else if (!count_in_sinks(reason, count))
		keep_loss(reason, count);
}

uint64_t bus_unheard(enum spool_reason reason)
{
	return atomic_load_explicit(&pending[reason], memory_order_relaxed);
}

uint32_t bus_string(const char *text, size_t size)
{
	struct event ev = { .kind = EVENT_STRING };
	bool fresh;

	/* in a forked child a thread that exists only in the parent may hold the lock */
	if (!text || atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return 0;
	if (size == SIZE_MAX)
		size = strlen(text);
	if (size > UINT32_MAX)
		size = UINT32_MAX;
	lock_take(&lock);
	ev.string.id = intern_id(text, size, &fresh);
	ev.string.size = (uint32_t)size;
	ev.string.text = text;
	if (fresh)
		emit_to_each(&ev);
	lock_drop(&lock);
	return ev.string.id;
}

uint32_t bus_string_id(void)
{
	return intern_new_id();
}

uint64_t bus_tick(uint64_t now_ns)
{
	uint64_t next = LIFE_IDLE;

	for (uint32_t i = 0; i < BUS_MAX_SINKS; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_acquire);
		uint64_t wants = sink && sink->tick ? sink->tick(now_ns) : LIFE_IDLE;

		if (wants < next)
			next = wants;
	}
	return next;
}

void bus_leave(void)
{
	for (uint32_t i = 0; i < BUS_MAX_SINKS; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_acquire);

		if (sink && sink->leave)
			sink->leave();
	}
}

void bus_stop(void)
{
	/* relaxed: life.c calls this once; the check is for tests that call it again */
	if (atomic_exchange_explicit(&stopped, true, memory_order_relaxed))
		return;
	for (uint32_t i = 0; i < BUS_MAX_SINKS; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_acquire);

		if (sink && sink->stop)
			sink->stop();
	}
}
