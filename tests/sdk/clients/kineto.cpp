/* SPDX-License-Identifier: MIT */
/* kineto.cpp - as PyTorch's Kineto: callbacks of HIP with their arguments, buffers of kernels and
 * copies
 *
 * Asks whether tools were looked for and forces itself only then. One context for names of kernels
 * is always on, the other one in sessions; within initialize it is stopped before it was ever
 * started. The buffer is flushed before the context is stopped.
 */
#define CLIENT "kineto"
#include "client.hpp"

#include <rocprofiler-sdk/cxx/name_info.hpp>

#include <unordered_map>
#include <unordered_set>

static rocprofiler_context_id_t utility_context, context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_client_id_t *client_id;
static std::vector<rocprofiler_agent_v0_t> *agents;
static std::atomic<int> nr_calls;

/* What it reads of a call, by the arguments' names. */
struct seen {
	const char *dst, *src, *kind, *stream;
	const void *size, *grid, *block;
};

static int on_arg(rocprofiler_callback_tracing_kind_t, rocprofiler_tracing_operation_t, uint32_t,
		  const void *const value, int32_t, const char *, const char *name,
		  const char *text, int32_t, void *data)
{
	auto *s = static_cast<seen *>(data);

	if (!strcmp(name, "dst"))
		s->dst = text;
	else if (!strcmp(name, "src"))
		s->src = text;
	else if (!strcmp(name, "kind"))
		s->kind = text;
	else if (!strcmp(name, "stream"))
		s->stream = text;
	else if (!strcmp(name, "sizeBytes"))
		s->size = value;
	else if (!strcmp(name, "numBlocks"))
		s->grid = value;
	else if (!strcmp(name, "dimBlocks"))
		s->block = value;
	return 0;
}

/* Texts and values are read when the iteration is over. */
static void say_call(const rocprofiler_callback_tracing_record_t &record, const char *name)
{
	seen s = {};
	auto id = (unsigned long long)record.correlation_id.internal;

	SDK(rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_arg, 1, &s));
	if (s.grid && s.block)
		say("launch %s %llu %u %u %d", name, id,
		    static_cast<const rocprofiler_dim3_t *>(s.grid)->x,
		    static_cast<const rocprofiler_dim3_t *>(s.block)->x, s.stream != nullptr);
	else if (s.dst && s.src && s.kind && s.size)
		say("memcpy %s %llu %s %zu", name, id, s.kind,
		    *static_cast<const size_t *>(s.size));
}

static void on_call(rocprofiler_callback_tracing_record_t record,
		    rocprofiler_user_data_t *user_data, void *)
{
	const char *name = nullptr;

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		rocprofiler_timestamp_t now = 0;

		rocprofiler_get_timestamp(&now);
		user_data->value = now;
		return;
	}
	if (!user_data->value)
		wrong("the end of a call without its begin");
	nr_calls++;
	SDK(rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation,
								   &name, nullptr));
	say_call(record, name);
}

static void on_records(rocprofiler_context_id_t of, rocprofiler_buffer_id_t from,
		       rocprofiler_record_header_t **headers, size_t nr, void *data, uint64_t drops)
{
	if (of.handle != context.handle || from.handle != buffer.handle || data != &buffer || drops)
		wrong("not this buffer's records");
	for (size_t i = 0; i < nr; i++)
		if (!say_operation(headers[i]))
			wrong("a record of another kind");
}

/* Functions of HIP by their names, but for those that it leaves out. */
static std::vector<rocprofiler_tracing_operation_t> operations()
{
	static const char *const excluded[] = {
		"hipGetDevice",
		"hipSetDevice",
		"hipGetLastError",
		"__hipPushCallConfiguration",
		"__hipPopCallConfiguration",
		"hipCtxSetCurrent",
		"hipEventRecord",
		"hipEventQuery",
		"hipGetDeviceProperties",
		"hipPeekAtLastError",
		"hipModuleGetFunction",
		"hipEventCreateWithFlags",
	};
	auto names = rocprofiler::sdk::get_callback_tracing_names();
	std::unordered_map<std::string, rocprofiler_tracing_operation_t> ids;
	std::unordered_set<rocprofiler_tracing_operation_t> left;
	const auto &kind = names[ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API];

	for (const auto &item : kind.items())
		ids[std::string(*item.second)] = item.first;
	for (const auto &id : ids)
		left.insert(id.second);
	for (const char *name : excluded)
		left.erase(ids[name]);
	return { left.begin(), left.end() };
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	rocprofiler_tracing_operation_t symbols[] = {
		ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
	};
	auto calls = operations();
	int valid = 0;

	agents = new std::vector<rocprofiler_agent_v0_t>(get_agents());
	SDK(rocprofiler_create_context(&utility_context));
	SDK(rocprofiler_configure_callback_tracing_service(utility_context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   symbols, 1, on_symbol, nullptr));
	SDK(rocprofiler_start_context(utility_context));
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_configure_callback_tracing_service(
		context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, calls.data(), calls.size(),
		on_call, nullptr));
	SDK(rocprofiler_create_buffer(context, 256 << 10, 128 << 10,
				      ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, &buffer,
				      &buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
							 nullptr, 0, buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
							 nullptr, 0, buffer));
	SDK(rocprofiler_context_is_valid(context, &valid));
	if (!valid)
		wrong("the context is not valid");
	SDK_IS(rocprofiler_stop_context(context), ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND);
	return 0;
}

static void finalize(void *)
{
	int nr_gpus = 0;

	for (const auto &a : *agents)
		if (a.type == ROCPROFILER_AGENT_TYPE_GPU && a.logical_node_type_id == nr_gpus)
			nr_gpus++;
	say("gpus %d", nr_gpus);
	say("calls %d", nr_calls.load());
	say("wrong %d", nr_wrong.load());
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = CLIENT;
	client_id = id;
	return &result;
}

__attribute__((constructor)) static void start()
{
	int status = 0;

	SDK(rocprofiler_is_initialized(&status));
	if (status == 0)
		SDK(rocprofiler_force_configure(rocprofiler_configure));
}

void client_start(void)
{
	SDK(rocprofiler_start_context(context));
}

void client_stop(void)
{
	SDK(rocprofiler_flush_buffer(buffer));
	SDK(rocprofiler_stop_context(context));
}
