/* SPDX-License-Identifier: MIT */
/* page.c - the report: what the trace is, and the order of the file's parts */
#include "export/report/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "export/output.h"
#include "export/report/page_internal.h"
#include "rtl_version.h"

/* Calls beyond this number come without their arguments, which would be most of the file. */
#define ARGS_MAX 200000

/* Idle times of a GPU that are marked: the longest, none shorter than this part of the trace. */
enum { GAPS_MAX = 500, GAPS_PART = 100000 };

/* ---- what the trace is ---- */

/* The end of the last event, since any clock's begin. */
static int64_t find_last_ns(struct query *q)
{
	static const char *const any[] = {
		"SELECT max(\"end\") FROM rocpd_op",
		"SELECT max(\"end\") FROM rocpd_api",
	};
	int64_t last = 0;

	if (q->ours)
		last = query_number(q->db, "SELECT max(last_ns) FROM rtl_process", 0);
	for (size_t i = 0; last <= 0 && i < sizeof(any) / sizeof(any[0]); i++) {
		int64_t ns = query_number(q->db, any[i], 0);

		last = ns > last ? ns : last;
	}
	return last;
}

static void write_verdict(struct json *j, const struct verdict *v)
{
	json_member_text(j, "verdict", v->line);
	json_key(j, "complete");
	json_bool(j, v->complete);
	json_key(j, "losses");
	json_array(j);
	for (size_t i = 0; i < v->nr_rows; i++) {
		json_object(j);
		json_member_int(j, "pid", v->rows[i].pid);
		json_member_text(j, "reason", v->rows[i].reason);
		json_member_text(j, "class", load_class_name(v->rows[i].class));
		json_member_int(j, "count", (int64_t)v->rows[i].count);
		json_member_text(j, "text", v->rows[i].text);
		json_object_end(j);
	}
	json_array_end(j);
}

/* The columns of each row of a query as an object. */
static int write_rows(struct query *q, struct json *j, const char *key, const char *sql)
{
	sqlite3_stmt *row = NULL;
	int ret = q->ours ? query_prepare(q, &row, sql) : 0;

	json_key(j, key);
	json_array(j);
	while (row && ret == 0 && (ret = query_step(q, row)) == 1) {
		json_object(j);
		for (int i = 0; i < sqlite3_column_count(row); i++) {
			json_key(j, sqlite3_column_name(row, i));
			if (sqlite3_column_type(row, i) == SQLITE_INTEGER)
				json_int(j, sqlite3_column_int64(row, i));
			else if (sqlite3_column_type(row, i) == SQLITE_NULL)
				json_null(j);
			else
				json_text(j, query_text(row, i));
		}
		json_object_end(j);
		ret = 0;
	}
	json_array_end(j);
	sqlite3_finalize(row);
	return ret;
}

static int write_trace(struct page *page, struct json *j)
{
	struct query *q = page->q;
	char until[WALL_UNTIL];
	int ret;

	json_member_text(j, "version", RTL_VERSION_STRING);
	json_member_text(j, "source", q->path);
	json_member_int(j, "t0", page->t0);
	json_member_int(j, "span", page->until > page->span ? page->until : page->span);
	json_member_int(j, "wall_ns", (int64_t)page->digest->wall.ns);
	json_member_int(j, "startup_ns", (int64_t)page->digest->wall.startup_ns);
	if (page->digest->wall.startup_ns)
		json_member_text(j, "startup_until", wall_until(&page->digest->wall, until));
	json_member_text(j, "part", page->digest->wall.part ? page->digest->wall.part : "");
	json_member_int(j, "slices", (int64_t)page->nr_slices);
	if (page->nr_messages)
		json_member_int(j, "nr_messages", (int64_t)page->nr_messages);
	json_key(j, "streams");
	json_bool(j, q->streams > 0);
	json_key(j, "args_left_out");
	json_bool(j, page->args_left_out);
	json_member_int(j, "realtime_ns", q->nr_processes ? q->processes[0].realtime_ns : 0);
	write_verdict(j, &q->verdict);
	ret = write_rows(q, j, "processes",
			 "SELECT pid, rank, host, command, mode, version, state, first_ns, last_ns "
			 "FROM rtl_process ORDER BY id");
	if (ret == 0)
		ret = write_rows(
			q, j, "agents",
			"SELECT gpu_id AS gpu, coalesce(nullif(product, ''), name) AS product, "
			"name, max(nr_cu) AS cus, max(simd_per_cu) AS simds, max(clock_mhz) AS mhz, "
			"max(wave_size) AS wave FROM rtl_agent WHERE type = 'GPU' GROUP BY gpu_id "
			"ORDER BY gpu_id");
	return ret;
}

