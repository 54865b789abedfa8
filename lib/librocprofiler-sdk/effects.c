/* SPDX-License-Identifier: MIT */
/* effects.c - librocprofiler-sdk: what calls of HIP and HSA do: memory, streams, graphs; and
 * runtimes that come up
 *
 * These kinds are 1.0's; 0.x has none of them.
 *
 * Owns:     what each function does; numbers of streams and graphs; agents of memory pools and
 *           regions.
 * Threads:  any.
 * Hot path: effects_want(), effects_enter(): no lock for a function that does nothing of this.
 * Fails:    without memory, or for a call that is left by longjmp(), an end is not shown.
 */
#include "effects.h"

#if ROCPROFILER_SDK_ABI == 0

void effects_start(const struct rtl_core *core)
{
	(void)core;
}

bool effects_want(uint32_t domain, uint32_t operation)
{
	(void)domain;
	(void)operation;
	return false;
}

bool effects_has(uint32_t domain)
{
	(void)domain;
	return false;
}

struct op *effects_enter(const struct live_call *call)
{
	(void)call;
	return NULL;
}

void effects_exit(const struct live_call *call, struct op *op)
{
	(void)call;
	(void)op;
}

void effects_runtime(enum effects_runtime which, uint64_t version, uint64_t instance)
{
	(void)which;
	(void)version;
	(void)instance;
}

bool effects_has_graphs(void)
{
	return false;
}

bool effects_launching(void)
{
	return false;
}

struct op *effects_launch_of(uint32_t tid)
{
	(void)tid;
	return NULL;
}

void effects_launch_hold(struct op *launch)
{
	(void)launch;
}

void effects_launch_drop(struct op *launch, const struct op *kernel)
{
	(void)launch;
	(void)kernel;
}

#else

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../face/agents.h"
#include "../face/fork_guard.h"
#include "base/alloc.h"
#include "context.h"
#include "correlate.h"
#include "operations.h"
#include "retire.h"
#include "state.h"

#define KIND(name) ROCPROFILER_CALLBACK_TRACING_##name
#define MAX_POOLS 512u

/* What a function does, and where in its arguments the handle is. */
enum role {
	ROLE_NONE,
	ROLE_STREAM_USED,
	ROLE_STREAM_CREATED,
	ROLE_STREAM_DESTROYED,
	ROLE_EXEC_CREATED,
	ROLE_EXEC_DESTROYED,
	ROLE_EXEC_LAUNCHED, /* with a stream as the next argument */
	ROLE_REGION_ALLOCATED,
	ROLE_POOL_ALLOCATED,
	ROLE_FREED,
	ROLE_VMEM_ALLOCATED,
	ROLE_VMEM_FREED,
};

struct function {
	uint8_t role;
	uint16_t offset;
};

static struct function hip[HIP_OP_NR], hsa[HSA_OP_NR];
static const struct rtl_core *core;
static _Thread_local struct op *launching; /* the innermost launch of a graph with a record */

/* Numbers for handles, from 1; a handle that is used again gets another one. */
struct numbers {
	struct number {
		uint64_t handle, id;
	} * all;
	size_t nr, size;
	uint64_t last;
};

GUARDED_LOCK(lock, LOCK_SDK_EFFECTS);
static struct numbers streams RTL_GUARDED_BY(lock), execs RTL_GUARDED_BY(lock);

static _Atomic uint64_t
	runtimes[ROCPROFILER_RUNTIME_INITIALIZATION_LAST]; /* instances that were shown */

/* Memory pools and regions of HSA: handles, and the agents that have them. */
static struct pool {
	uint64_t handle;
	rocprofiler_agent_id_t agent;
} pools[MAX_POOLS];
static uint32_t nr_pools;
static pthread_once_t pools_once = PTHREAD_ONCE_INIT;

/* ---- what functions do ----------------------------------------------------------------------- */

static struct function role_of_hip(const char *name, const struct tables_param *p)
{
	bool is_stream = strcmp(p->mangled, "P12ihipStream_t") == 0;
	bool is_new = strcmp(p->mangled, "PP12ihipStream_t") == 0;
	struct function f = { ROLE_NONE, p->offset };

