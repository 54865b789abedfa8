/* SPDX-License-Identifier: MIT */
/* api.c - rocprofiler-sdk without a GPU: registration, statuses, names, contexts, external ids,
 * markers
 *
 * Built for each ABI. Exits with 1 if something was not as it should be.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include "../support/expect.h"
#include "roctracer/roctx.h"

#define OK ROCPROFILER_STATUS_SUCCESS
#define ERROR(name) ROCPROFILER_STATUS_ERROR_##name
#define ABI ROCPROFILER_SDK_ABI

static int nr_wrong;
static rocprofiler_context_id_t context, second, unused;
static rocprofiler_client_id_t *client;
static rocprofiler_client_finalize_t end_client;
static int nr_configured, nr_initialized, nr_finalized, nr_late;
static bool has_started;

/* what callbacks have seen */
static struct {
	int nr_enter, nr_exit;
	uint64_t internal, external, tid;
	uint32_t operation;
	rocprofiler_callback_tracing_marker_api_data_t payload;
	uint64_t user;
	const void *arg;
} seen;

static void on_marker(rocprofiler_callback_tracing_record_t record,
		      rocprofiler_user_data_t *user_data, void *arg)
{
	seen.payload = *(rocprofiler_callback_tracing_marker_api_data_t *)record.payload;
	seen.operation = (uint32_t)record.operation;
	seen.tid = record.thread_id;
	seen.external = record.correlation_id.external.value;
	seen.arg = arg;
	IS(record.context_id.handle, context.handle);
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		IS(user_data->value, 0);
		IS(seen.payload.retval.int64_t_retval, 0);
		seen.nr_enter++;
		seen.internal = record.correlation_id.internal;
		user_data->value = 0x1234 + seen.internal;
	} else {
		IS(record.phase, ROCPROFILER_CALLBACK_PHASE_EXIT);
		IS(record.correlation_id.internal, seen.internal);
		seen.nr_exit++;
		seen.user = user_data->value - seen.internal;
	}
}

static void on_second(rocprofiler_callback_tracing_record_t record,
		      rocprofiler_user_data_t *user_data, void *arg)
{
	(void)record;
	(void)user_data;
	(*(int *)arg)++;
}

static void never(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user_data,
		  void *arg)
{
	(void)user_data;
	(void)arg;
	printf("callback of kind %d, operation %d\n", (int)record.kind, (int)record.operation);
	nr_wrong++;
}

static int nr_second;

static rocprofiler_status_t serve(rocprofiler_context_id_t id,
				  rocprofiler_callback_tracing_kind_t kind)
{
	return rocprofiler_configure_callback_tracing_service(id, kind, NULL, 0, never, NULL);
}

static void check_services(void)
{
	const rocprofiler_tracing_operation_t too_large = 5000,
					      negative = (rocprofiler_tracing_operation_t)-1;
	const rocprofiler_tracing_operation_t push_pop[] = {
		ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA,
		ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop,
	};
	rocprofiler_context_id_t none = ROCPROFILER_CONTEXT_NONE;

	IS(rocprofiler_configure_callback_tracing_service(
		   context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_marker,
		   &seen),
	   OK);
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API),
	   ERROR(SERVICE_ALREADY_CONFIGURED));
	IS(rocprofiler_configure_callback_tracing_service(
		   second, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, push_pop, 2, on_second,
		   &nr_second),
	   OK);
	IS(serve(none, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API), ERROR(CONTEXT_NOT_FOUND));
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_NONE), ERROR(KIND_NOT_FOUND));
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_LAST), ERROR(KIND_NOT_FOUND));
	IS(serve(context, (rocprofiler_callback_tracing_kind_t)99), ERROR(KIND_NOT_FOUND));
#if ABI > 0
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_OMPT), OK);
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_OMPT), ERROR(SERVICE_ALREADY_CONFIGURED));
	/* as with AMD's library: tools that configure all kinds are to run */
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_ROCDECODE_API), OK);
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_ROCJPEG_API), OK);
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_ROCSHMEM_API), OK);
#endif
	IS(rocprofiler_configure_callback_tracing_service(
		   unused, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, &too_large, 1, never,
		   NULL),
	   ERROR(OPERATION_NOT_FOUND));
	IS(rocprofiler_configure_callback_tracing_service(
		   unused, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, &negative, 1, never, NULL),
	   ERROR(OPERATION_NOT_FOUND));
	IS(serve(unused, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API), OK);
	IS(rocprofiler_configure_callback_tracing_service(
		   unused, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, NULL, NULL),
	   ERROR(INVALID_ARGUMENT));
}

