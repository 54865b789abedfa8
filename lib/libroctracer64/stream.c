/* SPDX-License-Identifier: MIT */
/* stream.c - from the core's operations and ranges to callbacks and records
 *
 * Owns:     the switch between started and stopped, and what of the core is listened to.
 * Threads:  any.
 * Hot path: on_op(), stream_write_call(): no lock but the pool's.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calls.h"
#include "facade.h"
#include "hsa_events.h"
#include "roctracer/roctracer_roctx.h"

/* Data of a marker: at least as much as clients that take it for that of a HIP call may read. */
union roctx_block {
	roctx_api_data_t data;
	char room[256];
};

static const struct rtl_core *the_core;
static int live_index = -1; /* calls_start()'s */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool is_stopped, are_ranges_stopped;
static uint32_t process_id;
static _Atomic bool is_hip_wanted, is_hsa_wanted; /* so far */

bool stream_is_stopped(void)
{
	/* relaxed: a call that runs while it is switched is seen or not */
	return atomic_load_explicit(&is_stopped, memory_order_relaxed);
}

/* A stop is one for callbacks of roctx, too: up to 5.3. Its library has the soname of the later ones; its HIP is the last
 * that has this function. */
static bool is_stop_for_ranges(void)
{
#if ROCTRACER64_GENERATION == 1
	return true;
#else
	return stream_core() && stream_core()->hip_find("hipRegisterActivityCallback");
#endif
}

bool stream_switch(bool on)
{
	/* relaxed: as is_stopped */
	atomic_store_explicit(&are_ranges_stopped, !on && is_stop_for_ranges(),
			      memory_order_relaxed);
	/* what `rtl trace --trace-start off` records, too */
	if (stream_core()) {
		stream_core()->pause_switch(on);
		stream_core()->activity_pause_ops(live_index, !on);
	}
	/* HIP may have been loaded since something was enabled */
	if (on && is_hip_wanted && stream_core())
		stream_core()->activity_turn_on();
	return atomic_exchange(&is_stopped, !on) == on;
}

void stream_settle(void)
{
	/* whoever writes records may be waiting for this thread to make room */
	if (stream_core() && !pool_is_delivering())
		stream_core()->activity_settle();
}

static uint32_t this_thread(void)
{
	static _Thread_local uint32_t tid;

	if (!tid)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

/* The thread's external id, as a record that goes before that of the call. */
static uint32_t external(activity_record_t *record, uint64_t correlation)
{
	const struct per_thread *t = thread_own();

	if (!t || !t->nr_external)
		return 0;
	*record = (activity_record_t){ 0 };
	record->domain = ACTIVITY_DOMAIN_EXT_API;
	record->op = ACTIVITY_EXT_OP_EXTERN_ID;
	record->correlation_id = correlation;
	record->external_id = t->external[t->nr_external - 1];
	return 1;
}

void stream_write_call(struct pool *pool, uint32_t domain, uint32_t op, uint64_t correlation,
		       uint64_t begin_ns, uint64_t end_ns)
{
	activity_record_t records[2];
	uint32_t nr = external(records, correlation);

	records[nr] = (activity_record_t){ 0 };
	records[nr].domain = domain;
	records[nr].op = op;
	records[nr].correlation_id = correlation;
	records[nr].begin_ns = begin_ns;
	records[nr].end_ns = end_ns;
	records[nr].process_id = process_id;
	records[nr].thread_id = this_thread();
	pool_write(pool, records, nr + 1);
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
	/* stopped meanwhile or not: it was submitted while tracing was on */
	struct pool *pool = registry_get_pool(ACTIVITY_DOMAIN_HIP_OPS, op->op);
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
	pool_write(pool, &r, 1);
}

#if ROCTRACER64_GENERATION == 4
/* Where the program names us to HSA's runtime itself, something of HSA's will be wanted. */
static bool is_asked_for(void)
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
	const struct rtl_core *core = stream_core();

	if (!core)
		return true;
#if ROCTRACER64_GENERATION == 4
	if (!is_asked_for() && !is_hsa_wanted && !hsa_ops_any())
		return core->on_load(table);
#endif
	if (!is_attached)
		is_attached = hsa_ops_listen() && core->hsa_wrap() && core->table_add_layer(&layer);
	if (is_attached)
		hsa_ops_start();
	return core->on_load(table);
}

/* The kinds of calls have the order of AMD's ids. */
static void on_range(enum range_call call, const char *message, uint64_t id)
{
	union roctx_block block = { .room = { 0 } };
	activity_rtapi_callback_t fn;
	void *arg;

	if (atomic_load_explicit(&are_ranges_stopped, memory_order_relaxed))
		return;
	fn = registry_get_callback(ACTIVITY_DOMAIN_ROCTX, call, &arg);
	if (!fn)
		return;
	block.data.args.message = message;
	block.data.args.id = id;
	fn(ACTIVITY_DOMAIN_ROCTX, call, &block, arg);
}

static void before_fork(void)
{
	api_hold(true);
	registry_hold(true);
	hsa_events_hold(true);
	hsa_kernels_hold(true);
	pool_hold(true);
}

static void after_fork(void)
{
	pool_hold(false);
	hsa_kernels_hold(false);
	hsa_events_hold(false);
	registry_hold(false);
	api_hold(false);
}

static void in_child(void)
{
	process_id = (uint32_t)getpid();
	after_fork();
}

static void start_once(void)
{
	const struct rtl_core *core = rtl_core_get(RTL_CORE_VERSION);

	process_id = (uint32_t)getpid();
	pthread_atfork(before_fork, after_fork, in_child);
	live_index = core ? calls_start(core) : -1;
	/* without a number among the subscribers nothing is traced */
	the_core = live_index >= 0 && hsa_events_start(core) >= 0 ? core : NULL;
	if (the_core)
		the_core->corr_keep_order();
}

const struct rtl_core *stream_core(void)
{
	pthread_once(&once, start_once);
	return the_core;
}

__attribute__((constructor)) static void start(void)
{
	stream_core();
}

void stream_want(uint32_t domain, uint32_t op, bool on)
{
#if ROCTRACER64_GENERATION == 4
	static pthread_once_t names_once = PTHREAD_ONCE_INIT;
#endif
	static uint32_t wanted_ops; /* of HIP's; under the caller's lock */
	const struct rtl_core *core = stream_core();
	void *arg;

	if (!core)
		return;
	switch (domain) {
	case ACTIVITY_DOMAIN_HIP_API:
		if (on) {
			is_hip_wanted = true;
			core->activity_turn_on();
		}
		calls_want(domain, op, on);
		break;
	case ACTIVITY_DOMAIN_HIP_OPS:
		on = registry_get_pool(domain, op) != NULL;
#if ROCTRACER64_GENERATION == 4
		if (on && op == HSA_OP_ID_DISPATCH)
			pthread_once(&names_once, kernel_names_start);
#endif
		is_hip_wanted = is_hip_wanted || on;
		wanted_ops = on ? wanted_ops | 1u << op : wanted_ops & ~(1u << op);
		core->activity_want_ops(live_index, wanted_ops ? on_op : NULL);
		break;
	case ACTIVITY_DOMAIN_HSA_API:
		is_hsa_wanted = is_hsa_wanted || on;
		calls_want(domain, op, on);
		break;
	case ACTIVITY_DOMAIN_HSA_OPS:
		if (on && registry_get_pool(domain, op))
			hsa_ops_listen();
		break;
	case ACTIVITY_DOMAIN_HSA_EVT:
		is_hsa_wanted = is_hsa_wanted || on;
		/* there are callbacks alone */
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
