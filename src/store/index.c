/* SPDX-License-Identifier: MIT */
/* index.c - two passes over a trace: metadata, then the operations as a stream
 *
 * Owns:     the loader and all metadata.
 * Threads:  one.
 * Not here: how metadata is kept (index_meta.c), how records are found (load.c).
 */
#include "store/index_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define PROGRESS_EVERY 8192u
#define OPEN_TRIES 5 /* while a drainer removes chunks */

/* Times of 0 mean "not known". */
static void widen_span(struct index *index, uint64_t ns)
{
	struct store_totals *t = &index->totals;

	if (!ns || ns <= load_facts(index->load)->window_ns)
		return;
	if (!t->first_ns || ns < t->first_ns)
		t->first_ns = ns;
	if (ns > t->last_ns)
		t->last_ns = ns;
}

static void widen_to(struct index *index, uint64_t begin, uint64_t end)
{
	widen_span(index, begin);
	widen_span(index, end);
}

static void count_ids(struct index *index, uint64_t marker, uint64_t correlation)
{
	if (marker > index->totals.max_marker)
		index->totals.max_marker = marker;
	if (correlation > index->totals.max_correlation)
		index->totals.max_correlation = correlation;
}

static int count_api(struct index *index, const struct rec_api *a)
{
	int ret = index_op_call(index, a);

	if (ret == 0)
		ret = a->correlation ? ids_add(&index->calls, a->correlation) : 0;
	if (ret == 0)
		ret = index_evicted_call(index, a);
	if (ret < 0)
		return ret;
	index->nr_calls += a->correlation > 0;
	index->totals.apis++;
	index->totals.api_args += a->nr_words > 0;
	widen_to(index, a->begin_ns, a->end_ns);
	count_ids(index, 0, a->correlation);
	count_ids(index, 0, a->parent);
	return index_meta_thread(index, a->h.id);
}

static int count_link(struct index *index, const struct rec_link *l)
{
	int ret = links_add(&index->links, l);

	if (ret == 0)
		ret = index_evicted_need(index, l->correlation, l->marker);
	count_ids(index, l->marker, l->operation);
	count_ids(index, 0, l->correlation);
	return ret < 0 ? ret : index_meta_thread(index, l->h.id);
}

/* Replaces call, marker and thread by those of the operation's REC_LINK, if it has one; no range
 * that is left out. */
static void apply_link(const struct index *index, uint64_t *correlation, uint64_t *marker,
		       uint32_t *tid)
{
	struct link link;

	if (links_get(&index->links, *correlation, &link)) {
		*correlation = link.correlation;
		*tid = link.tid;
		if (marker)
			*marker = link.marker;
	}
	if (marker)
		index_evicted_range(index, marker);
}

#include "records_visit_gen.h"

/* Counts an operation against those submitted. */
static int count_flow(struct index *index, const struct rec_head *rec)
{
	uint32_t queue = SPOOL_NO_QUEUE;
	int ret = index_rest_doubt(index, rec);

	if (ret < 0)
		return ret;
	if (rec->type == REC_COPY && rec->flags & REC_F_HOST_TIME)
		return 0; /* a blocking call: it was never in flight */
	if (rec->type == REC_INFLIGHT)
		queue = ((const struct rec_inflight *)rec)->queue;
	else if (rec->type == REC_BARRIER)
		queue = ((const struct rec_barrier *)rec)->queue;
	else if (rec->type != REC_COPY)
		queue = load_shape(index->load)->queue;
	return flow_recorded(&index->flow, queue, 1);
}

/* An operation before the window counts as recorded, and is left out. */
static int count_old_op(struct index *index, const struct rec_head *rec)
{
	index->totals.evicted++;
	return count_flow(index, rec);
}

