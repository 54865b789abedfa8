/* SPDX-License-Identifier: MIT */
/* rpd_spool.c - the operations of one process as rows
 *
 * Every id of a process is its base plus its number in the trace; the base is a multiple of 2^32, so that
 * processes never collide and a merge adds an offset. Markers, threads and calls share a
 * table: calls, by far the most, come last, with their correlation ids plus an offset, so that
 * rows are appended and never inserted between others.
 *
 * A row needs a time. An operation without one is placed at the latest time seen so far, with no
 * duration and the flag "placed"; rtl's views show its times as recorded, as 0.
 */
#include "export/rpd/rpd_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define NR_SHAPES 8192u /* a cache: an evicted shape is written again */
#define NR_BLOCKS(max) (1 + (int64_t)((max) >> 32))

struct shape_key {
	uint32_t kernel, queue, grid[3], private_size, group_size;
	uint16_t group[3], zero;
};

struct rpd_shape {
	struct shape_key key;
	int64_t id; /* 0: empty */
};

static const char *const copy_types[REC_COPY_FILL + 1] = {
	[REC_COPY_H2H] = "CopyHostToHost",     [REC_COPY_H2D] = "CopyHostToDevice",
	[REC_COPY_D2H] = "CopyDeviceToHost",   [REC_COPY_D2D] = "CopyDeviceToDevice",
	[REC_COPY_P2P] = "CopyDeviceToDevice", [REC_COPY_FILL] = "FillBuffer",
};

int64_t rpd_spool_id(const struct rpd_process *p, uint64_t local)
{
	return local && local < RPD_MAX_LOCAL ? p->base + (int64_t)local : 0;
}

int64_t rpd_spool_call(const struct rpd_process *p, uint64_t correlation)
{
	return correlation && correlation < RPD_MAX_LOCAL ? p->call_base + (int64_t)correlation : 0;
}

/* Index of the thread, SIZE_MAX if unknown. */
static size_t find_thread(struct rpd_process *p, uint32_t tid)
{
	size_t lo = 0, hi = p->nr_threads;

	if (p->last_thread < p->nr_threads && p->threads[p->last_thread].tid == tid)
		return p->last_thread;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->threads[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == p->nr_threads || p->threads[lo].tid != tid)
		return SIZE_MAX;
	p->last_thread = lo;
	return lo;
}

int rpd_spool_string(struct rpd_process *p, const char *text, int64_t *id)
{
	*id = p->base + p->next_string++;
	return rpd_db_insert(p->r, p->add_string, "it", *id, text);
}

/* Messages repeat: a cache has the last few thousand. RPD does not require unique strings. */
int rpd_spool_ustring(struct rpd_process *p, const char *text, int64_t *id)
{
	struct rpd_text *slot = &p->texts[map_hash(text, strlen(text)) % RPD_TEXTS];
	char *copy;

	if (slot->text && strcmp(slot->text, text) == 0) {
		*id = slot->id;
		return 0;
	}
	copy = alloc_string(text);
	if (!copy)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	alloc_free(slot->text);
	slot->text = copy;
	slot->id = p->base + p->next_ustring++;
	*id = slot->id;
	return rpd_db_insert(p->r, p->add_ustring, "it", slot->id, text);
}

static int write_shape(struct rpd_process *p, struct rpd_shape *shape,
		       const struct store_dispatch *op)
{
	shape->id = p->next_shape++;
	return rpd_db_insert(p->r, p->add_shape, "iiiiiiiiiiii", p->base + shape->id, p->base + 1,
			     p->base + (int64_t)op->kernel->id,
			     p->base + (int64_t)op->queue->id + 1, (int64_t)op->grid[0],
			     (int64_t)op->grid[1], (int64_t)op->grid[2], (int64_t)op->group[0],
			     (int64_t)op->group[1], (int64_t)op->group[2],
			     (int64_t)op->private_size, (int64_t)op->group_size);
}

/* The cookie has the shape's id and its index in the cache. */
static struct rpd_shape *shape_of(struct rpd_process *p, const struct store_dispatch *op,
				  int *error)
{
	struct shape_key key;
	struct rpd_shape *shape = &p->shapes[*op->shape_cookie % NR_SHAPES];
	size_t at;

	*error = 0;
	if (*op->shape_cookie && shape->id == (int64_t)(*op->shape_cookie / NR_SHAPES))
		return shape;
	memset(&key, 0, sizeof(key));
	key.kernel = op->kernel->id;
	key.queue = op->queue->id;
	memcpy(key.grid, op->grid, sizeof(key.grid));
	memcpy(key.group, op->group, sizeof(key.group));
	key.private_size = op->private_size;
	key.group_size = op->group_size;
	at = map_hash(&key, sizeof(key)) % NR_SHAPES;
	shape = &p->shapes[at];
	if (!shape->id || memcmp(&shape->key, &key, sizeof(key)) != 0) {
		shape->key = key;
		*error = write_shape(p, shape, op);
	}
	*op->shape_cookie = (uint64_t)shape->id * NR_SHAPES + at;
	return shape;
}

