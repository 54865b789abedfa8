/* SPDX-License-Identifier: MIT */
/* events.c - librocprofiler-sdk: what the core tells of GPU operations
 *
 * Threads:  any; on_event() under the core's locks.
 * Hot path: on_event() of an operation: no lock, no allocation.
 * Fails:    without a thread operations are not shown, with a message.
 */
#define LOG_TOPIC "sdk"
#include "events.h"

#include <pthread.h>
#include <time.h>

#include "base/log.h"
#include "base/sys.h"
#include "context.h"
#include "copies.h"
#include "counting.h"
#include "dispatch.h"
#include "effects.h"
#include "operations.h"
#include "scratch.h"
#include "state.h"

/* how long the end of a tool waits for operations: in all, and while none ends */
#define SETTLE_MS 10000
#define SETTLE_IDLE_MS 1000
/* how long a flush waits for callbacks of operations */
#define FLUSH_NS UINT64_C(1000000000)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool is_started;

void events_settle(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	uint64_t open, nr_ids, open_before = 0, ids_before = 0;
	bool is_direct;

	if (operations_is_thread() || !state_core())
		return;
	for (int ms = 0, idle = 0; ms < SETTLE_MS && idle < SETTLE_IDLE_MS; ms++, idle++) {
		open = operations_nr_open();
		is_direct = dispatch_is_direct(&nr_ids);
		if (!open && !(is_direct && state_core()->harvest_is_any_in_flight()))
			return;
		if (open != open_before || nr_ids != ids_before)
			idle = 0;
		open_before = open;
		ids_before = nr_ids;
		state_core()->harvest_flush();
		sys_nap(&nap);
	}
}

void events_flush(void)
{
	uint64_t nr_ids;

	if (operations_is_thread() || !atomic_load(&is_started) ||
	    (!operations_nr_open() && !dispatch_is_direct(&nr_ids)))
		return;
	state_core()->harvest_flush();
	operations_settle(FLUSH_NS);
}

static void on_event(const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_DISPATCH:
		dispatch_over(&ev->dispatch);
		break;
	case EVENT_COPY:
		copies_over(&ev->copy);
		break;
	case EVENT_AGENT:
		operations_keep_agent(&ev->agent);
		break;
	case EVENT_QUEUE:
		operations_keep_queue(&ev->queue);
		break;
	default:
		break;
	}
}

#define WANTED                                                                                     \
	(EVENT_BIT(EVENT_AGENT) | EVENT_BIT(EVENT_QUEUE) | EVENT_BIT(EVENT_DISPATCH) |             \
	 EVENT_BIT(EVENT_COPY))

static const struct sink sink = { .name = "rocprofiler-sdk operations",
				  .event = on_event,
				  .wants = WANTED };

static void start_once(void)
{
	const struct rtl_core *core = state_core();

	if (!operations_start() || core->bus_attach(&sink) != 0) {
		log_warn("no thread, or too many sinks; tools get no callbacks of operations");
		return;
	}
	atomic_store(&is_started, true);
}

static bool is_any_wanted(void)
{
	return counting_is_configured() ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) ||
	       context_has(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY) ||
	       context_has_records(ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) ||
	       context_has_records(ROCPROFILER_BUFFER_TRACING_MEMORY_COPY) ||
	       effects_has_graphs() || scratch_is_wanted();
}

void events_start(void)
{
	if (!state_core() || !is_any_wanted())
		return;
	pthread_once(&once, start_once);
	if (!atomic_load(&is_started))
		return;
	dispatch_start(state_core());
	copies_start(state_core());
}