/* Pass 1 for operations: totals, and the threads and kernels that they refer to. */
static int count_op(struct index *index, const struct rec_head *rec)
{
	struct store_totals *t = &index->totals;
	const struct rec_dispatch *d = (const struct rec_dispatch *)rec;
	const struct rec_dispatch_wide *w = (const struct rec_dispatch_wide *)rec;
	const struct rec_copy *c = (const struct rec_copy *)rec;
	const struct rec_barrier *b = (const struct rec_barrier *)rec;
	const struct rec_marker *m = (const struct rec_marker *)rec;
	const struct rec_end *e = (const struct rec_end *)rec;
	const struct rec_inflight *i = (const struct rec_inflight *)rec;
	int ret = 0;

	switch (rec->type) {
	case REC_API:
		return count_api(index, (const struct rec_api *)rec);
	case REC_LINK:
		return count_link(index, (const struct rec_link *)rec);
	case REC_SHAPE:
		return index_meta_shape(index, (const struct rec_shape *)rec);
	case REC_SUBMITTED:
		return flow_submitted(&index->flow, (const struct rec_submitted *)rec);
	case REC_WRITTEN:
		flow_written(&index->flow, (const struct rec_written *)rec);
		return 0;
	case REC_EVICTED:
	case REC_EVICTED_TYPE:
	case REC_EVICTED_OPS:
		return index_evicted_take(index, rec);
	case REC_INFLIGHT:
		count_ids(index, i->marker, i->correlation);
		ret = index_rest_take(index, i);
		if (ret == 0)
			ret = index_evicted_need(index, i->correlation, i->marker);
		return ret < 0 ? ret : count_flow(index, rec);
	case REC_DISPATCH:
		if (index_evicted_op(index, rec))
			return count_old_op(index, rec);
		ret = index_evicted_need(index, d->correlation, d->marker);
		t->dispatches++;
		widen_to(index, d->begin_ns, d->begin_ns ? d->begin_ns + d->ns : 0);
		count_ids(index, d->marker, d->correlation);
		break;
	case REC_DISPATCH_WIDE:
		if (index_evicted_op(index, rec))
			return count_old_op(index, rec);
		ret = index_evicted_need(index, w->correlation, w->marker);
		t->dispatches++;
		widen_to(index, w->begin_ns, w->end_ns);
		count_ids(index, w->marker, w->correlation);
		break;
	case REC_COPY:
		if (index_evicted_op(index, rec))
			return count_old_op(index, rec);
		ret = index_evicted_need(index, c->correlation, c->marker);
		t->copies++;
		widen_to(index, c->begin_ns, c->end_ns);
		count_ids(index, c->marker, c->correlation);
		break;
	case REC_BARRIER:
		if (index_evicted_op(index, rec))
			return count_old_op(index, rec);
		ret = index_evicted_need(index, b->correlation, 0);
		t->barriers++;
		widen_to(index, b->begin_ns, b->end_ns);
		count_ids(index, 0, b->correlation);
		break;
	case REC_SCRATCH:
		if (index_evicted_op(index, rec)) {
			t->evicted++;
			return 0;
		}
		ret = index_evicted_need(index, ((const struct rec_scratch *)rec)->correlation, 0);
		return ret < 0 ? ret : note_visited(index, rec);
	case REC_MARKER:
		ret = index_evicted_marker(index, rec);
		t->markers++;
		widen_span(index, m->time_ns);
		count_ids(index, m->marker, 0);
		count_ids(index, m->parent, 0);
		break;
	case REC_MARKER_END:
		ret = index_evicted_marker(index, rec);
		widen_span(index, e->time_ns);
		count_ids(index, e->marker, 0);
		break;
	default:
		ret = index_meta_take(index, rec);
		return ret < 0 ? ret : note_visited(index, rec);
	}
	if (ret < 0)
		return ret;
	if (rec->type != REC_MARKER && rec->type != REC_MARKER_END) {
		t->unfinished += (rec->flags & REC_F_UNFINISHED) != 0;
		t->internal_dispatches +=
			(rec->type == REC_DISPATCH || rec->type == REC_DISPATCH_WIDE) &&
			(rec->flags & REC_F_INTERNAL);
		ret = count_flow(index, rec);
		if (ret < 0)
			return ret;
	}
	return index_meta_thread(index, rec->id);
}

/* What later parts need of this one. Clock samples are rows of their own. */
static bool defines(const struct rec_head *rec)
{
	switch (rec->type) {
	case REC_STRING:
	case REC_INFO:
	case REC_THREAD:
	case REC_AGENT:
	case REC_QUEUE:
	case REC_QUEUE_END:
	case REC_CODE_OBJECT:
	case REC_CODE_OBJECT_END:
	case REC_KERNEL:
	case REC_OP:
		return true;
	default:
		return false;
	}
}

