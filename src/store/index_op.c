/* SPDX-License-Identifier: MIT */
/* index_op.c - the called functions: names, signatures
 *
 * A function that is called but never defined gets an entry with `known` false, as in index_meta.c.
 */
#include "store/index_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "store/args.h"

static uint32_t op_key(uint32_t domain, uint32_t number)
{
	return domain << 16 | (number & 0xffff);
}

/* Appends the function if it did not exist. NULL: out of memory. */
static struct store_op *find_or_add_op(struct index *index, uint32_t key)
{
	struct store_op *op = index_meta_get(&index->ops, sizeof(*op), key, NULL);

	if (op) {
		op->domain = key >> 16;
		op->number = key & 0xffff;
	}
	return op;
}

int index_op_take(struct index *index, const struct rec_op *rec)
{
	struct store_op *op = find_or_add_op(index, rec->h.id);

	if (!op)
		return -ENOMEM;
	/* ids until index_op_resolve(), as in records_index_gen.h */
	op->name = (const char *)(uintptr_t)rec->name;
	op->signature = (const char *)(uintptr_t)rec->signature;
	op->known = true;
	return 0;
}

int index_op_call(struct index *index, const struct rec_api *api)
{
	return find_or_add_op(index, op_key(api->domain, api->op)) ? 0 : -ENOMEM;
}

const struct store_op *index_op_find(const struct index *index, const struct rec_api *api)
{
	size_t at = index_meta_find(&index->ops, op_key(api->domain, api->op));

	return at == SIZE_MAX ? NULL : &((struct store_op *)index->ops.items)[at];
}

/* The name of a function that no record names: its domain and number. */
static int name_unknown(struct store_op *op)
{
#define DOMAIN_NAME(name, text) [REC_API_##name] = text,
	static const char *const domains[REC_API_NR_DOMAINS] = { REC_API_EACH_DOMAIN(DOMAIN_NAME) };
#undef DOMAIN_NAME
	const char *domain = op->domain < REC_API_NR_DOMAINS && domains[op->domain] ?
				     domains[op->domain] :
				     "api";
	char *name = alloc_heap(32);

	if (!name)
		return -ENOMEM;
	snprintf(name, 32, "%s#%u", domain, op->number);
	op->name = name;
	return 0;
}

int index_op_resolve(struct index *index)
{
	struct store_op *ops = index->ops.items;
	int ret = 0;

	for (size_t i = 0; i < index->ops.nr && ret == 0; i++) {
		struct store_op *op = &ops[i];
		const char *name = index_meta_string(index, (uint32_t)(uintptr_t)op->name);

		op->signature = index_meta_string(index, (uint32_t)(uintptr_t)op->signature);
		op->known = op->known && name[0];
		op->name = op->known ? name : NULL;
		ret = op->known ? args_parse(op) : name_unknown(op);
	}
	return ret;
}

static int compare_op(const void *a, const void *b)
{
	const struct store_op *x = a, *y = b;
	uint32_t i = op_key(x->domain, x->number), j = op_key(y->domain, y->number);

	return i < j ? -1 : i > j;
}

int index_op_sort(struct index *index)
{
	struct index_list *list = &index->ops;
	const struct store_op *ops = list->items;

	if (list->nr)
		qsort(list->items, list->nr, sizeof(*ops), compare_op);
	for (size_t i = 0; i < list->nr; i++) {
		if (map_put(&list->map, op_key(ops[i].domain, ops[i].number), i) < 0)
			return -ENOMEM;
	}
	return 0;
}

void index_op_free(struct index *index)
{
	struct store_op *ops = index->ops.items;

	for (size_t i = 0; i < index->ops.nr; i++) {
		if (!ops[i].known)
			alloc_free((char *)(uintptr_t)ops[i].name);
		alloc_free((void *)(uintptr_t)ops[i].args);
	}
}
