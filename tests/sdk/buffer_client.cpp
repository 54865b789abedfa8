/* SPDX-License-Identifier: MIT */
/* buffer_client.cpp - a HIP program that is its own tool: each call of HIP and HSA by callbacks and
 * by records, which have to be equal
 *
 * Arguments: launches=N, threads=N, hsa=1 (HSA's calls as well), records=1 (no callbacks), ids=1
 * (prints each record), agents=1 (compares the agents with HIP's devices and with those of code
 * objects).
 */
#include "hip_common.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <unistd.h>

#include <hsa/hsa.h>
/* its includes lie beside it */
#define AMD_INTERNAL_BUILD 1
#include <hsa/hsa_api_trace.h>

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

/* A call as either sees it: kind, operation, ids, thread. */
struct seen {
	int kind, operation;
	uint64_t internal, external, ancestor, tid;
	std::string text; /* arguments and result; "" of plain records */

	bool operator<(const seen &o) const
	{
		return std::tie(internal, kind) < std::tie(o.internal, o.kind);
	}
	bool operator==(const seen &o) const
	{
		return std::tie(kind, operation, internal, external, ancestor, tid, text) ==
		       std::tie(o.kind, o.operation, o.internal, o.external, o.ancestor, o.tid,
				o.text);
	}
};

static std::atomic<int> nr_wrong;
static int the_argc;
static char **the_argv;
static std::mutex lock;
/* on the heap: they are used after main's statics are gone */
static std::vector<seen> *calls, *records, *extended;
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer, ext_buffer;
static uint64_t pushed;
static bool prints_ids;

static long option(const char *name)
{
	/* before main(), as a rule */
	if (!the_argv)
		own_args(&the_argc, &the_argv);
	return arg_num(the_argc, the_argv, name, 0);
}

static void wrong(const char *what, const seen &s)
{
	printf("kind %d, operation %d, id %llu: %s: %s\n", s.kind, s.operation,
	       (unsigned long long)s.internal, what, s.text.c_str());
	nr_wrong++;
}

template <typename T> static uint64_t ancestor_of(const T &id)
{
#if ROCPROFILER_SDK_ABI > 0
	return id.ancestor;
#else
	(void)id;
	return 0;
#endif
}

static bool is_hip(int kind)
{
	return kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API ||
	       kind == ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API;
}

static std::string result_of(const rocprofiler_hip_api_retval_t &r)
{
	return " = " + std::to_string((int)r.hipError_t_retval);
}

static void add_arg(std::string *text, uint32_t number, const char *type, const char *name,
		    const char *value)
{
	*text += (number ? ", " : "") + std::string(type) + " " + name + " " + value;
}

static int on_arg(rocprofiler_callback_tracing_kind_t, rocprofiler_tracing_operation_t,
		  uint32_t number, const void *const, int32_t, const char *type, const char *name,
		  const char *value, int32_t, void *data)
{
	add_arg((std::string *)data, number, type, name, value);
	return 0;
}

// within create(), below
static thread_local int depth_of_create;