static int append(char **bytes, size_t *size, size_t *cap, const void *more, size_t nr)
{
	if (*size + nr > *cap) {
		size_t bigger = (*size + nr) * 2;
		char *grown = alloc_resize(*bytes, bigger, 1);

		if (!grown)
			return -ENOMEM;
		*bytes = grown;
		*cap = bigger;
	}
	if (nr)
		memcpy(*bytes + *size, more, nr);
	*size += nr;
	return 0;
}

/* Keeps the record for the parts that follow. */
static int keep_record(struct index *index, const struct rec_head *rec)
{
	if (!index->keys)
		return 0; /* the trace is read at once */
	if (defines(rec))
		return append(&index->records, &index->size, &index->cap, rec, rec->size8 * 8u);
	if (rec->type == REC_LINK) {
		struct rec_link *links = alloc_grow(index->new_links, index->nr_new_links,
						    &index->cap_new_links, 64, sizeof(*links));

		if (!links)
			return -ENOMEM;
		index->new_links = links;
		memcpy(&links[index->nr_new_links++], rec, sizeof(*links));
	}
	index_rest_note(index, rec);
	return 0;
}

/* Takes what the record defines; it is counted in another part. */
static int define(struct index *index, const struct rec_head *rec)
{
	switch (rec->type) {
	case REC_API:
		return index_op_call(index, (const struct rec_api *)rec);
	case REC_LINK:
		return links_add(&index->links, (const struct rec_link *)rec);
	default:
		return index_meta_take(index, rec);
	}
}

/* Whether this part counts and visits the record that was read last. */
static bool is_counted(const struct index *index)
{
	return index->whole || load_is_before(index->load, index->limit);
}

/* The record that was read last is the first one behind the part. */
static void end_at(struct index *index)
{
	uint64_t safe = load_safe(index->load);

	if (index->has_limit)
		return;
	index->has_limit = true;
	index->bad_chunks = load_facts(index->load)->loss[SPOOL_REASON_bad_chunk].count;
	index->limit = load_is_before(index->load, safe) ? load_offset(index->load) : safe;
}

static int first_pass(struct index *index, struct load_error *err)
{
	const struct chunk_header *chunk;
	const struct rec_head *rec;
	int ret;

	while ((ret = load_next(index->load, &rec, &chunk)) == 1) {
		if (!is_counted(index)) {
			end_at(index);
			ret = define(index, rec);
			if (ret < 0)
				break;
			continue;
		}
		index->totals.records++;
		if (chunk->tid)
			flow_read(&index->flow, rec->type);
		else if (rec->type == REC_MARKER)
			index->totals.evicted--; /* carried: not left out */
		ret = count_op(index, rec);
		if (ret == 0)
			ret = keep_record(index, rec);
		if (ret < 0)
			break;
	}
	if (ret == -EIO || ret == -ESTALE)
		snprintf(err->text, sizeof(err->text), "%s", load_warning(index->load));
	if (!index->has_limit) {
		index->limit = load_safe(index->load);
		index->bad_chunks = load_facts(index->load)->loss[SPOOL_REASON_bad_chunk].count;
	}
	if (ret == 0)
		ret = index_evicted_finish(index);
	if (ret == 0)
		ret = index_meta_finish(index);
	return ret < 0 ? ret : index_rest_finish(index);
}

/* Takes what earlier parts had. */
static int take_past(struct index *index, const struct index_past *past)
{
	int ret = 0;

	index->keys = alloc_zero(INDEX_RECENT, sizeof(*index->keys));
	if (!index->keys)
		return -ENOMEM;
	for (size_t at = 0; at < past->size && ret == 0;) {
		const struct rec_head *rec =
			(const struct rec_head *)(const void *)(past->records + at);

		ret = index_meta_take(index, rec);
		at += rec->size8 * 8u;
	}
	for (size_t i = 0; i < past->nr_links && ret == 0; i++)
		ret = links_add(&index->links, &past->links[i]);
	for (size_t i = 0; i < past->nr_recent && ret == 0; i++)
		ret = map_put(&index->recent, past->recent[i], 1);
	if (ret == 0)
		ret = flow_add(&index->flow, &past->flow);
	index->totals = past->totals;
	if (past->offset)
		load_begin_at(index->load, past->offset, past->bad_chunks);
	return ret;
}

