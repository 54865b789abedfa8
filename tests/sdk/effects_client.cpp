/* SPDX-License-Identifier: MIT */
/* effects_client.cpp - a HIP program that is its own tool: allocations, streams, graphs, runtimes,
 * as callbacks show them
 *
 * Prints a line for each callback; of API calls, those that the others come from, unless
 * EFFECTS_BARE is set: then a line for each id that is retired. Argument: threads=N. As a library
 * (PART) it has effects_main() for a program that it is linked with.
 */
#include "hip_common.hpp"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#define SDK(call)                                                                                  \
	do {                                                                                       \
		rocprofiler_status_t status_ = (call);                                             \
		if (status_ != ROCPROFILER_STATUS_SUCCESS) {                                       \
			printf("%s: %s\n", #call, rocprofiler_get_status_name(status_));           \
			nr_wrong++;                                                                \
		}                                                                                  \
	} while (0)

typedef unsigned long long u64;

static std::mutex lock;
static int nr_wrong;
static rocprofiler_context_id_t context;

static const char *phase_of(const rocprofiler_callback_tracing_record_t &record)
{
	static const char *const names[] = { "now", "enter", "exit" };

	return names[record.phase];
}

static const char *name_of(const rocprofiler_callback_tracing_record_t &record)
{
	const char *name = "?";

	SDK(rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation,
								   &name, nullptr));
	return name;
}

static void print_payload(const rocprofiler_callback_tracing_record_t &record)
{
	if (record.kind == ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION) {
		auto *d = static_cast<rocprofiler_callback_tracing_memory_allocation_data_t *>(
			record.payload);
		printf(" agent %llu address %llu bytes %llu begin %llu end %llu sized %d\n",
		       (u64)d->agent_id.handle, (u64)d->address.value, (u64)d->allocation_size,
		       (u64)d->start_timestamp, (u64)d->end_timestamp, d->size == sizeof(*d));
	} else if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_STREAM) {
		auto *d = static_cast<rocprofiler_callback_tracing_hip_stream_data_t *>(
			record.payload);
		printf(" stream %llu value %llu sized %d\n", (u64)d->stream_id.handle,
		       (u64)d->stream_value.value, d->size == sizeof(*d));
	} else if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH) {
		auto *d = static_cast<rocprofiler_callback_tracing_hip_graph_data_t *>(
			record.payload);
		printf(" exec %llu value %llu sized %d\n", (u64)d->graph_exec_id.handle,
		       (u64)d->graph_exec_value.value, d->size == sizeof(*d));
	} else {
		auto *d = static_cast<rocprofiler_callback_tracing_runtime_initialization_data_t *>(
			record.payload);
		printf(" version %llu instance %llu sized %d\n", (u64)d->version, (u64)d->instance,
		       d->size == sizeof(*d));
	}
}

static void on_effect(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		      void *)
{
	std::lock_guard<std::mutex> guard(lock);

	if (record.thread_id != (uint64_t)gettid() || (record.phase == 1) != (user->value == 0))
		if (record.phase)
			nr_wrong++;
	user->value = record.correlation_id.internal + 1;
	printf("%s %s tid %llu id %llu", name_of(record), phase_of(record), (u64)record.thread_id,
	       (u64)record.correlation_id.internal);
	print_payload(record);
}

static int find_stream(rocprofiler_callback_tracing_kind_t, rocprofiler_tracing_operation_t,
		       uint32_t, const void *const, int32_t, const char *type, const char *,
		       const char *, int32_t, void *data)
{
	if (!strcmp(type, "P12ihipStream_t"))
		*(bool *)data = true;
	return 0;
}

/* The calls behind them. */
static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	bool has_stream = false;
	std::string name = name_of(record);

	if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
		return;
	SDK(rocprofiler_iterate_callback_tracing_kind_operation_args(record, find_stream, 0,
								     &has_stream));
	std::lock_guard<std::mutex> guard(lock);

	if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API) {
		if (has_stream && name != "hipStreamDestroy")
			printf("stream_call now tid %llu id %llu\n", (u64)record.thread_id,
			       (u64)record.correlation_id.internal);
		if (name == "hipMalloc")
			printf("malloc_call now tid %llu id %llu\n", (u64)record.thread_id,
			       (u64)record.correlation_id.internal);
		return;
	}
	auto *d = static_cast<rocprofiler_callback_tracing_hsa_api_data_t *>(record.payload);

	if (name == "hsa_amd_memory_pool_allocate")
		printf("allocate_call now tid %llu id %llu address %llu bytes %llu\n",
		       (u64)record.thread_id, (u64)record.correlation_id.internal,
		       (u64)(uintptr_t)*d->args.hsa_amd_memory_pool_allocate.ptr,
		       (u64)d->args.hsa_amd_memory_pool_allocate.size);
	else if (name == "hsa_amd_memory_pool_free")
		printf("free_call now tid %llu id %llu address %llu\n", (u64)record.thread_id,
		       (u64)record.correlation_id.internal,
		       (u64)(uintptr_t)d->args.hsa_amd_memory_pool_free.ptr);
}