static void check_contexts(void)
{
	rocprofiler_context_id_t again = { 0 };
	int status = 7;

	IS(rocprofiler_create_context(NULL), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_create_context(&context), OK);
	IS(context.handle != 0, 1);
	again = context;
	IS(rocprofiler_create_context(&again), ABI ? 13 : ERROR(CONTEXT_INVALID));
	IS(rocprofiler_create_context(&second), OK);
	IS(rocprofiler_create_context(&unused), OK);
	IS(rocprofiler_context_is_valid(context, &status), OK);
	IS(status, 1);
	IS(rocprofiler_context_is_active(context, &status), OK);
	IS(status, 0);
	/* Kineto does this */
	IS(rocprofiler_stop_context(context), ERROR(CONTEXT_NOT_FOUND));
	again.handle = 77;
	status = 7;
	IS(rocprofiler_context_is_valid(again, &status), ERROR(CONTEXT_NOT_FOUND));
	IS(status, 0);
	IS(rocprofiler_context_is_active(again, &status), ERROR(CONTEXT_NOT_FOUND));
	IS(rocprofiler_start_context(again), ERROR(CONTEXT_NOT_FOUND));
	IS(rocprofiler_stop_context(again), ERROR(CONTEXT_NOT_FOUND));
}

/* All contexts that there can be, after the three, and all listeners. Of contexts there are many,
 * of those with a service that needs a bit of a mask 64: the three, and 61 others. */
static void check_limits(void)
{
	rocprofiler_context_id_t id, none = ROCPROFILER_CONTEXT_NONE;
	int nr_served = 0;

	for (int i = 3; i < 4096; i++) {
		rocprofiler_status_t status;

		id.handle = 0;
		IS(rocprofiler_create_context(&id), OK);
		if (i % 2)
			continue;
		status = serve(id, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API);
		IS(status, nr_served < 61 ? OK : ERROR(CONTEXT_ERROR));
		nr_served += status == OK;
	}
	IS(nr_served, 61);
	id.handle = 0;
	IS(rocprofiler_create_context(&id), ERROR(CONTEXT_ERROR));
	IS(id.handle, none.handle);
	for (int i = 0; i < 64; i++)
		IS(rocprofiler_at_internal_thread_create(NULL, NULL, ROCPROFILER_LIBRARY, NULL),
		   OK);
	IS(rocprofiler_at_internal_thread_create(NULL, NULL, ROCPROFILER_LIBRARY, NULL),
	   ERROR(OUT_OF_RESOURCES));
}

/* bits of those that came, and the last one */
static uint32_t tables_seen;
static void *last_table;

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void **tables, uint64_t nr, void *data)
{
	IS(version, 22304);
	IS(instance, 5);
	IS(nr, 1);
	IS(data == &nr_wrong, 1);
	IS(tables_seen & type, 0);
	tables_seen |= type;
	last_table = tables[0];
}

/* Is of one table. */
static uint32_t nr_of_names;

static void on_names(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void **tables, uint64_t nr, void *data)
{
	(void)version;
	(void)instance;
	(void)tables;
	(void)nr;
	(void)data;
	IS(type, ROCPROFILER_MARKER_NAME_TABLE);
	nr_of_names++;
}

static int initialize(rocprofiler_client_finalize_t fini, void *data)
{
	int status = 7;

	nr_initialized++;
	end_client = fini;
	IS(data == &nr_wrong, 1);
	IS(rocprofiler_is_initialized(&status), OK);
	IS(status, -1);
	IS(rocprofiler_force_configure(NULL), ERROR(CONFIGURATION_LOCKED));
	check_contexts();
	check_services();
	IS(rocprofiler_at_intercept_table_registration(NULL, 0, NULL), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_at_intercept_table_registration(on_table, 0, &nr_wrong), OK);
	IS(rocprofiler_at_intercept_table_registration(on_names, ROCPROFILER_MARKER_NAME_TABLE,
						       NULL),
	   OK);
	IS(rocprofiler_start_context(second), OK);
	check_limits();
	return 0;
}

