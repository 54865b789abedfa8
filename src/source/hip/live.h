/* SPDX-License-Identifier: MIT */
/* live.h - HIP's calls while they run, and its operations, for those who want more than a record
 *
 * The recorder is told of calls when they are over. A compat library's clients want a callback when a
 * call begins, with its arguments where the runtime keeps them, and one when it ends; and operations as
 * the runtime reports them. HIP itself provides for that (up to 5.3: hipRegisterActivityCallback() and
 * its like), wherever the call came from. What librtl's own recorder takes from these callbacks goes
 * through here, too: there is one function for each call in the runtime.
 *
 *  operation                | a call in progress
 *  -------------------------+------------------------------------------------------------
 *  live_want, live_want_ops | any thread: that call ends as it was begun, or ends untold
 *  live_listen              | any thread, for ever
 *
 * Turning HIP's callbacks on while other threads are inside of HIP is not safe in 5.2 (callback.c says
 * why); they are turned on by the first live_want() and stay, and what is wanted is this side's masks:
 * a call that nobody wants costs HIP's own bookkeeping and one load here.
 */
#ifndef RTL_SOURCE_HIP_LIVE_H
#define RTL_SOURCE_HIP_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#define LIVE_MAX_LISTENERS 4
#define LIVE_NR_OPS 3

/* A call on the thread that makes it. Valid from its begin to its end. */
struct live_call {
	uint64_t correlation;
	uint64_t begin_ns, end_ns; /* the end: in done() */
	uint32_t id;		   /* the runtime's number of the function */
	uint32_t tid;
	void *data;			      /* the runtime's hip_api_data_t */
	uint64_t private[LIVE_MAX_LISTENERS]; /* each listener's, 0 at first */
};

/* An operation that is over. */
struct live_op {
	uint32_t op, kind;
	uint64_t correlation; /* of the call that submitted it, 0: of none that was seen */
	uint64_t begin_ns, end_ns;
	uint64_t queue, bytes;
	int32_t device;
	const char *kernel; /* of a dispatch: mangled, the runtime's; NULL: not known */
};

struct live_listener {
	/* On the calling thread, no lock held. `index`: what live_listen() gave. */
	void (*enter)(struct live_call *call);
	void (*leave)(struct live_call *call);
	/* After all leave()s: the call's times are known. */
	void (*done)(struct live_call *call);
	/* On whatever thread the runtime completes operations: of those that were wanted when they were
	 * submitted. */
	void (*op)(const struct live_op *op);
};

/* Before threads. */
void live_init(void);

/* The listener's index, or -ENOSPC. `l` lives for ever. */
int live_listen(const struct live_listener *l);

/* Calls of the function `id` are told to the listener from now on, or no longer. */
void live_want(int index, uint32_t id, bool on);
/* The same for operations: those that are submitted from now on. Of those before that no more is told when they
 * are not wanted any longer. */
void live_want_ops(int index, bool on);
/* What is submitted from now on is not told to the listener, or is again; what was submitted before is, however
 * late it ends. One store: for those who do so often. */
void live_pause_ops(int index, bool paused);

/* HIP 5.4 and later tell of an operation on a thread of their own, which may come to it after a call that has waited
 * for the operation: waits, 200 ms at most, until they have told of what such calls have waited for. Any thread but
 * that one; what op() does must not wait for the caller. */
void live_settle(void);

/* Turns HIP's callbacks on, for operations too if they are wanted by now. false: no HIP in the process
 * yet, or one whose callbacks are of a kind that is not known. Any number of times. */
bool live_turn_on(void);
/* Whether they are. */
bool live_is_on(void);

/* Tells event/join.h of HIP's operations from now on; calls are not told because of this. At the moment
 * that callback.c speaks of. false: a HIP that does not tell of them. */
bool live_join(void);

/* The largest number of a function that the runtime knows; 0 without HIP. */
uint32_t live_last_id(void);
#define LIVE_MAX_IDS 1024u

#endif
