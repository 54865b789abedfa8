/* SPDX-License-Identifier: MIT */
/* join.h - finds the call of an operation that one of HIP's own threads submitted
 *
 * With AMD_DIRECT_DISPATCH=0 calls only queue commands, and a thread of HIP's submits them without
 * any link to the call. HIP 5.2 reports a command's number on the caller's thread
 * (source/hip/activity.c stores its call), and the number again when the command is over, with the
 * begin and end that hsa_amd_profiling_get_dispatch_time(), or its counterpart for copies, returned
 * for the command's signals. librtl wraps that function, so it knows which times it returned for
 * which operation. Returned times that HIP reports, on the thread that submitted the operation,
 * identify it. If two operations match, none is joined. HIP 5.4 and later keep an id of the call
 * instead of a number, and kernels' packets carry it.
 *
 *  operation      | join_submitted, _wanted, _forget | join_asked, join_reported
 *  ---------------+----------------------------------+----------------------------------
 *  join_submitted | any: a signal is used by one     | any: the same signal's use, read
 *                 | thread at a time                 | and end follow one another
 *  join_reported      |                                  | any: a lock
 *
 * Each match goes to the bus as EVENT_LINK, before or after the operation's record.
 */
#ifndef RTL_EVENT_JOIN_H
#define RTL_EVENT_JOIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

/* The call that made a command. */
struct join_call {
	uint64_t correlation, marker;
	uint32_t tid;
};

extern RTL_HIDDEN _Atomic bool join_on;

/* HOT */
static inline bool join_is_on(void)
{
	/* acquire: pairs with join_turn_on(); all other uses come after this */
	return atomic_load_explicit(&join_on, memory_order_acquire);
}

/* Enables joining. Once, before the first operation. false: no memory. */
bool join_turn_on(void);

/* HOT: thread `tid` submits something with `signal` (its handle, not 0); tid 0: unknown. */
void join_submitted(uint64_t signal, uint32_t tid);
/* HOT: after join_submitted(): it is an operation outside of calls, with its own correlation id. */
void join_wanted(uint64_t signal, uint64_t correlation);
/* The runtime refused the operation that join_wanted() announced with these. */
void join_unwanted(uint64_t signal, uint64_t correlation);
/* HOT: this thread, `tid`, is about to submit something. */
void join_submits(uint32_t tid);
/* The signal is destroyed. */
void join_forget(uint64_t signal);

/* The program or HIP read the times of `signal`, and got these. */
void join_asked(uint64_t signal, uint64_t begin_ns, uint64_t end_ns);

/* A command of `call` (correlation 0: of a missed call) is over; with the times that HIP reports.
 */
void join_reported(const struct join_call *call, uint64_t begin_ns, uint64_t end_ns);
/* A command is over whose times are not those of its operations. Not for markers, which have no
 * operations. */
void join_reported_other(void);

/* Call at the begin of `call`, on its thread, if the runtime stores a call's correlation id with
 * what the call submits, as HIP 5.4 and later do. HOT: no lock, no allocation. */
void join_begins(const struct join_call *call);
/* The call of that id; bits above JOIN_ID, which the runtime stores, too, are ignored. false: no
 * such call, or its entry has been reused by a later call; `call` is unchanged. Any thread. HOT:
 * the same. */
#define JOIN_ID ((UINT64_C(1) << 55) - 1)
bool join_begun(uint64_t correlation, struct join_call *call);

/* The trace ends: counts operations that were submitted and not joined as `api_missed`. */
void join_finish(void);

#endif
