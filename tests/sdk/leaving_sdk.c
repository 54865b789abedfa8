/* SPDX-License-Identifier: MIT */
/* leaving_sdk.c - an HSA program that is its own tool, one of whose functions does not return
 *
 *	part=enter	of a dispatch, when it is enqueued (enter)
 *	part=exit	the same (exit): the doorbell was rung
 *	part=ask	whether a dispatch is counted: within a doorbell
 *	part=call	of a call of HSA, before it
 *	part=buffer	of a buffer, with records: on the library's own thread
 *	part=over	of a dispatch that is over: the same
 *	part=copy	of a copy, before it
 *	part=marker	of roctxRangePushA(), before it
 *	part=initialize	a tool's that comes late; then another tool comes
 *	part=finalize	the tool's, which ends itself
 */
#include "../programs/leaving_hsa.h"
#include "roctracer/roctx.h"

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#if ROCPROFILER_SDK_ABI > 0
typedef rocprofiler_dispatch_counting_service_data_t count_data_t;
typedef rocprofiler_dispatch_counting_service_record_t count_header_t;
typedef rocprofiler_counter_config_id_t config_id_t;
#define COUNT_BY_CALLBACK rocprofiler_configure_callback_dispatch_counting_service
#else
typedef rocprofiler_profile_counting_dispatch_data_t count_data_t;
typedef rocprofiler_profile_config_id_t config_id_t;
#define COUNT_BY_CALLBACK rocprofiler_configure_callback_dispatch_profile_counting_service
#endif

#define OK(call)                                                                                   \
	do {                                                                                       \
		if ((call) != ROCPROFILER_STATUS_SUCCESS)                                          \
			die(1, "%s", #call);                                                       \
	} while (0)

static rocprofiler_client_finalize_t end_tool;
static rocprofiler_client_id_t *tool_id;
static _Atomic int nr_operations, nr_initialized;

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static const char *part;
static _Atomic int nr_records, nr_over;

static bool is_part(const char *name)
{
	return !strcmp(part, name);
}

static void on_dispatch(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
			void *arg)
{
	(void)user;
	(void)arg;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_NONE)
		nr_over++;
	if ((is_part("enter") && record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) ||
	    (is_part("exit") && record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT) ||
	    (is_part("over") && record.phase == ROCPROFILER_CALLBACK_PHASE_NONE))
		leaving_called();
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *arg)
{
	(void)user;
	(void)arg;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		leaving_called();
}

static void on_copy(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *arg)
{
	(void)user;
	(void)arg;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		leaving_called();
}

static void on_ask(count_data_t data, config_id_t *config, rocprofiler_user_data_t *user, void *arg)
{
	(void)data;
	(void)config;
	(void)user;
	(void)arg;
	leaving_called();
}

#if ROCPROFILER_SDK_ABI > 0
static void on_counted(count_data_t data, rocprofiler_counter_record_t *records, size_t nr,
		       rocprofiler_user_data_t user, void *arg)
#else
static void on_counted(count_data_t data, rocprofiler_record_counter_t *records, size_t nr,
		       rocprofiler_user_data_t user, void *arg)
#endif
{
	(void)data;
	(void)records;
	(void)nr;
	(void)user;
	(void)arg;
}

static void on_records(rocprofiler_context_id_t c, rocprofiler_buffer_id_t b,
		       rocprofiler_record_header_t **headers, size_t nr, void *arg,
		       uint64_t nr_dropped)
{
	(void)c;
	(void)b;
	(void)headers;
	(void)arg;
	(void)nr_dropped;
	nr_records += (int)nr;
	leaving_called();
}

static int start(rocprofiler_client_finalize_t end, void *arg)
{
	const rocprofiler_tracing_operation_t create =
		ROCPROFILER_HSA_CORE_API_ID_hsa_signal_create;
	const rocprofiler_tracing_operation_t push = ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA;

	(void)arg;
	end_tool = end;
	OK(rocprofiler_create_context(&context));
	if (is_part("copy")) {
		OK(rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, NULL, 0, on_copy, NULL));
	} else if (is_part("marker")) {
		OK(rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, &push, 1, on_call,
			NULL));
	} else if (is_part("ask")) {
		OK(COUNT_BY_CALLBACK(context, on_ask, NULL, on_counted, NULL));
	} else if (is_part("call")) {
		OK(rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, &create, 1, on_call,
			NULL));
	} else if (is_part("buffer")) {
		OK(rocprofiler_create_buffer(context, 4096, 1024,
					     ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, NULL,
					     &buffer));
		OK(rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, &create, 1, buffer));
	} else {
		OK(rocprofiler_configure_callback_tracing_service(
			context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_dispatch,
			NULL));
	}
	OK(rocprofiler_start_context(context));
	return 0;
}