int rpd_spool_row(struct rpd_process *p, struct rpd_row **row)
{
	*row = rpd_feed_row(p->r->feed);
	if (!*row) {
		int ret = rpd_feed_flush(p->r->feed);

		if (ret < 0)
			return ret;
		*row = rpd_feed_row(p->r->feed);
	}
	(*row)->in = 0;
	return 0;
}

/* Sets start, end and flags so that every row has a position on the time axis. */
static void set_row_times(struct rpd_process *p, struct rpd_row *row, uint64_t begin_ns,
			  uint64_t end_ns, uint32_t flags)
{
	row->start = (int64_t)begin_ns;
	row->end = (int64_t)end_ns;
	row->flags = flags;
	if ((flags & REC_F_NO_TIME) || !begin_ns) {
		row->start = p->last_ns;
		row->end = p->last_ns;
		row->flags |= QUERY_F_PLACED;
	} else if (flags & REC_F_UNFINISHED) {
		row->end = row->start;
	}
	if (row->end > p->last_ns)
		p->last_ns = row->end;
}

/* Links the operation to the call that caused it, by the correlation id, which is the id of the call's
 * row, wherever its record is. Without a call, links it to the row that stands for its
 * thread, and widens the span of that row. */
static void link_call(struct rpd_process *p, struct rpd_row *row, size_t thread,
		      uint64_t correlation)
{
	struct rpd_span *span = &p->spans[thread];

	row->thread = p->base + (int64_t)thread + 1;
	if (row->correlation && index_called(p->index, correlation)) {
		row->api = row->correlation;
		return;
	}
	row->api = p->first_api + (int64_t)thread;
	if (!span->nr++ || row->start < span->begin)
		span->begin = row->start;
	if (span->nr == 1 || row->end > span->end)
		span->end = row->end;
}

static int64_t gpu_id(const struct rpd_process *p, uint32_t gpu)
{
	return gpu == UINT32_MAX ? -1 : p->node * RPD_GPU_STRIDE + (int64_t)gpu;
}

static int on_dispatch(void *arg, const struct store_dispatch *op)
{
	struct rpd_process *p = arg;
	size_t thread = find_thread(p, op->tid);
	struct rpd_shape *shape;
	struct rpd_row *row;
	int ret;

	if (thread == SIZE_MAX)
		return 0; /* the file was changed after the first pass */
	shape = shape_of(p, op, &ret);
	if (ret == 0)
		ret = rpd_spool_row(p, &row);
	if (ret < 0)
		return ret;
	row->id = p->base + p->next_op++;
	row->gpu = gpu_id(p, op->queue->gpu_index);
	row->queue = op->queue->id;
	row->sequence = (int64_t)op->packet;
	row->marker = rpd_spool_id(p, op->marker);
	row->correlation = rpd_spool_call(p, op->correlation);
	row->shape = p->base + shape->id;
	row->begin_ticks = (int64_t)op->begin_ticks;
	row->end_ticks = (int64_t)op->end_ticks;
	if (op->flags & REC_F_INTERNAL) {
		row->in = RPD_IN_RUNTIME;
		row->thread = p->base + (int64_t)thread + 1;
		row->start = (int64_t)op->begin_ns;
		row->end = (int64_t)op->end_ns;
		row->flags = op->flags;
		p->r->res->nr_internal++;
		return 0;
	}
	row->in = RPD_IN_OP | RPD_IN_KERNEL;
	row->description = p->kernel_names[op->kernel - p->kernels];
	row->type = p->type_kernel;
	set_row_times(p, row, op->begin_ns, op->end_ns, op->flags);
	link_call(p, row, thread, op->correlation);
	p->r->res->nr_dispatches++;
	p->r->res->nr_ops++;
	return 0;
}

