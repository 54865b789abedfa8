/* SPDX-License-Identifier: MIT */
/* index_internal.h - shared by index.c (passes), index_meta.c (metadata) and index_op.c
 * (functions) */
#ifndef RTL_STORE_INDEX_INTERNAL_H
#define RTL_STORE_INDEX_INTERNAL_H

#include "store/flow.h"
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
	struct index_piece *pieces; /* before index_meta_finish() */
	char *text;		    /* after it */
};

struct index_shape {
	size_t kernel, queue; /* indices into the lists */
	uint64_t cookie;
};

/* A dispatch that was in flight at the end. */
struct index_rest {
	struct rec_inflight rec;
	size_t kernel; /* index into the list */
	uint64_t cookie;
	bool is_double; /* the trace has its record, too */
};

/* A call or marker before the window. */
struct index_old {
	uint64_t id;
	uint8_t type;
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
	struct ids calls;		/* correlation ids above 0 of the recorded calls */
	uint64_t nr_calls;		/* that have one, of this part */
	struct links links;
	struct flow flow;
	struct index_list rest; /* index_rest */
	struct map doubtful;	/* operations that may have a record, and whether they have */
	/* index_evicted.c: ids of calls and ranges that kept operations refer to; of ranges and
	 * kept marks; of what is left out */
	struct ids needed_calls, needed_markers, markers, left_calls, left_markers;
	struct index_list old; /* index_old */
	struct store_totals totals;
	bool whole;	     /* to the end of the trace */
	uint64_t limit;	     /* unless whole: chunks on disk in front of it are visited */
	bool has_limit;	     /* it is the begin of a chunk */
	uint64_t bad_chunks; /* in front of it */
	struct map recent;
	/* of this part: for the next ones */
	char *records;
	size_t size, cap;
	struct rec_link *new_links;
	size_t nr_new_links, cap_new_links;
	uint64_t *keys; /* ring of INDEX_RECENT */
	size_t nr_keys;
	uint32_t last_tid; /* already in threads */
	bool any_tid;

	/* of the chunk being read */
	struct index_shape *shapes;
	uint32_t nr_shapes;
	char *text; /* of a marker, with its NUL */
};

/* Takes a metadata record in pass 1; ignores other records. 0 or -ENOMEM. */
int index_meta_take(struct index *index, const struct rec_head *rec);
/* Makes entries for a shape's kernel and queue unless they exist. */
int index_meta_shape(struct index *index, const struct rec_shape *shape);
int index_meta_queue(struct index *index, uint32_t queue);
int index_meta_thread(struct index *index, uint32_t tid);
/* After pass 1: joins the pieces of strings, resolves string ids, demangles, sorts by id. */
int index_meta_finish(struct index *index);
void index_meta_free(struct index *index);
/* The index of id in the list; SIZE_MAX if it isn't there. */
size_t index_meta_find(const struct index_list *list, uint64_t id);
const char *index_meta_string(const struct index *index, uint32_t id);
/* Appends a zeroed item. NULL: out of memory. */
void *index_meta_add(struct index_list *list, size_t item_size);
/* The item of id; appended if it did not exist, then *fresh is true (fresh may be NULL). NULL: out
 * of memory. */
void *index_meta_get(struct index_list *list, size_t item_size, uint64_t id, bool *fresh);

/* Operations that a later part can tell from those in flight at the end: what was recorded last. */
#define INDEX_RECENT 4096u

/* index_rest.c: a record of an operation that later parts may find again; a record of pass 1; after
 * index_meta_finish() and a whole pass, finds kernels and doubles; dispatch i, false for a
 * double. */
void index_rest_note(struct index *index, const struct rec_head *rec);
int index_rest_take(struct index *index, const struct rec_inflight *rec);
int index_rest_doubt(struct index *index, const struct rec_head *rec);
int index_rest_finish(struct index *index);
bool index_rest_get(struct index *index, size_t i, struct store_dispatch *op);
/* Whether the operation, which was in flight at the end, has another record. */
bool index_rest_is_double(const struct index *index, const struct rec_head *rec);

/* index_evicted.c, pass 1: a count of what was removed; an operation that is kept has that call and
 * range; a call, a marker, the end of one. 0 or -ENOMEM. */
int index_evicted_take(struct index *index, const struct rec_head *rec);
int index_evicted_need(struct index *index, uint64_t correlation, uint64_t marker);
int index_evicted_call(struct index *index, const struct rec_api *a);
int index_evicted_marker(struct index *index, const struct rec_head *rec);
/* Whether the operation ended before the window that a flight recorder keeps. */
bool index_evicted_op(const struct index *index, const struct rec_head *rec);
/* After pass 1. 0 or -ENOMEM. */
int index_evicted_finish(struct index *index);
/* Pass 2: whether an operation, call, marker or end of one is left out; the range of an operation
 * or a range, 0 if it is. */
bool index_evicted_is_left(const struct index *index, const struct rec_head *rec);
void index_evicted_range(const struct index *index, uint64_t *marker);
bool index_evicted_called(const struct index *index, uint64_t correlation);
void index_evicted_free(struct index *index);

/* index_op.c: a record of a function, and a call. 0 or -ENOMEM. */
int index_op_take(struct index *index, const struct rec_op *rec);
int index_op_call(struct index *index, const struct rec_api *api);
/* The function of a call; NULL if it isn't in the index. */
const struct store_op *index_op_find(const struct index *index, const struct rec_api *api);
/* After pass 1, when strings are joined: sets names and arguments; then sorts. */
int index_op_resolve(struct index *index);
int index_op_sort(struct index *index);
void index_op_free(struct index *index);

#endif
