/* SPDX-License-Identifier: MIT */
/* ompt.c - librocprofiler-sdk: events of OpenMP, of which its runtime tells its tool (OMPT)
 *
 * The runtime looks for ompt_start_tool() when it starts. Callbacks that contexts want by then are
 * registered with it, and no others; without any, another tool gets its turn. Clients get the
 * runtime's own words of data for threads, tasks and regions: this library keeps none there.
 *
 * Owns:     each thread's regions that have begun; a thread's are lost with it.
 * Threads:  any of OpenMP's.
 * Fails:    without memory an event is not shown; its record counts as dropped.
 */
#include "base/compiler.h"
#include "rocprofiler-sdk/version.h"

#if ROCPROFILER_SDK_ABI > 0
#include <dlfcn.h>
#include <unistd.h>

#include "context.h"
#include "correlate.h"
#include "operations.h"
#include "retire.h"
#include "state.h"

#define ID(name) ROCPROFILER_OMPT_ID_##name

static _Atomic int is_started, is_ended;
static _Thread_local struct op *inside; /* the newest first */

/* ---- showing --------------------------------------------------------------------------------- */

/* The innermost call that was shown when the region began is its key. */
static void note_innermost(void)
{
	correlate_region = (struct correlate_region){
		inside ? inside->correlation.internal : 0,
		inside ? (const struct live_call *)(uintptr_t)inside->key : NULL,
	};
}

static struct op *make(uint32_t operation, const rocprofiler_ompt_args_t *args)
{
	uint64_t mask = context_mask(ROCPROFILER_CALLBACK_TRACING_OMPT, operation);
	uint64_t records = context_buffered_mask(ROCPROFILER_BUFFER_TRACING_OMPT, operation);
	struct op *op =
		op_new_unset(mask, mask, records, (uint32_t)ROCPROFILER_BUFFER_TRACING_OMPT);

	if (!op)
		return NULL;
	op->kind = ROCPROFILER_CALLBACK_TRACING_OMPT;
	op->begin_operation = op->end_operation = operation;
	op->request = ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_OMPT;
	op->tid = (uint64_t)gettid();
	op->correlation.internal = state_core()->corr_new_id();
	op->key = (uintptr_t)correlate_shown();
	op->correlation.ancestor = correlate_now();
	op->payload.ompt.size = sizeof(op->payload.ompt);
	op->payload.ompt.args = *args;
	return op;
}

static bool is_silent(void)
{
	return state_is_over() || op_is_in_callback();
}

static void end(struct op *op)
{
	retire_drop(op->correlation.internal);
	op_free(op);
}

/* An event without a duration. */
static void instant(uint32_t operation, const rocprofiler_ompt_args_t *args)
{
	struct op *op = is_silent() ? NULL : make(operation, args);

	if (!op)
		return;
	retire_begin(op->correlation.internal);
	op->begin_ns = op->end_ns = state_core()->now_ns();
	op_show_now(op);
	end(op);
}

static void begin_region(uint32_t operation, const rocprofiler_ompt_args_t *args)
{
	struct op *op = make(operation, args);

	if (!op)
		return;
	retire_begin(op->correlation.internal);
	op_show_begin(op);
	op->next = inside;
	inside = op;
	note_innermost();
	op->begin_ns = state_core()->now_ns();
}

/* The newest of the kind: regions are nested, and the runtime copies its words of data. One that
 * began before a context wanted it, or on another thread, is not there. */
static void end_region(uint32_t operation, const rocprofiler_ompt_args_t *args)
{
	uint64_t now = state_core()->now_ns();
	struct op **link = &inside, *op;

	while (*link && (*link)->begin_operation != operation)
		link = &(*link)->next;
	op = *link;
	if (!op)
		return;
	*link = op->next;
	note_innermost();
	op->end_ns = now;
	op->payload.ompt.args = *args;
	op_show_end(op);
	end(op);
}

static void region(uint32_t operation, ompt_scope_endpoint_t endpoint,
		   const rocprofiler_ompt_args_t *args)
{
	if (is_silent())
		return;
	if (endpoint != ompt_scope_end)
		begin_region(operation, args);
	if (endpoint != ompt_scope_begin)
		end_region(operation, args);
}

/* ---- what the runtime calls ------------------------------------------------------------------ */

#define INSTANT(name, ...)                                                                         \
	instant(ID(name), &(const rocprofiler_ompt_args_t){ .name = { __VA_ARGS__ } })
#define REGION(name, ...)                                                                          \
	region(ID(name), endpoint, &(const rocprofiler_ompt_args_t){ .name = { __VA_ARGS__ } })

static void on_thread_begin(ompt_thread_t type, ompt_data_t *thread)
{
	INSTANT(thread_begin, type, thread);
}

static void on_thread_end(ompt_data_t *thread)
{
	INSTANT(thread_end, thread);
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
			      unsigned int nr, int flags, const void *code)
{
	INSTANT(parallel_begin, task, frame, parallel, nr, flags, code);
}

