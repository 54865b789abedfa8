/* SPDX-License-Identifier: MIT */
/* bus.c - hands events to sinks
 *
 * Owns:     the list of sinks, what was counted before there was one.
 * Threads:  see the table in bus.h.
 * Locks:    LOCK_BUS: events of what exists, strings, attaching and detaching.
 * Hot path: bus_emit() of other events, bus_loss() - no lock, no allocation.
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

/* Around what exists (known.h), strings (intern.h), and who is attached. Sinks get events of these under it. */
static struct lock lock = LOCK_INIT(LOCK_BUS);
static uint32_t nr_hear_calls RTL_GUARDED_BY(lock); /* sinks that were attached and want calls */
/* atomic, changed under lock; a hole is a detached sink */
static _Atomic(const struct sink *) sinks[BUS_MAX_SINKS];
static _Atomic uint32_t nr_sinks;
static _Atomic(const struct sink *)
	only; /* the one sink; NULL: there is none, or there are several */
static _Atomic uint64_t pending[SPOOL_NR_REASONS];
static _Atomic bool stopped, never_pauses;
_Atomic uint64_t bus_wanted = EVENTS_KEPT;

static bool wants(const struct sink *sink, enum event_kind kind)
{
	return !sink->wants || sink->wants & EVENT_BIT(kind);
}

static void tell(void *arg, const struct event *ev)
{
	const struct sink *sink = arg;

	if (wants(sink, ev->kind))
		sink->event(ev);
}

static void tell_string(void *arg, uint32_t id, const char *text, size_t size)
{
	struct event ev = { .kind = EVENT_STRING };

	ev.string.id = id;
	ev.string.size = (uint32_t)size;
	ev.string.text = text;
	tell(arg, &ev);
}

/* Passes on what was counted while no attached sink counted losses. */
static void pass_pending(const struct sink *sink, enum spool_reason reason)
{
	/* seq_cst: pairs with bus_loss() */
	uint64_t n = atomic_exchange(&pending[reason], 0);

	if (n)
		sink->loss(reason, n);
}

/* Under lock. NULL: there is no place left. */
static _Atomic(const struct sink *) *free_place(void) RTL_REQUIRES(lock);
static _Atomic(const struct sink *) *free_place(void)
{
	for (int i = 0; i < BUS_MAX_SINKS; i++)
		if (!atomic_load_explicit(&sinks[i], memory_order_relaxed))
			return &sinks[i];
	return NULL;
}

/* Under lock: what the sinks want, after one came or went. */
static void sum_up(void) RTL_REQUIRES(lock);
static void sum_up(void)
{
	uint64_t all = EVENTS_KEPT;

	for (int i = 0; i < BUS_MAX_SINKS; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_relaxed);

		if (sink)
			all |= sink->wants ? sink->wants : EVENTS_ALL;
	}
	/* release: pairs with bus_wants(): who sees what the second sink wants, sees that `only` is cleared */
	atomic_store_explicit(&bus_wanted, all, memory_order_release);
}

/* Under lock: `sink` has got what exists; from now on it gets events. */
static void publish(const struct sink *sink, _Atomic(const struct sink *) *place)
	RTL_REQUIRES(lock);
static void publish(const struct sink *sink, _Atomic(const struct sink *) *place)
{
	uint32_t nr = (uint32_t)(place - sinks) + 1;
	uint32_t before = atomic_load_explicit(&nr_sinks, memory_order_relaxed);

	atomic_store_explicit(&only, nr == 1 && before <= 1 ? sink : NULL, memory_order_release);
	/* seq_cst: pairs with count_in_sinks(); what start() set up */
	atomic_store(place, sink);
	if (nr > before)
		atomic_store(&nr_sinks, nr);
	/* never cleared: one more event does no harm */
	if (wants(sink, EVENT_API) && ++nr_hear_calls > 1)
		special_set(SPECIAL_HEARD, true);
	/* relaxed: what comes before it is seen may be left out */
	if (!sink->pauses && (!sink->wants || sink->wants & EVENTS_OPERATIONS))
		atomic_store_explicit(&never_pauses, true, memory_order_relaxed);
	sum_up();
}

