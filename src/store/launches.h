/* SPDX-License-Identifier: MIT */
/* launches.h - whether each launch that was recorded has its dispatch
 *
 * A call that launched a kernel and succeeded has a dispatch with its correlation id, unless a
 * stream was being captured: then it became a node of a graph. Calls and dispatches may come in any
 * order. A call within another belongs to that one, as its dispatch does, and is not given here.
 *
 * Memory grows with the calls whose dispatch has not been read, and the reverse; beyond
 * LAUNCHES_MAX the check is given up. Single-threaded.
 */
#ifndef RTL_STORE_LAUNCHES_H
#define RTL_STORE_LAUNCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/map.h"

#define LAUNCHES_MAX (UINT64_C(1) << 18)

struct launches {
	struct map
		open; /* correlation id of a launch without a dispatch so far, to its begin in ns */
	struct map early; /* of a dispatch without a call so far */
	uint64_t *begins; /* of captures, ns */
	uint64_t *ends;
	size_t nr_begins, cap_begins, nr_ends, cap_ends;
	bool is_given_up;
	uint64_t
		/* calls that succeeded and had to submit work: launches, copies, fills */
		nr_submits;
};

/* Zeroed launches are empty ones. */
void launches_fini(struct launches *l);

/* All: 0 or -ENOMEM. */
int launches_dispatch(struct launches *l, uint64_t correlation);
/* A call; `launches`: of a function that launches one kernel, and it succeeded. */
int launches_call(struct launches *l, uint64_t correlation, bool launches, uint64_t begin_ns);
/* A stream began to be captured, or no longer is, in any order. */
int launches_capture(struct launches *l, uint64_t begin_ns);
int launches_capture_end(struct launches *l, uint64_t end_ns);

/* After all calls and dispatches: launches without a dispatch that no capture explains. 0 if the
 * check was given up. */
uint64_t launches_missing(struct launches *l);

#endif
