/* SPDX-License-Identifier: MIT */
/* rpd_spool.c - the operations of one process as rows
 *
 * Every id of a process is its base plus its number in the trace; the base is a multiple of 2^32,
 * so that processes never collide and a merge adds an offset. Markers, threads and calls share a
 * table: calls, by far the most, come last, with their correlation ids plus an offset, so that
 * rows are appended and never inserted between others. The numbers of a trace that still grows are
 * not
 * known: it gets a wide base and offset (rpd_internal.h, RPD_WIDE_MARKERS).
 *
 * A trace comes in one part or several (store/index.h). Rows of operations and calls are written
 * with their part; those that describe the process, its threads and what it used with the last
 * part, when all is known.
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
#include "query/transfer.h"

/* a cache: an evicted shape is written again. A shape may be in any of its ways. */
#define NR_SHAPES 8192u
#define SHAPE_WAYS 16u
#define NR_BLOCKS(max) (1 + (int64_t)((max) >> 32))

union shape_key {
	struct {
		uint32_t kernel, queue, grid[3], private_size, group_size;
		uint16_t group[3];
	};
	uint64_t words[5];
};

struct rpd_shape {
	union shape_key key;
	int64_t id; /* 0: empty */
};

int64_t rpd_spool_id(const struct rpd_process *p, uint64_t local)
{
	return local && local < RPD_MAX_LOCAL ? p->base + (int64_t)local : 0;
}

int64_t rpd_spool_call(const struct rpd_process *p, uint64_t correlation)
{
	return correlation && correlation < RPD_MAX_LOCAL ? p->call_base + (int64_t)correlation : 0;
}

int64_t rpd_spool_marker(const struct rpd_process *p, uint64_t marker)
{
	int64_t id = rpd_spool_id(p, marker);

	return id && p->wide && marker >= RPD_WIDE_MARKERS ? id + RPD_WIDE_FAR : id;
}

int64_t rpd_spool_thread(const struct rpd_process *p, size_t thread)
{
	if (p->wide && thread >= RPD_WIDE_THREADS)
		return p->base + 2 * RPD_WIDE_FAR + (int64_t)thread;
	return p->first_api + (int64_t)thread;
}

size_t rpd_spool_thread_index(struct rpd_process *p, uint32_t tid)
{
	uint64_t at;

	if (p->last_thread < p->nr_threads && p->threads[p->last_thread].tid == tid)
		return p->last_thread;
	if (!map_get(&p->thread_of, tid, &at))
		return SIZE_MAX;
	p->last_thread = (size_t)at;
	return p->last_thread;
}

