/* SPDX-License-Identifier: MIT */
/* stream.c - from the core's operations and ranges to callbacks and records
 *
 * Owns:     the switch between started and stopped, and the subscriptions to the core.
 * Threads:  any.
 * Hot path: on_op(): no lock but the pool's.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../face/fork_guard.h"
#include "../face/hsa_events.h"
#include "calls.h"
#include "facade.h"
#include "record.h"
#include "roctracer/roctracer_roctx.h"

/* Data of a range: as large as what clients may read that take it for the data of a HIP call. */
union roctx_block {
	roctx_api_data_t data;
	char space[256];
};

static int live_index = -1; /* calls_start()'s */
static _Atomic bool are_ranges_stopped;
static _Atomic bool is_hip_wanted, is_hsa_wanted; /* by any subscription so far */

/* Up to 5.3 a stop ends callbacks of roctx as well. 5.3's library has the soname of the later ones;
 * its HIP is the last that has this function. */
static bool is_stop_for_ranges(void)
{
#if ROCTRACER64_GENERATION == 1
	return true;
#else
	return link_core() && link_core()->hip_find("hipRegisterActivityCallback");
#endif
}

bool stream_switch(bool on)
{
	bool was_stopped;

	/* relaxed: as in record_is_stopped() */
	atomic_store_explicit(&are_ranges_stopped, !on && is_stop_for_ranges(),
			      memory_order_relaxed);
	/* of `rtl trace --trace-start off` as well */
	if (link_core()) {
		link_core()->pause_switch(on);
		link_core()->activity_pause_ops(live_index, !on);
	}
	/* HIP may have been loaded since something was enabled */
	if (on && is_hip_wanted && link_core())
		link_core()->activity_turn_on();
	was_stopped = atomic_exchange(&record_stopped, !on);
	/* after it: calls that are shown from now on have an end */
	if (link_core())
		calls_pause(!on);
	return was_stopped == on;
}

void stream_settle(void)
{
	/* the writer of these records may wait for this thread to empty the pool */
	if (link_core() && !buffer_is_delivering())
		link_core()->activity_settle();
}

#if ROCTRACER64_GENERATION == 4
/* Never NULL. */
static const char *name_of(const struct activity_op *op)
{
	const char *name = op->kernel;

	if (!name)
		name = kernel_names_find(op->begin_ns, op->end_ns);
	return name ? name : UNKNOWN_KERNEL;
}
#endif

static void on_op(const struct activity_op *op)
{
	/* delivered though tracing may be stopped by now: it was submitted before */
	struct buffer *pool = registry_get_pool(ACTIVITY_DOMAIN_HIP_OPS, op->op);
	activity_record_t r = { 0 };

	if (!pool)
		return;
	r.domain = ACTIVITY_DOMAIN_HIP_OPS;
	r.kind = op->kind;
	r.op = op->op;
	r.correlation_id = op->correlation;
	r.begin_ns = op->begin_ns;
	r.end_ns = op->end_ns;
	r.device_id = devices_id(op->device);
	r.queue_id = op->queue;
#if ROCTRACER64_GENERATION == 4
	if (op->op == HSA_OP_ID_DISPATCH)
		r.kernel_name = name_of(op);
	else
#endif
		r.bytes = op->bytes;
	record_write_op(pool, &r);
}

#if ROCTRACER64_GENERATION == 4
/* The user names this library to HSA's runtime. Some domain of HSA will then be enabled. */
static bool is_named_as_tool(void)
{
	const char *tools = getenv("HSA_TOOLS_LIB");

	return tools && strstr(tools, "libroctracer64");
}
#endif

static bool install(const struct hsa_mirror_root *root)
{
	(void)root;
	hsa_events_on_runtime();
	return true;
}

static const struct table_layer layer = { .name = "roctracer", .install = install };

bool stream_on_load(void *table)
{
	static bool is_attached; /* under ROCr's init lock */
	const struct rtl_core *core = link_core();

	if (!core)
		return true;
#if ROCTRACER64_GENERATION == 4
	if (!is_named_as_tool() && !is_hsa_wanted && !hsa_ops_any())
		return core->on_load(table);
#endif
	if (!is_attached)
		is_attached = hsa_ops_listen() && core->hsa_wrap() && core->table_add_layer(&layer);
	if (is_attached)
		hsa_ops_start();
	return core->on_load(table);
}

