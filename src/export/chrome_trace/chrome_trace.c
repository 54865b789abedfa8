/* SPDX-License-Identifier: MIT */
/* chrome_trace.c - Chrome JSON for ui.perfetto.dev: the header, and the order of events
 *
 * Not here: events of GPUs (chrome_trace_gpu.c) and of threads (chrome_trace_host.c).
 */
#include "export/chrome_trace/chrome_trace.h"

#include "export/chrome_trace/chrome_trace_internal.h"
#include "export/output.h"
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

static void put_header(struct trace_events *t)
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

static int fill_trace(void *arg, struct json *j)
{
	struct trace_events *t = arg;
	int ret;

	t->json = j;
	put_header(t);
	ret = chrome_trace_host_write(t);
	if (ret == 0)
		ret = chrome_trace_gpu_write(t);
	json_array_end(j);
	json_object_end(j);
	json_bytes(j, "\n", 1);
	t->q->res->nr_ops = t->nr_events;
	return ret;
}

int chrome_trace_write(struct query *q, const char *out)
{
	struct trace_events t = { .q = q, .base_ns = q->first_ns };

	return output_write(q, out, fill_trace, &t);
}