	if (is_stream && strcmp(name, "hipStreamDestroy") == 0)
		f.role = ROLE_STREAM_DESTROYED;
	else if (is_stream)
		f.role = ROLE_STREAM_USED;
	else if (is_new && (strncmp(name, "hipStreamCreate", 15) == 0 ||
			    strncmp(name, "hipExtStreamCreate", 18) == 0))
		f.role = ROLE_STREAM_CREATED;
	else if (strncmp(name, "hipGraphInstantiate", 19) == 0)
		f.role = ROLE_EXEC_CREATED;
	else if (strcmp(name, "hipGraphExecDestroy") == 0)
		f.role = ROLE_EXEC_DESTROYED;
	else if (strncmp(name, "hipGraphLaunch", 14) == 0)
		f.role = ROLE_EXEC_LAUNCHED;
	return f;
}

static void find_roles(void)
{
	for (uint32_t op = 0; op < HIP_OP_NR; op++) {
		const struct tables_function *f;

		if (tables_hip[op].kind != KIND(HIP_RUNTIME_API))
			continue;
		f = &tables_callback_kinds[KIND(HIP_RUNTIME_API)].functions[tables_hip[op].id];
		for (uint32_t i = 0; i < f->nr_params && !hip[op].role; i++)
			hip[op] = role_of_hip(f->name, &f->params[i]);
	}
	hsa[HSA_OP_hsa_memory_allocate].role = ROLE_REGION_ALLOCATED;
	hsa[HSA_OP_hsa_amd_memory_pool_allocate].role = ROLE_POOL_ALLOCATED;
	hsa[HSA_OP_hsa_memory_free].role = ROLE_FREED;
	hsa[HSA_OP_hsa_amd_memory_pool_free].role = ROLE_FREED;
	hsa[HSA_OP_hsa_amd_vmem_handle_create].role = ROLE_VMEM_ALLOCATED;
	hsa[HSA_OP_hsa_amd_vmem_handle_release].role = ROLE_VMEM_FREED;
}

static const struct function *function_of(uint32_t domain, uint32_t operation)
{
	static const struct function none;

	return domain == API_HIP ? &hip[operation] : domain == API_HSA ? &hsa[operation] : &none;
}

struct what {
	uint8_t kind, operation;
};

static struct what what_of(uint8_t role)
{
	static const struct what all[] = {
		[ROLE_STREAM_USED] = { KIND(HIP_STREAM), ROCPROFILER_HIP_STREAM_SET },
		[ROLE_STREAM_CREATED] = { KIND(HIP_STREAM), ROCPROFILER_HIP_STREAM_CREATE },
		[ROLE_STREAM_DESTROYED] = { KIND(HIP_STREAM), ROCPROFILER_HIP_STREAM_DESTROY },
		[ROLE_EXEC_CREATED] = { KIND(HIP_GRAPH), ROCPROFILER_HIP_GRAPH_EXEC_CREATE },
		[ROLE_EXEC_DESTROYED] = { KIND(HIP_GRAPH), ROCPROFILER_HIP_GRAPH_EXEC_DESTROY },
		[ROLE_EXEC_LAUNCHED] = { KIND(HIP_GRAPH), ROCPROFILER_HIP_GRAPH_EXEC_LAUNCH },
		[ROLE_REGION_ALLOCATED] = { KIND(MEMORY_ALLOCATION),
					    ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE },
		[ROLE_POOL_ALLOCATED] = { KIND(MEMORY_ALLOCATION),
					  ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE },
		[ROLE_FREED] = { KIND(MEMORY_ALLOCATION), ROCPROFILER_MEMORY_ALLOCATION_FREE },
		[ROLE_VMEM_ALLOCATED] = { KIND(MEMORY_ALLOCATION),
					  ROCPROFILER_MEMORY_ALLOCATION_VMEM_ALLOCATE },
		[ROLE_VMEM_FREED] = { KIND(MEMORY_ALLOCATION),
				      ROCPROFILER_MEMORY_ALLOCATION_VMEM_FREE },
	};

	return all[role];
}

static uint64_t mask_of(uint8_t role)
{
	struct what w = what_of(role);

	return context_mask(w.kind, w.operation);
}

/* There are none of streams, nor of graphs but for their launches. */
static uint64_t records_of(uint8_t role)
{
	struct what w = what_of(role);

	if (w.kind == KIND(MEMORY_ALLOCATION))
		return context_buffered_mask(ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,
					     w.operation);
	if (role == ROLE_EXEC_LAUNCHED)
		return context_buffered_mask(ROCPROFILER_BUFFER_TRACING_HIP_GRAPH, w.operation);
	return 0;
}