static int open_index(struct index *index, const char *path, const struct index_past *past,
		      struct load_error *err)
{
	int ret = load_open(&index->load, path, err);

	if (ret < 0)
		return ret;
	index->shapes = alloc_zero(load_max_shapes(index->load), sizeof(*index->shapes));
	index->text = alloc_heap(REC_MAX_SIZE + 1);
	index->limit = load_safe(index->load);
	if (past && index->limit > past->offset + (past->most ? past->most : INDEX_PART))
		index->limit = past->offset + (past->most ? past->most : INDEX_PART);
	if (!index->shapes || !index->text)
		return -ENOMEM;
	ret = past ? take_past(index, past) : 0;
	if (ret == 0 && index->whole)
		ret = load_add_rest(index->load);
	return ret < 0 ? ret : first_pass(index, err);
}

int index_open_part(struct index **out, const char *path, const struct index_past *past, bool whole,
		    struct load_error *err)
{
	struct index *index = alloc_zero(1, sizeof(*index));
	int ret = -ENOMEM;

	*out = NULL;
	err->text[0] = '\0';
	if (index) {
		index->whole = whole;
		ret = open_index(index, path, past, err);
	}
	if (ret < 0) {
		if (!err->text[0])
			snprintf(err->text, sizeof(err->text), "%s: %s", path, strerror(-ret));
		index_close(index);
		return ret;
	}
	*out = index;
	return 0;
}

int index_open(struct index **out, const char *path, struct load_error *err)
{
	int ret = index_open_part(out, path, NULL, true, err);

	for (int i = 1; i < OPEN_TRIES && ret == -ESTALE; i++)
		ret = index_open_part(out, path, NULL, true, err);
	return ret;
}

void index_close(struct index *index)
{
	if (!index)
		return;
	index_meta_free(index);
	index_evicted_free(index);
	flow_fini(&index->flow);
	map_fini(&index->doubtful);
	map_fini(&index->recent);
	alloc_free(index->records);
	alloc_free(index->new_links);
	alloc_free(index->keys);
	alloc_free(index->rest.items);
	load_close(index->load);
	alloc_free(index->shapes);
	alloc_free(index->text);
	alloc_free(index);
}

/* The last of the links: one that waits longer belongs to an operation that was never recorded. */
#define MAX_LINKS 65536u

static int pass_links(struct index *index, struct index_past *past)
{
	size_t nr = past->nr_links + index->nr_new_links;
	struct rec_link *links = alloc_zero(nr ? nr : 1, sizeof(*links));
	size_t skip = nr > MAX_LINKS ? nr - MAX_LINKS : 0;

	if (!links)
		return -ENOMEM;
	for (size_t i = skip; i < nr; i++)
		links[i - skip] = i < past->nr_links ? past->links[i] :
						       index->new_links[i - past->nr_links];
	alloc_free(past->links);
	past->links = links;
	past->nr_links = nr - skip;
	return 0;
}

static int pass_keys(struct index *index, struct index_past *past)
{
	size_t nr = index->nr_keys < INDEX_RECENT ? index->nr_keys : INDEX_RECENT;
	size_t keep = past->nr_recent < INDEX_RECENT - nr ? past->nr_recent : INDEX_RECENT - nr;
	uint64_t *keys = alloc_zero(INDEX_RECENT, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < keep; i++)
		keys[i] = past->recent[past->nr_recent - keep + i];
	for (size_t i = 0; i < nr; i++)
		keys[keep + i] = index->keys[(index->nr_keys - nr + i) % INDEX_RECENT];
	alloc_free(past->recent);
	past->recent = keys;
	past->nr_recent = keep + nr;
	return 0;
}

/* A thread whose record was lost, or comes later, is known by what it did in this part. */
static int pass_threads(const struct index *index, struct index_past *past)
{
	size_t nr;
	const struct store_thread *threads = index_threads(index, &nr);
	int ret = 0;

	for (size_t i = 0; i < nr && ret == 0; i++) {
		struct rec_thread rec = {
			.h = { .type = REC_THREAD, .size8 = sizeof(rec) / 8, .id = threads[i].tid }
		};

		if (!threads[i].has_record)
			ret = append(&past->records, &past->size, &past->cap, &rec, sizeof(rec));
	}
	return ret;
}

