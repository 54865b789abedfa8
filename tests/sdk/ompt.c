/* SPDX-License-Identifier: MIT */
/* ompt.c - events of OpenMP: this program is the runtime, and the tool
 *
 * Usage: ompt [unwanted]
 *   unwanted   no context has a service of OMPT: another tool gets its turn
 *
 * Exits with 1 if something was not as it should be.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"
#include "client.h"

#define MAX 64
#define OK ROCPROFILER_STATUS_SUCCESS
#define OP(name) ROCPROFILER_OMPT_ID_##name

static int nr_wrong;
static bool is_unwanted;
static rocprofiler_client_finalize_t end_client;
static rocprofiler_context_id_t shown, recorded;
static rocprofiler_buffer_id_t buffer;
extern ompt_start_tool_result_t ompt_other;

/* ---- the tool -------------------------------------------------------------------------------- */

static struct event {
	rocprofiler_callback_tracing_record_t record;
	rocprofiler_ompt_args_t args;
	uint64_t user;
} events[MAX];
static uint32_t nr_events;
static rocprofiler_buffer_tracing_ompt_record_t records[MAX];
static uint32_t nr_records, nr_retired;
static char text[512];

static int on_argument(rocprofiler_callback_tracing_kind_t kind,
		       rocprofiler_tracing_operation_t operation, uint32_t number,
		       const void *value, int32_t indirections, const char *type, const char *name,
		       const char *shown_as, int32_t dereferences, void *arg)
{
	(void)kind;
	(void)operation;
	(void)number;
	(void)value;
	(void)dereferences;
	(void)arg;
	if (indirections)
		shown_as = "*";
	snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s=%s;", type, name,
		 shown_as);
	return 0;
}

static void on_event(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		     void *arg)
{
	rocprofiler_callback_tracing_ompt_data_t *data = record.payload;
	struct event *e = &events[nr_events++ % MAX];

	IS(arg == &nr_events, 1);
	IS(record.kind, ROCPROFILER_CALLBACK_TRACING_OMPT);
	IS(record.context_id.handle, shown.handle);
	IS(data->size, sizeof(*data));
	e->record = record;
	e->args = data->args;
	e->user = user->value;
	user->value = record.correlation_id.internal;
	/* the words of the runtime are the tool's */
	if (record.operation == OP(implicit_task) &&
	    record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		data->args.implicit_task.task_data->value = 4711;
	text[0] = '\0';
	IS(rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 1, NULL),
	   OK);
}

static void on_records(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
		       rocprofiler_record_header_t **headers, size_t nr, void *arg, uint64_t lost)
{
	(void)id;
	(void)arg;
	IS(context.handle, recorded.handle);
	IS(lost, 0);
	for (size_t i = 0; i < nr; i++) {
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT)
			nr_retired++;
		else
			memcpy(&records[nr_records++ % MAX], headers[i]->payload,
			       sizeof(records[0]));
	}
}

static int initialize(rocprofiler_client_finalize_t fini, void *arg)
{
	const rocprofiler_tracing_operation_t some[] = { OP(thread_begin),	OP(parallel_begin),
							 OP(implicit_task),	OP(work),
							 OP(dispatch),		OP(target_emi),
							 OP(callback_functions) };
	const rocprofiler_tracing_operation_t others[] = { OP(work), OP(target_emi),
							   OP(target_data_op_emi),
							   OP(target_submit_emi), OP(error) };

	(void)arg;
	end_client = fini;
	IS(rocprofiler_create_context(&shown), OK);
	IS(rocprofiler_create_context(&recorded), OK);
	if (is_unwanted)
		return 0;
	IS(rocprofiler_configure_callback_tracing_service(shown, ROCPROFILER_CALLBACK_TRACING_OMPT,
							  some, sizeof(some) / sizeof(some[0]),
							  on_event, &nr_events),
	   OK);
	IS(rocprofiler_create_buffer(recorded, 65536, 65536, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				     on_records, NULL, &buffer),
	   OK);
	IS(rocprofiler_configure_buffer_tracing_service(recorded, ROCPROFILER_BUFFER_TRACING_OMPT,
							others, sizeof(others) / sizeof(others[0]),
							buffer),
	   OK);
	IS(rocprofiler_configure_buffer_tracing_service(
		   recorded, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, NULL, 0, buffer),
	   OK);
	IS(rocprofiler_start_context(shown), OK);
	IS(rocprofiler_start_context(recorded), OK);
	return 0;
}

SDK_CLIENT("ompt")

/* ---- the runtime ----------------------------------------------------------------------------- */

static ompt_callback_t callbacks[ompt_callback_error + 1];
static uint64_t nr_set;

static ompt_set_result_t set_callback(ompt_callbacks_t event, ompt_callback_t fn)
{
	callbacks[event] = fn;
	nr_set++;
	return ompt_set_always;
}

static int get_num_procs(void)
{
	return 17;
}

