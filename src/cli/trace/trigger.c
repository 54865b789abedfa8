/* SPDX-License-Identifier: MIT */
/* trigger.c - looks for records that are to cause a snapshot
 *
 * Owns:     how far each slot was read.
 * Threads:  the drainer's.
 * Not here: writing snapshots (snapshots.c).
 */
#include "cli/trace/trigger.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/capture.h"
#include "cli/ui.h"

#define HIP_NOT_READY 600 /* hipErrorNotReady: an answer */
#define HSA_BREAK 1	  /* HSA_STATUS_INFO_BREAK: an answer */

bool trigger_is_used(const struct trigger_options *options)
{
	return options->longer_ns || options->errors || options->mark;
}

static void match(struct trigger *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void match(struct trigger *t, const char *fmt, ...)
{
	va_list args;

	if (t->nr++)
		return;
	va_start(args, fmt);
	vsnprintf(t->text, sizeof(t->text), fmt, args);
	va_end(args);
}

static void see_operation(struct trigger *t, const struct rec_head *rec, const char *what,
			  uint64_t ns)
{
	char time[UI_NUMBER_SIZE];

	if (t->options->longer_ns && ns > t->options->longer_ns &&
	    !(rec->flags & (REC_F_NO_TIME | REC_F_UNFINISHED | REC_F_INVERTED)))
		match(t, "a %s took %s", what, ui_time(time, ns));
}

/* by number; an API that a newer librtl records has none */
static const char *const domains[REC_API_NR_DOMAINS] = {
#define DOMAIN(name, text) [REC_API_##name] = #name,
	REC_API_EACH_DOMAIN(DOMAIN)
#undef DOMAIN
};

static void see_call(struct trigger *t, const struct rec_api *a)
{
	if (!t->options->errors || !a->status || a->h.flags & REC_F_NO_STATUS ||
	    (a->domain == REC_API_HIP && a->status == HIP_NOT_READY) ||
	    (a->domain == REC_API_HSA && a->status == HSA_BREAK))
		return;
	match(t, "a call of %s returned %" PRId32,
	      a->domain < REC_API_NR_DOMAINS && domains[a->domain] ? domains[a->domain] : "an API",
	      a->status);
}

static void see_marker(struct trigger *t, const struct rec_marker *m, uint32_t size)
{
	char text[REC_MARKER_TEXT_MAX + 1];

	if (!t->options->mark || !(m->h.flags & REC_F_TEXT) || m->text_size >= sizeof(text) ||
	    m->text_size > size - sizeof(*m))
		return;
	memcpy(text, m->text, m->text_size);
	text[m->text_size] = '\0';
	if (capture_like(t->options->mark, strlen(t->options->mark), text))
		match(t, "marker '%.100s'", text);
}

static void see_record(struct trigger *t, const struct rec_head *rec, uint32_t size)
{
	const struct rec_dispatch *d = (const struct rec_dispatch *)rec;
	const struct rec_dispatch_wide *w = (const struct rec_dispatch_wide *)rec;
	const struct rec_copy *c = (const struct rec_copy *)rec;

	if (rec->type == REC_DISPATCH && size >= sizeof(*d))
		see_operation(t, rec, "kernel", d->ns);
	else if (rec->type == REC_DISPATCH_WIDE && size >= sizeof(*w))
		see_operation(t, rec, "kernel", w->end_ns - w->begin_ns);
	else if (rec->type == REC_COPY && size >= sizeof(*c))
		see_operation(t, rec, "copy", c->end_ns - c->begin_ns);
	else if (rec->type == REC_API && size >= sizeof(struct rec_api))
		see_call(t, (const struct rec_api *)rec);
	else if (rec->type == REC_MARKER && size >= sizeof(struct rec_marker))
		see_marker(t, (const struct rec_marker *)rec, size);
}

/* Looks at the new records of a chunk of `size` bytes in that slot. */
static void see_chunk(struct trigger *t, uint32_t slot, const struct chunk_header *chunk,
		      uint32_t size)
{
	struct trigger_slot *s = &t->slots[slot];
	const uint8_t *bytes = (const uint8_t *)(chunk + 1);

	if (s->seq != chunk->seq)
		*s = (struct trigger_slot){ .seq = chunk->seq };
	while (s->at < size) {
		const struct rec_head *rec = (const struct rec_head *)(const void *)(bytes + s->at);
		uint32_t bytes_of = rec->size8 * 8u;

		if (!bytes_of || bytes_of > size - s->at) {
			s->at = size; /* the slot was used again meanwhile, or damage */
			return;
		}
		see_record(t, rec, bytes_of);
		s->at += bytes_of;
	}
}

static void see(void *arg, uint32_t slot, const struct chunk_header *chunk, uint32_t size)
{
	struct trigger *t = arg;

	if (slot < t->nr_slots)
		see_chunk(t, slot, chunk, size);
}

int trigger_init(struct trigger *t, const struct trigger_options *options, struct drain *d)
{
	memset(t, 0, sizeof(*t));
	t->options = options;
	t->nr_slots = d->header->nr_slots;
	t->slots = calloc(t->nr_slots, sizeof(*t->slots));
	if (!t->slots)
		return -ENOMEM;
	d->see = see;
	d->see_arg = t;
	return 0;
}

void trigger_fini(struct trigger *t)
{
	free(t->slots);
	t->slots = NULL;
}

uint64_t trigger_take(struct trigger *t)
{
	uint64_t nr = t->nr;

	t->nr = 0;
	return nr;
}