/* Records of the same, printed as callbacks are. */
static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t dropped)
{
	std::lock_guard<std::mutex> guard(lock);

	nr_wrong += dropped != 0;
	for (size_t i = 0; i < nr; i++) {
		nr_wrong += headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_STREAM;
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION) {
			auto *r = static_cast<
				rocprofiler_buffer_tracing_runtime_initialization_record_t *>(
				headers[i]->payload);
			printf("record now kind %u operation %d version %llu time %d sized %d\n",
			       headers[i]->kind, (int)r->operation, (u64)r->version,
			       r->timestamp != 0, r->size == sizeof(*r));
			continue;
		}
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) {
			auto *r = static_cast<
				rocprofiler_buffer_tracing_correlation_id_retirement_record_t *>(
				headers[i]->payload);
			printf("retired now id %llu\n", (u64)r->internal_correlation_id);
			continue;
		}
		if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_GRAPH) {
			auto *r = static_cast<rocprofiler_buffer_tracing_hip_graph_record_t *>(
				headers[i]->payload);
			printf("record now kind %u operation %u tid %llu id %llu exec %llu agent %llu queue %llu kernels %llu begin %llu end %llu sized %d\n",
			       headers[i]->kind, r->operation, (u64)r->thread_id,
			       (u64)r->correlation_id.internal, (u64)r->graph_exec_id.handle,
			       (u64)r->agent_id.handle, (u64)r->queue_id.handle,
			       (u64)r->kernel_dispatch_count, (u64)r->start_timestamp,
			       (u64)r->end_timestamp, r->size == sizeof(*r));
			continue;
		}
		auto *r = static_cast<rocprofiler_buffer_tracing_memory_allocation_record_t *>(
			headers[i]->payload);
		printf("record now kind %u operation %d tid %llu id %llu agent %llu address %llu bytes %llu begin %llu end %llu sized %d\n",
		       headers[i]->kind, (int)r->operation, (u64)r->thread_id,
		       (u64)r->correlation_id.internal, (u64)r->agent_id.handle,
		       (u64)r->address.value, (u64)r->allocation_size, (u64)r->start_timestamp,
		       (u64)r->end_timestamp, r->size == sizeof(*r));
	}
}

static void serve_buffer()
{
	rocprofiler_buffer_id_t buffer = {};

	SDK(rocprofiler_create_buffer(context, 65536, 32768, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				      on_records, nullptr, &buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(
		context, ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION, nullptr, 0, buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(
		context, ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION, nullptr, 0, buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_HIP_GRAPH,
							 nullptr, 0, buffer));
	if (getenv("EFFECTS_BARE"))
		SDK(rocprofiler_configure_buffer_tracing_service(
			context, ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, nullptr, 0,
			buffer));
	/* of which there are no records */
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_HIP_STREAM,
							 nullptr, 0, buffer));
}

static void serve(rocprofiler_callback_tracing_kind_t kind, rocprofiler_callback_tracing_cb_t fn)
{
	SDK(rocprofiler_configure_callback_tracing_service(context, kind, nullptr, 0, fn, nullptr));
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	SDK(rocprofiler_create_context(&context));
	serve(ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION, on_effect);
	serve(ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, on_effect);
	serve(ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH, on_effect);
	serve(ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, on_effect);
	if (!getenv("EFFECTS_HIP_ALONE") && !getenv("EFFECTS_BARE"))
		serve(ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API, on_call);
	if (!getenv("EFFECTS_BARE"))
		serve(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, on_call);
	serve_buffer();
	SDK(rocprofiler_start_context(context));
	return 0;
}

static void finalize(void *)
{
	printf("wrong %d\n", nr_wrong);
	fflush(stdout);
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = "effects_client";
	return &result;
}

__global__ void ef_add(int *v)
{
	v[threadIdx.x] += 1;
}

static hipGraphExec_t build(int *device)
{
	void *args[] = { &device };
	hipKernelNodeParams params = {};
	hipGraphNode_t nodes[3];
	hipGraphExec_t exec;
	hipGraph_t graph;

	params.func = (void *)ef_add;
	params.gridDim = dim3(1, 1, 1);
	params.blockDim = dim3(32, 1, 1);
	params.kernelParams = args;
	HIP(hipGraphCreate(&graph, 0));
	/* one after the other */
	for (int i = 0; i < 3; i++)
		HIP(hipGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : nullptr, i != 0,
					  &params));
	HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	HIP(hipGraphDestroy(graph));
	return exec;
}

static void work()
{
	hipStream_t first, second;
	hipGraphExec_t exec;
	int *device;

	HIP(hipStreamCreate(&first));
	HIP(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
	HIP(hipMalloc(&device, 12288));
	HIP(hipMemsetAsync(device, 0, 12288, first));
	ef_add<<<dim3(1), dim3(64), 0, second>>>(device);
	ef_add<<<dim3(1), dim3(64), 0, nullptr>>>(device);
	exec = build(device);
	HIP(hipGraphLaunch(exec, first));
	HIP(hipGraphLaunch(exec, first));
	HIP(hipStreamSynchronize(first));
	HIP(hipStreamSynchronize(second));
	HIP(hipGraphExecDestroy(exec));
	HIP(hipStreamDestroy(second));
	HIP(hipStreamDestroy(first));
	HIP(hipFree(device));
}

/* Freed when the program ends: by its exit handler, or by the end of the library. */
static struct kept {
	int *memory;
#ifdef PART
	~kept()
	{
		HIP(hipFree(memory));
	}
#endif
} kept;

#ifdef PART
#define MAIN extern "C" __attribute__((visibility("default"))) int effects_main
#else
#define MAIN int main

static void free_kept()
{
	HIP(hipFree(kept.memory));
}
#endif

MAIN(int argc, char **argv)
{
	std::vector<std::thread> threads;

	HIP(hipInit(0));
	HIP(hipMalloc(&kept.memory, 20480));
	for (long i = 0; i < arg_num(argc, argv, "threads", 1); i++)
		threads.emplace_back(work);
	for (auto &t : threads)
		t.join();
	printf("main over\n");
#ifndef PART
	atexit(free_kept);
#endif
	return 0;
}
