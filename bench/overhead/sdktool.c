/* SPDX-License-Identifier: MIT */
/* sdktool.c - a tool of rocprofiler-sdk for ROCP_TOOL_LIBRARIES; SDK_BENCH says what it asks for
 *
 * callbacks: empty callbacks of HIP's calls; arguments: callbacks that look at the arguments at the
 * end of a call; record: calls of HIP in a lossless buffer; kernel: dispatches in one; counters:
 * two counters of each dispatch in one; disabled: callbacks whose context is stopped again. For
 * programs without a tool of their own, which do not know of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define BUFFER (1u << 20) /* bytes */

static void nothing(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *data,
		    void *arg)
{
	(void)record;
	(void)data;
	(void)arg;
}

static int no_argument(rocprofiler_callback_tracing_kind_t kind,
		       rocprofiler_tracing_operation_t operation, uint32_t number,
		       const void *value, int32_t indirections, const char *type, const char *name,
		       const char *text, int32_t dereferences, void *arg)
{
	(void)kind;
	(void)operation;
	(void)number;
	(void)value;
	(void)indirections;
	(void)type;
	(void)name;
	(void)text;
	(void)dereferences;
	(void)arg;
	return 0;
}

static void look_at_arguments(rocprofiler_callback_tracing_record_t record,
			      rocprofiler_user_data_t *data, void *arg)
{
	(void)data;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, no_argument, 1,
									 arg);
}

static void no_records(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
		       rocprofiler_record_header_t **headers, size_t nr, void *arg,
		       uint64_t dropped)
{
	(void)context;
	(void)buffer;
	(void)headers;
	(void)nr;
	(void)arg;
	(void)dropped;
}

static void need(rocprofiler_status_t status, const char *what)
{
	if (status == ROCPROFILER_STATUS_SUCCESS)
		return;
	fprintf(stderr, "sdktool: %s: %s\n", what, rocprofiler_get_status_string(status));
	exit(1);
}

static void record(rocprofiler_context_id_t context, rocprofiler_buffer_tracing_kind_t kind)
{
	rocprofiler_buffer_id_t buffer;

	need(rocprofiler_create_buffer(context, BUFFER, BUFFER / 2,
				       ROCPROFILER_BUFFER_POLICY_LOSSLESS, no_records, NULL,
				       &buffer),
	     "a buffer");
	need(rocprofiler_configure_buffer_tracing_service(context, kind, NULL, 0, buffer),
	     "records");
}

/* ---- counters -------------------------------------------------------------------------------- */

static rocprofiler_profile_config_id_t config;

static rocprofiler_status_t choose(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *all,
				   size_t nr, void *arg)
{
	rocprofiler_counter_id_t chosen[2];
	size_t n = 0;

	(void)arg;
	for (size_t i = 0; i < nr && n < 2; i++) {
		rocprofiler_counter_info_v0_t info;

		need(rocprofiler_query_counter_info(all[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
						    &info),
		     "a counter");
		if (!strcmp(info.name, "SQ_WAVES") || !strcmp(info.name, "GRBM_COUNT"))
			chosen[n++] = all[i];
	}
	need(rocprofiler_create_profile_config(agent, chosen, n, &config), "a profile");
	return ROCPROFILER_STATUS_SUCCESS;
}

/* One GPU; the program has one thread. */
static void count(rocprofiler_dispatch_counting_service_data_t data,
		  rocprofiler_profile_config_id_t *to, rocprofiler_user_data_t *user, void *arg)
{
	(void)user;
	if (!config.handle)
		need(rocprofiler_iterate_agent_supported_counters(data.dispatch_info.agent_id,
								  choose, arg),
		     "counters");
	*to = config;
}

static void count_dispatches(rocprofiler_context_id_t context)
{
	rocprofiler_buffer_id_t buffer;

	need(rocprofiler_create_buffer(context, BUFFER, BUFFER / 2,
				       ROCPROFILER_BUFFER_POLICY_LOSSLESS, no_records, NULL,
				       &buffer),
	     "a buffer");
	need(rocprofiler_configure_buffer_dispatch_counting_service(context, buffer, count, NULL),
	     "counting");
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
	const char *what = getenv("SDK_BENCH");
	rocprofiler_context_id_t context = { 0 };

	(void)finalize;
	(void)data;
	need(rocprofiler_create_context(&context), "a context");
	if (what && !strcmp(what, "record"))
		record(context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API);
	else if (what && !strcmp(what, "kernel"))
		record(context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH);
	else if (what && !strcmp(what, "counters"))
		count_dispatches(context);
	else
		need(rocprofiler_configure_callback_tracing_service(
			     context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0,
			     what && !strcmp(what, "arguments") ? look_at_arguments : nothing,
			     NULL),
		     "callbacks");
	need(rocprofiler_start_context(context), "start the context");
	if (what && !strcmp(what, "disabled"))
		need(rocprofiler_stop_context(context), "stop the context");
	return 0;
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, NULL,
							      NULL };

	(void)version;
	(void)runtime_version;
	(void)priority;
	id->name = "bench";
	return &result;
}
