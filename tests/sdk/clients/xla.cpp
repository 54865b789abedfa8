/* SPDX-License-Identifier: MIT */
/* xla.cpp - as XLA's and JAX's profiler: one buffer for calls of HIP, kernels and copies,
 * annotations by the calls' ids
 *
 * A constructor forces it when it is loaded. It never stops its context, and reads after a flush;
 * the other clients' sessions are all one to it.
 */
#define CLIENT "xla"
#include "client.hpp"

#include <rocprofiler-sdk/cxx/details/name_info.hpp>

#include <set>

static rocprofiler_context_id_t utility_context, context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler::sdk::callback_name_info *names;
static std::map<uint64_t, rocprofiler_agent_v0_t> *agents;
static std::set<uint64_t> *annotated;
static std::atomic<bool> has_started;
static std::atomic<int> nr_calls, nr_annotated;

static void say_call(const rocprofiler_buffer_tracing_hip_api_record_t &r)
{
	const auto &kind = (*names)[static_cast<size_t>(r.kind)];
	std::string name{ kind[r.operation] };
	std::lock_guard<std::mutex> guard(lock());

	nr_calls++;
	nr_annotated += (int)annotated->count(r.correlation_id.internal);
	if (r.end_timestamp < r.start_timestamp || !r.start_timestamp || !r.thread_id)
		wrong("a call without times");
	say("call %s %llu", name.c_str(), (unsigned long long)r.correlation_id.internal);
}

static void check_agents(const rocprofiler_record_header_t *h)
{
	if (h->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) {
		auto *r = static_cast<rocprofiler_buffer_tracing_kernel_dispatch_record_t *>(
			h->payload);

		if (!agents->count(r->dispatch_info.agent_id.handle))
			wrong("a kernel of an agent that there is not");
	} else {
		auto *r =
			static_cast<rocprofiler_buffer_tracing_memory_copy_record_t *>(h->payload);

		if (!agents->count(r->src_agent_id.handle) ||
		    !agents->count(r->dst_agent_id.handle))
			wrong("a copy of an agent that there is not");
	}
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t drops)
{
	if (drops)
		wrong("records were dropped");
	for (size_t i = 0; i < nr; i++) {
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API)
			say_call(*static_cast<rocprofiler_buffer_tracing_hip_api_record_t *>(
				headers[i]->payload));
		else if (say_operation(headers[i]))
			check_agents(headers[i]);
		else
			wrong("a record of another kind");
	}
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	std::lock_guard<std::mutex> guard(lock());

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		annotated->insert(record.correlation_id.internal);
}

static int initialize(rocprofiler_client_finalize_t, void *data)
{
	std::vector<rocprofiler_tracing_operation_t> symbols{
		ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER
	};
	rocprofiler_callback_thread_t thread{};
	int valid = 0;

	names = new rocprofiler::sdk::callback_name_info(
		rocprofiler::sdk::get_callback_tracing_names());
	agents = new std::map<uint64_t, rocprofiler_agent_v0_t>;
	annotated = new std::set<uint64_t>;
	for (const auto &a : get_agents())
		(*agents)[a.id.handle] = a;
	SDK(rocprofiler_create_context(&utility_context));
	SDK(rocprofiler_configure_callback_tracing_service(utility_context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   symbols.data(), symbols.size(),
							   on_symbol, nullptr));
	SDK(rocprofiler_start_context(utility_context));
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_create_buffer(context, 100 * 4096, 40 * 4096,
				      ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, data,
				      &buffer));
	for (auto kind :
	     { ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
	       ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY })
		SDK(rocprofiler_configure_buffer_tracing_service(context, kind, nullptr, 0,
								 buffer));
	SDK(rocprofiler_configure_callback_tracing_service(
		context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, nullptr, 0, on_call,
		nullptr));
	SDK(rocprofiler_create_callback_thread(&thread));
	SDK(rocprofiler_assign_callback_thread(buffer, thread));
	SDK(rocprofiler_context_is_valid(context, &valid));
	if (!valid)
		wrong("the context is not valid");
	return 0;
}

static void finalize(void *)
{
	say("annotated %d of %d", nr_annotated.load(), nr_calls.load());
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
	SDK(rocprofiler_force_configure(rocprofiler_configure));
}

void client_start(void)
{
	if (!has_started.exchange(true))
		SDK(rocprofiler_start_context(context));
}

void client_stop(void)
{
	SDK(rocprofiler_flush_buffer(buffer));
}
