/* SPDX-License-Identifier: MIT */
/* index_meta.c - metadata: strings, agents, queues, kernels, threads, clocks
 *
 * Records come in any order: an end before its begin, a use before its definition, the pieces of a
 * string from last to first. An id that is used but never defined gets an entry with
 * `known` false, so that every reference can be resolved.
 */
#include "store/index_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "records_index_gen.h"
#include "base/demangle.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

void *index_meta_add(struct index_list *list, size_t item_size)
{
	void *items = alloc_grow(list->items, list->nr, &list->cap, 16, item_size);
	char *item;

	if (!items)
		return NULL;
	list->items = items;
	item = (char *)list->items + list->nr++ * item_size;
	memset(item, 0, item_size);
	return item;
}

size_t index_meta_find(const struct index_list *list, uint64_t id)
{
	uint64_t at;

	return map_get(&list->map, id, &at) ? (size_t)at : SIZE_MAX;
}

void *index_meta_get(struct index_list *list, size_t item_size, uint64_t id, bool *fresh)
{
	size_t at = index_meta_find(list, id);
	void *item;

	if (fresh)
		*fresh = at == SIZE_MAX;
	if (at != SIZE_MAX)
		return (char *)list->items + at * item_size;
	if (map_put(&list->map, id, list->nr) < 0)
		return NULL;
	item = index_meta_add(list, item_size);
	if (!item)
		map_del(&list->map, id);
	return item;
}

static int take_string(struct index *index, const struct rec_string *rec)
{
	uint32_t size = MIN(rec->total - rec->offset, REC_STRING_PIECE);
	struct index_string *string;
	struct index_piece *piece;

	string = index_meta_get(&index->strings, sizeof(*string), rec->h.id, NULL);
	if (!string)
		return -ENOMEM;
	piece = alloc_heap(sizeof(*piece) + size);
	if (!piece)
		return -ENOMEM;
	piece->offset = rec->offset;
	piece->size = size;
	piece->next = string->pieces;
	memcpy(piece->bytes, rec->bytes, size);
	string->id = rec->h.id;
	string->total = rec->total;
	string->size += size;
	string->pieces = piece;
	return 0;
}

static int take_info(struct index *index, const struct rec_info *rec)
{
	struct store_info *info = index_meta_add(&index->infos, sizeof(*info));

	if (info)
		index_get_info(info, rec);
	return info ? 0 : -ENOMEM;
}

static int take_clock(struct index *index, const struct rec_clock *rec)
{
	struct store_clock clock, *pair[2];

	index_get_clock(&clock, rec);
	index->totals.clocks++;
	/* the first sample of an agent has key agent * 2, its last one agent * 2 + 1 */
	for (unsigned int i = 0; i < 2; i++) {
		bool fresh;

		pair[i] = index_meta_get(&index->clocks, sizeof(clock), rec->h.id * UINT64_C(2) + i,
					 &fresh);
		if (!pair[i])
			return -ENOMEM;
		if (fresh || (i == 0 ? clock.system_ns < pair[i]->system_ns :
				       clock.system_ns > pair[i]->system_ns))
			*pair[i] = clock;
	}
	return 0;
}

static int take_thread(struct index *index, const struct rec_thread *rec)
{
	struct store_thread *thread =
		index_meta_get(&index->threads, sizeof(*thread), rec->h.id, NULL);

	if (!thread)
		return -ENOMEM;
	thread->tid = rec->h.id;
	thread->first_ns = rec->first_ns;
	memcpy(thread->name, rec->name, sizeof(rec->name));
	thread->has_record = true;
	return 0;
}

int index_meta_thread(struct index *index, uint32_t tid)
{
	struct store_thread *thread;

	if (index->any_tid && tid == index->last_tid)
		return 0;
	thread = index_meta_get(&index->threads, sizeof(*thread), tid, NULL);
	if (!thread)
		return -ENOMEM;
	thread->tid = tid;
	index->last_tid = tid;
	index->any_tid = true;
	return 0;
}

static int take_agent(struct index *index, const struct rec_agent *rec)
{
	struct store_agent *agent = index_meta_get(&index->agents, sizeof(*agent), rec->h.id, NULL);

	if (agent)
		index_get_agent(agent, rec);
	return agent ? 0 : -ENOMEM;
}

static struct store_queue *queue_of(struct index *index, uint32_t id)
{
	struct store_queue *queue;
	bool fresh;

	queue = index_meta_get(&index->queues, sizeof(*queue), id, &fresh);
	if (queue && fresh) {
		queue->id = id;
		queue->agent = UINT32_MAX;
		queue->gpu_index = UINT32_MAX;
	}
	return queue;
}

static int take_queue(struct index *index, const struct rec_queue *rec)
{
	struct store_queue *queue = queue_of(index, rec->h.id);

	if (!queue)
		return -ENOMEM;
	index_get_queue(queue, rec);
	queue->known = true;
	return 0;
}

static struct store_code_object *code_object_of(struct index *index, uint32_t id)
{
	struct store_code_object *object;
	bool fresh;

