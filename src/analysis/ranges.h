/* SPDX-License-Identifier: MIT */
/* ranges.h - roctx ranges as a tree, with the GPU time of what was launched in them
 *
 * A node is a message under a message: all ranges of that name under that one, of all threads. An
 * operation belongs to the innermost range of push and pop that was open on the thread that
 * launched it, and to all ranges around that. It also belongs to each range of start and stop
 * during which it was launched, by any thread of the process. Files of RPD do not say which range
 * an operation belongs to.
 */
#ifndef RTL_ANALYSIS_RANGES_H
#define RTL_ANALYSIS_RANGES_H

#include "analysis/digest.h"
#include "query/query.h"

struct ranges_sums {
	uint64_t calls, host_ns, ops;
	uint64_t ns,
		own_ns;	  /* of operations: of all within, and of those that no range within has */
	uint64_t span_ns; /* from the first to the last operation of each range, added up */
};

struct ranges_node {
	char *name;
	size_t parent; /* SIZE_MAX: none */
	int depth;
	bool by_start;			/* of start and stop */
	struct ranges_sums all, *parts; /* parts: of each part of the trace */
	size_t inner,
		next; /* private: number + 1 of the first node within, of the next one beside */
};

/* Begins zeroed. */
struct ranges {
	struct ranges_node *nodes;
	size_t nr, max;
	/* of a tree: each node behind the one that it is in, the most GPU time first */
	size_t *order;

	/* private, while reading */
	struct query *q;
	uint32_t nr_parts;
	size_t first;
	struct ranges_instance *all; /* by level, the outermost first */
	size_t nr_all, last;
	struct map by_id;
	struct map by_name; /* of a node and a message: the node within */
};

/* Reads the ranges. part() says to which of the nr_parts parts a row belongs, NULL: there is one. 0
 * or -errno with q->res->error. */
int ranges_begin(struct ranges *r, struct query *q, uint32_t nr_parts,
		 uint32_t (*part)(void *arg, int64_t id), void *arg);
/* Adds operations to the innermost range in which they were launched. HOT. */
void ranges_add(struct ranges *r, int64_t marker, uint64_t ops, uint64_t ns, int64_t first,
		int64_t last);
/* Forgets the operations so far. */
void ranges_forget(struct ranges *r);
/* After all operations: sums, and puts the nodes in order. 0 or -errno with q->res->error. */
int ranges_end(struct ranges *r);
/* All of it, of one part, from a digest. */
int ranges_read(struct ranges *r, const struct digest *d);
void ranges_fini(struct ranges *r);
/* Of a node: "epoch/step"; the caller's to free with alloc_free(). NULL: out of memory. */
char *ranges_path(const struct ranges *r, const struct ranges_node *n);

#endif