static void on_call(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *, void *)
{
	// a tool's own function stands in front of the call that is shown
	if (r.kind == ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API &&
	    r.operation == ROCPROFILER_HSA_CORE_API_ID_hsa_queue_create && !depth_of_create)
		nr_wrong++;
	seen s = { (int)r.kind,
		   (int)r.operation,
		   r.correlation_id.internal,
		   r.correlation_id.external.value,
		   ancestor_of(r.correlation_id),
		   r.thread_id,
		   "" };

	if (r.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
		return;
	if (is_hip(s.kind)) {
		rocprofiler_iterate_callback_tracing_kind_operation_args(r, on_arg, 0, &s.text);
		s.text += result_of(
			((rocprofiler_callback_tracing_hip_api_data_t *)r.payload)->retval);
	}
	std::lock_guard<std::mutex> guard(lock);
	calls->push_back(s);
}

static const char *name_of(int kind, int operation)
{
	const char *name = "?";

	rocprofiler_query_buffer_tracing_kind_operation_name((rocprofiler_buffer_tracing_kind_t)
								     kind,
							     operation, &name, nullptr);
	return name;
}

/* Records of all calls begin alike. */
static seen seen_of(const rocprofiler_buffer_tracing_hip_api_record_t *r)
{
	if (!r->start_timestamp || r->start_timestamp > r->end_timestamp) {
		printf("%s: from %llu to %llu\n", name_of((int)r->kind, (int)r->operation),
		       (unsigned long long)r->start_timestamp,
		       (unsigned long long)r->end_timestamp);
		nr_wrong++;
	}
	if (prints_ids)
		printf("record %llu %s %llu %llu %llu\n",
		       (unsigned long long)r->correlation_id.internal,
		       name_of((int)r->kind, (int)r->operation), (unsigned long long)r->thread_id,
		       (unsigned long long)r->start_timestamp,
		       (unsigned long long)r->end_timestamp);
	return { (int)r->kind,
		 (int)r->operation,
		 r->correlation_id.internal,
		 r->correlation_id.external.value,
		 ancestor_of(r->correlation_id),
		 r->thread_id,
		 "" };
}

static void on_records(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
		       rocprofiler_record_header_t **headers, size_t nr, void *,
		       uint64_t nr_dropped)
{
	std::lock_guard<std::mutex> guard(lock);

	if (nr_dropped)
		wrong("dropped", {});
	for (size_t i = 0; i < nr; i++)
		records->push_back(seen_of(
			(const rocprofiler_buffer_tracing_hip_api_record_t *)headers[i]->payload));
}

#if ROCPROFILER_SDK_ABI > 0
static int on_record_arg(rocprofiler_buffer_tracing_kind_t, rocprofiler_tracing_operation_t,
			 uint32_t number, const void *const, int32_t, const char *type,
			 const char *name, const char *value, void *data)
{
	add_arg((std::string *)data, number, type, name, value);
	return 0;
}

static void on_extended(rocprofiler_context_id_t, rocprofiler_buffer_id_t,
			rocprofiler_record_header_t **headers, size_t nr, void *, uint64_t)
{
	std::lock_guard<std::mutex> guard(lock);

	for (size_t i = 0; i < nr; i++) {
		auto *r = (const rocprofiler_buffer_tracing_hip_api_ext_record_t *)headers[i]
				  ->payload;
		seen s = { r->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT ?
				   ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API :
				   ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,
			   (int)r->operation,
			   r->correlation_id.internal,
			   r->correlation_id.external.value,
			   r->correlation_id.ancestor,
			   r->thread_id,
			   "" };

		if (r->size != sizeof(*r))
			wrong("size", s);
		SDK(rocprofiler_iterate_buffer_tracing_record_args(*headers[i], on_record_arg,
								   &s.text));
		s.text += result_of(r->retval);
		extended->push_back(s);
	}
}
#endif

/* ids of agents that have code */
static std::vector<uint64_t> *code_agents;

static void on_code(rocprofiler_callback_tracing_record_t r, rocprofiler_user_data_t *, void *)
{
	if (r.phase == ROCPROFILER_CALLBACK_PHASE_LOAD)
		code_agents->push_back(
			((rocprofiler_callback_tracing_code_object_load_data_t *)r.payload)
				->rocp_agent.handle);
}

static void check_gpu(const rocprofiler_agent_v0_t *a)
{
	hipDeviceProp_t p;
	std::string name = a->name;
	uint32_t l2_kib = 0;

	for (uint32_t i = 0; i < a->caches_count; i++)
		if (a->caches[i].level == 2)
			l2_kib = a->caches[i].size;
	HIP(hipGetDeviceProperties(&p, a->logical_node_type_id));
	printf("gpu %s\n", a->name);
	if (std::string(p.gcnArchName).substr(0, name.size()) != name ||
	    (uint32_t)p.multiProcessorCount != a->cu_count ||
	    (uint32_t)p.warpSize != a->wave_front_size ||
	    (uint32_t)p.pciBusID != (a->location_id >> 8 & 255) ||
	    (uint32_t)p.pciDeviceID != (a->location_id >> 3 & 31) || !a->simd_per_cu ||
	    std::string(a->vendor_name) != "AMD" || !a->gfx_target_version ||
	    std::string(a->product_name) != p.name || a->family_id != 141 || !l2_kib ||
	    (uint32_t)p.l2CacheSize != l2_kib * 1024 ||
	    std::find(code_agents->begin(), code_agents->end(), a->id.handle) ==
		    code_agents->end()) {
		printf("GPU %d: not HIP's device\n", a->logical_node_type_id);
		nr_wrong++;
	}
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t, const void **agents, size_t nr,
				      void *)
{
	size_t nr_cpus = 0;

	for (size_t i = 0; i < nr; i++) {
		auto *a = (const rocprofiler_agent_v0_t *)agents[i];

		if (a->id.handle != 2048 + a->node_id || a->logical_node_id != (int)i)
			wrong("id of an agent", {});
		if (a->type == ROCPROFILER_AGENT_TYPE_GPU)
			check_gpu(a);
		else
			nr_cpus++;
	}
	printf("processors %zu\n", nr_cpus);
	return ROCPROFILER_STATUS_SUCCESS;
}

static void check_agents()
{
	SDK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
					       sizeof(rocprofiler_agent_t), nullptr));
}

