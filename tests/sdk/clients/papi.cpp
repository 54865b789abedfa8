/* SPDX-License-Identifier: MIT */
/* papi.cpp - as PAPI's component rocp_sdk: nothing is linked; the functions are found all at once,
 * and it gives up if one is missing
 *
 * With PAPI_EVENTS=NAME,... it counts these on the first GPU, from client_start() to client_stop(),
 * which reads them. Its context is that of roctxProfilerPause() and Resume(), too.
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
static rocprofiler_agent_id_t gpu;
static rocprofiler_profile_config_id_t config;
/* made before constructors of this library have run */
static std::vector<rocprofiler_counter_id_t> *chosen;
static std::vector<std::string> *chosen_names;
static size_t nr_records;
static std::atomic<int> nr_buffered;

static bool resolve(void *lib)
{
#define RESOLVE(name)                                                                              \
	its_##name = reinterpret_cast<decltype(its_##name)>(dlsym(lib, "rocprofiler_" #name));     \
	nr_found += its_##name != nullptr;
	FUNCTIONS(RESOLVE)
#undef RESOLVE
	return nr_found == 25;
}

static bool is_wanted(const char *name)
{
	const char *events = getenv("PAPI_EVENTS");

	return events && ("," + std::string(events) + ",").find("," + std::string(name) + ",") !=
				 std::string::npos;
}

static rocprofiler_status_t on_dimensions(rocprofiler_counter_id_t,
					  const rocprofiler_record_dimension_info_t *dims,
					  size_t nr, void *product)
{
	for (size_t i = 0; i < nr; i++)
		*static_cast<size_t *>(product) *= dims[i].instance_size;
	return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t on_counters(rocprofiler_agent_id_t agent,
					rocprofiler_counter_id_t *counters, size_t nr, void *)
{
	has_counters = nr > 0;
	for (size_t i = 0; i < nr && nr_gpus == 1; i++) {
		rocprofiler_counter_info_v0_t info;
		size_t nr_instances = 0, product = 1;

		SDK(its_query_counter_info(counters[i], ROCPROFILER_COUNTER_INFO_VERSION_0, &info));
		if (!is_wanted(info.name))
			continue;
		SDK(its_query_counter_instance_count(agent, counters[i], &nr_instances));
		SDK(its_iterate_counter_dimensions(counters[i], on_dimensions, &product));
		if (nr_instances != product)
			wrong("instances and dimensions");
		chosen->push_back(counters[i]);
		chosen_names->push_back(info.name);
		nr_records += nr_instances;
		gpu = agent;
	}
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

static void on_buffer(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		      rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t)
{
	for (size_t i = 0; i < nr; i++)
		nr_buffered += headers[i]->category == ROCPROFILER_BUFFER_CATEGORY_COUNTERS &&
			       headers[i]->kind == ROCPROFILER_COUNTER_RECORD_VALUE;
}

static void choose(rocprofiler_context_id_t id, rocprofiler_agent_id_t,
		   rocprofiler_agent_set_profile_callback_t set_config, void *)
{
	rocprofiler_profile_config_id_t none{ 99 };

	SDK_IS(set_config(id, none), ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND);
	SDK(set_config(id, config));
}

static rocprofiler_buffer_id_t buffer;

static void configure_counters()
{
	rocprofiler_context_id_t none{ 5 };

	SDK(its_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer,
			      nullptr, &buffer));
	SDK(its_create_profile_config(gpu, chosen->data(), chosen->size(), &config));
	SDK_IS(its_configure_device_counting_service(none, buffer, gpu, choose, nullptr),
	       ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID);
	SDK_IS(its_configure_device_counting_service(context, buffer, { 1 }, choose, nullptr),
	       ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND);
	SDK_IS(its_sample_device_counting_service(context, {}, ROCPROFILER_COUNTER_FLAG_NONE,
						  nullptr, nullptr),
	       ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED);
	SDK(its_configure_device_counting_service(context, buffer, gpu, choose, nullptr));
	SDK_IS(its_configure_device_counting_service(context, buffer, gpu, choose, nullptr),
	       ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
	SDK_IS(its_configure_callback_dispatch_counting_service(
		       context,
		       [](rocprofiler_dispatch_counting_service_data_t,
			  rocprofiler_counter_config_id_t *, rocprofiler_user_data_t *, void *) {},
		       nullptr,
		       [](rocprofiler_dispatch_counting_service_data_t,
			  rocprofiler_counter_record_t *, size_t, rocprofiler_user_data_t,
			  void *) {},
		       nullptr),
	       ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT);
	SDK_IS(its_sample_device_counting_service(context, {}, ROCPROFILER_COUNTER_FLAG_NONE,
						  nullptr, nullptr),
	       ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED);
}

static void read_counters()
{
	std::vector<rocprofiler_counter_record_t> records(nr_records);
	std::map<uint64_t, double> sums;
	rocprofiler_user_data_t user{};
	size_t nr = nr_records, small = nr_records - 1;

	user.value = 4711;
	SDK_IS(its_sample_device_counting_service(context, user, ROCPROFILER_COUNTER_FLAG_NONE,
						  records.data(), &small),
	       ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES);
	SDK_IS(its_sample_device_counting_service(context, user, ROCPROFILER_COUNTER_FLAG_ASYNC,
						  records.data(), &nr),
	       ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT);
	SDK(its_sample_device_counting_service(context, user, ROCPROFILER_COUNTER_FLAG_NONE,
					       records.data(), &nr));
	if (nr != nr_records || small != nr_records)
		wrong("number of records");
	for (const auto &r : records) {
		rocprofiler_counter_id_t id;
		size_t pos = 0;

		SDK(its_query_record_counter_id(r.id, &id));
		SDK(its_query_record_dimension_position(r.id, 7, &pos));
		if (r.user_data.value != 4711 || r.agent_id.handle != gpu.handle)
			wrong("a record");
		sums[id.handle] += r.counter_value;
	}
	for (size_t i = 0; i < chosen->size(); i++)
		say("event %s %.0f", (*chosen_names)[i].c_str(), sums[(*chosen)[i].handle]);
}

static void on_control(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		       void *)
{
	nr_pauses += record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	int valid = 0, active = 1;

	chosen = new std::vector<rocprofiler_counter_id_t>;
	chosen_names = new std::vector<std::string>;
	SDK(its_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
				       sizeof(rocprofiler_agent_v0_t), nullptr));
	SDK(its_create_context(&context));
	SDK(its_configure_callback_tracing_service(context,
						   ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,
						   nullptr, 0, on_control, nullptr));
	if (!chosen->empty())
		configure_counters();
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
	if (!chosen->empty())
		say("buffered %d of %d", nr_buffered.load(), static_cast<int>(nr_records));
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
	if (chosen && !chosen->empty()) {
		read_counters();
		SDK(its_flush_buffer(buffer));
	}
	its_stop_context(context);
}
