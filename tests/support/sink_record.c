/* SPDX-License-Identifier: MIT */
/* sink_record.c - a sink that keeps every event in memory
 *
 * Owns:     two mappings without swap behind them: the events, and the bytes of their texts.
 * Threads:  the sink's functions run on any; the rest on the test's, while no thread emits.
 * Fails:    more events than fit end the test.
 */
#include "support/sink_record.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "event/life.h"
#include "support/test.h"

#define MAX_EVENTS (UINT64_C(3) << 20)
#define TEXT_SIZE (UINT64_C(256) << 20)

struct kept {
	_Atomic bool whole;
	struct event ev;
};

static struct kept *kept;
static char *text;
static _Atomic uint64_t nr_kept, text_used, first_kept;
static _Atomic uint64_t losses[SPOOL_NR_REASONS];

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

static int start(void)
{
	if (!kept) {
		kept = map(MAX_EVENTS * sizeof(*kept));
		text = map(TEXT_SIZE);
	}
	return 0;
}

static const char *keep_text(const char *bytes, uint32_t size)
{
	uint64_t at = atomic_fetch_add_explicit(&text_used, size + 1, memory_order_relaxed);

	if (at + size + 1 > TEXT_SIZE)
		FAIL("more than %llu bytes of text", (unsigned long long)TEXT_SIZE);
	memcpy(text + at, bytes, size);
	return text + at;
}

static void on_event(const struct event *ev)
{
	uint64_t at = atomic_fetch_add_explicit(&nr_kept, 1, memory_order_relaxed);
	struct kept *k;

	if (at >= MAX_EVENTS)
		FAIL("more than %llu events", (unsigned long long)MAX_EVENTS);
	k = &kept[at];
	k->ev = *ev;
	if (ev->kind == EVENT_STRING)
		k->ev.string.text = keep_text(ev->string.text, ev->string.size);
	else if (ev->kind == EVENT_MARKER)
		k->ev.marker.text = keep_text(ev->marker.text, ev->marker.size);
	atomic_store_explicit(&k->whole, true, memory_order_release);
}

static void on_loss(enum spool_reason reason, uint64_t count)
{
	atomic_fetch_add_explicit(&losses[reason], count, memory_order_relaxed);
}

struct sink sink_record = {
	.name = "record",
	.start = start,
	.event = on_event,
	.loss = on_loss,
};

void sink_record_open(void)
{
	CHECK_OK(bus_attach(&sink_record));
	life_set_state(LIFE_ON);
}

/* The next event at or behind *i, NULL at the end. */
static const struct event *next(uint64_t *i)
{
	uint64_t n = atomic_load_explicit(&nr_kept, memory_order_acquire);

	while (*i < n) {
		const struct kept *k = &kept[(*i)++];

		if (atomic_load_explicit(&k->whole, memory_order_acquire))
			return &k->ev;
	}
	return NULL;
}

uint64_t sink_record_count(enum event_kind kind)
{
	uint64_t i = atomic_load(&first_kept), n = 0;
	const struct event *ev;

	while ((ev = next(&i)) != NULL)
		n += ev->kind == kind;
	return n;
}

const struct event *sink_record_at(enum event_kind kind, uint64_t nth)
{
	uint64_t i = atomic_load(&first_kept);
	const struct event *ev;

	while ((ev = next(&i)) != NULL)
		if (ev->kind == kind && nth-- == 0)
			return ev;
	return NULL;
}

void sink_record_each(enum event_kind kind, const struct event **out, uint64_t n)
{
	uint64_t i = atomic_load(&first_kept);
	const struct event *ev;

	while (n && (ev = next(&i)) != NULL) {
		if (ev->kind != kind)
			continue;
		*out++ = ev;
		n--;
	}
	CHECK_EQ_UINT(n, 0);
}

const char *sink_record_string(uint32_t id)
{
	const struct event *ev;
	uint64_t i = 0;

	if (id == 0)
		return "";
	while ((ev = next(&i)) != NULL)
		if (ev->kind == EVENT_STRING && ev->string.id == id)
			return ev->string.text;
	return NULL;
}

const char *sink_record_kernel(uint32_t id)
{
	const struct event *ev;
	uint64_t i = 0;

	while ((ev = next(&i)) != NULL)
		if (ev->kind == EVENT_KERNEL && ev->kernel.id == id)
			return sink_record_string(ev->kernel.name);
	return NULL;
}

unsigned sink_record_kernel_count(uint32_t id)
{
	const struct event *ev;
	uint64_t i = 0;
	unsigned n = 0;

	while ((ev = next(&i)) != NULL)
		n += ev->kind == EVENT_KERNEL && ev->kernel.id == id;
	return n;
}

uint64_t sink_record_loss(enum spool_reason reason)
{
	return atomic_load(&losses[reason]);
}

uint64_t sink_record_losses(void)
{
	uint64_t n = 0;

	for (int i = 0; i < SPOOL_NR_REASONS; i++)
		n += atomic_load(&losses[i]);
	return n;
}

void sink_record_clear(void)
{
	atomic_store(&first_kept, atomic_load(&nr_kept));
	for (int i = 0; i < SPOOL_NR_REASONS; i++)
		atomic_store(&losses[i], 0);
}