static int on_copy(void *arg, const struct store_copy *op)
{
	struct rpd_process *p = arg;
	size_t thread = find_thread(p, op->tid);
	uint32_t kind = op->kind <= REC_COPY_FILL ? op->kind : REC_COPY_H2H;
	uint32_t gpu = kind == REC_COPY_D2H || op->dst_gpu == UINT32_MAX ? op->src_gpu :
									   op->dst_gpu;
	struct rpd_row *row;
	int ret;

	if (thread == SIZE_MAX)
		return 0;
	ret = rpd_spool_row(p, &row);
	if (ret < 0)
		return ret;
	row->in = RPD_IN_OP | RPD_IN_COPY;
	row->id = p->base + p->next_op++;
	row->gpu = gpu_id(p, gpu);
	row->queue = op->engine == UINT32_MAX ? QUERY_COPY_QUEUE_UNKNOWN :
						QUERY_COPY_QUEUE + (int64_t)op->engine;
	row->sequence = p->next_copy++;
	row->marker = rpd_spool_id(p, op->marker);
	row->correlation = rpd_spool_call(p, op->correlation);
	row->description = p->empty_string;
	row->type = p->type_copy[kind];
	row->kind = op->kind;
	row->bytes = (int64_t)op->bytes;
	row->src_agent = rpd_meta_agent(p, op->src_agent);
	row->dst_agent = rpd_meta_agent(p, op->dst_agent);
	row->src = (int64_t)op->src;
	row->dst = (int64_t)op->dst;
	row->engine = op->engine == UINT32_MAX ? -1 : (int64_t)op->engine;
	set_row_times(p, row, op->begin_ns, op->end_ns, op->flags);
	link_call(p, row, thread, op->correlation);
	p->r->res->nr_copies++;
	p->r->res->nr_ops++;
	return 0;
}

static int on_barrier(void *arg, const struct store_barrier *op)
{
	struct rpd_process *p = arg;
	size_t thread = find_thread(p, op->tid);

	if (thread == SIZE_MAX)
		return 0;
	p->r->res->nr_barriers++;
	return rpd_db_insert(p->r, p->add_barrier, "iiiiiiiiii", p->base + p->next_op++,
			     p->base + (int64_t)thread + 1, gpu_id(p, op->queue->gpu_index),
			     (int64_t)op->queue->id, (int64_t)op->packet, (int64_t)op->begin_ns,
			     (int64_t)op->end_ns, rpd_spool_call(p, op->correlation),
			     (int64_t)op->kind, (int64_t)op->flags);
}

static int on_clock(void *arg, const struct store_clock *clock)
{
	struct rpd_process *p = arg;

	return rpd_db_insert(p->r, p->add_clock, "iiiiiiii", p->base + p->next_clock++, p->base + 1,
			     clock->agent ? rpd_meta_agent(p, clock->agent - 1) : (int64_t)0,
			     (int64_t)clock->system_ns, (int64_t)clock->monotonic_ns,
			     (int64_t)clock->boottime_ns, (int64_t)clock->realtime_ns,
			     (int64_t)clock->ticks);
}

static int on_progress(void *arg, uint64_t done, uint64_t total)
{
	struct rpd_process *p = arg;

	(void)total;
	return rpd_progress(p->r, done);
}

static const struct store_visitor visitor = {
	.dispatch = on_dispatch,
	.copy = on_copy,
	.barrier = on_barrier,
	.api = rpd_api_call,
	.marker_begin = rpd_marker_begin,
	.marker_end = rpd_marker_end,
	.clock = on_clock,
	.progress = on_progress,
};

static int prepare_statements(struct rpd_process *p)
{
	const struct {
		sqlite3_stmt **stmt;
		const char *sql;
	} all[] = {
		{ &p->add_string, "INSERT INTO rocpd_string(id, string) VALUES (?, ?)" },
		{ &p->add_ustring, "INSERT INTO rocpd_ustring(id, string) VALUES (?, ?)" },
		/* a damaged trace may have the same marker twice: keep the first */
		{ &p->add_api, "INSERT OR IGNORE INTO rocpd_api(id, pid, tid, start, \"end\", "
			       "apiName_id, category_id, domain_id, args_id) "
			       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)" },
		{ &p->add_marker,
		  "INSERT OR IGNORE INTO rtl_marker_data VALUES (?, ?, ?, ?, ?, ?)" },
		{ &p->add_shape,
		  "INSERT INTO rtl_shape VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
		{ &p->add_barrier,
		  "INSERT INTO rtl_op_barrier VALUES (?, ?, nullif(?, -1), ?, ?, ?, ?, ?, ?, ?)" },
		{ &p->add_clock,
		  "INSERT INTO rtl_clock VALUES (?, ?, nullif(?, 0), ?, ?, ?, ?, ?)" },
		{ &p->end_marker, "UPDATE rocpd_api SET \"end\" = ? WHERE id = ?" },
		{ &p->sooner_marker, "UPDATE rocpd_api SET \"end\" = ?1 WHERE id = ?2 AND "
				     "\"start\" <= ?1 AND \"end\" > ?1" },
		{ &p->add_unnamed, "INSERT OR IGNORE INTO temp.rtl_unnamed VALUES (?)" },
		{ &p->move_marker,
		  "UPDATE rtl_marker_data SET unclosed = ?, end_tid = ? WHERE api_id = ?" },
	};
	int ret = rpd_db_exec(p->r, "CREATE TEMP TABLE IF NOT EXISTS rtl_unnamed (api_id INTEGER "
				    "PRIMARY KEY)");

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && ret == 0; i++)
		ret = rpd_db_prepare(p->r, all[i].stmt, all[i].sql);
	return ret;
}