static void finalize(void *data)
{
	int status = 7;

	nr_finalized++;
	IS(data == &nr_wrong, 1);
	IS(rocprofiler_context_is_active(context, &status), OK);
	IS(status, 0);
	/* whether it is the end of all, as in 1.0, or of this tool alone */
	IS(rocprofiler_is_finalized(&status), OK);
	IS(status, -1);
	IS(rocprofiler_start_context(context), ERROR(CONFIGURATION_LOCKED));
}

ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *runtime_version, uint32_t priority,
		      rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result = { sizeof(result), initialize, finalize,
							      &nr_wrong };
	rocprofiler_context_id_t none = { 0 };
	int status = 7;

	nr_configured++;
	client = id;
	IS(version, ROCPROFILER_VERSION);
	TEXT(runtime_version, ROCPROFILER_VERSION_STRING);
	IS(priority, has_started ? 1 : 0);
	IS(id->name == NULL, 1);
#if ABI > 0
	IS(id->size, 24);
#endif
	id->name = "api";
	IS(rocprofiler_is_initialized(&status), OK);
	IS(status, -1);
	IS(rocprofiler_create_context(&none), ERROR(CONFIGURATION_LOCKED));
	return &result;
}

static rocprofiler_tool_configure_result_t *
configure_late(uint32_t version, const char *text, uint32_t priority, rocprofiler_client_id_t *id)
{
	(void)version;
	(void)text;
	nr_late++;
	IS(priority, 1);
	IS(id->handle != client->handle, 1);
	return NULL;
}

static int count_kinds(rocprofiler_callback_tracing_kind_t kind, void *data)
{
	const char *name = NULL;
	uint64_t length = 0;

	IS(kind, *(int *)data);
	IS(rocprofiler_query_callback_tracing_kind_name(kind, &name, &length), OK);
	IS(name && strlen(name) == length && length > 3, 1);
	++*(int *)data;
	return 0;
}

static int count_operations(rocprofiler_callback_tracing_kind_t kind,
			    rocprofiler_tracing_operation_t operation, void *data)
{
	const char *name = NULL;

	IS(operation, *(int *)data);
	IS(rocprofiler_query_callback_tracing_kind_operation_name(kind, operation, &name, NULL),
	   OK);
	IS(name && strlen(name) > 2, 1);
	return ++*(int *)data == 3 && kind == ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API;
}

static const char *operation_name(int kind, int operation)
{
	const char *name = NULL;

	rocprofiler_query_callback_tracing_kind_operation_name(
		(rocprofiler_callback_tracing_kind_t)kind,
		(rocprofiler_tracing_operation_t)operation, &name, NULL);
	return name;
}

static int count_of(rocprofiler_callback_tracing_kind_t kind, int status)
{
	int n = 0;

	IS(rocprofiler_iterate_callback_tracing_kind_operations(kind, count_operations, &n),
	   status);
	return n;
}

static int count_buffer_kinds(rocprofiler_buffer_tracing_kind_t kind, void *data)
{
	const char *name = NULL;

	IS(kind, *(int *)data);
	IS(rocprofiler_query_buffer_tracing_kind_name(kind, &name, NULL), OK);
	IS(name && strlen(name) > 3, 1);
	++*(int *)data;
	return 0;
}