bool rpd_spool_called(struct rpd_process *p, uint64_t correlation)
{
	bool found;

	if (index_called(p->index, correlation))
		return true;
	if (!p->past.totals.apis)
		return false;
	sqlite3_bind_int64(p->find_api, 1, rpd_spool_call(p, correlation));
	found = sqlite3_step(p->find_api) == SQLITE_ROW;
	sqlite3_reset(p->find_api);
	return found;
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

static bool is_same(const union shape_key *a, const union shape_key *b)
{
	return memcmp(a->words, b->words, sizeof(a->words)) == 0;
}

/* The slot of a shape in the cache, or one that it may be put into. */
static size_t slot_of(const struct rpd_process *p, const union shape_key *key)
{
	size_t first = map_hash_words(key->words, 5) % NR_SHAPES;

	for (size_t i = 0; i < SHAPE_WAYS; i++) {
		size_t at = (first + i) % NR_SHAPES;

		if (!p->shapes[at].id || is_same(&p->shapes[at].key, key))
			return at;
	}
	return (first + (size_t)p->next_shape % SHAPE_WAYS) % NR_SHAPES;
}

/* The id of the dispatch's shape. The cookie keeps it, also when it was evicted: its row is
 * there. */
static int shape_of(struct rpd_process *p, const struct store_dispatch *op, int64_t *id)
{
	union shape_key key;
	struct rpd_shape *shape;
	int ret = 0;

	*id = (int64_t)*op->shape_cookie;
	if (*id)
		return 0;
	memset(&key, 0, sizeof(key));
	key.kernel = op->kernel->id;
	key.queue = op->queue->id;
	memcpy(key.grid, op->grid, sizeof(key.grid));
	memcpy(key.group, op->group, sizeof(key.group));
	key.private_size = op->private_size;
	key.group_size = op->group_size;
	shape = &p->shapes[slot_of(p, &key)];
	if (!shape->id || !is_same(&shape->key, &key)) {
		shape->key = key;
		ret = write_shape(p, shape, op);
	}
	*id = shape->id;
	*op->shape_cookie = (uint64_t)shape->id;
	return ret;
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

void rpd_spool_widen(struct rpd_process *p, size_t thread, int64_t start, int64_t end)
{
	struct rpd_span *span = &p->threads[thread].span;

	if (!span->nr++ || start < span->begin)
		span->begin = start;
	if (span->nr == 1 || end > span->end)
		span->end = end;
}

/* Links the operation to the call that caused it, by the correlation id, which is the id of the
 * call's row, wherever its record is. Without a call, links it to the row that stands for its
 * thread, at least until rpd_pending_resolve(). */
static int link_call(struct rpd_process *p, struct rpd_row *row, size_t thread,
		     uint64_t correlation)
{
	row->thread = p->base + (int64_t)thread + 1;
	if (row->correlation && rpd_spool_called(p, correlation)) {
		row->api = row->correlation;
		return 0;
	}
	row->api = rpd_spool_thread(p, thread);
	return rpd_pending_add(p, row, correlation, thread);
}

static int64_t gpu_id(const struct rpd_process *p, uint32_t gpu)
{
	return gpu == UINT32_MAX ? -1 : p->node * RPD_GPU_STRIDE + (int64_t)gpu;
}

static int note_gpu(struct rpd *r, int64_t gpu)
{
	uint64_t known;

	if (gpu < 0 || map_get(&r->gpus, (uint64_t)gpu, &known))
		return 0;
	return map_put(&r->gpus, (uint64_t)gpu, 1);
}

static int on_dispatch(void *arg, const struct store_dispatch *op)
{
	struct rpd_process *p = arg;
	size_t thread = rpd_spool_thread_index(p, op->tid);
	struct rpd_row *row;
	int64_t name = 0, shape;
	int ret;

	if (thread == SIZE_MAX)
		return 0; /* the file was changed after the first pass */
	ret = shape_of(p, op, &shape);
	if (ret == 0)
		ret = rpd_meta_kernel(p, (size_t)(op->kernel - p->kernels), &name);
	if (ret == 0)
		ret = rpd_feed_row(p->r->feed, &row);
	if (ret < 0)
		return ret;
	row->id = p->base + p->next_op++;
	row->gpu = gpu_id(p, op->queue->gpu_index);
	row->queue = op->queue->id;
	row->sequence = (int64_t)op->packet;
	row->marker = rpd_spool_marker(p, op->marker);
	row->correlation = rpd_spool_call(p, op->correlation);
	row->shape = p->base + shape;
	row->begin_ticks = (int64_t)op->begin_ticks;
	row->end_ticks = (int64_t)op->end_ticks;
	if (op->flags & REC_F_INTERNAL) {
		row->in = RPD_IN_RUNTIME;
		row->thread = p->base + (int64_t)thread + 1;
		row->start = (int64_t)op->begin_ns;
		row->end = (int64_t)op->end_ns;
		row->flags = op->flags;
		p->r->res->nr_internal++;
		return rpd_pending_add(p, row, op->correlation, thread);
	}
	row->in = RPD_IN_OP | RPD_IN_KERNEL;
	row->description = name;
	row->type = p->type_kernel;
	set_row_times(p, row, op->begin_ns, op->end_ns, op->flags);
	ret = note_gpu(p->r, row->gpu);
	if (kinds_transfer_of(op->kernel->name))
		p->r->res->nr_copies++;
	else
		p->r->res->nr_dispatches++;
	p->r->res->nr_ops++;
	if (ret == 0)
		ret = launches_dispatch(&p->launches, op->correlation);
	return ret < 0 ? ret : link_call(p, row, thread, op->correlation);
}

static int on_copy(void *arg, const struct store_copy *op)
{
	struct rpd_process *p = arg;
	size_t thread = rpd_spool_thread_index(p, op->tid);
	uint32_t kind = op->kind <= REC_COPY_FILL ? op->kind : REC_COPY_H2H;
	uint32_t gpu = kind == REC_COPY_D2H || op->dst_gpu == UINT32_MAX ? op->src_gpu :
									   op->dst_gpu;
	struct rpd_row *row;
	int ret;

	if (thread == SIZE_MAX)
		return 0;
	ret = rpd_feed_row(p->r->feed, &row);
	if (ret < 0)
		return ret;
	row->in = RPD_IN_OP | RPD_IN_COPY;
	row->id = p->base + p->next_op++;
	row->gpu = gpu_id(p, gpu);
	row->queue = op->engine == UINT32_MAX ? QUERY_COPY_QUEUE_UNKNOWN :
						QUERY_COPY_QUEUE + (int64_t)op->engine;
	row->sequence = p->next_copy++;
	row->marker = rpd_spool_marker(p, op->marker);
	row->correlation = rpd_spool_call(p, op->correlation);
	row->description = p->empty_string;
	row->type = p->type_copy[kind];
	row->kind = op->kind;
	row->bytes = (int64_t)op->bytes;
	row->src_agent = rpd_meta_agent(p, op->src_agent);
	row->dst_agent = rpd_meta_agent(p, op->dst_agent);
	row->src = (int64_t)op->src;
	row->dst = (int64_t)op->dst;
	row->engine = op->engine == UINT32_MAX ? RPD_NO_ENGINE : (int64_t)op->engine;
	set_row_times(p, row, op->begin_ns, op->end_ns, op->flags);
	ret = note_gpu(p->r, row->gpu);
	p->r->res->nr_copies++;
	p->r->res->nr_ops++;
	return ret < 0 ? ret : link_call(p, row, thread, op->correlation);
}

static int on_barrier(void *arg, const struct store_barrier *op)
{
	struct rpd_process *p = arg;
	size_t thread = rpd_spool_thread_index(p, op->tid);
	int ret;

	if (thread == SIZE_MAX)
		return 0;
	p->r->res->nr_barriers++;
	ret = rpd_pending_barrier(p, p->base + p->next_op, op->correlation, thread);
	if (ret < 0)
		return ret;
	return rpd_db_insert(p->r, p->add_barrier, "iiiiiiiiii", p->base + p->next_op++,
			     p->base + (int64_t)thread + 1, gpu_id(p, op->queue->gpu_index),
			     (int64_t)op->queue->id, (int64_t)op->packet, (int64_t)op->begin_ns,
			     (int64_t)op->end_ns, rpd_spool_call(p, op->correlation),
			     (int64_t)op->kind, (int64_t)op->flags);
}

static int on_scratch(void *arg, const struct store_scratch *s)
{
	static const char *const kinds[] = { [REC_SCRATCH_ALLOC] = "alloc",
					     [REC_SCRATCH_FREE] = "free",
					     [REC_SCRATCH_RECLAIM] = "reclaim" };
	struct rpd_process *p = arg;
	size_t thread = rpd_spool_thread_index(p, s->tid);
	bool is_alloc = s->kind == REC_SCRATCH_ALLOC && s->packet < UINT64_MAX;

	if (thread == SIZE_MAX || !s->kind || s->kind > REC_SCRATCH_RECLAIM)
		return 0; /* of a newer rtl */
	return rpd_db_insert(p->r, p->add_scratch, "iiitiiiiiii", p->base + p->next_scratch++,
			     p->base + (int64_t)thread + 1,
			     s->queue == UINT32_MAX ? 0 : p->base + (int64_t)s->queue + 1,
			     kinds[s->kind], (int64_t)s->alloc_flags, (int64_t)s->begin_ns,
			     (int64_t)s->end_ns, (int64_t)s->bytes, (int64_t)s->waves,
			     is_alloc ? (int64_t)s->packet : (int64_t)-1,
			     rpd_spool_call(p, s->correlation));
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
	.scratch = on_scratch,
	.counters = rpd_counter_add,
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
		{ &p->add_scratch,
		  "INSERT INTO rtl_scratch VALUES (?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, nullif(?, -1), ?)" },
		{ &p->end_marker, "UPDATE rocpd_api SET \"end\" = ? WHERE id = ?" },
		{ &p->sooner_marker, "UPDATE rocpd_api SET \"end\" = ?1 WHERE id = ?2 AND "
				     "\"start\" <= ?1 AND \"end\" > ?1" },
		{ &p->add_launch,
		  "INSERT INTO rtl_launch VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)" },
		{ &p->add_unnamed, "INSERT OR IGNORE INTO rtl_unnamed VALUES (?)" },
		{ &p->find_api, "SELECT 1 FROM rocpd_api WHERE id = ?" },
		{ &p->move_marker,
		  "UPDATE rtl_marker_data SET unclosed = ?, end_tid = ? WHERE api_id = ?" },
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && ret == 0; i++)
		if (p->r->is_compact || all[i].stmt != &p->add_launch)
			ret = rpd_db_prepare(p->r, all[i].stmt, all[i].sql);
	return ret;
}

int rpd_spool_names(struct rpd_process *p)
{
	int64_t *ids[] = { &p->empty_string, &p->name_marker,  &p->name_thread,
			   &p->domain_rtl,   &p->domain_roctx, &p->type_kernel };
	const char *const names[] = {
		"", "UserMarker", "Thread", "rtl", "roctx", "KernelExecution"
	};
	int ret = 0;

	p->begun = true;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]) && ret == 0; i++)
		ret = rpd_spool_string(p, names[i], ids[i]);
	/* RPD has no name for a copy between GPUs */
	for (uint32_t i = 0; i <= REC_COPY_FILL && ret == 0; i++) {
		if (i == REC_COPY_P2P)
			p->type_copy[i] = p->type_copy[REC_COPY_D2D];
		else
			ret = rpd_spool_string(p, kinds_copy_name(i), &p->type_copy[i]);
	}
	return ret == 0 ? rpd_spool_ustring(p, "", &p->empty_ustring) : ret;
}

