/* SPDX-License-Identifier: MIT */
/* internal_queue.h - the runtime's internal queues, which run its copy and fill kernels
 *
 * ROCr announces these queues (hsa_amd_runtime_queue_create_register) but makes them as ordinary
 * ones in all releases examined (5.2.3 to 7.x, GpuAgent::CreateInterceptibleQueue): their packets
 * can't be changed before the hardware sees them. librtl reads them afterwards: a packet's body
 * stays in the ring until the ring wraps around, and the runtime writes every such packet within an
 * HSA call that librtl wraps. So when such a call returns, librtl reads the rings:
 *
 *   - a dispatch that carries the program's completion signal belongs to the asynchronous copy that
 *     was given this signal; its times are that signal's.
 *   - a dispatch with a signal of the runtime's (blocking copies, fills, code object loads)
 *     has completed by then, and its times are still in that signal, unless another call used the
 *     signal meanwhile: then it is recorded without times, and counted.
 */
#ifndef RTL_SOURCE_HSA_INTERNAL_QUEUE_H
#define RTL_SOURCE_HSA_INTERNAL_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "event/event.h"
#include "event/thread.h"

/* A call that may use a queue of the runtime, on its caller's stack. */
struct internal_queue_call {
	uint64_t correlation;
	uint64_t began_alone;		 /* see internal_queue_leave() */
	const void *signal;		 /* the program's amd_signal_t, NULL in a blocking call */
	struct event_dispatch *dispatch; /* filled with the dispatch that carries `signal` */
	bool found;
};

/* Called before and after the real call. */
void internal_queue_enter(struct internal_queue_call *c);
void internal_queue_leave(struct internal_queue_call *c, struct thread *t);

/* Life thread: records packets that no wrapped call recorded. */
void internal_queue_tick(void);

/* Passed to hsa_amd_runtime_queue_create_register(). */
void internal_queue_on_create(const hsa_queue_t *queue, hsa_agent_t agent, void *data);

/* The runtime has returned this queue, which it had made for itself, to the program (a cooperative
 * one): it is the program's. */
void internal_queue_forget(const hsa_queue_t *hsa);

/* The runtime went away. */
void internal_queue_reset(void);

#endif