static void check_names(void)
{
	const char *name = "";
	uint64_t length = 7;
	int n = 0;

	IS(rocprofiler_iterate_callback_tracing_kinds(count_kinds, &n), OK);
	IS(n, ROCPROFILER_CALLBACK_TRACING_LAST);
	n = 0;
	IS(rocprofiler_iterate_buffer_tracing_kinds(count_buffer_kinds, &n), OK);
	IS(n, ROCPROFILER_BUFFER_TRACING_LAST);
	IS(rocprofiler_query_callback_tracing_kind_name(ROCPROFILER_CALLBACK_TRACING_LAST, &name,
							&length),
	   ERROR(KIND_NOT_FOUND));
	IS(!name && !length, 1);
	IS(rocprofiler_query_callback_tracing_kind_name(ROCPROFILER_CALLBACK_TRACING_NONE, &name,
							NULL),
	   OK);
	TEXT(name, "NONE");
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, OK),
	   ROCPROFILER_HIP_RUNTIME_API_ID_LAST);
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API, OK),
	   ROCPROFILER_HIP_COMPILER_API_ID_LAST);
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API, OK),
	   ROCPROFILER_HSA_AMD_EXT_API_ID_LAST);
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, OK),
	   ROCPROFILER_MARKER_CORE_API_ID_LAST);
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, OK), 3);
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, OK), 3);
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_NONE, ERROR(INVALID_ARGUMENT)), 0);
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_LAST, ERROR(INVALID_ARGUMENT)), 0);
	IS(count_of((rocprofiler_callback_tracing_kind_t)99, ERROR(KIND_NOT_FOUND)), 0);
	TEXT(operation_name(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
			    ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel),
	     "hipLaunchKernel");
	TEXT(operation_name(ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, 0), "hsa_init");
	TEXT(operation_name(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, 1),
	     ABI ? "CODE_OBJECT_LOAD" : "LOAD");
	TEXT(operation_name(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, 2),
	     "MEMORY_COPY_HOST_TO_DEVICE");
#if ABI > 0
	TEXT(operation_name(ROCPROFILER_CALLBACK_TRACING_OMPT, ROCPROFILER_OMPT_ID_thread_begin),
	     "omp_thread_begin");
	IS(count_of(ROCPROFILER_CALLBACK_TRACING_OMPT, OK), ROCPROFILER_OMPT_ID_LAST);
#endif
	name = "unchanged";
	IS(rocprofiler_query_callback_tracing_kind_operation_name(ROCPROFILER_CALLBACK_TRACING_NONE,
								  0, &name, NULL),
	   ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_query_callback_tracing_kind_operation_name(ROCPROFILER_CALLBACK_TRACING_LAST,
								  0, &name, NULL),
	   ERROR(KIND_NOT_FOUND));
	TEXT(name, "unchanged");
	IS(rocprofiler_query_callback_tracing_kind_operation_name(
		   ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
		   (rocprofiler_tracing_operation_t)-1, &name, NULL),
	   ERROR(OPERATION_NOT_FOUND));
	IS(name == NULL, 1);
}

static void check_statuses(void)
{
	TEXT(rocprofiler_get_status_name(OK), "ROCPROFILER_STATUS_SUCCESS");
	TEXT(rocprofiler_get_status_string(OK), "Success");
	TEXT(rocprofiler_get_status_name(ERROR(FINALIZED)), "ROCPROFILER_STATUS_ERROR_FINALIZED");
	for (int i = 1; i < ROCPROFILER_STATUS_LAST; i++) {
		const char *name = rocprofiler_get_status_name((rocprofiler_status_t)i);
		const char *text = rocprofiler_get_status_string((rocprofiler_status_t)i);

		IS(name && strncmp(name, "ROCPROFILER_STATUS_", 19) == 0, 1);
		IS(text && strlen(text) >= 8, 1);
	}
	IS(rocprofiler_get_status_name(ROCPROFILER_STATUS_LAST) == NULL, 1);
	IS(rocprofiler_get_status_string((rocprofiler_status_t)-1) == NULL, 1);
}

static void check_basics(void)
{
	uint32_t major = 9, minor = 9, patch = 9;
	rocprofiler_timestamp_t one = 0, two = 0;
	rocprofiler_thread_id_t tid = 0;

	IS(rocprofiler_get_version(&major, NULL, NULL), OK);
	IS(rocprofiler_get_version(NULL, &minor, &patch), OK);
	IS(major * 10000 + minor * 100 + patch, ROCPROFILER_VERSION);
#if ABI > 0
	rocprofiler_version_triplet_t v = { 9, 9, 9 };

	IS(rocprofiler_get_version_triplet(&v), OK);
	IS(v.major * 10000 + v.minor * 100 + v.patch, ROCPROFILER_VERSION);
	IS(rocprofiler_get_version_triplet(NULL), ERROR(INVALID_ARGUMENT));
#endif
	IS(rocprofiler_get_timestamp(&one), OK);
	IS(rocprofiler_get_timestamp(&two), OK);
	IS(one > 0 && two >= one, 1);
	IS(rocprofiler_get_timestamp(NULL), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_get_thread_id(&tid), OK);
	IS(tid, gettid());
	IS(rocprofiler_get_thread_id(NULL), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_is_initialized(NULL), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_is_finalized(NULL), ERROR(INVALID_ARGUMENT));
}

