/* SPDX-License-Identifier: MIT */
/* rpd.cpp - as rocmProfileData: calls of HIP with their arguments from a buffer, markers, kernels
 * and copies both ways
 *
 * Forces with a null function: the one that it exports is found. Reads the arguments of records of
 * the kind HIP_RUNTIME_API_EXT.
 */
#define CLIENT "rpd"
#include "client.hpp"

static rocprofiler_context_id_t code_context, context;
static rocprofiler_buffer_id_t buffer;
static std::atomic<int> nr_markers, nr_dispatches[3], nr_copies[3], nr_calls;

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	nr_calls += record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
}

static void on_marker(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *,
		      void *)
{
	nr_markers += record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
}

static void on_dispatch(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
			void *)
{
	auto *data =
		static_cast<rocprofiler_callback_tracing_kernel_dispatch_data_t *>(record.payload);

	nr_dispatches[record.phase]++;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		user->value = data->dispatch_info.dispatch_id;
	else if (user->value != data->dispatch_info.dispatch_id)
		wrong("the user data of another dispatch");
}

static void on_copy(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		    void *)
{
	nr_copies[record.phase]++;
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
		user->value = record.correlation_id.internal;
	else if (user->value != record.correlation_id.internal)
		wrong("the user data of another copy");
}

struct args {
	std::string kind;
	size_t size;
	int nr;
};

static int on_arg(rocprofiler_buffer_tracing_kind_t, rocprofiler_tracing_operation_t, uint32_t,
		  const void *const value, int32_t, const char *, const char *name,
		  const char *text, void *data)
{
	auto *a = static_cast<args *>(data);

	a->nr++;
	if (!strcmp(name, "kind"))
		a->kind = text;
	else if (!strcmp(name, "sizeBytes"))
		a->size = *static_cast<const size_t *>(value);
	return 0;
}

static void say_call(const rocprofiler_record_header_t *h)
{
	auto *r = static_cast<rocprofiler_buffer_tracing_hip_api_ext_record_t *>(h->payload);
	const char *name = nullptr;
	args a{ "", 0, 0 };

	SDK(rocprofiler_query_buffer_tracing_kind_operation_name(r->kind, r->operation, &name,
								 nullptr));
	SDK(rocprofiler_iterate_buffer_tracing_record_args(*h, on_arg, &a));
	if (!strcmp(name, "hipMemcpyAsync"))
		say("memcpy %llu %s %zu", (unsigned long long)r->correlation_id.internal,
		    a.kind.c_str(), a.size);
	else
		say("call %s %llu %d", name, (unsigned long long)r->correlation_id.internal, a.nr);
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t)
{
	for (size_t i = 0; i < nr; i++) {
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT)
			say_call(headers[i]);
		else if (!say_operation(headers[i]))
			wrong("a record of another kind");
	}
}

static int on_kind(rocprofiler_buffer_tracing_kind_t kind, void *data)
{
	const char *name = nullptr;

	SDK(rocprofiler_query_buffer_tracing_kind_name(kind, &name, nullptr));
	*static_cast<int *>(data) += name != nullptr;
	return 0;
}

static void callbacks(rocprofiler_context_id_t of, rocprofiler_callback_tracing_kind_t kind,
		      rocprofiler_callback_tracing_cb_t fn)
{
	SDK(rocprofiler_configure_callback_tracing_service(of, kind, nullptr, 0, fn, nullptr));
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	rocprofiler_callback_thread_t thread{};
	int valid = 0, nr_kinds = 0;

	get_agents();
	SDK(rocprofiler_iterate_buffer_tracing_kinds(on_kind, &nr_kinds));
	if (nr_kinds != ROCPROFILER_BUFFER_TRACING_LAST)
		wrong("a kind without a name");
	SDK(rocprofiler_create_context(&code_context));
	callbacks(code_context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, on_symbol);
	SDK(rocprofiler_start_context(code_context));
	SDK(rocprofiler_create_context(&context));
	callbacks(context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, on_call);
	callbacks(context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, on_marker);
	callbacks(context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, on_dispatch);
	callbacks(context, ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY, on_copy);
	SDK(rocprofiler_create_buffer(context, 64 << 10, 56 << 10,
				      ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, nullptr,
				      &buffer));
	for (auto kind :
	     { ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT,
	       ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY })
		SDK(rocprofiler_configure_buffer_tracing_service(context, kind, nullptr, 0,
								 buffer));
	SDK(rocprofiler_create_callback_thread(&thread));
	SDK(rocprofiler_assign_callback_thread(buffer, thread));
	SDK(rocprofiler_context_is_valid(context, &valid));
	if (!valid)
		wrong("the context is not valid");
	return 0;
}

static void finalize(void *)
{
	say("markers %d, calls %d", nr_markers.load(), nr_calls.load());
	say("dispatches %d %d %d", nr_dispatches[1].load(), nr_dispatches[2].load(),
	    nr_dispatches[0].load());
	say("copies %d %d", nr_copies[1].load(), nr_copies[2].load());
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
	SDK(rocprofiler_force_configure(nullptr));
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
