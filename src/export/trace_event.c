/* SPDX-License-Identifier: MIT */
/* trace_event.c - events of Chrome's JSON, and their annotations */
#include "export/trace_event.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

/* ---- annotations ---- */

static const struct {
	const char *quoted;
	size_t size;
} keys[WALK_NR] = {
#define KEY(id, name, rocprofv3) [WALK_##id] = { "\"" name "\":", sizeof("\"" name "\":") - 1 },
	WALK_KEYS(KEY)
};

static void put_flags(struct json *j, int64_t flags)
{
	json_array(j);
	for (size_t i = 0; i < TRACK_FLAGS; i++)
		if (flags & track_flags[i].bit)
			json_text(j, track_flags[i].name);
	json_array_end(j);
}

static void put_xyz(struct json *j, const int64_t xyz[3])
{
	json_array(j);
	for (int i = 0; i < 3; i++)
		json_int(j, xyz[i]);
	json_array_end(j);
}

/* Of a code object's symbol, the kernel's name. */
static void put_mangled(struct json *j, const char *symbol)
{
	size_t n = strlen(symbol);

	json_text_size(j, symbol, n > 3 && strcmp(symbol + n - 3, ".kd") == 0 ? n - 3 : n);
}

static void put_note(struct json *j, const struct walk_note *note)
{
	if (note->type == WALK_INT) {
		json_raw_member_int(j, keys[note->key].quoted, keys[note->key].size, note->number);
		return;
	}
	if (note->type == WALK_ARGUMENTS) {
		trace_event_args_put(j, note->text);
		return;
	}
	if (note->key == WALK_COUNTER)
		json_key(j, note->text);
	else
		json_key_raw(j, keys[note->key].quoted, keys[note->key].size);
	switch (note->type) {
	case WALK_REAL:
		json_double(j, note->real);
		break;
	case WALK_XYZ:
		put_xyz(j, note->xyz);
		break;
	case WALK_BITS:
		put_flags(j, note->number);
		break;
	case WALK_TRUE:
		json_bool(j, true);
		break;
	default:
		if (note->key == WALK_MANGLED)
			put_mangled(j, note->text);
		else
			json_text(j, note->text);
	}
}

void trace_event_notes(struct json *j, const struct walk_note *notes, size_t nr, uint64_t skip)
{
	for (size_t i = 0; i < nr; i++)
		if (!(skip >> notes[i].key & 1))
			put_note(j, &notes[i]);
}

void trace_event_all_notes(struct json *j, const struct walk_notes *notes, uint64_t skip)
{
	for (size_t i = 0; i < notes->nr_parts; i++)
		trace_event_members(j, &notes->parts[i]);
	trace_event_notes(j, notes->own, notes->nr, skip);
}

struct trace_event_maker *trace_event_maker_new(void)
{
	struct trace_event_maker *m = alloc_heap(sizeof(*m));

	if (m)
		m->memory = (struct json_memory){ NULL, 0 };
	return m;
}

void trace_event_maker_free(struct trace_event_maker *m)
{
	if (m)
		alloc_free(m->memory.bytes);
	alloc_free(m);
}

struct json *trace_event_make(struct trace_event_maker *m)
{
	m->memory.size = 0;
	json_init(&m->json, json_write_memory, &m->memory);
	return &m->json;
}

int trace_event_made(struct trace_event_maker *m, struct kept_part *part)
{
	if (!m->memory.size) {
		*part = (struct kept_part){ m->json.buf, m->json.used };
		return 0;
	}
	if (json_flush(&m->json))
		return -ENOMEM;
	*part = (struct kept_part){ m->memory.bytes, m->memory.size };
	return 0;
}

/* ---- events ---- */

