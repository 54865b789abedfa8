/* SPDX-License-Identifier: MIT */
/* operations_client.cpp - a HIP program that is its own tool: each kernel dispatch and memory copy,
 * as callbacks show it
 *
 * Prints a line for each operation when it is over. Arguments: launches=N, threads=N, gpus=N,
 * bytes=N (of each copy), begin=1, end=1 (that operation of dispatches alone), kind=N (that kind
 * alone), stop=1 (stopped while operations are in flight), late=1 (started after the first
 * launches), buffer=1 (records instead of callbacks), retire=1 (records of HIP's calls and of ids
 * that were retired, too), retire_own=1 (the same without those of calls), end_early=1 (the tool
 * ends itself before the program), request=1 (ids are asked for), busy=1 (callbacks take 2 ms),
 * plain=1 (with buffer=1: no ids of the tool's own, or, with push=1, after a first half of the
 * launches), pageable=1 (copies of memory that HIP does not know), scratch=1 (kernels that need
 * scratch memory, with callbacks and records of that alone), low_ids=1 (threads have ids below the
 * process's, in a namespace of pids).
 */
#include "hip_common.hpp"

#include <array>
#include <atomic>
#include <map>
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

struct seen {
	int enter, exit, over;
	uint64_t tid;
	rocprofiler_user_data_t external;
	uint64_t internal;
	uint64_t entered; /* when its enter was over */
};

static std::atomic<int> nr_wrong;
static int the_argc;
static char **the_argv;
static std::mutex lock;
static std::map<uint64_t, seen> *dispatches, *copies; /* by what user data has */
static std::map<uint64_t, std::string> *kernels;
static uint64_t nr_copies;
static rocprofiler_context_id_t context, code_context;
static rocprofiler_buffer_id_t buffer;
static rocprofiler_client_finalize_t end_tool;
static rocprofiler_client_id_t *client_id;
static bool is_ended;

static long option(const char *name)
{
	/* before main(), as a rule */
	if (!the_argv)
		own_args(&the_argc, &the_argv);
	return arg_num(the_argc, the_argv, name, 0);
}

static void wrong(const char *what, const char *name)
{
	printf("%s: %s\n", name, what);
	nr_wrong++;
}

static const char *name_of(const rocprofiler_callback_tracing_record_t &record)
{
	const char *name = "?";

	SDK(rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation,
								   &name, nullptr));
	return name;
}

static void check_begin(const rocprofiler_callback_tracing_record_t &record, const seen &s)
{
	uint64_t external = option("request") ? 5000 + record.kind : record.thread_id * 10;

	if (record.thread_id != (uint64_t)gettid())
		wrong("begins on another thread", name_of(record));
	if (!record.correlation_id.internal)
		wrong("has no id", name_of(record));
	if (s.external.value != external)
		wrong("has not its thread's external id", name_of(record));
}

static void check_same(const rocprofiler_callback_tracing_record_t &record, const seen &s)
{
	if (s.tid != record.thread_id || s.internal != record.correlation_id.internal ||
	    s.external.value != record.correlation_id.external.value)
		wrong("its end has other ids than its begin", name_of(record));
}

static void print_dispatch(const rocprofiler_kernel_dispatch_info_t &i, uint64_t tid,
			   uint64_t internal, uint64_t entered, uint64_t begin, uint64_t end)
{
	printf("dispatch %llu tid %llu id %llu agent %llu queue %llu private %u group %u size %ux%ux%u grid %ux%ux%u entered %llu begin %llu end %llu kernel %s\n",
	       (u64)i.dispatch_id, (u64)tid, (u64)internal, (u64)i.agent_id.handle,
	       (u64)i.queue_id.handle, i.private_segment_size, i.group_segment_size,
	       i.workgroup_size.x, i.workgroup_size.y, i.workgroup_size.z, i.grid_size.x,
	       i.grid_size.y, i.grid_size.z, (u64)entered, (u64)begin, (u64)end,
	       (*kernels)[i.kernel_id].c_str());
	if (i.size != 72)
		wrong("has another size", "dispatch");
}

