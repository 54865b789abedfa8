/* SPDX-License-Identifier: MIT */
/* hip_client.cpp - a HIP program that is its own tool: calls of HIP and HSA, code objects, as the
 * specification shows it
 *
 * Arguments: launches=N, threads=N, hsa=1 (HSA's calls as well), subset=1 (two operations alone),
 * stopped=1 (nothing is started), args=1 (prints arguments as the specification's sample does),
 * ids=1 (prints each call's id).
 */
#include "hip_common.hpp"

#include <array>
#include <atomic>
#include <cxxabi.h>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
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

static std::atomic<int> nr_wrong;
static int the_argc;
static char **the_argv;

struct count {
	int enter, exit, failed;
};

static std::mutex lock;
static std::map<std::string, count> *counts;
static std::unordered_set<uint64_t> *ids;
static bool prints_args, prints_ids;
static rocprofiler_context_id_t context, code_context, other_context;

static void wrong(const char *what, const char *name)
{
	printf("%s: %s\n", name, what);
	nr_wrong++;
}

/* As in the specification, but for the stream. */
static int print_args(rocprofiler_callback_tracing_kind_t domain_idx,
		      rocprofiler_tracing_operation_t op_idx, uint32_t arg_num,
		      const void *const arg_value_addr, int32_t arg_indirection_count,
		      const char *arg_type, const char *arg_name, const char *arg_value_str,
		      int32_t arg_dereference_count, void *data)
{
	if (arg_num == 0) {
		const char *_kind = nullptr;
		const char *_operation = nullptr;

		rocprofiler_query_callback_tracing_kind_name(domain_idx, &_kind, nullptr);
		rocprofiler_query_callback_tracing_kind_operation_name(domain_idx, op_idx,
								       &_operation, nullptr);
		fprintf(stdout, "\n[%s] %s\n", _kind, _operation);
	}
	char *_arg_type = abi::__cxa_demangle(arg_type, nullptr, nullptr, nullptr);

	fprintf(stdout, "    %u: %-18s %-16s = %s\n", arg_num, _arg_type, arg_name, arg_value_str);
	free(_arg_type);
	(void)arg_value_addr;
	(void)arg_indirection_count;
	(void)arg_dereference_count;
	(void)data;
	return 0;
}

static int count_arg(rocprofiler_callback_tracing_kind_t, rocprofiler_tracing_operation_t,
		     uint32_t number, const void *const value, int32_t, const char *type,
		     const char *name, const char *text, int32_t, void *data)
{
	if (!value || !type || !name || !text || number != *(uint32_t *)data)
		wrong("incomplete", "argument");
	++*(uint32_t *)data;
	return 0;
}

static bool is_hip(rocprofiler_callback_tracing_kind_t kind)
{
	return kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API ||
	       kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API;
}

static int status_of(const rocprofiler_callback_tracing_record_t &record)
{
	if (is_hip(record.kind))
		return static_cast<rocprofiler_callback_tracing_hip_api_data_t *>(record.payload)
			->retval.hipError_t_retval;
	return static_cast<rocprofiler_callback_tracing_hsa_api_data_t *>(record.payload)
		->retval.hsa_status_t_retval;
}

static void check_payload(const rocprofiler_callback_tracing_record_t &record, const char *name)
{
	if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API &&
	    record.operation == ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpyAsync) {
		auto *data =
			static_cast<rocprofiler_callback_tracing_hip_api_data_t *>(record.payload);

		if (data->size != sizeof(*data) || data->args.hipMemcpyAsync.sizeBytes != 4096)
			wrong("not the arguments of the call", name);
	}
}

static void callback_func(rocprofiler_callback_tracing_record_t record,
			  rocprofiler_user_data_t *user_data, void *cb_data)
{
	const char *name = "?";
	auto ts = rocprofiler_timestamp_t{};
	uint32_t nr_args = 0;

	rocprofiler_get_timestamp(&ts);
	SDK(rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation,
								   &name, nullptr));
	SDK(rocprofiler_iterate_callback_tracing_kind_operation_args(record, count_arg,
								     record.phase, &nr_args));
	check_payload(record, name);
	if (cb_data != &context || record.thread_id != (uint64_t)gettid() ||
	    record.correlation_id.internal == 0)
		wrong("not this call's record", name);
	std::lock_guard<std::mutex> guard(lock);
	if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
		if (user_data->value)
			wrong("user data of another call", name);
		user_data->value = ts;
		(*counts)[name].enter++;
		if (!ids->insert(record.correlation_id.internal).second)
			wrong("id of another call", name);
		return;
	}
	if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT || user_data->value == 0 ||
	    user_data->value > ts || !ids->count(record.correlation_id.internal))
		wrong("exit without enter", name);
	(*counts)[name].exit++;
	if (prints_ids)
		printf("id %llu %s %d\n", (unsigned long long)record.correlation_id.internal, name,
		       status_of(record));
	if (prints_args && record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API &&
	    (record.operation == ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel ||
	     record.operation == ROCPROFILER_HIP_RUNTIME_API_ID_hipMemcpyAsync))
		rocprofiler_iterate_callback_tracing_kind_operation_args(record, print_args,
									 record.phase, nullptr);
	if (status_of(record) != 0 && is_hip(record.kind))
		(*counts)[name].failed++;
}