static uint32_t buffer_kind_of(uint8_t role)
{
	return what_of(role).kind == KIND(MEMORY_ALLOCATION) ?
		       ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION :
		       ROCPROFILER_BUFFER_TRACING_HIP_GRAPH;
}

/* Whether a context wants to know that HIP is there, and it was not seen yet. */
static bool waits_for_hip(void)
{
	return (context_mask(KIND(RUNTIME_INITIALIZATION), EFFECTS_HIP) ||
		context_buffered_mask(ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION,
				      EFFECTS_HIP)) &&
	       !atomic_load_explicit(&runtimes[EFFECTS_HIP], memory_order_relaxed);
}

bool effects_want(uint32_t domain, uint32_t operation)
{
	uint8_t role = function_of(domain, operation)->role;

	if (domain == API_HIP && waits_for_hip())
		return true;
	return role && (mask_of(role) || records_of(role) ||
			(role == ROLE_EXEC_LAUNCHED && mask_of(ROLE_STREAM_USED)));
}

bool effects_has(uint32_t domain)
{
	if (domain == API_HSA)
		return context_has(KIND(MEMORY_ALLOCATION)) ||
		       context_has_records(ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION);
	return context_has(KIND(HIP_STREAM)) || context_has(KIND(HIP_GRAPH)) ||
	       effects_has_graphs() || context_has(KIND(RUNTIME_INITIALIZATION)) ||
	       context_has_records(ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION);
}

/* ---- numbers --------------------------------------------------------------------------------- */

RTL_REQUIRES(lock) static struct number *find_number(struct numbers *n, uint64_t handle)
{
	for (size_t i = n->nr; i-- > 0;)
		if (n->all[i].handle == handle)
			return &n->all[i];
	return NULL;
}

/* 0: no memory. */
RTL_REQUIRES(lock) static uint64_t add_number(struct numbers *n, uint64_t handle)
{
	if (n->nr == n->size) {
		size_t size = n->size ? n->size * 2 : 64;
		struct number *more = alloc_resize(n->all, size, sizeof(*more));

		if (!more)
			return 0;
		n->all = more;
		n->size = size;
	}
	n->all[n->nr++] = (struct number){ handle, ++n->last };
	return n->last;
}

/* A stream or graph that was created before anyone asked has a number from its first use on; the
 * null stream's is 0. */
static uint64_t number_of(struct numbers *n, uint64_t handle, bool is_new)
{
	struct number *there;
	uint64_t id = 0;

	if (!handle)
		return 0;
	lock_take(&lock);
	there = find_number(n, handle);
	if (there && is_new)
		*there = n->all[--n->nr];
	id = there && !is_new ? there->id : add_number(n, handle);
	lock_drop(&lock);
	return id;
}

static void forget_number(struct numbers *n, uint64_t handle)
{
	struct number *there;

	lock_take(&lock);
	there = find_number(n, handle);
	if (there)
		*there = n->all[--n->nr];
	lock_drop(&lock);
}

/* ---- agents of memory ------------------------------------------------------------------------ */

#define REAL(name) ((name##_fn_t)core->hsa_real(HSA_OP_##name))