static void on_dispatch(const rocprofiler_callback_tracing_record_t &record,
			rocprofiler_user_data_t *user)
{
	auto *data =
		static_cast<rocprofiler_callback_tracing_kernel_dispatch_data_t *>(record.payload);
	auto &s = (*dispatches)[data->dispatch_info.dispatch_id];
	bool is_complete = record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE;

	if (is_complete) {
		if (record.phase != ROCPROFILER_CALLBACK_PHASE_NONE || s.over++ ||
		    (!option("end") && (s.enter != 1 || s.exit != 1 || user->value != s.tid + 1)))
			wrong("is not the end of a dispatch", name_of(record));
		if (!option("end"))
			check_same(record, s);
		if (data->size != sizeof(*data))
			wrong("has another size", name_of(record));
		print_dispatch(data->dispatch_info, record.thread_id,
			       record.correlation_id.internal, s.entered, data->start_timestamp,
			       data->end_timestamp);
		return;
	}
	if (data->start_timestamp || data->end_timestamp)
		wrong("has times before its end", name_of(record));
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		if (s.enter++ || s.exit || s.over || user->value)
			wrong("is not the begin of a dispatch", name_of(record));
		s.tid = record.thread_id;
		s.internal = record.correlation_id.internal;
		s.external = record.correlation_id.external;
		user->value = s.tid + 1;
		check_begin(record, s);
		SDK(rocprofiler_get_timestamp(&s.entered));
	} else if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT || s.enter != 1 || s.exit++ ||
		   s.over || user->value != s.tid + 1) {
		wrong("is not a dispatch's exit", name_of(record));
	}
}

template <typename data>
static void print_copy(const char *name, const data &c, uint64_t tid, uint64_t internal)
{
	u64 dst = 0, src = 0;

#if ROCPROFILER_SDK_ABI > 0
	dst = c.dst_address.value;
	src = c.src_address.value;
#endif
	printf("copy %s tid %llu id %llu dst %llu src %llu bytes %llu begin %llu end %llu to 0x%llx from 0x%llx\n",
	       name, (u64)tid, (u64)internal, (u64)c.dst_agent_id.handle,
	       (u64)c.src_agent_id.handle, (u64)c.bytes, (u64)c.start_timestamp,
	       (u64)c.end_timestamp, dst, src);
	if (c.size != sizeof(c))
		wrong("has another size", "copy");
}

static void on_copy(const rocprofiler_callback_tracing_record_t &record,
		    rocprofiler_user_data_t *user)
{
	auto *data = static_cast<rocprofiler_callback_tracing_memory_copy_data_t *>(record.payload);

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		if (user->value || data->start_timestamp || data->end_timestamp)
			wrong("is not the begin of a copy", name_of(record));
		user->value = ++nr_copies;
		auto &s = (*copies)[user->value];

		s.enter = 1;
		s.tid = record.thread_id;
		s.internal = record.correlation_id.internal;
		s.external = record.correlation_id.external;
		check_begin(record, s);
		return;
	}
	auto &s = (*copies)[user->value];

	if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT || s.enter != 1 || s.exit++)
		wrong("is not a copy's exit", name_of(record));
	check_same(record, s);
	print_copy(name_of(record), *data, record.thread_id, record.correlation_id.internal);
}

static void on_operation(rocprofiler_callback_tracing_record_t record,
			 rocprofiler_user_data_t *user, void *data)
{
	if (option("busy"))
		sleep_ms(2);
	std::lock_guard<std::mutex> guard(lock);

	if (is_ended)
		wrong("after the tool's end", name_of(record));
	if (data != &context || record.context_id.handle != context.handle)
		wrong("is of another context", name_of(record));
	if (record.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH)
		on_dispatch(record, user);
	else
		on_copy(record, user);
}

static bool is_expected(rocprofiler_user_data_t external, uint64_t tid)
{
	return option("plain") ?
		       external.value == 0 || (option("push") && external.value == tid * 10) :
		       external.value == tid * 10;
}