static void write_findings(const struct page *page, struct json *j)
{
	json_key(j, "findings");
	json_array(j);
	for (size_t i = 0; i < page->findings->nr; i++) {
		json_object(j);
		json_member_text(j, "id", page->findings->list[i].id);
		json_member_text(j, "text", page->findings->list[i].text);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Times in which the GPU has nothing to do, as begin and end: the timeline marks them. */
static int write_gaps(const struct page *page, struct json *j, const struct digest_gpu *l)
{
	uint64_t least = (uint64_t)(page->span / GAPS_PART);
	size_t nr = GAPS_MAX;
	struct digest_gap *gaps = digest_longest(l, least ? least : 1, &nr);

	if (!gaps)
		return -ENOMEM;
	json_key(j, "gaps");
	json_array(j);
	for (size_t i = 0; i < nr; i++) {
		json_array(j);
		json_int(j, gaps[i].begin - page->t0);
		json_int(j, gaps[i].end - page->t0);
		json_array_end(j);
	}
	json_array_end(j);
	alloc_free(gaps);
	return 0;
}

/* How long each GPU was busy; `bins`: in each part of the time. */
static int write_gpus(const struct page *page, struct json *j)
{
	const struct digest *d = page->digest;
	sqlite3_stmt *agent = NULL;
	char group[PAGE_GROUP_SIZE];
	int ret = page->q->ours ? query_prepare(page->q, &agent, PAGE_AGENT_NAME) : 0;

	json_member_int(j, "bin_ns", d->bin_ns);
	json_key(j, "gpus");
	json_array(j);
	for (size_t i = 1; ret == 0 && i < d->nr_gpus; i++) {
		const struct digest_gpu *l = &d->gpus[i];

		json_object(j);
		json_member_int(j, "gpu", l->gpu);
		page_gpu_name(agent, l->gpu, group);
		json_member_text(j, "group", group);
		json_member_int(j, "busy_ns", (int64_t)l->busy_ns);
		json_member_int(j, "kernel_ns", (int64_t)l->kernel_ns);
		json_member_int(j, "copy_ns", (int64_t)l->copy_ns);
		json_member_int(j, "kernels", (int64_t)l->kernels);
		json_member_int(j, "copies", (int64_t)l->copies);
		json_member_int(j, "span_ns", l->until > l->first ? l->until - l->first : 0);
		json_key(j, "bins");
		json_array(j);
		for (size_t k = 0; k < d->nr_bins; k++)
			json_uint(j, l->bins[k]);
		json_array_end(j);
		ret = write_gaps(page, j, l);
		json_object_end(j);
	}
	json_array_end(j);
	sqlite3_finalize(agent);
	return ret;
}

static int write_main(struct page *page)
{
	struct page_pack *pack = page_pack_open(page->out, "main");
	struct json *j = alloc_heap(sizeof(*j));
	int ret = -ENOMEM;

	if (j && pack) {
		json_init(j, page_pack_write, pack);
		json_object(j);
		ret = write_trace(page, j);
		write_findings(page, j);
		if (ret == 0)
			ret = write_gpus(page, j);
		if (ret == 0)
			ret = page_tables_write(page, j);
		page_lane_write(page, j);
		json_key(j, "names");
		json_array(j);
		for (size_t i = 0; i < page->names.nr; i++)
			json_text(j, page->names.texts[i]);
		json_array_end(j);
		json_object_end(j);
		if (ret == 0)
			ret = json_flush(j);
	}
	if (page_pack_close(pack) && ret == 0)
		ret = page->out->error;
	alloc_free(j);
	return ret;
}

/* ---- the file ---- */

static int fill_page(void *arg, struct json *out)
{
	struct page *page = arg;
	int ret;

	page->out = out;
	json_bytes(out, (const char *)page_head, page_head_size);
	ret = page_names_init(&page->names, page->q);
	if (ret == 0)
		ret = page_calls_write(page);
	if (ret == 0)
		ret = page_ops_write(page);
	if (ret == 0)
		ret = page_collectives_write(page);
	if (ret == 0)
		ret = page_counters_write(page);
	if (ret == 0)
		ret = page_messages_write(page);
	if (ret == 0)
		ret = page_lane_write_levels(page);
	if (ret == 0)
		ret = write_main(page);
	json_bytes(out, (const char *)page_tail, page_tail_size);
	if (ret == -ENOMEM)
		query_fail_memory(page->q);
	page->q->res->nr_ops = page->nr_slices;
	return ret;
}

static void free_page(struct page *page)
{
	page_names_fini(&page->names);
	page_lane_free(page);
	tables_fini(&page->analysis);
	for (int i = 0; i < PAGE_TABLES; i++)
		sheet_fini(&page->tables[i]);
}

static int page_write(struct query *q, const char *out)
{
	struct page page = { .q = q,
			     .t0 = q->first_ns,
			     .analysis = { .q = q, .metrics = "roofline" } };
	int64_t last = find_last_ns(q);
	int ret;

	page.span = last > page.t0 ? last - page.t0 : 0;
	page.args = query_number(q->db, "SELECT count(*) FROM rocpd_api", 0) <= ARGS_MAX;
	page.args_left_out = !page.args;
	page.analysis.nr_bins = PAGE_BINS;
	page.analysis.bins_begin = page.t0;
	page.analysis.bin_ns = page.span / PAGE_BINS + 1;
	ret = tables_digest(&page.analysis, &page.digest);
	if (ret == 0)
		ret = tables_findings(&page.analysis, &page.findings);
	if (ret == 0)
		ret = page_tables_read(&page);
	if (ret == 0)
		ret = output_write(q, out, fill_page, &page);
	free_page(&page);
	return ret;
}

const struct export_format page_format = { .name = "report",
					   .suffix = ".html",
					   .write = page_write,
					   .reads_rows = true };
