/* SPDX-License-Identifier: MIT */
/* announce.h - dispatches that are about to be submitted, for faces that show them before */
#ifndef RTL_SOURCE_HSA_ANNOUNCE_H
#define RTL_SOURCE_HSA_ANNOUNCE_H

#include <hsa/hsa.h>

#include "source/hsa/queue/submit.h"

/* Calls `fn` with each kernel dispatch that this thread has written, that a store of `value` to
 * `doorbell` would submit, and that is not submitted yet, in their order. `fn` gets what
 * submit_listen_taken() will get for the dispatch, with the same id. Under the queue's turn, so
 * that `fn` must not wait, nor call the program. When this returns no turn is held, and the
 * dispatches are still to be
 * submitted: by the store, or by another thread's that comes before.
 *
 * `fn` does not get dispatches of a queue whose turn stays taken or whose packets are not held
 * back, and those that HIP's own threads write for calls. A store that is repeated repeats its
 * dispatches. Any thread.
 *
 * Until announce_over() of what this returns the harvester does not take the packets for
 * forgotten. */
struct queue *announce_dispatches(hsa_signal_t doorbell, hsa_signal_value_t value,
				  submit_taken_fn fn);
/* The store follows. NULL: nothing was announced. */
void announce_over(struct queue *q);
/* No store follows: the harvester submits the packets before `end`. The same. */
void announce_left(struct queue *q, uint64_t end);

/* The trace is about to be closed: records, as unfinished, the dispatches of calls that wait in the
 * ring behind a packet whose thread has not written it yet. When they are submitted they are left
 * out. Under the turn, in a hook. */
void announce_waiting(struct queue *q);

#endif
