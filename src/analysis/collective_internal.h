/* SPDX-License-Identifier: MIT */
/* collective_internal.h - what the files of collective.h share: the collectives of each lane, in
 * the order of their begin
 *
 * collective_ops.c makes them of the operations, in one pass over the trace; collective.c matches
 * them, in as many passes as it needs. They are kept in a file beyond a MiB.
 */
#ifndef RTL_ANALYSIS_COLLECTIVE_INTERNAL_H
#define RTL_ANALYSIS_COLLECTIVE_INTERNAL_H

#include "analysis/collective.h"
#include "analysis/collective_calls.h"
#include "query/spill.h"

#define COLLECTIVE_SAMPLE 32 /* collectives by which channels that belong together are found */

/* A collective of a lane. */
struct collective_event {
	int64_t begin, end;
	int64_t kernel_ns, copy_ns;
	int64_t host_ns; /* without an operation until the host launched the next one */
	int64_t since;	 /* end of the lane's collective before */
	int64_t longest, marker;
	uint64_t bytes;
	/* The times above are by the reference clock: raw ones have this more. error: how far they
	 * may be off. */
	int64_t ahead, error;
	uint32_t name;					   /* of collective_ops.names */
	uint32_t channel;				   /* of collective_ops.channels */
	bool has_launch, has_before, is_untimed, is_graph; /* has_launch: its call is known */
};

struct collective_channel {
	size_t lane, number; /* number: in the lane, of its kind */
	uint64_t key, id;    /* id: of its communicator, on all lanes; 0: unknown */
	bool by_calls;
	uint64_t nr;
	int64_t begins[COLLECTIVE_SAMPLE], ends[COLLECTIVE_SAMPLE]; /* by the wall clock */
	size_t set, member; /* of collective.c; SIZE_MAX: in no set */
};

struct collective_ops {
	struct spill events;
	struct collective_channel *channels;
	size_t nr_channels;
	char **names; /* RCCL's functions and kernels */
	size_t nr_names;
	struct collective_calls *calls; /* of RCCL, with the sizes of communicators */
};

/* Reads all operations; `lanes` is an array to be freed. 0 or -errno with q->res->error;
 * collective_ops_fini() in both cases. */
int collective_ops_read(struct query *q, const regex_t *more, struct collective_ops *out,
			struct collective_lane **lanes, size_t *nr_lanes);
void collective_ops_fini(struct collective_ops *ops);

#endif