static int write_names(struct rpd_process *p)
{
	int64_t *ids[] = { &p->empty_string, &p->name_marker,  &p->name_thread,
			   &p->domain_rtl,   &p->domain_roctx, &p->type_kernel };
	const char *const names[] = {
		"", "UserMarker", "Thread", "rtl", "roctx", "KernelExecution"
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && ret == 0; i++)
		ret = rpd_spool_string(p, names[i], ids[i]);
	for (int i = 0; i <= REC_COPY_FILL && ret == 0; i++) {
		if (i == REC_COPY_P2P)
			p->type_copy[i] = p->type_copy[REC_COPY_D2D];
		else
			ret = rpd_spool_string(p, copy_types[i], &p->type_copy[i]);
	}
	return ret == 0 ? rpd_spool_ustring(p, "", &p->empty_ustring) : ret;
}

/* One row of rocpd_api for each thread with operations without a recorded call. */
static int write_threads(struct rpd_process *p)
{
	int ret = 0;

	for (size_t i = 0; i < p->nr_threads && ret == 0; i++) {
		const struct rpd_span *span = &p->spans[i];
		const char *name = p->threads[i].name;
		int64_t args = p->empty_ustring;

		if (!span->nr)
			continue;
		if (name[0])
			ret = rpd_spool_ustring(p, name, &args);
		if (ret == 0)
			ret = rpd_db_insert(p->r, p->add_api, "iiiiiiiii",
					    p->first_api + (int64_t)i, p->pid,
					    (int64_t)p->threads[i].tid, span->begin, span->end,
					    p->name_thread, p->empty_string, p->domain_rtl, args);
	}
	return ret;
}

static int register_trace(struct rpd_process *p)
{
	const struct load_facts *f = load_facts(index_load(p->index));
	char id[33];

	snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, f->trace_id[0], f->trace_id[1]);
	p->node = rpd_node_of(p->r, index_info(p->index, "host"), f->boot_id);
	if (p->node < 0)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	p->pid = p->node * RPD_PID_STRIDE + (int64_t)f->pid;
	return rpd_take_trace(p->r, id, p->path);
}

/* The largest id in the process, recorded or assigned here; the others are limited by the number of records. */
static uint64_t max_object(const struct rpd_process *p)
{
	size_t nr[4];
	const struct store_kernel *kernels = index_kernels(p->index, &nr[0]);
	const struct store_queue *queues = index_queues(p->index, &nr[1]);
	const struct store_agent *agents = index_agents(p->index, &nr[2]);
	const struct store_code_object *objects = index_code_objects(p->index, &nr[3]);
	const uint64_t max[] = {
		nr[0] ? kernels[nr[0] - 1].id : 0,
		nr[1] ? queues[nr[1] - 1].id + UINT64_C(1) : 0,
		nr[2] ? agents[nr[2] - 1].id + UINT64_C(1) : 0,
		nr[3] ? objects[nr[3] - 1].id : 0,
		index_totals(p->index)->records + 64,
	};
	uint64_t largest = 0;

	for (size_t i = 0; i < sizeof(max) / sizeof(max[0]); i++) {
		if (max[i] > largest)
			largest = max[i];
	}
	return largest;
}