	object = index_meta_get(&index->code_objects, sizeof(*object), id, &fresh);
	if (object && fresh) {
		object->id = id;
		object->agent = UINT32_MAX;
	}
	return object;
}

static int take_code_object(struct index *index, const struct rec_code_object *rec)
{
	struct store_code_object *object = code_object_of(index, rec->h.id);

	if (object)
		index_get_code_object(object, rec);
	return object ? 0 : -ENOMEM;
}

static struct store_kernel *kernel_of(struct index *index, uint32_t id)
{
	struct store_kernel *kernel;
	bool fresh;

	kernel = index_meta_get(&index->kernels, sizeof(*kernel), id, &fresh);
	if (kernel && fresh) {
		kernel->id = id;
		kernel->agent = UINT32_MAX;
	}
	return kernel;
}

static int take_kernel(struct index *index, const struct rec_kernel *rec)
{
	struct store_kernel *kernel = kernel_of(index, rec->h.id);

	if (!kernel)
		return -ENOMEM;
	index_get_kernel(kernel, rec);
	kernel->known = true;
	return 0;
}

int index_meta_shape(struct index *index, const struct rec_shape *shape)
{
	return kernel_of(index, shape->kernel) && queue_of(index, shape->queue) ? 0 : -ENOMEM;
}

int index_meta_queue(struct index *index, uint32_t queue)
{
	return queue_of(index, queue) ? 0 : -ENOMEM;
}

int index_meta_take(struct index *index, const struct rec_head *rec)
{
	const struct rec_end *end = (const struct rec_end *)rec;
	struct store_code_object *object;
	struct store_queue *queue;

	switch (rec->type) {
	case REC_STRING:
		return take_string(index, (const struct rec_string *)rec);
	case REC_INFO:
		return take_info(index, (const struct rec_info *)rec);
	case REC_CLOCK:
		return take_clock(index, (const struct rec_clock *)rec);
	case REC_THREAD:
		return take_thread(index, (const struct rec_thread *)rec);
	case REC_AGENT:
		return take_agent(index, (const struct rec_agent *)rec);
	case REC_QUEUE:
		return take_queue(index, (const struct rec_queue *)rec);
	case REC_QUEUE_END:
		queue = queue_of(index, rec->id);
		if (queue)
			queue->end_ns = end->time_ns;
		return queue ? 0 : -ENOMEM;
	case REC_CODE_OBJECT:
		return take_code_object(index, (const struct rec_code_object *)rec);
	case REC_CODE_OBJECT_END:
		object = code_object_of(index, rec->id);
		if (object)
			object->end_ns = end->time_ns;
		return object ? 0 : -ENOMEM;
	case REC_KERNEL:
		return take_kernel(index, (const struct rec_kernel *)rec);
	case REC_OP:
		return index_op_take(index, (const struct rec_op *)rec);
	default:
		return 0;
	}
}

/* Joins the pieces at their offsets, with '?' for bytes of missing ones. Allocates at most the
 * bytes of the pieces plus one piece: the record's total may be damaged. */
static int join_pieces(struct index_string *string)
{
	uint64_t size = MIN((uint64_t)string->total, string->size + REC_STRING_PIECE);
	struct index_piece *piece = string->pieces;

	string->text = alloc_heap(size + 1);
	if (!string->text)
		return -ENOMEM;
	memset(string->text, '?', size);
	string->text[size] = '\0';
	for (; piece; piece = piece->next) {
		if (piece->offset < size)
			memcpy(string->text + piece->offset, piece->bytes,
			       MIN(piece->size, size - piece->offset));
	}
	/* all users end text at its first NUL, so an embedded one is replaced */
	for (uint64_t i = 0; i < size; i++) {
		if (!string->text[i])
			string->text[i] = '?';
	}
	return 0;
}

static void free_pieces(struct index_string *string)
{
	while (string->pieces) {
		struct index_piece *next = string->pieces->next;

		alloc_free(string->pieces);
		string->pieces = next;
	}
}

const char *index_meta_string(const struct index *index, uint32_t id)
{
	size_t at = index_meta_find(&index->strings, id);
	const char *text = NULL;

	if (at != SIZE_MAX)
		text = ((struct index_string *)index->strings.items)[at].text;
	return text ? text : "";
}

static int name_kernel(const struct index *index, struct store_kernel *kernel)
{
	char *nice;

	index_resolve_kernel(index, kernel);
	if (kernel->name[0]) {
		nice = demangle_dup(kernel->name);
	} else {
		nice = alloc_heap(32);
		if (nice)
			snprintf(nice, 32, "kernel#%u", kernel->id);
	}
	kernel->demangled = nice;
	return nice ? 0 : -ENOMEM;
}