static void on_record(const rocprofiler_record_header_t &header)
{
	if (header.category != ROCPROFILER_BUFFER_CATEGORY_TRACING) {
		wrong("is of another category", "record");
	} else if (header.kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) {
		auto &r = *static_cast<rocprofiler_buffer_tracing_kernel_dispatch_record_t *>(
			header.payload);
		auto &s = (*dispatches)[r.dispatch_info.dispatch_id];

		if (r.operation != ROCPROFILER_KERNEL_DISPATCH_COMPLETE || s.over++ ||
		    r.size != sizeof(r) || !is_expected(r.correlation_id.external, r.thread_id))
			wrong("is not a dispatch's", "record");
		s.enter = s.exit = 1;
		print_dispatch(r.dispatch_info, r.thread_id, r.correlation_id.internal, 0,
			       r.start_timestamp, r.end_timestamp);
	} else if (header.kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API) {
		auto &r =
			*static_cast<rocprofiler_buffer_tracing_hip_api_record_t *>(header.payload);

		printf("call %llu end %llu\n", (u64)r.correlation_id.internal,
		       (u64)r.end_timestamp);
	} else if (header.kind == ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT) {
		auto &r = *static_cast<
			rocprofiler_buffer_tracing_correlation_id_retirement_record_t *>(
			header.payload);

		printf("retired %llu end %llu\n", (u64)r.internal_correlation_id, (u64)r.timestamp);
	} else {
		auto &r = *static_cast<rocprofiler_buffer_tracing_memory_copy_record_t *>(
			header.payload);
		auto &s = (*copies)[++nr_copies];
		const char *name = "?";

		s.enter = s.exit = 1;
		if (header.kind != ROCPROFILER_BUFFER_TRACING_MEMORY_COPY ||
		    !is_expected(r.correlation_id.external, r.thread_id))
			wrong("is not a copy's", "record");
		SDK(rocprofiler_query_buffer_tracing_kind_operation_name(
			(rocprofiler_buffer_tracing_kind_t)header.kind,
			(rocprofiler_tracing_operation_t)r.operation, &name, nullptr));
		print_copy(name, r, r.thread_id, r.correlation_id.internal);
	}
}

static void print_scratch(const char *what, int phase, int operation, uint64_t tid,
			  rocprofiler_agent_id_t agent, rocprofiler_queue_id_t queue, int flags,
			  uint64_t bytes, uint64_t more)
{
	printf("scratch %s phase %d operation %d tid %llu agent %llu queue %llu flags %d bytes %llu more %llu\n",
	       what, phase, operation, (u64)tid, (u64)agent.handle, (u64)queue.handle, flags,
	       (u64)bytes, (u64)more);
}

static void on_scratch(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
		       void *)
{
	std::lock_guard<std::mutex> guard(lock);
	auto *d = static_cast<rocprofiler_callback_tracing_scratch_memory_data_t *>(record.payload);
	bool is_alloc = record.operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC;
	bool is_end = record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;

	if (record.thread_id != (uint64_t)gettid() || d->size != sizeof(*d) ||
	    user->value != (is_end ? record.operation + 1u : 0u))
		wrong("is not that of its begin", name_of(record));
	user->value = record.operation + 1;
	print_scratch("callback", record.phase, record.operation, record.thread_id, d->agent_id,
		      d->queue_id, d->flags, is_alloc && is_end ? d->args.alloc_end.size : 0,
		      d->args_kind);
}

static void on_scratch_record(const rocprofiler_record_header_t &header)
{
	auto &r =
		*static_cast<rocprofiler_buffer_tracing_scratch_memory_record_t *>(header.payload);
	uint64_t bytes = 0;

	if (r.size != sizeof(r) || r.kind != ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY)
		wrong("has another size", "record");
#if ROCPROFILER_SDK_ABI > 0
	bytes = r.allocation_size;
#endif
	print_scratch("record", 0, r.operation, r.thread_id, r.agent_id, r.queue_id, r.flags, bytes,
		      r.start_timestamp && r.start_timestamp <= r.end_timestamp);
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t dropped)
{
	std::lock_guard<std::mutex> guard(lock);

	if (is_ended || dropped)
		wrong("late or lost", "records");
	for (size_t i = 0; i < nr; i++)
		if (option("scratch"))
			on_scratch_record(*headers[i]);
		else
			on_record(*headers[i]);
}

