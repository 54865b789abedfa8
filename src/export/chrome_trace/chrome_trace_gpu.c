/* SPDX-License-Identifier: MIT */
/* chrome_trace_gpu.c - operations as Chrome JSON: one process for each GPU, one thread for each
 * strip
 *
 * Operations of one queue may overlap, but readers drop overlapping slices of one track. So a queue
 * has as many strips as it has simultaneous operations; rows come by their begin, and each
 * goes to the first free strip of its queue. An operation without valid times is an instant, with
 * its flags.
 *
 * If streams are known, a second process of each GPU shows the same operations by stream, with
 * another category, so that readers that count kernels by category count each once.
 */
#include "export/chrome_trace/chrome_trace_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* ---- tracks ---- */

static int introduce_gpu(struct chrome_trace *t, const struct track *track, int64_t pid)
{
	int64_t *grown;
	char name[TRACK_NAME];

	for (size_t i = 0; i < t->nr_pids; i++)
		if (t->pids[i] == pid)
			return 0;
	grown = alloc_resize(t->pids, t->nr_pids + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	t->pids = grown;
	grown[t->nr_pids++] = pid;
	tracks_group(track, name);
	trace_event_meta(&t->events, "process_name", pid, 0, name, 0);
	trace_event_meta(&t->events, "process_sort_index", pid, 0, NULL,
			 1000000 + 2 * track->gpu + (track->kind == ROWS_BY_STREAM ? 1 : 0));
	return 0;
}

static int64_t pid_of(int64_t gpu, enum rows_order kind)
{
	return (kind == ROWS_BY_STREAM ? CHROME_TRACE_STREAM_PID : CHROME_TRACE_GPU_PID) + gpu;
}

/* The thread of the first free strip of the operation's track, or of a new one. -ENOMEM. */
static int64_t find_strip(struct chrome_trace *t, const struct walk_operation *op, int64_t pid)
{
	bool fresh;
	struct track *track = tracks_of(&t->tracks, op->row, op->kind, &fresh);
	struct track_strip *strip = track ? tracks_find_strip(&track->strips, op->begin, op->end) :
					    NULL;
	char name[TRACK_NAME];

	if (!strip || (fresh && introduce_gpu(t, track, pid)))
		return -ENOMEM;
	if (!strip->id) {
		strip->id = (uint64_t)t->next_tid++;
		tracks_name(t->events.q, track, op->row, track->strips.nr - 1, t->stream, name);
		trace_event_meta(&t->events, "thread_name", pid, (int64_t)strip->id, name, 0);
		trace_event_meta(&t->events, "thread_sort_index", pid, (int64_t)strip->id, NULL,
				 (int64_t)strip->id);
	}
	return (int64_t)strip->id;
}

/* ---- events ---- */

/* An arrow to the operation from the call that caused it, else from its marker. It begins at the
 * call's begin, where no inner call is open yet, so that viewers bind it to the call itself.
 * Viewers do not bind arrows to slices without length. */
static void put_arrow(struct chrome_trace *t, const struct rows_op *op, int64_t pid, int64_t tid)
{
	struct trace_events *e = &t->events;
	int64_t begin = op->start;
	struct walk_cause cause;
	struct json *j = e->json;

	if (!walk_cause(t->walk, op, &cause))
		return;
	/* clocks of host and GPU may differ a little: an arrow must not end before its begin */
	if (begin < cause.begin)
		begin = cause.begin;
	if (begin >= op->end || cause.begin >= cause.end)
		return;
	for (int to = 0; to < 2; to++) {
		trace_event_begin(e, to ? "f" : "s", to ? pid : cause.pid, to ? tid : cause.tid,
				  to ? begin : cause.begin);
		if (to)
			JSON_LITERAL(j, "bp", "e");
		TRACE_EVENT_NUMBER(j, "id", op->id);
		if (cause.is_call) {
			JSON_LITERAL(j, "cat", "api_op");
			JSON_LITERAL(j, "name", "api_op");
		} else {
			JSON_LITERAL(j, "cat", "launch");
			JSON_LITERAL(j, "name", "launch");
		}
		trace_event_end(e);
	}
}

static void put_category(struct json *j, const struct walk_operation *op)
{
	switch (op->kind) {
	case ROWS_BY_STREAM:
		JSON_LITERAL(j, "cat", "stream");
		break;
	case ROWS_RUNTIME:
		JSON_LITERAL(j, "cat", "runtime");
		break;
	case ROWS_BARRIERS:
		JSON_LITERAL(j, "cat", "barrier");
		break;
	case ROWS_BY_QUEUE:
		if (op->row->copy)
			JSON_LITERAL(j, "cat", "copy");
		else
			JSON_LITERAL(j, "cat", "kernel");
	}
}

int chrome_trace_gpu_put(void *trace, const struct walk_operation *op)
{
	struct chrome_trace *t = trace;
	struct json *j = t->events.json;
	int64_t pid = pid_of(op->row->gpu, op->kind), tid = find_strip(t, op, pid);
	int ret;

	if (tid < 0)
		return query_fail_memory(t->events.q);
	trace_event_op(&t->events, op->row, pid, tid, op->timed);
	put_category(j, op);
	trace_event_members(j, &op->name);
	JSON_KEY(j, "args");
	json_object(j);
	trace_event_all_notes(j, &op->notes, 0);
	json_object_end(j);
	ret = trace_event_end(&t->events);
	if (op->kind == ROWS_BY_QUEUE && op->timed) {
		put_arrow(t, op->row, pid, tid);
		if (ret == 0)
			ret = chrome_trace_locate(t, op->row->id, pid, tid);
	}
	return ret;
}

/* A track of its own for each counter of a GPU. */
int chrome_trace_gpu_sample(void *trace, const struct walk_sample *sample)
{
	struct chrome_trace *t = trace;
	struct json *j = t->events.json;
	/* samples of RPD may be earlier than any event */
	int64_t ns = sample->ns < t->events.base_ns ? t->events.base_ns : sample->ns;

	trace_event_begin(&t->events, "C", pid_of(sample->gpu, ROWS_BY_QUEUE), 0, ns);
	TRACE_EVENT_TEXT(j, "name", sample->counter);
	JSON_KEY(j, "args");
	json_object(j);
	JSON_KEY(j, "value");
	json_double(j, sample->value);
	json_object_end(j);
	return trace_event_end(&t->events);
}

int chrome_trace_gpu_begin(struct chrome_trace *t)
{
	return query_prepare(t->events.q, &t->stream, ROWS_STREAM_NAME);
}

void chrome_trace_gpu_end(struct chrome_trace *t)
{
	sqlite3_finalize(t->stream);
	tracks_fini(&t->tracks);
	alloc_free(t->pids);
}