/* What is loaded, by its id: the kernels of each object. */
static std::map<uint64_t, std::map<uint64_t, const char *>> *loaded;
static std::map<uint64_t, const char *> *uris;

static void on_object(const rocprofiler_callback_tracing_record_t &record,
		      rocprofiler_user_data_t *user_data)
{
	auto *data =
		static_cast<rocprofiler_callback_tracing_code_object_load_data_t *>(record.payload);

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD) {
		if (user_data->value || data->size != sizeof(*data) || !data->rocp_agent.handle ||
		    !data->hsa_agent.handle || !data->load_base || !data->load_size ||
		    data->storage_type != ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY ||
		    !data->memory_base || !data->memory_size)
			wrong("not what was loaded", "code object");
		user_data->value = data->code_object_id;
		if (loaded->count(data->code_object_id))
			wrong("is loaded twice", "code object");
		(*loaded)[data->code_object_id];
		(*uris)[data->code_object_id] = data->uri;
		printf("load object %s\n", strncmp(data->uri, "file://", 7) == 0   ? "file" :
					   strncmp(data->uri, "memory://", 9) == 0 ? "memory" :
										     data->uri);
		return;
	}
	if (user_data->value != data->code_object_id ||
	    (*uris)[data->code_object_id] != data->uri || !(*loaded)[data->code_object_id].empty())
		wrong("unloaded before its kernels", "code object");
	loaded->erase(data->code_object_id);
	printf("unload object\n");
}

static void on_kernel(const rocprofiler_callback_tracing_record_t &record,
		      rocprofiler_user_data_t *user_data)
{
	auto *data = static_cast<
		rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *>(
		record.payload);

	if (!loaded->count(data->code_object_id)) {
		wrong("without its object", data->kernel_name);
		return;
	}
	auto &kernels = (*loaded)[data->code_object_id];

	if (record.phase == ROCPROFILER_CALLBACK_PHASE_LOAD) {
		user_data->value = data->kernel_id;
		kernels[data->kernel_id] = data->kernel_name;
		printf("load kernel %s kernarg %u align %u sgpr %u vgpr %u accum %u group %u private %u\n",
		       data->kernel_name, data->kernarg_segment_size,
		       data->kernarg_segment_alignment, data->sgpr_count, data->arch_vgpr_count,
		       data->accum_vgpr_count, data->group_segment_size,
		       data->private_segment_size);
		return;
	}
	if (user_data->value != data->kernel_id || kernels[data->kernel_id] != data->kernel_name)
		wrong("not the kernel that was loaded", data->kernel_name);
	kernels.erase(data->kernel_id);
	printf("unload kernel %s\n", data->kernel_name);
}

#if ROCPROFILER_SDK_ABI > 0
__global__ void sc_scale(float *v, float by);

static void on_host_function(const rocprofiler_callback_tracing_record_t &record,
			     rocprofiler_user_data_t *user_data)
{
	auto *data = static_cast<
		rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t *>(
		record.payload);
	std::string name = data->device_function;

	if (record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD || user_data->value ||
	    data->size != sizeof(*data) || !data->host_function_id || !data->modules.ptr ||
	    (*loaded)[data->code_object_id][data->kernel_id] == nullptr ||
	    (*loaded)[data->code_object_id][data->kernel_id] != name + ".kd")
		wrong("not that of a kernel which was loaded", "host function");
	printf("load host %s %s limit %d ids %u %u %u %u size %u\n", name.c_str(),
	       data->host_function.ptr == (void *)sc_scale ? "sc_scale" : "other",
	       (int)data->thread_limit, data->thread_ids.x, data->block_ids.x, data->block_dims.x,
	       data->grid_dims.x, (unsigned)data->workgroup_size);
}
#endif

