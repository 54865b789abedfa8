/* SPDX-License-Identifier: MIT */
/* collective_internal.h - what the files of collective.h share: the collectives of each party, in
 * the order of their begin
 *
 * collective_ops.c makes them of the operations, in one pass over the trace; collective.c matches
 * them, in as many passes as it needs; collective_judge.c says who is late.
 */
#ifndef RTL_ANALYSIS_COLLECTIVE_INTERNAL_H
#define RTL_ANALYSIS_COLLECTIVE_INTERNAL_H

#include "analysis/collective.h"
#include "analysis/collective_calls.h"
#include "analysis/collective_events.h"

#define COLLECTIVE_SAMPLE 32 /* collectives by which channels that belong together are found */

struct collective_channel {
	size_t party, number; /* number: in the party, of its kind */
	uint64_t key, id;     /* id: of its communicator, on all parties; 0: unknown */
	bool by_calls;
	uint64_t nr;
	int64_t last_end;					    /* of calls of MPI */
	int64_t begins[COLLECTIVE_SAMPLE], ends[COLLECTIVE_SAMPLE]; /* by the wall clock */
	size_t set, member; /* of collective.c; SIZE_MAX: in no set */
};

struct collective_ops {
	struct collective_events events;
	struct collective_channel *channels;
	size_t nr_channels;
	char **names; /* RCCL's functions and kernels */
	size_t nr_names;
	struct collective_calls *calls; /* of RCCL, with the sizes of communicators */
};

/* Collectives of a group, evenly over the run, and what each party did before. */
struct collective_point {
	int64_t from, to;   /* as recorded: since all had the one before, until it came */
	float offset, idle; /* when it came, behind the first member; without an operation */
	float kernel, copy; /* how long its GPU was at work */
	int32_t tid;	    /* of its launch; 0: unknown */
};
struct collective_sample {
	struct collective_point *points;
	size_t nr, max;
	uint64_t seen, every; /* every: how many of those seen it has one of */
};

/* The time of a party without an operation since all parties had the collective before, at
 * `done`. */
static inline double collective_idle(const struct collective_event *e, int64_t done)
{
	int64_t since = e->since > done ? e->since : done;
	int64_t ns = e->begin - since - e->kernel_ns - e->copy_ns;

	return ns > 0 ? (double)ns : 0;
}

/* A collective with times that can be compared, by member. 0 or -ENOMEM. */
int collective_judge_note(struct collective_sample *s, size_t nr_members,
			  const struct collective_event *events, int64_t done);
/* Sets the verdicts, when all collectives have come. 0 or -errno with q->res->error. */
int collective_judge(struct query *q, const struct collective_party *parties,
		     struct collective_group *g, const struct collective_sample *s);
/* Of each member of each sample: how long its thread was in no call; negative: unknown. 0 or -errno
 * with q->res->error. */
int collective_host_read(struct query *q, const struct collective_party *parties,
			 const struct collective_group *g, const struct collective_sample *s,
			 float *own);

/* Reads all operations; `parties` is an array to be freed. 0 or -errno with q->res->error;
 * collective_ops_fini() in both cases. */
int collective_ops_read(struct query *q, const regex_t *more, struct collective_ops *out,
			struct collective_party **parties, size_t *nr_parties);
void collective_ops_fini(struct collective_ops *ops);

#endif