static int resolve_strings(struct index *index)
{
	struct index_string *strings = index->strings.items;
	struct store_agent *agents = index->agents.items;
	struct store_queue *queues = index->queues.items;
	struct store_code_object *objects = index->code_objects.items;
	struct store_kernel *kernels = index->kernels.items;
	struct store_info *infos = index->infos.items;

	for (size_t i = 0; i < index->strings.nr; i++) {
		if (join_pieces(&strings[i]) < 0)
			return -ENOMEM;
		free_pieces(&strings[i]);
	}
	for (size_t i = 0; i < index->agents.nr; i++)
		index_resolve_agent(index, &agents[i]);
	for (size_t i = 0; i < index->queues.nr; i++) {
		size_t at = index_meta_find(&index->agents, queues[i].agent);

		if (at != SIZE_MAX)
			queues[i].gpu_index = agents[at].gpu_index;
	}
	for (size_t i = 0; i < index->code_objects.nr; i++)
		index_resolve_code_object(index, &objects[i]);
	for (size_t i = 0; i < index->kernels.nr; i++) {
		if (name_kernel(index, &kernels[i]) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < index->infos.nr; i++)
		index_resolve_info(index, &infos[i]);
	return index_op_resolve(index);
}

/* Every item of these lists begins with its 32-bit id. */
static int compare_id(const void *a, const void *b)
{
	uint32_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static int sort_list(struct index_list *list, size_t item_size)
{
	if (list->nr)
		qsort(list->items, list->nr, item_size, compare_id);
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t id;

		memcpy(&id, (char *)list->items + i * item_size, sizeof(id));
		if (map_put(&list->map, id, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* As demangled: without ".kd". */
static size_t name_size(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && strcmp(name + n - 3, ".kd") == 0 ? n - 3 : n;
}

static bool same_name(const struct store_kernel *a, const struct store_kernel *b)
{
	size_t n = name_size(a->name);

	return n == name_size(b->name) && memcmp(a->name, b->name, n) == 0;
}

/* Demangling loses what is no part of the source's text: static or not, which of a function's local
 * types. Everything that counts kernels does so by their readable names. So of those of different
 * mangled names that read alike the first keeps its name, and the others get the mangled one behind
 * it. After sorting: the first is the same in each part of a trace. */
static int tell_apart(struct index *index)
{
	struct store_kernel *kernels = index->kernels.items;
	struct map names = { 0 };
	int ret = 0;

	for (size_t i = 0; i < index->kernels.nr && ret == 0; i++) {
		struct store_kernel *k = &kernels[i];
		uint64_t hash = map_hash(k->demangled, strlen(k->demangled)), first;
		size_t size = strlen(k->demangled) + strlen(k->name) + 4;
		char *both;

		if (!map_get(&names, hash, &first)) {
			ret = map_put(&names, hash, i);
			continue;
		}
		if (same_name(&kernels[first], k) ||
		    strcmp(kernels[first].demangled, k->demangled) != 0)
			continue;
		both = alloc_heap(size);
		if (!both) {
			ret = -ENOMEM;
			break;
		}
		snprintf(both, size, "%s [%.*s]", k->demangled, (int)name_size(k->name), k->name);
		alloc_free((char *)(uintptr_t)k->demangled);
		k->demangled = both;
	}
	map_fini(&names);
	return ret;
}

static int compare_clock(const void *a, const void *b)
{
	const struct store_clock *x = a, *y = b;

	if (x->system_ns != y->system_ns)
		return x->system_ns < y->system_ns ? -1 : 1;
	return x->agent < y->agent ? -1 : x->agent > y->agent;
}

int index_meta_finish(struct index *index)
{
	int ret = resolve_strings(index);

	if (ret < 0)
		return ret;
	if (sort_list(&index->agents, sizeof(struct store_agent)) < 0 ||
	    sort_list(&index->queues, sizeof(struct store_queue)) < 0 ||
	    sort_list(&index->code_objects, sizeof(struct store_code_object)) < 0 ||
	    sort_list(&index->kernels, sizeof(struct store_kernel)) < 0 ||
	    sort_list(&index->threads, sizeof(struct store_thread)) < 0 ||
	    index_op_sort(index) < 0 || tell_apart(index) < 0)
		return -ENOMEM;
	if (index->clocks.nr)
		qsort(index->clocks.items, index->clocks.nr, sizeof(struct store_clock),
		      compare_clock);
	return 0;
}

static void list_free(struct index_list *list)
{
	map_fini(&list->map);
	alloc_free(list->items);
}

void index_meta_free(struct index *index)
{
	struct index_string *strings = index->strings.items;
	struct store_kernel *kernels = index->kernels.items;

	for (size_t i = 0; i < index->strings.nr; i++) {
		free_pieces(&strings[i]);
		alloc_free(strings[i].text);
	}
	for (size_t i = 0; i < index->kernels.nr; i++)
		alloc_free((char *)(uintptr_t)kernels[i].demangled);
	index_op_free(index);
	list_free(&index->strings);
	list_free(&index->agents);
	list_free(&index->queues);
	list_free(&index->code_objects);
	list_free(&index->kernels);
	list_free(&index->threads);
	list_free(&index->infos);
	list_free(&index->clocks);
	list_free(&index->ops);
	ids_fini(&index->calls);
	links_fini(&index->links);
}
