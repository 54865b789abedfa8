/* SPDX-License-Identifier: MIT */
/* clock_align.h - the clocks of several hosts: offset and drift between them, each with a bound of
 * its error
 *
 * A clock is what processes of one boot and time namespace share (query.h). Between boots there are
 * only events that happened on both: a collective ends on no rank before its last rank has come,
 * and its ends are apart by no more than the transfer takes, for which the shortest of its kernels
 * stands. Each collective therefore bounds the offset from both sides, and the bounds of many leave
 * little space for a line. Within it the line is chosen by the medians of the ends, which are
 * nearly simultaneous. Where there are too few collectives, samples of the wall clock are taken, if
 * both kernels say that something holds it, with the error that they state. Time namespaces of one
 * boot have a known offset. Times in a trace stay as they are. One thread.
 */
#ifndef RTL_ANALYSIS_CLOCK_ALIGN_H
#define RTL_ANALYSIS_CLOCK_ALIGN_H

#include "query/query.h"

enum clock_method {
	CLOCK_REFERENCE,
	CLOCK_BOOT, /* another time namespace of the same boot: exact */
	CLOCK_COLLECTIVES,
	CLOCK_REALTIME,
	CLOCK_NONE, /* refused */
	CLOCK_NR_METHODS
};
extern const char *const clock_methods[CLOCK_NR_METHODS];

/* From `first` to `last` the clock is `offset` + `drift` * (time - first) ahead of its parent's. */
struct clock_piece {
	int64_t first, last;	   /* ns of the clock */
	int64_t offset;		   /* ns, at first */
	double drift, drift_error; /* ns per ns; error: how far it may be off outside */
	int64_t error;		   /* ns: the true offset is nearer than that, from first to last */
	uint64_t nr;		   /* collectives */
};

struct clock_host {
	const char *host; /* of its first process; lives as long as the query */
	size_t process;	  /* in q->processes */
	enum clock_method method;
	size_t parent;			  /* towards the reference, which is its own */
	const struct clock_piece *pieces; /* to the parent, by time */
	size_t nr_pieces;
	const char *reason; /* CLOCK_NONE: why */
	uint64_t nr;	    /* collectives with its parent, or that were too few */
};

struct clock_align {
	struct clock_host *hosts; /* by query_process.clock; the first one is the reference */
	size_t nr;
	struct clock_pair *pairs; /* internal */
	size_t nr_pairs, max_pairs;
};

/* Finds the clocks of a trace's processes, which were read. 0 or -errno with q->res->error. */
int clock_align_begin(struct query *q, struct clock_align *out);
/* A collective of clocks a < b: on each the begin of its last rank and its first end, by its own
 * clock, in the order of their end. 0 or -ENOMEM. */
struct clock_side {
	int64_t last_begin, first_end;
	/* duration of its kernels: at least the transfer, which is how far ends may be apart;
	 * CLOCK_APART: by any time */
	int64_t shortest;
};
#define CLOCK_APART (INT64_C(1) << 60)
/* The side of one rank. is_call: of a call of MPI, not a kernel. A host may return long after the
 * last rank has come: only that it does not return before is certain. */
struct clock_side clock_align_side(int64_t begin, int64_t end, bool is_call);
/* Adds another rank of the same clock. */
void clock_align_join(struct clock_side *side, const struct clock_side *other);
/* Whether no rank returns from a call of MPI before all have called it. Where a rank may have no
 * data, it may leave before others have come. `name`: the function's, in any case, with or without
 * _c. */
bool clock_align_waits(const char *name, bool has_data);
int clock_align_add(struct clock_align *c, size_t a, const struct clock_side *at_a, size_t b,
		    const struct clock_side *at_b);
/* When all were added. 0 or -errno with q->res->error. */
int clock_align_solve(struct query *q, struct clock_align *c);
/* A time of a clock by the reference, and how far it may be off. False: it is not known. */
bool clock_align_convert(const struct clock_align *c, size_t clock, int64_t time, int64_t *out,
			 int64_t *error);
/* Accepts a zeroed one. */
void clock_align_fini(struct clock_align *c);

#endif
