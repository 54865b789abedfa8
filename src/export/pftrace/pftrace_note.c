/* SPDX-License-Identifier: MIT */
/* pftrace_note.c - annotations of events in Perfetto's format */
#include <stdio.h>
#include <string.h>

#include "export/call_args.h"
#include "export/pftrace/pftrace_internal.h"

/* "1024,1,1", and the product: what TraceLens reads. */
static void put_xyz(struct pftrace *t, struct proto *p, const struct walk_note *note)
{
	int64_t all = 1;
	char text[72];
	size_t used = 0;

	for (int i = 0; i < 3; i++) {
		all = (int64_t)((uint64_t)all * (uint64_t)note->xyz[i]);
		used += json_digits(text + used, note->xyz[i]);
		text[used++] = i < 2 ? ',' : '\0';
	}
	pftrace_put_interned(t, p, PFTRACE_OF(note->key), text);
	pftrace_put_int(p, note->key == WALK_GRID ? A_GRID_SIZE : A_WORKGROUP_SIZE, all);
}

static void put_flags(struct proto *p, int64_t flags)
{
	char text[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < TRACK_FLAGS; i++)
		if (flags & track_flags[i].bit)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " " : "", track_flags[i].name);
	pftrace_put_text(p, PFTRACE_OF(WALK_FLAGS), text);
}

/* Each argument is an entry of the dictionary "args"; a text of another form is one text. */
static void put_args(struct pftrace *t, struct proto *p, const char *text)
{
	struct call_arg arg;
	size_t at, entry;

	if (!call_args_is_form(text)) {
		pftrace_put_text(p, PFTRACE_OF(WALK_ARGS), text);
		return;
	}
	at = proto_begin(p, EVENT_ANNOTATION);
	proto_uint(p, ANNOTATION_NAME, PFTRACE_OF(WALK_ARGS));
	while ((text = call_args_next(text, &arg)) != NULL) {
		bool cut = arg.name_size == 0;
		uint64_t key = cut ? pftrace_key(t, "...", 3) :
				     pftrace_key(t, arg.name, arg.name_size);

		entry = proto_begin(p, ANNOTATION_ENTRY);
		proto_uint(p, ANNOTATION_NAME, key);
		proto_text(p, ANNOTATION_TEXT, arg.value, cut ? strlen(arg.value) : arg.value_size);
		proto_end(p, entry);
		if (cut)
			break;
	}
	proto_end(p, at);
}

static void put_counter(struct pftrace *t, struct proto *p, const struct walk_note *note)
{
	pftrace_put_double(p, (enum pftrace_name)pftrace_key(t, note->text, strlen(note->text)),
			   note->real);
}

static void put_note(struct pftrace *t, struct proto *p, const struct walk_note *note,
		     bool interned)
{
	enum pftrace_name name = PFTRACE_OF(note->key);

	switch (note->type) {
	case WALK_INT:
	case WALK_TRUE:
		pftrace_put_int(p, name, note->number);
		break;
	case WALK_REAL:
		if (note->key == WALK_COUNTER)
			put_counter(t, p, note);
		else
			pftrace_put_double(p, name, note->real);
		break;
	case WALK_TEXT:
		if (interned)
			pftrace_put_interned(t, p, name, note->text);
		else
			pftrace_put_text(p, name, note->text);
		break;
	case WALK_XYZ:
		put_xyz(t, p, note);
		break;
	case WALK_BITS:
		put_flags(p, note->number);
		break;
	case WALK_ARGUMENTS:
		put_args(t, p, note->text);
	}
}

void pftrace_put_notes(struct pftrace *t, struct proto *p, const struct walk_note *notes, size_t nr,
		       bool interned)
{
	for (size_t i = 0; i < nr; i++)
		put_note(t, p, &notes[i], interned);
}

void pftrace_put_all(struct pftrace *t, const struct walk_notes *notes)
{
	for (size_t i = 0; i < notes->nr_parts; i++)
		proto_raw(&t->packet, notes->parts[i].bytes, notes->parts[i].size);
	pftrace_put_notes(t, &t->packet, notes->own, notes->nr, false);
}