/* enum range_call has the order of AMD's ids. */
static void on_range(enum range_call call, const char *message, uint64_t id)
{
	union roctx_block block = { .space = { 0 } };
	activity_rtapi_callback_t fn;
	void *arg;

	/* AMD's library has no more calls than these */
	if (call > RANGE_STOP || atomic_load_explicit(&are_ranges_stopped, memory_order_relaxed))
		return;
	fn = registry_get_callback(ACTIVITY_DOMAIN_ROCTX, call, &arg);
	if (!fn)
		return;
	block.data.args.message = message;
	block.data.args.id = id;
	fn(ACTIVITY_DOMAIN_ROCTX, call, &block, arg);
}

static void on_hsa_event(uint32_t event, const void *data)
{
	activity_rtapi_callback_t fn;
	void *arg;

	if (record_is_stopped())
		return;
	fn = registry_get_callback(ACTIVITY_DOMAIN_HSA_EVT, event, &arg);
	if (fn)
		fn(ACTIVITY_DOMAIN_HSA_EVT, event, data, arg);
}

static void want(uint32_t domain, uint32_t op, bool on);

/* Without both subscriptions nothing is traced. */
static bool connect_core(const struct rtl_core *core)
{
	const struct hsa_events_user user = {
		.core = core,
		.report = on_hsa_event,
		/* 5.2's library; a tool of its time gets OnUnload() at the runtime's end, this
		 * library does not */
		.numbers_by_index = ROCTRACER64_GENERATION == 1,
		.reports_code_memory = ROCTRACER64_GENERATION == 1,
		.ends_runtime = ROCTRACER64_GENERATION == 1,
	};

	fork_guard_start();
	record_start();
	registry_start(want);
	live_index = core ? calls_start(core) : -1;
	if (live_index < 0 || hsa_events_start(&user) < 0)
		return false;
	core->corr_keep_order();
	return true;
}

LINK_START(connect_core);

__attribute__((constructor)) static void start(void)
{
	link_core();
}

#if ROCTRACER64_GENERATION == 4
static void start_kernel_names(void)
{
	if (kernel_names_are_needed() && hsa_ops_listen())
		kernel_names_start();
}
#endif

/* Subscribes to the operation, or ends that. Under registry.c's lock. */
static void want(uint32_t domain, uint32_t op, bool on)
{
#if ROCTRACER64_GENERATION == 4
	static pthread_once_t names_once = PTHREAD_ONCE_INIT;
#endif
	static uint32_t wanted_ops; /* of HIP's; under the caller's lock */
	const struct rtl_core *core = link_core();
	void *arg;

	if (!core)
		return;
	switch (domain) {
	case ACTIVITY_DOMAIN_HIP_API:
		if (on) {
			is_hip_wanted = true;
			core->activity_turn_on();
		}
		calls_want(domain, op);
		break;
	case ACTIVITY_DOMAIN_HIP_OPS:
		on = registry_get_pool(domain, op) != NULL;
#if ROCTRACER64_GENERATION == 4
		if (on && op == HSA_OP_ID_DISPATCH)
			pthread_once(&names_once, start_kernel_names);
#endif
		is_hip_wanted = is_hip_wanted || on;
		wanted_ops = on ? wanted_ops | 1u << op : wanted_ops & ~(1u << op);
		core->activity_want_ops(live_index, wanted_ops ? on_op : NULL);
		break;
	case ACTIVITY_DOMAIN_HSA_API:
		is_hsa_wanted = is_hsa_wanted || on;
		calls_want(domain, op);
		break;
	case ACTIVITY_DOMAIN_HSA_OPS:
		if (on && registry_get_pool(domain, op))
			hsa_ops_listen();
		break;
	case ACTIVITY_DOMAIN_HSA_EVT:
		is_hsa_wanted = is_hsa_wanted || on;
		/* events have callbacks only */
		hsa_events_want(op, on && registry_get_callback(domain, op, &arg));
		break;
	case ACTIVITY_DOMAIN_ROCTX:
		if (on)
			core->range_listen(on_range);
		break;
	default:
		break;
	}
}
