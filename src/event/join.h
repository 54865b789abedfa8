/* SPDX-License-Identifier: MIT */
/* join.h - which call an operation belongs to that HIP submitted from a thread of its own
 *
 * With AMD_DIRECT_DISPATCH=0 calls only queue commands, and a thread of HIP's submits them: nothing there
 * tells whose they are. What HIP 5.2 tells is, on the caller's thread, a command's number (source/hip/activity.c
 * keeps its call), and when the command is over that number again, with the begin and the end that
 * hsa_amd_profiling_get_dispatch_time(), or its like for copies, had answered for the command's signals.
 * librtl stands in that function: it knows for which operation it gave which answer. So an answer that comes
 * back, on the thread that submitted the operation, is a token. Where two could be meant, none is joined.
 * HIP 5.4 and later keep an id of the call's in place of a number, and kernels' packets carry it.
 *
 *  operation      | join_submitted, _wanted, _forget | join_asked, join_reported
 *  ---------------+----------------------------------+----------------------------------
 *  join_submitted | any: a signal is used by one     | any: the same signal's use, question
 *                 | thread at a time                 | and end follow one another
 *  join_reported      |                                  | any: a lock
 *
 * What is found out goes to the bus as EVENT_LINK: the operation is on record already, or soon will be.
 */
#ifndef RTL_EVENT_JOIN_H
#define RTL_EVENT_JOIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* The call that a command was made by. */
struct join_call {
	uint64_t correlation, marker;
	uint32_t tid;
};

extern RTL_HIDDEN _Atomic bool join_on;

/* HOT */
static inline bool join_is_on(void)
{
	/* acquire: pairs with join_turn_on(); every use of the rest comes after this */
	return atomic_load_explicit(&join_on, memory_order_acquire);
}

/* From now on. Once, before the first operation. false: no memory. */
bool join_turn_on(void);

/* HOT: `signal` (its handle, not 0) is on something that thread `tid` submits; 0: nobody knows. */
void join_submitted(uint64_t signal, uint32_t tid);
/* HOT: after that: it is an operation from a thread in no call, with a correlation id of its own. */
void join_wanted(uint64_t signal, uint64_t correlation);
/* The operation that join_wanted() announced with these was refused. */
void join_unwanted(uint64_t signal, uint64_t correlation);
/* HOT: this thread, `tid`, is about to submit something. */
void join_submits(uint32_t tid);
/* The signal is destroyed. */
void join_forget(uint64_t signal);

/* The times of `signal` were asked for, and this was the answer. */
void join_asked(uint64_t signal, uint64_t begin_ns, uint64_t end_ns);

/* A command of `call` (correlation 0: of none that was seen) is over; its times as HIP tells them. */
void join_reported(const struct join_call *call, uint64_t begin_ns, uint64_t end_ns);
/* One is over whose times are not its operations'. Not for markers, which have no operations. */
void join_reported_other(void);

/* Where the runtime keeps a call's correlation id with what the call submits, as HIP 5.4 and later do: `call`
 * begins, on its thread. HOT: no lock, no allocation. */
void join_begins(const struct join_call *call);
/* The call of that id, whatever the bits above JOIN_ID are, which the runtime keeps, too. false: none that began,
 * or so many calls have begun since that it is forgotten; `call` is left alone. Any thread. HOT: the same. */
#define JOIN_ID ((UINT64_C(1) << 56) - 1)
bool join_begun(uint64_t correlation, struct join_call *call);

/* The trace ends: what was submitted and not joined is counted as `api_missed`. */
void join_finish(void);

#endif