/* What rocprofiler-register calls, which is not in AMD's headers. */
int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t nr_tables);

static void check_tables(void)
{
	void *tables[] = { &tables[0], &tables[1], &tables[2] };

#if ABI > 0
	const char *name = NULL;
	uint64_t length = 0;

	IS(rocprofiler_query_intercept_table_name(ROCPROFILER_HIP_RUNTIME_TABLE, &name, &length),
	   OK);
	TEXT(name, "HIP_RUNTIME_TABLE");
	IS(length, 17);
	IS(rocprofiler_query_intercept_table_name((rocprofiler_intercept_table_t)3, &name, NULL),
	   ERROR(KIND_NOT_FOUND));
	IS(name == NULL, 1);
#endif
	IS(rocprofiler_at_intercept_table_registration(on_table, 0, NULL),
	   ERROR(CONFIGURATION_LOCKED));
	/* without a runtime there is none */
	IS(tables_seen, 0);
	IS(rocprofiler_set_api_table("rccl", 22304, 5, tables, 1), 0);
	IS(tables_seen, ROCPROFILER_RCCL_TABLE);
	IS(rocprofiler_set_api_table("roctx", 22304, 5, tables, 3), 0);
	IS(tables_seen, ROCPROFILER_RCCL_TABLE | ROCPROFILER_MARKER_CORE_TABLE |
				ROCPROFILER_MARKER_CONTROL_TABLE | ROCPROFILER_MARKER_NAME_TABLE);
	IS(last_table == &tables[2], 1);
	IS(nr_of_names, 1);
	IS(rocprofiler_set_api_table("unknown", 22304, 5, tables, 1), 0);
#if ABI > 0
	/* a service has its kind, and gets nothing: a warning says so, once */
	tables_seen = 0;
	IS(rocprofiler_set_api_table("rocjpeg", 22304, 5, tables, 1), 0);
	IS(tables_seen, ROCPROFILER_ROCJPEG_TABLE);
	tables_seen = 0;
	IS(rocprofiler_set_api_table("rocjpeg", 22304, 5, tables, 1), 0);
	/* without a service */
	IS(rocprofiler_set_api_table("hipFile", 22304, 5, tables, 1), 0);
#endif
}

static int no_record(rocprofiler_agent_id_t id, rocprofiler_counter_id_t *counters, size_t nr,
		     void *data)
{
	(void)id;
	(void)counters;
	(void)data;
	printf("%d counters\n", (int)nr);
	return 0;
}

/* Counting without an agent or outside of initialisation; services that are not there yet refuse,
 * and call nothing. */