int bus_attach(const struct sink *sink)
{
	_Atomic(const struct sink *) *place;
	int err;

	lock_take(&lock);
	place = free_place();
	lock_drop(&lock);
	if (!place)
		return -ENOSPC;
	err = sink->start ? sink->start() : 0;
	if (err)
		return err;
	lock_take(&lock);
	place = free_place();
	if (place) {
		if (sink->event) {
			intern_each(tell_string, (void *)(uintptr_t)sink);
			known_each(tell, (void *)(uintptr_t)sink);
		}
		publish(sink, place);
	}
	lock_drop(&lock);
	if (!place)
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
	/* relaxed, all of it: sinks live for ever, one more event does no harm */
	if (atomic_load_explicit(&only, memory_order_relaxed) == sink)
		atomic_store_explicit(&only, NULL, memory_order_relaxed);
	for (uint32_t i = 0; i < BUS_MAX_SINKS; i++) {
		if (atomic_load_explicit(&sinks[i], memory_order_relaxed) == sink)
			atomic_store_explicit(&sinks[i], NULL, memory_order_relaxed);
	}
	sum_up();
	lock_drop(&lock);
}

bool bus_is_heard(void)
{
	/* relaxed: it never becomes less */
	return atomic_load_explicit(&nr_sinks, memory_order_relaxed) > 0;
}

bool bus_never_pauses(void)
{
	/* relaxed: it never becomes less */
	return atomic_load_explicit(&never_pauses, memory_order_relaxed);
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

/* No sink is attached in between: it finds it among what exists, or gets the event. */
static RTL_NOINLINE void emit_kept(const struct event *ev)
{
	/* in the child of a fork the lock may be held by a thread that is not there */
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return;
	lock_take(&lock);
	known_note(ev);
	emit_to_each(ev);
	lock_drop(&lock);
}

void bus_emit_wanted(const struct event *ev)
{
	/* acquire: pairs with publish(): what start() set up */
	const struct sink *sink = atomic_load_explicit(&only, memory_order_acquire);
	const uint64_t *id = event_correlation((struct event *)(uintptr_t)ev);

	if (RTL_UNLIKELY(id && *id & EVENT_MISSED))
		emit_missed(ev);
	else if (RTL_UNLIKELY(EVENT_BIT(ev->kind) & EVENTS_KEPT))
		emit_kept(ev);
	else if (RTL_LIKELY(sink != NULL))
		sink->event(ev); /* what is wanted it wants */
	else
		emit_to_each(ev);
}

/* Passes the loss to each sink that counts losses. Returns one of these sinks; NULL: none is attached. */
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

void bus_loss(enum spool_reason reason, uint64_t count)
{
	const struct sink *late;

	/* what the child of a fork would count belongs to no trace */
	if (atomic_load_explicit(&life_state, memory_order_relaxed) == LIFE_FORKED)
		return;
	if (RTL_LIKELY(count_in_sinks(reason, count) != NULL))
		return;
	/* seq_cst: a sink that is attached meanwhile finds the count, or is found here */
	atomic_fetch_add(&pending[reason], count);
	late = count_in_sinks(reason, 0);
	if (late)
		pass_pending(late, reason);
}

uint32_t bus_string(const char *text, size_t size)
{
	struct event ev = { .kind = EVENT_STRING };
	bool fresh;

	/* in the child of a fork the table may be locked by a thread that is not there */
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

void bus_stop(void)
{
	/* relaxed: life.c calls once; this is for a test that does not keep to it */
	if (atomic_exchange_explicit(&stopped, true, memory_order_relaxed))
		return;
	for (uint32_t i = 0; i < BUS_MAX_SINKS; i++) {
		const struct sink *sink = atomic_load_explicit(&sinks[i], memory_order_acquire);

		if (sink && sink->stop)
			sink->stop();
	}
}