static void add_pool(uint64_t handle, const rocprofiler_agent_id_t *agent)
{
	if (nr_pools < MAX_POOLS)
		pools[nr_pools++] = (struct pool){ handle, *agent };
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void *agent)
{
	add_pool(pool.handle, agent);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_region(hsa_region_t region, void *agent)
{
	add_pool(region.handle, agent);
	return HSA_STATUS_SUCCESS;
}

static void list_pools(void)
{
	static struct agent agents[AGENTS_MAX];
	uint32_t nr = agents_list(REAL(hsa_iterate_agents), REAL(hsa_agent_get_info), agents);

	for (uint32_t i = 0; i < nr; i++) {
		rocprofiler_agent_id_t id = { SDK_FIRST_AGENT + agents[i].node };

		if (REAL(hsa_amd_agent_iterate_memory_pools))
			REAL(hsa_amd_agent_iterate_memory_pools)(agents[i].handle, on_pool, &id);
		if (REAL(hsa_agent_iterate_regions))
			REAL(hsa_agent_iterate_regions)(agents[i].handle, on_region, &id);
	}
}

static rocprofiler_agent_id_t agent_of(uint64_t handle)
{
	const rocprofiler_agent_id_t none = { 0 };

	pthread_once(&pools_once, list_pools);
	for (uint32_t i = 0; i < nr_pools; i++)
		if (pools[i].handle == handle)
			return pools[i].agent;
	return none;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct op *make(const struct live_call *call, uint8_t role)
{
	uint64_t mask = mask_of(role);
	struct op *op = op_new(mask, mask, records_of(role), buffer_kind_of(role));
	struct what w = what_of(role);

	if (!op)
		return NULL;
	op->kind = w.kind;
	op->begin_operation = op->end_operation = w.operation;
	op->request = w.kind == KIND(MEMORY_ALLOCATION) ?
			      ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_ALLOCATION :
			      ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_NONE;
	op->tid = call->tid;
	if (w.kind == KIND(MEMORY_ALLOCATION))
		correlate_call(call, &op->correlation);
	else
		op->correlation.internal = call->correlation;
	op->next = NULL;
	return op;
}

static uint64_t handle_at(const struct live_call *call, uint16_t offset)
{
	uint64_t handle = 0;

	if (call->args)
		memcpy(&handle, (const char *)call->args + offset, sizeof(handle));
	return handle;
}

static void set_stream(struct op *op, uint64_t stream, bool is_new)
{
	op->payload.stream.size = sizeof(op->payload.stream);
	op->payload.stream.stream_id.handle = number_of(&streams, stream, is_new);
	op->payload.stream.stream_value.value = stream;
}

static void set_exec(struct op *op, uint64_t exec, bool is_new)
{
	op->payload.graph.size = sizeof(op->payload.graph);
	op->payload.graph.graph_exec_id.handle = number_of(&execs, exec, is_new);
	op->payload.graph.graph_exec_value.value = exec;
}

static struct op *begin_stream(const struct live_call *call, uint16_t offset)
{
	struct op *op = make(call, ROLE_STREAM_USED);

	if (!op)
		return NULL;
	set_stream(op, handle_at(call, offset), false);
	op_show_begin(op);
	return op;
}

/* Its stream is used, too: that is shown around it. */
static struct op *begin_launch(const struct live_call *call, uint16_t offset)
{
	struct op *stream = begin_stream(call, (uint16_t)(offset + sizeof(void *)));
	struct op *op = make(call, ROLE_EXEC_LAUNCHED);

	if (!op)
		return stream;
	op->next = stream;
	set_exec(op, handle_at(call, offset), false);
	retire_hold_effect(op->correlation.internal);
	op_show_begin(op);
	op->begin_ns = core->now_ns();
	if (op->records) {
		atomic_store_explicit(&op->payload.launch.nr_pending, 1, memory_order_relaxed);
		op->launch = launching;
		launching = op;
	}
	return op;
}

/* The call is over: its kernels may not be. */
static void end_launch(struct op *op)
{
	launching = op->launch;
	op->launch = NULL;
	op_show_exit(op);
	op->end_ns = core->now_ns();
	effects_launch_drop(op, NULL);
}

#define ARG(fn, name) (((const struct hsa_args_##fn *)call->args)->name)

static void describe_memory(const struct live_call *call, uint8_t role,
			    rocprofiler_callback_tracing_memory_allocation_data_t *d)
{
	d->size = sizeof(*d);
	switch (role) {
	case ROLE_REGION_ALLOCATED:
		d->agent_id = agent_of(ARG(hsa_memory_allocate, region).handle);
		d->allocation_size = ARG(hsa_memory_allocate, size);
		break;
	case ROLE_POOL_ALLOCATED:
		d->agent_id = agent_of(ARG(hsa_amd_memory_pool_allocate, memory_pool).handle);
		d->allocation_size = ARG(hsa_amd_memory_pool_allocate, size);
		break;
	case ROLE_VMEM_ALLOCATED:
		d->agent_id = agent_of(ARG(hsa_amd_vmem_handle_create, pool).handle);
		d->allocation_size = ARG(hsa_amd_vmem_handle_create, size);
		break;
	default: /* the freed address, or handle, is the only argument */
		d->address.value = ARG(hsa_amd_vmem_handle_release, memory_handle);
		break;
	}
}

static struct op *begin_memory(const struct live_call *call, uint8_t role)
{
	struct op *op = call->args ? make(call, role) : NULL;

	if (!op)
		return NULL;
	describe_memory(call, role, &op->payload.memory);
	retire_hold_effect(op->correlation.internal);
	op_show_begin(op);
	op->begin_ns = core->now_ns();
	return op;
}

/* Destroyed: shown before it is. */
static void show_destroyed(const struct live_call *call, const struct function *f)
{
	uint64_t handle = handle_at(call, f->offset);
	struct op *op = handle ? make(call, f->role) : NULL;

	if (!op)
		return;
	if (f->role == ROLE_STREAM_DESTROYED)
		set_stream(op, handle, false);
	else
		set_exec(op, handle, false);
	op_show_now(op);
	op_free(op);
	forget_number(f->role == ROLE_STREAM_DESTROYED ? &streams : &execs, handle);
}

/* Whether `call` is within the call that has launched the graph. */
static bool is_within(const struct live_call *call, const struct op *launch)
{
	while (call && call->correlation != launch->correlation.internal)
		call = live_outer(call);
	return call;
}

/* Launches whose calls did not return: they were left by longjmp(), or by an exception. */
static RTL_NOINLINE void end_left_launches(const struct live_call *call)
{
	struct op *op;

	while ((op = launching) != NULL && !is_within(call, op)) {
		launching = op->launch;
		op->launch = NULL;
		op->end_ns = core->now_ns();
		effects_launch_drop(op, NULL);
	}
}

struct op *effects_enter(const struct live_call *call)
{
	const struct function *f = function_of(call->domain, call->operation);

	if (RTL_UNLIKELY(launching != NULL))
		end_left_launches(call);
	switch (f->role) {
	case ROLE_NONE:
	case ROLE_STREAM_CREATED:
	case ROLE_EXEC_CREATED:
		return NULL;
	case ROLE_STREAM_USED:
		return begin_stream(call, f->offset);
	case ROLE_EXEC_LAUNCHED:
		return begin_launch(call, f->offset);
	case ROLE_STREAM_DESTROYED:
	case ROLE_EXEC_DESTROYED:
		show_destroyed(call, f);
		return NULL;
	default:
		return begin_memory(call, f->role);
	}
}

/* The handle that a function has stored; 0: it has failed. */
static uint64_t created(const struct live_call *call, const struct function *f)
{
	uint64_t where = handle_at(call, f->offset), handle = 0;
	int32_t status = -1;

	if (call->result)
		memcpy(&status, call->result, sizeof(status));
	if (status == 0 && where)
		memcpy(&handle, (const void *)(uintptr_t)where, sizeof(handle));
	return handle;
}

static void show_created(const struct live_call *call, const struct function *f)
{
	uint64_t handle = created(call, f);
	struct op *op = handle ? make(call, f->role) : NULL;

	if (!op)
		return;
	if (f->role == ROLE_STREAM_CREATED)
		set_stream(op, handle, true);
	else
		set_exec(op, handle, true);
	op_show_now(op);
	op_free(op);
}

/* What an allocation has stored; 0: it has failed. */
static uint64_t allocated(const struct live_call *call, uint8_t role)
{
	const void *where = role == ROLE_REGION_ALLOCATED ?
				    ARG(hsa_memory_allocate, ptr) :
			    role == ROLE_POOL_ALLOCATED ?
				    ARG(hsa_amd_memory_pool_allocate, ptr) :
				    (const void *)ARG(hsa_amd_vmem_handle_create, memory_handle);
	hsa_status_t status = HSA_STATUS_ERROR;
	uint64_t value = 0;

	if (call->result)
		memcpy(&status, call->result, sizeof(status));
	if (status == HSA_STATUS_SUCCESS && where)
		memcpy(&value, where, sizeof(value));
	return value;
}

static void show_hip(void);

static void end_memory(const struct live_call *call, uint8_t role, struct op *op)
{
	rocprofiler_callback_tracing_memory_allocation_data_t *d = &op->payload.memory;

	d->start_timestamp = op->begin_ns;
	d->end_timestamp = core->now_ns();
	if (role != ROLE_FREED && role != ROLE_VMEM_FREED)
		d->address.value = allocated(call, role);
}

void effects_exit(const struct live_call *call, struct op *op)
{
	const struct function *f = function_of(call->domain, call->operation);
	struct op *next;

	if (RTL_UNLIKELY(call->domain == API_HIP && waits_for_hip()) &&
	    tables_hip[call->operation].kind == KIND(HIP_RUNTIME_API))
		show_hip();
	if (f->role == ROLE_STREAM_CREATED || f->role == ROLE_EXEC_CREATED)
		show_created(call, f);
	for (; op; op = next) {
		next = op->next;
		if (op->kind == KIND(HIP_GRAPH) && op->records) {
			end_launch(op);
			continue;
		}
		if (op->kind == KIND(MEMORY_ALLOCATION))
			end_memory(call, f->role, op);
		op_show_end(op);
		if (op->kind != KIND(HIP_STREAM))
			retire_drop(op->correlation.internal);
		op_free(op);
	}
}

/* ---- kernels of graphs ----------------------------------------------------------------------- */

bool effects_has_graphs(void)
{
	return context_has_records(ROCPROFILER_BUFFER_TRACING_HIP_GRAPH);
}

bool effects_launching(void)
{
	return launching;
}

struct op *effects_launch_of(uint32_t tid)
{
	return RTL_UNLIKELY(launching != NULL) && launching->tid == tid ? launching : NULL;
}

void effects_launch_hold(struct op *launch)
{
	/* relaxed: the call holds it */
	atomic_fetch_add_explicit(&launch->payload.launch.nr_pending, 1, memory_order_relaxed);
}

/* On the thread that shows the ends of operations. */
static void add_kernel(struct op_launch *l, const struct op *kernel)
{
	const rocprofiler_kernel_dispatch_info_t *info = &kernel->payload.dispatch.dispatch_info;

	if (!l->nr++) {
		l->agent = info->agent_id;
		l->queue = info->queue_id;
		l->begin_ns = kernel->begin_ns;
	}
	if (kernel->begin_ns < l->begin_ns)
		l->begin_ns = kernel->begin_ns;
	if (kernel->end_ns > l->end_ns)
		l->end_ns = kernel->end_ns;
}

void effects_launch_drop(struct op *launch, const struct op *kernel)
{
	struct op_launch *l = &launch->payload.launch;

	if (kernel)
		add_kernel(l, kernel);
	/* acq_rel: the last one sees what the others have added */
	if (atomic_fetch_sub_explicit(&l->nr_pending, 1, memory_order_acq_rel) != 1)
		return;
	/* also while tools are finalised: the last kernels are settled then */
	op_put_records(launch);
	retire_drop(launch->correlation.internal);
	op_free(launch);
}

/* ---- runtimes -------------------------------------------------------------------------------- */

static void show_runtime(enum effects_runtime which, uint64_t version, uint64_t instance)
{
	struct op *op =
		state_is_over() ?
			NULL :
			op_new(context_mask(KIND(RUNTIME_INITIALIZATION), which), 0,
			       context_buffered_mask(
				       ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION, which),
			       ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION);

	if (!op)
		return;
	op->begin_ns = core->now_ns();
	op->kind = KIND(RUNTIME_INITIALIZATION);
	op->begin_operation = which;
	op->request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_NONE;
	op->tid = (uint64_t)gettid();
	op->payload.runtime.size = sizeof(op->payload.runtime);
	op->payload.runtime.version = version;
	op->payload.runtime.instance = instance;
	op_show_now(op);
	op_free(op);
}

void effects_runtime(enum effects_runtime which, uint64_t version, uint64_t instance)
{
	uint64_t bit = UINT64_C(1) << (instance & 63);

	if (atomic_load_explicit(&runtimes[which], memory_order_relaxed) & bit ||
	    atomic_fetch_or(&runtimes[which], bit) & bit)
		return;
	show_runtime(which, version, instance);
}

/* HIP before 6.0 does not tell its version when it comes up: it is asked when one of its calls has
 * returned. */
static void show_hip(void)
{
	int (*get_version)(int *) = (int (*)(int *))core->hip_find("hipRuntimeGetVersion");
	int version = 0;

	core->quiet(true);
	if (get_version)
		get_version(&version);
	core->quiet(false);
	/* 5.2.x: 502xxxxx */
	effects_runtime(EFFECTS_HIP,
			(uint64_t)version / 10000000 * 10000 +
				(uint64_t)version / 100000 % 100 * 100,
			0);
}

void effects_start(const struct rtl_core *of)
{
	core = of;
	find_roles();
}

#endif
