/* SPDX-License-Identifier: MIT */
/* tau.cpp - as TAU: everything from buffers, calls of HIP, HSA and roctx included
 *
 * Preloaded; it forces a function that has a name of its own. It goes on where samples of program
 * counters are refused. With TAU_METRICS=NAME it counts that for each dispatch.
 */
#define CLIENT "tau"
#include "client.hpp"

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static std::map<std::string, int> *counts;
static std::string *missing;
static std::atomic<int> nr_marks;

static void on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		      void *)
{
	nr_marks += record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
}

static void count_call(const rocprofiler_record_header_t *h)
{
	auto *r = static_cast<rocprofiler_buffer_tracing_hip_api_record_t *>(h->payload);
	const char *kind = nullptr, *name = nullptr;

	/* all of these kinds' records begin alike */
	SDK(rocprofiler_query_buffer_tracing_kind_name(r->kind, &kind, nullptr));
	SDK(rocprofiler_query_buffer_tracing_kind_operation_name(r->kind, r->operation, &name,
								 nullptr));
	if (h->kind != (uint32_t)r->kind || r->end_timestamp < r->start_timestamp)
		wrong("a record that contradicts itself");
	std::lock_guard<std::mutex> guard(lock());
	(*counts)[name]++;
	(*counts)[kind]++;
}

static rocprofiler_profile_config_id_t config;

/* A header, and the records of its dispatch. */
static bool say_counter(const rocprofiler_record_header_t *h)
{
	static std::map<uint64_t, double> sums;
	static std::map<uint64_t, uint64_t> left;

	if (h->category != ROCPROFILER_BUFFER_CATEGORY_COUNTERS)
		return false;
	std::lock_guard<std::mutex> guard(lock());
	if (h->kind == ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER) {
		auto *r = static_cast<rocprofiler_dispatch_counting_service_record_t *>(h->payload);

		left[r->dispatch_info.dispatch_id] = r->num_records;
		return true;
	}
	auto *r = static_cast<rocprofiler_counter_record_t *>(h->payload);

	sums[r->dispatch_id] += r->counter_value;
	if (--left[r->dispatch_id] == 0)
		say("metric %.0f", sums[r->dispatch_id]);
	return true;
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t drops)
{
	if (drops)
		wrong("records were dropped");
	for (size_t i = 0; i < nr; i++)
		if (!say_counter(headers[i]) && !say_operation(headers[i]))
			count_call(headers[i]);
}

static rocprofiler_status_t on_counters(rocprofiler_agent_id_t agent,
					rocprofiler_counter_id_t *counters, size_t nr, void *)
{
	const char *wanted = getenv("TAU_METRICS");

	for (size_t i = 0; i < nr && wanted; i++) {
		rocprofiler_counter_info_v0_t info;

		SDK(rocprofiler_query_counter_info(counters[i], ROCPROFILER_COUNTER_INFO_VERSION_0,
						   &info));
		if (strcmp(info.name, wanted) == 0)
			SDK(rocprofiler_create_profile_config(agent, &counters[i], 1, &config));
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static void on_dispatch(rocprofiler_dispatch_counting_service_data_t,
			rocprofiler_counter_config_id_t *chosen, rocprofiler_user_data_t *, void *)
{
	*chosen = config;
}

static rocprofiler_status_t on_samples(const rocprofiler_pc_sampling_configuration_t *, size_t,
				       void *)
{
	return ROCPROFILER_STATUS_SUCCESS;
}

static void try_counters()
{
	for (const auto &a : get_agents()) {
		if (a.type != ROCPROFILER_AGENT_TYPE_GPU)
			continue;
		if (rocprofiler_iterate_agent_supported_counters(a.id, on_counters, nullptr) !=
		    ROCPROFILER_STATUS_SUCCESS)
			missing->append(" counters");
		if (rocprofiler_query_pc_sampling_agent_configurations(a.id, on_samples, nullptr) !=
		    ROCPROFILER_STATUS_SUCCESS)
			missing->append(" samples");
	}
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	static const rocprofiler_buffer_tracing_kind_t kinds[] = {
		ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
		ROCPROFILER_BUFFER_TRACING_HSA_CORE_API,
		ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_BUFFER_TRACING_HSA_IMAGE_EXT_API,
		ROCPROFILER_BUFFER_TRACING_HSA_FINALIZE_EXT_API,
		ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API,
		ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API,
		ROCPROFILER_BUFFER_TRACING_MARKER_NAME_API,
		ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
		ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
	};
	rocprofiler_callback_thread_t thread{};
	int valid = 0;

	counts = new std::map<std::string, int>;
	missing = new std::string;
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_configure_callback_tracing_service(context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   nullptr, 0, on_symbol, nullptr));
	SDK(rocprofiler_configure_callback_tracing_service(
		context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, nullptr, 0, on_marker,
		nullptr));
	SDK(rocprofiler_create_buffer(context, 8 * 4096, 7 * 4096,
				      ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, nullptr,
				      &buffer));
	for (auto kind : kinds)
		SDK(rocprofiler_configure_buffer_tracing_service(context, kind, nullptr, 0,
								 buffer));
	try_counters();
	if (config.handle)
		SDK(rocprofiler_configure_buffer_dispatch_counting_service(context, buffer,
									   on_dispatch, nullptr));
	SDK(rocprofiler_create_callback_thread(&thread));
	SDK(rocprofiler_assign_callback_thread(buffer, thread));
	SDK(rocprofiler_context_is_valid(context, &valid));
	if (!valid)
		wrong("the context is not valid");
	return 0;
}

static void finalize(void *)
{
	std::lock_guard<std::mutex> guard(lock());

	for (const char *name : { "hipLaunchKernel", "hipMemcpyAsync", "roctxMarkA",
				  "roctxRangePushA", "HSA_CORE_API", "HSA_AMD_EXT_API" })
		say("count %s %d", name, (*counts)[name]);
	say("marks %d, without%s", nr_marks.load(), missing->c_str());
	say("wrong %d", nr_wrong.load());
}

static rocprofiler_tool_configure_result_t *configure_tau(uint32_t, const char *, uint32_t,
							  rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = CLIENT;
	return &result;
}

__attribute__((constructor)) static void start()
{
	SDK(rocprofiler_force_configure(configure_tau));
}

void client_start(void)
{
	SDK(rocprofiler_start_context(context));
}

void client_stop(void)
{
	SDK(rocprofiler_stop_context(context));
	SDK(rocprofiler_flush_buffer(buffer));
}
