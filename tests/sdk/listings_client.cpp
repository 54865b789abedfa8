/* SPDX-License-Identifier: MIT */
/* listings_client.cpp - a HIP program that is its own tool, with the specification's listings of
 * callbacks as they stand there
 *
 * Corrected where they can't compile: the kind of a callback is cast to look it up among kinds of
 * buffers, the second callback takes its own time stamp. The HSA listing writes to stderr; "calls
 * N, of them N with a time" is the first one's sum.
 */
#include "hip_common.hpp"

#include <dlfcn.h>

#include <atomic>
#include <unordered_set>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

static std::atomic<int> nr_calls, nr_timed;

/* "Callback Tracing Callback Function" */
namespace durations
{
static void callback_func(rocprofiler_callback_tracing_record_t record,
			  rocprofiler_user_data_t *user_data, void *cb_data)
{
	auto ts = rocprofiler_timestamp_t{};
	rocprofiler_get_timestamp(&ts);

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		user_data->value = ts;
	} else if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT) {
		auto delta_ts = (ts - user_data->value);

		nr_calls++;
		/* less than a minute, more than nothing */
		if (delta_ts > 0 && delta_ts < 60000000000)
			nr_timed++;
	} else {
		printf("phase %d of a call\n", (int)record.phase);
	}
	(void)cb_data;
}
} // namespace durations

/* "Callback Tracing Record" */
namespace errors
{
static void callback_func(rocprofiler_callback_tracing_record_t record,
			  rocprofiler_user_data_t *user_data, void *cb_data)
{
	static auto hsa_domains = std::unordered_set<rocprofiler_buffer_tracing_kind_t>{
		ROCPROFILER_BUFFER_TRACING_HSA_CORE_API, ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_BUFFER_TRACING_HSA_IMAGE_EXT_API,
		ROCPROFILER_BUFFER_TRACING_HSA_FINALIZER_API
	};

	if (hsa_domains.count(static_cast<rocprofiler_buffer_tracing_kind_t>(record.kind)) > 0) {
		auto *payload =
			static_cast<rocprofiler_callback_tracing_hsa_api_data_t *>(record.payload);

		hsa_status_t status = payload->retval.hsa_status_t_retval;
		if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT &&
		    status != HSA_STATUS_SUCCESS) {
			const char *_kind = nullptr;
			const char *_operation = nullptr;

			rocprofiler_query_callback_tracing_kind_name(record.kind, &_kind, nullptr);
			rocprofiler_query_callback_tracing_kind_operation_name(record.kind,
									       record.operation,
									       &_operation,
									       nullptr);

			fprintf(stderr, "[domain=%s] %s returned a non-zero exit code: %i\n", _kind,
				_operation, status);
		}
	} else {
		durations::callback_func(record, user_data, cb_data);
	}
}
} // namespace errors

static int initialize(rocprofiler_client_finalize_t, void *)
{
	static const rocprofiler_callback_tracing_kind_t kinds[] = {
		ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API,
		ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
	};
	auto ctx = rocprofiler_context_id_t{};
	int status = rocprofiler_create_context(&ctx);

	for (auto kind : kinds)
		status |= rocprofiler_configure_callback_tracing_service(ctx, kind, nullptr, 0,
									 errors::callback_func,
									 nullptr);
	return status | rocprofiler_start_context(ctx);
}

static void finalize(void *)
{
	printf("calls %d, of them %d with a time\n", nr_calls.load(), nr_timed.load());
	fflush(stdout);
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = "listings";
	return &result;
}

int main()
{
	auto get_info = (hsa_status_t(*)(hsa_agent_t, hsa_agent_info_t,
					 void *))dlsym(RTLD_DEFAULT, "hsa_agent_get_info");
	char name[64];
	int device;
	void *memory;

	for (int i = 0; i < 10; i++)
		HIP(hipGetDevice(&device));
	HIP(hipMalloc(&memory, 4096));
	HIP(hipFree(memory));
	/* no agent has this handle */
	if (!get_info || get_info({ 0 }, HSA_AGENT_INFO_NAME, name) == HSA_STATUS_SUCCESS)
		printf("hsa_agent_get_info() does not fail\n");
	return 0;
}
