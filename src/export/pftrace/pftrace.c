/* SPDX-License-Identifier: MIT */
/* pftrace.c - Perfetto's format: packets, tracks and interned names
 *
 * A slice is a packet at its begin and one at its end. Readers sort packets by time and keep those
 * of one time in the order of the file. All are of one sequence, whose names are interned: the
 * packet that uses a name first brings it. Memory grows with names and tracks.
 */
#include "export/pftrace/pftrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/output.h"
#include "export/pftrace/pftrace_internal.h"
#include "query/label.h"
#include "rtl_version.h"

#define SEQUENCE 1u
#define FLAG_CLEARED 1u
#define FLAG_NEEDED 2u

static const char *const names[A_NR] = {
#define NAME_TEXT(id, text) [A_##id] = text,
#define WALK_TEXT_OF(id, name, rocprofv3) [PFTRACE_OF(WALK_##id)] = rocprofv3,
	WALK_KEYS(WALK_TEXT_OF) PFTRACE_NAMES(NAME_TEXT)
};
static const char *const categories[C_NR] = {
#define CATEGORY_TEXT(id, text) [C_##id] = text,
	PFTRACE_CATEGORIES(CATEGORY_TEXT)
};

/* ---- packets ---- */

static void open_packet(struct pftrace *t)
{
	t->packet.used = 0;
	t->at_packet = proto_begin(&t->packet, TRACE_PACKET);
	proto_uint(&t->packet, PACKET_SEQUENCE, SEQUENCE);
}

static int close_packet(struct pftrace *t)
{
	if (t->fresh.used) {
		proto_bytes(&t->packet, PACKET_INTERNED, t->fresh.buf, t->fresh.used);
		t->fresh.used = 0;
	}
	proto_end(&t->packet, t->at_packet);
	if (t->packet.failed || t->fresh.failed)
		return query_fail_memory(t->q);
	json_bytes(t->out, t->packet.buf, t->packet.used);
	return t->out->error;
}

void pftrace_begin(struct pftrace *t, enum pftrace_type type, uint64_t track, int64_t ns)
{
	open_packet(t);
	proto_uint(&t->packet, PACKET_TIMESTAMP, (uint64_t)ns);
	proto_uint(&t->packet, PACKET_FLAGS, FLAG_NEEDED);
	t->at_event = proto_begin(&t->packet, PACKET_EVENT);
	proto_uint(&t->packet, EVENT_TYPE, (uint64_t)type);
	proto_uint(&t->packet, EVENT_TRACK, track);
	t->nr_events++;
}

int pftrace_end(struct pftrace *t)
{
	proto_end(&t->packet, t->at_event);
	return close_packet(t);
}

void pftrace_slice_end_begin(struct pftrace *t, uint64_t track, int64_t ns)
{
	open_packet(t);
	proto_uint(&t->packet, PACKET_TIMESTAMP, (uint64_t)ns);
	t->at_event = proto_begin(&t->packet, PACKET_EVENT);
	proto_uint(&t->packet, EVENT_TYPE, TYPE_END);
	proto_uint(&t->packet, EVENT_TRACK, track);
}

int pftrace_slice_end(struct pftrace *t, uint64_t track, int64_t ns)
{
	pftrace_slice_end_begin(t, track, ns);
	return pftrace_end(t);
}

/* ---- names ---- */

static void intern(struct pftrace *t, uint32_t kind, uint64_t iid, const char *text, size_t size)
{
	size_t at = proto_begin(&t->fresh, kind);

	proto_uint(&t->fresh, NAMED_IID, iid);
	proto_text(&t->fresh, NAMED_TEXT, text, size);
	proto_end(&t->fresh, at);
}

void pftrace_name(struct pftrace *t, struct proto *p, const char *text)
{
	uint64_t iid = ++t->nr_names;

	text = *text ? text : "unnamed";
	intern(t, INTERNED_NAME, iid, text, strlen(text));
	proto_uint(p, EVENT_NAME, iid);
}

uint64_t pftrace_key(struct pftrace *t, const char *text, size_t size)
{
	bool is_new;
	uint64_t iid = texts_number(&t->keys, text, size, &is_new);

	if (!iid)
		t->packet.failed = true;
	else if (is_new)
		intern(t, INTERNED_ANNOTATION, iid, text, size);
	return iid;
}