static void on_code(rocprofiler_callback_tracing_record_t record,
		    rocprofiler_user_data_t *user_data, void *)
{
	std::lock_guard<std::mutex> guard(lock);

	if (record.correlation_id.internal)
		wrong("has an id", "code object");
	if (record.operation == ROCPROFILER_CODE_OBJECT_LOAD)
		on_object(record, user_data);
#if ROCPROFILER_SDK_ABI > 0
	else if (record.operation == ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER)
		on_host_function(record, user_data);
#endif
	else
		on_kernel(record, user_data);
}

static void configure_kind(rocprofiler_callback_tracing_kind_t kind)
{
	SDK(rocprofiler_configure_callback_tracing_service(context, kind, nullptr, 0, callback_func,
							   &context));
}

/* The specification's subset: one call with both. */
static void configure_subset()
{
	auto operations = std::array<rocprofiler_tracing_operation_t, 2>{
		ROCPROFILER_HIP_RUNTIME_API_ID_hipSetDevice,
		ROCPROFILER_HIP_RUNTIME_API_ID_hipGetDevice
	};

	for (auto op : operations) {
		rocprofiler_status_t status = rocprofiler_configure_callback_tracing_service(
			other_context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, &op, 1,
			callback_func, nullptr);

		if (status != (op == operations[0] ?
				       ROCPROFILER_STATUS_SUCCESS :
				       ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED))
			wrong(rocprofiler_get_status_name(status), "second service");
	}
	SDK(rocprofiler_configure_callback_tracing_service(
		context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, operations.data(),
		operations.size(), callback_func, &context));
}

static long option(const char *name)
{
	/* before main(), as a rule */
	if (!the_argv)
		own_args(&the_argc, &the_argv);
	return arg_num(the_argc, the_argv, name, 0);
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_create_context(&code_context));
	SDK(rocprofiler_create_context(&other_context));
	if (option("subset")) {
		configure_subset();
	} else {
		configure_kind(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API);
		configure_kind(ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API);
	}
	if (option("hsa")) {
		configure_kind(ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API);
		configure_kind(ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API);
	}
	SDK(rocprofiler_configure_callback_tracing_service(code_context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   nullptr, 0, on_code, nullptr));
	if (!option("late"))
		SDK(rocprofiler_start_context(code_context));
	if (!option("stopped"))
		SDK(rocprofiler_start_context(context));
	return 0;
}

static void finalize(void *)
{
	for (auto &c : *counts)
		printf("count %s %d %d %d\n", c.first.c_str(), c.second.enter, c.second.exit,
		       c.second.failed);
	if (!loaded->empty())
		wrong("not unloaded", "code object");
	printf("wrong %d\n", nr_wrong.load());
	fflush(stdout);
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = "hip_client";
	counts = new std::map<std::string, count>;
	loaded = new std::map<uint64_t, std::map<uint64_t, const char *>>;
	uris = new std::map<uint64_t, const char *>;
	ids = new std::unordered_set<uint64_t>;
	return &result;
}

__global__ void sc_scale(float *v, float by)
{
	v[blockIdx.x * blockDim.x + threadIdx.x] *= by;
}

static void work(long launches)
{
	hipStream_t stream;
	float *device, *host;
	int which = -1;

	HIP(hipSetDevice(0));
	HIP(hipGetDevice(&which));
	HIP(hipStreamCreate(&stream));
	HIP(hipMalloc(&device, 4096));
	HIP(hipHostMalloc(&host, 4096));
	HIP(hipMemcpyAsync(device, host, 4096, hipMemcpyHostToDevice, stream));
	for (long i = 0; i < launches; i++)
		sc_scale<<<dim3(16, 1, 1), dim3(64, 1, 1), 0, stream>>>(device, 2);
	HIP(hipMemcpyAsync(host, device, 4096, hipMemcpyDeviceToHost, stream));
	HIP(hipStreamSynchronize(stream));
	if (hipMalloc(nullptr, 1) == hipSuccess)
		wrong("succeeds", "hipMalloc() without a result");
	HIP(hipHostFree(host));
	HIP(hipFree(device));
	HIP(hipStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	long nr_threads = arg_num(argc, argv, "threads", 1), launches;

	the_argc = argc;
	the_argv = argv;
	launches = arg_num(argc, argv, "launches", 1);
	prints_args = option("args");
	prints_ids = option("ids");
	if (option("force"))
		SDK(rocprofiler_force_configure(rocprofiler_configure));
	if (nr_threads == 1) {
		work(launches);
		if (option("late"))
			SDK(rocprofiler_start_context(code_context));
		return 0;
	}
	/* HIP 5.2 ends the process if callbacks are turned on while calls run */
	HIP(hipInit(0));
	for (long i = 0; i < nr_threads; i++)
		threads.emplace_back(work, launches);
	for (auto &t : threads)
		t.join();
	return 0;
}
