/* SPDX-License-Identifier: MIT */
/* summary_range.h - the tree of ranges of `rtl summary` */
#ifndef RTL_CLI_READ_SUMMARY_RANGE_H
#define RTL_CLI_READ_SUMMARY_RANGE_H

#include "cli/read/summary.h"

struct summary_node {
	char *name;
	size_t parent; /* SIZE_MAX: none */
	int depth;
	bool by_start; /* of start and stop */
	uint64_t calls, host_ns, ops;
	uint64_t ns,
		own_ns;	  /* of operations: of all within, and of those that no range within has */
	uint64_t span_ns; /* from the first to the last operation of each range, added up */
	size_t inner,
		next; /* private: number + 1 of the first node within, of the next one beside */
};

struct summary_ranges {
	struct summary_node *nodes;
	size_t nr;
	size_t *order; /* of a tree: each node behind the one that it is in, the most GPU time first */
	size_t first;
};

void summary_range_read(struct summary *s, struct summary_ranges *out);
void summary_range_free(struct summary_ranges *r);

#endif
