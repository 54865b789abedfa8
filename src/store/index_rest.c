/* SPDX-License-Identifier: MIT */
/* index_rest.c - operations that were in flight when the process died
 *
 * Dispatches come as REC_INFLIGHT, with a kernel object instead of a kernel. An operation that has
 * REC_F_MAYBE may have its record elsewhere in the trace; a pass over the trace finds out, in the
 * few traces that have such operations.
 */
#include "store/index_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

/* What identifies an operation: queue and packet, or what is copied. */
struct identity {
	uint64_t kind, words[4];
};

static uint64_t hash(uint64_t kind, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	struct identity id = { kind, { a, b, c, d } };

	return map_hash(&id, sizeof(id));
}

/* The key of an operation's record, in index->doubtful. false: another record. */
static bool key_of(const struct index *index, const struct rec_head *rec, uint64_t *key)
{
	const struct rec_inflight *i = (const struct rec_inflight *)rec;
	const struct rec_dispatch *d = (const struct rec_dispatch *)rec;
	const struct rec_dispatch_wide *w = (const struct rec_dispatch_wide *)rec;
	const struct rec_barrier *b = (const struct rec_barrier *)rec;
	const struct rec_copy *c = (const struct rec_copy *)rec;

	switch (rec->type) {
	case REC_INFLIGHT:
		*key = hash(REC_INFLIGHT, i->queue, i->packet, 0, 0);
		return true;
	case REC_DISPATCH:
		*key = hash(REC_INFLIGHT, load_shape(index->load)->queue, d->packet, 0, 0);
		return true;
	case REC_DISPATCH_WIDE:
		*key = hash(REC_INFLIGHT, load_shape(index->load)->queue, w->packet, 0, 0);
		return true;
	case REC_BARRIER:
		*key = hash(REC_BARRIER, b->queue, b->packet, 0, 0);
		return true;
	case REC_COPY:
		*key = hash(REC_COPY, c->correlation, c->dst, c->src, c->bytes);
		return true;
	default:
		return false;
	}
}

int index_rest_take(struct index *index, const struct rec_inflight *rec)
{
	struct index_rest *rest = index_meta_add(&index->rest, sizeof(*rest));

	if (!rest || index_meta_queue(index, rec->queue) < 0)
		return -ENOMEM;
	rest->rec = *rec;
	return 0;
}

void index_rest_note(struct index *index, const struct rec_head *rec)
{
	uint64_t key;

	if (index->keys && key_of(index, rec, &key))
		index->keys[index->nr_keys++ % INDEX_RECENT] = key;
}

bool index_rest_is_double(const struct index *index, const struct rec_head *rec)
{
	uint64_t key, found;

	return rec->flags & REC_F_MAYBE && key_of(index, rec, &key) &&
	       map_get(&index->doubtful, key, &found) && found;
}

/* Operation `rec` was counted twice in pass 1. Totals count dispatches in flight later, in
 * resolve(). */
static int uncount(struct index *index, const struct rec_head *rec)
{
	struct store_totals *t = &index->totals;
	uint32_t queue = SPOOL_NO_QUEUE;

	t->copies -= rec->type == REC_COPY;
	t->barriers -= rec->type == REC_BARRIER;
	t->unfinished -= rec->type == REC_COPY || rec->type == REC_BARRIER;
	if (rec->type == REC_BARRIER)
		queue = ((const struct rec_barrier *)rec)->queue;
	else if (rec->type != REC_COPY)
		queue = load_shape(index->load)->queue;
	return flow_recorded(&index->flow, queue, UINT64_MAX); /* minus 1 */
}

int index_rest_doubt(struct index *index, const struct rec_head *rec)
{
	uint64_t key, known;
	bool found;

	if (!(rec->flags & REC_F_MAYBE) || !key_of(index, rec, &key))
		return 0;
	found = map_get(&index->recent, key, &known);
	if (found && rec->type != REC_INFLIGHT) {
		int ret = uncount(index, rec);

		if (ret < 0)
			return ret;
	} else if (found) {
		/* the caller counts it for its queue alone */
		int ret = flow_recorded(&index->flow, ((const struct rec_inflight *)rec)->queue,
					UINT64_MAX);

		if (ret < 0)
			return ret;
	}
	return map_put(&index->doubtful, key, found);
}