/* One row of rocpd_api for each thread with operations without a recorded call. */
static int write_threads(struct rpd_process *p)
{
	size_t nr;
	const struct store_thread *threads = index_threads(p->index, &nr);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		size_t thread = rpd_spool_thread_index(p, threads[i].tid);
		const struct rpd_span *span = &p->threads[thread].span;
		int64_t args = p->empty_ustring;

		if (!span->nr)
			continue;
		if (threads[i].name[0])
			ret = rpd_spool_ustring(p, threads[i].name, &args);
		if (ret == 0)
			ret = rpd_db_insert(p->r, p->add_api, "iiiiiiiii",
					    rpd_spool_thread(p, thread), p->pid,
					    (int64_t)threads[i].tid, span->begin, span->end,
					    p->name_thread, p->empty_string, p->domain_rtl, args);
		p->r->nr_api_rows += ret == 0 ? sqlite3_changes(p->r->db) : 0;
	}
	return ret;
}

static int register_trace(struct rpd_process *p)
{
	const struct load_facts *f = load_facts(index_load(p->index));
	char id[RPD_TRACE_ID];

	p->node = rpd_node_of(p->r, index_info(p->index, "host"), f->boot_id);
	if (p->node < 0)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	p->pid = p->node * RPD_PID_STRIDE + (int64_t)f->pid;
	rpd_meta_trace(p, id);
	return rpd_take_trace(p->r, id, p->path);
}

