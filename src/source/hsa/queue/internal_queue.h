/* SPDX-License-Identifier: MIT */
/* internal_queue.h - queues of the runtime's own: its copy and fill kernels run there
 *
 * ROCr announces these queues (hsa_amd_runtime_queue_create_register) but makes them as plain ones,
 * in all releases looked at (5.2.3 to 7.x, GpuAgent::CreateInterceptibleQueue): their packets can't
 * be changed before the hardware sees them. They can be read afterwards: a packet's body stays in
 * the ring until the ring comes round, and every such packet is written inside of an HSA call that
 * we wrap. So when such a call returns, the rings are read:
 *
 *   - a dispatch that carries the program's completion signal belongs to the asynchronous copy that
 *     was given this signal; its times are that signal's.
 *   - one with a signal of the runtime's (blocking copies, fills, code object loads) has
 *     completed by then, and its times are still in that signal, unless another call used the
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

/* Around the real call. */
void internal_queue_enter(struct internal_queue_call *c);
void internal_queue_leave(struct internal_queue_call *c, struct thread *t);

/* Life thread: what no wrapped call has picked up. */
void internal_queue_tick(void);

/* Put into hsa_amd_runtime_queue_create_register(). */
void internal_queue_on_create(const hsa_queue_t *queue, hsa_agent_t agent, void *data);

/* The runtime went away. */
void internal_queue_reset(void);

#endif