int index_pass(struct index *index, struct index_past *past)
{
	struct flow flow = { 0 };
	int ret = append(&past->records, &past->size, &past->cap, index->records, index->size);

	if (ret == 0)
		ret = pass_threads(index, past);
	if (ret == 0)
		ret = pass_links(index, past);
	if (ret == 0)
		ret = pass_keys(index, past);
	if (ret == 0)
		ret = flow_add(&flow, &index->flow);
	if (ret < 0) {
		flow_fini(&flow);
		return ret;
	}
	flow_fini(&past->flow);
	past->flow = flow;
	past->totals = index->totals;
	past->bad_chunks = index->bad_chunks;
	if (index->limit > past->offset)
		past->offset = index->limit;
	return 0;
}

void index_past_fini(struct index_past *past)
{
	flow_fini(&past->flow);
	alloc_free(past->records);
	alloc_free(past->links);
	alloc_free(past->recent);
	memset(past, 0, sizeof(*past));
}

static uint32_t gpu_of(const struct index *index, uint32_t agent)
{
	size_t at = index_meta_find(&index->agents, agent);

	return at == SIZE_MAX ? UINT32_MAX :
				((struct store_agent *)index->agents.items)[at].gpu_index;
}

static void note_shape(struct index *index, const struct rec_shape *rec)
{
	/* load.c checked that ids go up from 0 in each chunk, within load_max_shapes() */
	struct index_shape *shape = &index->shapes[rec->h.id];

	shape->kernel = index_meta_find(&index->kernels, rec->kernel);
	shape->queue = index_meta_find(&index->queues, rec->queue);
	shape->cookie = 0;
}

/* Fills in the fields that both forms of a dispatch take from their shape. False only if the file
 * was changed after the first pass. */
static bool fill_shape(struct index *index, struct store_dispatch *op, uint32_t id)
{
	const struct rec_shape *rec = load_shape(index->load);
	struct index_shape *shape = &index->shapes[id];

	if (shape->kernel == SIZE_MAX || shape->queue == SIZE_MAX)
		return false;
	op->kernel = &((struct store_kernel *)index->kernels.items)[shape->kernel];
	op->queue = &((struct store_queue *)index->queues.items)[shape->queue];
	op->shape_cookie = &shape->cookie;
	memcpy(op->grid, rec->grid, sizeof(op->grid));
	memcpy(op->group, rec->group, sizeof(op->group));
	op->private_size = rec->private_size;
	op->group_size = rec->group_size;
	if (op->queue->flags & REC_QUEUE_INTERNAL)
		op->flags |= REC_F_INTERNAL;
	return true;
}

static int visit_dispatch(struct index *index, const struct store_visitor *v, void *arg,
			  const struct rec_head *rec)
{
	const struct rec_dispatch *d = (const struct rec_dispatch *)rec;
	const struct rec_dispatch_wide *w = (const struct rec_dispatch_wide *)rec;
	struct store_dispatch op;
	uint32_t shape;

	op.tid = rec->id;
	op.flags = rec->flags;
	if (rec->type == REC_DISPATCH) {
		bool no_end = rec->flags & (REC_F_NO_TIME | REC_F_UNFINISHED);

		op.begin_ticks = d->begin_ticks;
		op.end_ticks = no_end ? 0 : d->begin_ticks + d->ticks;
		op.begin_ns = d->begin_ns;
		op.end_ns = no_end ? 0 : d->begin_ns + d->ns;
		op.packet = d->packet;
		op.correlation = d->correlation;
		op.marker = d->marker;
		shape = d->shape;
	} else {
		op.begin_ticks = w->begin_ticks;
		op.end_ticks = w->end_ticks;
		op.begin_ns = w->begin_ns;
		op.end_ns = w->end_ns;
		op.packet = w->packet;
		op.correlation = w->correlation;
		op.marker = w->marker;
		shape = w->shape;
	}
	apply_link(index, &op.correlation, &op.marker, &op.tid);
	return fill_shape(index, &op, shape) ? v->dispatch(arg, &op) : 0;
}

static int visit_copy(struct index *index, const struct store_visitor *v, void *arg,
		      const struct rec_copy *c)
{
	struct store_copy op;

	index_get_copy(&op, c);
	op.dst_gpu = gpu_of(index, c->dst_agent);
	op.src_gpu = gpu_of(index, c->src_agent);
	op.flags &= ~(uint32_t)REC_F_MAYBE;
	apply_link(index, &op.correlation, &op.marker, &op.tid);
	return v->copy(arg, &op);
}

