/* SPDX-License-Identifier: MIT */
/* copy.h - memory copies through the HSA API, by every copy engine
 *
 * A copy between devices of different kind uses an SDMA engine; one within a device becomes a
 * kernel on an internal queue of the runtime (internal_queue.h), which is recorded as well, with
 * the copy's correlation id.
 */
#ifndef RTL_SOURCE_HSA_COPY_H
#define RTL_SOURCE_HSA_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "event/event.h"

/* Records the completed copies; with `final` also the others, as unfinished. Takes the copy harvest
 * lock. Returns the number still in flight. */
uint32_t copy_harvest(bool final);

/* As copy_harvest(false), after waiting for another thread that does so: `naps` of 20 us at
 * most. */
void copy_harvest_completed(uint32_t naps);

/* Calls `fn` when a call of the program's submits an asynchronous copy, on its thread, with no lock
 * held: as its EVENT_COPY will be, but without times. What it stores in copy_own() of the number
 * that this returns, that event has as well. For faces. -ENOSPC: COPY_MAX_LISTENERS are registered
 * already. Any thread. */
enum copy_moment {
	COPY_BEGINS,   /* before the runtime's function is called */
	COPY_IS_TAKEN, /* it has returned; the event comes later, or has come */
	/* it has failed, or the copy can't be recorded: no event comes, but the one at the end of
	 * the trace */
	COPY_IS_GONE,
};
#define COPY_MAX_LISTENERS 2
typedef void (*copy_listener_fn)(struct event_copy *c, enum copy_moment moment);
int copy_listen(copy_listener_fn fn);
static inline uint64_t *copy_own(struct event_copy *c, int number)
{
	return number ? &c->own1 : &c->own0;
}

/* The agents of the memory at these addresses, as role "agents" of spool/format.h says: those that
 * the runtime's table of pointers names; memory that it does not know is the first CPU's. NULL:
 * none. 0: there is no runtime, or the trace has ended. Any thread, no lock of librtl's held. */
uint64_t copy_agents(const void *dst, const void *src);

/* Wrappers put into the table. */
hsa_status_t copy_async(void *dst, hsa_agent_t dst_agent, const void *src, hsa_agent_t src_agent,
			size_t size, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
			hsa_signal_t completion_signal);
hsa_status_t copy_async_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
				  hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals,
				  const hsa_signal_t *dep_signals, hsa_signal_t completion_signal,
				  int engine_id, bool force_copy_on_sdma);
hsa_status_t copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
		       const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
		       const hsa_dim3_t *range, hsa_agent_t copy_agent,
		       hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
		       const hsa_signal_t *dep_signals, hsa_signal_t completion_signal);
/* hsa_amd_memory_async_batch_copy(), ROCm 7.13 and later: each operation has its own signal. If one
 * of several fails, the records of the others stay unfinished. */
hsa_status_t copy_batch(const void *ops, uint32_t nr, uint32_t num_dep_signals,
			const hsa_signal_t *dep_signals);
hsa_status_t copy_blocking(void *dst, const void *src, size_t size);
hsa_status_t copy_fill(void *ptr, uint32_t value, size_t count);
hsa_status_t copy_profiling_enable(bool enable);
hsa_status_t copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time);

#endif
