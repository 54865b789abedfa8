/* SPDX-License-Identifier: MIT */
/* wall.h - the time that a trace is about: what "wall", "start-up" and shares of time mean in every
 * output
 *
 *	wall	  from the begin of the process that began first to the end of the one that ended
 *		  last, or of its last event if it was killed. Of a trace that is a part of its
 *		  program (recording was paused, a flight recorder kept the last records), and in
 *		  files of RPD: from the first record to the last. Of a window of time or of ranges:
 *		  those.
 *	start-up  from the begin of the wall time to the begin of the first operation of a GPU whose
 *		  times are measured, or of the first call in which the program waits for another
 *		  rank, whichever is first: the program and its runtime start. A call that
 *		  synchronises with a GPU counts where no operation has times: before the first
 *		  operation there is nothing that it could wait for, and it may be the call in which
 *		  the runtime starts. None where there is neither, where the trace is a part, and of
 *		  a part of a trace.
 *	work	  the wall time without the start-up. Shares of time (how long GPUs were busy,
 *		  findings) are shares of it.
 */
#ifndef RTL_ANALYSIS_WALL_H
#define RTL_ANALYSIS_WALL_H

#include "query/query.h"
#include "query/slice.h"

struct wall {
	int64_t begin, end; /* in the trace's clock, ns; 0, 0: the trace has no times */
	int64_t work;	    /* the end of the start-up, in the trace's clock */
	uint64_t ns;	    /* of the spans that are looked at */
	uint64_t startup_ns, work_ns;
	const char *part; /* why the trace is a part of its program; NULL: it is not */
	bool has_startup; /* wall_start() may find one */
	int64_t waits_ns; /* begin of the first call that waits for another rank; 0: none */
	/* its function; after wall_start() that whose call ends the start-up; "": the first
	 * operation */
	char until[64];
};

/* Reads the wall time of the part of a trace, without a start-up. `part`: NULL: all of it. */
void wall_read(struct query *q, const struct slice *part, struct wall *w);
/* `first` is the begin of the first timed operation of a GPU; 0: no operation has times. */
void wall_start(struct query *q, struct wall *w, int64_t first);
/* What the start-up ends with: "the first operation", or "MPI_Recv(), the first call that waits".
 * In `text`, of WALL_UNTIL bytes. */
enum { WALL_UNTIL = 112 };
const char *wall_until(const struct wall *w, char text[WALL_UNTIL]);
/* SQL: the begin of the first timed operation, of the tables that slice_apply() left; NULL without
 * one. */
const char *wall_first_sql(const struct query *q);

#endif
