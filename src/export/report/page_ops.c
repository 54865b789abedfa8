/* SPDX-License-Identifier: MIT */
/* page_ops.c - operations as slices: a lane for each queue, for copies, for the runtime's kernels
 * and for barriers */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/report/page_internal.h"

struct op_writer {
	struct page *page;
	enum rows_order order;
	/* the queue of the last row */
	bool open;
	int64_t gpu, queue, block;
	struct page_lane *lanes[2]; /* of kernels, of copies: in RPD's files a queue has both */
	char group[PAGE_GROUP_SIZE];
	sqlite3_stmt *agent;
};

static int end_lanes(struct op_writer *w)
{
	int ret = page_lane_end(w->lanes[0]), error = page_lane_end(w->lanes[1]);

	w->lanes[0] = w->lanes[1] = NULL;
	return ret ? ret : error;
}

void page_gpu_name(sqlite3_stmt *agent, int64_t gpu, char group[PAGE_GROUP_SIZE])
{
	const char *about = agent ? query_look_up(agent, gpu) : "";

	snprintf(group, PAGE_GROUP_SIZE, "GPU %lld%s%s", (long long)gpu, *about ? ": " : "", about);
}

static void name_group(struct op_writer *w)
{
	if (w->gpu < 0)
		snprintf(w->group, sizeof(w->group), "operations of no GPU");
	else
		page_gpu_name(w->agent, w->gpu, w->group);
}

/* Copies and fills by kernels of HIP are in the lane of their queue. */
static bool is_by_engine(const struct rows_op *op)
{
	return op->copy && !op->shape;
}

static struct page_lane *begin_lane(struct op_writer *w, const struct rows_op *op)
{
	struct query *q = w->page->q;
	const struct query_process *process = query_process_of(q, op->id);
	enum page_kind kind = w->order == ROWS_RUNTIME	? PAGE_RUNTIME :
			      w->order == ROWS_BARRIERS ? PAGE_BARRIERS :
			      is_by_engine(op)		? PAGE_COPIES :
							  PAGE_KERNELS;
	long long queue = (long long)w->queue;
	char name[128], of[48] = "";

	if (process && q->nr_processes > 1)
		snprintf(of, sizeof(of), " (process %lld)", (long long)process->pid);
	if (kind == PAGE_COPIES && q->ours && queue >= QUERY_COPY_QUEUE)
		snprintf(name, sizeof(name), "copies, engine %lld%s", queue - QUERY_COPY_QUEUE, of);
	else if (kind == PAGE_COPIES && q->ours && queue == QUERY_COPY_QUEUE_UNKNOWN)
		snprintf(name, sizeof(name), "copies%s", of);
	else
		snprintf(name, sizeof(name), "%squeue %lld%s%s",
			 kind == PAGE_RUNTIME ? "runtime's " : "", queue,
			 kind == PAGE_BARRIERS ? " barriers" :
			 kind == PAGE_COPIES   ? " copies" :
						 "",
			 of);
	return page_lane_begin(w->page, kind, w->group, name, process ? process->pid : 0);
}

static int find_lane(struct op_writer *w, const struct rows_op *op, struct page_lane **lane)
{
	int ret = 0, at = is_by_engine(op);

	if (!w->open || w->gpu != op->gpu || w->queue != op->queue || w->block != op->id >> 32) {
		ret = end_lanes(w);
		w->open = true;
		w->gpu = op->gpu;
		w->queue = op->queue;
		w->block = op->id >> 32;
		name_group(w);
	}
	if (ret == 0 && !w->lanes[at]) {
		w->lanes[at] = begin_lane(w, op);
		ret = w->lanes[at] ? 0 : -ENOMEM;
	}
	*lane = w->lanes[at];
	return ret;
}

static int64_t find_name(struct op_writer *w, const struct rows_op *op)
{
	struct page_names *names = &w->page->names;
	int64_t name;

	if (w->order == ROWS_BARRIERS)
		return page_names_add(names, "barrier");
	if (w->order == ROWS_RUNTIME)
		name = page_names_of(names, PAGE_SYMBOL, op->name);
	else
		name = page_names_of(names, PAGE_STRING, op->copy ? op->type : op->name);
	return name ? name : page_names_add(names, PAGE_UNNAMED);
}

/* Of a copy or fill by a kernel of HIP: that kernel and its shape. */
static int64_t name_means(struct page *page, const struct rows_op *op)
{
	int64_t kernel = page_names_of(&page->names, PAGE_STRING, op->name);
	int64_t shape = page_names_of(&page->names, PAGE_SHAPE, op->shape);
	char text[640];

	if (kernel < 0 || shape < 0)
		return -ENOMEM;
	snprintf(text, sizeof(text), "kernel %.200s%s%s", page->names.texts[kernel],
		 shape ? ", " : "", page->names.texts[shape]);
	return page_names_add(&page->names, text);
}

