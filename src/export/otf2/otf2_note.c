/* SPDX-License-Identifier: MIT */
/* otf2_note.c - annotations of events as attributes of OTF2, each defined when it is used first
 *
 * Arguments of calls are left out: a text would be a definition, and memory would grow with calls.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/otf2/otf2_internal.h"

#define BIT(key) (UINT64_C(1) << WALK_##key)
/* What a location or an event says itself. */
#define SKIP (BIT(ARGS) | BIT(TID) | BIT(BEGIN_NS) | BIT(END_NS) | BIT(OP))

static const char *const names[WALK_NR] = {
#define NAME(id, name, rocprofv3) [WALK_##id] = name,
	WALK_KEYS(NAME)
};

/* "correlation_id" and "bytes" are as rocprofv3's archives have them. */
static int find_attribute(struct otf2_archive *a, const struct walk_note *note, OTF2_Type type,
			  struct otf2_attribute *out)
{
	out->type = type;
	if (note->key == WALK_CORR_ID)
		return otf2_archive_attribute(a, "correlation_id",
					      "of a call, and of the operations that it caused",
					      type, &out->self);
	if (note->key == WALK_BYTES)
		return otf2_archive_attribute(a, "bytes", "of a copy or fill", type, &out->self);
	return otf2_archive_attribute(a, note->key == WALK_COUNTER ? note->text : names[note->key],
				      note->key == WALK_COUNTER ? "counter of a dispatch" : "",
				      type, &out->self);
}

static int convert_text(struct otf2_archive *a, const struct walk_note *note, const char *text,
			struct otf2_attribute *out)
{
	int ret = find_attribute(a, note, OTF2_TYPE_STRING, out);

	return ret ? ret : otf2_archive_text(a, text, &out->value.stringRef);
}

static int convert_flags(struct otf2_archive *a, const struct walk_note *note,
			 struct otf2_attribute *out)
{
	char text[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < TRACK_FLAGS; i++)
		if (note->number & track_flags[i].bit)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? " " : "", track_flags[i].name);
	return convert_text(a, note, text, out);
}

static int convert(struct otf2_archive *a, const struct walk_note *note, struct otf2_attribute *out)
{
	char xyz[72];
	int ret = 0;

	switch (note->type) {
	case WALK_INT:
	case WALK_TRUE:
		out->value.uint64 = (uint64_t)note->number;
		ret = find_attribute(a, note,
				     note->key == WALK_CORR_ID || note->key == WALK_BYTES ?
					     OTF2_TYPE_UINT64 :
					     OTF2_TYPE_INT64,
				     out);
		break;
	case WALK_REAL:
		out->value.float64 = note->real;
		ret = find_attribute(a, note, OTF2_TYPE_DOUBLE, out);
		break;
	case WALK_XYZ:
		snprintf(xyz, sizeof(xyz), "%lld,%lld,%lld", (long long)note->xyz[0],
			 (long long)note->xyz[1], (long long)note->xyz[2]);
		ret = convert_text(a, note, xyz, out);
		break;
	case WALK_BITS:
		ret = convert_flags(a, note, out);
		break;
	case WALK_TEXT:
		ret = convert_text(a, note, note->text, out);
		break;
	case WALK_ARGUMENTS:
		break;
	}
	return ret;
}

int otf2_archive_convert(struct otf2_archive *a, const struct walk_note *notes, size_t nr,
			 struct otf2_attribute *out, size_t *nr_out)
{
	int ret = 0;

	*nr_out = 0;
	for (size_t i = 0; i < nr && ret == 0 && *nr_out < OTF2_NOTES_MAX; i++)
		if (!(SKIP >> notes[i].key & 1))
			ret = convert(a, &notes[i], &out[(*nr_out)++]);
	return ret;
}

static int add(struct otf2_archive *a, const struct otf2_attribute *attribute)
{
	errno = 0;
	return otf2_archive_check(a, otf2_lib.AttributeList_AddAttribute(a->attributes,
									 attribute->self,
									 attribute->type,
									 attribute->value));
}

static int add_part(struct otf2_archive *a, const struct kept_part *part)
{
	struct otf2_attribute attribute;
	int ret = 0;

	for (size_t at = 0; at < part->size && ret == 0; at += sizeof(attribute)) {
		memcpy(&attribute, part->bytes + at, sizeof(attribute));
		ret = add(a, &attribute);
	}
	return ret;
}

/* A few at a time: an event may have any number. */
static int add_own(struct otf2_archive *a, const struct walk_note *notes, size_t nr)
{
	struct otf2_attribute attribute;
	size_t is_one;
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		ret = otf2_archive_convert(a, &notes[i], 1, &attribute, &is_one);
		if (ret == 0 && is_one)
			ret = add(a, &attribute);
	}
	return ret;
}

int otf2_archive_enter(struct otf2_archive *a, size_t location, int64_t ns, uint32_t region,
		       const char *category, const struct walk_notes *notes)
{
	struct otf2_attribute first = { .type = OTF2_TYPE_STRING };
	int ret = otf2_archive_attribute(a, "category", "kind of call or operation",
					 OTF2_TYPE_STRING, &first.self);

	if (ret == 0)
		ret = otf2_archive_text(a, category, &first.value.stringRef);
	if (ret == 0)
		ret = add(a, &first);
	for (size_t i = 0; i < notes->nr_parts && ret == 0; i++)
		ret = add_part(a, &notes->parts[i]);
	if (ret == 0)
		ret = add_own(a, notes->own, notes->nr);
	a->nr_events++;
	if (ret)
		return ret;
	errno = 0;
	/* the list is empty afterwards */
	return otf2_archive_check(a, otf2_lib.EvtWriter_Enter(a->locations[location].writer,
							      a->attributes, (uint64_t)ns, region));
}