static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags, const void *code)
{
	INSTANT(parallel_end, parallel, task, flags, code);
}

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *created,
			   int flags, int has_dependences, const void *code)
{
	INSTANT(task_create, task, frame, created, flags, has_dependences, code);
}

static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next)
{
	INSTANT(task_schedule, prior, status, next);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
			     ompt_data_t *task, unsigned int nr, unsigned int index, int flags)
{
	REGION(implicit_task, endpoint, parallel, task, nr, index, flags);
}

static void on_device_initialize(int device, const char *type, ompt_device_t *handle,
				 ompt_function_lookup_t lookup, const char *documentation)
{
	INSTANT(device_initialize, device, type, handle, lookup, documentation);
}

static void on_device_finalize(int device)
{
	INSTANT(device_finalize, device);
}

static void on_device_load(int device, const char *file, int64_t offset, void *vma, size_t bytes,
			   void *host, void *address, uint64_t module)
{
	INSTANT(device_load, device, file, offset, vma, bytes, host, address, module);
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
			   ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	REGION(sync_region, kind, endpoint, parallel, task, code);
}

static void on_sync_region_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
				ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	REGION(sync_region_wait, kind, endpoint, parallel, task, code);
}

static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t endpoint,
			 ompt_data_t *parallel, ompt_data_t *task, const void *code)
{
	REGION(reduction, kind, endpoint, parallel, task, code);
}

static void on_mutex_acquire(ompt_mutex_t kind, unsigned int hint, unsigned int impl,
			     ompt_wait_id_t wait, const void *code)
{
	INSTANT(mutex_acquire, kind, hint, impl, wait, code);
}

static void on_lock_init(ompt_mutex_t kind, unsigned int hint, unsigned int impl,
			 ompt_wait_id_t wait, const void *code)
{
	INSTANT(lock_init, kind, hint, impl, wait, code);
}

static void on_mutex_acquired(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code)
{
	INSTANT(mutex_acquired, kind, wait, code);
}

static void on_mutex_released(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code)
{
	INSTANT(mutex_released, kind, wait, code);
}

static void on_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t wait, const void *code)
{
	INSTANT(lock_destroy, kind, wait, code);
}

static void on_nest_lock(ompt_scope_endpoint_t endpoint, ompt_wait_id_t wait, const void *code)
{
	INSTANT(nest_lock, endpoint, wait, code);
}

static void on_dependences(ompt_data_t *task, const ompt_dependence_t *all, int nr)
{
	INSTANT(dependences, task, all, nr);
}

static void on_task_dependence(ompt_data_t *source, ompt_data_t *sink)
{
	INSTANT(task_dependence, source, sink);
}

static void on_work(ompt_work_t type, ompt_scope_endpoint_t endpoint, ompt_data_t *parallel,
		    ompt_data_t *task, uint64_t count, const void *code)
{
	REGION(work, type, endpoint, parallel, task, count, code);
}

static void on_masked(ompt_scope_endpoint_t endpoint, ompt_data_t *parallel, ompt_data_t *task,
		      const void *code)
{
	REGION(masked, endpoint, parallel, task, code);
}

static void on_flush(ompt_data_t *thread, const void *code)
{
	INSTANT(flush, thread, code);
}

static void on_cancel(ompt_data_t *task, int flags, const void *code)
{
	INSTANT(cancel, task, flags, code);
}

static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind,
			ompt_data_t instance)
{
	INSTANT(dispatch, parallel, task, kind, instance);
}

static void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device,
		      ompt_data_t *task, ompt_data_t *target_task, ompt_data_t *target,
		      const void *code)
{
	REGION(target_emi, kind, endpoint, device, task, target_task, target, code);
}

static void on_target_data_op(ompt_scope_endpoint_t endpoint, ompt_data_t *target_task,
			      ompt_data_t *target, ompt_id_t *host_op, ompt_target_data_op_t type,
			      void *from, int from_device, void *to, int to_device, size_t bytes,
			      const void *code)
{
	REGION(target_data_op_emi, endpoint, target_task, target, (ompt_data_t *)host_op, type,
	       from, from_device, to, to_device, bytes, code);
}

static void on_target_submit(ompt_scope_endpoint_t endpoint, ompt_data_t *target,
			     ompt_id_t *host_op, unsigned int nr_teams)
{
	REGION(target_submit_emi, endpoint, target, (ompt_data_t *)host_op, nr_teams);
}

static void on_error(ompt_severity_t severity, const char *message, size_t length, const void *code)
{
	INSTANT(error, severity, message, length, code);
}

/* ---- a tool of OpenMP's ---------------------------------------------------------------------- */

