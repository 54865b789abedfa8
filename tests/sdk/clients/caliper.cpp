/* SPDX-License-Identifier: MIT */
/* caliper.cpp - as Caliper's service: calls of HIP, kernels and copies with ids of regions of its
 * own
 *
 * Named by ROCP_TOOL_LIBRARIES. Its regions are the calls; kernels and copies get the number of the
 * one that is open on their thread.
 */
#define CLIENT "caliper"
#include "client.hpp"

static rocprofiler_context_id_t hip_context, context, allocation_context;
static rocprofiler_buffer_id_t buffer;
static std::atomic<uint64_t> next_region{ 1 };
static std::atomic<int> nr_regions, nr_allocations;
static thread_local uint64_t region;
static bool has_allocations;

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *)
{
	const char *name = nullptr;

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user->value = region;
		region = next_region++;
		SDK(rocprofiler_query_callback_tracing_kind_operation_name(record.kind,
									   record.operation, &name,
									   nullptr));
		if (name && strstr(name, "hipLaunchKernel"))
			say("region %llu", (unsigned long long)region);
		nr_regions++;
	} else {
		region = user->value;
	}
}

static void on_allocation(rocprofiler_callback_tracing_record_t, rocprofiler_user_data_t *, void *)
{
	nr_allocations++;
}

static int on_request(rocprofiler_thread_id_t, rocprofiler_context_id_t,
		      rocprofiler_external_correlation_id_request_kind_t,
		      rocprofiler_tracing_operation_t, uint64_t, rocprofiler_user_data_t *value,
		      void *)
{
	value->value = region;
	return 0;
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t)
{
	for (size_t i = 0; i < nr; i++)
		if (!say_operation(headers[i]))
			wrong("a record of another kind");
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	rocprofiler_external_correlation_id_request_kind_t kinds[] = {
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH,
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY,
	};
	rocprofiler_status_t status;
	int valid = 0;

	get_agents();
	SDK(rocprofiler_create_context(&hip_context));
	SDK(rocprofiler_configure_callback_tracing_service(
		hip_context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, nullptr, 0, on_call,
		nullptr));
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_configure_callback_tracing_service(context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   nullptr, 0, on_symbol, nullptr));
	SDK(rocprofiler_create_buffer(context, 16 * 4096, 16 * 4096 - 4096,
				      ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, nullptr,
				      &buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
							 nullptr, 0, buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
							 nullptr, 0, buffer));
	SDK(rocprofiler_configure_external_correlation_id_request_service(context, kinds, 2,
									  on_request, nullptr));
	SDK(rocprofiler_create_context(&allocation_context));
	status = rocprofiler_configure_callback_tracing_service(
		allocation_context, ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION, nullptr, 0,
		on_allocation, nullptr);
	has_allocations = status == ROCPROFILER_STATUS_SUCCESS;
	SDK(rocprofiler_context_is_valid(context, &valid));
	if (!valid)
		wrong("the context is not valid");
	return 0;
}

static void finalize(void *)
{
	say("regions %d, allocations %d", nr_regions.load() > 0,
	    has_allocations && nr_allocations.load() > 0);
	say("wrong %d", nr_wrong.load());
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = CLIENT;
	return &result;
}

void client_start(void)
{
	SDK(rocprofiler_start_context(hip_context));
	SDK(rocprofiler_start_context(context));
	if (has_allocations)
		SDK(rocprofiler_start_context(allocation_context));
}

void client_stop(void)
{
	SDK(rocprofiler_stop_context(hip_context));
	SDK(rocprofiler_stop_context(context));
	if (has_allocations)
		SDK(rocprofiler_stop_context(allocation_context));
	SDK(rocprofiler_flush_buffer(buffer));
}