void pftrace_put_int(struct proto *p, enum pftrace_name name, int64_t value)
{
	proto_uints(p, EVENT_ANNOTATION, ANNOTATION_NAME, (uint64_t)name,
		    value < 0 ? ANNOTATION_INT : ANNOTATION_UINT, (uint64_t)value);
}

void pftrace_put_double(struct proto *p, enum pftrace_name name, double value)
{
	size_t at = proto_begin(p, EVENT_ANNOTATION);

	proto_uint(p, ANNOTATION_NAME, (uint64_t)name);
	proto_double(p, ANNOTATION_DOUBLE, value);
	proto_end(p, at);
}

void pftrace_put_text(struct proto *p, enum pftrace_name name, const char *text)
{
	size_t at = proto_begin(p, EVENT_ANNOTATION);

	proto_uint(p, ANNOTATION_NAME, (uint64_t)name);
	proto_text(p, ANNOTATION_TEXT, text, strlen(text));
	proto_end(p, at);
}

uint64_t pftrace_text(struct pftrace *t, const char *text)
{
	size_t size = strlen(text);
	bool is_new;
	uint64_t iid = texts_number(&t->texts, text, size, &is_new);

	if (!iid)
		t->packet.failed = true;
	else if (is_new)
		intern(t, INTERNED_TEXT, iid, text, size);
	return iid;
}

void pftrace_put_iid(struct proto *p, enum pftrace_name name, uint64_t iid)
{
	proto_uints(p, EVENT_ANNOTATION, ANNOTATION_NAME, (uint64_t)name, ANNOTATION_TEXT_IID, iid);
}

void pftrace_put_interned(struct pftrace *t, struct proto *p, enum pftrace_name name,
			  const char *text)
{
	pftrace_put_iid(p, name, pftrace_text(t, text));
}

/* ---- tracks ---- */

static void put_process(struct proto *p, const struct pftrace_track *track)
{
	size_t at = proto_begin(p, TRACK_PROCESS);

	proto_uint(p, PROCESS_PID, (uint64_t)track->pid);
	proto_text(p, PROCESS_NAME, track->process, strlen(track->process));
	proto_end(p, at);
}

static void put_thread(struct proto *p, const struct pftrace_track *track)
{
	size_t at = proto_begin(p, TRACK_THREAD);

	proto_uint(p, THREAD_PID, (uint64_t)track->pid);
	proto_uint(p, THREAD_TID, (uint64_t)track->tid);
	if (track->thread && *track->thread)
		proto_text(p, THREAD_NAME, track->thread, strlen(track->thread));
	proto_end(p, at);
}

static void put_counter(struct proto *p, const struct pftrace_track *track)
{
	size_t at = proto_begin(p, TRACK_COUNTER);

	if (track->is_bytes) {
		proto_uint(p, COUNTER_UNIT, PFTRACE_UNIT_BYTES);
		proto_uint(p, COUNTER_MULTIPLIER, PFTRACE_BYTES);
	}
	proto_end(p, at);
}

uint64_t pftrace_track(struct pftrace *t, const struct pftrace_track *track)
{
	struct proto *p = &t->packet;
	uint64_t id = ++t->nr_tracks;
	size_t at;

	open_packet(t);
	at = proto_begin(p, PACKET_TRACK);
	proto_uint(p, TRACK_UUID, id);
	if (track->name)
		proto_text(p, TRACK_TEXT, track->name, strlen(track->name));
	if (track->parent) {
		proto_uint(p, TRACK_PARENT, track->parent);
		proto_uint(p, TRACK_RANK, (uint64_t)track->rank);
	} else {
		proto_uint(p, TRACK_ORDERING, PFTRACE_ORDER_EXPLICIT);
	}
	if (track->process)
		put_process(p, track);
	else if (track->tid >= 0)
		put_thread(p, track);
	if (track->counter)
		put_counter(p, track);
	proto_end(p, at);
	close_packet(t);
	return id;
}

/* ---- the file ---- */

/* The first packet: what the sequence's names begin with. */
static int put_names(struct pftrace *t)
{
	for (uint64_t i = 1; i < A_NR; i++) {
		bool is_new;

		intern(t, INTERNED_ANNOTATION, i, names[i], strlen(names[i]));
		if (texts_number(&t->keys, names[i], strlen(names[i]), &is_new) != i)
			t->packet.failed = true;
	}
	for (uint64_t i = 1; i < C_NR; i++)
		intern(t, INTERNED_CATEGORY, i, categories[i], strlen(categories[i]));
	open_packet(t);
	proto_uint(&t->packet, PACKET_FLAGS, FLAG_CLEARED | FLAG_NEEDED);
	return close_packet(t);
}

