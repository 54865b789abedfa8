/* SPDX-License-Identifier: MIT */
/* known.c - the live objects of the process
 *
 * Owns:     an array for each kind; never freed, only grown.
 * Threads:  one at a time, under the bus's lock.
 * Fails:    without memory, sinks attached later do not get newer objects; one warning is logged.
 */
#include "event/known.h"

#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/log.h"

#define FIRST_ITEMS 64u

struct list {
	enum event_kind kind;
	uint32_t size; /* bytes of an item: the event's own structure */
	uint32_t nr, cap;
	unsigned char *items;
};

static struct list lists[] = {
#define X(name, member) { .kind = EVENT_##name, .size = sizeof(struct event_##member) },
	EVENTS_LIVING(X)
#undef X
};

/* All event structures begin at the same offset. */
static void *body_of(struct event *ev)
{
	return &ev->string;
}

static bool grow(struct list *l)
{
	uint32_t cap = l->cap ? l->cap * 2 : FIRST_ITEMS;
	unsigned char *more;

	if (l->nr < l->cap)
		return true;
	more = alloc_pages((size_t)cap * l->size);
	if (!more)
		return false;
	if (l->nr)
		memcpy(more, l->items, (size_t)l->nr * l->size);
	alloc_pages_free(l->items, (size_t)l->cap * l->size);
	l->items = more;
	l->cap = cap;
	return true;
}

static void add(struct list *l, const struct event *ev)
{
	if (grow(l))
		memcpy(l->items + (size_t)l->nr++ * l->size, body_of((struct event *)(uintptr_t)ev),
		       l->size);
	else
		log_warn(
			"no memory for the list of live objects: tools attached later do not get all of them");
}

/* Moves the remaining items up, in order. */
static void remove_ended(struct list *l, const struct event *end)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->nr; i++) {
		unsigned char *item = l->items + (size_t)i * l->size;

		if (event_ends(end, l->kind, item))
			continue;
		if (kept != i)
			memcpy(l->items + (size_t)kept * l->size, item, l->size);
		kept++;
	}
	l->nr = kept;
}

void known_note(const struct event *ev)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (lists[i].kind == ev->kind)
			add(&lists[i], ev);
		else if (EVENT_BIT(ev->kind) & EVENTS_ENDS)
			remove_ended(&lists[i], ev);
	}
}

void known_each(void (*fn)(void *arg, const struct event *ev), void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct event ev = { .kind = lists[i].kind };

		for (uint32_t k = 0; k < lists[i].nr; k++) {
			memcpy(body_of(&ev), lists[i].items + (size_t)k * lists[i].size,
			       lists[i].size);
			fn(arg, &ev);
		}
	}
}
