/* SPDX-License-Identifier: MIT */
/* critical.h - the critical path: the chain of calls, operations and waits that the time of a
 * program consists of
 *
 * It is followed from the end of the process that ended last to its begin, along the trace's own
 * edges:
 *	a call that waits      <- the last operation that ended in it, of its stream, or before the
 *			       record of its event
 *	an operation	       <- what it waited for last: the operation before it on its stream or
 *				  queue, the one before the record of an event that its stream waits
 *				  for, those of the null stream; or the call that launched it
 *	a call, time between calls <- what the thread did before
 * (docs/decisions/040). Its parts cover the time without a gap: their sum is the time from the end
 * of the start-up (wall.h), or from the first call, to the end of the last call or operation.
 * Memory: 100 bytes for each operation and outermost call. One thread. Works on databases of rtl
 * and of RPD; those without calls have the order of streams and queues alone.
 */
#ifndef RTL_ANALYSIS_CRITICAL_H
#define RTL_ANALYSIS_CRITICAL_H

#include "query/query.h"

enum critical_kind {
	CRITICAL_KERNEL, /* name: of rocpd_string */
	CRITICAL_COPY,	 /* name: for ROWS_TYPE_NAME */
	CRITICAL_CALL,	 /* the host in a call; name: of rocpd_string */
	CRITICAL_HOST,	 /* the host outside of calls; name: 0 */
	/* from the end of the call to the begin of its operation, whose name it is */
	CRITICAL_LAUNCH,
	/* from the end of the operation before to the begin of this one, whose name it is */
	CRITICAL_WAIT,
};

struct critical_part {
	enum critical_kind kind;
	bool copy; /* of LAUNCH and WAIT: `name` is that of a type */
	int64_t name;
	uint64_t ns, count;
};

struct critical {
	struct critical_part *parts; /* the longest first */
	size_t nr;
	int64_t begin, end;  /* of the path */
	uint64_t operations; /* on it */
	int64_t pid;	     /* of the process; 0: unknown */
};

/* Call rows_prepare() before. What was before `from`, the end of the start-up (wall.h), is not on
 * it. A trace without operations and calls has no parts. 0 or -errno with q->res->error. */
int critical_read(struct query *q, int64_t from, struct critical *c);
void critical_fini(struct critical *c);

#endif