static int setup_process(struct rpd_process *p)
{
	const struct store_totals *t = index_totals(p->index);
	uint64_t marker = t->max_marker < RPD_MAX_LOCAL ? t->max_marker : RPD_MAX_LOCAL;
	uint64_t correlation = t->max_correlation < RPD_MAX_LOCAL ? t->max_correlation :
								    RPD_MAX_LOCAL;
	uint64_t shift = 0;
	uint64_t max;
	size_t nr_kernels;

	p->kernels = index_kernels(p->index, &nr_kernels);
	p->threads = index_threads(p->index, &p->nr_threads);
	/* without calls correlation ids get no offset */
	if (t->apis)
		shift = marker + 1 + p->nr_threads;
	p->kernel_names = alloc_zero(nr_kernels, sizeof(*p->kernel_names));
	p->spans = alloc_zero(p->nr_threads, sizeof(*p->spans));
	p->shapes = alloc_zero(NR_SHAPES, sizeof(*p->shapes));
	p->texts = alloc_zero(RPD_TEXTS, sizeof(*p->texts));
	if (!p->kernel_names || !p->spans || !p->shapes || !p->texts)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	p->base = p->r->next_block * RPD_BLOCK;
	p->first_api = p->base + (int64_t)marker + 1;
	p->call_base = p->base + (int64_t)shift;
	p->next_api = p->call_base + (int64_t)correlation + 1;
	max = marker + 1 + p->nr_threads;
	if (shift + correlation + 1 + t->apis > max)
		max = shift + correlation + 1 + t->apis;
	if (max_object(p) > max)
		max = max_object(p);
	p->r->next_block += NR_BLOCKS(max);
	p->next_string = p->next_ustring = p->next_op = p->next_shape = p->next_clock = 1;
	p->last_ns =
		(int64_t)(t->first_ns ? t->first_ns : load_facts(index_load(p->index))->start_ns);
	return prepare_statements(p);
}

static void span_result(struct job_result *res, const struct store_totals *t)
{
	if (t->first_ns && (!res->first_ns || t->first_ns < res->first_ns))
		res->first_ns = t->first_ns;
	if (t->last_ns > res->last_ns)
		res->last_ns = t->last_ns;
}

static int write_all(struct rpd_process *p)
{
	const struct store_totals *t = index_totals(p->index);
	struct load_error err = { "" };
	int64_t end = (int64_t)load_facts(index_load(p->index))->end_ns;
	int ret = write_names(p);

	if (ret == 0)
		ret = rpd_meta_write(p);
	if (ret == 0)
		ret = rpd_api_begin(p);
	if (ret == 0)
		ret = index_visit(p->index, &visitor, p, &err);
	if (ret < 0)
		return rpd_fail(p->r, ret, "%s", err.text[0] ? err.text : p->path);
	ret = rpd_feed_flush(p->r->feed);
	if (end < (int64_t)t->last_ns)
		end = (int64_t)t->last_ns;
	if (ret == 0)
		ret = rpd_api_finish(p);
	if (ret == 0)
		ret = rpd_marker_finish(p, end);
	if (ret == 0)
		ret = write_threads(p);
	if (ret == 0)
		ret = rpd_meta_finish(p);
	span_result(p->r->res, t);
	p->r->res->nr_processes++;
	p->r->res->nr_unknown += load_unknown(index_load(p->index));
	if (load_warning(index_load(p->index))[0])
		rpd_warn(p->r, "%s", load_warning(index_load(p->index)));
	return ret;
}

static void free_process(struct rpd_process *p)
{
	sqlite3_stmt *const all[] = { p->add_string,	p->add_ustring, p->add_api,
				      p->add_shape,	p->add_marker,	p->add_barrier,
				      p->add_clock,	p->end_marker,	p->move_marker,
				      p->sooner_marker, p->add_unnamed };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(all[i]);
	for (size_t i = 0; p->texts && i < RPD_TEXTS; i++)
		alloc_free(p->texts[i].text);
	alloc_free(p->texts);
	alloc_free(p->shapes);
	alloc_free(p->spans);
	alloc_free(p->kernel_names);
	rpd_api_fini(p);
	map_fini(&p->names);
	map_fini(&p->open);
	map_fini(&p->early);
	index_close(p->index);
}

int rpd_spool_add(struct rpd *r, const char *path)
{
	struct rpd_process p = { .r = r, .path = path };
	struct load_error err;
	int ret = index_open(&p.index, path, &err);

	if (ret < 0)
		return rpd_fail(r, ret, "%s", err.text);
	ret = register_trace(&p);
	if (ret == 0)
		ret = setup_process(&p);
	if (ret == 0)
		ret = rpd_db_exec(r, "BEGIN");
	if (ret == 0)
		ret = write_all(&p);
	if (ret == 0)
		ret = rpd_db_exec(r, "COMMIT");
	free_process(&p);
	return ret;
}