static int visit_barrier(struct index *index, const struct store_visitor *v, void *arg,
			 const struct rec_barrier *b)
{
	static const struct store_queue unknown = { .agent = UINT32_MAX, .gpu_index = UINT32_MAX };
	size_t at = index_meta_find(&index->queues, b->queue);
	struct store_queue queue = unknown;
	struct store_barrier op;

	index_get_barrier(&op, b);
	op.flags &= ~(uint32_t)REC_F_MAYBE;
	op.queue = &queue;
	queue.id = b->queue;
	if (at != SIZE_MAX)
		op.queue = &((struct store_queue *)index->queues.items)[at];
	apply_link(index, &op.correlation, NULL, &op.tid);
	return v->barrier(arg, &op);
}

static int visit_marker(struct index *index, const struct store_visitor *v, void *arg,
			const struct rec_marker *m)
{
	struct store_marker marker = {
		.time_ns = m->time_ns,
		.marker = m->marker,
		.parent = m->parent,
		.kind = m->kind,
		.level = m->level,
		.tid = m->h.id,
	};

	index_evicted_range(index, &marker.parent);
	if (m->h.flags & REC_F_TEXT) {
		memcpy(index->text, m->text, m->text_size);
		index->text[m->text_size] = '\0';
		marker.text = index->text;
	} else {
		marker.text = index_meta_string(index, m->text_size);
	}
	marker.size = (uint32_t)strlen(marker.text);
	return v->marker_begin(arg, &marker);
}

static int visit_api(struct index *index, const struct store_visitor *v, void *arg,
		     const struct rec_api *a)
{
	const struct store_op *op = index_op_find(index, a);
	struct store_api api = {
		.op = op,
		.begin_ns = a->begin_ns,
		.end_ns = a->end_ns,
		.correlation = a->correlation,
		.parent = a->parent,
		.tid = a->h.id,
		.domain = a->domain,
		.status = a->status,
		.flags = a->h.flags,
		.nr_words = a->nr_words,
		.words = a->words,
	};

	if (!op)
		return 0; /* the file was changed after the first pass */
	/* a call with fewer words than its signature: show no arguments */
	if (op->known && api.nr_words < op->nr_words)
		api.nr_words = 0;
	return v->api(arg, &api);
}

static int visit_counters(const struct index *index, const struct store_visitor *v, void *arg,
			  const struct rec_counters *c)
{
	struct store_counters counters = {
		.queue = c->h.id,
		.packet = c->packet,
		.events = index_string(index, c->events),
		.shader_engines = c->shape & 0xffff,
		.xccs = c->shape >> 16,
		.first = c->first,
		.nr = c->nr,
		.values = c->values,
	};

	return v->counters(arg, &counters);
}

/* Operations, calls, markers, and what happened to scratch memory. */
static bool is_windowed(uint8_t type)
{
	return (type >= REC_DISPATCH && type <= REC_API && type != REC_OP) || type == REC_SCRATCH;
}

static int visit_record(struct index *index, const struct store_visitor *v, void *arg,
			const struct rec_head *rec)
{
	const struct rec_end *end = (const struct rec_end *)rec;

	if (is_windowed(rec->type) && index_evicted_is_left(index, rec))
		return 0;
	switch (rec->type) {
	case REC_SHAPE:
		note_shape(index, (const struct rec_shape *)rec);
		return 0;
	case REC_DISPATCH:
	case REC_DISPATCH_WIDE:
		return v->dispatch ? visit_dispatch(index, v, arg, rec) : 0;
	case REC_COPY:
		if (index_rest_is_double(index, rec))
			return 0;
		return v->copy ? visit_copy(index, v, arg, (const struct rec_copy *)rec) : 0;
	case REC_API:
		return v->api ? visit_api(index, v, arg, (const struct rec_api *)rec) : 0;
	case REC_BARRIER:
		if (index_rest_is_double(index, rec))
			return 0;
		return v->barrier ? visit_barrier(index, v, arg, (const struct rec_barrier *)rec) :
				    0;
	case REC_MARKER:
		return v->marker_begin ?
			       visit_marker(index, v, arg, (const struct rec_marker *)rec) :
			       0;
	case REC_MARKER_END:
		return v->marker_end ? v->marker_end(arg,
						     &(struct store_marker_end){
							     .time_ns = end->time_ns,
							     .marker = end->marker,
							     .tid = rec->id,
						     }) :
				       0;
	case REC_COUNTERS:
		return v->counters ?
			       visit_counters(index, v, arg, (const struct rec_counters *)rec) :
			       0;
	default:
		return visit_visited(index, v, arg, rec);
	}
}