static void check_refusals(void)
{
	const rocprofiler_agent_id_t agent = { 7 };
	const rocprofiler_counter_id_t counter = { 1 };
	const rocprofiler_buffer_id_t buffer = { 1 };
	const rocprofiler_user_data_t none = { .value = 0 };
	size_t nr = 7;
#if ABI > 0
	int status = 7;
#endif

	(void)none;
	IS(rocprofiler_iterate_agent_supported_counters(
		   agent, (rocprofiler_available_counters_cb_t)no_record, NULL),
	   ERROR(AGENT_NOT_FOUND));
	IS(rocprofiler_query_counter_info(counter, ROCPROFILER_COUNTER_INFO_VERSION_0, NULL),
	   ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_query_counter_instance_count(agent, counter, &nr), ERROR(COUNTER_NOT_FOUND));
	IS(nr, 0);
	IS(rocprofiler_query_pc_sampling_agent_configurations(agent, NULL, NULL),
	   ERROR(NOT_IMPLEMENTED));
#if ABI > 0
	IS(rocprofiler_configure_pc_sampling_service(context, agent,
						     ROCPROFILER_PC_SAMPLING_METHOD_HOST_TRAP,
						     ROCPROFILER_PC_SAMPLING_UNIT_TIME, 1, buffer,
						     0),
	   ERROR(NOT_IMPLEMENTED));
	IS(rocprofiler_configure_device_counting_service(context, buffer, agent, NULL, NULL),
	   ERROR(CONFIGURATION_LOCKED));
	IS(rocprofiler_configure_buffer_dispatch_counting_service(context, buffer, NULL, NULL),
	   ERROR(CONFIGURATION_LOCKED));
	IS(rocprofiler_configure_callback_dispatch_counting_service(context, NULL, NULL, NULL,
								    NULL),
	   ERROR(CONFIGURATION_LOCKED));
	IS(rocprofiler_sample_device_counting_service(context, none, ROCPROFILER_COUNTER_FLAG_NONE,
						      NULL, NULL),
	   ERROR(CONTEXT_NOT_STARTED));
	IS(rocprofiler_detach(), ERROR(NOT_IMPLEMENTED));
	IS(rocprofiler_ompt_is_initialized(&status), OK);
	IS(status, 0);
	status = 7;
	IS(rocprofiler_ompt_is_finalized(&status), OK);
	IS(status, 0);
	/* tools make texts of them */
	for (int i = 0; i <= ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LAST; i++)
		IS(rocprofiler_get_pc_sampling_instruction_type_name(
			   (rocprofiler_pc_sampling_instruction_type_t)i) != NULL,
		   i < ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_LAST);
	for (int i = 0; i <= ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_LAST; i++)
		IS(rocprofiler_get_pc_sampling_instruction_not_issued_reason_name(
			   (rocprofiler_pc_sampling_instruction_not_issued_reason_t)i) != NULL,
		   i < ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_LAST);
	IS(strcmp(rocprofiler_get_pc_sampling_instruction_type_name(
			  ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_DUAL_VALU),
		  "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_DUAL_VALU"),
	   0);
#else
	(void)buffer;
#endif
}

static void check_markers(void)
{
	roctx_range_id_t range;

	memset(&seen, 0, sizeof(seen));
	nr_second = 0;
	roctxMarkA("not yet");
	IS(seen.nr_enter, 0);
	IS(rocprofiler_start_context(context), OK);
	IS(rocprofiler_start_context(context), OK);
	roctxMarkA("mark");
	IS(seen.nr_enter == 1 && seen.nr_exit == 1, 1);
	IS(seen.operation, ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA);
	TEXT(seen.payload.args.roctxMarkA.message, "mark");
	IS(seen.payload.size, sizeof(seen.payload));
	IS(seen.tid, gettid());
	IS(seen.user, 0x1234);
	IS(seen.arg == &seen, 1);
	IS(nr_second, 0);
	IS(roctxRangePushA("outer"), 0);
	IS(seen.payload.retval.int32_t_retval, 0);
	IS(roctxRangePushA("inner"), 1);
	IS(seen.payload.retval.int32_t_retval, 1);
	TEXT(seen.payload.args.roctxRangePushA.message, "inner");
	IS(roctxRangePop(), 1);
	IS(seen.operation, ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop);
	IS(seen.payload.retval.int32_t_retval, 1);
	IS(roctxRangePop(), 0);
	IS(nr_second, 8);
	range = roctxRangeStartA("range");
	IS(seen.payload.retval.roctx_range_id_t_retval, range);
	roctxRangeStop(range);
	IS(seen.payload.args.roctxRangeStop.id, range);
	IS(seen.nr_enter == 7 && seen.nr_exit == 7, 1);
}

static void *mark_elsewhere(void *arg)
{
	roctxMarkA("elsewhere");
	return arg;
}