/* The largest id in the process, recorded or assigned here; the others are limited by the number of
 * records. */
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

/* Ids of a process whose trace is complete. */
static void number_tightly(struct rpd_process *p)
{
	const struct store_totals *t = index_totals(p->index);
	uint64_t marker = t->max_marker < RPD_MAX_LOCAL ? t->max_marker : RPD_MAX_LOCAL;
	uint64_t correlation = t->max_correlation < RPD_MAX_LOCAL ? t->max_correlation :
								    RPD_MAX_LOCAL;
	uint64_t shift = 0;
	uint64_t max;
	size_t nr_threads;

	index_threads(p->index, &nr_threads);
	/* without calls correlation ids get no offset */
	if (t->apis)
		shift = marker + 1 + nr_threads;
	p->first_api = p->base + (int64_t)marker + 1;
	p->call_base = p->base + (int64_t)shift;
	p->next_api = p->call_base + (int64_t)correlation + 1;
	max = marker + 1 + nr_threads;
	if (shift + correlation + 1 + t->apis > max)
		max = shift + correlation + 1 + t->apis;
	if (max_object(p) > max)
		max = max_object(p);
	p->blocks = NR_BLOCKS(max);
}

static void number_widely(struct rpd_process *p)
{
	p->wide = true;
	p->first_api = p->base + (int64_t)RPD_WIDE_MARKERS;
	p->call_base = p->first_api + (int64_t)RPD_WIDE_THREADS;
	p->next_api = p->base + 3 * RPD_WIDE_FAR;
	p->blocks = RPD_WIDE_BLOCKS;
}

int rpd_spool_prepare(struct rpd_process *p)
{
	p->shapes = alloc_zero(NR_SHAPES, sizeof(*p->shapes));
	p->texts = alloc_zero(RPD_TEXTS, sizeof(*p->texts));
	if (!p->shapes || !p->texts)
		return rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	return prepare_statements(p);
}

