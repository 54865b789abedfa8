/* SPDX-License-Identifier: MIT */
/* harvest.h - the harvester: records what the GPU has completed; the HSA source of the core */
#ifndef RTL_SOURCE_HSA_HARVEST_H
#define RTL_SOURCE_HSA_HARVEST_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "event/life.h"

extern const struct source harvest_source;

/* Replaces hsa_amd_profiling_get_dispatch_time() in the table. */
hsa_status_t harvest_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
				   hsa_amd_profiling_dispatch_time_t *time);

/* Calls `fn` with every result of that function, on the calling thread. For faces; one listener at
 * most. Any thread. */
typedef void (*harvest_times_fn)(uint64_t signal, uint64_t begin_ns, uint64_t end_ns);
void harvest_listen_times(harvest_times_fn fn);

/* The program is about to learn that an operation has completed: records all that have, of all
 * queues and copies. Does nothing inside a hook, and where another sink than the recorder wants
 * operations, since that sink may wait for the program. Waits at most 50 ms for another thread that
 * records. HOT while nothing is in flight. Any thread. */
void harvest_completed(void);

/* Whether an operation has been submitted and not recorded yet. Any thread. */
bool harvest_is_any_in_flight(void);

/* Records all that has completed, also what another thread is about to record. Life thread. */
void harvest_now(void);

/* Records all that has completed, whichever sinks want it. Waits as harvest_completed() does. Any
 * other thread. */
void harvest_flush(void);

/* Call after real_ready() has turned false: waits until the life thread has left the HSA objects.
 */
void harvest_wait_tick(void);

/* For hsa_amd_register_system_event_handler(): the GPU faulted and ROCr is about to abort. Gives up
 * every queue and returns "not handled", so that the runtime proceeds as without librtl. */
hsa_status_t harvest_on_fault(const hsa_amd_event_t *event, void *data);

/* The runtime is about to close: records what completes within `deadline_ns` and destroys librtl's
 * own objects. Tracing goes on if the runtime does not close after all. */
void harvest_before_close(uint64_t deadline_ns);

/* Finishes everything within `deadline_ns`; what is left is recorded as unfinished. */
void harvest_stop(uint64_t deadline_ns);

#endif