/* ---- a function of the tool's own in HSA's table ---- */

static decltype(hsa_queue_create) *next_create;
static std::atomic<int> nr_created;

static hsa_status_t create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			   void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
			   uint32_t private_size, uint32_t group_size, hsa_queue_t **queue)
{
	nr_created++;
	depth_of_create++;
	auto status =
		next_create(agent, size, type, callback, data, private_size, group_size, queue);
	depth_of_create--;
	return status;
}

static void on_table(rocprofiler_intercept_table_t type, uint64_t version, uint64_t instance,
		     void **tables, uint64_t nr, void *data)
{
	printf("table %d version %llu instance %llu\n", (int)type, (unsigned long long)version,
	       (unsigned long long)instance);
	if (nr != 1 || !tables[0] || data != &nr_wrong)
		wrong("table", {});
	if (type != ROCPROFILER_HSA_TABLE)
		return;
	auto *core = ((HsaApiTable *)tables[0])->core_;

	next_create = core->hsa_queue_create_fn;
	core->hsa_queue_create_fn = create;
}

static void configure_kind(int kind)
{
	if (!option("records"))
		SDK(rocprofiler_configure_callback_tracing_service(
			context, (rocprofiler_callback_tracing_kind_t)kind, nullptr, 0, on_call,
			nullptr));
	SDK(rocprofiler_configure_buffer_tracing_service(context,
							 (rocprofiler_buffer_tracing_kind_t)kind,
							 nullptr, 0, buffer));
}

