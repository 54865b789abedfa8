/* SPDX-License-Identifier: MIT */
/* index_internal.h - what index.c (passes), index_meta.c and index_op.c (what others refer to) share */
#ifndef RTL_STORE_INDEX_INTERNAL_H
#define RTL_STORE_INDEX_INTERNAL_H

#include "store/ids.h"
#include "store/index.h"
#include "store/links.h"
#include "store/load_internal.h"
#include "store/map.h"

/* An array that grows; `map` leads from an id to its index. */
struct index_list {
	void *items;
	size_t nr, cap;
	struct map map;
};

struct index_piece {
	struct index_piece *next;
	uint32_t offset, size;
	char bytes[];
};

struct index_string {
	uint32_t id, total;
	uint64_t size;		    /* bytes of all pieces */
	struct index_piece *pieces; /* until index_meta_finish() */
	char *text;		    /* after */
};

struct index_shape {
	size_t kernel, queue; /* indices into the lists */
	uint64_t cookie;
};

struct index {
	struct load *load;
	struct index_list strings;	/* index_string */
	struct index_list agents;	/* store_agent */
	struct index_list queues;	/* store_queue */
	struct index_list code_objects; /* store_code_object */
	struct index_list kernels;	/* store_kernel */
	struct index_list threads;	/* store_thread */
	struct index_list infos;	/* store_info */
	struct index_list clocks;	/* store_clock: two of each agent */
	struct index_list ops;		/* store_op */
	struct ids calls;		/* correlation ids of the recorded calls */
	struct links links;
	struct store_totals totals;
	uint32_t last_tid; /* already in threads */
	bool any_tid;

	/* of the chunk being read */
	struct index_shape *shapes;
	uint32_t nr_shapes;
	char *text; /* of a marker, with its NUL */
};

/* Takes a record of pass 1 that states a fact. 0 or -ENOMEM; other records are left alone. */
int index_meta_take(struct index *index, const struct rec_head *rec);
/* Makes entries for a shape's kernel and queue where there are none. */
int index_meta_shape(struct index *index, const struct rec_shape *shape);
int index_meta_thread(struct index *index, uint32_t tid);
/* After pass 1: puts strings together, resolves them, demangles, sorts by id. */
int index_meta_finish(struct index *index);
void index_meta_free(struct index *index);
/* The index of id in the list; SIZE_MAX when it has none. */
size_t index_meta_find(const struct index_list *list, uint64_t id);
const char *index_meta_string(const struct index *index, uint32_t id);
/* For lists that are kept elsewhere: a new zeroed item at the end; the item of id, made if need be, and
 * whether it was. NULL without memory. */
void *index_meta_add(struct index_list *list, size_t item_size);
void *index_meta_get(struct index_list *list, size_t item_size, uint64_t id, bool *fresh);

/* index_op.c; 0 or -ENOMEM. A record of a function, and a call of one. */
int index_op_take(struct index *index, const struct rec_op *rec);
int index_op_call(struct index *index, const struct rec_api *api);
/* The function of a call; NULL when it has none. */
const struct store_op *index_op_find(const struct index *index, const struct rec_api *api);
/* After pass 1, when strings are whole: names and arguments; then the order. */
int index_op_resolve(struct index *index);
int index_op_sort(struct index *index);
void index_op_free(struct index *index);

#endif