static void finish(void *arg)
{
	(void)arg;
	if (is_part("finalize"))
		leaving_called();
	printf("over %d, records %d\n", nr_over, nr_records);
	fflush(stdout);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *text,
							   uint32_t priority,
							   rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), start, finish, NULL };

	(void)version;
	(void)text;
	(void)priority;
	id->name = "leaving";
	tool_id = id;
	return &result;
}

/* ---- tools that come late -------------------------------------------------------------------- */

static int leave_start(rocprofiler_client_finalize_t end, void *arg)
{
	(void)end;
	(void)arg;
	leaving_called();
	return 0;
}

static int note_start(rocprofiler_client_finalize_t end, void *arg)
{
	(void)end;
	(void)arg;
	nr_initialized++;
	return 0;
}

static rocprofiler_tool_configure_result_t *
leaving_tool(uint32_t version, const char *text, uint32_t priority, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), leave_start, NULL,
							      NULL };

	(void)version;
	(void)text;
	(void)priority;
	id->name = "leaving, late";
	return &result;
}

static rocprofiler_tool_configure_result_t *
next_tool(uint32_t version, const char *text, uint32_t priority, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), note_start, NULL,
							      NULL };

	(void)version;
	(void)text;
	(void)priority;
	id->name = "next";
	return &result;
}

/* The second one: its thread is the one that is left. */
static void start_and_submit(void)
{
	if (nr_operations++ == 1)
		rocprofiler_force_configure(leaving_tool);
	submit_kernel();
}

static void end_and_submit(void)
{
	if (nr_operations++ == 1)
		end_tool(*tool_id);
	submit_kernel();
}

static void print_tools(void)
{
	int is_over = 0;

	if (is_part("initialize"))
		OK(rocprofiler_force_configure(next_tool));
	OK(rocprofiler_is_finalized(&is_over));
	printf("next %d, over %d\n", nr_initialized, is_over);
	fflush(stdout);
}

/* ---- what is called -------------------------------------------------------------------------- */

static void make_copy(void)
{
	hsa_signal_t done = signal_new(1);

	HSA(hsa_amd_memory_async_copy((char *)machine.kernarg + 2048, machine.gpus[0].agent,
				      machine.kernarg, machine.cpu, 64, 0, NULL, done));
	signal_wait_le(done, 0, "copy");
	HSA(hsa_signal_destroy(done));
}

/* A push that was left is none. */
static void push_and_pop(void)
{
	if (roctxRangePushA("range") != 0 || roctxRangePop() != 0)
		die(1, "a range is still open");
}

/* As often on the library's thread. */
static void leave_own_thread(void (*fn)(void))
{
	for (int i = 0; i < LEAVING_MORE; i++) {
		if (i % 10 == 0)
			leaving_arm();
		fn();
		if (buffer.handle)
			OK(rocprofiler_flush_buffer(buffer));
	}
}

int main(int argc, char **argv)
{
	part = arg_text(argc, argv, "part", "enter");
	leaving_how = arg_text(argc, argv, "how", "exception");
	open_queue();
	if (is_part("buffer"))
		leave_own_thread(make_signal);
	else if (is_part("over"))
		leave_own_thread(submit_kernel);
	else
		leaving_try(is_part("call")	  ? make_signal :
			    is_part("copy")	  ? make_copy :
			    is_part("marker")	  ? push_and_pop :
			    is_part("initialize") ? start_and_submit :
			    is_part("finalize")	  ? end_and_submit :
						    submit_kernel);
	printf("called %d\n", leaving_nr_called());
	if (is_part("initialize") || is_part("finalize"))
		print_tools();
	rocprofiler_stop_context(context);
	close_queue();
	return 0;
}
