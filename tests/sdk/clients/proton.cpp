/* SPDX-License-Identifier: MIT */
/* proton.cpp - as Triton's Proton: nothing is linked; launches, markers and kernels, with ids of
 * its own for kernels
 *
 * A constructor brings rocprofiler-register, where there is one, and this library to global scope,
 * finds the functions by their names and forces itself. A big buffer, flushed at the end of a
 * session; it is destroyed at the end. It goes on without samples of program counters where they
 * are refused.
 */
#define CLIENT "proton"
#include "client.hpp"

/* What client.hpp calls is found by name, too. */
template <typename F> static F find(const char *name)
{
	auto fn = reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));

	if (!fn)
		wrong(name);
	return fn;
}
#define CALL(name) find<decltype(&rocprofiler_##name)>("rocprofiler_" #name)

static rocprofiler_context_id_t code_context, context;
static rocprofiler_buffer_id_t buffer;
static std::atomic<int> nr_launches, nr_pushes, nr_pops, nr_requests;
static bool has_uuid, has_samples;

static const rocprofiler_tracing_operation_t launches[] = {
	ROCPROFILER_HIP_RUNTIME_API_ID_hipExtLaunchKernel,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipExtLaunchMultiKernelMultiDevice,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipExtModuleLaunchKernel,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipHccModuleLaunchKernel,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchCooperativeKernel,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchCooperativeKernelMultiDevice,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipModuleLaunchKernel,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipModuleLaunchCooperativeKernel,
	ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch,
};

static void on_launch(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		      void *)
{
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		nr_launches++;
		say("launch %llu", (unsigned long long)record.correlation_id.internal);
	}
}

static void on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		      void *)
{
	if (record.phase != ROCPROFILER_CALLBACK_PHASE_ENTER)
		return;
	if (record.operation == ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA)
		nr_pushes++;
	else if (record.operation == ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop)
		nr_pops++;
}

/* Its own id of a kernel: that of the launch, with a mark. */
static int on_request(rocprofiler_thread_id_t, rocprofiler_context_id_t,
		      rocprofiler_external_correlation_id_request_kind_t kind,
		      rocprofiler_tracing_operation_t, uint64_t internal,
		      rocprofiler_user_data_t *value, void *)
{
	if (kind != ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH)
		wrong("a request that was not asked for");
	nr_requests++;
	value->value = internal + 1000000;
	return 0;
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t drops)
{
	if (drops)
		wrong("records were dropped");
	for (size_t i = 0; i < nr; i++)
		if (!say_operation(headers[i]))
			wrong("a record of another kind");
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t, const void **agents, size_t nr,
				      void *gpu)
{
	for (size_t i = 0; i < nr; i++) {
		auto *a = static_cast<const rocprofiler_agent_v0_t *>(agents[i]);

		if (a->type != ROCPROFILER_AGENT_TYPE_GPU)
			continue;
		*static_cast<rocprofiler_agent_id_t *>(gpu) = a->id;
		has_uuid = a->size >= sizeof(*a) && a->runtime_visibility.hip;
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static void try_samples(rocprofiler_agent_id_t gpu)
{
	has_samples = CALL(configure_pc_sampling_service)(context, gpu,
							  ROCPROFILER_PC_SAMPLING_METHOD_HOST_TRAP,
							  ROCPROFILER_PC_SAMPLING_UNIT_TIME, 100,
							  buffer, 0) == ROCPROFILER_STATUS_SUCCESS;
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	auto configure = CALL(configure_callback_tracing_service);
	rocprofiler_external_correlation_id_request_kind_t kinds[] = {
		ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH
	};
	const rocprofiler_tracing_operation_t markers[] = {
		ROCPROFILER_MARKER_CORE_API_ID_roctxRangePushA,
		ROCPROFILER_MARKER_CORE_API_ID_roctxRangePop,
	};
	rocprofiler_callback_thread_t thread{};
	rocprofiler_agent_id_t gpu{};

	SDK(CALL(query_available_agents)(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
					 sizeof(rocprofiler_agent_v0_t), &gpu));
	SDK(CALL(create_context)(&code_context));
	SDK(configure(code_context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, nullptr, 0, on_symbol,
		      nullptr));
	SDK(CALL(start_context)(code_context));
	SDK(CALL(create_context)(&context));
	SDK(CALL(create_buffer)(context, 64 << 20, 56 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				on_records, nullptr, &buffer));
	SDK(CALL(create_callback_thread)(&thread));
	SDK(CALL(assign_callback_thread)(buffer, thread));
	SDK(configure(context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, launches,
		      sizeof(launches) / sizeof(launches[0]), on_launch, nullptr));
	SDK(configure(context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, markers, 2, on_marker,
		      nullptr));
	SDK(CALL(configure_buffer_tracing_service)(context,
						   ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
						   nullptr, 0, buffer));
	SDK(CALL(configure_external_correlation_id_request_service)(context, kinds, 1, on_request,
								    nullptr));
	try_samples(gpu);
	return 0;
}

static void finalize(void *)
{
	rocprofiler_status_t status;

	while ((status = CALL(destroy_buffer)(buffer)) == ROCPROFILER_STATUS_ERROR_BUFFER_BUSY)
		usleep(1000);
	SDK_IS(status, ROCPROFILER_STATUS_SUCCESS);
	say("launches %d, requests %d, pushes %d, pops %d", nr_launches.load(), nr_requests.load(),
	    nr_pushes.load(), nr_pops.load());
	say("uuid %d, samples %d", has_uuid, has_samples);
	say("wrong %d", nr_wrong.load());
}

/* Not by the name that others look for. */
static rocprofiler_tool_configure_result_t *configure_proton(uint32_t, const char *, uint32_t,
							     rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = CLIENT;
	return &result;
}

__attribute__((constructor)) static void start()
{
	int status = 0;

	dlopen("librocprofiler-register.so.0", RTLD_NOW | RTLD_GLOBAL);
	if (!dlopen("librocprofiler-sdk.so.1", RTLD_NOW | RTLD_GLOBAL) &&
	    !dlopen("librocprofiler-sdk.so", RTLD_NOW | RTLD_GLOBAL))
		wrong(dlerror());
	SDK(CALL(is_initialized)(&status));
	SDK(CALL(force_configure)(configure_proton));
}

void client_start(void)
{
	SDK(CALL(start_context)(context));
}

void client_stop(void)
{
	SDK(CALL(flush_buffer)(buffer));
	SDK(CALL(stop_context)(context));
}