/* The verdict and each loss, as instants at the beginning. */
static int put_verdict(struct pftrace *t)
{
	const struct verdict *v = &t->q->verdict;
	uint64_t track =
		pftrace_track(t, &(struct pftrace_track){ .name = "trace", .pid = -1, .tid = -1 });

	pftrace_begin(t, TYPE_INSTANT, track, t->q->first_ns);
	proto_text(&t->packet, EVENT_NAME_TEXT, v->line, strlen(v->line));
	pftrace_put_text(&t->packet, A_TOOL, "rocm-trace-lite " RTL_VERSION_STRING);
	pftrace_put_text(&t->packet, A_VERDICT, v->line);
	pftrace_put_int(&t->packet, A_COMPLETE, v->complete);
	for (size_t i = 0; i < v->nr_rows && pftrace_end(t) == 0; i++) {
		pftrace_begin(t, TYPE_INSTANT, track, t->q->first_ns);
		proto_uint(&t->packet, EVENT_CATEGORY, C_LOSS);
		proto_text(&t->packet, EVENT_NAME_TEXT, v->rows[i].reason,
			   strlen(v->rows[i].reason));
		pftrace_put_int(&t->packet, PFTRACE_OF(WALK_PID), v->rows[i].pid);
		pftrace_put_int(&t->packet, A_COUNT, (int64_t)v->rows[i].count);
		pftrace_put_text(&t->packet, PFTRACE_OF(WALK_TYPE),
				 load_class_name(v->rows[i].class));
	}
	return pftrace_end(t);
}

/* ---- parts ---- */

static void begin_part(struct pftrace *t)
{
	t->made.used = 0;
}

static int take_part(struct pftrace *t, struct kept_part *to)
{
	*to = (struct kept_part){ t->made.buf, t->made.used };
	return t->made.failed ? query_fail_memory(t->q) : 0;
}

static int encode_name(void *arg, enum walk_what what, const char *text, struct kept_part *to)
{
	struct pftrace *t = arg;
	char label[LABEL_SIZE];

	begin_part(t);
	pftrace_name(t, &t->made, what == WALK_KERNEL_NAME ? label_kernel(label, text) : text);
	if (what == WALK_FUNCTION_NAME) /* what TraceLens reads */
		pftrace_put_interned(t, &t->made, A_OPERATION, text);
	return take_part(t, to);
}

static int encode_notes(void *arg, const struct walk_note *notes, size_t nr, struct kept_part *to)
{
	struct pftrace *t = arg;

	begin_part(t);
	pftrace_put_notes(t, &t->made, notes, nr, true);
	return take_part(t, to);
}

static int put_events(struct pftrace *t)
{
	static const struct walk_ops ops = { pftrace_gpu_put, pftrace_host_put, pftrace_counter_put,
					     encode_name, encode_notes };
	int ret = walk_begin(&t->walk, t->q, &ops, t);

	if (ret == 0)
		ret = pftrace_messages_begin(t);
	if (ret == 0)
		ret = pftrace_host_begin(t);
	if (ret == 0)
		ret = walk_calls(t->walk);
	if (ret == 0)
		ret = pftrace_host_close(t);
	if (ret == 0)
		ret = pftrace_gpu_begin(t);
	if (ret == 0)
		ret = pftrace_collectives(t);
	if (ret == 0)
		ret = walk_operations(t->walk);
	if (ret == 0)
		ret = walk_samples(t->walk);
	pftrace_messages_end(t);
	pftrace_host_end(t);
	pftrace_gpu_end(t);
	walk_end(t->walk);
	return ret;
}

static int fill_trace(void *arg, struct json *out)
{
	struct pftrace *t = arg;
	int ret;

	t->out = out;
	ret = put_names(t);
	if (ret == 0)
		ret = put_verdict(t);
	if (ret == 0)
		ret = put_events(t);
	t->q->res->nr_ops = t->nr_events;
	return ret;
}

int pftrace_write(struct query *q, const char *out)
{
	struct pftrace t = { .q = q };
	int ret = output_write(q, out, fill_trace, &t);

	proto_fini(&t.packet);
	proto_fini(&t.fresh);
	proto_fini(&t.made);
	texts_fini(&t.keys);
	texts_fini(&t.texts);
	return ret;
}
