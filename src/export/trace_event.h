/* SPDX-License-Identifier: MIT */
/* trace_event.h - events of Chrome's JSON, which Perfetto's dialect (chrome_trace/) and kineto's
 * (kineto/) share
 *
 *	trace_event.c		events, and their annotations
 *	trace_event_args.c	recorded arguments as JSON
 */
#ifndef RTL_EXPORT_TRACE_EVENT_H
#define RTL_EXPORT_TRACE_EVENT_H

#include "export/json.h"
#include "export/walk.h"
#include "query/rows.h"

/* A file being written. */
struct trace_events {
	struct query *q;
	struct json *json;
	int64_t base_ns; /* time 0 of `ts` */
	uint64_t nr_events;
};

/* ---- trace_event.c ---- */

/* Writes annotations as members of the open object; those of keys in `skip` (1 << enum walk_key)
 * are left out. */
void trace_event_notes(struct json *j, const struct walk_note *notes, size_t nr, uint64_t skip);
/* The same for all of an event. */
void trace_event_all_notes(struct json *j, const struct walk_notes *notes, uint64_t skip);
/* Members that are already JSON. */
static inline void trace_event_members(struct json *j, const struct kept_part *part)
{
	if (part->size)
		json_raw(j, part->bytes, part->size);
}

/* Where a part is made: in memory, as members of an object. */
struct trace_event_maker {
	struct json json;
	struct json_memory memory; /* used where the buffer is too small */
};

struct trace_event_maker *trace_event_maker_new(void);
void trace_event_maker_free(struct trace_event_maker *m);
struct json *trace_event_make(struct trace_event_maker *m);
/* The part's bytes, valid until the next one is made. 0 or -ENOMEM. */
int trace_event_made(struct trace_event_maker *m, struct kept_part *part);

/* The beginning of an event: {"ph":"X","pid":..,"tid":..,"ts":..; the caller goes on with keys. */
void trace_event_begin(struct trace_events *t, const char *phase, int64_t pid, int64_t tid,
		       int64_t ns);
/* The same for a row of enum rows_call, with the member that its phase needs: a duration, a scope
 * or an id. */
void trace_event_call(struct trace_events *t, const struct rows_call *row, const char *phase,
		      int64_t ns, int64_t dur);
/* The same for an operation: a slice, or an instant if it has no valid times. */
void trace_event_op(struct trace_events *t, const struct rows_op *op, int64_t pid, int64_t tid,
		    bool timed);
/* 0 or the output's error. */
int trace_event_end(struct trace_events *t);
/* A whole metadata event whose argument is a text or, with NULL, a number. */
void trace_event_meta(struct trace_events *t, const char *what, int64_t pid, int64_t tid,
		      const char *text, int64_t number);

#define TRACE_EVENT_TEXT(j, key, text) (JSON_KEY(j, key), json_text((j), (text)))
#define TRACE_EVENT_NUMBER(j, key, value) JSON_INT(j, key, value)

/* Slices of a thread nest, up to this depth; deeper ones become asynchronous events. */
#define TRACE_EVENT_DEPTH 512

struct trace_event_thread {
	int64_t pid, tid; /* of the last row */
	bool open;
	size_t depth;
	struct {
		int64_t end_ns;
		int64_t marker; /* of the range, or of the range around the call; 0: none */
	} slices[TRACE_EVENT_DEPTH];
};

/* Writes a row of enum rows_call with `put`: one event, or two (asynchronous) if it overlaps an
 * open slice of the thread or `apart` is set. 0 or -errno. */
typedef int (*trace_event_put_fn)(void *arg, const struct rows_call *row, const char *phase,
				  int64_t ns, int64_t dur);
int trace_event_put_call(struct trace_events *t, struct trace_event_thread *thread,
			 const struct rows_call *row, bool apart, trace_event_put_fn put,
			 void *arg);
/* The range around the last slice, or its own; 0: none. */
int64_t trace_event_range(const struct trace_event_thread *thread);

/* ---- trace_event_args.c ---- */

/* Writes arguments in the form of store/args.h ("name=value, name=value") as a JSON object with a
 * member for each; returns false and writes nothing if the text has another form. */
bool trace_event_args_write(struct json *j, const char *text);
/* The JSON of arguments of at most TRACE_EVENT_SHORT bytes takes at most TRACE_EVENT_SPACE. */
#define TRACE_EVENT_SHORT 2048u
#define TRACE_EVENT_SPACE (8 * TRACE_EVENT_SHORT)
/* "args": the object, or the text unchanged. Nothing for "". */
void trace_event_args_put(struct json *j, const char *text);

#endif