static ompt_interface_fn_t lookup(const char *name)
{
	int status = 7;

	IS(rocprofiler_ompt_is_initialized(&status), OK);
	IS(status, -1);
	if (strcmp(name, "ompt_set_callback") == 0)
		return (ompt_interface_fn_t)set_callback;
	return strcmp(name, "ompt_get_num_procs") == 0 ? (ompt_interface_fn_t)get_num_procs : NULL;
}

#define TELL(name, type, ...)                                                                      \
	((ompt_callback_##type##_t)callbacks[ompt_callback_##name])(__VA_ARGS__)

static int status_of(rocprofiler_status_t (*query)(int *))
{
	int status = 7;

	IS(query(&status), OK);
	IS(query(NULL), ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
	return status;
}

/* As libomp finds it. */
static ompt_start_tool_result_t *start_tool(void)
{
	ompt_start_tool_result_t *(*start)(unsigned int, const char *) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "ompt_start_tool");

	memcpy(&start, &found, sizeof(start));
	return start(202011, "a runtime");
}

static void check_start(void)
{
	ompt_start_tool_result_t *tool;

	IS(status_of(rocprofiler_ompt_is_initialized), 0);
	tool = start_tool();
	IS(tool && tool != &ompt_other, 1);
	IS(client != NULL, 1);
	IS(rocprofiler_ompt_start_tool(202011, "again") == NULL, 1);
	IS(tool->initialize(lookup, 0, &tool->tool_data), 1);
	IS(status_of(rocprofiler_ompt_is_initialized), 1);
	/* those that some context wants, and no others */
	IS(nr_set, 9);
	IS(callbacks[ompt_callback_thread_begin] && callbacks[ompt_callback_error], 1);
	IS(callbacks[ompt_callback_thread_end] || callbacks[ompt_callback_target_map_emi], 0);
	IS(nr_events, 1);
	IS(events[0].record.operation, OP(callback_functions));
	IS(events[0].record.phase, ROCPROFILER_CALLBACK_PHASE_NONE);
	IS(events[0].args.callback_functions.ompt_get_num_procs(), 17);
	IS(events[0].args.callback_functions.ompt_get_unique_id == NULL, 1);
	IS(status_of(rocprofiler_ompt_is_finalized), 0);
}

static uint64_t id_of(uint32_t event)
{
	return events[event].record.correlation_id.internal;
}

static uint64_t ancestor_of(uint32_t event)
{
	return events[event].record.correlation_id.ancestor;
}

static void is_event(uint32_t event, int operation, int phase)
{
	IS(events[event].record.operation, operation);
	IS(events[event].record.phase, phase);
	IS(events[event].record.thread_id, gettid());
}

static void check_regions(void)
{
	enum { NONE = ROCPROFILER_CALLBACK_PHASE_NONE, ENTER, EXIT };
	ompt_data_t task = { 0 }, copy, parallel = { 0 };
	ompt_frame_t frame = { { 0 }, { 0 }, 0, 0 };

	nr_events = 0;
	TELL(parallel_begin, parallel_begin, &task, &frame, &parallel, 4, 2, "code");
	is_event(0, OP(parallel_begin), NONE);
	IS(events[0].args.parallel_begin.requested_parallelism, 4);
	IS(events[0].args.parallel_begin.parallel_data == &parallel, 1);
	IS(ancestor_of(0), 0);
	TEXT(text,
	     "P11ompt_data_t encountering_task_data=*;PK12ompt_frame_t encountering_task_frame=*;P11ompt_data_t parallel_data=*;j requested_parallelism=4;i flags=2;PKv codeptr_ra=*;");
	TELL(implicit_task, implicit_task, ompt_scope_begin, &parallel, &task, 4, 1,
	     ompt_task_implicit);
	is_event(1, OP(implicit_task), ENTER);
	IS(task.value, 4711);
	TELL(work, work, ompt_work_loop, ompt_scope_begin, &parallel, &task, 100, "code");
	is_event(2, OP(work), ENTER);
	IS(ancestor_of(2), id_of(1));
	TELL(dispatch, dispatch, &parallel, &task, ompt_dispatch_iteration, task);
	is_event(3, OP(dispatch), NONE);
	IS(ancestor_of(3), id_of(2));
	IS(events[3].args.dispatch.instance.value, 4711);
	TELL(work, work, ompt_work_loop, ompt_scope_end, &parallel, &task, 100, "code");
	is_event(4, OP(work), EXIT);
	IS(id_of(4), id_of(2));
	IS(ancestor_of(4), id_of(1));
	IS(events[4].user, id_of(2));
	/* a region that did not begin here */
	TELL(work, work, ompt_work_loop, ompt_scope_end, &parallel, &task, 100, "code");
	IS(nr_events, 5);
	/* libomp has another address for the word then, and no parallel region */
	copy = task;
	TELL(implicit_task, implicit_task, ompt_scope_end, NULL, &copy, 0, 1, ompt_task_implicit);
	is_event(5, OP(implicit_task), EXIT);
	IS(id_of(5), id_of(1));
	IS(events[5].args.implicit_task.task_data == &copy, 1);
	IS(events[5].args.implicit_task.parallel_data == NULL, 1);
	IS(nr_events, 6);
	IS(id_of(0) != id_of(1) && id_of(1) != id_of(2) && id_of(2) != id_of(3), 1);
}

static void *on_thread(void *unneeded)
{
	ompt_data_t thread = { 0 };

	(void)unneeded;
	nr_events = 0;
	TELL(thread_begin, thread_begin, ompt_thread_worker, &thread);
	is_event(0, OP(thread_begin), ROCPROFILER_CALLBACK_PHASE_NONE);
	IS(events[0].args.thread_begin.thread_type, ompt_thread_worker);
	TEXT(text, "13ompt_thread_t thread_type=2;P11ompt_data_t thread_data=*;");
	return NULL;
}

static const rocprofiler_buffer_tracing_ompt_record_t *record_of(int operation)
{
	for (uint32_t i = 0; i < nr_records && i < MAX; i++)
		if (records[i].operation == operation)
			return &records[i];
	return NULL;
}

static void check_records(void)
{
	ompt_data_t task = { 5 }, target = { 6 };
	ompt_id_t host_op = 8;
	const rocprofiler_buffer_tracing_ompt_record_t *r;

	nr_events = 0;
	TELL(target_emi, target_emi, ompt_target, ompt_scope_begin, 3, &task, NULL, &target, "at");
	/* begins and ends at once */
	TELL(target_data_op_emi, target_data_op_emi, ompt_scope_beginend, NULL, &target, &host_op,
	     ompt_target_data_alloc, NULL, 1, NULL, 2, 4096, "at");
	TELL(target_submit_emi, target_submit_emi, ompt_scope_begin, &target, &host_op, 12);
	TELL(target_submit_emi, target_submit_emi, ompt_scope_end, &target, NULL, 12);
	TELL(target_emi, target_emi, ompt_target, ompt_scope_end, 3, NULL, NULL, &target, "at");
	TELL(error, error, ompt_warning, "text", 4, "at");
	IS(nr_events, 2);
	IS(rocprofiler_flush_buffer(buffer), OK);
	/* and one of `work`, from before */
	IS(nr_records, 5);
	for (uint32_t i = 0; i < nr_records && i < MAX; i++) {
		IS(records[i].size, sizeof(records[i]));
		IS(records[i].kind, ROCPROFILER_BUFFER_TRACING_OMPT);
		IS(records[i].thread_id, gettid());
		IS(records[i].start_timestamp > 0 &&
			   records[i].start_timestamp <= records[i].end_timestamp,
		   1);
	}
	r = record_of(OP(target_emi));
	IS(r && r->target.kind == ompt_target && r->target.device_num == 3, 1);
	IS(r && r->target.task_id == 0 && r->target.target_id == 6 && r->target.codeptr_ra, 1);
	IS(r && r->correlation_id.internal == id_of(0), 1);
	r = record_of(OP(target_data_op_emi));
	IS(r && r->target_data_op.host_op_id == 8 && r->target_data_op.bytes == 4096, 1);
	IS(r && r->target_data_op.src_device_num == 1 && r->target_data_op.dst_device_num == 2, 1);
	IS(r && r->correlation_id.ancestor == id_of(0), 1);
	r = record_of(OP(target_submit_emi));
	IS(r && r->target_kernel.requested_num_teams == 12 && !r->target_kernel.host_op_id, 1);
	r = record_of(OP(error));
	IS(r && r->start_timestamp == r->end_timestamp, 1);
	/* each id, whether its events had a record or not */
	IS(nr_retired, 1 + 4 + 1 + 4);
}

static void check_end(void)
{
	ompt_data_t thread = { 0 };

	nr_events = 0;
	IS(rocprofiler_stop_context(shown), OK);
	TELL(thread_begin, thread_begin, ompt_thread_other, &thread);
	IS(nr_events, 0);
	IS(rocprofiler_start_context(shown), OK);
	TELL(thread_begin, thread_begin, ompt_thread_other, &thread);
	IS(nr_events, 1);
	end_client(*client);
	TELL(thread_begin, thread_begin, ompt_thread_other, &thread);
	IS(nr_events, 1);
}

static void check_unwanted(void)
{
	ompt_start_tool_result_t *own;

	IS(start_tool() == &ompt_other, 1);
	IS(ompt_other.tool_data.value, 202011 + 'a');
	IS(status_of(rocprofiler_ompt_is_initialized), 0);
	/* a tool's own ompt_start_tool() may ask for it: the runtime goes on without a tool then */
	own = rocprofiler_ompt_start_tool(202011, "a runtime");
	IS(own && own->initialize(lookup, 0, &own->tool_data) == 0, 1);
	IS(nr_set, 0);
	own->finalize(&own->tool_data);
	IS(status_of(rocprofiler_ompt_is_finalized), 1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	is_unwanted = argc > 1 && strcmp(argv[1], "unwanted") == 0;
	if (is_unwanted) {
		check_unwanted();
	} else {
		check_start();
		check_regions();
		if (pthread_create(&thread, NULL, on_thread, NULL) == 0)
			pthread_join(thread, NULL);
		check_records();
		check_end();
	}
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