void trace_event_begin(struct trace_events *t, const char *phase, int64_t pid, int64_t tid,
		       int64_t ns)
{
	const char letter[3] = { '"', *phase, '"' };
	struct json *j = t->json;

	/* one event on a line, for grep */
	json_object(j);
	JSON_KEY(j, "ph");
	json_raw(j, letter, sizeof(letter));
	TRACE_EVENT_NUMBER(j, "pid", pid);
	TRACE_EVENT_NUMBER(j, "tid", tid);
	JSON_US(j, "ts", ns - t->base_ns);
	t->nr_events++;
}

static void put_duration(struct json *j, int64_t ns)
{
	JSON_US(j, "dur", ns);
}

static void put_scope(struct json *j)
{
	JSON_LITERAL(j, "s", "t");
}

void trace_event_call(struct trace_events *t, const struct rows_call *row, const char *phase,
		      int64_t ns, int64_t dur)
{
	trace_event_begin(t, phase, row->pid, row->tid, ns);
	if (*phase == 'X')
		put_duration(t->json, dur);
	else if (*phase == 'i')
		put_scope(t->json);
	else
		TRACE_EVENT_NUMBER(t->json, "id", row->id);
}

void trace_event_op(struct trace_events *t, const struct rows_op *op, int64_t pid, int64_t tid,
		    bool timed)
{
	/* an operation without a begin is placed at the first event */
	int64_t begin = op->start < t->q->first_ns ? t->q->first_ns : op->start;

	trace_event_begin(t, timed ? "X" : "i", pid, tid, begin);
	if (timed)
		put_duration(t->json, op->end - begin);
	else
		put_scope(t->json);
}

int trace_event_end(struct trace_events *t)
{
	json_object_end(t->json);
	json_bytes(t->json, "\n", 1);
	return t->json->error;
}

void trace_event_meta(struct trace_events *t, const char *what, int64_t pid, int64_t tid,
		      const char *text, int64_t value)
{
	struct json *j = t->json;

	json_object(j);
	TRACE_EVENT_TEXT(j, "ph", "M");
	TRACE_EVENT_NUMBER(j, "pid", pid);
	TRACE_EVENT_NUMBER(j, "tid", tid);
	TRACE_EVENT_TEXT(j, "name", what);
	JSON_KEY(j, "args");
	json_object(j);
	json_key(j, !text ? "sort_index" : strcmp(what, "process_labels") ? "name" : "labels");
	if (text)
		json_text(j, text);
	else
		json_int(j, value);
	json_object_end(j);
	trace_event_end(t);
}

/* ---- markers and calls on a thread ---- */

/* Whether the slice is within the open ones of the thread; if so, opens it. */
static bool push_if_nested(struct trace_event_thread *thread, int64_t begin, int64_t end,
			   int64_t marker)
{
	while (thread->depth && thread->slices[thread->depth - 1].end_ns <= begin)
		thread->depth--;
	if (end < begin || thread->depth == TRACE_EVENT_DEPTH ||
	    (thread->depth && end > thread->slices[thread->depth - 1].end_ns))
		return false;
	if (!marker)
		marker = trace_event_range(thread);
	thread->slices[thread->depth].end_ns = end;
	thread->slices[thread->depth++].marker = marker;
	return true;
}

int64_t trace_event_range(const struct trace_event_thread *thread)
{
	return thread->depth ? thread->slices[thread->depth - 1].marker : 0;
}

int trace_event_put_call(struct trace_events *t, struct trace_event_thread *thread,
			 const struct rows_call *row, bool apart, trace_event_put_fn put, void *arg)
{
	int64_t begin = row->start, end = row->end;
	/* RPD has no kinds of markers: an instant is a range without length */
	bool instant = row->marker && (row->kind < 0 ? begin == end : row->kind == REC_MARKER_MARK);
	int ret;

	if (begin < t->q->first_ns)
		begin = t->q->first_ns;
	if (instant || end < begin)
		return put(arg, row, "i", begin, 0);
	if (!apart && push_if_nested(thread, begin, end, row->marker ? row->id : 0))
		return put(arg, row, "X", begin, end - begin);
	ret = put(arg, row, "b", begin, 0);
	return ret == 0 ? put(arg, row, "e", end, 0) : ret;
}