int rpd_spool_begin(struct rpd_process *p, bool complete)
{
	const struct store_totals *t = index_totals(p->index);
	int ret = register_trace(p);

	if (ret < 0)
		return ret;
	p->base = p->r->next_block * RPD_BLOCK;
	if (complete)
		number_tightly(p);
	else
		number_widely(p);
	p->r->next_block += p->blocks;
	p->next_string = p->next_ustring = p->next_op = p->next_shape = p->next_clock = 1;
	p->next_launch = p->next_scratch = 1;
	p->last_ns =
		(int64_t)(t->first_ns ? t->first_ns : load_facts(index_load(p->index))->start_ns);
	return rpd_spool_prepare(p);
}

static void span_result(struct job_result *res, const struct store_totals *t)
{
	if (t->first_ns && (!res->first_ns || t->first_ns < res->first_ns))
		res->first_ns = t->first_ns;
	if (t->last_ns > res->last_ns)
		res->last_ns = t->last_ns;
}

/* Numbers the threads that are new in this part. */
static int add_threads(struct rpd_process *p)
{
	size_t nr;
	const struct store_thread *threads = index_threads(p->index, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct rpd_thread *grown;

		if (rpd_spool_thread_index(p, threads[i].tid) != SIZE_MAX)
			continue;
		grown = alloc_grow(p->threads, p->nr_threads, &p->cap_threads, 16, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->threads = grown;
		grown[p->nr_threads] = (struct rpd_thread){ .tid = threads[i].tid };
		if (map_put(&p->thread_of, threads[i].tid, p->nr_threads++) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Rows of the operations and calls of one part. */
static int write_part(struct rpd_process *p, bool last)
{
	struct load_error err = { "" };
	int64_t first = 0;
	int ret = add_threads(p);

	p->part_op = p->base + p->next_op;
	p->changed = true;
	if (ret == 0 && !p->begun)
		ret = rpd_spool_names(p);
	if (ret == 0)
		ret = rpd_meta_names(p);
	if (ret == 0)
		ret = rpd_api_begin(p);
	if (ret == 0)
		ret = index_visit(p->index, &visitor, p, &err);
	if (ret < 0)
		return rpd_fail(p->r, ret, "%s", err.text[0] ? err.text : p->path);
	ret = rpd_feed_flush(p->r->feed);
	if (ret == 0)
		ret = rpd_pending_resolve(p, last, &first);
	if (ret == 0)
		ret = rpd_api_name(p, first, last);
	p->r->res->nr_unknown += load_unknown(index_load(p->index));
	if (load_warning(index_load(p->index))[0])
		rpd_warn(p->r, "%s", load_warning(index_load(p->index)));
	return ret;
}

static void end_part(struct rpd_process *p)
{
	rpd_api_end_part(p);
	alloc_free(p->kernel_names);
	p->kernel_names = NULL;
	p->kernels = NULL;
	p->ops = NULL;
	index_close(p->index);
	p->index = NULL;
}

/* Rows that describe the process. */
static int finish_process(struct rpd_process *p)
{
	const struct store_totals *t = index_totals(p->index);
	int64_t end = (int64_t)load_facts(index_load(p->index))->end_ns;
	int ret;

	if (end < (int64_t)t->last_ns)
		end = (int64_t)t->last_ns;
	ret = rpd_marker_finish(p, end);
	if (ret == 0)
		ret = write_threads(p);
	if (ret == 0)
		ret = rpd_meta_write(p);
	if (ret == 0)
		ret = rpd_meta_finish(p);
	span_result(p->r->res, t);
	p->r->res->nr_processes++;
	p->finished = true;
	return ret;
}

void rpd_spool_free(struct rpd_process *p)
{
	sqlite3_stmt *const all[] = { p->add_string,	p->add_ustring, p->add_api,
				      p->add_shape,	p->add_marker,	p->add_barrier,
				      p->add_clock,	p->end_marker,	p->move_marker,
				      p->sooner_marker, p->add_unnamed, p->find_api,
				      p->add_launch,	p->add_scratch };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sqlite3_finalize(all[i]);
	for (size_t i = 0; p->texts && i < RPD_TEXTS; i++)
		alloc_free(p->texts[i].text);
	end_part(p);
	alloc_free(p->texts);
	alloc_free(p->shapes);
	alloc_free(p->threads);
	alloc_free(p->pending);
	alloc_free(p->path);
	rpd_api_fini(p);
	rpd_counter_free(p);
	map_fini(&p->names);
	map_fini(&p->kernel_ids);
	map_fini(&p->thread_of);
	map_fini(&p->open);
	map_fini(&p->early);
	launches_fini(&p->launches);
	index_past_fini(&p->past);
	alloc_free(p);
}

static struct rpd_process *find_process(struct rpd *r, const char *trace)
{
	for (size_t i = 0; i < r->nr_processes; i++)
		if (strcmp(r->processes[i]->trace, trace) == 0 && !r->processes[i]->finished)
			return r->processes[i];
	return NULL;
}

/* Adds a process to the list. NULL: out of memory. */
static struct rpd_process *add_process(struct rpd *r, const char *path, const char *trace)
{
	struct rpd_process **all =
		alloc_resize(r->processes, r->nr_processes + 1, sizeof(struct rpd_process *));
	struct rpd_process *p = NULL;

	if (all) {
		r->processes = all;
		p = alloc_zero(1, sizeof(*p));
	}
	if (!p)
		return NULL;
	p->path = alloc_string(path);
	if (!p->path) {
		alloc_free(p);
		return NULL;
	}
	p->r = r;
	snprintf(p->trace, sizeof(p->trace), "%s", trace);
	all[r->nr_processes++] = p;
	return p;
}

int rpd_spool_trace(struct rpd *r, const char *path, char id[33])
{
	struct load_error err;
	struct load *load;
	const struct load_facts *f;
	int ret = load_open(&load, path, &err);

	if (ret < 0)
		return rpd_fail(r, ret, "%s", err.text);
	f = load_facts(load);
	snprintf(id, 33, "%016" PRIx64 "%016" PRIx64, f->trace_id[0], f->trace_id[1]);
	load_close(load);
	return 0;
}

/* The process of the trace, with its next part open. */
static int open_process(struct rpd *r, const char *path, bool whole, struct rpd_process **out)
{
	struct rpd_process *p;
	struct load_error err;
	char id[33];
	int ret = rpd_spool_trace(r, path, id);

	if (ret < 0)
		return ret;
	p = find_process(r, id);
	if (!p)
		p = add_process(r, path, id);
	if (!p)
		return rpd_fail(r, -ENOMEM, "%s: out of memory", path);
	*out = p;
	p->past.most = r->opt->part_bytes;
	ret = index_open_part(&p->index, path, &p->past, whole, &err);
	if (ret < 0)
		return rpd_fail(r, ret, "%s", err.text);
	return p->begun ? 0 : rpd_spool_begin(p, whole);
}

static int add_part(struct rpd *r, const char *path, bool whole, bool last)
{
	struct rpd_process *p;
	int ret = open_process(r, path, whole, &p);

	if (ret == 0)
		ret = rpd_transaction(r);
	if (ret == 0)
		ret = write_part(p, last);
	if (ret == 0 && !last && index_pass(p->index, &p->past) < 0)
		ret = rpd_fail(r, -ENOMEM, "%s: out of memory", path);
	if (ret == 0 && last)
		ret = finish_process(p);
	if (ret == 0)
		end_part(p);
	return ret;
}

int rpd_spool_add(struct rpd *r, const char *path)
{
	return add_part(r, path, true, true);
}

int rpd_spool_part(struct rpd *r, const char *path)
{
	return add_part(r, path, false, false);
}

/* The last part in this database; the process begins in the next one. */
static int split_process(struct rpd_process *p, struct rpd *next)
{
	struct rpd_process *to = add_process(next, p->path, p->trace);
	struct rpd_process *same;
	int ret = to ? open_process(p->r, p->path, false, &same) :
		       rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);

	if (ret == 0)
		ret = write_part(p, true);
	if (ret == 0 && index_pass(p->index, &p->past) < 0)
		ret = rpd_fail(p->r, -ENOMEM, "%s: out of memory", p->path);
	if (ret == 0)
		ret = rpd_split_begin(p, to);
	if (ret == 0)
		ret = finish_process(p);
	if (ret == 0)
		end_part(p);
	return ret;
}

int rpd_spool_split(struct rpd *r, struct rpd *next)
{
	int ret = rpd_transaction(r);

	if (ret == 0)
		ret = rpd_transaction(next);
	for (size_t i = 0; i < r->nr_processes && ret == 0; i++)
		ret = split_process(r->processes[i], next);
	return ret;
}

int rpd_spool_finish_rest(struct rpd *r)
{
	int ret = 0;

	for (size_t i = 0; i < r->nr_processes && ret == 0; i++)
		if (!r->processes[i]->finished)
			ret = add_part(r, r->processes[i]->path, false, true);
	return ret;
}
