/* SPDX-License-Identifier: MIT */
/* roctx_tool.c - a tool as a library: prints each call of roctx with its arguments and its result */
#include <stdio.h>
#include <string.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

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

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	static const rocprofiler_callback_tracing_kind_t kinds[] = {
		ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
		ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
	};
	rocprofiler_context_id_t context = { 0 };

	(void)fini;
	(void)data;
	rocprofiler_create_context(&context);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (rocprofiler_configure_callback_tracing_service(context, kinds[i], NULL, 0,
								   on_marker, NULL))
			printf("tool: kind %d is refused\n", (int)kinds[i]);
	rocprofiler_start_context(context);
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
	id->name = "roctx_tool";
	return &result;
}