static void serve_scratch()
{
	SDK(rocprofiler_configure_callback_tracing_service(
		context, ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY, nullptr, 0, on_scratch,
		nullptr));
	SDK(rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				      on_records, nullptr, &buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY,
							 nullptr, 0, buffer));
}

static void serve_buffer()
{
	static const rocprofiler_buffer_tracing_kind_t kinds[] = {
		ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
		ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT,
		ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API
	};
	size_t nr = option("retire") ? 4 : option("retire_own") ? 3 : 2;

	SDK(rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				      on_records, nullptr, &buffer));
	for (size_t i = 0; i < nr; i++)
		SDK(rocprofiler_configure_buffer_tracing_service(context, kinds[i], nullptr, 0,
								 buffer));
}

static void on_code(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *, void *)
{
	if (record.operation != ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER ||
	    record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD)
		return;
	auto *data = static_cast<
		rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *>(
		record.payload);
	std::lock_guard<std::mutex> guard(lock);

	(*kernels)[data->kernel_id] = data->kernel_name;
}

static int on_request(rocprofiler_thread_id_t, rocprofiler_context_id_t,
		      rocprofiler_external_correlation_id_request_kind_t kind,
		      rocprofiler_tracing_operation_t, uint64_t internal,
		      rocprofiler_user_data_t *external, void *)
{
	if (!internal)
		wrong("is asked for without an id", "external id");
	external->value = 5000 + (kind == ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH ?
					  ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH :
					  ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY);
	return 0;
}

static void serve(rocprofiler_callback_tracing_kind_t kind)
{
	rocprofiler_tracing_operation_t one = option("end") ? ROCPROFILER_KERNEL_DISPATCH_COMPLETE :
							      ROCPROFILER_KERNEL_DISPATCH_ENQUEUE;
	bool is_one = kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH &&
		      (option("begin") || option("end"));

	if (!option("kind") || option("kind") == kind)
		SDK(rocprofiler_configure_callback_tracing_service(context, kind,
								   is_one ? &one : nullptr,
								   is_one ? 1 : 0, on_operation,
								   &context));
}

static int initialize(rocprofiler_client_finalize_t finalize, void *)
{
	end_tool = finalize;
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_create_context(&code_context));
	if (option("scratch")) {
		serve_scratch();
	} else if (option("buffer")) {
		serve_buffer();
	} else {
		serve(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH);
		serve(ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY);
	}
	SDK(rocprofiler_configure_callback_tracing_service(code_context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   nullptr, 0, on_code, nullptr));
	if (option("request"))
		SDK(rocprofiler_configure_external_correlation_id_request_service(context, nullptr,
										  0, on_request,
										  nullptr));
	SDK(rocprofiler_start_context(code_context));
	if (!option("late"))
		SDK(rocprofiler_start_context(context));
	return 0;
}

static void finalize(void *)
{
	std::lock_guard<std::mutex> guard(lock);
	int enter = 0, exit = 0, over = 0, begun = 0, ended = 0;

	for (auto &d : *dispatches) {
		enter += d.second.enter;
		exit += d.second.exit;
		over += d.second.over;
	}
	for (auto &c : *copies) {
		begun += c.second.enter;
		ended += c.second.exit;
	}
	printf("dispatches %d %d %d\ncopies %d %d\nwrong %d\n", enter, exit, over, begun, ended,
	       nr_wrong.load());
	fflush(stdout);
	is_ended = true;
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	client_id = id;
	id->name = "operations_client";
	dispatches = new std::map<uint64_t, seen>;
	copies = new std::map<uint64_t, seen>;
	kernels = new std::map<uint64_t, std::string>;
	return &result;
}