static void check_external(void)
{
	rocprofiler_context_id_t none = { 77 };
	rocprofiler_user_data_t id = { .value = 41 };
	pthread_t thread;

	IS(rocprofiler_push_external_correlation_id(context, 0, id), ERROR(INVALID_ARGUMENT));
	IS(rocprofiler_push_external_correlation_id(none, gettid(), id), ERROR(CONTEXT_NOT_FOUND));
	IS(rocprofiler_push_external_correlation_id(context, gettid(), id), OK);
	id.value = 42;
	IS(rocprofiler_push_external_correlation_id(context, gettid(), id), OK);
	roctxMarkA("with an id");
	IS(seen.external, 42);
	/* a thread without ids has the first thread's */
	pthread_create(&thread, NULL, mark_elsewhere, NULL);
	pthread_join(thread, NULL);
	IS(seen.external, 42);
	IS(seen.tid != (uint64_t)gettid(), 1);
	IS(rocprofiler_pop_external_correlation_id(context, gettid(), &id), OK);
	IS(id.value, 42);
	roctxMarkA("with the outer id");
	IS(seen.external, 41);
	IS(rocprofiler_pop_external_correlation_id(context, gettid(), NULL), OK);
	id.value = 7;
	IS(rocprofiler_pop_external_correlation_id(context, gettid(), &id), OK);
	IS(id.value, 0);
	roctxMarkA("without");
	IS(seen.external, 0);
	IS(rocprofiler_pop_external_correlation_id(none, gettid(), &id), ERROR(CONTEXT_NOT_FOUND));
}

static int nr_requests;

static int give_id(rocprofiler_thread_id_t tid, rocprofiler_context_id_t id,
		   rocprofiler_external_correlation_id_request_kind_t kind,
		   rocprofiler_tracing_operation_t operation, uint64_t internal,
		   rocprofiler_user_data_t *out, void *data)
{
	IS(tid, gettid());
	IS(id.handle, context.handle);
	IS(kind, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_API);
	IS(operation, ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA);
	IS(internal != 0, 1);
	IS(data == &nr_requests, 1);
	out->value = 99;
	return nr_requests++;
}

static void check_requests(void)
{
	rocprofiler_external_correlation_id_request_kind_t kinds[] = {
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MARKER_CORE_API,
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST,
	};
	rocprofiler_context_id_t none = { 77 };

#define CONFIGURE rocprofiler_configure_external_correlation_id_request_service
	IS(CONFIGURE(none, kinds, 1, give_id, NULL), ERROR(CONTEXT_NOT_FOUND));
	IS(CONFIGURE(context, kinds, 0, give_id, NULL), ERROR(INVALID_ARGUMENT));
	IS(CONFIGURE(context, kinds, 1, NULL, NULL), ERROR(INVALID_ARGUMENT));
	IS(CONFIGURE(context, kinds, 2, give_id, NULL), ERROR(KIND_NOT_FOUND));
	IS(CONFIGURE(context, kinds, 1, give_id, &nr_requests), OK);
	IS(CONFIGURE(context, kinds, 1, give_id, &nr_requests), ERROR(SERVICE_ALREADY_CONFIGURED));
	roctxMarkA("asked for");
	IS(seen.external, 99);
	/* it returns 1 now: no id */
	roctxMarkA("refused");
	IS(seen.external, 0);
	IS(nr_requests, 2);
}

static int args_nr;

static int on_arg(rocprofiler_callback_tracing_kind_t kind,
		  rocprofiler_tracing_operation_t operation, uint32_t number,
		  const void *const value, int32_t indirection, const char *type, const char *name,
		  const char *text, int32_t derefs, void *data)
{
	IS(kind, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API);
	IS(operation, ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA);
	IS(number, args_nr++);
	TEXT(type, "PKc");
	TEXT(name, "message");
	TEXT(text, data ? (const char *)data : "(null)");
	IS(*(const char *const *)value == data, 1);
	IS(indirection, 1);
	IS(derefs, 0);
	return 0;
}