/* Dispatches that were in flight at the end. */
static int visit_rest(struct index *index, const struct store_visitor *v, void *arg)
{
	struct store_dispatch op;
	int ret = 0;

	for (size_t i = 0; v->dispatch && ret == 0 && i < index->rest.nr; i++) {
		if (!index_rest_get(index, i, &op))
			continue;
		apply_link(index, &op.correlation, &op.marker, &op.tid);
		ret = v->dispatch(arg, &op);
	}
	return ret;
}

static int visit(struct index *index, const struct store_visitor *visitor, void *arg, bool ahead,
		 struct load_error *err)
{
	uint64_t total = load_size(index->load);
	const struct rec_head *rec;
	uint32_t until = PROGRESS_EVERY;
	int ret;

	err->text[0] = '\0';
	load_rewind(index->load);
	while ((ret = load_next(index->load, &rec, NULL)) == 1) {
		if (!ahead && !is_counted(index)) {
			ret = 0; /* chunks on disk come first, in the order of their offsets */
			break;
		}
		ret = visit_record(index, visitor, arg, rec);
		if (ret < 0)
			return ret;
		if (--until == 0) {
			until = PROGRESS_EVERY;
			ret = visitor->progress ?
				      visitor->progress(arg, load_pos(index->load), total) :
				      0;
			if (ret < 0)
				return ret;
		}
	}
	if (ret == -EIO || ret == -ESTALE)
		snprintf(err->text, sizeof(err->text), "%s", load_warning(index->load));
	return ret < 0 ? ret : visit_rest(index, visitor, arg);
}

int index_visit(struct index *index, const struct store_visitor *visitor, void *arg,
		struct load_error *err)
{
	return visit(index, visitor, arg, false, err);
}

int index_visit_ahead(struct index *index, const struct store_visitor *visitor, void *arg,
		      struct load_error *err)
{
	return visit(index, visitor, arg, true, err);
}

#define LIST(function, type, list)                                                                 \
	const struct type *function(const struct index *index, size_t *nr)                         \
	{                                                                                          \
		*nr = index->list.nr;                                                              \
		return index->list.items;                                                          \
	}
LIST(index_agents, store_agent, agents)
LIST(index_queues, store_queue, queues)
LIST(index_code_objects, store_code_object, code_objects)
LIST(index_kernels, store_kernel, kernels)
LIST(index_threads, store_thread, threads)
LIST(index_infos, store_info, infos)
LIST(index_clocks, store_clock, clocks)
LIST(index_ops, store_op, ops)

const char *index_string(const struct index *index, uint64_t id)
{
	return id <= UINT32_MAX ? index_meta_string(index, (uint32_t)id) : "";
}

bool index_called(const struct index *index, uint64_t correlation)
{
	return ids_has(&index->calls, correlation) && index_evicted_called(index, correlation);
}

bool index_has_doubles(const struct index *index)
{
	return index->calls.nr != index->nr_calls;
}

bool index_link(const struct index *index, uint64_t operation, uint64_t *correlation,
		uint64_t *marker, uint32_t *tid)
{
	struct link link;

	if (!links_get(&index->links, operation, &link))
		return false;
	*correlation = link.correlation;
	*marker = link.marker;
	*tid = link.tid;
	return true;
}

bool index_has_links(const struct index *index)
{
	return index->flow.read[REC_LINK] > 0;
}

const struct store_totals *index_totals(const struct index *index)
{
	return &index->totals;
}

const char *index_info(const struct index *index, const char *key)
{
	const struct store_info *infos = index->infos.items;

	for (size_t i = 0; i < index->infos.nr; i++) {
		if (strcmp(infos[i].key, key) == 0)
			return infos[i].value;
	}
	return "";
}

const struct flow *index_flow(const struct index *index)
{
	return &index->flow;
}

struct load *index_load(struct index *index)
{
	return index->load;
}