__global__ void op_scale(float *v, float by)
{
	v[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}

__global__ void op_shared(float *v)
{
	extern __shared__ float part[];

	part[threadIdx.x] = v[threadIdx.x];
	v[threadIdx.x] = part[threadIdx.x] + 1;
}

/* The indices are not known when it is compiled: the arrays are in memory. */
__global__ void op_spill(float *v, int n)
{
	volatile float own[256];

	for (int i = 0; i < 256; i++)
		own[i] = v[i];
	v[threadIdx.x] = own[(threadIdx.x + n) & 255];
}

static void launch(long launches, float *device, hipStream_t stream)
{
	for (long i = 0; i < launches; i++) {
		op_scale<<<dim3(6, 1, 1), dim3(96, 1, 1), 0, stream>>>(device, 2);
		op_shared<<<dim3(2, 3, 2), dim3(24, 2, 1), 512, stream>>>(device);
		if (option("scratch"))
			op_spill<<<dim3(4, 1, 1), dim3(64, 1, 1), 0, stream>>>(device, 3);
	}
}

static void work(long launches, int gpu, size_t bytes)
{
	rocprofiler_user_data_t external;
	rocprofiler_thread_id_t tid = (uint64_t)gettid();
	const uint32_t mask = 0xf;
	hipStream_t stream;
	float *device, *host;

	external.value = tid * 10;
	HIP(hipSetDevice(gpu));
	/* one with a mask has a queue of its own, which ends with it */
	if (option("scratch"))
		HIP(hipExtStreamCreateWithCUMask(&stream, 1, &mask));
	else
		HIP(hipStreamCreate(&stream));
	HIP(hipMalloc(&device, bytes));
	if (option("pageable"))
		host = static_cast<float *>(calloc(1, bytes));
	else
		HIP(hipHostMalloc(&host, bytes));
	if (option("late")) {
		launch(launches, device, stream);
		HIP(hipStreamSynchronize(stream));
		SDK(rocprofiler_start_context(context));
	}
	if (option("push"))
		launch(launches, device, stream);
	if (!option("plain") || option("push"))
		SDK(rocprofiler_push_external_correlation_id(context, tid, external));
	HIP(hipMemcpyAsync(device, host, bytes, hipMemcpyHostToDevice, stream));
	launch(launches, device, stream);
	HIP(hipMemcpyAsync(host, device, bytes, hipMemcpyDeviceToHost, stream));
	if (option("stop")) {
		SDK(rocprofiler_stop_context(context));
		launch(launches, device, stream);
	}
	HIP(hipStreamSynchronize(stream));
	if (!option("plain") || option("push"))
		SDK(rocprofiler_pop_external_correlation_id(context, tid, &external));
	if (option("pageable"))
		free(host);
	else
		HIP(hipHostFree(host));
	HIP(hipFree(device));
	HIP(hipStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	long nr_threads = arg_num(argc, argv, "threads", 1);
	long launches = arg_num(argc, argv, "launches", 1), gpus = arg_num(argc, argv, "gpus", 1);
	size_t bytes = (size_t)arg_num(argc, argv, "bytes", 1 << 20);

	the_argc = argc;
	the_argv = argv;
	HIP(hipInit(0));
	if (option("low_ids")) {
		FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");

		/* of a namespace of pids: the next threads have ids below the process's */
		if (!last || fputs("400", last) < 0 || fclose(last) || getpid() < 1000)
			wrong("can't be chosen", "ids of threads");
	}
	for (long i = 0; i < nr_threads; i++)
		threads.emplace_back(work, launches, (int)(i % gpus), bytes);
	for (auto &t : threads)
		t.join();
	if (option("buffer")) {
		SDK(rocprofiler_flush_buffer(buffer));
		std::lock_guard<std::mutex> guard(lock);

		printf("flushed %zu %zu\n", dispatches->size(), copies->size());
	}
	if (option("end_early"))
		end_tool(*client_id);
	return 0;
}
