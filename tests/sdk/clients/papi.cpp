/* SPDX-License-Identifier: MIT */
/* papi.cpp - as PAPI's component rocp_sdk: nothing is linked; the functions are found all at once, and it gives up if one is missing
 *
 * It counts: what is refused as not implemented leaves it without counters. Its context is that of roctxProfilerPause() and Resume().
 */
#define CLIENT "papi"
#include "client.hpp"

/* In the order in which it resolves them. */
#define FUNCTIONS(X)                                                                               \
	X(flush_buffer)                                                                            \
	X(sample_device_counting_service)                                                          \
	X(configure_callback_dispatch_counting_service)                                            \
	X(configure_callback_tracing_service)                                                      \
	X(configure_device_counting_service)                                                       \
	X(create_context)                                                                          \
	X(create_buffer)                                                                           \
	X(start_context)                                                                           \
	X(stop_context)                                                                            \
	X(context_is_valid)                                                                        \
	X(context_is_active)                                                                       \
	X(create_profile_config)                                                                   \
	X(destroy_profile_config)                                                                  \
	X(force_configure)                                                                         \
	X(get_status_string)                                                                       \
	X(get_thread_id)                                                                           \
	X(is_finalized)                                                                            \
	X(is_initialized)                                                                          \
	X(iterate_agent_supported_counters)                                                        \
	X(iterate_counter_dimensions)                                                              \
	X(query_available_agents)                                                                  \
	X(query_counter_info)                                                                      \
	X(query_counter_instance_count)                                                            \
	X(query_record_counter_id)                                                                 \
	X(query_record_dimension_position)

#define DECLARE(name) static decltype(&rocprofiler_##name) its_##name;
FUNCTIONS(DECLARE)
#undef DECLARE

static rocprofiler_context_id_t context;
static std::atomic<int> nr_pauses;
static int nr_gpus, nr_found;
static bool has_counters;

static bool resolve(void *lib)
{
#define RESOLVE(name)                                                                              \
	its_##name = reinterpret_cast<decltype(its_##name)>(dlsym(lib, "rocprofiler_" #name));     \
	nr_found += its_##name != nullptr;
	FUNCTIONS(RESOLVE)
#undef RESOLVE
	return nr_found == 25;
}

static rocprofiler_status_t on_counters(rocprofiler_agent_id_t, rocprofiler_counter_id_t *,
					size_t nr, void *)
{
	has_counters = nr > 0;
	return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t, const void **agents, size_t nr,
				      void *)
{
	for (size_t i = 0; i < nr; i++) {
		auto *a = static_cast<const rocprofiler_agent_v0_t *>(agents[i]);
		rocprofiler_status_t status;

		if (a->type != ROCPROFILER_AGENT_TYPE_GPU)
			continue;
		nr_gpus++;
		status = its_iterate_agent_supported_counters(a->id, on_counters, nullptr);
		if (status != ROCPROFILER_STATUS_SUCCESS &&
		    strlen(its_get_status_string(status)) < 8)
			wrong("a status without a text");
	}
	return ROCPROFILER_STATUS_SUCCESS;
}

static void on_control(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		       void *)
{
	nr_pauses += record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	int valid = 0, active = 1;

	SDK(its_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
				       sizeof(rocprofiler_agent_v0_t), nullptr));
	SDK(its_create_context(&context));
	SDK(its_configure_callback_tracing_service(context,
						   ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
						   nullptr, 0, on_control, nullptr));
	SDK(its_context_is_valid(context, &valid));
	SDK(its_context_is_active(context, &active));
	if (!valid || active)
		wrong("the context is not valid, or active");
	return 0;
}

static void finalize(void *)
{
	int end = 0;

	SDK(its_is_finalized(&end));
	if (end != -1)
		wrong("finalised at another time");
	say("functions %d, gpus %d, counters %d, pauses %d", nr_found, nr_gpus, has_counters,
	    nr_pauses.load());
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

__attribute__((constructor)) static void start()
{
	void *lib = dlopen("librocprofiler-sdk.so", RTLD_NOW | RTLD_GLOBAL);
	int status = 0;

	if (!lib || !resolve(lib)) {
		say("gives up: %s", lib ? "a function is missing" : dlerror());
		return;
	}
	its_is_initialized(&status);
	if (its_force_configure(rocprofiler_configure) != ROCPROFILER_STATUS_SUCCESS)
		wrong("force_configure");
}

void client_start(void)
{
	its_start_context(context);
}

void client_stop(void)
{
	its_stop_context(context);
}