static void check_args(void)
{
	static char text[] = "the text";
	rocprofiler_callback_tracing_marker_api_data_t payload = { .size = sizeof(payload) };
	rocprofiler_callback_tracing_record_t record = {
		.kind = ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
		.phase = ROCPROFILER_CALLBACK_PHASE_EXIT,
		.payload = &payload,
	};

#define ITERATE rocprofiler_iterate_callback_tracing_kind_operation_args
	payload.args.roctxMarkA.message = text;
	IS(ITERATE(record, on_arg, 2, text), OK);
	IS(args_nr, 1);
	payload.args.roctxMarkA.message = NULL;
	args_nr = 0;
	IS(ITERATE(record, on_arg, 2, NULL), OK);
	IS(args_nr, 1);
	record.operation = ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop;
	IS(ITERATE(record, on_arg, 2, NULL), OK);
	record.operation = 999;
	IS(ITERATE(record, on_arg, 2, NULL), OK);
	IS(ITERATE(record, NULL, 2, NULL), OK);
	IS(args_nr, 1);
	record.kind = ROCPROFILER_CALLBACK_TRACING_NONE;
	IS(ITERATE(record, on_arg, 2, NULL), ERROR(INVALID_ARGUMENT));
	record.kind = ROCPROFILER_CALLBACK_TRACING_LAST;
	IS(ITERATE(record, on_arg, 2, NULL), ERROR(INVALID_ARGUMENT));
	record.kind = (rocprofiler_callback_tracing_kind_t)99;
	IS(ITERATE(record, on_arg, 2, NULL), ERROR(KIND_NOT_FOUND));
	record.kind = ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT;
	IS(ITERATE(record, on_arg, 2, NULL), ERROR(NOT_IMPLEMENTED));
	record.kind = ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH;
	IS(ITERATE(record, on_arg, 2, NULL), ERROR(NOT_IMPLEMENTED));
}

static void check_stop(void)
{
	int n = seen.nr_enter, status = 7;

	IS(rocprofiler_context_is_active(context, &status), OK);
	IS(status, 1);
	IS(rocprofiler_stop_context(context), OK);
	IS(rocprofiler_stop_context(context), ERROR(CONTEXT_NOT_FOUND));
	roctxMarkA("stopped");
	IS(seen.nr_enter, n);
	IS(rocprofiler_start_context(context), OK);
	roctxMarkA("again");
	IS(seen.nr_enter, n + 1);
}

static void check_end(void)
{
	int n = seen.nr_enter, status = 7;

	end_client(*client);
	IS(nr_finalized, 1);
	end_client(*client);
	IS(nr_finalized, 1);
	roctxMarkA("after the end");
	IS(seen.nr_enter, n);
	IS(rocprofiler_is_finalized(&status), OK);
#if ABI > 0
	/* the only tool: that was the end of all */
	IS(status, 1);
	IS(rocprofiler_start_context(context), ERROR(CONFIGURATION_LOCKED));
	IS(rocprofiler_stop_context(context), OK);
	IS(rocprofiler_force_configure(rocprofiler_configure), ERROR(FINALIZED));
#else
	IS(status, 0);
#endif
}

int main(int argc, char **argv)
{
	rocprofiler_context_id_t none = { 0 };
	int status = 7;

	check_basics();
	check_statuses();
	check_names();
	IS(rocprofiler_is_initialized(&status), OK);
	IS(status, 0);
	IS(rocprofiler_is_finalized(&status), OK);
	IS(status, 0);
	IS(rocprofiler_create_context(&none), ERROR(CONFIGURATION_LOCKED));
	/* the first use, or by force */
	if (argc > 1 && strcmp(argv[1], "force") == 0)
		IS(rocprofiler_force_configure(argc > 2 ? NULL : rocprofiler_configure), OK);
	else
		roctxMarkA("first");
	has_started = true;
	IS(nr_configured == 1 && nr_initialized == 1, 1);
	IS(rocprofiler_is_initialized(&status), OK);
	IS(status, 1);
	none.handle = 0;
	IS(rocprofiler_create_context(&none), ERROR(CONFIGURATION_LOCKED));
	IS(serve(context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT), ERROR(CONFIGURATION_LOCKED));
	IS(rocprofiler_force_configure(rocprofiler_configure), OK);
	IS(nr_configured, 1);
	check_tables();
	check_refusals();
	check_markers();
	check_external();
	check_requests();
	check_args();
	check_stop();
	IS(rocprofiler_force_configure(configure_late), OK);
	IS(rocprofiler_force_configure(configure_late), OK);
	IS(nr_late, 1);
	check_end();
	printf("%d wrong\n", nr_wrong);
	return nr_wrong != 0;
}
