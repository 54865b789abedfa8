/* SPDX-License-Identifier: MIT */
/* rocprofsys.cpp - as rocprofiler-systems: most kinds of callbacks and buffers at once, its own ids
 * for kernels and copies
 *
 * Named by ROCP_TOOL_LIBRARIES. What is refused as not implemented, or for the kernel driver's
 * sake, is left out, and named. Counters have a context of their own. Flushes and destroys again
 * while a buffer is busy.
 */
#define CLIENT "rocprofsys"
#include "client.hpp"

#include <rocprofiler-sdk/cxx/hash.hpp>
#include <rocprofiler-sdk/cxx/name_info.hpp>
#include <rocprofiler-sdk/cxx/operators.hpp>

#include <unordered_map>

static rocprofiler_context_id_t context, code_context, counter_context;
static rocprofiler_buffer_id_t buffer;
static std::unordered_map<rocprofiler_agent_id_t, rocprofiler_agent_v0_t> *agents;
static rocprofiler::sdk::callback_name_info_t<const char *> *names;
static std::map<std::string, int> *counts;
static std::atomic<int> nr_args, nr_requests;

static int on_arg(rocprofiler_callback_tracing_kind_t, rocprofiler_tracing_operation_t, uint32_t,
		  const void *const, int32_t, const char *, const char *, const char *text, int32_t,
		  void *)
{
	nr_args += text != nullptr;
	return 0;
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *)
{
	const char *name = (*names)[record.kind][record.operation];

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		SDK(rocprofiler_get_timestamp(&user->value));
		return;
	}
	/* kinds without arguments refuse */
	rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_arg, 2, nullptr);
	std::lock_guard<std::mutex> guard(lock());
	(*counts)[name]++;
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t drops)
{
	if (drops)
		wrong("records were dropped");
	for (size_t i = 0; i < nr; i++)
		say_operation(headers[i]);
}

static int on_request(rocprofiler_thread_id_t tid, rocprofiler_context_id_t,
		      rocprofiler_external_correlation_id_request_kind_t,
		      rocprofiler_tracing_operation_t, uint64_t, rocprofiler_user_data_t *value,
		      void *)
{
	nr_requests++;
	value->value = tid;
	return 0;
}

static void optional(const char *what, rocprofiler_status_t status)
{
	if (status == ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED ||
	    status == ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_KERNEL)
		say("without %s", what);
	else
		SDK_IS(status, ROCPROFILER_STATUS_SUCCESS);
}

static void before_thread(rocprofiler_runtime_library_t, void *)
{
}

static void configure_callbacks()
{
	static const rocprofiler_callback_tracing_kind_t kinds[] = {
		ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
		ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
		ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,
		ROCPROFILER_CALLBACK_TRACING_RCCL_API,
		ROCPROFILER_CALLBACK_TRACING_ROCDECODE_API,
		ROCPROFILER_CALLBACK_TRACING_ROCJPEG_API,
		ROCPROFILER_CALLBACK_TRACING_OMPT,
		ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY,
		ROCPROFILER_CALLBACK_TRACING_HIP_STREAM,
		ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION,
	};

	for (auto kind : kinds)
		optional(names->at(kind),
			 rocprofiler_configure_callback_tracing_service(context, kind, nullptr, 0,
									on_call, nullptr));
}

static void configure_buffers()
{
	auto buffers = rocprofiler::sdk::get_buffer_tracing_names<const char *>();

	SDK(rocprofiler_create_buffer(context, 16 * 4096, 15 * 4096,
				      ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, nullptr,
				      &buffer));
	for (auto kind :
	     { ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
	       ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY,
	       ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,
	       ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT, ROCPROFILER_BUFFER_TRACING_KFD_QUEUE })
		optional(buffers.at(kind),
			 rocprofiler_configure_buffer_tracing_service(context, kind, nullptr, 0,
								      buffer));
}

static rocprofiler_status_t on_counters(rocprofiler_agent_id_t, rocprofiler_counter_id_t *, size_t,
					void *)
{
	return ROCPROFILER_STATUS_SUCCESS;
}

static void configure_counters()
{
	for (const auto &a : *agents)
		if (a.second.type == ROCPROFILER_AGENT_TYPE_GPU)
			optional("counters",
				 rocprofiler_iterate_agent_supported_counters(a.first, on_counters,
									      nullptr));
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	static const rocprofiler_external_correlation_id_request_kind_t kinds[] = {
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH,
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY,
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_ALLOCATION,
	};
	rocprofiler_callback_thread_t thread{};

	names = new rocprofiler::sdk::callback_name_info_t<const char *>(
		rocprofiler::sdk::get_callback_tracing_names<const char *>());
	counts = new std::map<std::string, int>;
	agents = new std::unordered_map<rocprofiler_agent_id_t, rocprofiler_agent_v0_t>;
	for (const auto &a : get_agents())
		agents->emplace(a.id, a);
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_create_context(&code_context));
	SDK(rocprofiler_create_context(&counter_context));
	SDK(rocprofiler_configure_callback_tracing_service(code_context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   nullptr, 0, on_symbol, nullptr));
	configure_callbacks();
	configure_buffers();
	configure_counters();
	SDK(rocprofiler_configure_external_correlation_id_request_service(context, kinds, 3,
									  on_request, nullptr));
	SDK(rocprofiler_create_callback_thread(&thread));
	SDK(rocprofiler_assign_callback_thread(buffer, thread));
	SDK(rocprofiler_start_context(code_context));
	return 0;
}

static void again(rocprofiler_status_t (*fn)(rocprofiler_buffer_id_t))
{
	rocprofiler_status_t status;

	while ((status = fn(buffer)) == ROCPROFILER_STATUS_ERROR_BUFFER_BUSY)
		usleep(1000);
	SDK_IS(status, ROCPROFILER_STATUS_SUCCESS);
}

static void finalize(void *)
{
	again(rocprofiler_destroy_buffer);
	for (const char *name :
	     { "hipLaunchKernel", "hipMemcpyAsync", "hsa_queue_create", "roctxMarkA" })
		say("count %s %d", name, (*counts)[name]);
	say("args %d, requests %d", nr_args.load() > 0, nr_requests.load());
	say("wrong %d", nr_wrong.load());
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };
	uint32_t major = 0, minor = 0, patch = 0;

	SDK(rocprofiler_get_version(&major, &minor, &patch));
	if (version != 10000 * major + 100 * minor + patch)
		wrong("another version");
	SDK(rocprofiler_at_internal_thread_create(before_thread, before_thread,
						  ROCPROFILER_LIBRARY | ROCPROFILER_HSA_LIBRARY |
							  ROCPROFILER_HIP_LIBRARY |
							  ROCPROFILER_MARKER_LIBRARY,
						  nullptr));
	id->name = CLIENT;
	return &result;
}

void client_start(void)
{
	SDK(rocprofiler_start_context(context));
}

void client_stop(void)
{
	int active = 0;

	SDK(rocprofiler_context_is_active(context, &active));
	if (!active)
		wrong("the context is not active");
	SDK(rocprofiler_stop_context(context));
	again(rocprofiler_flush_buffer);
}