static const struct {
	ompt_callbacks_t event;
	ompt_callback_t fn;
} callbacks[ROCPROFILER_OMPT_ID_LAST] = {
#define CALLBACK(name, function) [ID(name)] = { ompt_callback_##name, (ompt_callback_t)(function) }
	CALLBACK(thread_begin, on_thread_begin),
	CALLBACK(thread_end, on_thread_end),
	CALLBACK(parallel_begin, on_parallel_begin),
	CALLBACK(parallel_end, on_parallel_end),
	CALLBACK(task_create, on_task_create),
	CALLBACK(task_schedule, on_task_schedule),
	CALLBACK(implicit_task, on_implicit_task),
	CALLBACK(device_initialize, on_device_initialize),
	CALLBACK(device_finalize, on_device_finalize),
	CALLBACK(device_load, on_device_load),
	CALLBACK(sync_region_wait, on_sync_region_wait),
	CALLBACK(mutex_released, on_mutex_released),
	CALLBACK(dependences, on_dependences),
	CALLBACK(task_dependence, on_task_dependence),
	CALLBACK(work, on_work),
	CALLBACK(masked, on_masked),
	CALLBACK(sync_region, on_sync_region),
	CALLBACK(lock_init, on_lock_init),
	CALLBACK(lock_destroy, on_lock_destroy),
	CALLBACK(mutex_acquire, on_mutex_acquire),
	CALLBACK(mutex_acquired, on_mutex_acquired),
	CALLBACK(nest_lock, on_nest_lock),
	CALLBACK(flush, on_flush),
	CALLBACK(cancel, on_cancel),
	CALLBACK(reduction, on_reduction),
	CALLBACK(dispatch, on_dispatch),
	CALLBACK(target_emi, on_target),
	CALLBACK(target_data_op_emi, on_target_data_op),
	CALLBACK(target_submit_emi, on_target_submit),
	CALLBACK(error, on_error),
};

/* Contexts may be started later. */
static bool is_wanted(uint32_t operation)
{
	return atomic_load(&context_wanted[ROCPROFILER_CALLBACK_TRACING_OMPT][operation]) ||
	       atomic_load(&context_records_wanted[ROCPROFILER_BUFFER_TRACING_OMPT][operation]);
}

static bool is_any_wanted(void)
{
	return context_has(ROCPROFILER_CALLBACK_TRACING_OMPT) ||
	       context_has_records(ROCPROFILER_BUFFER_TRACING_OMPT);
}

static void show_functions(ompt_function_lookup_t lookup)
{
	rocprofiler_ompt_args_t args;

#define FUNCTION(name) args.callback_functions.name = (name##_t)lookup(#name)
	FUNCTION(ompt_enumerate_states);
	FUNCTION(ompt_enumerate_mutex_impls);
	FUNCTION(ompt_get_thread_data);
	FUNCTION(ompt_get_num_places);
	FUNCTION(ompt_get_place_proc_ids);
	FUNCTION(ompt_get_place_num);
	FUNCTION(ompt_get_partition_place_nums);
	FUNCTION(ompt_get_proc_id);
	FUNCTION(ompt_get_state);
	FUNCTION(ompt_get_parallel_info);
	FUNCTION(ompt_get_task_info);
	FUNCTION(ompt_get_task_memory);
	FUNCTION(ompt_get_num_devices);
	FUNCTION(ompt_get_num_procs);
	FUNCTION(ompt_get_target_info);
	FUNCTION(ompt_get_unique_id);
	instant(ID(callback_functions), &args);
}

/* 0: the runtime goes on without a tool. */
static int on_initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
	ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");

	(void)device;
	(void)data;
	for (uint32_t i = 0; set && i < ROCPROFILER_OMPT_ID_LAST; i++)
		if (callbacks[i].fn && is_wanted(i))
			set(callbacks[i].event, callbacks[i].fn);
	if (set && state_core())
		show_functions(lookup);
	atomic_store(&is_started, 1);
	return set && state_core() && is_any_wanted();
}

static void on_finalize(ompt_data_t *data)
{
	(void)data;
	atomic_store(&is_ended, 1);
}

EXPORT ompt_start_tool_result_t *rocprofiler_ompt_start_tool(unsigned int omp_version,
							     const char *runtime_version)
{
	static ompt_start_tool_result_t result = { on_initialize, on_finalize, { 0 } };
	int none = 0;

	(void)omp_version;
	(void)runtime_version;
	state_first_use();
	return atomic_compare_exchange_strong(&is_started, &none, -1) ? &result : NULL;
}

/* Of a library behind this one. */
static ompt_start_tool_result_t *start_other(unsigned int omp_version, const char *runtime_version)
{
	void *next = dlsym(RTLD_NEXT, "ompt_start_tool");

	return next ? ((ompt_start_tool_result_t * (*)(unsigned int, const char *))
			       next)(omp_version, runtime_version) :
		      NULL;
}

EXPORT ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version,
						 const char *runtime_version)
{
	state_first_use();
	return is_any_wanted() ? rocprofiler_ompt_start_tool(omp_version, runtime_version) :
				 start_other(omp_version, runtime_version);
}

EXPORT rocprofiler_status_t rocprofiler_ompt_is_initialized(int *status)
{
	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = atomic_load(&is_started);
	return ROCPROFILER_STATUS_SUCCESS;
}

EXPORT rocprofiler_status_t rocprofiler_ompt_is_finalized(int *status)
{
	if (!status)
		return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
	*status = atomic_load(&is_ended);
	return ROCPROFILER_STATUS_SUCCESS;
}
#endif
