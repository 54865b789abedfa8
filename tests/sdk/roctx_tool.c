/* SPDX-License-Identifier: MIT */
/* roctx_tool.c - a tool as a library: prints each call of roctx with its arguments and its result
 *
 * ROCTX_TOOL=ranges: begins and ends of ranges instead, and their records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "client.h"

/* Addresses differ from run to run. */
static int on_arg(rocprofiler_callback_tracing_kind_t kind,
		  rocprofiler_tracing_operation_t operation, uint32_t number,
		  const void *const value, int32_t indirection, const char *type, const char *name,
		  const char *text, int32_t derefs, void *data)
{
	(void)kind;
	(void)operation;
	(void)number;
	(void)value;
	(void)derefs;
	(void)data;
	printf(" %s=%s", name, indirection && strcmp(type, "PKc") != 0 ? "address" : text);
	return 0;
}

static void on_marker(rocprofiler_callback_tracing_record_t record,
		      rocprofiler_user_data_t *user_data, void *arg)
{
	const rocprofiler_callback_tracing_marker_api_data_t *data = record.payload;
	const char *kind = NULL, *operation = NULL;

	(void)arg;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user_data->value = record.correlation_id.internal;
		return;
	}
	rocprofiler_query_callback_tracing_kind_name(record.kind, &kind, NULL);
	rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation,
							       &operation, NULL);
	printf("tool: %s %s", kind, operation);
	rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_arg, 1, NULL);
	printf(" -> %d%s\n", data->retval.int32_t_retval,
	       user_data->value == record.correlation_id.internal ? "" : " without a begin");
}

#if ROCPROFILER_SDK_ABI > 0
#define RANGES ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API

static void on_range(rocprofiler_callback_tracing_record_t record,
		     rocprofiler_user_data_t *user_data, void *arg)
{
	const rocprofiler_callback_tracing_marker_api_data_t *data = record.payload;
	bool begins = record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
	const char *operation = NULL, *text = NULL;

	(void)arg;
	if (record.operation != ROCPROFILER_MARKER_CORE_RANGE_API_ID_roctxGetThreadId)
		text = data->args.roctxThreadRangeA.message;
	rocprofiler_query_callback_tracing_kind_operation_name(RANGES, record.operation, &operation,
							       NULL);
	printf("tool: %llu %s %s %s %d%s\n", (unsigned long long)record.correlation_id.internal,
	       begins ? "begin" : "end", operation, text ? text : "(null)",
	       data->retval.int32_t_retval,
	       begins || user_data->value == record.correlation_id.internal ? "" :
									      " without a begin");
	if (begins)
		user_data->value = record.correlation_id.internal;
}

static void on_records(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
		       rocprofiler_record_header_t **headers, size_t nr, void *arg,
		       uint64_t dropped)
{
	(void)context;
	(void)buffer;
	(void)arg;
	for (size_t i = 0; i < nr; i++) {
		const rocprofiler_buffer_tracing_marker_api_record_t *r = headers[i]->payload;
		const char *operation = NULL;

		rocprofiler_query_buffer_tracing_kind_operation_name(r->kind, r->operation,
								     &operation, NULL);
		printf("tool: %llu record %s %s\n", (unsigned long long)r->correlation_id.internal,
		       operation,
		       r->end_timestamp < r->start_timestamp || dropped ? "wrong" : "right");
	}
	fflush(stdout);
}

static void serve_ranges(rocprofiler_context_id_t context)
{
	rocprofiler_buffer_id_t buffer;

	if (rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				      on_records, NULL, &buffer) ||
	    rocprofiler_configure_callback_tracing_service(context, RANGES, NULL, 0, on_range,
							   NULL) ||
	    rocprofiler_configure_buffer_tracing_service(
		    context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API, NULL, 0, buffer))
		printf("tool: ranges are refused\n");
}
#else
static void serve_ranges(rocprofiler_context_id_t context)
{
	(void)context;
	printf("tool: this version has no ranges\n");
}
#endif

static void serve_calls(rocprofiler_context_id_t context)
{
	static const rocprofiler_callback_tracing_kind_t kinds[] = {
		ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
		ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (rocprofiler_configure_callback_tracing_service(context, kinds[i], NULL, 0,
								   on_marker, NULL))
			printf("tool: kind %d is refused\n", (int)kinds[i]);
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	rocprofiler_context_id_t context = { 0 };
	const char *what = getenv("ROCTX_TOOL");

	(void)fini;
	(void)data;
	rocprofiler_create_context(&context);
	if (what && strcmp(what, "ranges") == 0)
		serve_ranges(context);
	else
		serve_calls(context);
	rocprofiler_start_context(context);
	return 0;
}

SDK_CLIENT("roctx_tool")
