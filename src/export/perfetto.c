/* SPDX-License-Identifier: MIT */
/* perfetto.c - Chrome JSON as ui.perfetto.dev reads it: the header, and the order of things
 *
 * Not here: events of GPUs (perfetto_gpu.c) and of threads (perfetto_host.c), files (perfetto_file.c).
 */
#include "export/perfetto.h"

#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "export/perfetto_internal.h"
#include "rtl_version.h"
#include "store/verdict.h"

static void put_text(struct json *j, const char *key, const char *text)
{
	json_key(j, key);
	json_text(j, text);
}

static void put_losses(struct json *j, const struct verdict *v)
{
	json_key(j, "losses");
	json_array(j);
	for (size_t i = 0; i < v->nr_rows; i++) {
		json_object(j);
		json_key(j, "pid");
		json_uint(j, v->rows[i].pid);
		put_text(j, "reason", v->rows[i].reason);
		put_text(j, "class", load_class_name(v->rows[i].class));
		json_key(j, "count");
		json_uint(j, v->rows[i].count);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_header(struct perfetto *p, const struct verdict *v)
{
	int64_t rank =
		p->nr_processes == 1 ? perfetto_number(p, "SELECT rank FROM rtl_process", -1) : -1;
	struct json *j = &p->json;

	json_object(j);
	put_text(j, "displayTimeUnit", "ns");
	json_key(j, "baseTimeNanoseconds");
	json_int(j, p->base_ns);
	if (rank >= 0) { /* readers of kineto's traces look for it by the text `"rank": N` */
		json_key(j, "distributedInfo");
		json_object(j);
		j->spaced = true;
		json_key(j, "rank");
		json_int(j, rank);
		json_key(j, "world_size");
		json_int(j, perfetto_number(p, "SELECT world_size FROM rtl_process", 1));
		j->spaced = false;
		json_object_end(j);
	}
	json_key(j, "metadata");
	json_object(j);
	put_text(j, "tool", "rocm-trace-lite");
	put_text(j, "version", RTL_VERSION_STRING);
	json_key(j, "format_version");
	json_int(j, 1);
	put_text(j, "source", p->path);
	put_text(j, "verdict", v->line);
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

static int write_events(struct perfetto *p, const char *db_path)
{
	struct verdict *v = alloc_zero(1, sizeof(*v));
	struct load_error error;
	int ret;

	if (!v)
		return perfetto_fail(p, -ENOMEM, "%s: out of memory", p->path);
	verdict_of_db(v, db_path, &error);
	p->res->complete = v->complete;
	p->res->nr_lost = v->nr_lost;
	snprintf(p->res->verdict, sizeof(p->res->verdict), "%s", v->line);
	put_header(p, v);
	alloc_free(v);
	ret = perfetto_host_write(p);
	if (ret == 0)
		ret = perfetto_gpu_write(p);
	json_array_end(&p->json);
	json_object_end(&p->json);
	json_bytes(&p->json, "\n", 1);
	return ret;
}

static int write_file(struct perfetto *p, const char *db_path, const char *out)
{
	return perfetto_output(p, out, write_events, db_path);
}

int perfetto_write(const char *const *inputs, size_t nr, const char *out,
		   const struct rpd_options *opt, struct rpd_result *res)
{
	return perfetto_convert(inputs, nr, out, opt, res, write_file);
}