/* Finds the records of doubtful operations. */
static int find_doubles(struct index *index)
{
	const struct rec_head *rec;
	uint64_t key, found;
	int ret;

	load_rewind(index->load);
	while ((ret = load_next(index->load, &rec, NULL)) == 1) {
		if (rec->flags & REC_F_MAYBE || !key_of(index, rec, &key) ||
		    !map_get(&index->doubtful, key, &found))
			continue;
		ret = map_put(&index->doubtful, key, true);
		if (ret == 0 && !found)
			ret = uncount(index, rec);
		if (ret < 0)
			return ret;
	}
	return ret;
}

/* The latest kernel of a kernel object: code that runs at the end is still loaded. SIZE_MAX:
 * none. */
static size_t find_kernel(const struct index *index, uint64_t object)
{
	const struct store_kernel *kernels = index->kernels.items;

	for (size_t i = index->kernels.nr; i-- > 0;)
		if (kernels[i].known && kernels[i].object == object)
			return i;
	return SIZE_MAX;
}

/* An object that no kernel of the trace has: the runtime's own shaders are announced with their
 * first record. */
static size_t add_kernel(struct index *index, uint64_t object)
{
	const struct store_kernel *kernels = index->kernels.items;
	size_t nr = index->kernels.nr;
	uint32_t id = nr ? kernels[nr - 1].id + 1 : 1;
	struct store_kernel *kernel = index_meta_get(&index->kernels, sizeof(*kernel), id, NULL);

	if (!kernel)
		return SIZE_MAX;
	*kernel = (struct store_kernel){ .id = id, .object = object, .agent = UINT32_MAX };
	kernel->name = "";
	kernel->known = true;
	kernel->host_functions = "";
	kernel->demangled = alloc_heap(48);
	if (!kernel->demangled)
		return SIZE_MAX;
	snprintf((char *)(uintptr_t)kernel->demangled, 48, "kernel object 0x%" PRIx64, object);
	return nr;
}

static int resolve(struct index *index, struct index_rest *rest)
{
	struct store_totals *t = &index->totals;
	size_t kernel = find_kernel(index, rest->rec.object);

	if (kernel == SIZE_MAX)
		kernel = add_kernel(index, rest->rec.object);
	if (kernel == SIZE_MAX)
		return -ENOMEM;
	rest->kernel = kernel;
	rest->is_double = index_rest_is_double(index, &rest->rec.h);
	if (rest->is_double)
		return 0;
	if (!rest->rec.correlation)
		rest->rec.correlation = ++t->max_correlation;
	t->dispatches++;
	t->unfinished++;
	return index_meta_thread(index, rest->rec.h.id);
}

int index_rest_finish(struct index *index)
{
	struct index_rest *rest = index->rest.items;
	int ret = index->doubtful.nr ? find_doubles(index) : 0;

	for (size_t i = 0; ret == 0 && i < index->rest.nr; i++)
		ret = resolve(index, &rest[i]);
	return ret;
}

bool index_rest_get(struct index *index, size_t i, struct store_dispatch *op)
{
	struct index_rest *rest = &((struct index_rest *)index->rest.items)[i];
	const struct rec_inflight *r = &rest->rec;
	size_t queue = index_meta_find(&index->queues, r->queue);

	if (rest->is_double || queue == SIZE_MAX)
		return false;
	*op = (struct store_dispatch){
		.kernel = &((struct store_kernel *)index->kernels.items)[rest->kernel],
		.queue = &((struct store_queue *)index->queues.items)[queue],
		.packet = r->packet,
		.correlation = r->correlation,
		.marker = r->marker,
		.private_size = r->private_size,
		.group_size = r->group_size,
		.tid = r->h.id,
		.flags = r->h.flags & ~(uint32_t)REC_F_MAYBE,
		.shape_cookie = &rest->cookie
	};
	memcpy(op->grid, r->grid, sizeof(op->grid));
	memcpy(op->group, r->group, sizeof(op->group));
	rest->cookie = 0;
	return true;
}