static void configure_extended()
{
#if ROCPROFILER_SDK_ABI > 0
	SDK(rocprofiler_create_buffer(context, 16384, 8192, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				      on_extended, nullptr, &ext_buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(
		context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT, nullptr, 0, ext_buffer));
	SDK(rocprofiler_configure_buffer_tracing_service(
		context, ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT, nullptr, 0, ext_buffer));
#endif
}

static int initialize(rocprofiler_client_finalize_t, void *)
{
	SDK(rocprofiler_create_context(&context));
	SDK(rocprofiler_at_intercept_table_registration(on_table, 0, &nr_wrong));
	SDK(rocprofiler_create_buffer(context, 4096, 2048, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
				      on_records, nullptr, &buffer));
	configure_kind(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API);
	configure_kind(ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API);
	if (option("hsa")) {
		configure_kind(ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API);
		configure_kind(ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API);
	}
	configure_extended();
	SDK(rocprofiler_configure_callback_tracing_service(context,
							   ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
							   nullptr, 0, on_code, nullptr));
	SDK(rocprofiler_start_context(context));
	return 0;
}

/* Of records without arguments. */
static std::vector<seen> plain(std::vector<seen> from)
{
	for (auto &s : from)
		s.text = "";
	return from;
}

static void compare(const char *what, std::vector<seen> a, std::vector<seen> b)
{
	std::stable_sort(a.begin(), a.end());
	std::stable_sort(b.begin(), b.end());
	if (a.size() != b.size()) {
		printf("%s: %zu calls, %zu records\n", what, a.size(), b.size());
		nr_wrong++;
	}
	for (size_t i = 0; i < a.size() && i < b.size() && nr_wrong < 20; i++)
		if (!(a[i] == b[i])) {
			wrong("call", a[i]);
			wrong(what, b[i]);
		}
}

static void check()
{
	std::lock_guard<std::mutex> guard(lock);
	std::vector<seen> of_hip;

	if (option("records"))
		return;
	compare("record", plain(*calls), *records);
	for (auto &c : *calls)
		if (is_hip(c.kind))
			of_hip.push_back(c);
	if (ROCPROFILER_SDK_ABI > 0)
		compare("extended record", of_hip, *extended);
	/* code has registered itself before */
	for (auto &r : *records)
		if (r.external != pushed &&
		    strncmp(name_of(r.kind, r.operation), "__hipRegister", 13) != 0)
			wrong("external id", r);
}

static void flush()
{
	SDK(rocprofiler_flush_buffer(buffer));
	if (ROCPROFILER_SDK_ABI > 0)
		SDK(rocprofiler_flush_buffer(ext_buffer));
}

static void finalize(void *)
{
	std::map<std::string, int> counts;

	/* the rest was delivered before */
	check();
	for (auto &r : *records)
		counts[name_of(r.kind, r.operation)]++;
	for (auto &c : counts)
		printf("count %s %d\n", c.first.c_str(), c.second);
	printf("own hsa_queue_create %d\n", nr_created.load());
	printf("wrong %d\n", nr_wrong.load());
	fflush(stdout);
}

extern "C" ROCPROFILER_PUBLIC_API rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t, const char *, uint32_t, rocprofiler_client_id_t *id)
{
	static rocprofiler_tool_configure_result_t result{ sizeof(result), initialize, finalize,
							   nullptr };

	id->name = "buffer_client";
	calls = new std::vector<seen>;
	records = new std::vector<seen>;
	extended = new std::vector<seen>;
	code_agents = new std::vector<uint64_t>;
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

	HIP(hipSetDevice(0));
	HIP(hipStreamCreate(&stream));
	HIP(hipMalloc(&device, 4096));
	HIP(hipHostMalloc(&host, 4096));
	HIP(hipMemcpyAsync(device, host, 4096, hipMemcpyHostToDevice, stream));
	for (long i = 0; i < launches; i++)
		sc_scale<<<dim3(16, 1, 1), dim3(64, 1, 1), 0, stream>>>(device, 2);
	HIP(hipMemcpyAsync(host, device, 4096, hipMemcpyDeviceToHost, stream));
	HIP(hipStreamSynchronize(stream));
	if (hipMalloc(nullptr, 1) == hipSuccess)
		wrong("succeeds", {});
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
	prints_ids = option("ids");
	SDK(rocprofiler_force_configure(rocprofiler_configure));
	pushed = 77;
	SDK(rocprofiler_push_external_correlation_id(context, (uint64_t)gettid(), { pushed }));
	HIP(hipInit(0));
	for (long i = 1; i < nr_threads; i++)
		threads.emplace_back(work, launches);
	work(launches);
	for (auto &t : threads)
		t.join();
	if (option("agents"))
		check_agents();
	/* everything that is over, with no stop before */
	flush();
	check();
	return 0;
}
