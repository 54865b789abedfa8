/* SPDX-License-Identifier: MIT */
/* trace_event.c - events of Chrome's JSON, and cached texts in them */
#include "export/trace_event.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"

#define TEXTS_MAX (8u << 20) /* bytes of a cache; it is emptied when it exceeds them */

/* ---- cached texts ---- */

static const struct trace_event_text *find_text(struct trace_events *t,
						struct trace_event_texts *texts, int64_t key,
						sqlite3_stmt *stmt, trace_event_make_fn make)
{
	struct trace_event_text *grown;
	struct json_memory m = { NULL, 0 };
	uint64_t index;
	struct json *j;

	if (map_get(&texts->index, (uint64_t)key, &index))
		return &texts->texts[index];
	if (texts->size > TEXTS_MAX) {
		trace_event_texts_fini(texts);
		memset(texts, 0, sizeof(*texts));
	}
	j = alloc_heap(sizeof(*j));
	grown = alloc_resize(texts->texts, texts->nr + 1, sizeof(*grown));
	if (grown)
		texts->texts = grown;
	if (j && grown) {
		json_init(j, json_write_memory, &m);
		make(j, query_row(stmt, key));
	}
	if (!j || !grown || json_flush(j) || map_put(&texts->index, (uint64_t)key, texts->nr)) {
		query_fail_memory(t->q);
		alloc_free(j);
		alloc_free(m.bytes);
		return NULL;
	}
	alloc_free(j);
	texts->size += m.size + sizeof(*grown);
	texts->texts[texts->nr] = (struct trace_event_text){ m.bytes, m.size };
	return &texts->texts[texts->nr++];
}

void trace_event_texts_fini(struct trace_event_texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++)
		alloc_free(texts->texts[i].json);
	alloc_free(texts->texts);
	map_fini(&texts->index);
}

int trace_event_put_text(struct trace_events *t, struct trace_event_texts *texts, int64_t key,
			 sqlite3_stmt *stmt, trace_event_make_fn make, bool members)
{
	const struct trace_event_text *text = find_text(t, texts, key, stmt, make);

	if (!text)
		return -ENOMEM;
	if (text->size || !members)
		json_raw(t->json, text->json, text->size);
	return 0;
}

void trace_event_make_string(struct json *j, sqlite3_stmt *row)
{
	json_text(j, query_text(row, 0));
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

void trace_event_call(struct trace_events *t, const int64_t *row, const char *phase, int64_t ns,
		      int64_t dur)
{
	trace_event_begin(t, phase, row[CALL_PID], row[CALL_TID], ns);
	if (*phase == 'X')
		put_duration(t->json, dur);
	else if (*phase == 'i')
		put_scope(t->json);
	else
		TRACE_EVENT_NUMBER(t->json, "id", row[CALL_ID]);
}

void trace_event_op(struct trace_events *t, const int64_t *op, int64_t pid, int64_t tid, bool timed)
{
	/* an operation without a begin is placed at the first event */
	int64_t begin = op[OP_START] < t->q->first_ns ? t->q->first_ns : op[OP_START];

	trace_event_begin(t, timed ? "X" : "i", pid, tid, begin);
	if (timed)
		put_duration(t->json, op[OP_END] - begin);
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
			 const int64_t *row, bool apart, trace_event_put_fn put, void *arg)
{
	int64_t begin = row[CALL_START], end = row[CALL_END];
	/* RPD has no kinds of markers: an instant is a range without length */
	bool instant = row[CALL_MARKER] &&
		       (row[CALL_KIND] < 0 ? begin == end : row[CALL_KIND] == REC_MARKER_MARK);
	int ret;

	if (begin < t->q->first_ns)
		begin = t->q->first_ns;
	if (instant || end < begin)
		return put(arg, row, "i", begin, 0);
	if (!apart && push_if_nested(thread, begin, end, row[CALL_MARKER] ? row[CALL_ID] : 0))
		return put(arg, row, "X", begin, end - begin);
	ret = put(arg, row, "b", begin, 0);
	return ret == 0 ? put(arg, row, "e", end, 0) : ret;
}
