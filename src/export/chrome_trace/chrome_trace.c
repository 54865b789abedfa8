/* SPDX-License-Identifier: MIT */
/* chrome_trace.c - Chrome JSON for ui.perfetto.dev: the header, the order of events, names and
 * annotations
 *
 * Not here: events of GPUs (chrome_trace_gpu.c), of threads (chrome_trace_host.c) and collectives
 * (chrome_trace_collective.c).
 */
#include "export/chrome_trace/chrome_trace.h"

#include "export/chrome_trace/chrome_trace_internal.h"
#include "export/output.h"
#include "query/label.h"
#include "rtl_version.h"

static void put_losses(struct json *j, const struct verdict *v)
{
	json_key(j, "losses");
	json_array(j);
	for (size_t i = 0; i < v->nr_rows; i++) {
		json_object(j);
		json_key(j, "pid");
		json_uint(j, v->rows[i].pid);
		json_member_text(j, "reason", v->rows[i].reason);
		json_member_text(j, "class", load_class_name(v->rows[i].class));
		json_key(j, "count");
		json_uint(j, v->rows[i].count);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_header(const struct trace_events *t)
{
	const struct verdict *v = &t->q->verdict;
	const struct query_process *only = t->q->nr_processes == 1 ? &t->q->processes[0] : NULL;
	struct json *j = t->json;

	json_object(j);
	json_member_text(j, "displayTimeUnit", "ns");
	json_member_int(j, "baseTimeNanoseconds", t->base_ns);
	if (only &&
	    only->rank >= 0) { /* readers of kineto's traces search for the text `"rank": N` */
		json_key(j, "distributedInfo");
		json_object(j);
		j->spaced = true;
		json_member_int(j, "rank", only->rank);
		json_member_int(j, "world_size", only->world_size >= 0 ? only->world_size : 1);
		j->spaced = false;
		json_object_end(j);
	}
	json_key(j, "metadata");
	json_object(j);
	json_member_text(j, "tool", "rocm-trace-lite");
	json_member_text(j, "version", RTL_VERSION_STRING);
	json_member_int(j, "format_version", 1);
	json_member_text(j, "source", t->q->path);
	json_member_text(j, "verdict", v->line);
	json_key(j, "complete");
	json_bool(j, v->complete);
	put_losses(j, v);
	json_object_end(j);
	json_bytes(j, ",\n", 2);
	json_bytes(j, "\"traceEvents\":", 14);
	j->after_key = true;
	json_array(j);
	json_bytes(j, "\n", 1);
}

/* ---- names and annotations, which are encoded once ---- */

static int encode_name(void *arg, enum walk_what what, const char *text, struct kept_part *to)
{
	struct chrome_trace *t = arg;
	struct json *j = trace_event_make(t->maker);
	char label[LABEL_SIZE];

	if (what == WALK_FUNCTION_NAME)
		json_member_text(j, "cat", label_domain(text));
	json_member_text(j, "name",
			 what == WALK_KERNEL_NAME	      ? label_kernel(label, text) :
			 what == WALK_FUNCTION_NAME && !*text ? "unnamed" :
								text);
	return trace_event_made(t->maker, to);
}

static int encode_notes(void *arg, const struct walk_note *notes, size_t nr, struct kept_part *to)
{
	struct chrome_trace *t = arg;

	trace_event_notes(trace_event_make(t->maker), notes, nr, 0);
	return trace_event_made(t->maker, to);
}

/* ---- arrows ---- */

int chrome_trace_arrow(struct chrome_trace *t, const char *what, int64_t id,
		       const struct chrome_trace_point *from, const struct chrome_trace_point *to)
{
	struct trace_events *e = &t->events;
	struct json *j = e->json;
	int ret = 0;

	for (int end = 0; ret == 0 && end < 2; end++) {
		const struct chrome_trace_point *at = end ? to : from;

		trace_event_begin(e, end ? "f" : "s", at->pid, at->tid, at->ns);
		if (end)
			JSON_LITERAL(j, "bp", "e");
		TRACE_EVENT_NUMBER(j, "id", id);
		TRACE_EVENT_TEXT(j, "cat", what);
		TRACE_EVENT_TEXT(j, "name", what);
		ret = trace_event_end(e);
	}
	return ret;
}

/* From the begin of the send to the end of the call that has received it: within both, since an
 * arrow belongs to the slice that is open at its time. */
static int put_message(void *trace, const struct mpi_message *m)
{
	struct chrome_trace *t = trace;
	int64_t end = m->receive.end > m->receive.begin ? m->receive.end - 1 : m->receive.end;

	if (m->send.begin < t->events.base_ns)
		return 0;
	return chrome_trace_arrow(t, "message", ++t->nr_messages,
				  &(struct chrome_trace_point){ m->send.pid, m->send.tid,
								m->send.begin },
				  &(struct chrome_trace_point){
					  m->receive.pid, m->receive.tid,
					  end > m->send.begin ? end : m->send.begin });
}

/* ---- the file ---- */

static int put_events(struct chrome_trace *t)
{
	static const struct walk_ops ops = { chrome_trace_gpu_put, chrome_trace_host_put,
					     chrome_trace_gpu_sample, encode_name, encode_notes };
	int ret = walk_begin(&t->walk, t->events.q, &ops, t);

	if (ret == 0)
		ret = chrome_trace_host_begin(t);
	if (ret == 0)
		ret = walk_calls(t->walk);
	if (ret == 0)
		ret = chrome_trace_gpu_begin(t);
	if (ret == 0)
		ret = chrome_trace_collectives(t);
	if (ret == 0)
		ret = walk_operations(t->walk);
	if (ret == 0)
		ret = chrome_trace_arrows(t);
	if (ret == 0)
		ret = walk_messages(t->walk, put_message);
	if (ret == 0)
		ret = walk_samples(t->walk);
	walk_end(t->walk);
	return ret;
}

static int fill_trace(void *arg, struct json *j)
{
	struct chrome_trace *t = arg;
	int ret;

	t->events.json = j;
	put_header(&t->events);
	ret = put_events(t);
	json_array_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	t->events.q->res->nr_ops = t->events.nr_events;
	return ret;
}

int chrome_trace_write(struct query *q, const char *out)
{
	struct chrome_trace t = { .events = { .q = q, .base_ns = q->first_ns }, .next_tid = 1 };
	int ret;

	t.maker = trace_event_maker_new();
	ret = t.maker ? output_write(q, out, fill_trace, &t) : query_fail_memory(q);
	chrome_trace_gpu_end(&t);
	chrome_trace_collectives_end(&t);
	trace_event_maker_free(t.maker);
	return ret;
}