/* The number of "CPU 0 -> GPU 0" of a copy, or of the shape of a dispatch. */
static int64_t find_text(struct page *page, const struct rows_op *op)
{
	int64_t src, dst;
	char text[256];

	if (!op->copy)
		return page_names_of(&page->names, PAGE_SHAPE, op->shape);
	if (op->shape)
		return name_means(page, op);
	src = page_names_of(&page->names, PAGE_AGENT, op->src);
	dst = page_names_of(&page->names, PAGE_AGENT, op->dst);
	if (src < 0 || dst < 0)
		return -ENOMEM;
	if (!src && !dst)
		return 0;
	snprintf(text, sizeof(text), "%s \xe2\x86\x92 %s", src ? page->names.texts[src] : "?",
		 dst ? page->names.texts[dst] : "?");
	return page_names_add(&page->names, text);
}

static int take_op(void *arg, const struct rows_op *op)
{
	struct op_writer *w = arg;
	struct page *page = w->page;
	/* an operation without a begin is at the first event */
	int64_t begin = op->start < page->t0 ? page->t0 : op->start;
	bool timed = rows_timed(op->start, op->end, op->flags) && op->start > 0;
	struct page_slice slice = {
		.begin = begin - page->t0,
		.duration = timed ? op->end - begin : 0,
		.name = find_name(w, op),
		.flags = op->flags,
		.id = op->id,
		.call = op->call,
		.marker = op->marker,
		.text = find_text(page, op),
		.bytes = op->bytes,
	};
	struct page_lane *lane;
	int ret;

	if (op->stream)
		slice.extra = page_names_of(&page->names, PAGE_STREAM, rows_stream_key(op));
	if (slice.name < 0 || slice.text < 0 || slice.extra < 0)
		return -ENOMEM;
	ret = find_lane(w, op, &lane);
	return ret == 0 ? page_lane_add(lane, &slice, NULL) : ret;
}

int page_ops_write(struct page *page)
{
	static const enum rows_order orders[] = { ROWS_BY_QUEUE, ROWS_RUNTIME, ROWS_BARRIERS };
	struct op_writer w = { .page = page };
	int ret = 0;

	if (page->q->ours)
		ret = query_prepare(page->q, &w.agent, PAGE_AGENT_NAME);
	for (size_t i = 0; ret == 0 && i < sizeof(orders) / sizeof(orders[0]); i++) {
		int error;

		w.open = false;
		w.order = orders[i];
		ret = rows_ops(page->q, orders[i], take_op, &w);
		error = end_lanes(&w);
		ret = ret ? ret : error;
	}
	sqlite3_finalize(w.agent);
	return ret;
}

/* ---- counters ---- */

static const char counters_sql[] =
	"SELECT O.gpuId, N.string, O.start, O.end, C.value, O.description_id, O.id, C.name_id, "
	"coalesce(K.flags, 0) FROM rocpd_counter C JOIN rocpd_op O ON O.id = C.op_id JOIN "
	"rocpd_string N ON N.id = C.name_id LEFT JOIN rtl_op_kernel K ON K.op_id = O.id "
	"ORDER BY 1, 2, 3";

static int take_value(struct op_writer *w, sqlite3_stmt *row)
{
	struct page *page = w->page;
	int64_t begin = sqlite3_column_int64(row, 2), end = sqlite3_column_int64(row, 3);
	bool timed = rows_timed(begin, end, sqlite3_column_int64(row, 8)) && begin > 0;
	int64_t counter = page_names_of(&page->names, PAGE_STRING, sqlite3_column_int64(row, 7));
	struct page_slice slice = {
		.begin = begin < page->t0 ? 0 : begin - page->t0,
		.duration = timed ? end - begin : 0,
		.name = page_names_of(&page->names, PAGE_STRING, sqlite3_column_int64(row, 5)),
		.id = sqlite3_column_int64(row, 6),
		.value = sqlite3_column_double(row, 4),
	};
	int ret = 0;

	if (slice.name < 0 || counter < 0)
		return -ENOMEM;
	if (!w->open || w->gpu != sqlite3_column_int64(row, 0) || w->queue != counter) {
		ret = end_lanes(w);
		w->open = true;
		w->gpu = sqlite3_column_int64(row, 0);
		w->queue = counter;
		name_group(w);
		w->lanes[0] = page_lane_begin(page, PAGE_COUNTER, w->group, query_text(row, 1), 0);
	}
	if (ret == 0 && !w->lanes[0])
		ret = -ENOMEM;
	return ret == 0 ? page_lane_add(w->lanes[0], &slice, NULL) : ret;
}

int page_counters_write(struct page *page)
{
	struct op_writer w = { .page = page };
	sqlite3_stmt *row = NULL;
	int ret, error;

	if (!page->q->ours || !query_has(page->q->db, "rocpd_counter"))
		return 0;
	ret = query_prepare(page->q, &row, counters_sql);
	if (ret == 0)
		ret = query_prepare(page->q, &w.agent, PAGE_AGENT_NAME);
	while (ret == 0 && (ret = query_step(page->q, row)) == 1)
		ret = take_value(&w, row);
	error = end_lanes(&w);
	sqlite3_finalize(row);
	sqlite3_finalize(w.agent);
	return ret ? ret : error;
}
